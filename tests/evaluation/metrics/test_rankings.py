"""Ranking metrics against scikit-learn and plain loops."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk

from labelkin.evaluation import metrics

WITH_TIES = [False, True]


def world(seed, ties, n=50, p=6):
    """Return truth with empty and full documents and an empty label, log-odds and weights."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.35).astype(int)
    Y[:3], Y[3:6], Y[6:, 1] = 0, 1, 0
    noise = rng.integers(-2, 3, (n, p)) if ties else rng.normal(size=(n, p)) * 2
    return Y, noise - 1.0 + Y, rng.random(n) * 3


def labelled(Y, log_odds, weight):
    """Return the documents that have a label."""
    rows = Y.any(axis=1)
    return Y[rows], log_odds[rows], None if weight is None else weight[rows]


@pytest.mark.parametrize("ties", WITH_TIES)
def test_rankings_equal_scikit_learn(ties):
    Y, log_odds, weight = world(0, ties)
    pairs = [
        (metrics.coverage, sk.coverage_error),
        (metrics.ranking_loss, sk.label_ranking_loss),
        (metrics.label_ranking_average_precision, sk.label_ranking_average_precision_score),
    ]
    for ours, theirs in pairs:
        for w in (None, weight):
            ranked = labelled(Y, log_odds, w)
            expected = theirs(*ranked[:2], sample_weight=ranked[2])
            assert ours(Y, log_odds, sample_weight=w) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [1, 5, 9])
def test_ndcg_equals_scikit_learn(k):
    Y, log_odds, weight = world(7, ties=False)
    Y_ranked, ranked, w = labelled(Y, log_odds, weight)
    expected = sk.ndcg_score(Y_ranked, ranked, k=k, sample_weight=w)
    assert metrics.ndcg_at_k(Y, log_odds, k, sample_weight=weight) == pytest.approx(expected)


def first_labels(log_odds, k):
    """Return the columns of the k highest log-odds; ties go to the lowest column."""
    return sorted(range(len(log_odds)), key=lambda j: (-log_odds[j], j))[:k]


def at_k_by_hand(labels, log_odds, k):
    first = first_labels(log_odds, k)
    n_relevant = sum(labels)
    hits = sum(labels[j] for j in first)
    dcg = sum(labels[j] / math.log2(r + 2) for r, j in enumerate(first))
    best = sum(1 / math.log2(r + 2) for r in range(min(k, n_relevant)))
    return hits / k, hits / n_relevant if n_relevant else 0, dcg / best if best else 0


@pytest.mark.parametrize("k", [1, 8])
@pytest.mark.parametrize("ties", WITH_TIES)
def test_metrics_at_k_equal_loop_over_documents(ties, k):
    Y, log_odds, weight = world(8, ties)
    by_hand = np.array([at_k_by_hand(y, z, k) for y, z in zip(Y.tolist(), log_odds, strict=True)])
    functions = (metrics.precision_at_k, metrics.recall_at_k, metrics.ndcg_at_k)
    for w in (None, weight):
        rows = Y.any(axis=1)
        expected = np.average(by_hand[rows], axis=0, weights=None if w is None else w[rows])
        ours = [function(Y, log_odds, k, sample_weight=w) for function in functions]
        np.testing.assert_allclose(ours, expected)


def test_one_error_of_ties_and_empty_documents():
    Y = [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
    log_odds = [[2, 2, 1], [2, 2, 1], [2, 0, 0], [-9, -9, -8]]
    assert metrics.one_error(Y[:1], log_odds[:1]) == 0
    assert metrics.one_error(Y[1:2], log_odds[1:2]) == 1
    assert np.isnan(metrics.one_error(Y[2:3], log_odds[2:3]))
    assert metrics.one_error(Y, log_odds) == pytest.approx(1 / 3)
    evaluation = metrics.evaluate(Y, log_odds)
    assert (evaluation.n_documents, evaluation.n_ranked) == (4, 3)
    assert "4 documents (3 with labels: ranked), 3 labels" in str(evaluation)
    assert metrics.evaluate(Y[:2], log_odds[:2]).n_ranked == 2
    assert "ranked" not in str(metrics.evaluate(Y[:2], log_odds[:2]))
    assert metrics.evaluate(Y, decisions=Y).n_ranked is None


def test_infinite_log_odds_rank_first_and_last():
    assert metrics.one_error([[0, 1, 0]], [[800.0, np.inf, -np.inf]]) == 0
    assert metrics.ranking_loss([[0, 0, 1]], [[800.0, np.inf, -np.inf]]) == 1
    assert metrics.coverage([[0, 1, 1]], [[-np.inf, -np.inf, np.inf]]) == 3


def test_rankings_reject_unknown_cells():
    Y, log_odds = [[1, np.nan], [0, 1]], [[-1, 2], [-2, 3]]
    for name in ("one_error", "coverage", "ranking_loss", "label_ranking_average_precision"):
        with pytest.raises(ValueError, match=f"{name} needs every label of a document to be known"):
            getattr(metrics, name)(Y, log_odds)
    for name in ("precision_at_k", "recall_at_k", "ndcg_at_k"):
        with pytest.raises(ValueError, match=f"{name} needs every label"):
            getattr(metrics, name)(Y, log_odds, 1)


def test_invalid_k_raises():
    Y, log_odds = [[1, 0]], [[-1, 2]]
    for k in (0, 1.5):
        with pytest.raises(
            ValueError, match=rf"k must be whole numbers of at least 1.*got \({k},\)"
        ):
            metrics.precision_at_k(Y, log_odds, k)
    with pytest.raises(ValueError, match=r"each once, got \(3, 3\)"):
        metrics.evaluate(Y, log_odds, ks=(3, 3))
