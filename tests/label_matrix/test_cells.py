"""A pattern of candidate cells, and values over it."""

import numpy as np
import pytest
from scipy import sparse

from labelkin.label_matrix import Cells, read_candidates
from labelkin.solvers.logistic import LinearTerm


@pytest.fixture
def stored():
    stored = np.random.default_rng(0).random((30, 11)) < 0.3
    stored[[0, 7, 29]] = False  # documents without candidates, first and last among them
    return stored


@pytest.fixture
def cells(stored):
    return Cells.of(sparse.csr_array(stored.astype(float)))


def test_cells_are_where_something_is_stored(cells, stored):
    document, label = np.nonzero(stored)
    assert (cells.document == document).all()
    assert (cells.label == label).all()


def test_values_are_read_from_dense_and_sparse(cells, stored):
    matrix = np.random.default_rng(1).normal(size=stored.shape)
    matrix[matrix < -1] = 0
    assert (cells.at(matrix) == matrix[stored]).all()
    assert (cells.at(sparse.csr_array(matrix)) == matrix[stored]).all()
    assert (cells.at(sparse.csr_array(matrix.shape)) == 0).all()


def test_values_go_back_into_a_matrix_zeros_included(cells, stored):
    values = np.arange(cells.n) % 2.0
    assert cells.matrix(values).nnz == cells.n
    dense = cells.dense(values, absent=np.arange(11.0))
    assert (dense[stored] == values).all()
    assert (dense[~stored] == np.broadcast_to(np.arange(11.0), stored.shape)[~stored]).all()


def test_sums_by_document_and_label(cells, stored):
    values = np.arange(1.0, cells.n + 1)
    dense = cells.dense(values)
    assert (cells.sums_by_document(values) == dense.sum(axis=1)).all()
    assert (cells.sums_by_label(values) == dense.sum(axis=0)).all()


def test_some_rows(cells, stored):
    part, places = cells.rows(5, 20)
    assert part.shape == (15, 11)
    assert (part.dense(np.ones(part.n)) == stored[5:20]).all()
    assert places == slice(stored[:5].sum(), stored[:20].sum())


def test_the_full_pattern_is_a_dense_matrix():
    matrix = np.arange(6.0).reshape(2, 3)
    assert (Cells.full((2, 3)).at(matrix) == matrix.ravel()).all()


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("has_rest", [False, True])
@pytest.mark.parametrize("has_absent", [False, True])
def test_a_linear_term_at_cells_is_that_of_the_spread_out_inputs(
    cells, stored, is_sparse, has_rest, has_absent
):
    rng = np.random.default_rng(2)
    weights = np.where(rng.random((11, 11)) < 0.4, rng.normal(size=(11, 11)), 0.0)
    np.fill_diagonal(weights, 0.0)
    rest, absent = rng.normal(size=11), rng.random(11) if has_absent else None
    term = LinearTerm(
        sparse.csc_array(weights) if is_sparse else weights,
        rng.normal(size=11),
        rest if has_rest else None,
    )
    inputs = rng.random(cells.n)
    dense = cells.dense(inputs, 0.0 if absent is None else absent)
    expected = dense @ weights + term.bias
    if has_rest:
        expected += (dense.sum(axis=1, keepdims=True) - dense) * rest
    np.testing.assert_allclose(term.at(dense), expected, rtol=0, atol=1e-12)
    found = term.at_cells(cells, inputs, absent)
    np.testing.assert_allclose(found, expected[stored], rtol=0, atol=1e-12)
    twice = term.scaled(2.0).plus(term.scaled(-np.ones(11)))
    np.testing.assert_allclose(twice.at(dense), expected, rtol=0, atol=1e-12)


def test_a_cell_that_is_given_twice_is_an_error():
    twice = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert read_candidates(twice.tocsr(), np.arange(2))[1].tolist() == [3.0]  # SciPy adds
    raw = sparse.csr_array(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))
    with pytest.raises(ValueError, match="every cell once, got some twice"):
        read_candidates(raw, np.arange(2))


def test_unsorted_cells_are_sorted():
    raw = sparse.csr_array(([1.0, 2.0], [1, 0], [0, 2]), shape=(1, 2))
    cells, values = read_candidates(raw, np.arange(2))
    assert (cells.label.tolist(), values.tolist()) == ([0, 1], [2.0, 1.0])
    assert raw.indices.tolist() == [1, 0]  # what was given stays as it is
