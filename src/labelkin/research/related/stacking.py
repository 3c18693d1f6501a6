"""Label predictions as features: stacking, dependent relevance and dependency networks.

Stacking (Godbole & Sarawagi 2004) trains the second level on *predictions* for documents that the
first level has not seen; dependent binary relevance (Montañés et al. 2014) trains it on the *true*
other labels, and gives it predictions afterwards. A conditional dependency network (Guo & Gu 2011)
has the same conditionals as dependent relevance, and draws the other labels by Gibbs sampling.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelkin.estimator import LogOddsClassifier, fit_content
from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.odds import to_log_odds, to_probability
from labelkin.research.related.conditionals import (
    LabelColumns,
    Matrix,
    all_others,
    base_classifier,
    document_parts,
    fit_conditionals,
    label_weights,
    log_odds_given,
    true_labels,
)
from labelkin.validation import check_choice, check_whole_number


class _TwoLevels(LogOddsClassifier):
    """Binary relevance first; then each label by the document and the first predictions."""

    estimator: Any
    n_jobs: int | None
    random_state: Any

    def _learn_first(self, X: Any, labels: LabelMatrix, *, out_of_fold: bool) -> Any:
        """Fit the first level; return its out-of-fold log-odds if asked for."""
        self.relevance_ = clone(base_classifier(self.estimator, self.random_state))
        return fit_content(self.relevance_, X, labels, {}, out_of_fold=out_of_fold)


class StackedRelevance(_TwoLevels):
    """Stacked binary relevance: each label by the document and the predicted labels.

    The second level learns from predictions of documents left out of the first (cross-fitting), so
    that it sees in training what it will see later.

    Parameters
    ----------
    estimator : classifier or str, optional
        Classifier of each label on the first level, default :class:`labelkin.PlattSVM`: any
        classifier with probabilities, or the name of a content classifier.
    final_estimator : classifier or str, optional
        The same for the second level; ``estimator`` if none is given.
    documents : bool, default True
        Whether the second level sees the document again (Godbole & Sarawagi); otherwise it sees
        predictions only (Tsoumakas et al. 2009).
    min_correlation : float, default 0.0
        A label is shown only those whose correlation with it, φ over the training documents, is at
        least this, above or below 0, and itself; 0 shows it all.
    n_jobs : int, optional
        Number of labels fitted in parallel.
    random_state : int or RandomState, optional
        Seed of estimators without a seed.

    Attributes
    ----------
    relevance_ : classifier
        The first level.
    conditionals_ : list
        The second level's classifier of each label; it uses the predictions of ``shown``.

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

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        if not 0 <= self.min_correlation <= 1:
            raise ValueError(f"min_correlation must be from 0 to 1, got {self.min_correlation!r}.")
        unseen = self._learn_first(X, labels, out_of_fold=True)
        final = self.estimator if self.final_estimator is None else self.final_estimator
        self.conditionals_ = fit_conditionals(
            base_classifier(final, self.random_state),
            self._seen_again(X),
            labels,
            correlated_labels(labels, self.min_correlation),
            to_probability(np.asarray(unseen)),
            self.n_jobs,
        )

    def _log_odds(self, X: Any) -> Matrix:
        first = to_probability(np.asarray(self.relevance_.log_odds(X)))
        return log_odds_given(self.conditionals_, self._seen_again(X), first)

    def _seen_again(self, X: Any) -> Any:
        return X if self.documents else np.empty((X.shape[0], 0))


def correlated_labels(labels: LabelMatrix, at_least: float) -> list[LabelColumns]:
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
        Classifier of each label, on both levels: see :class:`StackedRelevance`.
    trained_on : "true" or "predicted", default "true"
        Whether the second level learns from the true other labels, as its authors have it, or from
        what the first level decides on documents left out of it (cross-fitting).
    variant : "hard" or "soft", default "hard"
        Whether predicted labels are decisions or probabilities.
    n_jobs : int, optional
        Number of labels fitted in parallel.
    random_state : int or RandomState, optional
        Seed of an estimator without a seed.

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

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        check_choice("trained_on", self.trained_on, ("true", "predicted"))
        check_choice("variant", self.variant, ("hard", "soft"))
        predicted = self.trained_on == "predicted"
        unseen = self._learn_first(X, labels, out_of_fold=predicted)
        others = self._fill_in(unseen) if predicted else true_labels(labels)
        self.conditionals_ = fit_conditionals(
            base_classifier(self.estimator, self.random_state),
            X,
            labels,
            all_others(labels.shape[1]),
            others,
            self.n_jobs,
        )

    def _log_odds(self, X: Any) -> Matrix:
        first = self._fill_in(self.relevance_.log_odds(X))
        return log_odds_given(self.conditionals_, X, first)

    def _fill_in(self, log_odds: Any) -> Matrix:
        z = np.asarray(log_odds)
        return to_probability(z) if self.variant == "soft" else (z > 0).astype(np.float64)


class DependencyNetwork(LogOddsClassifier):
    """A conditional dependency network with ordered Gibbs sampling.

    Every label has a classifier of the document and all other labels. Starting from binary
    relevance, labels are drawn in turn from it, given the present values of the others; a label's
    probability is the mean of those it was drawn with after the first sweeps. Labels that all but
    determine each other, such as classes of which each document has one, make the draws get stuck.

    Parameters
    ----------
    estimator : classifier or str, optional
        Classifier of each label, default :class:`labelkin.PlattSVM`: any classifier with
        probabilities, or the name of a content classifier such as ``"naive_bayes"``.
    n_samples : int, default 100
        Sweeps over all labels that count.
    burn_in : int, default 20
        Sweeps before, which do not.
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Number of labels fitted in parallel.
    random_state : int or RandomState, optional
        Seed of the draws, and of an estimator without a seed.

    Attributes
    ----------
    relevance_ : classifier
        Where sampling starts.
    conditionals_ : list
        The classifier of each label, by column.
    seed_ : int
        Seed of the draws: the same for every call.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [["a"], ["a"], ["b", "c"], ["b", "c"]] * 5
    >>> model = DependencyNetwork(LogisticRegression(), random_state=0).fit(X, Y)
    >>> model.predict_labels([[0.0], [3.0]])
    [('a',), ('b', 'c')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_samples: int = 100,
        burn_in: int = 20,
        clip: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that classes are hard for it: where each rules all others out, draws get stuck."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _learn(self, X: Any, labels: LabelMatrix) -> None:
        check_whole_number("n_samples", self.n_samples)
        check_whole_number("burn_in", self.burn_in, 0)
        base = base_classifier(self.estimator, self.random_state)
        self.relevance_ = clone(base)
        self.relevance_.fit(X, labels_for(base, labels))
        self.conditionals_ = fit_conditionals(
            base, X, labels, all_others(labels.shape[1]), true_labels(labels), self.n_jobs
        )
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _log_odds(self, X: Any) -> Matrix:
        drawn = (np.asarray(self.relevance_.log_odds(X)) > 0).astype(np.float64)
        return to_log_odds(self._sample(X, drawn), clip=self.clip)

    def _sample(self, X: Any, drawn: Matrix) -> Matrix:
        """Sweep; return the mean of each label's conditional probabilities."""
        random = np.random.RandomState(self.seed_)
        parts, weights = document_parts(self.conditionals_, X), label_weights(self.conditionals_)
        given = parts if weights is None else parts + drawn @ weights
        total = np.zeros_like(drawn)
        for sweep in range(self.burn_in + self.n_samples):
            # the same numbers for every document, so that its answer depends on no other
            numbers = random.random_sample(len(self.conditionals_))
            for j, one in enumerate(self.conditionals_):
                linear = weights is not None
                log_odds = given[:, j] if linear else one.log_odds(X, drawn, parts[:, j])
                chance = to_probability(log_odds)
                change = (numbers[j] < chance) - drawn[:, j]
                drawn[:, j] += change
                if weights is not None:  # few labels change: only their changes are added
                    rows = np.flatnonzero(change)
                    given[rows] += change[rows, None] * weights[j]
                if sweep >= self.burn_in:
                    total[:, j] += chance
        return np.clip(total / self.n_samples, 0.0, 1.0)
