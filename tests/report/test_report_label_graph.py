"""The strongest bonds between labels, and places for them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.label_matrix import read_labels
from labelkin.report.label_graph import Bond, bonded_labels, lay_out, strongest_bonds


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(1)
    Y = (rng.random((200, 9)) < 0.3).astype(int)
    weights = rng.normal(0, 2, (9, 9))
    np.fill_diagonal(weights, 0)
    return weights, Y, [f"label {j}" for j in range(9)]


def test_bonds_are_the_pairs_with_the_most_extreme_mean_weight(world):
    weights, Y, names = world
    means = {(k, j): (weights[k, j] + weights[j, k]) / 2 for j in range(9) for k in range(j)}
    ordered = sorted(means, key=means.get)
    bonds = strongest_bonds(weights, read_labels(Y, names=names), 4, 3)
    expected = [*ordered[:-5:-1], *ordered[:3]]
    assert [(b.first, b.second) for b in bonds] == [(names[k], names[j]) for k, j in expected]
    assert [b.strength for b in bonds] == pytest.approx([means[pair] for pair in expected])


def test_the_counts_behind_a_bond_are_those_of_the_documents(world):
    weights, Y, names = world
    for bond in strongest_bonds(weights, read_labels(Y, names=names), 3, 3):
        first, second = (Y[:, names.index(name)] == 1 for name in (bond.first, bond.second))
        assert (bond.n_first, bond.n_second) == (first.sum(), second.sum())
        assert bond.n_both == (first & second).sum()
        assert bond.n_expected == pytest.approx(first.mean() * second.mean() * len(Y))
        assert bond.to_second == weights[names.index(bond.first), names.index(bond.second)]
        assert bond.to_first == weights[names.index(bond.second), names.index(bond.first)]


def test_nothing_is_called_a_bond_that_pulls_the_other_way():
    Y = read_labels(np.eye(3, dtype=int))
    assert strongest_bonds(np.zeros((3, 3)), Y) == []
    assert [b.strength for b in strongest_bonds(np.ones((3, 3)) - np.eye(3), Y)] == [1.0] * 3


def bond(first, second, strength=1.0):
    return Bond(first, second, strength, strength, 1, 1, 1, 1.0)


pairs = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=1, max_size=15
)


@given(pairs, st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_names_have_their_own_places_on_the_canvas(drawn, seed):
    bonds = [bond(f"n{k}", f"n{j}", 1.0 if kin else -1.0) for k, j, kin in drawn if k != j]
    names = bonded_labels(bonds)
    half = np.tile([0.08, 0.03], (len(names), 1))
    places = lay_out(bonds, half, 1.3, seed)
    assert places.shape == (len(names), 2)
    assert (places >= half - 1e-9).all() and (places <= [1.3, 1.0] - half + 1e-9).all()
    for i in range(len(names)):
        for j in range(i):
            assert (np.abs(places[i] - places[j]) >= 2 * half[0] - 1e-5).any()


def test_the_same_seed_gives_the_same_places():
    bonds = [bond("a", "b"), bond("b", "c"), bond("d", "e", -1.0)]
    half = np.full((5, 2), 0.02)
    np.testing.assert_array_equal(lay_out(bonds, half, 1.3, 7), lay_out(bonds, half, 1.3, 7))


def test_kin_stand_closer_than_strangers():
    bonds = [bond("a", "b"), bond("b", "c"), bond("a", "c"), bond("x", "y"), bond("y", "z")]
    a, b, c, x, _, z = lay_out(bonds, np.full((6, 2), 0.01), 1.0)
    within = max(np.linalg.norm(a - b), np.linalg.norm(b - c))
    assert within < min(np.linalg.norm(p - q) for p in (a, b, c) for q in (x, z))


def test_no_bonds_need_no_places():
    assert lay_out([], np.zeros((0, 2)), 1.3).shape == (0, 2)
