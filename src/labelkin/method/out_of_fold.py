"""Cross-validated log-odds: what a classifier says of documents it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.splits import stratified_folds


def out_of_fold_log_odds(
    estimator: Any,
    X: Any,
    labels: LabelMatrix,
    fit_params: dict[str, Any] | None = None,
    *,
    cv: int | None = None,
    random_state: Any = None,
) -> NDArray[np.float64]:
    """Fit clones on all folds but one and return the log-odds of the one left, ``labels.shape``.

    The folds are stratified over all labels; as many, and by the seed, as the estimator's own
    ``cv`` and ``random_state`` say where it has them and nothing is said here. A label whose
    documents all lie in one fold has, there, the log-odds its classifier gives a label that nobody
    has.
    """
    n_documents = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_documents != labels.shape[0]:
        raise ValueError(
            f"X and Y must have the same number of documents, got {n_documents} and Y of shape "
            f"{labels.shape}."
        )
    result = np.empty(labels.shape)
    n_folds = getattr(estimator, "cv", 5) if cv is None else cv
    seed = getattr(estimator, "random_state", None) if random_state is None else random_state
    for train, test in _folds(labels, n_folds, seed):
        params = _check_method_params(X, fit_params or {}, train)
        target = labels_for(estimator, labels.rows(train))
        fitted = clone(estimator).fit(rows_of(X, train), target, **params)
        result[test] = fitted.log_odds(rows_of(X, test))
    return result


def rows_of(X: Any, index: NDArray[np.int64]) -> Any:
    """Return some documents of an array, sparse matrix, DataFrame or list."""
    return X.tocsr()[index] if sparse.issparse(X) else _safe_indexing(X, index)


def _folds(
    labels: LabelMatrix, cv: int, random_state: Any
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    n_folds = min(cv, labels.shape[0])
    if n_folds < 2:
        raise ValueError(
            f"Out-of-fold evidence needs at least 2 documents and 2 folds, got {labels.shape[0]} "
            f"document(s) and cv={cv!r}."
        )
    fold = stratified_folds(labels, n_folds, random_state=random_state)
    return ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds))
