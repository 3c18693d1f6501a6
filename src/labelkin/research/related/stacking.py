"""Binary relevance in two levels: predicted labels become features.

Stacking (Godbole & Sarawagi 2004) trains the second level on *predictions* for documents that the
first level has not seen; dependent binary relevance (Montañés et al. 2014) trains it on the *true*
other labels, and shows it predictions afterwards.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from labelkin.estimator import LogOddsClassifier, fit_content
from labelkin.label_matrix import LabelMatrix
from labelkin.label_matrix.record import check_choice
from labelkin.odds import probability_of
from labelkin.research.related.conditionals import (
    Columns,
    Matrix,
    all_others,
    base_classifier,
    fit_conditionals,
    log_odds_given,
    true_labels,
)


class _TwoLevels(LogOddsClassifier):
    """Binary relevance first; then each label by document and what the first level says."""

    estimator: Any
    n_jobs: int | None
    random_state: Any

    def fit_on_evidence(self, X: Any, y: Any, out_of_fold: Matrix) -> Any:
        """Fit the second level alone, on evidence that a first level has given already.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_documents, n_features)
        y : any kind of labels
        out_of_fold : array of shape (n_documents, n_labels)
            Log-odds of the training documents by binary relevance that has not seen them.

        Returns
        -------
        self
        """
        X, labels = self._read(X, y)
        self.relevance_: Any = None
        self._learn_second(X, labels, np.asarray(out_of_fold))
        return self

    def log_odds_on_evidence(self, X: Any, content: Matrix) -> Matrix:
        """Return log-odds, given those of binary relevance, ``(n_documents, n_labels)``."""
        return self._second_log_odds(self._read_documents(X, reset=False), np.asarray(content))

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        base = base_classifier(self.estimator, self.random_state)
        self.relevance_ = clone(base)
        unseen = fit_content(self.relevance_, X, labels, {}, out_of_fold=self._needs_unseen())
        self._learn_second(X, labels, unseen)

    def _log_odds(self, X: Any) -> Matrix:
        if self.relevance_ is None:
            raise ValueError(
                f"This {type(self).__name__} was fitted on evidence from outside: "
                "log_odds_on_evidence(X, content) takes it. fit(X, Y) learns a first level too."
            )
        return self._second_log_odds(X, np.asarray(self.relevance_.log_odds(X)))

    def _needs_unseen(self) -> bool:
        """Return whether the second level learns from predictions of unseen documents."""
        return True

    @abstractmethod
    def _learn_second(self, X: Any, labels: LabelMatrix, unseen: Matrix | None) -> None:
        """Learn the second level; ``unseen`` are the first's log-odds of left-out documents."""

    @abstractmethod
    def _second_log_odds(self, X: Any, content: Matrix) -> Matrix:
        """Return the second level's log-odds, given those of the first."""


class StackedRelevance(_TwoLevels):
    """Stacked binary relevance: each label by the document and the predicted labels.

    The second level learns from predictions of documents left out of the first (cross-fitting), so
    that it sees in training what it will see later.

    Parameters
    ----------
    estimator : classifier or str, optional
        What learns each label of the first level; :class:`labelkin.PlattSVM` if none is given. Any
        classifier with probabilities, or a name of a content classifier such as ``"naive_bayes"``.
    final_estimator : classifier or str, optional
        The same for the second level; ``estimator`` if none is given.
    documents : bool, default True
        Whether the second level sees the document again (Godbole & Sarawagi); otherwise it sees
        predictions only (Tsoumakas et al. 2009).
    min_correlation : float, default 0.0
        A label is shown only those whose correlation with it, φ over the training documents, is at
        least this, above or below 0, and itself; 0 shows it all.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int or RandomState, optional
        Of estimators that have none.

    Attributes
    ----------
    relevance_ : classifier
        The first level.
    conditionals_ : list
        The second level's classifier of each label; ``shown`` says which predictions it is shown.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> StackedRelevance(LogisticRegression()).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        final_estimator: Any = None,
        documents: bool = True,
        min_correlation: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.final_estimator = final_estimator
        self.documents = documents
        self.min_correlation = min_correlation
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn_second(self, X: Any, labels: LabelMatrix, unseen: Matrix | None) -> None:
        if not 0 <= self.min_correlation <= 1:
            raise ValueError(f"min_correlation must be from 0 to 1, got {self.min_correlation!r}.")
        final = self.estimator if self.final_estimator is None else self.final_estimator
        self.conditionals_ = fit_conditionals(
            base_classifier(final, self.random_state),
            self._seen_again(X),
            labels,
            correlated_labels(labels, self.min_correlation),
            probability_of(np.asarray(unseen)),
            self.n_jobs,
        )

    def _second_log_odds(self, X: Any, content: Matrix) -> Matrix:
        return log_odds_given(self.conditionals_, self._seen_again(X), probability_of(content))

    def _seen_again(self, X: Any) -> Any:
        return X if self.documents else np.empty((X.shape[0], 0))


def correlated_labels(labels: LabelMatrix, at_least: float) -> list[Columns]:
    """Return for each label the columns whose |φ| with it reaches a value; itself always.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> tea = read_labels([["tea", "milk"], ["tea", "milk"], ["ink"], ["tea"]])
    >>> [columns.tolist() for columns in correlated_labels(tea, 0.9)]
    [[0, 2], [1], [0, 2]]
    """
    n_labels = labels.shape[1]
    if at_least == 0:
        return [np.arange(n_labels)] * n_labels
    cells = np.asarray(true_labels(labels).toarray())
    cells -= cells.mean(axis=0)
    size = np.sqrt((cells**2).sum(axis=0))
    phi = cells.T @ cells / np.maximum(np.outer(size, size), 1e-300)
    np.fill_diagonal(phi, 1.0)
    return [np.flatnonzero(np.abs(row) >= at_least - 1e-12) for row in phi]


class DependentRelevance(_TwoLevels):
    """Dependent binary relevance: each label by the document and all other labels.

    Parameters
    ----------
    estimator : classifier or str, optional
        What learns each label, on both levels: see :class:`StackedRelevance`.
    trained_on : "true" or "predicted", default "true"
        Whether the second level learns from the true other labels, as its authors have it, or from
        what the first level decides on documents left out of it (cross-fitting).
    variant : "hard" or "soft", default "hard"
        Whether predicted labels are decisions or probabilities.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int or RandomState, optional
        Of an estimator that has none.

    Attributes
    ----------
    relevance_ : classifier
        The first level.
    conditionals_ : list
        The second level's classifier of each label.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> DependentRelevance(LogisticRegression()).fit(X, Y).predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        trained_on: Literal["true", "predicted"] = "true",
        variant: Literal["hard", "soft"] = "hard",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.trained_on = trained_on
        self.variant = variant
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _needs_unseen(self) -> bool:
        return self.trained_on == "predicted"

    def _learn_second(self, X: Any, labels: LabelMatrix, unseen: Matrix | None) -> None:
        if self.trained_on not in ("true", "predicted"):
            raise ValueError(f"trained_on must be 'true' or 'predicted', got {self.trained_on!r}.")
        check_choice("variant", self.variant, ("hard", "soft"))
        predicted = self.trained_on == "predicted" and unseen is not None
        others = self._fill_in(unseen) if predicted else true_labels(labels)
        self.conditionals_ = fit_conditionals(
            base_classifier(self.estimator, self.random_state),
            X,
            labels,
            all_others(labels.shape[1]),
            others,
            self.n_jobs,
        )

    def _second_log_odds(self, X: Any, content: Matrix) -> Matrix:
        return log_odds_given(self.conditionals_, X, self._fill_in(content))

    def _fill_in(self, log_odds: Any) -> Matrix:
        soft = self.variant == "soft"
        return probability_of(log_odds) if soft else (log_odds > 0).astype(np.float64)
