"""The label matrix itself: sparse cells, names, and what is counted from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Kind = Literal["binary", "multiclass", "multilabel"]


@dataclass(frozen=True)
class LabelMatrix:
    """Label sets of n documents over p labels.

    Attributes
    ----------
    positive
        1.0 where the document carries the label; CSR ``(n_documents, n_labels)``, sorted indices,
        no stored zeros.
    unknown
        1.0 where nobody knows; same shape, disjoint from ``positive``. ``None``: all is known.
    names
        The labels, ``(n_labels,)``, in column order.
    kind
        ``"multilabel"``: a matrix or label sets. ``"multiclass"``: a 1-d ``y``, one label per
        class. ``"binary"``: a 1-d ``y`` of two classes, one label: "is the second class".
    classes
        What scikit-learn calls ``classes_``: both classes of a binary ``y``, otherwise ``names``.
    is_sparse
        Whether ``Y`` came as a SciPy sparse matrix or array.
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    names: NDArray[Any]
    kind: Kind
    classes: NDArray[Any]
    is_sparse: bool = False

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
        """Return a ``Y`` for any estimator: 0/1, NaN where unknown; CSR if it came sparse."""
        if not self.is_sparse:
            return self.dense() if self.unknown is not None else self.positive.toarray().astype(int)
        if self.unknown is None:
            return self.positive
        return sparse.csr_array(self.positive + self.unknown * np.nan)

    def rows(self, index: Any) -> LabelMatrix:
        """Return the documents ``index`` (integers, a slice or a boolean mask)."""
        unknown = None if self.unknown is None else self.unknown[index]
        return replace(self, positive=self.positive[index], unknown=unknown)

    def columns(self, index: NDArray[np.integer[Any]]) -> LabelMatrix:
        """Return some labels only, as a label matrix."""
        unknown = None if self.unknown is None else self.unknown[:, index]
        names = self.names[index]
        return LabelMatrix(
            self.positive[:, index], unknown, names, "multilabel", names, self.is_sparse
        )

    def column(self, j: int) -> NDArray[np.float64]:
        """Return label ``j`` as a dense vector of 0.0, 1.0 and NaN, ``(n_documents,)``."""
        values = self.positive[:, [j]].toarray().ravel()
        if self.unknown is not None:
            values[self.unknown[:, [j]].toarray().ravel() > 0] = np.nan
        return values

    def counts(
        self, weight: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Count documents with the label, and those for which it is known, ``(n_labels,)``."""
        if weight is None:
            return self._sums(np.ones(self.shape[0]))
        if weight.shape != self.shape[:1]:
            raise ValueError(
                f"sample_weight must hold one number per document, ({self.shape[0]},), got shape "
                f"{weight.shape}."
            )
        positive, known = self._sums(weight)
        # Rounding must not make up a side: whether all known documents carry a label is counted.
        n_positive, n_known = self._sums((weight > 0).astype(np.float64))
        known = np.where(n_positive == n_known, positive, known)
        return positive, np.where(n_known == 0, 0.0, known)

    def _sums(self, weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = np.full(self.shape[1], weight.sum())
        if self.unknown is not None:
            known = known - self.unknown.T @ weight
        return self.positive.T @ weight, known

    def prior(self, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return p(label): the mean of the known cells; ½ for a label of which nothing is known."""
        positive, known = self.counts(weight)
        return np.divide(positive, known, out=np.full(len(known), 0.5), where=known > 0)

    def label_sets(self) -> list[tuple[Any, ...]]:
        """Return the names of each document's labels."""
        indptr, indices = self.positive.indptr, self.positive.indices
        names = self.names.tolist()
        return [tuple(names[j] for j in indices[start:stop]) for start, stop in pairwise(indptr)]


def labels_for(estimator: Any, labels: LabelMatrix) -> Any:
    """Return what an estimator takes as ``Y``: ours take the record, others a plain matrix."""
    return labels if getattr(estimator, "takes_label_matrix", False) else labels.plain()
