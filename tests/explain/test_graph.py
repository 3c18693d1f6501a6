"""The strongest edges between labels, and their document counts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from labelkin.content.naive_bayes import NaiveBayes
from labelkin.explain import graph as module
from labelkin.explain.graph import (
    LabelGraph,
    circle_order,
    label_graph,
)
from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.method.label_sets import count_label_sets
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer

NAMES = [f"label {j}" for j in range(9)]


def label_sets(seed=1, n_documents=200):
    """Return labels in three groups that rarely occur together."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 3, (n_documents, 1))
    return (rng.random((n_documents, 9)) < np.where(topic == np.arange(9) % 3, 0.6, 0.1)).astype(
        int
    )


def pairs_of(weights, labels):
    """Return the pairs of a model with these weights and labels."""
    counts = count_label_sets(labels).together()
    return LabelGraph((), labels.names, weights, counts, labels.shape[0])


def sorted_pairs(weights, sign):
    """Return the pairs k < j whose mean weight has the sign, strongest first."""
    p = len(weights)
    means = {(k, j): (weights[k, j] + weights[j, k]) / 2 for k in range(p) for j in range(k + 1, p)}
    kept = [pair for pair in means if sign * means[pair] > 0]
    return sorted(kept, key=lambda pair: -sign * means[pair])  # stable: first pairs first


@pytest.fixture(scope="module")
def world():
    Y = label_sets()
    return Y, LabelRescorer(evidence_weight=1).fit(read_labels(Y, names=NAMES))


def bound_of(Y, weights, k, j):
    """Return the supported strength of one pair, from SciPy's beta distribution."""
    strength = (weights[k, j] + weights[j, k]) / 2
    both = int((Y[:, k] & Y[:, j]).sum())
    rare, common = sorted((int(Y[:, k].sum()), int(Y[:, j].sum())))
    if strength > 0:
        share = stats.beta.ppf(0.001, both, rare - both + 1) if both else 0.0
    else:
        share = stats.beta.ppf(0.999, both + 1, rare - both) if both < rare else 1.0
    elsewhere = (common - share * rare + 0.5) / (len(Y) - rare + 1)
    if share in (0.0, 1.0):
        return 0.0
    added = np.log(share / (1 - share)) - np.log(elsewhere / (1 - elsewhere))
    return float(np.clip(np.sign(strength) * added, 0, abs(strength)))


def best_supported(Y, weights, sign):
    """Return the pairs of a sign by supported strength, then by strength."""
    pairs = sorted_pairs(weights, sign)
    return sorted(pairs, key=lambda pair: -bound_of(Y, weights, *pair))  # stable


def test_edges_are_the_pairs_with_the_highest_supported_strength(world):
    Y, rescorer = world
    weights = rescorer.label_weights_
    graph = label_graph(rescorer, 4, 30)
    expected = [*best_supported(Y, weights, 1)[:4], *best_supported(Y, weights, -1)[:30]]
    bounds = [bound_of(Y, weights, *pair) for pair in expected]
    assert [abs(edge.bound) for edge in graph.edges] == pytest.approx(bounds)
    assert all(edge.bound * edge.strength >= 0 for edge in graph.edges)
    assert [(b.first, b.second) for b in graph.edges] == [(NAMES[k], NAMES[j]) for k, j in expected]
    for edge, (k, j) in zip(graph.edges, expected, strict=True):
        assert (edge.to_second, edge.to_first) == (weights[k, j], weights[j, k])
        assert edge.strength == (weights[k, j] + weights[j, k]) / 2


@given(
    arrays(float, (7, 7), elements=st.integers(-3, 3).map(float)),
    st.integers(0, 9),
    st.integers(0, 25),
    st.sampled_from([1, 7, 4096]),
)
@settings(max_examples=60, deadline=None)
def test_number_of_bounds_at_a_time_and_ties_do_not_change_edges(
    weights, n_attractions, n_repulsions, at_a_time
):
    Y = read_labels(np.eye(7, dtype=int))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_A_TIME", at_a_time)
        edges = pairs_of(weights, Y).strongest(n_attractions, n_repulsions)
    expected = sorted_pairs(weights, 1)[:n_attractions] + sorted_pairs(weights, -1)[:n_repulsions]
    assert [(b.first, b.second) for b in edges] == expected


def assert_counts(edge, Y, names, times):
    first, second = (Y[:, names.index(name)] == 1 for name in (edge.first, edge.second))
    assert edge.n_first == pytest.approx(times[first].sum())
    assert edge.n_second == pytest.approx(times[second].sum())
    assert edge.n_both == pytest.approx(times[first & second].sum())
    assert edge.n_expected == pytest.approx(times[first].sum() * times[second].sum() / times.sum())


def test_counts_of_edges_are_document_counts(world):
    Y, rescorer = world
    for edge in label_graph(rescorer, 5, 5).edges:
        assert_counts(edge, Y, NAMES, np.ones(len(Y)))
        assert {type(n) for n in (edge.n_first, edge.n_second, edge.n_both)} == {int}


@pytest.mark.parametrize("labels", [None, SVMLabels()], ids=["logistic", "svm"])
def test_related_labels_have_the_largest_weights_for_the_label(labels):
    Y = label_sets(4)
    rescorer = LabelRescorer(labels, evidence_weight=1).fit(read_labels(Y, names=NAMES))
    j = int(np.abs(rescorer.label_weights_).sum(axis=0).argmax())
    said = rescorer.label_weights_[:, j]
    order = np.argsort(-said).tolist()
    expected = [k for k in order if said[k] > 0][:3] + [k for k in order[::-1] if said[k] < 0][:3]
    related = label_graph(rescorer).related(NAMES[j], top=3)
    assert [edge.first for edge in related] == [NAMES[k] for k in expected]
    assert {edge.second for edge in related} == {NAMES[j]}
    assert [edge.to_second for edge in related] == said[expected].tolist()
    for edge in related:
        assert_counts(edge, Y, NAMES, np.ones(len(Y)))


def test_classifier_rescorer_and_pipeline_have_the_same_graph():
    texts = ["wheat harvest", "corn harvest", "gold price", "wheat and corn", "gold mine"] * 4
    topics = [["grain", "wheat"], ["corn", "grain"], ["gold"], ["corn", "grain"], ["gold"]] * 4
    model = make_pipeline(CountVectorizer(), LabelDependenceClassifier(NaiveBayes()))
    model.fit(texts, topics)
    classifier = model[-1]
    graphs = [label_graph(m) for m in (model, classifier, classifier.rescorer_)]
    assert graphs[0].edges == graphs[1].edges == graphs[2].edges
    assert graphs[0].edges == label_graph(make_pipeline(model)).edges
    assert graphs[0].edges == label_graph(LabelRescorer(evidence_weight=1).fit(topics)).edges
    assert (graphs[0].edges[0].first, graphs[0].edges[0].second) == ("corn", "grain")


def test_table_becomes_a_data_frame_and_text_has_a_line_per_edge(world):
    graph = label_graph(world[1], 2, 1)
    frame = pd.DataFrame(graph.table())
    assert frame["strength"].tolist() == [edge.strength for edge in graph.edges]
    assert pl.DataFrame(graph.table())["n_both"].to_list() == [b.n_both for b in graph.edges]
    lines = str(graph).splitlines()
    assert len(lines) == 3
    for line, edge in zip(lines, graph.edges, strict=True):
        assert line.startswith(f"{edge.strength:+.2f}  {edge.first} ")
        assert f"{edge.n_both} of {edge.n_first} and {edge.n_second}, " in line
    assert len(repr(graph)) < 1000


class TestErrors:
    def test_label_evidence_without_weights(self):
        model = LabelRescorer(LogisticRegression(), evidence_weight=1).fit(label_sets())
        with pytest.raises(ValueError, match=r"LogisticRegression\(\).*LogisticLabels\(\) or SVML"):
            label_graph(model)

    @pytest.mark.parametrize("model", [NaiveBayes(), make_pipeline(NaiveBayes()), "passthrough"])
    def test_other_models(self, model):
        with pytest.raises(TypeError, match="LabelDependenceClassifier, a LabelRescorer or a pipe"):
            label_graph(model)

    @pytest.mark.parametrize("name", ["n_attractions", "n_repulsions"])
    def test_negative_number_of_edges(self, world, name):
        with pytest.raises(
            ValueError, match=f"{name} must be a whole number of at least 0, got -1"
        ):
            label_graph(world[1], **{name: -1})

    def test_unknown_label_and_top_0(self, world):
        graph = label_graph(world[1])
        with pytest.raises(ValueError, match="among the 9 labels of the model, got 'tea'"):
            graph.related("tea")
        with pytest.raises(ValueError, match="top must be a whole number of at least 1, got 0"):
            graph.related("label 1", top=0)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([-1.0, 2.0])), max_size=15
    )
)
@settings(max_examples=50, deadline=None)
def test_each_label_has_one_place_on_the_circle(pulls):
    order = circle_order(pulls)
    assert len(order) == len(set(order))
    assert set(order) == {label for pull in pulls for label in pull[:2]}


def test_attracting_labels_are_neighbours_on_the_circle():
    chain = [(j, (j + 1) % 50, 1.0) for j in range(0, 49)]
    order = circle_order(chain[::-1] + [(j, j + 25, -1.0) for j in range(25)])
    assert order in (list(range(50)), list(range(49, -1, -1)))


def by_bound(edges):
    """Return the strengths of edges by their bounds."""
    ranked = sorted(edges, key=lambda e: (-abs(e.bound), -abs(e.strength)))
    return [edge.strength for edge in ranked]


@pytest.mark.parametrize("labels", [None, LogisticLabels(neighbours=3)], ids=["all", "neighbours"])
def test_neighbourhood_has_edges_of_the_label_and_between_its_neighbours(labels):
    rescorer = LabelRescorer(labels).fit(read_labels(label_sets(5), names=NAMES))
    graph = label_graph(rescorer, 100, 100)
    every = {frozenset((e.first, e.second)): e for e in graph.edges}
    for label in NAMES:
        near = graph.around(label, 2, 1)
        own = by_bound(e for pair, e in every.items() if label in pair)
        expected = [s for s in own if s > 0][:2] + [s for s in own if s < 0][:1]
        mine = [e for e in near.edges if label in (e.first, e.second)]
        assert [e.strength for e in mine] == pytest.approx(expected)
        assert list(near.edges[: len(mine)]) == mine
        assert all(e.first == label for e in mine)
        ends = {e.second for e in mine}
        between = near.edges[len(mine) :]
        inner = [e for pair, e in every.items() if pair <= ends]
        strengths = by_bound(inner)
        assert [e.strength for e in between] == pytest.approx(
            [s for s in strengths if s > 0][:2] + [s for s in strengths if s < 0][:1]
        )
        for e in near.edges:
            whole = every[frozenset((e.first, e.second))]
            assert (e.n_both, e.n_expected) == (whole.n_both, pytest.approx(whole.n_expected))
    with pytest.raises(ValueError, match="among the 9 labels"):
        graph.around("no such label")
