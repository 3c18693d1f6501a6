"""The exact solver, against SciPy's optimiser on plain documents, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.solvers import logistic as newton
from labelkin.solvers.logistic import fit_logistic_layer


def fit_map_logistic(sets, penalty_factor=1.0, **options):
    """Call the solver as LogisticLabels does, with further options."""
    penalty = penalty_factor * 2 / prior_scale(sets)
    rows = sets.inputs(), sets.positive, sets.count
    return fit_logistic_layer(*rows, penalty, unknown=sets.unknown, **options)


def correlated_labels(seed, n=80, p=7, unknown=0.0):
    """Return dependent labels; the first is always 0, the second always 1, one occurs twice."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=(n, 2))
    Y = (cause @ rng.normal(size=(2, p)) + rng.normal(size=(n, p)) > 0.8).astype(float)
    Y[:, 0], Y[:, 1], Y[:, 3] = 0, 1, Y[:, 2]
    Y[rng.random((n, p)) < unknown] = np.nan
    return Y


def plain_problem(Y, j):
    """Inputs with the intercept last, target and tau of label j, document by document."""
    known = ~np.isnan(Y)
    prior = [Y[known[:, k], k].mean() if known[:, k].any() else 0.5 for k in range(Y.shape[1])]
    X = np.delete(np.where(known, Y, prior), j, axis=1)[known[:, j]]
    tau = (X.shape[1] + 2) / np.mean([1 + (row**2).sum() for row in X])
    return np.column_stack([X, np.ones(len(X))]), Y[known[:, j], j], tau


def objective(w, X, y, penalty, offset=0.0):
    m = X @ w + offset
    return np.logaddexp(0, m).sum() - y @ m + penalty / 2 * w @ w


def slope(w, X, y, penalty, offset=0.0):
    return X.T @ (expit(X @ w + offset) - y) + penalty * w


def curvature(w, X, y, penalty, offset=0.0):
    p = expit(X @ w + offset)
    return X.T @ (X * (p * (1 - p))[:, None]) + penalty * np.eye(X.shape[1])


def optimum(*problem):
    """Return the minimum found by SciPy's trust-region method."""
    start = np.zeros(problem[0].shape[1])
    exact = {"gtol": 1e-7}
    return minimize(objective, start, problem, "trust-exact", slope, curvature, options=exact).x


def column(found, j, own=True):
    """Return the weights of label j without its own, and the bias."""
    weights = np.delete(found.weights[:, j], j) if own else found.weights[:, j]
    return np.append(weights, found.bias[j])


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_weights_equal_scipy_on_plain_documents(unknown):
    Y = correlated_labels(1, unknown=unknown)
    found = fit_map_logistic(count_label_sets(read_labels(Y)))
    for j in range(Y.shape[1]):
        X, y, tau = plain_problem(Y, j)
        best, ours = optimum(X, y, 2 / tau), column(found, j)
        lowest = objective(best, X, y, 2 / tau)
        assert objective(ours, X, y, 2 / tau) <= lowest * (1 + 1e-10)
        np.testing.assert_allclose(ours, best, atol=1e-5)
        assert np.abs(slope(ours, X, y, 2 / tau)).max() < 1e-5
    np.testing.assert_array_equal(np.diag(found.weights), 0)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_of_real_inputs_equal_scipy(own, form):
    rng = np.random.default_rng(11)
    n, p, q = 90, 5, 5 if own else 3
    inputs, counts = 3 * rng.normal(size=(n, q)), rng.uniform(0, 2, size=n)
    Y = (inputs[:, :1] + rng.normal(size=(n, p)) > 1).astype(float)
    offset = rng.normal(size=(n, p))
    penalty = rng.uniform(0.1, 2, size=p)
    found = fit_logistic_layer(
        form(inputs), form(Y), counts, penalty, offset=offset, own_column_zero=own
    )
    for j in range(p):
        X = np.column_stack([np.delete(inputs, j, axis=1) if own else inputs, np.ones(n)])
        best = minimize(
            lambda w, X=X, j=j: (
                counts @ (np.logaddexp(0, X @ w + offset[:, j]) - Y[:, j] * (X @ w + offset[:, j]))
                + penalty[j] / 2 * w @ w
            ),
            np.zeros(X.shape[1]),
            method="BFGS",
            options={"gtol": 1e-5},
        )
        np.testing.assert_allclose(column(found, j, own), best.x, atol=2e-4)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6), st.booleans())
def test_permuted_labels_give_permuted_weights(seed, hide):
    Y = correlated_labels(seed, n=60, p=6, unknown=0.2 * hide)
    order = np.random.default_rng(seed).permutation(6)
    here = fit_map_logistic(count_label_sets(read_labels(Y)))
    there = fit_map_logistic(count_label_sets(read_labels(Y[:, order])))
    np.testing.assert_allclose(there.weights, here.weights[np.ix_(order, order)], atol=1e-6)
    np.testing.assert_allclose(there.bias, here.bias[order], atol=1e-6)


def test_integer_weights_equal_repeated_documents_exactly():
    Y = correlated_labels(4, unknown=0.1)
    times = np.random.default_rng(0).integers(0, 4, size=len(Y))
    weighted = fit_map_logistic(count_label_sets(read_labels(Y), times.astype(float)))
    repeated = fit_map_logistic(count_label_sets(read_labels(np.repeat(Y, times, axis=0))))
    assert weighted.weights.tobytes() == repeated.weights.tobytes()
    assert weighted.bias.tobytes() == repeated.bias.tobytes()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_number_of_threads_does_not_change_result(form):
    rng = np.random.default_rng(3)
    Y = (rng.random((2100, 70)) < rng.uniform(0, 0.2, size=70)).astype(float)
    layer = form(Y), form(Y), np.ones(2100), np.full(70, 0.1)
    one, two, again = (fit_logistic_layer(*layer, tol=1e-6, n_jobs=n) for n in (1, 2, 2))
    for other in (two, again):
        assert other.weights.tobytes() == one.weights.tobytes()
        assert other.bias.tobytes() == one.bias.tobytes()


@pytest.mark.parametrize(("n", "p"), [(1, 3), (0, 3), (5, 0), (0, 0)])
def test_few_documents_and_labels_are_accepted(n, p):
    found = fit_map_logistic(count_label_sets(read_labels(np.ones((n, p)))))
    assert found.weights.shape == (p, p)
    assert np.all(found.bias > 0) if n else np.all(found.bias == 0)


def test_too_few_steps_raise_warning(monkeypatch):
    monkeypatch.setattr(newton, "NEWTON_STEPS", 1)
    with pytest.warns(RuntimeWarning, match="settle in 1 steps, 7 labels did not"):
        fit_map_logistic(count_label_sets(read_labels(correlated_labels(0))))


def test_infinite_offset_raises():
    offset = np.zeros((3, 3))
    offset[1, 2] = np.inf
    with pytest.raises(ValueError, match="offset must be finite, got NaN or infinity in 1 cells"):
        fit_map_logistic(count_label_sets(read_labels(np.eye(3))), offset=offset)
