"""The exact cosine search, against brute force in float64 and the laws it must keep."""

import pickle
from contextlib import nullcontext
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from labelkin.solvers.cosine_index import (
    index_documents,
    similar_documents,
    unit_rows,
)

SPARSE_KINDS = [
    getattr(sparse, f"{name}_{flavour}")
    for name in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    for flavour in ("matrix", "array")
]
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
    """All cosines in float64, sorted; the answer as a dense matrix, 0 where nothing is stored."""
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
    """Draw rows of small whole numbers: empty documents, duplicates and other exact ties occur."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.25, size=(n_documents, n_features)).astype(float)
    X *= rng.choice([-1.0, 1.0], size=X.shape) if negative else 1.0
    X[rng.integers(n_documents, size=n_documents // 10)] = 0.0
    copies = rng.integers(n_documents, size=(2, n_documents // 5))
    X[copies[0]] = X[copies[1]]
    return X


@in_every_way
@pytest.mark.parametrize("k", [1, 3, 30, 60, 61, 1000])
@pytest.mark.parametrize("negative", [False, True])
def test_neighbours_are_those_of_brute_force_whatever_ties_at_rank_k(way, k, negative):
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
def test_duplicates_at_rank_k_are_taken_from_the_lowest_document_on(way):
    rng = np.random.default_rng(3)
    originals = rng.random((7, 33))
    documents = originals[rng.integers(7, size=403)]
    queries = rng.random((90, 33))
    for k in (1, 2, 57, 58, 250):
        found = search(way, documents, queries, k).toarray()
        assert_array_equal(found > 0, brute_force(documents, queries, k) > 0)


@in_every_way
def test_duplicates_are_exactly_as_similar_wherever_they_stand(way):
    rng = np.random.default_rng(4)
    documents = np.tile(rng.random((1, 50)), (4099, 1))
    found = search(way, documents, rng.random((70, 50)), 4099).toarray()
    assert_array_equal(found, np.tile(found[:, :1], (1, 4099)))


@in_every_way
def test_random_real_documents_have_the_neighbours_of_brute_force(way):
    rng = np.random.default_rng(5)
    documents = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.4)
    queries = rng.normal(size=(280, 20)) * (rng.random((280, 20)) < 0.4)
    found = search(way, documents, queries, 9)
    assert_allclose(found.toarray(), brute_force(documents, queries, 9), atol=1e-6)


@in_every_way
@pytest.mark.parametrize("k", [1, 4, 300])
def test_leave_one_out_is_brute_force_without_the_document_itself(way, k):
    rng = np.random.default_rng(6)
    documents = rng.random((280, 15)) * (rng.random((280, 15)) < 0.3)
    documents[[5, 6, 100, 270]] = documents[4]
    documents[[0, 279]] = 0.0
    found = search(way, documents, documents, k, leave_one_out=True).toarray()
    expected = brute_force(documents, documents, k, leave_one_out=True)
    assert_allclose(found, expected, atol=1e-6)
    assert_array_equal(np.diag(found), 0.0)


@in_every_way
def test_leave_one_out_equals_a_search_without_that_document(way):
    documents = np.random.default_rng(7).random((12, 5))
    found = search(way, documents, documents, 3, leave_one_out=True).toarray()
    for i in range(12):
        others = np.delete(documents, i, axis=0)
        alone = search(way, others, documents[[i]], 3).toarray()[0]
        assert_allclose(np.delete(found[i], i), alone, atol=1e-6)


@in_every_way
def test_one_document_is_its_own_neighbour_but_not_when_left_out(way):
    one = np.array([[1.0, 2.0, 2.0]])
    assert_allclose(search(way, one, one, 5).toarray(), [[1.0]], atol=1e-6)
    assert search(way, one, one, 5, leave_one_out=True).nnz == 0


@in_every_way
def test_opposite_orthogonal_and_empty_documents_are_not_stored(way):
    documents = np.array([[-1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
    found = search(way, documents, np.array([[1.0, 0.0], [0.0, 0.0]]), 4)
    assert_array_equal(found.indptr, [0, 1, 1])
    assert_array_equal(found.indices, [3])


@in_every_way
def test_no_queries_give_no_rows(way):
    assert search(way, np.eye(3), np.zeros((0, 3)), 2).shape == (0, 3)


@in_every_way
def test_answer_is_a_csr_array_of_float64_with_sorted_documents(way):
    found = search(way, texts(8, 40), texts(9, 300), 6)
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float64
    sorted_within = np.diff(found.indices) > 0
    sorted_within[found.indptr[1:-1][np.diff(found.indptr)[1:] > 0] - 1] = True
    assert sorted_within.all()
    assert np.diff(found.indptr).max() <= 6


@in_every_way
def test_any_number_of_jobs_gives_the_same_bytes(way):
    rng = np.random.default_rng(10)
    documents, queries = rng.random((500, 40)), rng.random((700, 40))
    one, three = (search(way, documents, queries, 8, n_jobs=n_jobs) for n_jobs in (1, 3))
    for part in ("data", "indices", "indptr"):
        assert getattr(one, part).tobytes() == getattr(three, part).tobytes()


@in_every_way
def test_blocks_of_queries_do_not_change_the_answer(way):
    rng = np.random.default_rng(11)
    documents, queries = rng.random((80, 10)), rng.random((600, 10))
    whole = search(way, documents, queries, 4)
    single = sparse.vstack([search(way, documents, queries[[i]], 4) for i in range(0, 600, 7)])
    assert_allclose(whole[::7].toarray(), single.toarray(), atol=1e-7)


@needs_numba
def test_both_ways_agree_on_sparse_documents():
    rng = np.random.default_rng(12)
    X = unit_rows(sparse.csr_array(sparse.random(900, 400, density=0.05, random_state=rng)))
    index = similar_documents(X[:600], X[600:], 25)
    with numba_missing():
        blocked = similar_documents(X[:600], X[600:], 25)
    assert_array_equal(index.indices, blocked.indices)
    assert_allclose(index.data, blocked.data, atol=1e-6)


@in_every_way
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 40))
def test_permuting_the_documents_permutes_their_similarities(way, seed, k):
    rng = np.random.default_rng(seed)
    documents, queries = rng.normal(size=(30, 6)), rng.normal(size=(5, 6))
    order = rng.permutation(30)
    found = search(way, documents, queries, k).toarray()
    permuted = search(way, documents[order], queries, k).toarray()
    assert_allclose(permuted, found[:, order], atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 25))
def test_fewer_neighbours_are_the_most_similar_of_more(seed, k):
    documents, queries = texts(seed, 25, 6), texts(seed + 1, 8, 6)
    more = search("sparse product", documents, queries, k + 3).toarray()
    fewer = search("sparse product", documents, queries, k).toarray()
    ranked = np.argsort(-more, axis=1, kind="stable")[:, :k]  # stable: ties to the lowest document
    expected = np.zeros_like(more)
    np.put_along_axis(expected, ranked, np.take_along_axis(more, ranked, axis=1), axis=1)
    assert_array_equal(fewer, expected)


@pytest.mark.parametrize("kind", SPARSE_KINDS)
def test_every_sparse_kind_is_read_and_left_as_it_was(kind):
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
def test_queries_may_be_dense_or_sparse_whatever_the_documents_are(make):
    documents, queries = make(unit_rows(texts(14, 30))), unit_rows(texts(15, 20))
    dense = similar_documents(documents, queries, 4)
    sparse_queries = similar_documents(documents, sparse.csr_array(queries), 4)
    assert dense.nnz > 0
    assert_array_equal(dense.toarray(), sparse_queries.toarray())


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_an_index_searches_like_its_documents_after_pickling_too(make):
    documents, queries = make(unit_rows(texts(16, 30))), make(unit_rows(texts(17, 20)))
    index = pickle.loads(pickle.dumps(index_documents(documents)))
    expected = similar_documents(documents, queries, 4)
    assert_array_equal(similar_documents(index, queries, 4).toarray(), expected.toarray())


def test_a_built_index_is_not_built_again():
    index = index_documents(sparse.csr_array(unit_rows(texts(18, 30))))
    again = index_documents(index)
    assert np.shares_memory(again.data, index.data)
    assert np.shares_memory(again.indices, index.indices)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_unit_rows_have_length_one_or_zero(make):
    X = texts(19, 50, negative=True)
    unit = unit_rows(make(X))
    unit = unit.toarray() if sparse.issparse(unit) else unit
    lengths = np.sqrt((unit.astype(float) ** 2).sum(axis=1))
    assert_allclose(lengths, X.any(axis=1).astype(float), atol=1e-6)
    assert_allclose(unit * np.linalg.norm(X, axis=1)[:, None], X, atol=1e-5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1e300, 1e160, 1e-160, 1e-300, 5e-324])
def test_unit_rows_neither_overflow_nor_vanish(make, size):
    unit = unit_rows(make(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]) * size))
    unit = unit.toarray() if sparse.issparse(unit) else unit
    assert_allclose(unit, [[0.6, 0.8, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]], atol=1e-7)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32])
def test_unit_rows_take_any_numbers(dtype):
    X = np.array([[1, 1], [0, 1]], dtype=dtype)
    expected = np.array([[0.5**0.5, 0.5**0.5], [0, 1]], dtype=np.float32)
    assert_array_equal(unit_rows(X), expected)
    assert_array_equal(unit_rows(sparse.csr_array(X)).toarray(), expected)


def test_unit_rows_add_cells_stored_twice_and_sort_without_touching_the_input():
    twice = sparse.csr_array((np.array([4.0, 1.0, 2.0]), [1, 0, 0], [0, 3]), shape=(1, 2))
    unit = unit_rows(twice)
    assert_allclose(unit.toarray(), [[0.6, 0.8]], atol=1e-7)
    assert_array_equal(unit.indices, [0, 1])
    assert_array_equal(twice.data, [4.0, 1.0, 2.0])
    assert_array_equal(twice.indices, [1, 0, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"queries": np.eye(4)}, "must have the 3 features of the documents, got 4"),
        ({"queries": np.eye(3)[:2], "leave_one_out": True}, "3 rows, got 2"),
        ({"documents": np.zeros((0, 3))}, "at least one document"),
    ],
)
def test_what_cannot_be_searched_is_refused(change, message):
    arguments = {"documents": np.eye(3), "queries": np.eye(3), "k": 2} | change
    with pytest.raises(ValueError, match=message):
        similar_documents(**arguments)
