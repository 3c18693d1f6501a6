"""Exact cosine search against brute force."""

import pickle
from contextlib import nullcontext
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from labelkin.solvers.cosine_index import (
    similar_documents,
    unit_rows,
)

SPARSE_KINDS = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_array]
needs_numba = pytest.mark.skipif(
    find_spec("numba") is None, reason="the inverted index needs numba"
)
in_every_way = pytest.mark.parametrize(
    "way",
    [pytest.param("inverted_index", marks=needs_numba), "sparse product", "dense product"],
)


def search(way, documents, queries, k, **options):
    """Run ``similar_documents`` on the rows of dense arrays in one of the three ways."""
    documents, queries = unit_rows(documents), unit_rows(queries)
    if way != "dense product":
        documents, queries = sparse.csr_array(documents), sparse.csr_array(queries)
    with nullcontext() if way == "inverted_index" else numba_missing():
        return similar_documents(documents, queries, k, **options)


def numba_missing():
    return patch("labelkin.solvers.cosine_index.load_kernels", return_value=None)


def brute_force(documents, queries, k, leave_one_out=False):
    """Return the k largest cosines of each query as a dense matrix, 0 elsewhere."""
    lengths = np.outer(np.linalg.norm(queries, axis=1), np.linalg.norm(documents, axis=1))
    cosines = (queries @ documents.T) / np.where(lengths > 0, lengths, 1.0)
    cosines = cosines.round(12)  # exact ties may differ in the last bits: equal again
    if leave_one_out:
        np.fill_diagonal(cosines, 0.0)
    answer = np.zeros_like(cosines)
    for i, row in enumerate(cosines.tolist()):
        for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]:
            answer[i, j] = max(row[j], 0.0)
    return answer


def texts(seed, n_documents, n_features=12, negative=False):
    """Return rows of small integers with empty documents, duplicates and exact ties."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.25, size=(n_documents, n_features)).astype(float)
    X *= rng.choice([-1.0, 1.0], size=X.shape) if negative else 1.0
    X[rng.integers(n_documents, size=n_documents // 10)] = 0.0
    copies = rng.integers(n_documents, size=(2, n_documents // 5))
    X[copies[0]] = X[copies[1]]
    return X


@in_every_way
@pytest.mark.parametrize("k", [1, 3, 60, 1000])
@pytest.mark.parametrize("negative", [False, True])
def test_neighbours_equal_brute_force(way, k, negative):
    documents, queries = texts(0, 60, negative=negative), texts(1, 50, negative=negative)
    found = search(way, documents, queries, k).toarray()
    expected = brute_force(documents, queries, k)
    assert_allclose(np.sort(found, axis=1), np.sort(expected, axis=1), atol=1e-6)
    everything = brute_force(documents, queries, len(documents))
    assert_allclose(found, np.where(found > 0, everything, 0.0), atol=1e-6)
    # documents that differ may tie in exact numbers and not in float32: not compared at rank k
    least = np.where(found > 0, found, np.inf).min(axis=1, keepdims=True)
    surely = np.abs(everything - least) > 1e-6
    assert_allclose(found[surely], expected[surely], atol=1e-6)


@in_every_way
def test_ties_at_rank_k_go_to_first_documents(way):
    rng = np.random.default_rng(3)
    originals = rng.random((7, 33))
    documents = originals[rng.integers(7, size=403)]
    queries = rng.random((90, 33))
    for k in (1, 2, 57, 58, 250):
        found = search(way, documents, queries, k).toarray()
        assert_array_equal(found > 0, brute_force(documents, queries, k) > 0)


@in_every_way
def test_duplicates_are_equally_similar(way):
    rng = np.random.default_rng(4)
    documents = np.tile(rng.random((1, 50)), (4099, 1))
    found = search(way, documents, rng.random((70, 50)), 4099).toarray()
    assert_array_equal(found, np.tile(found[:, :1], (1, 4099)))


@in_every_way
@pytest.mark.parametrize("k", [1, 4, 300])
def test_leave_one_out_equals_brute_force(way, k):
    rng = np.random.default_rng(6)
    documents = rng.random((280, 15)) * (rng.random((280, 15)) < 0.3)
    documents[[5, 6, 100, 270]] = documents[4]
    documents[[0, 279]] = 0.0
    found = search(way, documents, documents, k, leave_one_out=True).toarray()
    expected = brute_force(documents, documents, k, leave_one_out=True)
    assert_allclose(found, expected, atol=1e-6)
    assert_array_equal(np.diag(found), 0.0)


@in_every_way
def test_similarities_of_zero_are_not_stored(way):
    documents = np.array([[-1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
    found = search(way, documents, np.array([[1.0, 0.0], [0.0, 0.0]]), 4)
    assert_array_equal(found.indptr, [0, 1, 1])
    assert_array_equal(found.indices, [3])


@in_every_way
def test_number_of_jobs_does_not_change_result(way):
    rng = np.random.default_rng(10)
    documents, queries = rng.random((500, 40)), rng.random((700, 40))
    one, three = (search(way, documents, queries, 8, n_jobs=n_jobs) for n_jobs in (1, 3))
    for part in ("data", "indices", "indptr"):
        assert getattr(one, part).tobytes() == getattr(three, part).tobytes()


@in_every_way
def test_block_size_does_not_change_result(way):
    rng = np.random.default_rng(11)
    documents, queries = rng.random((80, 10)), rng.random((600, 10))
    whole = search(way, documents, queries, 4)
    single = sparse.vstack([search(way, documents, queries[[i]], 4) for i in range(0, 600, 7)])
    assert_allclose(whole[::7].toarray(), single.toarray(), atol=1e-7)


@pytest.mark.parametrize("kind", SPARSE_KINDS)
def test_sparse_formats_are_accepted_unchanged(kind):
    X = texts(13, 40)
    rows = kind(X)
    expected = search("sparse product", X, X, 5)
    before = pickle.dumps(rows)
    unit = unit_rows(rows)
    found = similar_documents(unit, unit, 5)
    assert pickle.dumps(rows) == before
    assert isinstance(unit, sparse.csr_array)
    assert unit.has_sorted_indices
    assert unit.dtype == np.float32
    assert_allclose(found.toarray(), expected.toarray(), atol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1e300, 1e160, 1e-160, 1e-300, 5e-324])
def test_unit_rows_accept_extreme_numbers(make, size):
    unit = unit_rows(make(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]) * size))
    unit = unit.toarray() if sparse.issparse(unit) else unit
    assert_allclose(unit, [[0.6, 0.8, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]], atol=1e-7)


def test_unit_rows_sum_duplicates_and_keep_input():
    twice = sparse.csr_array((np.array([4.0, 1.0, 2.0]), [1, 0, 0], [0, 3]), shape=(1, 2))
    unit = unit_rows(twice)
    assert_allclose(unit.toarray(), [[0.6, 0.8]], atol=1e-7)
    assert_array_equal(unit.indices, [0, 1])
    assert_array_equal(twice.data, [4.0, 1.0, 2.0])
    assert_array_equal(twice.indices, [1, 0, 0])
