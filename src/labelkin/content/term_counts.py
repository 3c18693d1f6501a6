"""What naive Bayes learns of documents: how often terms occur under every label.

Counts of blocks of documents can be added. What a term adds to the log-odds of a label follows from
them; where most labels have not seen most terms, from those that are above 0 alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix

#: Where a smaller share of terms × labels has a count, those are looked at alone.
_FEW_COUNTS = 0.2
#: Terms × labels up to which a dense product is the faster one, however few the counts are.
_SMALL = 2**20
#: Terms × labels held dense at a time; 2²³ numbers are 64 MB.
_DENSE_CELLS = 2**23
#: The same where terms are looked up in them: what a processor has near at hand.
_CACHED = 2**20
#: Labels of the narrowest of such tables: with fewer, looking a term up costs more than adding it.
_NARROWEST = 16


@dataclass(frozen=True)
class TermCounts:
    """What naive Bayes learns; ``a + b`` counts both blocks of documents.

    Attributes
    ----------
    inside
        How often a term occurs in the documents of a label, CSC ``(n_terms, n_labels)``.
    unknown
        How often it occurs in documents for which the label is unknown; ``None``: no such document.
    total
        How often it occurs at all, ``(n_terms,)``.
    positive, known
        Documents with the label, and documents for which it is known, ``(n_labels,)``.
    """

    inside: sparse.csc_array
    unknown: sparse.csc_array | None
    total: NDArray[np.float64]
    positive: NDArray[np.float64]
    known: NDArray[np.float64]

    def __add__(self, other: TermCounts) -> TermCounts:
        parts = [part for part in (self.unknown, other.unknown) if part is not None]
        return TermCounts(
            sparse.csc_array(self.inside + other.inside),
            sparse.csc_array(sum(parts[1:], parts[0])) if parts else None,
            self.total + other.total,
            self.positive + other.positive,
            self.known + other.known,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what follows from the counts, and have whole numbers take less room.

        They are sent from worker to worker, and there are many.
        """
        return {field.name: _packed(getattr(self, field.name)) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Have the counts as they were."""
        vars(self).update({name: _unpacked(part) for name, part in state.items()})

    def terms(self, index: NDArray[np.int64]) -> TermCounts:
        """Return the counts of some terms only; the documents stay the same."""
        unknown = None if self.unknown is None else self.unknown[index]
        return TermCounts(self.inside[index], unknown, self.total[index], self.positive, self.known)

    @cached_property
    def by_term(self) -> sparse.csr_array:
        """Both kinds of counts by terms: a document is scored from the rows of its own words.

        Complex numbers, where there is something unknown: ``inside`` is real, ``unknown``
        imaginary, so that each is there, if only as 0, where the other is.
        """
        if self.unknown is None:
            return sparse.csr_array(self.inside)
        return sparse.csr_array(self.inside + 1j * self.unknown)

    @property
    def are_few(self) -> bool:
        """Whether most labels have not seen most terms."""
        n_terms, n_labels = self.inside.shape
        found = self.inside.nnz + (0 if self.unknown is None else self.unknown.nnz)
        return bool(found < _FEW_COUNTS * n_terms * n_labels)

    def weights(self, alpha: float) -> WordWeights:
        """Return what every term adds; kept, for block after block of documents asks for it."""
        found = self._weights.get(alpha)
        if found is None:
            every = np.arange(len(self.total))
            found = weigh_terms(self, every, alpha) if self.are_few else _weigh_all(self, alpha)
            self._weights[alpha] = found
        return found

    @cached_property
    def _weights(self) -> dict[float, WordWeights]:
        return {}

    def labels(self, columns: NDArray[np.int64]) -> TermCounts:
        """Return the counts of some labels only."""
        unknown = None if self.unknown is None else self.unknown[:, columns]
        positive, known = self.positive[columns], self.known[columns]
        return TermCounts(self.inside[:, columns], unknown, self.total, positive, known)

    def sides(self, labels: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return dense counts inside and outside some labels, ``(n_terms, n_labels)`` each."""
        inside = self.inside[:, labels].toarray()
        outside = self.total[:, None] - inside
        if self.unknown is not None:
            outside -= self.unknown[:, labels].toarray()
        return inside, outside

    def lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of words inside and outside every label, ``(n_labels,)`` each."""
        return self._lengths

    @cached_property
    def _lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        inside = np.asarray(self.inside.sum(axis=0)).ravel()
        outside = self.total.sum() - inside
        if self.unknown is not None:
            outside = outside - np.asarray(self.unknown.sum(axis=0)).ravel()
        return inside, outside


class WordWeights(NamedTuple):
    """What terms add to log-odds, Σ_t x_t log((inside_t + α) / (outside_t + α)).

    Attributes
    ----------
    own
        What each label has of its own, ``(n_terms, n_labels)``: a CSR array, or dense tables of
        neighbouring labels.
    shared
        What a term adds to all labels besides, ``(n_terms,)``; ``None``: nothing.
    """

    own: sparse.csr_array | list[NDArray[np.float64]]
    shared: NDArray[np.float64] | None

    def of(self, X: sparse.csr_array) -> NDArray[np.float64]:
        """Return what the words of documents add up to, ``(n_documents, n_labels)``."""
        if sparse.issparse(self.own):
            result = np.asarray((X @ self.own).toarray())
        else:
            sums = [X @ table for table in self.own]
            result = sums[0] if len(sums) == 1 else np.hstack(sums)
        if self.shared is not None:
            result += (X @ self.shared)[:, None]
        return result


def weigh_terms(
    counts: TermCounts, terms: NDArray[np.int64], alpha: float, less: float = 0.0
) -> WordWeights:
    """Return what some terms add, with ``less`` of them outside every label.

    Where counts are few, a term adds the same to all labels that have not seen it, and the others
    differ from that: the same to rounding, and faster.
    """
    found, total = counts.by_term[terms], counts.total[terms]
    if counts.are_few:
        seen = np.diff(found.indptr)
        rest = np.log(np.maximum(total - less, 0.0) + alpha)
        total = np.repeat(total, seen)
        inside, unknown = found.data.real, found.data.imag
    else:
        dense = found.toarray()
        total = total[:, None]
        inside, unknown = dense.real, dense.imag
    outside = total - inside
    if counts.unknown is not None:
        outside -= unknown
    if less:
        np.maximum(np.subtract(outside, less, out=outside), 0.0, out=outside)
    outside += alpha
    own = np.log(inside + alpha)
    own -= np.log(outside, out=outside)
    if not counts.are_few:
        return WordWeights([own], None)
    own += np.repeat(rest - np.log(alpha), seen)
    weights = sparse.csr_array((own, found.indices, found.indptr), shape=found.shape)
    is_small = found.shape[0] * found.shape[1] <= _SMALL
    return WordWeights([weights.toarray()] if is_small else weights, np.log(alpha) - rest)


def _weigh_all(counts: TermCounts, alpha: float) -> WordWeights:
    """Return what all terms add where counts are many, in tables that a processor has at hand.

    Documents look words up all over a table. In one that is too large for the cache they wait for
    memory, and processes at work side by side for each other.
    """
    tables = []
    for labels in label_blocks(counts, max(_CACHED, _NARROWEST * len(counts.total))):
        inside, outside = counts.sides(labels)
        own = np.log(inside + alpha) - np.log(outside + alpha)
        tables.append(np.ascontiguousarray(own))  # a term's weights side by side
    return WordWeights(tables, None)


def count_terms(
    X: Any, labels: LabelMatrix, weight: NDArray[np.float64] | None = None
) -> TermCounts:
    """Count terms per label; ``weight`` says how many times each document counts."""
    weighted = sparse.csr_array(X if weight is None else sparse.diags_array(weight) @ X)
    total = np.asarray(weighted.sum(axis=0)).ravel()
    inside = _sum_terms(weighted, labels.positive)
    unknown = None if labels.unknown is None else _sum_terms(weighted, labels.unknown)
    return TermCounts(inside, unknown, total, *labels.counts(weight))


def _sum_terms(X: sparse.csr_array, cells: sparse.csr_array) -> sparse.csc_array:
    """Xᵀ · cells, with sorted indices: single cells are looked up by bisection then.

    From rows to columns the product is sorted on the way, in a fraction of the time of sorting.
    """
    if max(X.nnz, *X.shape) < np.iinfo(np.int32).max:  # half the memory of larger indices
        indices, ends = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
        X = sparse.csr_array((X.data, indices, ends), shape=X.shape)
    product = sparse.csc_array(sparse.csr_array(X.T) @ cells)
    product.sum_duplicates()
    return product


def label_blocks(counts: TermCounts, n_cells: int | None = None) -> Iterator[slice]:
    """Return slices of labels; of each, a dense table with all terms has about so many cells."""
    n_terms, n_labels = counts.inside.shape
    width = max(1, (_DENSE_CELLS if n_cells is None else n_cells) // max(n_terms, 1))
    return (slice(start, start + width) for start in range(0, n_labels, width))


class _Packed(NamedTuple):
    """A sparse matrix whose values and rows have the smallest types that hold them all."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]
    types: tuple[np.dtype[Any], np.dtype[Any]]


def _packed(part: Any) -> Any:
    if not sparse.issparse(part):
        return part
    types = part.data.dtype, part.indices.dtype
    return _Packed(_narrow(part.data), _narrow(part.indices), part.indptr, part.shape, types)


def _unpacked(part: Any) -> Any:
    if not isinstance(part, _Packed):
        return part
    data, indices = part.data.astype(part.types[0]), part.indices.astype(part.types[1])
    return sparse.csc_array((data, indices, part.indptr), shape=part.shape)


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same values in a smaller type; what is no whole number stays as it is."""
    largest = values.max(initial=0)
    for kind in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(kind).max and np.dtype(kind).itemsize < values.itemsize:
            narrow = values.astype(kind)
            return narrow if np.array_equal(narrow, values) else values
    return values
