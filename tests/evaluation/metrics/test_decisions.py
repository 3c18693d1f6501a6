"""Decisions against scikit-learn's metrics, on matrices with empty rows and unused labels."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

from labelkin.evaluation import metrics
from labelkin.evaluation.metrics.decisions import count_by_document, count_decisions
from labelkin.evaluation.metrics.inputs import Truth
from labelkin.label_matrix import read_labels

PAIRS = {
    "precision": (metrics.precision, partial(metrics.precision, average=None), sk.precision_score),
    "recall": (metrics.recall, partial(metrics.recall, average=None), sk.recall_score),
    "f1": (metrics.f1, partial(metrics.f1, average=None), sk.f1_score),
    "jaccard": (metrics.jaccard, partial(metrics.jaccard, average=None), sk.jaccard_score),
}
AVERAGES = {"micro": "micro", "macro": "macro", "weighted": "weighted", "document": "samples"}


def world(seed, n=60, p=7):
    """Return truth and decisions with empty documents and empty labels, and weights."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(int)
    D = np.where(rng.random((n, p)) < 0.7, Y, rng.integers(0, 2, (n, p)))
    Y[:3], D[1:5] = 0, 0
    Y[:, 0], D[:, 0], D[:, 1], Y[:, 2] = 0, 0, 0, 0
    return Y, D, rng.random(n) * 3


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", PAIRS)
def test_averages_equal_scikit_learn(name, average):
    ours, _, theirs = PAIRS[name]
    Y, D, weight = world(0)
    for w in (None, weight):
        expected = theirs(Y, D, average=AVERAGES[average], zero_division=0, sample_weight=w)
        np.testing.assert_allclose(ours(Y, D, average=average, sample_weight=w), expected)


@pytest.mark.parametrize("name", PAIRS)
def test_scores_per_label_equal_scikit_learn(name):
    _, ours, theirs = PAIRS[name]
    Y, D, weight = world(3)
    expected = theirs(Y, D, average=None, zero_division=0, sample_weight=weight)
    np.testing.assert_allclose(ours(Y, D, sample_weight=weight), expected)
    assert ours(Y, D)[0] == 0  # a label without true and decided documents


def test_hamming_and_subset_loss_equal_scikit_learn():
    Y, D, weight = world(1)
    for w in (None, weight):
        assert metrics.hamming_loss(Y, D, sample_weight=w) == pytest.approx(
            sk.hamming_loss(Y, D, sample_weight=w)
        )
        assert metrics.subset_loss(Y, D, sample_weight=w) == pytest.approx(
            sk.zero_one_loss(Y, D, sample_weight=w)
        )


def test_unknown_cells_are_ignored():
    rng = np.random.default_rng(5)
    Y, D, weight = world(5)
    known = rng.random(Y.shape) < 0.7
    known[:, 4] = False
    Y_half_known = np.where(known, Y, np.nan)
    kept = [j for j in range(Y.shape[1]) if j != 4]
    expected = [
        sk.f1_score(
            Y[known[:, j], j], D[known[:, j], j], zero_division=0, sample_weight=weight[known[:, j]]
        )
        for j in kept
    ]
    per_label = metrics.f1(Y_half_known, D, average=None, sample_weight=weight)
    np.testing.assert_allclose(per_label[kept], expected)
    assert np.isnan(per_label[4])
    assert metrics.macro_f1(Y_half_known, D, sample_weight=weight) == pytest.approx(
        np.mean(expected)
    )
    assert metrics.micro_f1(Y_half_known, D) == pytest.approx(sk.f1_score(Y[known], D[known]))
    assert metrics.hamming_loss(Y_half_known, D) == pytest.approx(np.mean((Y != D)[known]))


def test_metrics_of_documents_reject_unknown_cells():
    Y = [[1, 0, np.nan], [0, 1, 1], [np.nan, np.nan, 0]]
    D = np.ones((3, 3))
    message = (
        r"subset_loss needs every label of a document to be known, got 3 unknown cells \(NaN\) "
        r"in 2 documents, the first at document 0, label 2\. Leave those documents out, or use a "
        r"metric that counts cells: .*micro_f1"
    )
    with pytest.raises(ValueError, match=message):
        metrics.subset_loss(Y, D)
    with pytest.raises(ValueError, match="document_f1 needs every label"):
        metrics.f1(Y, D, average="document")
    assert metrics.subset_loss(Y, D, sample_weight=[0, 1, 0]) == 1  # weight 0: not there


def half_known(seed):
    """Return truth with unknown cells and an unknown label, decisions and weights."""
    Y, D, weight = world(seed)
    hidden = np.where(np.random.default_rng(seed).random(Y.shape) < 0.3, np.nan, Y)
    hidden[:, 5] = np.nan
    return Truth.of(read_labels(hidden), weight), hidden, D == 1, weight


def test_counts_equal_numpy():
    truth, hidden, decided, weight = half_known(2)
    is_known, is_true = ~np.isnan(hidden), hidden == 1
    cells_of = [is_known, is_true, decided & is_known, decided & is_true]
    for given in (decided, sparse.csr_array(decided, dtype=float)):
        counts = count_decisions(truth, given)
        of_documents = count_by_document(truth, given)
        for name, cells in zip(("known", "true", "decided", "hits"), cells_of, strict=True):
            np.testing.assert_allclose(getattr(counts, name), weight @ cells, atol=1e-12)
            np.testing.assert_array_equal(getattr(of_documents, name), cells.sum(axis=1))
        wrong = (decided != is_true) & is_known
        np.testing.assert_array_equal(of_documents.wrong, wrong.sum(axis=1))
        assert counts.known[5] == 0
