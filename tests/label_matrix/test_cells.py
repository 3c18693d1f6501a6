"""Candidate cells, values over them, and the best labels of documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelkin.label_matrix import Cells, best_cells, best_labels
from labelkin.label_matrix.cells import best_of, top_of_rows
from labelkin.solvers.logistic import LinearTerm

LEVELS = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf])


@pytest.fixture
def stored():
    stored = np.random.default_rng(0).random((30, 11)) < 0.3
    stored[[0, 7, 29]] = False  # documents without candidates, also the first and the last
    return stored


@pytest.fixture
def cells(stored):
    return Cells.of(sparse.csr_array(stored.astype(float)))


def test_values_are_read_from_dense_and_sparse(cells, stored):
    matrix = np.random.default_rng(1).normal(size=stored.shape)
    matrix[matrix < -1] = 0
    assert (cells.at(matrix) == matrix[stored]).all()
    assert (cells.at(sparse.csr_array(matrix)) == matrix[stored]).all()
    assert (cells.at(sparse.csr_array(matrix.shape)) == 0).all()
    assert (Cells.full(matrix.shape).at(matrix) == matrix.ravel()).all()


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("has_rest", [False, True])
@pytest.mark.parametrize("has_absent", [False, True])
def test_linear_term_at_cells_equals_dense_term(cells, stored, is_sparse, has_rest, has_absent):
    rng = np.random.default_rng(2)
    weights = np.where(rng.random((11, 11)) < 0.4, rng.normal(size=(11, 11)), 0.0)
    np.fill_diagonal(weights, 0.0)
    rest, absent = rng.normal(size=11), rng.random(11) if has_absent else None
    stored_weights = sparse.csc_array(weights) if is_sparse else weights
    term = LinearTerm(stored_weights, rng.normal(size=11), rest if has_rest else None)
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


def best_first(row, allowed=None):
    columns = range(len(row)) if allowed is None else np.flatnonzero(allowed)
    return sorted(columns, key=lambda j: (-row[j], j))


@given(
    arrays(np.float64, (4, 6), elements=LEVELS),
    st.lists(st.integers(-2, 8), min_size=4, max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_top_of_rows_equals_sorting(scores, counts):
    marked = top_of_rows(scores, np.array(counts))
    for row, count, mark in zip(scores, counts, marked, strict=True):
        assert set(np.flatnonzero(mark)) == set(best_first(row)[: max(count, 0)])


@given(arrays(np.float64, (4, 7), elements=LEVELS), st.integers(1, 8))
@settings(max_examples=100, deadline=None)
def test_best_cells_in_blocks_equal_sorting(scores, top):
    pattern = Cells.full(scores.shape)
    candidates = [
        best_cells(lambda rows: scores[rows], *scores.shape, top),
        best_of(pattern.matrix(scores.ravel()), top),
    ]
    expected = [sorted(best_first(row)[:top]) for row in scores]
    for found in candidates:
        assert [
            labels.tolist() for labels in np.split(found.indices, found.indptr[1:-1])
        ] == expected
        np.testing.assert_array_equal(found.data, Cells.of(found).at(scores))


@given(
    arrays(np.float64, (4, 6), elements=LEVELS),
    arrays(np.bool_, (4, 6)),
    st.sampled_from([None, 0, 1, 2, 5, 6, 9]),
)
@settings(max_examples=100, deadline=None)
def test_best_labels_equal_sorting(log_odds, is_open, top):
    for mask in (is_open, None):
        allowed = [None] * 4 if mask is None else mask
        expected = [best_first(row, a)[:top] for row, a in zip(log_odds, allowed, strict=True)]
        assert [b.tolist() for b in best_labels(log_odds, top, mask)] == expected
