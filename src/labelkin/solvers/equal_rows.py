"""Equal rows of sparse 0/1 matrices, found in the time of a sort."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

HASH_SEED = 20_130_515
_ROWS = 2**16
Groups = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows in group order, group of each row


def group_equal_rows(parts: Sequence[sparse.csr_array]) -> Groups:
    """Group the rows that are equal in every part.

    The order of the groups depends on nothing but the content of their rows.

    Parameters
    ----------
    parts
        0/1 matrices side by side, of one shape, sorted indices.

    Returns
    -------
    first, group
        The first row of every group, ``(n_groups,)``, and the group of every row, ``(n_rows,)``.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> first, group = group_equal_rows([rows])
    >>> len(first), bool(group[0] == group[2])
    (2, True)
    """
    order, group = _group_by_hash(parts)
    if not all(_rows_equal_their_first(part, order, group) for part in parts):
        order, group = _group_by_content(parts)
    return _first_of_group(order, group), group


def _group_by_hash(parts: Sequence[sparse.csr_array]) -> Groups:
    """Sort rows by a 128-bit key: the wrapping sum of two random numbers per stored cell."""
    n_labels = parts[0].shape[1]
    numbers = _hash_numbers(len(parts) * n_labels)
    key = np.zeros((2, parts[0].shape[0]), dtype=np.uint64)
    for i, part in enumerate(parts):
        for side in (0, 1):
            key[side] += _row_sums(part, numbers[i * n_labels :, side])
    order = np.lexsort(key)
    is_new = (np.diff(key[:, order], axis=1) != 0).any(axis=0)
    return order, _number_groups(order, is_new)


def _hash_numbers(n: int) -> NDArray[np.uint64]:
    """Raw bits of a fixed generator: the same on every machine and in every block."""
    return np.random.PCG64(HASH_SEED).random_raw((n, 2))


def _row_sums(part: sparse.csr_array, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    total = np.zeros(part.nnz + 1, dtype=np.uint64)
    np.cumsum(numbers[part.indices], out=total[1:])
    return total[part.indptr[1:]] - total[part.indptr[:-1]]


def _number_groups(order: NDArray[np.intp], is_new: NDArray[np.bool_]) -> NDArray[np.intp]:
    group = np.zeros(len(order), dtype=np.intp)
    group[order[1:]] = np.cumsum(is_new)
    return group


def _first_of_group(order: NDArray[np.intp], group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the first row of every group, in the order of the groups."""
    return order[np.flatnonzero(np.diff(group[order], prepend=-1))]


def _rows_equal_their_first(
    part: sparse.csr_array, order: NDArray[np.intp], group: NDArray[np.intp]
) -> bool:
    """Check that no two different rows share a key; a block of rows at a time, to save memory."""
    first = _first_of_group(order, group)[group]
    for start in range(0, len(group), _ROWS):
        rows = part[start : start + _ROWS]
        twin = part[first[start : start + _ROWS]]
        if not np.array_equal(twin.indptr, rows.indptr):
            return False
        if not np.array_equal(twin.indices, rows.indices):
            return False
    return True


def _group_by_content(parts: Sequence[sparse.csr_array]) -> Groups:
    """Group without hashing, slowly: the answer should two different rows ever share a key."""
    keys = [
        tuple(tuple(part.indices[part.indptr[i] : part.indptr[i + 1]].tolist()) for part in parts)
        for i in range(parts[0].shape[0])
    ]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    is_new = np.array([keys[a] != keys[b] for a, b in pairwise(order)], dtype=np.bool_)
    return order, _number_groups(order, is_new)
