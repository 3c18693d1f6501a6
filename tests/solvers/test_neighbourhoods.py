"""Regressions on neighbours, with and without numba, against SciPy's optimiser."""

import numpy as np
import pytest
from scipy import optimize, sparse

from labelkin.solvers.neighbourhoods import LEAST, fit_neighbourhoods


def made(n_sets=400, p=25, seed=0, unknown=False, fractions=False):
    """Return label sets with pairs of dependent labels; label 5 is constant, label 6 rare."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n_sets, p)) < rng.random(p) * 0.4
    for k in range(0, p - 1, 4):
        Y[:, k + 1] = np.where(rng.random(n_sets) < 0.7, Y[:, k], Y[:, k + 1])
    Y[:, 5], Y[:, 6] = False, np.arange(n_sets) < 2
    Y[0] = False
    times = rng.random(n_sets) * 3 if fractions else rng.integers(1, 5, n_sets).astype(float)
    hidden = (rng.random(Y.shape) < 0.1) & ~Y if unknown else np.zeros(Y.shape, bool)
    Y, hidden = (sparse.csr_array(x.astype(float)) for x in (Y, hidden))
    return Y, times, hidden if unknown else None


def spread_of(Y, times):
    sizes = Y.sum(axis=1)
    return 1 + (times @ sizes - Y.T @ times) / times.sum()


def reference(j, Y, times, hidden, spread, neighbours):
    """Minimise the objective of one label on the raw rows."""
    Y = Y.toarray()
    rows = np.ones(len(Y), bool) if hidden is None else hidden.toarray()[:, j] == 0
    inputs = Y[:, neighbours]
    others = Y.sum(axis=1) - inputs.sum(axis=1) - Y[:, j]
    columns = [inputs, others[:, None], np.ones((len(Y), 1))]
    A, y, c = np.hstack(columns)[rows], Y[rows, j], times[rows]
    penalty = 2 * spread[j] / (len(neighbours) + 2)

    def objective(w):
        m = A @ w
        f = c @ (np.logaddexp(0, m) - y * m) + penalty / 2 * w @ w
        return f, A.T @ (c * (1 / (1 + np.exp(-m)) - y)) + penalty * w

    found = optimize.minimize(
        objective, np.zeros(A.shape[1]), jac=True, method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10, "maxls": 60},
    )  # fmt: skip
    return found.x


@pytest.mark.parametrize("unknown", [True, False])
def test_weights_equal_scipy_on_unmerged_rows(way, unknown):
    Y, times, hidden = made(unknown=unknown)
    spread = spread_of(Y, times)
    term = fit_neighbourhoods(Y, times, spread, unknown=hidden, most=6, tol=1e-13)
    for j in range(0, Y.shape[1], 3):
        column = slice(term.weights.indptr[j], term.weights.indptr[j + 1])
        neighbours = term.weights.indices[column]
        expected = reference(j, Y, times, hidden, spread, neighbours)
        found = term.weights.data[column] + term.rest[j]
        np.testing.assert_allclose(found, expected[: len(neighbours)], rtol=0, atol=2e-5)
        assert term.bias[j] == pytest.approx(expected[-1], abs=2e-5)
        assert term.rest[j] == pytest.approx(expected[-2], abs=2e-5)


@pytest.mark.parametrize("unknown", [True, False])
def test_result_without_numba_is_equal(unknown, without_numba):
    pytest.importorskip("numba", reason="compiled loops need the extra labelkin[fast]")
    Y, times, hidden = made(p=40, seed=3, unknown=unknown, fractions=True)
    settings = {"unknown": hidden, "tol": 1e-13}
    spread = spread_of(Y, times)

    def fitted():
        return fit_neighbourhoods(Y, times, spread, **settings)

    one, other = fitted(), without_numba(fitted)
    assert (one.weights.indptr == other.weights.indptr).all()
    assert (one.weights.indices == other.weights.indices).all()
    np.testing.assert_allclose(one.weights.data, other.weights.data, rtol=0, atol=1e-5)
    np.testing.assert_allclose(one.bias, other.bias, rtol=0, atol=1e-5)


def test_number_of_threads_does_not_change_result(way):
    Y, times, _ = made(n_sets=100, p=70, seed=1)
    one, four = (fit_neighbourhoods(Y, times, spread_of(Y, times), n_jobs=n) for n in (1, 4))
    assert one.weights.data.tobytes() == four.weights.data.tobytes()
    assert one.bias.tobytes() == four.bias.tobytes()
    assert one.rest.tobytes() == four.rest.tobytes()


def test_neighbours_deviate_most_from_chance(way):
    Y, times, _ = made()
    term = fit_neighbourhoods(Y, times, spread_of(Y, times), most=3)
    dense = Y.toarray()
    n_with, total = dense.T @ times, times.sum()
    expected = np.outer(n_with, n_with) / total
    z = np.abs(dense.T @ (dense * times[:, None]) - expected) / np.sqrt(expected + 0.25)
    np.fill_diagonal(z, 0.0)
    for j in range(Y.shape[1]):
        best = [k for k in np.lexsort((np.arange(len(z)), -z[j]))[:3] if z[j, k] >= LEAST]
        found = term.weights.indices[term.weights.indptr[j] : term.weights.indptr[j + 1]]
        assert found.tolist() == sorted(best)


def test_labels_that_exclude_each_other_are_neighbours(way):
    sets = sparse.csr_array(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]))
    term = fit_neighbourhoods(sets, np.full(3, 40.0), np.ones(3))
    assert term.weights.nnz == 6
    assert (term.weights.data < 0).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)])
def test_tiny_matrices_are_accepted(way, shape):
    empty = sparse.csr_array(shape)
    term = fit_neighbourhoods(empty, np.ones(shape[0]), np.ones(shape[1]))
    assert term.weights.shape == (shape[1], shape[1])
    assert np.isfinite(term.bias).all()
