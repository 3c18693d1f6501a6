"""Content evidence by any probabilistic classifier, one clone per label or one for all.

Constant labels are not passed to the estimator, its probabilities are converted to log-odds, and
out-of-fold evidence is cross-validated.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from labelkin.content.term_contributions import (
    ContentContributions,
    ContributionsOfDocuments,
    check_columns,
    estimator_contributions,
)
from labelkin.estimator import LogOddsClassifier, out_of_fold_log_odds, read_any_documents
from labelkin.evaluation.splits import CrossValidation
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.odds import count_log_odds, to_log_odds
from labelkin.registry import part_class
from labelkin.scikit_learn import n_rows, params_of_rows, route_fit, router, rows_of


class PerLabel(LogOddsClassifier):
    """One clone of a probabilistic classifier for every label.

    Parameters
    ----------
    estimator : classifier
        A scikit-learn classifier with ``predict_proba``; ``X`` is passed to it unchanged.
    cv : int, splitter or iterable of splits, default 5
        Number of folds for out-of-fold evidence, stratified over all labels, or splits as in
        scikit-learn. ``groups`` of ``fit_out_of_fold`` is passed to a splitter for groups.
    clip : float, default 1e-6
        Probabilities are clipped to [``clip``, ``1 - clip``]. Log-odds of an estimator (a logistic
        decision function, naive Bayes) are not clipped.
    n_jobs : int, optional
        Number of jobs over labels, as in joblib.
    random_state : int or RandomState, optional
        Seed of the folds; that of the estimator is separate.

    Attributes
    ----------
    estimators_ : list
        The fitted clones; ``None`` for a label of no or all documents.
    is_exact_ : list of bool
        Whether the decision function of a clone is its log-odds.
    prior_log_odds_ : array of shape (n_labels,)

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 1], [1, 1]]
    >>> model = PerLabel(LogisticRegression()).fit(X, Y)
    >>> model.predict([[3.0]])
    array([[1, 1]])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: CrossValidation = 5,
        clip: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Accept the documents that the estimator accepts."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Route metadata such as ``sample_weight`` to the estimator if it requests it."""
        return router(self, estimator=self.estimator)

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit one clone per label.

        Parameters
        ----------
        X : documents
            Training documents in any form that the estimator accepts.
        y : any kind of labels
            Labels of the training documents.
        **fit_params
            Metadata such as ``sample_weight`` for the estimator.

        Returns
        -------
        self
        """
        params = route_fit(self, fit_params, estimator=self.estimator)["estimator"]
        X, labels = self._read(X, y)
        self._learn(X, labels, params)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **fit_params: Any) -> NDArray[np.float64]:
        """Fit, and return cross-validated log-odds of the training documents.

        Parameters
        ----------
        X : documents
            Training documents, as in :meth:`fit`.
        y : any kind of labels
            Labels of the training documents.
        **fit_params
            As in :meth:`fit`, and ``groups`` for a splitter.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        labels = read_labels(y)
        self.fit(X, labels, **fit_params)
        groups = fit_params.pop("groups", None)
        return out_of_fold_log_odds(self, X, labels, fit_params, groups=groups)

    def term_contributions(self, X: Any, columns: ArrayLike) -> ContributionsOfDocuments | None:
        """Return the contributions of terms to the log-odds of some labels, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. Logistic regression and multinomial naive
        Bayes have linear log-odds, pipelines do not.

        Parameters
        ----------
        X : documents
            Documents in the form used for :meth:`fit`.
        columns : array of int
            Columns of labels.

        Returns
        -------
        list of lists of ContentContributions, or None
            ``None`` if log-odds are not linear.
        """
        check_is_fitted(self)
        X = self._read_documents(X, reset=False)
        asked = check_columns(columns, len(self.prior_log_odds_))
        by_label = [self._label_contributions(X, int(j)) for j in asked]
        if any(shares is None for shares in by_label):
            return None
        return [[shares[i] for shares in by_label if shares] for i in range(n_rows(X))]

    def _label_contributions(self, X: Any, j: int) -> list[ContentContributions] | None:
        """Return the contributions to one label in every document."""
        estimator = self.estimators_[j]
        if estimator is None:
            return self._prior_alone(X, j)
        given = _positive_log_odds(estimator, self.is_exact_[j], X, self.clip)
        return estimator_contributions(estimator, X, given, self.clip)

    def _prior_alone(self, X: Any, j: int) -> list[ContentContributions]:
        return [ContentContributions((), float(self.prior_log_odds_[j]))] * n_rows(X)

    def _learn(self, X: Any, labels: LabelMatrix, params: dict[str, Any] | None = None) -> None:
        self._check_parameters()
        self.prior_log_odds_ = count_log_odds(*labels.counts())
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_one)(self.estimator, X, labels.column(j), params or {}, labels.names[j])
            for j in range(labels.shape[1])
        )
        self.is_exact_ = [_is_exact(estimator, X) for estimator in self.estimators_]

    def _log_odds(self, X: Any) -> NDArray[np.float64]:
        fitted = [j for j, estimator in enumerate(self.estimators_) if estimator is not None]
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(_positive_log_odds)(self.estimators_[j], self.is_exact_[j], X, self.clip)
            for j in fitted
        )
        return spread(columns, fitted, self.prior_log_odds_, n_rows(X))

    def _check_parameters(self) -> None:
        if not 0 < self.clip < 0.5:
            raise ValueError(f"clip must lie between 0 and 0.5, got {self.clip!r}.")
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(needs_probabilities(self.estimator))

    def _read_documents(self, X: Any, reset: bool) -> Any:
        return read_any_documents(self, X, reset)


def needs_probabilities(estimator: Any) -> str:
    """Return the error message for a classifier without probabilities."""
    name = type(estimator).__name__
    return (
        f"A content classifier must return probabilities, and {name} has no predict_proba. "
        f"Calibrate it, PerLabel(CalibratedClassifierCV({name}(...))), or use PlattSVM()."
    )


def _fit_one(
    estimator: Any, X: Any, target: NDArray[np.float64], params: dict[str, Any], label: Any
) -> Any:
    """Fit a clone on the documents for which the label is known; ``None`` for a constant label."""
    rows = np.flatnonzero(~np.isnan(target))
    classes = target[rows].astype(np.int64)
    if len(np.unique(classes)) < 2:
        return None
    if len(rows) < len(target):
        X, params = rows_of(X, rows), params_of_rows(X, params, rows)
    with threadpool_limits(1, user_api="blas"):  # the same bytes for every n_jobs
        try:
            return clone(estimator).fit(X, classes, **params)
        except ValueError as error:
            n_positive = int(classes.sum())
            raise ValueError(
                f"The classifier of label {str(label)!r}, which {n_positive} of {len(classes)} "
                f"documents have, cannot be fitted: {error}"
            ) from error


def _is_exact(estimator: Any, X: Any) -> bool:
    """Return whether, on some rows, the decision function is the log-odds of probabilities."""
    if estimator is None or not hasattr(estimator, "decision_function"):
        return False
    some = rows_of(X, np.arange(min(n_rows(X), 100)))
    given, value = estimator.predict_proba(some)[:, 1], estimator.decision_function(some)
    return bool(np.shape(value) == given.shape and np.allclose(expit(value), given, atol=1e-9))


def _positive_log_odds(estimator: Any, is_exact: bool, X: Any, clip: float) -> NDArray[np.float64]:
    """Return the log-odds of one binary classifier, exact if possible."""
    with threadpool_limits(1, user_api="blas"):  # the same bytes for every n_jobs
        if is_exact:
            return np.asarray(estimator.decision_function(X), dtype=np.float64)
        if hasattr(estimator, "predict_joint_log_proba"):  # the naive Bayes family
            joint = estimator.predict_joint_log_proba(X)
            return np.asarray(joint[:, 1] - joint[:, 0], dtype=np.float64)
        return to_log_odds(estimator.predict_proba(X)[:, 1], clip=clip)


def spread(
    columns: list[NDArray[np.float64]], places: Any, prior: NDArray[np.float64], n_documents: int
) -> NDArray[np.float64]:
    """Return fitted columns at their places, and the prior elsewhere."""
    result = np.tile(prior, (n_documents, 1))
    for j, column in zip(places, columns, strict=True):
        result[:, j] = column
    return result


class MultilabelContent(PerLabel):
    """One multilabel classifier, such as a random forest, for the whole label matrix.

    Parameters and methods are those of :class:`PerLabel`. ``estimator_`` is the fitted clone, and
    ``fitted_labels_`` are its labels, those that are not constant.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [["low"], ["low"], ["high"], ["high"]]
    >>> MultilabelContent(RandomForestClassifier(random_state=0)).fit(X, Y).predict_labels([[3.0]])
    [('high',)]
    """

    def _label_contributions(self, X: Any, j: int) -> list[ContentContributions] | None:
        if j not in self.fitted_labels_:
            return self._prior_alone(X, j)
        if not isinstance(self.estimator_, OneVsRestClassifier | MultiOutputClassifier):
            return None
        estimator = self.estimator_.estimators_[int(np.searchsorted(self.fitted_labels_, j))]
        given = to_log_odds(estimator.predict_proba(X)[:, 1], clip=self.clip)
        return estimator_contributions(estimator, X, given, self.clip)

    def _learn(self, X: Any, labels: LabelMatrix, params: dict[str, Any] | None = None) -> None:
        self._check_parameters()
        positive, known = labels.counts()
        self.prior_log_odds_ = count_log_odds(positive, known)
        self.fitted_labels_ = np.flatnonzero(~labels.constant())
        self.estimator_ = clone(self.estimator)
        if _ends_in_ours(self.estimator_):
            self.fitted_labels_ = np.arange(labels.shape[1])
            self.estimator_.fit(X, labels, **(params or {}))
        elif len(self.fitted_labels_):
            self.estimator_.fit(X, self._targets(labels), **(params or {}))

    def _targets(self, labels: LabelMatrix) -> NDArray[np.int64]:
        """Return the fitted columns; a single one as a 1-d y, as in scikit-learn."""
        if labels.unknown is not None:
            raise ValueError(
                f"{type(self.estimator).__name__} learns all labels at once, all known, "
                f"got {labels.unknown.nnz} unknown cells. Use PerLabel for one per label."
            )
        targets = labels.positive[:, self.fitted_labels_].toarray().astype(np.int64)
        return targets.ravel() if len(self.fitted_labels_) == 1 else targets

    def _log_odds(self, X: Any) -> NDArray[np.float64]:
        columns = list(self._fitted_log_odds(X).T) if len(self.fitted_labels_) else []
        return spread(columns, self.fitted_labels_, self.prior_log_odds_, n_rows(X))

    def _fitted_log_odds(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the fitted labels, given any form of probabilities."""
        if _ends_in_ours(self.estimator_):
            return self.estimator_[-1].log_odds(self.estimator_[:-1].transform(X))
        probability = self.estimator_.predict_proba(X)
        if isinstance(probability, list):  # forests and neighbours: one (n, 2) for every label
            probability = np.column_stack([label[:, 1] for label in probability])
        elif len(self.fitted_labels_) == 1:
            probability = probability[:, 1:]
        return to_log_odds(probability, clip=self.clip)


def as_content(estimator: Any) -> Any:
    """Return a content classifier, with ``fit`` and ``log_odds``, for any estimator.

    A name of the registry, such as ``"naive_bayes"``, is that classifier with its defaults, and a
    list of estimators and names a :class:`~labelkin.content.ensemble.ContentEnsemble`. Content
    classifiers are returned unchanged. Estimators that accept label matrices (forests, neural
    networks, ``OneVsRestClassifier``) are fitted on them, others per label.
    """
    if isinstance(estimator, str):
        return part_class("content", estimator)()
    if isinstance(estimator, list | tuple):
        from labelkin.content.ensemble import ContentEnsemble  # which imports this module

        return ContentEnsemble(estimator)
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"content must be an estimator instance such as PlattSVM(), got {estimator!r}."
        )
    if hasattr(estimator, "log_odds"):
        return estimator
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(needs_probabilities(estimator))
    return MultilabelContent(estimator) if _takes_label_matrices(estimator) else PerLabel(estimator)


def _takes_label_matrices(estimator: Any) -> bool:
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    if isinstance(estimator, OneVsRestClassifier):
        return True  # which its tags do not contain
    tags = get_tags(estimator)
    return bool(
        tags.target_tags.multi_output or getattr(tags.classifier_tags, "multi_label", False)
    )


def _ends_in_ours(estimator: Any) -> bool:
    """Return whether the last step of a pipeline is a content classifier of this library."""
    return isinstance(estimator, Pipeline) and hasattr(estimator[-1], "log_odds")


def cross_val_log_odds(
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    cv: CrossValidation = 5,
    groups: Any = None,
    random_state: Any = None,
) -> NDArray[np.float64]:
    """Return out-of-fold log-odds.

    As ``cross_val_predict(method="predict_proba")`` for dense 0/1 arrays, but also for label sets,
    sparse matrices and unknown cells.

    Parameters
    ----------
    estimator : classifier
        One of labelkin's classifiers, or any with ``predict_proba``.
    X, Y : documents and any kind of labels
        Documents and their labels.
    cv : int, splitter or iterable of splits, default 5
        Number of folds, stratified over all labels, or splits as in scikit-learn.
    groups : array of shape (n_documents,), optional
        Groups for a splitter such as ``GroupKFold()``.
    random_state : int or RandomState, optional
        Seed of the folds.

    Returns
    -------
    array of shape (n_documents, n_labels)
        In the order of ``X``.

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> X = [[2, 0], [3, 1], [0, 2], [1, 3]]
    >>> (cross_val_log_odds(NaiveBayes(), X, [["a"], ["a"], ["b"], ["b"]], cv=2) > 0).tolist()
    [[True, False], [True, False], [False, True], [False, True]]
    """
    X = np.asarray(X) if isinstance(X, list) and X and not isinstance(X[0], str) else X
    split = {"cv": cv, "groups": groups, "random_state": random_state}
    return out_of_fold_log_odds(as_content(estimator), X, read_labels(Y), **split)
