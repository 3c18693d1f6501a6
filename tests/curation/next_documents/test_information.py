"""What a label set would tell, against worlds in which every label set is counted."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

from labelkin.curation.next_documents.information import (
    binary_entropy,
    label_bits,
    pair_information,
)
from labelkin.solvers.logistic import LinearTerm

probability = st.floats(0.001, 0.999)
ratio = st.floats(-6, 6)


def entropy(world):
    """The entropy of a distribution over label sets, in bits."""
    p = np.array([x for x in world if x > 0])
    return float(-(p * np.log2(p)).sum())


def pair_world(p, q, log_odds_ratio):
    """The 2 x 2 table [first, second] with these marginals and odds ratio, by bisection."""

    def below(both):
        yes, no = both * (1 - p - q + both), (p - both) * (q - both)
        return yes < no * np.exp(log_odds_ratio)

    low, high = max(0.0, p + q - 1), min(p, q)
    for _ in range(80):
        both = (low + high) / 2
        low, high = (both, high) if below(both) else (low, both)
    return np.array([[1 - p - q + both, q - both], [p - both, both]])


def term(weights):
    return LinearTerm(weights, np.zeros(len(weights)))


@given(probability, probability, ratio)
@settings(deadline=None)
def test_two_labels_tell_about_each_other_what_their_table_says(p, q, log_odds_ratio):
    world = pair_world(p, q, log_odds_ratio)
    expected = entropy([p, 1 - p]) + entropy([q, 1 - q]) - entropy(world.ravel())
    assert pair_information(p, q, log_odds_ratio) == pytest.approx(expected, abs=1e-8)


@given(probability, probability, ratio)
@settings(deadline=None)
def test_the_entropy_of_two_labels_is_that_of_their_joint(p, q, log_odds_ratio):
    weights = np.array([[0.0, log_odds_ratio], [log_odds_ratio, 0.0]])
    found = label_bits(np.array([[p, q]]), term(weights))
    assert found.total[0] == pytest.approx(
        entropy(pair_world(p, q, log_odds_ratio).ravel()), abs=1e-8
    )
    assert found.bits.sum() == pytest.approx(found.total[0])


@given(st.lists(probability, min_size=4, max_size=4), st.lists(ratio, min_size=3, max_size=3))
@settings(max_examples=40, deadline=None)
def test_the_entropy_of_a_tree_of_labels_is_that_of_all_label_sets(p, ratios):
    # 0 – 1, 1 – 2, 1 – 3: given label 1, the others are independent.
    edges = [(0, 1), (1, 2), (1, 3)]
    tables = {
        edge: pair_world(p[edge[0]], p[edge[1]], r) for edge, r in zip(edges, ratios, strict=True)
    }
    world = [
        tables[0, 1][y[0], y[1]]
        * np.prod([tables[1, j][y[1], y[j]] / tables[1, j][y[1]].sum() for j in (2, 3)])
        for y in product((0, 1), repeat=4)
    ]
    assert sum(world) == pytest.approx(1)
    weights = np.zeros((4, 4))
    for (k, j), r in zip(edges, ratios, strict=True):
        weights[k, j] = weights[j, k] = r
    found = label_bits(np.array([p]), term(weights))
    assert found.total[0] == pytest.approx(entropy(world), abs=1e-7)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_no_tree_has_more_information(seed):
    """Whatever the weights: all sixteen trees of four labels are tried."""
    rng = np.random.RandomState(seed)
    p, weights = rng.uniform(0.05, 0.95, 4), rng.normal(0, 2, (4, 4))
    np.fill_diagonal(weights, 0)
    apart = (weights + weights.T) / 2
    told = pair_information(p[:, None], p[None, :], apart)
    edges = [(k, j) for k in range(4) for j in range(k)]
    best = max(
        sum(told[edge] for edge, there in zip(edges, chosen, strict=True) if there)
        for chosen in product((0, 1), repeat=6)
        if sum(chosen) == 3
        and _is_tree([e for e, there in zip(edges, chosen, strict=True) if there])
    )
    found = label_bits(p[None, :], term(weights))
    assert found.total[0] == pytest.approx(binary_entropy(p).sum() - best)


def _is_tree(edges):
    reached = {0}
    for _ in edges:
        reached |= {j for k, j in edges if k in reached} | {k for k, j in edges if j in reached}
    return len(reached) == 4


def test_the_log_odds_ratio_of_two_labels_is_the_mean_of_both_weights():
    weights = np.array([[0.0, 2.0], [1.0, 0.0]])
    found = label_bits(np.array([[0.6, 0.3]]), term(weights))
    expected = binary_entropy([0.6, 0.3]).sum() - pair_information(0.6, 0.3, 1.5)
    assert found.total[0] == pytest.approx(expected)


def test_one_answer_that_settles_two_labels_counts_once():
    weights = np.array([[0.0, 30.0], [30.0, 0.0]])
    found = label_bits(np.array([[0.5, 0.5], [0.5, 0.0]]), term(weights))
    assert found.total == pytest.approx([1.0, 1.0], abs=1e-4)
    assert found.reached[0].tolist() == [-1, found.labels[0, 0]]


def test_certain_labels_tell_nothing():
    weights = np.full((3, 3), 4.0)
    found = label_bits(np.array([[0.0, 1.0, 0.0]]), term(weights))
    assert found.total.tolist() == [0.0]


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense weights", "sparse weights"])
def test_all_candidates_are_the_same_as_none(is_sparse):
    rng = np.random.RandomState(0)
    n, p = 40, 30
    probabilities = expit(rng.normal(-1, 2, (n, p)))
    weights = np.where(rng.uniform(size=(p, p)) < 0.3, rng.normal(0, 1.5, (p, p)), 0.0)
    np.fill_diagonal(weights, 0)
    dense, stored = term(weights), term(weights)
    if is_sparse:
        stored = LinearTerm(sparse.csc_array(weights), np.zeros(p), np.full(p, 0.2))
        dense = term(weights + 0.2 * (1 - np.eye(p)))
    dense = label_bits(probabilities, dense)
    full = label_bits(sparse.csr_array(probabilities), stored)
    np.testing.assert_allclose(full.total, dense.total, rtol=1e-12)
    np.testing.assert_array_equal(full.labels, dense.labels)


def test_what_is_no_candidate_is_certain():
    probabilities = sparse.csr_array(np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]))
    found = label_bits(probabilities)
    assert found.total.tolist() == [1.0, 0.0]
    assert found.labels.tolist() == [[1], [-1]]


def test_labels_in_another_order_tell_the_same():
    rng = np.random.RandomState(1)
    p, weights = rng.uniform(size=(9, 25)), rng.normal(0, 1, (25, 25))
    np.fill_diagonal(weights, 0)
    order = rng.permutation(25)
    one = label_bits(p, term(weights))
    other = label_bits(p[:, order], term(weights[np.ix_(order, order)]))
    np.testing.assert_allclose(one.total, other.total, rtol=1e-12)
