"""Content evidence by any probabilistic classifier, one clone per label.

Labels that nobody (or everybody) has are kept away from the estimator, its probabilities become
log-odds, and out-of-fold evidence is cross-validated.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils._metadata_requests import _raise_for_params
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, check_is_fitted
from threadpoolctl import threadpool_limits

from labelkin.label_matrix import LabelMatrix
from labelkin.method.content.linear_estimators import estimator_shares
from labelkin.method.content.term_shares import ContentShares, SharesOfDocuments, read_columns
from labelkin.method.log_odds_classifier import LogOddsClassifier, read_any_documents
from labelkin.method.out_of_fold import out_of_fold_log_odds, rows_of
from labelkin.odds import count_log_odds, log_odds_of


class PerLabel(LogOddsClassifier):
    """One clone of a probabilistic classifier for every label.

    Parameters
    ----------
    estimator
        A scikit-learn classifier with ``predict_proba``; ``X`` is handed to it as it comes.
    cv
        Folds for out-of-fold evidence, stratified over all labels.
    clip
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``. An estimator that tells
        log-odds itself (a logistic decision function, naive Bayes) is not clipped.
    n_jobs
        Labels fitted at a time, as joblib has it.
    random_state
        Of the folds. The estimator has its own.

    Attributes
    ----------
    estimators_ : list
        The fitted clones; ``None`` for a label that no document, or every document, carries.
    is_exact_ : list of bool
        Whether a clone's decision function is its log-odds.
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
        cv: int = 5,
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
        """Take what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Hand metadata such as ``sample_weight`` to the estimator where it asks for it."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit one clone per label; further parameters are routed to the estimator's ``fit``."""
        params = routed(self, "estimator", fit_params)
        X, labels = self._read(X, y)
        self._learn(X, labels, params)
        return self

    def fit_out_of_fold(self, X: Any, y: Any, **fit_params: Any) -> NDArray[np.float64]:
        """Fit, and return cross-validated log-odds of the training documents."""
        params = routed(self, "estimator", fit_params)
        X, labels = self._read(X, y)
        self._learn(X, labels, params)
        return out_of_fold_log_odds(self, X, labels, fit_params)

    def content_shares(self, X: Any, columns: ArrayLike) -> SharesOfDocuments | None:
        """Return what each term adds to the log-odds of some label columns, for a few documents.

        ``[i][k]`` is document i and label ``columns[k]``. ``None`` where the estimator is not one
        whose log-odds are known to be linear: logistic regression, multinomial, complement and
        Bernoulli naive Bayes, alone or at the end of a pipeline whose steps name their features.
        """
        check_is_fitted(self)
        X = self._read_documents(X, reset=False)
        asked = read_columns(columns, len(self.prior_log_odds_))
        by_label = [self._label_shares(X, int(j)) for j in asked]
        told = [shares for shares in by_label if shares is not None]
        if len(told) < len(by_label):
            return None
        return [[shares[i] for shares in told] for i in range(n_rows(X))]

    def _label_shares(self, X: Any, j: int) -> list[ContentShares] | None:
        """Return the shares of one label in every document."""
        estimator = self.estimators_[j]
        if estimator is None:
            return self._prior_alone(X, j)
        told = _positive_log_odds(estimator, self.is_exact_[j], X, self.clip)
        return estimator_shares(estimator, X, told, self.clip)

    def _prior_alone(self, X: Any, j: int) -> list[ContentShares]:
        return [ContentShares((), float(self.prior_log_odds_[j]))] * n_rows(X)

    def _learn(self, X: Any, labels: LabelMatrix, params: dict[str, Any] | None = None) -> None:
        self._check_parameters()
        self.prior_log_odds_ = count_log_odds(*labels.counts())
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_one)(self.estimator, X, labels.column(j), params or {})
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
    """Say what to do with a classifier that gives no probabilities."""
    name = type(estimator).__name__
    return (
        f"A content classifier must give probabilities, and {name} has no predict_proba. "
        f"Calibrate it, PerLabel(CalibratedClassifierCV({name}(...))), or use PlattSVM()."
    )


def routed(owner: Any, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the fit parameters that scikit-learn's metadata routing sends to one sub-estimator."""
    if not params:
        return {}
    _raise_for_params(params, owner, "fit")
    return dict(process_routing(owner, "fit", **params)[name].fit)


def _fit_one(estimator: Any, X: Any, target: NDArray[np.float64], params: dict[str, Any]) -> Any:
    """Fit a clone on the documents for which the label is known; ``None`` if they all agree."""
    rows = np.flatnonzero(~np.isnan(target))
    classes = target[rows].astype(np.int64)
    if len(np.unique(classes)) < 2:
        return None
    if len(rows) < len(target):
        X, params = rows_of(X, rows), _check_method_params(X, params, rows)
    with threadpool_limits(1, user_api="blas"):  # the same bytes whatever n_jobs
        return clone(estimator).fit(X, classes, **params)


def _is_exact(estimator: Any, X: Any) -> bool:
    """Tell whether the decision function is the log-odds of the probabilities, on some rows."""
    if estimator is None or not hasattr(estimator, "decision_function"):
        return False
    some = rows_of(X, np.arange(min(n_rows(X), 100)))
    told, value = estimator.predict_proba(some)[:, 1], estimator.decision_function(some)
    return bool(np.shape(value) == told.shape and np.allclose(expit(value), told, atol=1e-9))


def _positive_log_odds(estimator: Any, is_exact: bool, X: Any, clip: float) -> NDArray[np.float64]:
    """Log-odds of "yes" from one binary classifier, as exact as it tells them."""
    with threadpool_limits(1, user_api="blas"):  # the same bytes whatever n_jobs
        if is_exact:
            return np.asarray(estimator.decision_function(X), dtype=np.float64)
        if hasattr(estimator, "predict_joint_log_proba"):  # the naive Bayes family
            joint = estimator.predict_joint_log_proba(X)
            return np.asarray(joint[:, 1] - joint[:, 0], dtype=np.float64)
        return log_odds_of(estimator.predict_proba(X)[:, 1], clip=clip)


def spread(
    columns: list[NDArray[np.float64]], places: Any, prior: NDArray[np.float64], n_documents: int
) -> NDArray[np.float64]:
    """Put the prior everywhere, the fitted columns in their places."""
    result = np.tile(prior, (n_documents, 1))
    for j, column in zip(places, columns, strict=True):
        result[:, j] = column
    return result


def n_rows(X: Any) -> int:
    """Return the number of documents, also of a list of texts."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
