"""Candidate cells: which labels of which documents are looked at, where there are too many for all.

A document has a handful of labels out of thousands, and a content classifier that serves thousands
names the best hundred of them. Those are the *candidates*; a label that is none is a "no", below
every candidate. A sparse score matrix says both: stored = candidate, absent = not a candidate.

Values over the cells are plain 1-d arrays, one number per cell in the order of the cells: a stored
log-odds of 0 is a probability of one half, and arithmetic of sparse matrices would drop it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Cells:
    """A pattern of candidate cells, documents × labels; a dense matrix is the full pattern.

    Attributes
    ----------
    indptr, indices
        As in a CSR array: the labels of document i are ``indices[indptr[i]:indptr[i + 1]]``,
        ascending, none twice.
    shape
        Number of documents, number of labels.

    Examples
    --------
    >>> scores = sparse.csr_array(np.array([[0.9, 0.0, 0.2], [0.0, 0.7, 0.0]]))
    >>> cells = Cells.of(scores)
    >>> cells.document.tolist(), cells.label.tolist()
    ([0, 0, 1], [0, 2, 1])
    >>> cells.sums_by_document(scores.data).round(1).tolist()
    [1.1, 0.7]
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Cells:
        """Return the stored cells of a CSR array with sorted indices, none twice."""
        return cls(matrix.indptr, matrix.indices, matrix.shape)

    @classmethod
    def full(cls, shape: tuple[int, int]) -> Cells:
        """Return all cells of a dense matrix, row by row."""
        indptr = np.arange(shape[0] + 1) * shape[1]
        return cls(indptr, np.tile(np.arange(shape[1]), shape[0]), shape)

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.indices)

    @property
    def label(self) -> NDArray[Any]:
        """The label of every cell, ``(n,)``."""
        return self.indices

    @cached_property
    def document(self) -> NDArray[np.intp]:
        """The document of every cell, ``(n,)``."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def matrix(self, values: NDArray[Any]) -> sparse.csr_array:
        """Return values as a CSR array with exactly these cells, zeros included."""
        return sparse.csr_array((values, self.indices, self.indptr), shape=self.shape)

    def dense(self, values: NDArray[np.float64], absent: Any = 0.0) -> NDArray[np.float64]:
        """Return values as a dense matrix; ``absent``, one number or one per label, elsewhere."""
        result = np.empty(self.shape)
        result[:] = absent
        result[self.document, self.label] = values
        return result

    def at(self, matrix: Any) -> NDArray[np.float64]:
        """Return what a matrix of the same shape, dense or CSR, holds at the cells.

        A CSR array, with sorted indices, holds 0 where nothing is stored.
        """
        if not sparse.issparse(matrix):
            return np.asarray(matrix[self.document, self.label], dtype=np.float64)
        result = np.zeros(self.n)
        if matrix.nnz:
            place, found = self.find(Cells.of(matrix))
            result[place[found]] = matrix.data[found]
        return result

    def find(self, others: Cells) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the place of other cells among these, and which of them are here at all."""
        mine, theirs = self._numbers(), others._numbers()
        place = np.minimum(np.searchsorted(mine, theirs), max(self.n - 1, 0))
        found = mine[place] == theirs if self.n else np.zeros(others.n, dtype=np.bool_)
        return place, found

    def rows(self, start: int, stop: int) -> tuple[Cells, slice]:
        """Return the cells of some documents, and where their values are."""
        ends = self.indptr[start : stop + 1]
        of_rows = slice(int(ends[0]), int(ends[-1]))
        part = Cells(ends - ends[0], self.indices[of_rows], (stop - start, self.shape[1]))
        return part, of_rows

    def side_by_side(
        self, values: NDArray[Any], elsewhere: Any
    ) -> tuple[NDArray[Any], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return values with each document's cells moved to the left, and where each cell is.

        As wide as the most cells of a document, ``elsewhere`` behind the last one; cells stay in
        the order of their labels.
        """
        place = np.arange(self.n) - self.indptr[self.document]
        shape = self.shape[0], int(np.diff(self.indptr).max(initial=0))
        rows = np.full(shape, elsewhere, dtype=values.dtype)
        rows[self.document, place] = values
        return rows, (self.document, place)

    def take(self, documents: NDArray[Any]) -> tuple[Cells, NDArray[np.intp]]:
        """Return the cells of any documents, in their order, and where their values are."""
        places = self.matrix(np.arange(self.n))[documents]
        return Cells.of(places), places.data

    def union(self, others: Cells) -> tuple[Cells, NDArray[np.intp], NDArray[np.intp]]:
        """Return the cells of both, and where the values of these and of the others go."""
        mine, theirs = self._numbers(), others._numbers()
        both = np.union1d(mine, theirs)
        starts = np.arange(self.shape[0] + 1, dtype=np.int64) * self.shape[1]
        cells = Cells(np.searchsorted(both, starts), both % max(self.shape[1], 1), self.shape)
        return cells, np.searchsorted(both, mine), np.searchsorted(both, theirs)

    def sums_by_document(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Add up values over each document's cells, ``(n_documents,)``."""
        return np.bincount(self.document, values, self.shape[0]).astype(np.float64, copy=False)

    def sums_by_label(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Add up values over each label's cells, ``(n_labels,)``."""
        return np.bincount(self.label, values, self.shape[1]).astype(np.float64, copy=False)

    def _numbers(self) -> NDArray[np.int64]:
        """Return a number for every cell that rises with document and label."""
        return self.document.astype(np.int64) * self.shape[1] + self.label


def to_dense(log_odds: Any) -> NDArray[np.float64]:
    """Return log-odds as a dense matrix: what is no candidate in a CSR array has −inf.

    Examples
    --------
    >>> to_dense(sparse.csr_array(np.array([[0.0, 2.0]])))
    array([[-inf,   2.]])
    """
    if not sparse.issparse(log_odds):
        return np.asarray(log_odds)
    return Cells.of(log_odds).dense(log_odds.data, -np.inf)


class BestCells:
    """The best labels of every document, from blocks of labels that come one after the other.

    Of equally good labels the lowest columns are kept. Memory holds what is kept and one block.

    Parameters
    ----------
    n_documents, n_labels : int
        The shape of the whole.
    top : int
        How many labels of a document are kept at most.

    Examples
    --------
    >>> best = BestCells(1, 4, top=2)
    >>> best.add(np.array([[0.0, 3.0]]), np.array([0, 1]))
    >>> best.add(np.array([[2.0, -1.0]]), np.array([2, 3]))
    >>> best.matrix().indices.tolist(), best.matrix().data.tolist()
    ([1, 2], [3.0, 2.0])
    """

    def __init__(self, n_documents: int, n_labels: int, top: int) -> None:
        self._shape, self._top = (n_documents, n_labels), top
        self._values = np.zeros((n_documents, 0))
        self._labels = np.zeros((n_documents, 0), dtype=np.int32)

    def add(self, values: NDArray[np.float64], labels: NDArray[Any]) -> None:
        """Look at some more labels: values ``(n_documents, n_columns)``, and which labels."""
        columns = np.broadcast_to(labels.astype(np.int32), values.shape)
        if values.shape[1] > 2 * self._top and (np.diff(labels) > 0).all():
            values, columns = _best_columns(values, columns, self._top)
        both: Any = values, columns
        if self._values.shape[1]:
            both = np.hstack([self._values, values]), np.hstack([self._labels, columns])
        if both[0].shape[1] > self._top:
            keep = np.lexsort((both[1], -both[0]), axis=1)[:, : self._top]
            both = [np.take_along_axis(part, keep, axis=1) for part in both]
        self._values, self._labels = both

    def matrix(self) -> sparse.csr_array:
        """Return what is kept: a CSR array, sorted indices, zeros included."""
        order = np.argsort(self._labels, axis=1)
        n_kept = self._labels.shape[1]
        return sparse.csr_array(
            (
                np.take_along_axis(self._values, order, axis=1).ravel(),
                np.take_along_axis(self._labels, order, axis=1).ravel(),
                np.arange(self._shape[0] + 1) * n_kept,
            ),
            shape=self._shape,
        )


def _best_columns(
    values: NDArray[np.float64], columns: NDArray[np.int32], top: int
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the best of each row without sorting it; of equal ones those to the left."""
    least = np.partition(values, -top, axis=1)[:, -top, None]
    keep = values >= least
    crowded = np.flatnonzero(np.count_nonzero(keep, axis=1) > top)
    if len(crowded):
        better, ties = values[crowded] > least[crowded], values[crowded] == least[crowded]
        wanted = top - np.count_nonzero(better, axis=1)[:, None]
        keep[crowded] = better | (ties & (np.cumsum(ties, axis=1) <= wanted))
    return values[keep].reshape(-1, top), columns[keep].reshape(-1, top)


#: Cells of a dense block from which candidates are picked.
_PICKED = 2**22


def best_cells(log_odds: Any, n_documents: int, n_labels: int, top: int) -> sparse.csr_array:
    """Return each document's best labels as a CSR array of candidates, block by block.

    Parameters
    ----------
    log_odds : callable
        Slice of documents → their log-odds, dense, ``(n, n_labels)``.
    n_documents, n_labels : int
        The shape of the whole.
    top : int
        How many candidates a document has.
    """
    check_top(top)
    step, parts = max(1, _PICKED // max(n_labels, 1)), []
    for start in range(0, max(n_documents, 1), step):
        values = np.asarray(log_odds(slice(start, min(start + step, n_documents))))
        best = BestCells(len(values), n_labels, top)
        best.add(values, np.arange(n_labels))
        parts.append(best.matrix())
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))


def best_of(candidates: sparse.csr_array, top: int) -> sparse.csr_array:
    """Return the ``top`` best candidates of each document; of equally good ones the lowest.

    Examples
    --------
    >>> best_of(sparse.csr_array(np.array([[0.2, 0.9, 0.5]])), 2).toarray().tolist()
    [[0.0, 0.9, 0.5]]
    """
    cells = Cells.of(candidates)
    by_rank = np.lexsort((-candidates.data, cells.document))
    rank = np.empty(cells.n, dtype=np.int64)
    rank[by_rank] = np.arange(cells.n) - cells.indptr[cells.document[by_rank]]
    keep = rank < top
    ends = np.concatenate(([0], np.cumsum(keep)))[cells.indptr]
    return sparse.csr_array((candidates.data[keep], cells.label[keep], ends), shape=cells.shape)


def check_top(top: Any) -> None:
    """Raise for a number of candidates that makes no sense."""
    is_number = isinstance(top, Integral) and not isinstance(top, bool)
    if not is_number or top < 1:
        raise ValueError(
            f"top must be a whole number of at least 1 (candidates per document), or None (all "
            f"labels), got {top!r}."
        )
