"""Candidates, the labels of each document that have a score, and the best labels of documents.

With thousands of labels a content classifier returns the best hundred of each document, the
*candidates*; all other labels are rejected. In a sparse score matrix the stored cells are the
candidates. Values over the cells are 1-d arrays with one number per cell, in the order of the
cells, because sparse arithmetic would drop a stored log-odds of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.validation import check_whole_number

#: Cells of a dense block from which candidates are selected.
_BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class Cells:
    """A pattern of candidate cells, documents × labels; a dense matrix is the full pattern.

    Attributes
    ----------
    indptr, label
        As in a CSR array: the labels of document i are ``label[indptr[i]:indptr[i + 1]]``,
        ascending and distinct; ``label`` is the label of every cell, ``(n,)``.
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
    label: NDArray[Any]
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Cells:
        """Return the stored cells of a CSR array with sorted, distinct indices."""
        return cls(matrix.indptr, matrix.indices, matrix.shape)

    @classmethod
    def full(cls, shape: tuple[int, int]) -> Cells:
        """Return all cells of a dense matrix, row by row."""
        indptr = np.arange(shape[0] + 1) * shape[1]
        return cls(indptr, np.tile(np.arange(shape[1]), shape[0]), shape)

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.label)

    @cached_property
    def document(self) -> NDArray[np.intp]:
        """The document of every cell, ``(n,)``."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def matrix(self, values: NDArray[Any]) -> sparse.csr_array:
        """Return values as a CSR array with exactly these cells, zeros included."""
        return sparse.csr_array((values, self.label, self.indptr), shape=self.shape)

    def dense(self, values: NDArray[np.float64], absent: Any = 0.0) -> NDArray[np.float64]:
        """Return values as a dense matrix; ``absent``, one number or one per label, elsewhere."""
        result = np.empty(self.shape)
        result[:] = absent
        result[self.document, self.label] = values
        return result

    def at(self, matrix: Any) -> NDArray[np.float64]:
        """Return the values of a matrix of the same shape at the cells, ``(n,)``.

        The matrix is dense or a CSR array with sorted indices, whose other values are 0.
        """
        if not sparse.issparse(matrix):
            return np.asarray(matrix[self.document, self.label], dtype=np.float64)
        result = np.zeros(self.n)
        if matrix.nnz:
            place, found = self.find(Cells.of(matrix))
            result[place[found]] = matrix.data[found]
        return result

    def find(self, others: Cells) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the place of other cells among these, and which of them are among these."""
        mine, theirs = self._numbers(), others._numbers()
        place = np.minimum(np.searchsorted(mine, theirs), max(self.n - 1, 0))
        found = mine[place] == theirs if self.n else np.zeros(others.n, dtype=np.bool_)
        return place, found

    def rows(self, start: int, stop: int) -> tuple[Cells, slice]:
        """Return the cells of some documents, and the slice of their values."""
        ends = self.indptr[start : stop + 1]
        of_rows = slice(int(ends[0]), int(ends[-1]))
        part = Cells(ends - ends[0], self.label[of_rows], (stop - start, self.shape[1]))
        return part, of_rows

    def take(self, documents: NDArray[Any]) -> tuple[Cells, NDArray[np.intp]]:
        """Return the cells of documents, in the given order, and the places of their values."""
        places = self.matrix(np.arange(self.n))[documents]
        return Cells.of(places), places.data

    def select(self, keep: NDArray[np.bool_]) -> Cells:
        """Return some of the cells, marked by ``keep``, ``(n,)``."""
        ends = np.concatenate(([0], np.cumsum(keep)))[self.indptr]
        return Cells(ends, self.label[keep], self.shape)

    def union(self, others: Cells) -> tuple[Cells, NDArray[np.intp], NDArray[np.intp]]:
        """Return the cells of both, and the places of the values of these and of the others."""
        mine, theirs = self._numbers(), others._numbers()
        both = np.union1d(mine, theirs)
        starts = np.arange(self.shape[0] + 1, dtype=np.int64) * self.shape[1]
        cells = Cells(np.searchsorted(both, starts), both % max(self.shape[1], 1), self.shape)
        return cells, np.searchsorted(both, mine), np.searchsorted(both, theirs)

    def side_by_side(
        self, values: NDArray[Any], elsewhere: Any
    ) -> tuple[NDArray[Any], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return values with the cells of each document moved to the left, and their places.

        The result is as wide as the largest number of cells of a document, with ``elsewhere``
        after the last cell; cells stay in the order of their labels.
        """
        place = np.arange(self.n) - self.indptr[self.document]
        shape = self.shape[0], int(np.diff(self.indptr).max(initial=0))
        rows = np.full(shape, elsewhere, dtype=values.dtype)
        rows[self.document, place] = values
        return rows, (self.document, place)

    def sums_by_document(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sums of values over the cells of each document, ``(n_documents,)``."""
        return np.bincount(self.document, values, self.shape[0]).astype(np.float64, copy=False)

    def sums_by_label(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sums of values over the cells of each label, ``(n_labels,)``."""
        return np.bincount(self.label, values, self.shape[1]).astype(np.float64, copy=False)

    def _numbers(self) -> NDArray[np.int64]:
        """Return a number per cell that increases with document and label."""
        return self.document.astype(np.int64) * self.shape[1] + self.label


def to_dense(log_odds: Any) -> NDArray[np.float64]:
    """Return log-odds as a dense matrix; labels outside the candidates of a CSR array have −inf.

    Examples
    --------
    >>> to_dense(sparse.csr_array(np.array([[0.0, 2.0]])))
    array([[-inf,   2.]])
    """
    if not sparse.issparse(log_odds):
        return np.asarray(log_odds)
    return Cells.of(log_odds).dense(log_odds.data, -np.inf)


def top_of_rows(scores: NDArray[np.float64], counts: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """Mark the ``counts`` highest scores of each row; of equal ones the lowest columns.

    Parameters
    ----------
    scores
        Any shape ``(n_rows, n_columns)``.
    counts
        Number of scores, one number or ``(n_rows,)``; at most all columns.

    Examples
    --------
    >>> top_of_rows(np.array([[0.2, 0.9, 0.2], [0.5, 0.5, 0.5]]), 2).astype(int)
    array([[1, 1, 0],
           [1, 1, 0]])
    """
    n_rows, n_columns = scores.shape
    if not scores.size:
        return np.zeros(scores.shape, dtype=np.bool_)
    wanted = np.clip(np.broadcast_to(counts, n_rows), 0, n_columns)
    place = np.minimum(n_columns - wanted, n_columns - 1)
    ordered = np.partition(scores, np.unique(place), axis=1)
    lowest = ordered[np.arange(n_rows), place][:, None]
    above, tied = scores > lowest, scores == lowest
    room = wanted - above.sum(axis=1)
    crowded = tied.sum(axis=1) > room
    tied[crowded] &= tied[crowded].cumsum(axis=1) <= room[crowded, None]
    return above | tied


def best_cells(log_odds: Any, n_documents: int, n_labels: int, top: int) -> sparse.csr_array:
    """Return the best labels of each document as a CSR array of candidates, block by block.

    Parameters
    ----------
    log_odds : callable
        Function from a slice of documents to their dense log-odds, ``(n, n_labels)``.
    n_documents, n_labels : int
        Shape of the complete matrix.
    top : int
        Number of candidates of a document.
    """
    check_top(top)
    step, parts = max(1, _BLOCK // max(n_labels, 1)), []
    for start in range(0, max(n_documents, 1), step):
        values = np.asarray(log_odds(slice(start, min(start + step, n_documents))))
        keep = top_of_rows(values, top)
        ends = np.arange(len(values) + 1) * min(top, n_labels)
        cells = values[keep], np.nonzero(keep)[1], ends
        parts.append(sparse.csr_array(cells, shape=values.shape))
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))


def best_of(candidates: sparse.csr_array, top: int) -> sparse.csr_array:
    """Return the ``top`` best candidates of each document; of equal ones the lowest columns.

    Examples
    --------
    >>> best_of(sparse.csr_array(np.array([[0.2, 0.9, 0.5]])), 2).toarray().tolist()
    [[0.0, 0.9, 0.5]]
    """
    cells = Cells.of(candidates)
    rows, places = cells.side_by_side(candidates.data, -np.inf)
    keep = top_of_rows(rows, top)[places]
    return cells.select(keep).matrix(candidates.data[keep])


def best_labels(
    log_odds: NDArray[Any], top: int | None = None, is_open: NDArray[np.bool_] | None = None
) -> list[NDArray[np.intp]]:
    """Return the columns of the best labels of each document, the best first.

    Of equal values the lowest column comes first.

    Parameters
    ----------
    log_odds : array of shape (n_documents, n_labels)
        Or any score that orders the labels; no NaN.
    top : int, optional
        Maximum number of labels; default all.
    is_open : bool array of shape (n_documents, n_labels), optional
        Labels that may be returned; default all.

    Returns
    -------
    list of arrays

    Examples
    --------
    >>> best_labels(np.array([[0.5, 2.0, 0.5, 3.0]]), top=3)
    [array([3, 1, 0])]
    >>> best_labels(np.array([[1.0, 2.0]]), is_open=np.array([[True, False]]))
    [array([0])]
    """
    n_labels = log_odds.shape[1]
    key = np.negative(log_odds) if is_open is None else np.where(is_open, -log_odds, np.nan)
    # NaN is last in the order and not smaller than any value.
    taken = ~np.isnan(key)
    if top is not None and 0 < top < n_labels:
        taken &= ~(key > np.partition(key, top - 1, axis=1)[:, [top - 1]])
    row, column = np.nonzero(taken)
    column = column[np.lexsort((key[row, column], row))]
    ends = np.concatenate(([0], np.cumsum(taken.sum(axis=1))))
    return [column[start:stop][:top] for start, stop in pairwise(ends.tolist())]


def check_top(top: Any) -> None:
    """Raise for an invalid number of candidates."""
    check_whole_number("top", top, hint="It is the number of candidates; None: all labels.")
