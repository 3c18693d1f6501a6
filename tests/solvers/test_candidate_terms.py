"""Linear terms on candidates: both engines, and what is known of them by other means."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from labelkin.label_matrix import Cells
from labelkin.solvers import logistic
from labelkin.solvers.candidate_terms import (
    fit_at_candidates,
    problems_by_label,
    with_best_inputs,
)
from labelkin.solvers.logistic import LinearTerm
from labelkin.solvers.neighbourhoods import newton


def made(n=300, p=12, seed=0):
    """Candidates, what they count, their truth, given log-odds, times, neighbours, penalties."""
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
    return cells, values, truth, given, rng.integers(1, 4, n) * 0.5, neighbours, np.full(p, 2.0)


def column(parts, j, rest):
    """Return one label's weights by the definition: a dense matrix of its documents."""
    cells, values, truth, given, times, neighbours, penalty = parts
    own = np.flatnonzero((cells.label == j) & (truth >= 0))
    dense = cells.dense(values)[cells.document[own]]
    inputs = neighbours.indices[neighbours.indptr[j] : neighbours.indptr[j + 1]]
    A = dense[:, inputs]
    if rest:
        A = np.column_stack([A, dense.sum(axis=1) - dense[:, j] - A.sum(axis=1)])
    A = np.column_stack([A, np.ones(len(A))])
    counted = times[cells.document[own]]
    start = np.zeros(A.shape[1])
    return newton(A, counted, counted * truth[own], penalty[j], start, 1e-12, given[own])[0]


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_each_label_is_a_logistic_regression_on_its_neighbours(engine, rest):
    parts = made()
    problems = problems_by_label(*parts)
    learned = fit_at_candidates(problems, np.arange(12), rest=rest, tol=1e-12, engine=engine)
    for j in range(12):
        expected = column(parts, j, rest)
        stored = learned.weights[problems.input_ends[j] : problems.input_ends[j + 1]]
        n, bias = len(stored), expected[-1]
        beyond = expected[n] if rest else 0.0
        np.testing.assert_allclose(stored, expected[:n] - beyond, atol=1e-6)
        np.testing.assert_allclose(learned.bias[j], bias, atol=1e-6)
        if rest:
            np.testing.assert_allclose(learned.rest[j], beyond, atol=1e-6)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_labels_that_are_not_chosen_have_nothing(engine):
    problems = problems_by_label(*made())
    learned = fit_at_candidates(problems, np.array([3]), engine=engine)
    assert np.flatnonzero(learned.bias).tolist() == [3]
    assert (learned.weights != 0).sum() == np.diff(problems.input_ends)[3]


def test_both_engines_choose_the_same_inputs_and_the_best_one():
    parts = list(made(1500))
    parts[5] = sparse.csc_array((12, 12))  # no neighbours
    problems, (cells, values) = problems_by_label(*parts), parts[:2]
    found = [
        with_best_inputs(problems, cells, values, np.arange(12), most=3, engine=engine)
        for engine in ("compiled", "numpy")
    ]
    np.testing.assert_array_equal(found[0].input_ends, found[1].input_ends)
    np.testing.assert_array_equal(found[0].inputs, found[1].inputs)
    ends, inputs = found[0].input_ends, found[0].inputs
    for j in range(1, 12):
        chosen = inputs[ends[j] : ends[j + 1]]
        assert j - 1 in chosen  # what truth was made from
        assert j not in chosen and (np.diff(chosen) > 0).all()
    clear = with_best_inputs(problems, cells, values, np.arange(12), least=20.0)
    assert np.diff(clear.input_ends).tolist() == [1] * 12  # and nothing else gains so much


def test_neighbours_stay_inputs():
    parts = made()
    problems = problems_by_label(*parts)
    more = with_best_inputs(problems, *parts[:2], np.arange(12), most=2)
    for j in range(12):
        now = more.inputs[more.input_ends[j] : more.input_ends[j + 1]]
        before = problems.inputs[problems.input_ends[j] : problems.input_ends[j + 1]]
        assert set(before) <= set(now) and len(set(now)) == len(now)


def test_products_at_cells_are_the_same_bits_compiled_or_not(monkeypatch):
    cells, values, *_, neighbours, _ = made()
    weights = neighbours.copy()
    weights.data = np.random.default_rng(1).normal(size=weights.nnz)
    term = LinearTerm(weights, np.arange(12.0), np.linspace(-1, 1, 12))
    plain = term.at_cells(cells, values)
    monkeypatch.setattr(logistic, "_MANY", 0)
    np.testing.assert_array_equal(term.at_cells(cells, values), plain)
    np.testing.assert_allclose(plain, cells.at(term.at(cells.dense(values))), atol=1e-12)
