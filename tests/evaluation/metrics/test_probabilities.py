"""Metrics of probabilities against scikit-learn and hand counts."""

import math
from inspect import signature

import numpy as np
import pytest
from scipy.special import expit
from sklearn import metrics as sk

from labelkin.evaluation import metrics
from labelkin.evaluation.metrics.inputs import Truth
from labelkin.evaluation.metrics.probabilities import squared_errors
from labelkin.label_matrix import read_labels

#: scikit-learn 1.7 requires both classes to be named for a column of zeros.
BOTH = {"labels": [0, 1]} if "labels" in signature(sk.brier_score_loss).parameters else {}


def world(seed, n=80, p=5):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(int)
    Y[:4], Y[:, 0] = 0, 0
    return Y, rng.normal(size=(n, p)) * 3, rng.random(n) * 3


def test_log_loss_and_brier_score_equal_scikit_learn():
    Y, log_odds, weight = world(0)
    P = expit(log_odds)
    for w in (None, weight):
        labels = range(Y.shape[1])
        loss = [sk.log_loss(Y[:, j], P[:, j], labels=[0, 1], sample_weight=w) for j in labels]
        brier = [
            sk.brier_score_loss(Y[:, j], P[:, j], pos_label=1, sample_weight=w, **BOTH)
            for j in labels
        ]
        per_label = metrics.evaluate(Y, log_odds, sample_weight=w).per_label()
        np.testing.assert_allclose(per_label["log_loss"], loss)
        assert metrics.log_loss(Y, log_odds, sample_weight=w) == pytest.approx(sum(loss))
        np.testing.assert_allclose(per_label["brier_score"], brier)
        assert metrics.brier_score(Y, log_odds, sample_weight=w) == pytest.approx(np.mean(brier))


def test_log_loss_of_extreme_log_odds_is_exact():
    assert metrics.log_loss([[0]], [[800.0]]) == 800
    assert metrics.log_loss([[1]], [[50.0]]) == pytest.approx(math.exp(-50), rel=1e-12, abs=0)
    assert metrics.log_loss([[0]], [[-745.0]]) == pytest.approx(math.exp(-745), abs=0)


def test_infinite_log_odds_have_loss_zero_or_infinity():
    Y, log_odds = [[1, 0], [1, 0]], [[np.inf, -np.inf], [np.inf, -np.inf]]
    assert metrics.log_loss(Y, log_odds) == 0
    assert metrics.brier_score(Y, log_odds) == 0
    assert metrics.expected_calibration_error(Y, log_odds) == 0
    wrong = [[1, 1], [1, 0]]
    assert metrics.log_loss(wrong, log_odds) == np.inf
    per_label = metrics.evaluate(wrong, log_odds).per_label()
    assert per_label["log_loss"].tolist() == [0, np.inf]
    assert metrics.brier_score(wrong, log_odds) == 0.25
    half_known = [[1, np.nan], [1, 0]]
    for sure in (np.inf, -np.inf):
        assert metrics.log_loss(half_known, [[np.inf, sure], [np.inf, -np.inf]]) == 0
    assert metrics.log_loss(wrong, log_odds, sample_weight=[0, 1]) == 0


def test_calibration_error_equals_loop_over_bins():
    Y, log_odds, weight = world(4)
    said, w = expit(log_odds).ravel(), np.repeat(weight, Y.shape[1])
    total = 0.0
    for b in range(15):
        inside = (said >= b / 15) & (said < (b + 1) / 15)
        if inside.any():
            total += abs((w * (said - Y.ravel()))[inside].sum())
    ours = metrics.expected_calibration_error(Y, log_odds, sample_weight=weight)
    assert ours == pytest.approx(total / w.sum())


def test_unknown_cells_are_ignored():
    rng = np.random.default_rng(7)
    Y, log_odds, _ = world(7)
    known = rng.random(Y.shape) < 0.6
    known[:, 2] = False
    half_known = np.where(known, Y, np.nan)
    P = expit(log_odds)
    loss = -np.log(np.where(Y == 1, P, 1 - P))
    assert metrics.log_loss(half_known, log_odds) == pytest.approx(loss[known].sum() / len(Y))
    brier = np.mean((P - Y)[known] ** 2)
    assert metrics.brier_score(half_known, log_odds) == pytest.approx(brier)
    per_label = metrics.evaluate(half_known, log_odds).per_label()
    assert per_label["log_loss"][1] == pytest.approx(loss[known[:, 1], 1].mean())
    assert np.isnan([per_label["log_loss"][2], per_label["brier_score"][2]]).all()
    assert metrics.reliability(half_known, log_odds).count.sum() == known.sum()


def test_scores_without_known_cells_are_nan():
    for Y in (np.zeros((0, 3)), np.zeros((3, 0)), np.full((2, 2), np.nan)):
        log_odds = np.zeros(Y.shape)
        assert np.isnan(metrics.log_loss(Y, log_odds))
        assert np.isnan(metrics.brier_score(Y, log_odds))
        assert np.isnan(metrics.expected_calibration_error(Y, log_odds))


def test_invalid_number_of_bins_raises():
    with pytest.raises(ValueError, match="n_bins must be a whole number of at least 1, got 0"):
        metrics.expected_calibration_error([[1]], [[2.0]], n_bins=0)


def test_squared_errors_of_cells_equal_numpy():
    Y, log_odds, _ = world(8)
    log_odds = np.asfortranarray(log_odds)  # the order of the cells in memory does not matter
    hidden = np.where(np.random.default_rng(8).random(Y.shape) < 0.3, np.nan, Y)
    log_odds[np.isnan(hidden)] = np.inf
    truth, before = Truth.of(read_labels(hidden)), log_odds.copy()
    P = expit(log_odds)
    squares = np.where(np.isnan(hidden), 0.0, (P - Y) ** 2)
    np.testing.assert_allclose(squared_errors(truth, log_odds), squares, atol=1e-15)
    np.testing.assert_array_equal(log_odds, before)
