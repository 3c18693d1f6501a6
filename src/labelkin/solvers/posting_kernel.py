"""The most similar documents from posting lists, as a compiled kernel.

Needs numba (``pip install "labelkin[fast]"``): import this module where it is used, not before.

A similarity and its document travel as one integer, the *key*: the bits of the float32 similarity
above, the document counted backwards below. Positive floats sort as their bits do, so a larger key
is a larger similarity or, at equal similarity, a lower document: the rule for ties is the order of
integers. Key 0 is "no document".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

_LAST = 0xFFFFFFFF  # documents are counted backwards from here: 32 bits


def search_postings(
    postings: sparse.csc_array,
    queries: sparse.csr_array,
    *,
    start: int,
    stop: int,
    k: int,
    leave_one_out: bool,
) -> sparse.csr_array:
    """Return the ``k`` largest positive products of each query with the documents.

    Parameters
    ----------
    postings
        The documents, float32, ``(n_documents, n_features)``; a column is a term's posting list.
    queries
        float32, ``(n_queries, n_features)``.
    start, stop
        The rows of ``queries`` to search for.
    k
        At most ``n_documents``; ties at rank k go to the lowest document.
    leave_one_out
        Query i is document i and is not compared with itself.

    Returns
    -------
    csr_array
        float64, ``(stop - start, n_documents)``, sorted indices.
    """
    n_documents = postings.shape[0]
    nobody = np.full(stop - start, n_documents)
    keys = np.zeros((stop - start, k), dtype=np.int64)
    _search(
        (_unsigned(postings.indptr), _unsigned(postings.indices), postings.data),
        (_unsigned(queries.indptr[start : stop + 1]), _unsigned(queries.indices), queries.data),
        np.arange(start, stop) if leave_one_out else nobody,
        np.zeros(n_documents + 1, dtype=np.float32),
        keys,
    )
    found = keys > 0
    similarity = (keys[found] >> 32).astype(np.int32).view(np.float32).astype(np.float64)
    document = _LAST - (keys[found] & _LAST)
    ends = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    result = sparse.csr_array((similarity, document, ends), shape=(stop - start, n_documents))
    result.sort_indices()
    return result


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """View indices as unsigned: numba then has no negative indices to take care of."""
    return indices.view(f"u{indices.itemsize}")


@njit(nogil=True, cache=True)
def _search(
    postings: tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]],
    queries: tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]],
    left_out: NDArray[np.int64],
    similarity: NDArray[np.float32],
    keys: NDArray[np.int64],
) -> None:
    """Fill row i of ``keys``, all zero, with the largest keys of query i.

    ``similarity`` is all zero, before and after, and has one place more than there are documents:
    what ``left_out`` names when no document is.
    """
    term_ends, documents, weights = postings
    query_ends, terms, term_weights = queries
    for i in range(len(keys)):
        for place in range(query_ends[i], query_ends[i + 1]):
            term, weight = terms[place], term_weights[place]
            for posting in range(term_ends[term], term_ends[term + 1]):
                similarity[documents[posting]] += weight * weights[posting]
        similarity[left_out[i]] = 0.0
        _keep_largest(similarity.view(np.int32), keys[i])
        similarity[:] = 0.0


@njit(nogil=True, cache=True)
def _keep_largest(bits: NDArray[np.int32], heap: NDArray[np.int64]) -> None:
    """Fill ``heap``, all zero, with the largest keys; the smallest of them stays at the root.

    ``bits`` are the similarities as integers: negative ones have the sign bit, so they and zero
    never pass the empty root. Documents come in ascending order, so a tie with the root loses.
    """
    least = np.int64(0)
    for document in range(bits.size):
        if bits[document] > least:
            _replace_root(heap, (np.int64(bits[document]) << 32) | (_LAST - document))
            least = heap[0] >> 32


@njit(nogil=True, cache=True)
def _replace_root(heap: NDArray[np.int64], key: np.int64) -> None:
    """Put ``key`` in the place of the smallest key and let it sink."""
    place, child = 0, 1
    while child < heap.size:
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if key <= heap[child]:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = key
