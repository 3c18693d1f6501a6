"""p(label | document, other labels), one binary classifier per label, for five related methods.

The other labels are further features of the document. A chain shows each label those before it,
dependent relevance and dependency networks show it all others, stacking shows predictions of them.
Where a classifier's log-odds are linear, the document's part is computed once and other labels are
added to it; any other classifier is called again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

from labelkin.content.any_classifier import PerLabel, as_content
from labelkin.content.platt_svm import PlattSVM
from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.odds import constant_labels, count_log_odds
from labelkin.scikit_learn import with_random_state

Matrix = NDArray[np.float64]
LabelColumns = NDArray[np.int64]


@dataclass(frozen=True)
class Conditional:
    """The classifier of one label, given a document and some other labels.

    Attributes
    ----------
    prior
        The label's log-odds, used for constant labels.
    shown
        The columns of the other labels it is shown, ``(n_shown,)``.
    classifier
        A content classifier of documents with the shown labels beside; ``None``: constant, or
        linear.
    document_weights, label_weights, intercept
        What a linear classifier has learned: of features ``(n_features,)``, of shown labels
        ``(n_shown,)``. ``None`` where it is not linear.
    """

    prior: float
    shown: LabelColumns
    classifier: Any = None
    document_weights: Matrix | None = None
    label_weights: Matrix | None = None
    intercept: float = 0.0

    def log_odds(self, X: Any, others: Matrix, document_part: Matrix) -> Matrix:
        """Return log-odds, ``(n_documents,)``, given all labels, ``(n_documents, n_labels)``."""
        if self.label_weights is not None:
            return document_part + others[:, self.shown] @ self.label_weights
        if self.classifier is None:
            return document_part
        return np.asarray(self.classifier.log_odds(beside(X, others[:, self.shown]))).ravel()


def document_parts(conditionals: Sequence[Conditional], X: Any) -> Matrix:
    """Return the document's part of every label's log-odds, ``(n_documents, n_labels)``."""
    parts = np.empty((X.shape[0], len(conditionals)))
    linear: dict[int, Matrix] = {}
    for j, one in enumerate(conditionals):
        if one.document_weights is None:
            parts[:, j] = one.prior
        else:
            linear[j] = one.document_weights
    if linear:
        together = X @ np.column_stack(list(linear.values()))
        parts[:, list(linear)] = together + [conditionals[j].intercept for j in linear]
    return parts


def label_weights(conditionals: Sequence[Conditional]) -> Matrix | None:
    """Return what label k adds to label j at ``[k, j]``; ``None`` if a classifier is not linear."""
    if any(one.classifier is not None for one in conditionals):
        return None
    weights = np.zeros((len(conditionals), len(conditionals)))
    for j, one in enumerate(conditionals):
        if one.label_weights is not None:
            weights[one.shown, j] = one.label_weights
    return weights


def log_odds_given(conditionals: Sequence[Conditional], X: Any, given: Matrix) -> Matrix:
    """Return every label's log-odds, given what stands for the others; both n × n_labels."""
    log_odds, weights = document_parts(conditionals, X), label_weights(conditionals)
    if weights is not None:
        return log_odds + given @ weights
    for j, one in enumerate(conditionals):
        log_odds[:, j] = one.log_odds(X, given, log_odds[:, j])
    return log_odds


def base_classifier(estimator: Any, random_state: Any) -> Any:
    """Return the content classifier that learns each label; ``None`` is the library's own."""
    content = PlattSVM() if estimator is None else as_content(estimator)
    return with_random_state(content, random_state)


def fit_conditionals(
    base: Any,
    X: Any,
    labels: LabelMatrix,
    shown: Sequence[LabelColumns],
    others: Any,
    n_jobs: int | None = None,
) -> list[Conditional]:
    """Fit the conditional of every label.

    Parameters
    ----------
    base
        A content classifier: what :func:`base_classifier` returns.
    X
        Documents × features, dense or sparse.
    labels
        What is to be learned.
    shown
        For each label, the columns of ``others`` it is shown.
    others
        What stands for the labels of the training documents, ``(n_documents, n_labels)``, dense or
        sparse: the true ones, or predictions.
    n_jobs
        Number of labels fitted in parallel.
    """
    columns = sparse.csc_array(others) if sparse.issparse(X) else _dense(others)
    counts = labels.counts()
    prior, constant = count_log_odds(*counts), constant_labels(*counts)
    return list(
        Parallel(n_jobs=n_jobs)(
            delayed(_fit_one)(
                base, X, columns[:, shown[j]], labels.columns(np.array([j])), shown[j], prior[j]
            )
            if not constant[j]
            else delayed(Conditional)(float(prior[j]), shown[j])
            for j in range(labels.shape[1])
        )
    )


def _fit_one(
    base: Any, X: Any, others: Any, label: LabelMatrix, shown: LabelColumns, prior: float
) -> Conditional:
    with _libraries().limit(limits=1, user_api="blas"):  # the same bytes for every n_jobs
        classifier = clone(base).fit(beside(X, others), labels_for(base, label))
    linear = _linear_form(classifier)
    if linear is None:
        return Conditional(float(prior), shown, classifier)
    weights, intercept = linear
    n_features = X.shape[1]
    # copies: a slice would keep, and store, the whole
    return Conditional(
        float(prior),
        shown,
        None,
        weights[:n_features].copy(),
        weights[n_features:].copy(),
        intercept,
    )


@cache
def _libraries() -> ThreadpoolController:
    """Return what sets threads: looking for libraries takes as long as fitting a rare label."""
    return ThreadpoolController()


def _linear_form(classifier: Any) -> tuple[Matrix, float] | None:
    """Return weights and intercept of a content classifier of one label; ``None``: not linear."""
    if isinstance(classifier, PlattSVM):
        return classifier.coef_[0], float(classifier.intercept_[0])
    if type(classifier) is PerLabel and classifier.is_exact_[0]:
        inner = classifier.estimators_[0]
        if getattr(inner, "coef_", np.empty(0)).shape == (1, classifier.n_features_in_):
            coef = inner.coef_.toarray() if sparse.issparse(inner.coef_) else inner.coef_
            return np.asarray(coef[0], dtype=np.float64), float(inner.intercept_[0])
    return None


def beside(X: Any, others: Any) -> Any:
    """Return documents with some labels as further features."""
    if others.shape[1] == 0:
        return X
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(others)], format="csr")
    return np.hstack([X, _dense(others)])


def true_labels(labels: LabelMatrix) -> sparse.csr_array:
    """Return the labels as features: 1 and 0, and the prior for unknown cells."""
    if labels.unknown is None:
        return labels.positive
    return sparse.csr_array(labels.positive + labels.unknown.multiply(labels.prior()[None, :]))


def all_others(n_labels: int) -> list[LabelColumns]:
    """Return for each label the columns of all others."""
    return [np.delete(np.arange(n_labels), j) for j in range(n_labels)]


def _dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)
