"""Logistic regression of a few inputs against SciPy's optimiser; the sigmoid against Platt's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from labelkin.label_matrix import read_labels
from labelkin.solvers import grouped_logistic
from labelkin.solvers.grouped_logistic import GroupedCells, Prior, fit_logistic, fit_sigmoid


def world(sizes, n_inputs=3, seed=0):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    inputs = rng.normal(size=(n_inputs, n)) * 2
    offset = rng.normal(size=n)
    target = (rng.random(n) < expit(offset + rng.normal(size=n_inputs) @ inputs)).astype(float)
    start = np.concatenate([[0], np.cumsum(sizes)])
    return GroupedCells(start, inputs, offset, target, rng.uniform(0.2, 3, n))


def scipy_fit(cells, j, prior):
    here = slice(cells.start[j], cells.start[j + 1])
    x = np.column_stack([*cells.inputs[:, here], np.ones(here.stop - here.start)])

    def loss(theta):
        z = cells.offset[here] + x @ theta
        losses = cells.weight[here] * (np.logaddexp(0, z) - cells.target[here] * z)
        return losses.sum() + 0.5 * prior.precision @ (theta - prior.centre) ** 2

    return minimize(loss, prior.centre, method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_weights_equal_scipy(strength):
    cells = world([40, 3, 200, 1])
    prior = Prior(np.array([0.5, -0.2, 0.1, 0.3]), np.array([1, 1, 1, 0.1]) * strength)
    found = fit_logistic(cells, prior)
    for j in range(4):
        assert found[j] == pytest.approx(scipy_fit(cells, j, prior), abs=1e-4)


def test_labels_are_independent():
    cells, prior = world([30, 400, 7]), Prior(np.zeros(4), np.full(4, 1.0))
    together = fit_logistic(cells, prior)
    for j in range(3):
        alone = fit_logistic(cells.labels(np.arange(3) == j), prior)
        assert together[j].tolist() == alone[0].tolist()


def test_newton_step_that_overshoots_is_halved():
    """Separable cells with a weak prior: plain Newton steps diverge."""
    inputs = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)])[None]
    target = (inputs[0] > 0).astype(float)
    cells = GroupedCells(np.array([0, 100]), inputs, np.full(100, 8.0), target, np.ones(100))
    prior = Prior(np.zeros(2), np.full(2, 1e-3))
    found = fit_logistic(cells, prior)
    assert found[0] == pytest.approx(scipy_fit(cells, 0, prior), abs=1e-3)


def made_up(seed, n_documents=80, n_labels=6):
    """Return decision values, higher for documents with the label, and rare to frequent labels."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0.05, 0.6, n_labels)
    Y = (rng.random((n_documents, n_labels)) < share).astype(float)
    f = rng.normal(-1, 0.7, size=Y.shape) + Y * rng.uniform(0.3, 2, size=n_labels)
    return f, Y


def platt_loop(f, y):
    """The published procedure for one label, line by line, in Platt's letters."""
    prior1, prior0 = sum(y > 0), sum(y <= 0)
    hi, lo = (prior1 + 1.0) / (prior1 + 2.0), 1 / (prior0 + 2.0)
    t = [hi if label > 0 else lo for label in y]
    A, B = 0.0, math.log((prior0 + 1.0) / (prior1 + 1.0))

    def objective(A, B):
        total = 0.0
        for fi, ti in zip(f, t, strict=True):
            z = fi * A + B
            total += ti * z + math.log(1 + math.exp(-z)) if z >= 0 else (ti - 1) * z
            total += math.log(1 + math.exp(z)) if z < 0 else 0.0
        return total

    value = objective(A, B)
    for _ in range(100):
        h11 = h22 = 1e-12
        h21 = g1 = g2 = 0.0
        for fi, ti in zip(f, t, strict=True):
            z = fi * A + B
            p = math.exp(-z) / (1 + math.exp(-z)) if z >= 0 else 1 / (1 + math.exp(z))
            d2 = p * (1 - p)
            h11, h22, h21 = h11 + fi * fi * d2, h22 + d2, h21 + fi * d2
            g1, g2 = g1 + fi * (ti - p), g2 + (ti - p)
        if abs(g1) < 1e-5 and abs(g2) < 1e-5:
            break
        det = h11 * h22 - h21 * h21
        dA, dB = -(h22 * g1 - h21 * g2) / det, -(-h21 * g1 + h11 * g2) / det
        gd = g1 * dA + g2 * dB
        step = 1.0
        while step >= 1e-10:
            trial = objective(A + step * dA, B + step * dB)
            if trial < value + 0.0001 * step * gd:
                A, B, value = A + step * dA, B + step * dB, trial
                break
            step /= 2
        else:
            break
    return A, B


def test_sigmoid_equals_published_algorithm():
    f, Y = made_up(0)
    fitted = fit_sigmoid(f, Y)
    expected = np.array([platt_loop(f[:, j], Y[:, j]) for j in range(Y.shape[1])])
    np.testing.assert_allclose(np.column_stack(fitted), -expected, rtol=1e-6)


def test_hard_targets_with_ridge_equal_scikit_learn_logistic_regression():
    f, Y = made_up(4, n_labels=2)
    fitted = fit_sigmoid(
        f, Y, smooth=False, tol=1e-9, prior=Prior(np.zeros(2), np.array([0.02, 0.0]))
    )
    for j in range(2):
        model = LogisticRegression(C=1 / (2 * 0.01), solver="newton-cholesky", tol=1e-10)
        model.fit(f[:, [j]], Y[:, j])
        expected = model.decision_function(f[:, [j]])
        np.testing.assert_allclose(fitted.log_odds(f)[:, j], expected, atol=1e-6)


def test_weight_k_equals_k_copies():
    f, Y = made_up(5, n_documents=30)
    times = np.random.default_rng(5).integers(0, 4, len(f))
    weighted = fit_sigmoid(f, Y, times)
    copied = fit_sigmoid(np.repeat(f, times, axis=0), np.repeat(Y, times, axis=0))
    np.testing.assert_allclose(weighted.slope, copied.slope, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept, copied.intercept, rtol=1e-7)


def test_unknown_cells_are_ignored():
    f, Y = made_up(6)
    is_unknown = np.random.default_rng(6).random(Y.shape) < 0.3
    f[is_unknown] = np.nan
    Y[is_unknown] = np.nan
    fitted = fit_sigmoid(f, Y)
    by_labels = fit_sigmoid(f, read_labels(Y))
    np.testing.assert_array_equal(fitted.slope, by_labels.slope)
    for j in range(Y.shape[1]):
        rows = ~is_unknown[:, j]
        alone = fit_sigmoid(f[rows, j : j + 1], Y[rows, j : j + 1])
        assert fitted.slope[j] == pytest.approx(alone.slope[0], rel=1e-7)
        assert fitted.intercept[j] == pytest.approx(alone.intercept[0], rel=1e-7)


@pytest.mark.parametrize(("value", "log_odds"), [(0, -math.log(8 + 1)), (1, math.log(8 + 1))])
def test_constant_targets_give_smoothed_share(value, log_odds):
    f = np.linspace(-2, 2, 8)[:, None]
    fitted = fit_sigmoid(f, np.full((8, 1), value))
    assert fitted.slope[0] == 0
    np.testing.assert_allclose(fitted.log_odds(f), log_odds)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.floats(0.2, 5), shift=st.floats(-5, 5))
def test_log_odds_do_not_depend_on_scale_of_decision_values(seed, scale, shift):
    f, Y = made_up(seed, n_documents=40, n_labels=3)
    moved = scale * f + shift
    expected = fit_sigmoid(f, Y).log_odds(f)
    np.testing.assert_allclose(fit_sigmoid(moved, Y).log_odds(moved), expected, atol=1e-3)


def test_result_does_not_depend_on_block_size(monkeypatch):
    f, Y = made_up(7)
    together = fit_sigmoid(f, Y)
    monkeypatch.setattr(grouped_logistic, "_BLOCK_CELLS", 1)
    alone = fit_sigmoid(f, Y)
    np.testing.assert_allclose(alone.slope, together.slope, rtol=1e-9)
    np.testing.assert_allclose(alone.intercept, together.intercept, rtol=1e-9)
