"""Linear terms on candidates, against a general optimiser."""

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit

from labelkin.label_matrix import Cells
from labelkin.solvers import logistic
from labelkin.solvers.candidate_terms import CandidateValues, InputChoice, fit_at_candidates
from labelkin.solvers.logistic import LinearTerm


def made(n=300, p=12, seed=0):
    """Return candidates, values, truth, given log-odds, weights, neighbours, penalties."""
    rng = np.random.default_rng(seed)
    cells = Cells.of(sparse.csr_array((rng.random((n, p)) < 0.5).astype(float)))
    values = rng.normal(0.2, 0.3, cells.n)
    dense = cells.dense(values)
    given = rng.normal(-1, 1, cells.n)
    pulled = (np.roll(dense, 1, axis=1) * 4)[cells.document, cells.label]
    truth = (rng.random(cells.n) < expit(given + pulled)).astype(np.int8)
    truth[rng.random(cells.n) < 0.05] = -1
    near = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    neighbours = sparse.csc_array(((near > 0) & (near < 4)).astype(float))
    return [cells, values, truth, given, rng.integers(1, 4, n) * 0.5, neighbours, np.full(p, 2.0)]


def column(parts, j, rest):
    """Return the weights of one label from a dense matrix of its documents."""
    cells, values, truth, given, times, neighbours, penalty = parts
    own = np.flatnonzero((cells.label == j) & (truth >= 0))
    dense = cells.dense(values)[cells.document[own]]
    inputs = np.delete(np.arange(12), j)
    if rest:
        inputs = neighbours.indices[neighbours.indptr[j] : neighbours.indptr[j + 1]]
    A = dense[:, inputs]
    if rest:
        A = np.column_stack([A, dense.sum(axis=1) - dense[:, j] - A.sum(axis=1)])
    A = np.column_stack([A, np.ones(len(A))])
    counted, y, z = times[cells.document[own]], truth[own], given[own]

    def objective(w):
        m = A @ w + z
        loss = counted @ (np.logaddexp(0, m) - y * m) + penalty[j] / 2 * w @ w
        return loss, A.T @ (counted * (expit(m) - y)) + penalty[j] * w

    options = {"gtol": 1e-10, "ftol": 1e-15, "maxiter": 5000}
    start = np.zeros(A.shape[1])
    return optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x


def fitted(parts, chosen=range(12), **options):
    cells, values, truth, given, times, neighbours, penalty = parts
    data = CandidateValues(cells, values, truth, given, times)
    return fit_at_candidates(data, neighbours, penalty, np.array(chosen), **options)


def inputs_of(term, j):
    return term.weights.indices[term.weights.indptr[j] : term.weights.indptr[j + 1]]


@pytest.mark.parametrize("rest", [False, True])
def test_weights_equal_scipy(rest):
    parts = made()
    if not rest:  # all other labels are inputs
        parts[5] = np.zeros((12, 12))
    term = fitted(parts, tol=1e-12)
    for j in range(12):
        expected = column(parts, j, rest)
        stored = term.weights.data[term.weights.indptr[j] : term.weights.indptr[j + 1]]
        beyond = expected[len(stored)] if rest else 0.0
        np.testing.assert_allclose(stored, expected[: len(stored)] - beyond, atol=1e-6)
        np.testing.assert_allclose(term.bias[j], expected[-1], atol=1e-6)
        if rest:
            np.testing.assert_allclose(term.rest[j], beyond, atol=1e-6)


def test_chosen_inputs_contain_best_one():
    parts = made(1500)
    parts[5] = sparse.csc_array((12, 12))  # no neighbours
    term = fitted(parts, more=InputChoice(3))
    for j in range(1, 12):
        chosen = inputs_of(term, j)
        assert j - 1 in chosen  # the truth depends on it
        assert j not in chosen and (np.diff(chosen) > 0).all() and len(chosen) == 3
    clear = fitted(parts, more=InputChoice(3, least=20.0))
    assert np.diff(clear.weights.indptr).tolist() == [1] * 12  # no other label gains as much


def test_compiled_product_equals_numpy_product(monkeypatch):
    cells, values, *_, neighbours, _ = made()
    weights = neighbours.copy()
    weights.data = np.random.default_rng(1).normal(size=weights.nnz)
    term = LinearTerm(weights, np.arange(12.0), np.linspace(-1, 1, 12))
    plain = term.at_cells(cells, values)
    monkeypatch.setattr(logistic, "_MANY", 0)
    np.testing.assert_array_equal(term.at_cells(cells, values), plain)
    np.testing.assert_allclose(plain, cells.at(term.at(cells.dense(values))), atol=1e-12)
