"""Counted label sets, the training data of label evidence.

A corpus is a list of distinct label sets with the number of documents of each. Blocks of documents
are counted separately and added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_weight

#: Seed of the random numbers that identify equal rows: the same in every block.
_KEY_SEED = 20_130_515


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The distinct label sets of a corpus and the number of documents of each.

    The order of the sets depends only on their content, so that merged blocks equal the whole:
    bit by bit if the weights are integers.

    Attributes
    ----------
    positive
        1.0 for labels of the set; CSR ``(n_sets, n_labels)``, distinct rows.
    unknown
        1.0 for unknown cells; same shape. ``None``: all cells are known.
    count
        Number of documents with this set, or the sum of their weights, ``(n_sets,)``, above 0.
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    count: NDArray[np.float64]

    @property
    def n_sets(self) -> int:
        """Number of distinct label sets."""
        return int(self.positive.shape[0])

    @property
    def n_documents(self) -> float:
        """Number of documents, or the sum of their weights."""
        return float(self.count.sum())

    def positives(self) -> NDArray[np.float64]:
        """Count the documents that have each label, ``(n_labels,)``."""
        return np.asarray(self.positive.T @ self.count)

    def together(self) -> sparse.csr_array:
        """Count the documents that have both of two labels, sparse ``(n_labels, n_labels)``.

        Integers if the counts are; the diagonal is :meth:`positives`.
        """
        count = self.count
        if (count == np.round(count)).all():
            count = count.astype(np.int64)
        positive = self.positive.astype(count.dtype)
        both = sparse.csr_array(positive.T @ positive.multiply(count[:, None]).tocsr())
        both.sort_indices()
        return both

    def known(self) -> NDArray[np.float64]:
        """Count the documents for which each label is known, ``(n_labels,)``."""
        total = np.full(self.positive.shape[1], self.count.sum())
        if self.unknown is None:
            return total
        known = np.maximum(total - self.unknown.T @ self.count, self.positives())
        # Exactly 0 without known cells, also for sums of fractional weights.
        known[self.unknown.sum(axis=0) == self.n_sets] = 0.0
        return known

    def prior(self) -> NDArray[np.float64]:
        """Return p(label): the mean of the known cells; ½ for a label without known cells."""
        known = self.known()
        half = np.full(len(known), 0.5)
        return np.divide(self.positives(), known, out=half, where=known > 0)

    def inputs(self) -> sparse.csr_array:
        """Return the sets as inputs, ``(n_sets, n_labels)``, with the prior in unknown cells."""
        if self.unknown is None:
            return self.positive
        return sparse.csr_array(self.positive + self.unknown.multiply(self.prior()[None, :]))

    def merge(self, *others: LabelSets) -> LabelSets:
        """Return the sum of label sets that were counted on several blocks of documents.

        Examples
        --------
        >>> from labelkin.label_matrix import read_labels
        >>> first = count_label_sets(read_labels([[0, 1], [1, 1]]))
        >>> second = count_label_sets(read_labels([[1, 1], [0, 1], [0, 1]]))
        >>> sorted(first.merge(second).count.tolist())
        [2.0, 3.0]
        """
        blocks = [self, *others]
        sizes = [block.positive.shape[1] for block in blocks]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"Label sets can be merged if they have the same labels, got {sizes} labels. "
                "Read every block with the same `names`."
            )
        unknown = None
        if any(block.unknown is not None for block in blocks):
            none = sparse.csr_array
            marks = [none(b.positive.shape) if b.unknown is None else b.unknown for b in blocks]
            unknown = sparse.vstack(marks, format="csr")
        positive = sparse.vstack([block.positive for block in blocks], format="csr")
        return _count_rows(positive, unknown, np.concatenate([block.count for block in blocks]))


def count_label_sets(labels: LabelMatrix, weight: NDArray[np.float64] | None = None) -> LabelSets:
    """Count the distinct label sets of documents.

    Parameters
    ----------
    labels
        The labels of the documents, from ``read_labels``.
    weight
        Weights of the documents, ``(n_documents,)``, default 1; weight 0 leaves a document out.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> sets = count_label_sets(read_labels([["tea"], ["tea", "sugar"], ["tea"]]))
    >>> sets.n_sets, sets.n_documents, sets.prior().round(2).tolist()
    (2, 3.0, [0.33, 1.0])
    """
    if weight is None:
        return _count_rows(labels.positive, labels.unknown, np.ones(labels.shape[0]))
    weights = read_weight(weight, labels.shape[0])
    counted = np.flatnonzero(weights)
    labels, weights = labels.rows(counted), weights[counted]
    return _count_rows(labels.positive, labels.unknown, weights)


def _count_rows(
    positive: sparse.csr_array, unknown: sparse.csr_array | None, weight: NDArray[np.float64]
) -> LabelSets:
    """Merge equal rows; the count of a row is the sum of their weights."""
    if unknown is not None and unknown.nnz == 0:
        unknown = None
    parts = [positive] if unknown is None else [positive, unknown]
    first, group = group_equal_rows(parts)
    count = np.bincount(group, weights=weight, minlength=len(first)).astype(np.float64)
    sets = positive[first]
    if 2 * sets.nnz > positive.nnz:
        # All stored values are 1.0: share one array of millions.
        sets.data = positive.data[: sets.nnz]
    return LabelSets(sets, None if unknown is None else unknown[first], count)


def group_equal_rows(
    parts: Sequence[sparse.csr_array],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Group the rows that are equal in every part.

    Parameters
    ----------
    parts
        0/1 matrices of one shape without stored zeros.

    Returns
    -------
    first, group
        First row of each group, ``(n_groups,)``, and group of each row, ``(n_rows,)``.

    Notes
    -----
    Rows are compared by a key of 128 bits, the sum of two random numbers per stored cell. The order
    of the groups depends only on the content of the rows.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> first, group = group_equal_rows([rows])
    >>> len(first), bool(group[0] == group[2])
    (2, True)
    """
    n_rows, n_columns = parts[0].shape
    numbers = np.random.PCG64(_KEY_SEED).random_raw((len(parts) * n_columns, 2))
    key = np.zeros((2, n_rows), dtype=np.uint64)
    for i, part in enumerate(parts):
        for side in (0, 1):
            total = np.zeros(part.nnz + 1, dtype=np.uint64)
            np.cumsum(numbers[i * n_columns + part.indices, side], out=total[1:])
            key[side] += total[part.indptr[1:]] - total[part.indptr[:-1]]
    order = np.lexsort(key)
    is_new = (np.diff(key[:, order], axis=1, prepend=0) != 0).any(axis=0)
    is_new[:1] = True
    group = np.empty(n_rows, dtype=np.intp)
    group[order] = np.cumsum(is_new) - 1
    return order[is_new], group
