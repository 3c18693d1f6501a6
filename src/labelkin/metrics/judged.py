"""What is judged: true label sets beside log-odds and decisions, cut into blocks of documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, names_to_columns, read_labels

CELLS_PER_BLOCK = 1 << 20  # 8 MB per dense array of a block
S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Block:
    """Some documents, all with a weight above 0.

    ``positive`` and ``decided`` are 0/1 CSR matrices ``(n_documents, n_labels)``, ``unknown`` marks
    the cells nobody knows (``None``: there are none), ``log_odds`` is a dense float64 matrix,
    ``weight`` ``(n_documents,)``. ``log_odds`` and ``decided`` are ``None`` where they were not
    given; no metric that needs them is asked for then.
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    weight: Floats
    log_odds: Any
    decided: Any


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents with their true label sets and what a classifier said about them."""

    truth: LabelMatrix
    weight: Floats
    log_odds: NDArray[Any] | None = None
    decisions: LabelMatrix | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield the documents in blocks of bounded size; without documents, one empty block."""
        n_documents, n_labels = self.truth.shape
        step = max(1, min(4096, CELLS_PER_BLOCK // max(n_labels, 1)))
        for start in range(0, max(n_documents, 1), step):
            rows = np.arange(start, min(start + step, n_documents))
            yield self._block(rows[self.weight[rows] > 0])

    def add_up(self, count: Callable[[Block], S]) -> S:
        """Return the total of ``count(block)``, a record that adds up, over all blocks."""
        return reduce(add, map(count, self.blocks()))

    def refuse_unknown(self, metric: str) -> Judged:
        """Return itself; unknown cells are an error, for ``metric`` cannot leave them out."""
        if self.truth.unknown is None:
            return self
        row, column = self.truth.unknown.nonzero()
        row, column = row[self.weight[row] > 0], column[self.weight[row] > 0]
        if len(row):
            raise ValueError(
                f"{metric} needs every label of a document to be known, got {len(row)} unknown "
                f"cells (NaN) in {len(np.unique(row))} documents, the first at document {row[0]}, "
                f"label {column[0]}. Leave those documents out, or use a metric that counts cells: "
                "hamming_loss, micro_f1, macro_f1, brier_score, log_loss."
            )
        return self

    def _block(self, rows: NDArray[np.intp]) -> Block:
        truth = self.truth.rows(rows)
        unknown = truth.unknown if truth.unknown is not None and truth.unknown.nnz else None
        log_odds = (
            None if self.log_odds is None else self.log_odds[rows].astype(np.float64, copy=False)
        )
        if self.decisions is not None:
            decided = self.decisions.positive[rows]
        else:
            decided = None if log_odds is None else sparse.csr_array(log_odds > 0, dtype=np.float64)
        return Block(truth.positive, unknown, self.weight[rows], log_odds, decided)


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sums:
    """A record whose every field is a sum over documents: two of them add field by field.

    Sums over no document are zero, so an empty block changes nothing; a NaN (the block holds
    unknown cells that the metric cannot skip) stays NaN in every total.
    """

    def __add__(self, other: Self) -> Self:
        """Return the sums over the documents of both."""
        totals = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)]
        return type(self)(*totals)


def ratio(numerator: ArrayLike, denominator: ArrayLike, *, nothing: float = 0.0) -> Any:
    """Return the quotient, elementwise; ``nothing`` where the denominator is 0.

    Examples
    --------
    >>> ratio([1.0, 0.0], [4.0, 0.0]).tolist()
    [0.25, 0.0]
    """
    above, below = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.full(above.shape, nothing)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient if quotient.ndim else float(quotient)


def weighted_sum(weight: Floats, values: NDArray[Any]) -> Any:
    """Return Σ weight · value over axis 0; not by BLAS, so the same with any number of threads.

    Examples
    --------
    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1, 0], [1, 5]])).tolist()
    [3.0, 10.0]
    """
    return (weight * values.T).sum(axis=-1)


def judge(
    Y: Any,
    *,
    log_odds: ArrayLike | None = None,
    decisions: Any = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Judged:
    """Read and check what a metric needs; what does not fit is an error that shows both shapes."""
    truth = _read_truth(Y, labels)
    return Judged(
        truth,
        _read_weight(sample_weight, truth.shape[0]),
        None if log_odds is None else _read_log_odds(log_odds, truth),
        None if decisions is None else _read_decisions(decisions, truth),
    )


def read_ks(ks: Sequence[int]) -> tuple[int, ...]:
    """Check the k of metrics at k: whole numbers from 1 on, each once."""
    wrong = [k for k in ks if not isinstance(k, int | np.integer) or k < 1]
    if wrong or len(set(ks)) < len(ks):
        raise ValueError(f"k must be a whole number from 1 on, each given once, got {tuple(ks)!r}.")
    return tuple(int(k) for k in ks)


def read_n_bins(n_bins: int) -> int:
    """Check the number of bins: a whole number from 1 on."""
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number from 1 on, got {n_bins!r}.")
    return int(n_bins)


def read_propensity(propensity: ArrayLike | None, n_labels: int) -> Floats | None:
    """Check propensities: one per label, above 0 and at most 1."""
    if propensity is None:
        return None
    values = np.array(propensity, dtype=np.float64)  # a copy: the record keeps it
    if values.shape != (n_labels,):
        raise ValueError(
            f"propensity must hold one number per label, shape ({n_labels},), got shape "
            f"{values.shape}."
        )
    wrong = ~((values > 0) & (values <= 1))
    if wrong.any():
        rule = "propensity must be above 0 and at most 1"
        _refuse_cells(rule, values, wrong, "propensities(label_counts, n_documents) are.")
    return values


def _read_truth(Y: Any, labels: Sequence[Any] | NDArray[Any] | None) -> LabelMatrix:
    truth = read_labels(Y, names=labels)
    if truth.kind == "binary" and len(truth.classes) != 2:
        raise ValueError(
            f"A 1-d Y must show which two classes there are, got {truth.classes.tolist()!r} only. "
            "Name both: labels=[other class, class the log-odds speak for]."
        )
    return truth


def _read_weight(sample_weight: ArrayLike | None, n_documents: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_documents)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_documents,):
        raise ValueError(
            f"sample_weight must hold one number per document, shape ({n_documents},), got shape "
            f"{weight.shape}."
        )
    wrong = ~((weight >= 0) & (weight < np.inf))
    if wrong.any():
        rule = "sample_weight must be finite and not negative"
        _refuse_cells(rule, weight, wrong, "Weight 0 leaves a document out.")
    return weight


def _read_log_odds(log_odds: Any, truth: LabelMatrix) -> NDArray[Any]:
    values = _dense_numbers(log_odds, "log_odds")
    if values.ndim == 1 and truth.shape[1] == 1:
        values = values[:, None]
    _check_shape("log_odds", values.shape, truth)
    if hasattr(log_odds, "columns"):
        values = _arrange(values, list(log_odds.columns), truth)
    if values.size == 0:
        return values
    low, high = values.min(), values.max()
    if np.isnan(low):
        _refuse_cells("log_odds must be numbers", values, np.isnan(values), "±inf is allowed.")
    if low >= 0 and 0 < high <= 1:
        warnings.warn(
            f"All log_odds lie between {low:.3g} and {high:.3g}: if they are probabilities, turn "
            "them into log-odds first, by log_odds_of(probabilities).",
            stacklevel=4,
        )
    return values


def _dense_numbers(values: Any, what: str) -> NDArray[Any]:
    if sparse.issparse(values):
        raise TypeError(f"{what} must be a dense array, got a sparse one; use .toarray().")
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{what} must be real numbers, got dtype {array.dtype}. Yes/no answers go in as "
            "decisions."
        )
    return array


def _arrange(values: NDArray[Any], columns: list[Any], truth: LabelMatrix) -> NDArray[Any]:
    """Columns of a frame by name; nameless (numbered) columns on either side stay in place."""
    names, numbers = truth.names.tolist(), list(range(truth.shape[1]))
    if columns == names or numbers in (columns, names):
        return values
    place = names_to_columns(columns, truth.names)
    if len(set(columns)) < len(columns):
        raise ValueError(f"log_odds must have one column per label, got columns {columns!r}.")
    return values[:, np.argsort(place)]


def _read_decisions(decisions: Any, truth: LabelMatrix) -> LabelMatrix:
    is_nameless = isinstance(decisions, np.ndarray) or sparse.issparse(decisions)
    if is_nameless and decisions.ndim == 2:
        _check_shape("decisions", decisions.shape, truth)
    try:
        matrix = _read_like(decisions, truth)
    except ValueError as error:
        raise ValueError(f"decisions are read as Y is. {error}") from error
    _check_shape("decisions", matrix.shape, truth)
    if matrix.unknown is not None:
        row, column = matrix.unknown.nonzero()
        raise ValueError(
            f"decisions must be 0 or 1, got NaN at document {row[0]}, label {column[0]} "
            f"({len(row)} such cells). Only Y may leave labels unknown."
        )
    return matrix


def _read_like(decisions: Any, truth: LabelMatrix) -> LabelMatrix:
    """Plain values are classes where Y holds classes, and one label's yes/no where there is one."""
    if not _is_vector(decisions):
        return read_labels(decisions, names=truth.names)
    column = np.asarray(decisions)
    if truth.shape[1] == 1 and (truth.kind == "multilabel" or column.dtype == bool):
        return read_labels(column[:, None], names=truth.names)
    if truth.kind == "multilabel":
        _check_shape("decisions", column.shape, truth)
    return read_labels(column, names=truth.classes)


def _is_vector(decisions: Any) -> bool:
    """One plain value per document: a list, array or Series, but neither rows nor label sets."""
    shape = getattr(decisions, "shape", None)
    is_list = isinstance(decisions, list | tuple) if shape is None else len(shape) == 1
    return is_list and len(decisions) > 0 and all(np.isscalar(value) for value in decisions)


def _check_shape(what: str, shape: tuple[int, ...], truth: LabelMatrix) -> None:
    if shape != truth.shape:
        raise ValueError(
            f"{what} must have one row per document and one column per label of Y, got shape "
            f"{shape} and Y of shape {truth.shape}. Labels that no document of Y carries are named "
            "by labels=..., or by read_labels(Y, names=...)."
        )


def _refuse_cells(rule: str, values: NDArray[Any], wrong: NDArray[np.bool_], way_out: str) -> None:
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = first[0] if len(first) == 1 else first
    raise ValueError(
        f"{rule}, got {float(values[first])!r} at {place} ({int(wrong.sum())} such values). "
        f"{way_out}"
    )
