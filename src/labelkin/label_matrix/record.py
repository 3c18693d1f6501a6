"""The label matrix: sparse cells, label names, and counts."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.odds import constant_labels
from labelkin.validation import abbreviate, check_distinct, check_no_nul, did_you_mean

TargetKind = Literal["binary", "multiclass", "multilabel"]
Container = Literal["dense", "sparse_array", "sparse_matrix"]

#: Maximum number of cells, documents × labels, of a dense ``Y`` in a result: 128 MB of int64.
DENSE_CELLS = 2**24


@dataclass(frozen=True)
class LabelMatrix:
    """Label sets of n documents over p labels.

    Attributes
    ----------
    positive : CSR array of shape (n_documents, n_labels)
        1.0 for the labels of each document; sorted indices, no stored zeros.
    unknown : CSR array of shape (n_documents, n_labels), or None
        1.0 for unknown cells, which are not in ``positive``. ``None``: all cells are known.
    names : array of shape (n_labels,)
        The labels, in column order.
    kind : "binary", "multiclass" or "multilabel"
        ``"multilabel"``: a matrix or label sets. ``"multiclass"``: a 1-d ``y``, one label per
        class. ``"binary"``: a 1-d ``y`` of two classes, whose only label is the second class.
    classes : array
        ``classes_`` as in scikit-learn: both classes of a binary ``y``, otherwise ``names``.
    container : "dense", "sparse_array" or "sparse_matrix"
        Container of the original ``Y``, which is also that of decisions (:func:`in_container`).

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> labels = read_labels([["tea"], ["tea", "sugar"], ["tea"]])
    >>> labels.prior().round(2).tolist()
    [0.33, 1.0]
    >>> labels.constant().tolist()
    [False, True]
    >>> labels.rows([1, 2]).label_sets()
    [('sugar', 'tea'), ('tea',)]
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    names: NDArray[Any]
    kind: TargetKind
    classes: NDArray[Any]
    container: Container = "dense"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents, number of labels."""
        return self.positive.shape

    def dense(self) -> NDArray[np.float64]:
        """Return the matrix as 0.0, 1.0 and NaN for unknown, ``(n_documents, n_labels)``."""
        values = self.positive.toarray()
        if self.unknown is not None:
            values[self.unknown.nonzero()] = np.nan
        return values

    def plain(self) -> Any:
        """Return a ``Y`` for any estimator, dense or CSR as the original: 0, 1, NaN if unknown."""
        if self.container == "dense":
            return self.dense() if self.unknown is not None else self.positive.toarray().astype(int)
        unknown = None if self.unknown is None else self.unknown * np.nan
        cells = self.positive.astype(np.int64) if unknown is None else self.positive + unknown
        return _csr(cells, self.container)

    def public(self) -> Any:
        """Return ``Y`` for users: dense up to ``DENSE_CELLS`` cells, a CSR array above."""
        is_small = self.shape[0] * self.shape[1] <= DENSE_CELLS
        return replace(self, container="dense" if is_small else "sparse_array").plain()

    def rows(self, index: Any) -> LabelMatrix:
        """Return the documents ``index`` (integers, a slice or a boolean mask)."""
        unknown = None if self.unknown is None else self.unknown[index]
        return replace(self, positive=self.positive[index], unknown=unknown)

    def columns(self, index: NDArray[np.integer[Any]]) -> LabelMatrix:
        """Return some of the labels as a label matrix."""
        unknown = None if self.unknown is None else self.unknown[:, index]
        names = self.names[index]
        return LabelMatrix(
            self.positive[:, index], unknown, names, "multilabel", names, self.container
        )

    def column(self, j: int) -> NDArray[np.float64]:
        """Return label ``j`` as a dense vector of 0.0, 1.0 and NaN, ``(n_documents,)``."""
        return self.columns(np.array([j])).dense().ravel()

    def counts(
        self, weight: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Count documents with the label, and those for which it is known, ``(n_labels,)``.

        Parameters
        ----------
        weight : array of shape (n_documents,), optional
            Weights of the documents; default 1.
        """
        if weight is None:
            return self._sums(np.ones(self.shape[0]))
        weight = read_weight(weight, self.shape[0])
        positive, known = self._sums(weight)
        # Rounding must not make a constant label vary: whether it is constant is counted.
        n_positive, n_known = self._sums((weight > 0).astype(np.float64))
        known = np.where(n_positive == n_known, positive, known)
        return positive, np.where(n_known == 0, 0.0, known)

    def _sums(self, weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = np.full(self.shape[1], weight.sum())
        if self.unknown is not None:
            known = known - self.unknown.T @ weight
        return self.positive.T @ weight, known

    def prior(self, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return p(label): the mean of the known cells; ½ for a label without known cells."""
        positive, known = self.counts(weight)
        return np.divide(positive, known, out=np.full(len(known), 0.5), where=known > 0)

    def constant(self, weight: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
        """Return which labels no document or every document has."""
        return constant_labels(*self.counts(weight))

    def label_sets(self) -> list[tuple[Any, ...]]:
        """Return the names of the labels of each document."""
        indptr, indices = self.positive.indptr, self.positive.indices
        names = self.names.tolist()
        return [tuple(names[j] for j in indices[start:stop]) for start, stop in pairwise(indptr)]


def read_weight(
    weight: ArrayLike | None, n_documents: int, what: str = "sample_weight"
) -> NDArray[np.float64]:
    """Return the weights of documents, ``(n_documents,)``; default 1.

    Examples
    --------
    >>> read_weight(None, 2).tolist()
    [1.0, 1.0]
    """
    if weight is None:
        return np.ones(n_documents)
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != (n_documents,):
        raise ValueError(
            f"{what} must contain one number per document, ({n_documents},), got shape "
            f"{weights.shape}."
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(wrong):
        raise ValueError(
            f"{what} must be finite and not negative, got {float(weights[wrong[0]])!r} at document "
            f"{wrong[0]} ({len(wrong)} such values). Weight 0 leaves a document out."
        )
    return weights


def in_container(decisions: Any, container: Container) -> Any:
    """Return decisions as 0 and 1 in the container of the original ``Y``; sparse ones as CSR.

    Examples
    --------
    >>> in_container([[True, False]], "dense")
    array([[1, 0]])
    >>> type(in_container([[True, False]], "sparse_array")).__name__
    'csr_array'
    """
    if container == "dense":
        dense = decisions.toarray() if sparse.issparse(decisions) else np.asarray(decisions)
        return dense.astype(np.int64)
    stored = sparse.csr_array(decisions, dtype=np.int64, copy=True)
    stored.eliminate_zeros()
    return _csr(stored, container)


def labels_for(estimator: Any, labels: LabelMatrix) -> Any:
    """Return ``Y`` for an estimator: the record for those of labelkin, else a plain matrix."""
    return labels if getattr(estimator, "takes_label_matrix", False) else labels.plain()


def names_to_columns(labels: Sequence[Any] | Set[Any], names: NDArray[Any]) -> NDArray[np.int64]:
    """Return the column of every label; unknown labels are an error.

    Examples
    --------
    >>> names_to_columns(["tea"], np.array(["sugar", "tea"]))
    array([1])
    """
    place = {name: j for j, name in enumerate(names.tolist())}
    missing = sorted({str(label) for label in labels if label not in place})
    if missing:
        known = f"It has {abbreviate(names.tolist())}."
        hint = did_you_mean(missing[0], names.tolist()) or known
        raise ValueError(
            f"Labels must be among the {len(names)} labels of the model, got "
            f"{abbreviate(missing)}. {hint}"
        )
    return np.array([place[label] for label in labels], dtype=np.int64)


def frame_in_order(frame: Any, names: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a DataFrame with its columns in the order of the labels.

    If the columns or the labels are numbers from 0 instead of names, the order is not changed.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_in_order(pd.DataFrame({"tea": [1], "sugar": [0]}), np.array(["sugar", "tea"]))
    array([[0, 1]])
    """
    columns, wanted = list(frame.columns), names.tolist()
    numbers = list(range(len(wanted)))
    is_unnamed = len(columns) == len(wanted) and numbers in (columns, wanted)
    if is_unnamed and set(columns) != set(wanted):
        return frame_values(frame)
    check_distinct(columns, "DataFrame columns")
    place = names_to_columns(columns, names)
    missing = np.setdiff1d(numbers, place)
    if len(missing):
        raise ValueError(
            "A DataFrame must have a column for every label, and these are missing: "
            f"{abbreviate(names[missing].tolist())}."
        )
    return frame_values(frame)[:, np.argsort(place)]


def frame_values(frame: Any) -> NDArray[Any]:
    """Return the values of a DataFrame; missing values of pandas are NaN."""
    if type(frame).__module__.startswith("pandas") and frame.isna().to_numpy().any():
        try:
            return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError):
            pass  # not numbers: the caller raises an error that names the type
    return np.asarray(frame.to_numpy())


def name_array(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return names as an array of texts or of integers, or of objects for other types."""
    check_no_nul(names)
    if isinstance(names, np.ndarray):
        return names
    kinds = {type(name) for name in names}
    if kinds <= {str} or kinds <= {int}:
        return np.array(names)
    return np.fromiter(names, dtype=object)


def _csr(cells: Any, container: Container) -> Any:
    return sparse.csr_matrix(cells) if container == "sparse_matrix" else sparse.csr_array(cells)
