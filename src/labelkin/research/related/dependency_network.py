"""Conditional dependency networks: Gibbs sampling over p(label | document, all other labels).

Guo & Gu (2011). The nearest relative of this library's posterior: the same kind of conditionals,
but document and labels in one classifier, and the unknown other labels drawn instead of filled in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelkin.estimator import LogOddsClassifier
from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.odds import log_odds_of, probability_of
from labelkin.research.related.conditionals import (
    Matrix,
    all_others,
    base_classifier,
    document_parts,
    fit_conditionals,
    label_weights,
    true_labels,
)


class DependencyNetwork(LogOddsClassifier):
    """A conditional dependency network with ordered Gibbs sampling.

    Every label has a classifier of the document and all other labels. Starting from binary
    relevance, labels are drawn in turn from it, given the present values of the others; a label's
    probability is the mean of those it was drawn with after the first sweeps. Labels that all but
    determine each other, such as classes of which each document has one, make the draws get stuck.

    Parameters
    ----------
    estimator : classifier or str, optional
        What learns each label; :class:`labelkin.PlattSVM` if none is given. Any classifier with
        probabilities, or a name of a content classifier such as ``"naive_bayes"``.
    n_samples : int, default 100
        Sweeps over all labels that count.
    burn_in : int, default 20
        Sweeps before, which do not.
    clip : float, default 1e-6
        Probabilities closer to 0 or 1 count as ``clip`` and ``1 - clip``.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int or RandomState, optional
        Of the draws, and of an estimator that has none.

    Attributes
    ----------
    relevance_ : classifier
        Where sampling starts.
    conditionals_ : list
        The classifier of each label, by column.
    seed_ : int
        Of the draws: the same for every call.

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
        if not (isinstance(self.n_samples, int | np.integer) and self.n_samples >= 1):
            raise ValueError(
                f"n_samples must be a whole number of at least 1, got {self.n_samples!r}."
            )
        if not (isinstance(self.burn_in, int | np.integer) and self.burn_in >= 0):
            raise ValueError(f"burn_in must be a whole number from 0, got {self.burn_in!r}.")
        base = base_classifier(self.estimator, self.random_state)
        self.relevance_ = clone(base)
        self.relevance_.fit(X, labels_for(base, labels))
        self.conditionals_ = fit_conditionals(
            base, X, labels, all_others(labels.shape[1]), true_labels(labels), self.n_jobs
        )
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _log_odds(self, X: Any) -> Matrix:
        drawn = (np.asarray(self.relevance_.log_odds(X)) > 0).astype(np.float64)
        return log_odds_of(self._sample(X, drawn), clip=self.clip)

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
                chance = probability_of(log_odds)
                change = (numbers[j] < chance) - drawn[:, j]
                drawn[:, j] += change
                if weights is not None:  # few labels change: only what they say is added anew
                    rows = np.flatnonzero(change)
                    given[rows] += change[rows, None] * weights[j]
                if sweep >= self.burn_in:
                    total[:, j] += chance
        return np.clip(total / self.n_samples, 0.0, 1.0)
