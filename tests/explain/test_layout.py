"""Places for labels that have edges."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.explain.label_graph import LabelEdge
from labelkin.explain.layout import edge_labels, lay_out
from labelkin.report.plots import edge_picture


def edge(first, second, strength=1.0):
    return LabelEdge(first, second, strength, strength, 1, 1, 1, 1.0)


pairs = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=1, max_size=15
)


@given(pairs, st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_names_have_their_own_places_on_the_canvas(drawn, seed):
    edges = [edge(f"n{k}", f"n{j}", 1.0 if kin else -1.0) for k, j, kin in drawn if k != j]
    names = edge_labels(edges)
    half = np.tile([0.08, 0.03], (len(names), 1))
    places = lay_out(edges, half, 1.3, seed)
    assert places.shape == (len(names), 2)
    assert (places >= half - 1e-9).all() and (places <= [1.3, 1.0] - half + 1e-9).all()
    for i in range(len(names)):
        for j in range(i):
            assert (np.abs(places[i] - places[j]) >= 2 * half[0] - 1e-5).any()


def test_the_same_seed_gives_the_same_places():
    edges = [edge("a", "b"), edge("b", "c"), edge("d", "e", -1.0)]
    half = np.full((5, 2), 0.02)
    np.testing.assert_array_equal(lay_out(edges, half, 1.3, 7), lay_out(edges, half, 1.3, 7))


def test_kin_stand_closer_than_strangers():
    edges = [edge("a", "b"), edge("b", "c"), edge("a", "c"), edge("x", "y"), edge("y", "z")]
    a, b, c, x, _, z = lay_out(edges, np.full((6, 2), 0.01), 1.0)
    within = max(np.linalg.norm(a - b), np.linalg.norm(b - c))
    assert within < min(np.linalg.norm(p - q) for p in (a, b, c) for q in (x, z))


def test_no_edges_need_no_places():
    assert lay_out([], np.zeros((0, 2)), 1.3).shape == (0, 2)


def test_labels_may_be_anything_that_can_be_written():
    edges = [edge(3, 20), edge(20, "tea"), edge("tea", 1, -1.0), edge("3", 3)]
    assert edge_labels(edges) == [1, 20, 3, "3", "tea"]
    assert lay_out(edges, np.full((5, 2), 0.02), 1.3).shape == (5, 2)
    assert "5 labels with 3 attractions" in edge_picture(edges).alt
