"""Explanations, label graphs and model files of models with neighbours as evidence."""

import numpy as np
import pytest

from labelkin import LabelRescorer, LogisticLabels
from labelkin.explain import label_graph


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    Y = rng.random((300, 20)) < 0.12
    Y[:, 1::2] |= Y[:, ::2] & (rng.random((300, 10)) < 0.8)
    content = rng.normal(-2, 1, Y.shape) + 3 * Y
    return Y.astype(float), content


@pytest.fixture(scope="module", params=[0.6, "auto"])
def rescorer(request, data):
    Y, content = data
    made = LabelRescorer(
        LogisticLabels(neighbours=4),
        variant="soft",
        evidence_weight=request.param,
        scale="log_odds",
    )
    return made.fit(Y, scores=content)


def test_parts_and_contributions_add_up(rescorer, data):
    known = np.full((5, 20), np.nan)
    known[0, 3], known[1, 4], known[2, [1, 2]] = 1, 0, (1, 0)
    content = data[1][:5]
    posterior = rescorer.rescore(content, known)
    for i, row in enumerate(rescorer.explain(content, top=99, known=known)):
        for e in row:
            j = list(rescorer.label_names_).index(e.label)
            assert sum(e.parts.values()) == pytest.approx(posterior[i, j], abs=1e-9)
            assert e.label_evidence == pytest.approx(
                sum(one.log_odds for one in e.labels) + e.constant, abs=1e-9
            )


def test_known_label_adds_its_weight_and_the_rest(data):
    Y, content = data
    rescorer = LabelRescorer(LogisticLabels(neighbours=4), evidence_weight=1, scale="log_odds").fit(
        Y
    )
    layer = rescorer.labels_
    known = np.full((1, 20), np.nan)
    known[0, 0] = 1
    moved = (rescorer.rescore(content[:1], known) - rescorer.rescore(content[:1]))[0, 1:]
    full = layer.weights_.toarray()[0] + layer.rest_
    expected = full * (1 - 1 / (1 + np.exp(-content[0, 0])))
    np.testing.assert_allclose(moved, expected[1:], rtol=0, atol=1e-9)


def test_label_graph_has_the_full_weights(rescorer):
    graph = label_graph(rescorer, 5, 5)
    layer = rescorer.labels_
    stored = layer.weights_.toarray() != 0
    full = np.where(stored | stored.T, layer.weights_.toarray() + layer.rest_, 0.0)
    strength = (full + full.T) / 2
    np.fill_diagonal(strength, 0.0)
    assert graph.edges[0].strength == pytest.approx(strength.max())
    assert min(edge.strength for edge in graph.edges) == pytest.approx(strength.min())
    assert [edge.strength for edge in graph.edges[:5]] == sorted(
        (edge.strength for edge in graph.edges[:5]), reverse=True
    )
    first = graph.related(graph.edges[0].second)[0]
    j, k = (list(rescorer.label_names_).index(x) for x in (first.second, first.first))
    assert first.to_second == pytest.approx(layer.weights_[k, j] + layer.rest_[j])
