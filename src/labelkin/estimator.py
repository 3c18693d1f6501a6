"""Base classes of classifiers, and out-of-fold evidence.

A classifier learns from a :class:`~labelkin.label_matrix.LabelMatrix` and returns log-odds,
``(n_documents, n_labels)``. The base classes derive probabilities, decisions and scores, for the
three kinds of ``y``: label matrix, two classes, several classes.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted, validate_data

from labelkin.evaluation.splits import CrossValidation, stratified_folds
from labelkin.label_matrix import Cells, LabelMatrix, in_container, labels_for, read_labels
from labelkin.label_matrix.reading import is_label_sets
from labelkin.odds import ALMOST_ZERO, to_probability
from labelkin.scikit_learn import params_of_rows, read_numbers, router, rows_of
from labelkin.validation import validate_sparse


class LogOddsClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that implements ``_learn(X, labels)`` and ``_log_odds(X)``."""

    takes_label_matrix = True
    #: Whether out-of-fold evidence leaves out one document instead of a fold.
    leaves_one_out = False

    def __sklearn_tags__(self) -> Any:
        """Accept sparse ``X``, classes and label matrices."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Training documents.
        y : any kind of labels
            Their labels, as in :class:`labelkin.LabelDependenceClassifier`.

        Returns
        -------
        self
        """
        X, labels = self._read(X, y)
        self._learn(X, labels)
        return self

    def fit_out_of_fold(self, X: Any, y: Any) -> Any:
        """Fit, and return the out-of-fold log-odds of the training documents.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Training documents.
        y : any kind of labels
            Their labels, as in :class:`labelkin.LabelDependenceClassifier`.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
        """
        X, labels = self._read(X, y)
        return self._learn_out_of_fold(X, labels)

    def log_odds(self, X: Any) -> Any:
        """Return the log-odds of every label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
            A CSR array of candidates if the classifier has ``top``.
        """
        if not hasattr(self, "classes_"):
            check_is_fitted(self)
        return self._log_odds(self._read_documents(X, reset=False))

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every label, strictly between 0 and 1.

        For a 1-d training ``y``: the probability of every class; rows sum to 1.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        return self._probabilities(self.log_odds(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of every label, or ``(n_documents,)`` for a ``y`` of two classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        return self._decision_values(self.log_odds(X))

    def predict(self, X: Any) -> Any:
        """Return the decisions: 1 for labels with positive log-odds.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.

        Returns
        -------
        array, CSR array or matrix of shape (n_documents, n_labels)
            0 and 1, in the container of the training ``y``; for a 1-d ``y`` the class of each
            document.
        """
        return self._decide(self.log_odds(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of documents whose label set (class) is predicted exactly.

        Unknown cells (NaN) count as correct. Documents with labels that are not in the training
        ``y``, as in cross-validation, count as wrong; it is an error if all labels are unknown to
        the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        y : any kind of labels
            True labels, as in :class:`labelkin.LabelDependenceClassifier`.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        float
        """
        decisions = self.predict(X)
        if self.target_kind_ != "multilabel":
            right = _class_names(read_labels(y)) == decisions
        elif is_label_sets(y):
            pairs = zip(y, self.label_sets(decisions), strict=True)
            right = np.array([set(labels) == set(decided) for labels, decided in pairs])
            if set(self.classes_.tolist()).isdisjoint(chain.from_iterable(y)):
                read_labels(y, names=self.classes_)  # labels of another corpus: raises an error
        else:
            right = exact_label_sets(read_labels(y, names=self.classes_), decisions)
        return float(np.average(right, weights=sample_weight))

    def label_sets(self, decisions: Any) -> list[tuple[Any, ...]]:
        """Return the label names of each row of a 0/1 matrix.

        Parameters
        ----------
        decisions : array or sparse matrix of shape (n_documents, n_labels)
            Output of :meth:`predict`.

        Returns
        -------
        list of tuples
        """
        check_is_fitted(self)
        return read_labels(decisions, names=self.label_names_).label_sets()

    def predict_labels(self, X: Any, **known: Any) -> list[tuple[Any, ...]]:
        """Return the names of the predicted labels of each document.

        Parameters
        ----------
        X : documents
            As in :meth:`predict`.
        **known
            ``known=`` of classifiers whose ``predict`` accepts it.

        Returns
        -------
        list of tuples

        Examples
        --------
        >>> from labelkin import NaiveBayes
        >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
        >>> model.predict_labels([[5, 0], [1, 2]])
        [('sea',), ('town',)]
        """
        check_is_fitted(self)
        if self.target_kind_ != "multilabel":
            raise ValueError(
                "predict_labels requires a model trained on a label matrix or label sets, got one "
                f"trained on {self.target_kind_} classes. Use predict, which returns class names."
            )
        return self.label_sets(self.predict(X, **known))

    @abstractmethod
    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        """Fit on validated documents and labels."""

    @abstractmethod
    def _log_odds(self, X: Any) -> Any:
        """Return the log-odds of validated documents, ``(n_documents, n_labels)``."""

    def _learn_out_of_fold(self, X: Any, labels: LabelMatrix) -> Any:
        """Fit, and return out-of-fold log-odds, here by cross-validation."""
        self._learn(X, labels)
        return out_of_fold_log_odds(self, X, labels)

    def _read(self, X: Any, y: Any) -> tuple[Any, LabelMatrix]:
        """Validate documents and labels, and store the kind of ``y``."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = self._read_documents(X, reset=True)
        labels = read_labels(y)
        n_documents = X.shape[0] if hasattr(X, "shape") else len(X)
        if labels.shape[0] != n_documents:
            raise _lengths_error(n_documents, labels)
        if labels.shape[1] == 0:
            raise ValueError(
                f"y must contain at least one label, got shape {labels.shape}. Pass a 0/1 matrix "
                "with a column per label to train with labels without documents."
            )
        self.classes_, self.label_names_ = labels.classes, labels.names
        # Predictions are returned in the form of the training ``y``.
        self.target_kind_, self.target_container_ = labels.kind, labels.container
        return X, labels

    def _read_documents(self, X: Any, reset: bool) -> Any:
        if _is_texts(X):
            raise _texts_error(self)
        return read_numbers(self, X, reset)

    def _probabilities(self, log_odds: Any) -> Any:
        if sparse.issparse(log_odds):
            return Cells.of(log_odds).matrix(to_probability(log_odds.data))
        if self.target_kind_ == "multilabel":
            return to_probability(log_odds)
        if self.target_kind_ == "multiclass":
            return _class_shares(log_odds)
        if len(self.classes_) == 1:
            return np.ones_like(log_odds)
        return np.hstack([to_probability(-log_odds), to_probability(log_odds)])

    def _decision_values(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        return log_odds.ravel() if self.target_kind_ == "binary" else log_odds

    def _decide(self, log_odds: NDArray[np.float64]) -> Any:
        if self.target_kind_ == "multiclass":
            return self.classes_[log_odds.argmax(axis=1)]
        decisions = self._decisions(log_odds)
        if self.target_kind_ == "binary":
            last = len(self.classes_) - 1
            return self.classes_[np.where(decisions.ravel(), last, 0)]
        return in_container(decisions, self.target_container_)

    def _decisions(self, log_odds: Any) -> Any:
        """Return the decisions as booleans, ``(n_documents, n_labels)``."""
        if sparse.issparse(log_odds):
            return Cells.of(log_odds).matrix(log_odds.data > 0)
        return log_odds > 0


class KnownLabelsClassifier(LogOddsClassifier):
    """A classifier with label evidence, whose predictions depend on known labels."""

    def __sklearn_tags__(self) -> Any:
        """Accept the documents that the content classifier accepts."""
        tags = super().__sklearn_tags__()
        content = self.content_ if hasattr(self, "content_") else self._parts()["content"]
        tags.input_tags = get_tags(content).input_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Route metadata such as ``sample_weight`` to the parts that request it."""
        return router(self, **self._parts())

    def log_odds(self, X: Any, known: Any = None) -> Any:
        """Return the posterior log-odds of every label.

        Parameters
        ----------
        X : documents
            Documents in the form used for :meth:`fit`.
        known : known labels, optional
            Labels that a user has accepted or rejected: a mapping with ``"accepted"`` and
            ``"rejected"`` per document, a matrix of 1, 0 and NaN, or a sparse matrix of +1 and −1
            (:func:`labelkin.label_matrix.read_known`). The log-odds of a known label are ±inf, and
            those of the other labels change.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
            A CSR array of candidates if the content classifier has ``top``.
        """
        if not hasattr(self, "classes_"):
            check_is_fitted(self)
        return self._log_odds(self._read_documents(X, reset=False), known)

    def predict_proba(self, X: Any, known: Any = None) -> Any:
        """Return the posterior probability of every label, strictly between 0 and 1 unless known.

        For a 1-d training ``y``: the probability of every class; rows sum to 1.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        known : known labels, optional
            As in :meth:`log_odds`.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        return self._probabilities(self.log_odds(X, known))

    def decision_function(self, X: Any, known: Any = None) -> Any:
        """Return the posterior log-odds, or ``(n_documents,)`` for a ``y`` of two classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        known : known labels, optional
            As in :meth:`log_odds`.

        Returns
        -------
        array of shape (n_documents, n_labels)
        """
        return self._decision_values(self.log_odds(X, known))

    def predict(self, X: Any, known: Any = None) -> Any:
        """Return the decisions: 1 for labels whose posterior is above the threshold, default ½.

        For a 1-d training ``y`` of several classes, the most probable class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
            Documents in the form used for :meth:`fit`.
        known : known labels, optional
            As in :meth:`log_odds`.

        Returns
        -------
        array, CSR array or matrix of shape (n_documents, n_labels)
            0 and 1, in the container of the training ``y``; for a 1-d ``y`` the class of each
            document.
        """
        return self._decide(self.log_odds(X, known))

    @abstractmethod
    def _log_odds(self, X: Any, known: Any = None) -> Any:
        """Return the posterior log-odds of validated documents."""

    @abstractmethod
    def _parts(self, X: Any = None) -> dict[str, Any]:
        """Return the unfitted classifiers, ``content`` and ``labels``."""

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        self.fit(X, labels)

    def _read_documents(self, X: Any, reset: bool) -> Any:
        is_array = isinstance(X, np.ndarray) or sparse.issparse(X)
        is_checked = is_array and X.ndim == 2 and not hasattr(self, "feature_names_in_")
        if not reset and is_checked and isinstance(self.content_, LogOddsClassifier):
            return X  # the content classifier validates arrays
        return read_any_documents(self, X, reset)


def _class_shares(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities that sum to 1: 1 for an accepted class, 0 for rejected ones.

    If all classes are rejected, their probabilities are equal.
    """
    accepted, rejected = np.isposinf(log_odds), np.isneginf(log_odds)
    logs = np.where(accepted.any(axis=1, keepdims=True) & ~accepted, -np.inf, log_expit(log_odds))
    logs[rejected.all(axis=1)] = 0.0
    shares = softmax(logs, axis=1)
    return np.where(np.isneginf(logs), 0.0, np.clip(shares, ALMOST_ZERO, 1.0))


def read_any_documents(estimator: Any, X: Any, reset: bool) -> Any:
    """Validate documents for another estimator.

    Numbers become an array or sparse matrix, in which NaN is allowed; texts, records of texts and
    DataFrames are returned unchanged.
    """
    if not reset and hasattr(estimator, "n_features_in_") and _is_texts(X):
        raise _texts_error(estimator)
    if hasattr(X, "columns") or _is_texts(X):
        validate_data(estimator, X, skip_check_array=True, reset=reset)
        return X
    numbers = {"accept_sparse": True, "dtype": None, "ensure_all_finite": False}
    return validate_data(estimator, validate_sparse(X), reset=reset, **numbers)


def _texts_error(estimator: Any) -> ValueError:
    return ValueError(
        f"{type(estimator).__name__} requires vectors, got texts. Use "
        "make_pipeline(TfidfVectorizer(), ...) or labelkin.text.WordCounts."
    )


def _is_texts(X: Any) -> bool:
    if hasattr(X, "shape") and len(X.shape) != 1:
        return False
    try:
        return isinstance(next(iter(X)), str | Mapping)  # a text, or a record of texts
    except (TypeError, StopIteration):
        return False


def exact_label_sets(labels: LabelMatrix, decisions: Any) -> NDArray[np.bool_]:
    """Return which documents have correct decisions in all known cells, ``(n_documents,)``."""
    decided = sparse.csr_array(decisions, dtype=np.float64)
    check_consistent_length(decided, labels.positive)
    wrong = abs(decided - labels.positive)
    if labels.unknown is not None:
        wrong = wrong - wrong.multiply(labels.unknown)
    return np.asarray(wrong.sum(axis=1)).ravel() == 0


def _lengths_error(n_documents: int, labels: LabelMatrix) -> ValueError:
    return ValueError(
        "X and y must have the same number of documents, got inconsistent numbers: X has "
        f"{n_documents}, y has shape {labels.shape}."
    )


def _class_names(labels: LabelMatrix) -> NDArray[Any]:
    if labels.kind == "binary":
        last = len(labels.classes) - 1
        return labels.classes[np.where(labels.positive.toarray().ravel() > 0, last, 0)]
    return labels.classes[labels.positive.indices]


def fit_content(
    content: Any,
    X: Any,
    labels: LabelMatrix,
    fit_params: dict[str, Any],
    *,
    out_of_fold: bool,
    **split: Any,
) -> Any:
    """Fit a content classifier; return its out-of-fold log-odds if ``out_of_fold``.

    The log-odds are dense, or a CSR array of candidates. A classifier without
    ``fit_out_of_fold`` is cross-validated, and every classifier if ``cv`` is given. ``split`` is
    ``cv``, ``groups`` and ``random_state`` of :func:`out_of_fold_log_odds`.
    """
    target = labels_for(content, labels)
    if out_of_fold and split.get("cv") is None and hasattr(content, "fit_out_of_fold"):
        evidence = content.fit_out_of_fold(X, target, **fit_params)
        return evidence if sparse.issparse(evidence) else np.asarray(evidence)
    evidence = None
    if out_of_fold:
        evidence = out_of_fold_log_odds(content, X, labels, fit_params, **split)
    content.fit(X, target, **fit_params)
    return evidence


def out_of_fold_log_odds(
    estimator: Any,
    X: Any,
    labels: LabelMatrix,
    fit_params: dict[str, Any] | None = None,
    *,
    cv: CrossValidation = None,
    groups: Any = None,
    random_state: Any = None,
) -> Any:
    """Fit clones on training parts and return the log-odds of the test parts, ``labels.shape``.

    ``cv`` and ``random_state`` default to those of the estimator; see :func:`read_splits`. A label
    whose documents are all in one test part has, there, the log-odds that its classifier returns
    for a label without documents.
    """
    n_documents = X.shape[0] if hasattr(X, "shape") else len(X)
    if labels.shape[0] != n_documents:
        raise _lengths_error(n_documents, labels)
    cv = getattr(estimator, "cv", None) if cv is None else cv
    seed = getattr(estimator, "random_state", None) if random_state is None else random_state
    rows, parts = [], []
    for train, test in read_splits(cv, X, labels, groups, seed):
        params = params_of_rows(X, fit_params or {}, train)
        target = labels_for(estimator, labels.rows(train))
        fitted = clone(estimator).fit(rows_of(X, train), target, **params)
        rows.append(test)
        parts.append(fitted.log_odds(rows_of(X, test)))
    order = np.argsort(np.concatenate(rows))
    if any(map(sparse.issparse, parts)):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))[order]
    return np.concatenate(parts)[order]


def read_splits(
    cv: CrossValidation, X: Any, labels: LabelMatrix, groups: Any = None, random_state: Any = None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return training and test documents of each split; every document is tested exactly once.

    Parameters
    ----------
    cv : int, splitter, iterable of splits or None
        A number of folds, stratified over all labels (``None``: 5, at most one per document); or
        anything that :func:`sklearn.model_selection.check_cv` accepts.
    X : documents
        Documents as the splitter takes them.
    labels : LabelMatrix
        Labels of the documents.
    groups : array of shape (n_documents,), optional
        Groups for a splitter such as :class:`sklearn.model_selection.GroupKFold`.
    random_state : int or RandomState, optional
        Seed of stratified folds.
    """
    n_documents = labels.shape[0]
    if cv is None or isinstance(cv, Integral):
        n_folds = min(5 if cv is None else int(cv), n_documents)
        if n_folds < 2:
            raise ValueError(
                f"Out-of-fold evidence needs at least 2 documents and 2 folds, got "
                f"n_samples={n_documents} and cv={cv!r}."
            )
        if groups is not None:
            raise ValueError(
                f"`groups` must come with a splitter that uses them, got cv={cv!r}. "
                f"Use `cv=GroupKFold({n_folds})`."
            )
        fold = stratified_folds(labels, n_folds, random_state=random_state)
        return list(PredefinedSplit(fold).split())
    y = labels.plain() if labels.kind == "multilabel" else _class_names(labels)
    every = np.arange(n_documents)
    tested, splits = np.zeros(n_documents, dtype=np.int64), []
    for train, test in check_cv(cv).split(X, y, groups):
        splits.append((every[train], every[test]))
        tested[every[test]] += 1
        if np.isin(*splits[-1]).any():
            raise ValueError(
                "Training and test part of a split of `cv` must be disjoint, got "
                f"{np.isin(*splits[-1]).sum()} documents in both parts of split {len(splits) - 1}."
            )
    if (tested != 1).any():
        raise ValueError(
            "`cv` must put each document into exactly one test part, got "
            f"{(tested == 0).sum()} documents in none and {(tested > 1).sum()} in several of "
            f"{len(splits)} splits. Use a splitter such as KFold or GroupKFold."
        )
    return splits


@contextmanager
def stage(name: str, verbose: int) -> Iterator[None]:
    """Print the name and the duration of a stage of work; nothing if ``verbose`` is 0."""
    report(f"labelkin: {name} …", verbose, end="")
    start, duration = time.perf_counter(), ""
    try:
        yield
        duration = f" {time.perf_counter() - start:.1f} s"
    finally:
        report(duration, verbose)  # ends the line before an error message


def report(text: str, verbose: int, end: str = "\n") -> None:
    """Print a text on stderr; nothing if ``verbose`` is 0."""
    if verbose:
        print(text, end=end, file=sys.stderr, flush=True)
