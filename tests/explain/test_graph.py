"""The strongest edges between labels, the counts behind them, and their picture."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse, stats
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from labelkin.content.naive_bayes import NaiveBayes
from labelkin.explain import graph as module
from labelkin.explain.graph import (
    LabelGraph,
    LabelPairs,
    circle_order,
    label_graph,
    short_name,
    supported_strength,
)
from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.method.label_sets import count_label_sets
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer

NAMES = [f"label {j}" for j in range(9)]


def label_sets(seed=1, n_documents=200):
    """Labels that go together, and some that shun each other."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 3, (n_documents, 1))
    return (rng.random((n_documents, 9)) < np.where(topic == np.arange(9) % 3, 0.6, 0.1)).astype(
        int
    )


def pairs_of(weights, labels):
    """What a graph would hold, were these the weights learned from the labels."""
    counts = count_label_sets(labels).together()
    return LabelPairs(labels.names, weights, counts, labels.shape[0])


def sorted_pairs(weights, sign):
    """Every pair k < j whose mean weight has the sign, strongest first, by sorting all of them."""
    p = len(weights)
    means = {(k, j): (weights[k, j] + weights[j, k]) / 2 for k in range(p) for j in range(k + 1, p)}
    kept = [pair for pair in means if sign * means[pair] > 0]
    return sorted(kept, key=lambda pair: -sign * means[pair])  # stable: first pairs first


@pytest.fixture(scope="module")
def world():
    Y = label_sets()
    return Y, LabelRescorer(evidence_weight=1).fit(read_labels(Y, names=NAMES))


def bound_of(Y, weights, k, j):
    """What documents bear out of one pair, counted and bounded one by one."""
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
    """Every pair of a sign: what documents bear out most first, then by strength."""
    pairs = sorted_pairs(weights, sign)
    return sorted(pairs, key=lambda pair: -bound_of(Y, weights, *pair))  # stable


def test_bonds_are_the_pairs_that_documents_bear_out_most(world):
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
    st.sampled_from([1, 7, 14, 1 << 20]),
)
@settings(max_examples=60, deadline=None)
def test_blocks_and_ties_change_nothing(weights, n_attractions, n_repulsions, block):
    Y = read_labels(np.eye(7, dtype=int))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        edges = pairs_of(weights, Y).strongest(n_attractions, n_repulsions)
    expected = sorted_pairs(weights, 1)[:n_attractions] + sorted_pairs(weights, -1)[:n_repulsions]
    assert [(b.first, b.second) for b in edges] == expected


def test_a_pair_that_is_seen_once_is_not_the_strongest_bond():
    Y = np.zeros((400, 4), dtype=int)
    Y[:60, :2] = 1
    Y[60:70, 0] = 1
    Y[399, 2:] = 1
    weights = np.array([[0, 3, 0, 0], [3, 0, 0, 0], [0, 0, 0, 9], [0, 0, 9, 0]], dtype=float)
    for kind in (np.asarray, sparse.csc_array):
        often, once = pairs_of(kind(weights), read_labels(Y)).strongest()
        assert (often.first, often.second, once.first, once.second) == (0, 1, 2, 3)
        assert often.bound == often.strength == 3 and once.strength == 9
        assert 0 <= once.bound < 1
        assert often.pull > once.pull


@given(
    arrays(int, 4, elements=st.integers(0, 60)),
    st.floats(-9, 9, allow_nan=False),
    st.integers(0, 9),
)
@settings(max_examples=200, deadline=None)
def test_a_bound_is_between_nothing_and_the_strength_and_more_documents_bear_out_more(
    counts, strength, times
):
    both, first, second, neither = map(int, counts)
    sizes = (both + first, both + second, both, both + first + second + neither)
    bound = float(supported_strength(strength, *sizes))
    assert 0 <= bound * np.sign(strength) <= abs(strength)
    more = float(supported_strength(strength, *(n * (times + 1) for n in sizes)))
    assert abs(more) >= abs(bound) - 0.05  # half a document is added to chance
    assert float(supported_strength(strength, *(sizes[i] for i in (1, 0, 2, 3)))) == bound


def assert_counts(edge, Y, names, times):
    first, second = (Y[:, names.index(name)] == 1 for name in (edge.first, edge.second))
    assert edge.n_first == pytest.approx(times[first].sum())
    assert edge.n_second == pytest.approx(times[second].sum())
    assert edge.n_both == pytest.approx(times[first & second].sum())
    assert edge.n_expected == pytest.approx(times[first].sum() * times[second].sum() / times.sum())


def test_the_counts_behind_a_bond_are_those_of_the_documents(world):
    Y, rescorer = world
    for edge in label_graph(rescorer, 5, 5).edges:
        assert_counts(edge, Y, NAMES, np.ones(len(Y)))
        assert {type(n) for n in (edge.n_first, edge.n_second, edge.n_both)} == {int}


def test_documents_count_as_often_as_their_weight_says():
    Y = label_sets(2)
    times = np.random.default_rng(2).integers(0, 4, len(Y))
    weighted = label_graph(LabelRescorer(evidence_weight=1).fit(Y, sample_weight=times), 5, 5)
    for edge in weighted.edges:
        assert_counts(edge, Y, list(range(9)), times)
    repeated = label_graph(LabelRescorer(evidence_weight=1).fit(np.repeat(Y, times, axis=0)), 5, 5)
    assert [b.n_both for b in weighted.edges] == [b.n_both for b in repeated.edges]
    halves = LabelRescorer(evidence_weight=1).fit(Y, sample_weight=times / 2)
    for edge in label_graph(halves, 5, 5).edges:
        assert_counts(edge, Y, list(range(9)), times / 2)


def test_an_unknown_label_is_not_counted():
    Y = label_sets(3).astype(float)
    Y[::4, 2] = np.nan
    for edge in label_graph(LabelRescorer(evidence_weight=1).fit(Y)).related(2):
        assert_counts(edge, Y, list(range(9)), np.ones(len(Y)))


@pytest.mark.parametrize("labels", [None, SVMLabels()], ids=["logistic", "svm"])
def test_related_labels_are_those_that_say_most_of_the_label(labels):
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


@given(st.permutations(range(9)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_the_labels_does_not_matter(world, order):
    Y, rescorer = world
    permuted = LabelRescorer(evidence_weight=1).fit(
        read_labels(Y[:, order], names=[NAMES[j] for j in order])
    )

    def edges(model):
        return {
            frozenset((b.first, b.second)): (round(b.strength, 6), b.n_both)
            for b in label_graph(model, 8, 8).edges
        }

    assert edges(permuted) == edges(rescorer)


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


def test_what_was_learnt_later_is_in_the_graph():
    Y = label_sets(5)
    more = LabelRescorer(evidence_weight=1).fit(Y[:90]).learn_more(Y[90:])
    for edge in label_graph(more).edges:
        assert_counts(edge, Y, list(range(9)), np.ones(len(Y)))


def test_labels_that_none_or_all_have_are_in_no_bond():
    Y = label_sets(6)
    Y[:, 3], Y[:, 4] = 0, 1
    for labels in (None, SVMLabels()):
        graph = label_graph(LabelRescorer(labels, evidence_weight=1).fit(Y), 99, 99)
        assert graph.related(3) == graph.related(4) == ()
        assert not {3, 4} & {label for b in graph.edges for label in (b.first, b.second)}
        assert not {3, 4} & {edge.first for j in range(9) for edge in graph.related(j)}
        assert graph.edges


@pytest.mark.parametrize("Y", [[["tea"], [], ["tea"]], [0, 1, 1, 0], [["a"], ["b"]] * 1])
def test_small_worlds_have_graphs(Y):
    graph = label_graph(LabelRescorer(evidence_weight=1).fit(Y))
    assert len(graph.table()) == len(graph.edges) == str(graph).count("by chance")
    assert len(graph.edges) <= 1


def test_nothing_is_called_a_bond_that_pulls_the_other_way():
    Y = read_labels(np.eye(3, dtype=int))
    assert pairs_of(np.zeros((3, 3)), Y).strongest() == []
    strongest = pairs_of(np.ones((3, 3)) - np.eye(3), Y).strongest()
    assert [b.strength for b in strongest] == [1.0] * 3


def test_the_table_fits_data_frames_and_the_text_a_terminal(world):
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


class TestRefusals:
    def test_label_evidence_without_weights(self):
        model = LabelRescorer(LogisticRegression(), evidence_weight=1).fit(label_sets())
        with pytest.raises(ValueError, match=r"LogisticRegression\(\).*LogisticLabels\(\) or SVML"):
            label_graph(model)

    @pytest.mark.parametrize("model", [NaiveBayes(), make_pipeline(NaiveBayes()), "passthrough"])
    def test_other_models(self, model):
        with pytest.raises(TypeError, match="LabelDependenceClassifier, a LabelRescorer or a pipe"):
            label_graph(model)

    @pytest.mark.parametrize(
        "model",
        [
            LabelRescorer(evidence_weight=1),
            LabelDependenceClassifier(),
            make_pipeline(LabelRescorer(evidence_weight=1)),
        ],
    )
    def test_models_that_are_not_fitted(self, model):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            label_graph(model)

    @pytest.mark.parametrize("name", ["n_attractions", "n_repulsions"])
    def test_less_than_no_bonds(self, world, name):
        with pytest.raises(ValueError, match=f"{name} must be at least 0, got -1"):
            label_graph(world[1], **{name: -1})

    def test_unknown_labels_and_no_places(self, world):
        graph = label_graph(world[1])
        with pytest.raises(ValueError, match="among the 9 labels of the model, got 'tea'"):
            graph.related("tea")
        with pytest.raises(ValueError, match="top must be a whole number of at least 1, got 0"):
            graph.related("label 1", top=0)


class TestPlot:
    @pytest.fixture(autouse=True)
    def _no_window(self):
        # Imported before a test hides matplotlib: fixtures may end while it is still hidden.
        pyplot = pytest.importorskip("matplotlib.pyplot", reason="plots are an extra")
        pyplot.switch_backend("agg")
        yield
        pyplot.close("all")

    def test_attractions_and_repulsions_differ_by_colour_and_by_line(self, world):
        graph = label_graph(world[1], 5, 4)
        axes = graph.plot()
        looks = [(line.get_color(), line.is_dashed()) for line in axes.lines]
        assert len(looks) == 9
        assert len(set(looks[:5])) == len(set(looks[5:])) == 1
        assert looks[0][0] != looks[5][0]
        assert not looks[0][1] and looks[5][1]
        assert [t.get_text() for t in axes.get_legend().get_texts()] == [
            "support each other",
            "oppose each other",
        ]

    def test_the_stronger_the_thicker(self, world):
        graph = label_graph(world[1], 5, 0)
        widths = [line.get_linewidth() for line in graph.plot().lines]
        assert widths == sorted(widths, reverse=True)
        assert widths[0] > widths[-1]

    def test_given_axes_are_drawn_on_and_returned(self, world):
        from matplotlib.figure import Figure

        axes = Figure().add_subplot()
        assert label_graph(world[1]).plot(ax=axes) is axes
        assert axes.lines

    def test_names_keep_clear_of_each_other_and_of_the_frame(self):
        rng = np.random.default_rng(0)
        names = [f"a label whose name is long {j:02}" for j in range(40)]
        weights = rng.normal(size=(40, 40))
        np.fill_diagonal(weights, 0)
        labels = read_labels(np.eye(40, dtype=int), names=names)
        edges = pairs_of(weights, labels).strongest(30, 30)
        graph = LabelGraph(
            tuple(edges), label_graph(LabelRescorer(evidence_weight=1).fit(label_sets())).pairs
        )
        axes = graph.plot()
        axes.figure.canvas.draw()
        frame = axes.figure.bbox
        for text in axes.texts:
            box = text.get_window_extent()
            assert frame.x0 <= box.x0 and box.x1 <= frame.x1
            assert frame.y0 <= box.y0 and box.y1 <= frame.y1
        places = np.array([text.get_position() for text in axes.texts])
        gaps = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
        height = 8 / 72 * axes.figure.dpi / axes.transData.get_matrix()[0, 0]
        assert gaps.min() > height

    def test_names_are_drawn_as_they_are(self):
        Y = [["costs $\\no$", "two\nlines"], [], ["costs $\\no$", "two\nlines"], ["x" * 99]]
        axes = label_graph(LabelRescorer(evidence_weight=1).fit(Y)).plot()
        axes.figure.canvas.draw()
        shown = {text.get_text() for text in axes.texts}
        assert {"costs $\\no$", "two lines", "x" * 23 + "…"} == shown

    def test_no_bonds_are_an_empty_picture(self):
        axes = label_graph(LabelRescorer(evidence_weight=1).fit([["tea"], []])).plot()
        axes.figure.canvas.draw()
        assert not axes.lines and not axes.texts and axes.get_legend() is None

    def test_without_matplotlib_the_way_out_is_told(self, world, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ImportError, match=r'pip install "labelkin\[plot\]"'):
            label_graph(world[1]).plot()


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([-1.0, 2.0])), max_size=15
    )
)
@settings(max_examples=50, deadline=None)
def test_every_label_has_one_place_on_the_circle(pulls):
    order = circle_order(pulls)
    assert len(order) == len(set(order))
    assert set(order) == {label for pull in pulls for label in pull[:2]}


def test_attracting_labels_are_neighbours_on_the_circle():
    chain = [(j, (j + 1) % 50, 1.0) for j in range(0, 49)]
    order = circle_order(chain[::-1] + [(j, j + 25, -1.0) for j in range(25)])
    assert order in (list(range(50)), list(range(49, -1, -1)))


def test_short_names_stay_and_long_ones_end_in_an_ellipsis():
    assert short_name("tea") == "tea"
    assert short_name("tea\tand\x00 milk") == "tea and milk"
    assert short_name("y" * 24) == "y" * 24
    assert short_name("y" * 25) == "y" * 23 + "…"


def by_bound(edges):
    """Strengths of edges, best borne out first."""
    ranked = sorted(edges, key=lambda e: (-abs(e.bound), -abs(e.strength)))
    return [edge.strength for edge in ranked]


@pytest.mark.parametrize("labels", [None, LogisticLabels(neighbours=3)], ids=["all", "neighbours"])
def test_a_neighbourhood_is_a_label_its_strongest_edges_and_those_between_their_ends(labels):
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
        assert set(near.pairs.names.tolist()) == {label, *ends}
    with pytest.raises(ValueError, match="among the 9 labels"):
        graph.around("no such label")


def test_a_label_without_edges_has_an_empty_neighbourhood():
    constant = np.column_stack([label_sets(6), np.ones(200, dtype=int)])
    graph = label_graph(LabelRescorer().fit(constant))
    assert graph.around(9).edges == ()


@pytest.mark.parametrize("weights", [np.eye(3), sparse.csc_array(np.eye(3))], ids=["all", "few"])
def test_no_pairs_add_nothing(weights):
    pairs = LabelPairs(np.arange(3), weights, sparse.csr_array(np.eye(3)), 3.0, np.ones(3))
    none = np.zeros(0, dtype=np.int64)
    assert pairs.added(none, none).shape == (0,)
    np.testing.assert_array_equal(pairs.added(np.array([0, 1]), np.array([0, 2])), [2.0, 1.0])
