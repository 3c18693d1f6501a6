"""How truth, log-odds, decisions and weights enter a metric: read and checked once.

Log-odds are what metrics judge; probabilities pass :func:`labelkin.odds.log_odds_of` first.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, names_to_columns, read_labels
from labelkin.metrics.judged import Judged
from labelkin.metrics.sums import Floats


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
