"""Documents most similar to a text: exact cosine search on arrays.

With numba, sparse documents are searched through their posting lists. Otherwise, and for dense
documents, a block of queries is multiplied with all documents and the largest products are picked.
Both agree to float32 rounding; equal documents tie exactly in both.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_limits

from labelkin.scaling.distributed import map_parts
from labelkin.solvers import load_kernels

# Sizes of blocks are fixed, so that the answer cannot depend on n_jobs.
_QUERIES_OF_A_TASK = 2048  # of a thread or of a cluster; fewer are not worth their messages
_QUERIES = 256  # a block of queries in posting lists or against dense documents
_SPARSE_QUERIES = 64  # a block of queries against sparse documents: what fits the cache is faster
_CELLS = 2**24  # of a block of products: 64 MB of float32
_ROWS = 4096  # dense documents turned into float64 at a time


def unit_rows(X: ArrayLike | Any) -> sparse.csr_array | NDArray[np.float32]:
    """Scale every row to length 1; a row of zeros stays zero.

    Parameters
    ----------
    X
        Finite numbers of any size, ``(n_documents, n_features)``, dense or any SciPy sparse kind.

    Returns
    -------
    csr_array or array
        Of float32; sparse with sorted indices if ``X`` is sparse, otherwise dense. Always a copy.

    Examples
    --------
    >>> unit_rows([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    if not sparse.issparse(X):
        scaled = np.array(X, dtype=np.float64)
        # the largest value first: squares of huge or tiny numbers would leave the range of float64
        scaled /= _or_one(np.abs(scaled).max(axis=1, initial=0.0))[:, None]
        scaled /= _or_one(row_norms(scaled))[:, None]
        return scaled.astype(np.float32)
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    lengths = np.diff(rows.indptr)
    rows.data /= np.repeat(_or_one(abs(rows).max(axis=1).toarray().ravel()), lengths)
    rows.data /= np.repeat(_or_one(row_norms(rows)), lengths)
    return rows.astype(np.float32)


def index_documents(documents: Any) -> sparse.csc_array | NDArray[np.float32]:
    """Arrange documents for :func:`similar_documents`, once for many searches.

    Sparse documents become posting lists, which is what the columns of a CSC array are; dense ones
    stay rows. Either way the result is an ordinary float32 array ``(n_documents, n_features)``.
    """
    if sparse.issparse(documents):
        return sparse.csc_array(documents, dtype=np.float32)
    return np.asarray(documents, dtype=np.float32)


def similar_documents(
    documents: Any,
    queries: Any,
    k: int,
    *,
    leave_one_out: bool = False,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Find the ``k`` documents most similar to each query, and how similar they are.

    Parameters
    ----------
    documents
        What :func:`index_documents` returns, or rows of length 1 as :func:`unit_rows` makes them,
        ``(n_documents, n_features)``.
    queries
        Rows of length 1, ``(n_queries, n_features)``.
    k
        How many, at least 1. Ties at rank k go to the lowest document; with fewer than k documents
        all of them are compared.
    leave_one_out
        The queries are the documents, in the same order, and none is compared with itself.
    n_jobs
        Threads; the result is the same to the byte.

    Returns
    -------
    csr_array
        Cosine similarities, float64, ``(n_queries, n_documents)``, at most k per row. Only positive
        ones are stored: a query with no word in common with any document has an empty row.

    Examples
    --------
    >>> documents = unit_rows([[1, 0], [1, 1], [0, 1]])
    >>> similar_documents(documents, unit_rows([[3, 1]]), k=2).toarray().round(3)
    array([[0.949, 0.894, 0.   ]])
    """
    index = index_documents(documents)
    rows = _like(index, queries)
    # Without queries there is one empty span.
    spans = range(0, max(rows.shape[0], 1), _QUERIES_OF_A_TASK)
    shared = {"index": index, "rows": rows, "k": min(k, index.shape[0])}
    shared |= {"leave_one_out": leave_one_out}
    with _one_thread_of_blas(index):
        found = map_parts(_search_span, spans, "similar documents", n_jobs, **shared)
    return sparse.vstack(found, format="csr")


def _one_thread_of_blas(index: Any) -> AbstractContextManager[Any]:
    """BLAS divides dense products among threads, which changes their last bits."""
    return nullcontext() if sparse.issparse(index) else threadpool_limits(1, user_api="blas")


def _search_span(start: int, index: Any, rows: Any, k: int, leave_one_out: bool) -> Any:
    """Search for the queries of a task, which begin at ``start``, in blocks."""
    kernels = load_kernels() if sparse.issparse(index) else None
    search = partial(_search_postings, kernels) if kernels else _multiply_block
    size = _QUERIES if kernels else _size_of_product(index)
    last = min(start + _QUERIES_OF_A_TASK, rows.shape[0])
    with _one_thread_of_blas(index):
        found = [
            search(index, rows, start=i, stop=min(i + size, last), k=k, leave_one_out=leave_one_out)
            for i in range(start, max(last, 1), size)
        ]
    return sparse.vstack(found, format="csr")


def _size_of_product(index: Any) -> int:
    """Return the number of queries that are multiplied with all documents together."""
    most = _SPARSE_QUERIES if sparse.issparse(index) else _QUERIES
    return max(1, min(most, _CELLS // index.shape[0]))


def _or_one(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace 0 by 1: nothing is divided by zero, and zeros stay zero."""
    return np.where(scale > 0, scale, 1.0)


def _like(index: Any, queries: Any) -> sparse.csr_array | NDArray[np.float32]:
    """Return queries as float32 rows, sparse if the documents are."""
    if sparse.issparse(index):
        return sparse.csr_array(queries, dtype=np.float32)
    dense = queries.toarray() if sparse.issparse(queries) else queries
    return np.asarray(dense, dtype=np.float32)


def _search_postings(
    kernels: ModuleType,
    postings: sparse.csc_array,
    queries: sparse.csr_array,
    *,
    start: int,
    stop: int,
    k: int,
    leave_one_out: bool,
) -> sparse.csr_array:
    """Find the ``k`` largest products of queries ``start`` to ``stop`` through posting lists."""
    n_documents = postings.shape[0]
    keys = np.zeros((stop - start, k), dtype=np.int64)
    kernels.search_postings(
        (_unsigned(postings.indptr), _unsigned(postings.indices), postings.data),
        (_unsigned(queries.indptr[start : stop + 1]), _unsigned(queries.indices), queries.data),
        np.arange(start, stop) if leave_one_out else np.full(stop - start, n_documents),
        np.zeros(n_documents + 1, dtype=np.float32),
        keys,
    )
    found = keys > 0
    similarity = (keys[found] >> 32).astype(np.int32).view(np.float32).astype(np.float64)
    document = kernels.LAST_DOCUMENT - (keys[found] & kernels.LAST_DOCUMENT)
    ends = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    result = sparse.csr_array((similarity, document, ends), shape=(stop - start, n_documents))
    result.sort_indices()
    return result


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """View indices as unsigned: numba then has no negative indices to handle."""
    return indices.view(f"u{indices.itemsize}")


def _multiply_block(
    index: Any, queries: Any, *, start: int, stop: int, k: int, leave_one_out: bool
) -> sparse.csr_array:
    """Compare queries ``start`` to ``stop`` with every document, then keep the largest."""
    multiply = _sparse_product if sparse.issparse(index) else _dense_product
    similarity = multiply(index, queries[start:stop])
    if leave_one_out:
        similarity[np.arange(stop - start), np.arange(start, stop)] = 0.0
    chosen = np.nonzero(_largest(similarity, k))
    return sparse.csr_array((similarity[chosen].astype(np.float64), chosen), shape=similarity.shape)


def _sparse_product(postings: sparse.csc_array, queries: sparse.csr_array) -> NDArray[np.float32]:
    """Multiply as sparse × dense: on text two to five times faster than sparse × sparse.

    The queries are dense in the terms they use only, so a large vocabulary costs no memory.
    """
    terms = np.unique(queries.indices)
    weights = np.ascontiguousarray(queries[:, terms].toarray().T)
    return np.ascontiguousarray((postings[:, terms] @ weights).T)


def _dense_product(
    documents: NDArray[np.float32], queries: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Multiply in float64, round to float32.

    A matrix product may add up its last columns in another order than the rest; rounded from
    float64, equal documents are equally similar wherever they stand.
    """
    similarity = np.empty((len(queries), len(documents)), dtype=np.float32)
    exact_queries = queries.astype(np.float64)
    for start in range(0, len(documents), _ROWS):
        exact_documents = documents[start : start + _ROWS].astype(np.float64)
        similarity[:, start : start + _ROWS] = exact_queries @ exact_documents.T
    return similarity


def _largest(similarity: NDArray[np.float32], k: int) -> NDArray[np.bool_]:
    """Mark the ``k`` largest positive values of each row, ties at rank k from the left."""
    n_documents = similarity.shape[1]
    least = np.partition(similarity, n_documents - k, axis=1)[:, [n_documents - k]]
    chosen = (similarity >= least) & (similarity > 0)
    crowded = np.flatnonzero(chosen.sum(axis=1) > k)
    above = similarity[crowded] > least[crowded]
    tied = chosen[crowded] & ~above
    room = k - above.sum(axis=1, keepdims=True)
    chosen[crowded] = above | (tied & (np.cumsum(tied, axis=1) <= room))
    return chosen
