"""One cut for all labels, the best for a metric on the fitting scores.

Moving the cut down past cells without their label can improve no metric here, so the best cut has a
positive cell just above it, or is +inf. Each metric is a function that returns its quality (to be
maximised) at all those cuts at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labelkin.label_matrix import LabelMatrix
from labelkin.method.thresholds.order import cut_below
from labelkin.method.thresholds.rule import Decisions, Scores, ThresholdRule, known_scores

#: Qualities that differ by less than this share are equal: they are sums, rounded on the way.
EQUAL = 1e-12


class GlobalCut(ThresholdRule):
    """Cut all labels at the one score that is best for a metric on the fitting scores.

    A score at or above the cut is decided. The cut lies halfway between two neighbouring scores,
    and the highest of equally good ones is taken; a cut that gives every label to every fitting
    document is the lowest score.

    Parameters
    ----------
    metric
        ``"micro_f1"``, ``"macro_f1"``, ``"samples_f1"`` (the mean of the documents' F1),
        ``"hamming_loss"`` or ``"subset_loss"`` (the share of documents whose label set is not
        exactly right). 0/0 in an F1 is 0. Unknown cells are left out: a document is judged by its
        known ones.

    Examples
    --------
    >>> scores = [[0.1, 0.9], [0.4, 0.6], [0.2, 0.1], [0.3, 0.2]]
    >>> rule = GlobalCut().fit(scores, [["tea"], ["sugar"], ["tea"], ["sugar"]])
    >>> rule.cut_.round(2).tolist()
    [0.25, 0.25]
    """

    def __init__(self, metric: str = "micro_f1") -> None:
        self.metric = metric

    def _check_parameters(self) -> None:
        if not isinstance(self.metric, str) or self.metric not in QUALITIES:
            listed = ", ".join(map(repr, QUALITIES))
            raise ValueError(f"metric must be one of {listed}, got {self.metric!r}.")

    def _learn(self, scores: Scores, labels: LabelMatrix) -> Scores:
        known = known_scores(scores, labels)
        positive = labels.positive.toarray() > 0
        # The lowest decided score says which cut is meant.
        lowest_given = np.union1d(known[positive & (known > -np.inf)], [np.inf])
        quality = QUALITIES[self.metric](known, positive, lowest_given)
        best = quality.max()
        score = lowest_given[quality >= best - EQUAL * abs(best)][-1]
        next_lower = np.max(known, where=known < score, initial=-np.inf)
        return np.full(labels.shape[1], cut_below(float(score), float(next_lower)))

    def _decide(self, scores: Scores) -> Decisions:
        return scores >= self.cut_


def _micro_f1(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    hits, decided = _at_or_above(scores[positive], cuts), _at_or_above(scores, cuts)
    total = positive.sum() + decided
    return np.divide(2 * hits, total, out=np.zeros(len(cuts)), where=total > 0)


def _hamming(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Right minus wrong decisions among the decided cells; the rest of the loss is constant."""
    return 2.0 * _at_or_above(scores[positive], cuts) - _at_or_above(scores, cuts)


def _macro_f1(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Sum of the labels' F1."""
    return _sum_of_f1(scores.T, positive.T, cuts)


def _samples_f1(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Sum of the documents' F1."""
    return _sum_of_f1(scores, positive, cuts)


def _subset(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Count the label sets that are exactly right: highest negative < cut ≤ lowest positive."""
    low = np.max(scores, axis=1, where=~positive, initial=-np.inf)
    high = np.min(scores, axis=1, where=positive, initial=np.inf)
    possible = low < high
    return _at_or_above(high[possible], cuts) - _at_or_above(low[possible], cuts)


#: By metric: its quality at every cut, from scores, positive cells and cuts (ascending).
QUALITIES: dict[str, Callable[[Scores, Decisions, Scores], Scores]] = {
    "micro_f1": _micro_f1,
    "macro_f1": _macro_f1,
    "samples_f1": _samples_f1,
    "hamming_loss": _hamming,
    "subset_loss": _subset,
}


def _at_or_above(scores: Scores, cuts: Scores) -> Scores:
    """Count the scores that each cut decides."""
    ordered = np.sort(scores, axis=None)
    return (len(ordered) - np.searchsorted(ordered, cuts)).astype(np.float64)


def _sum_of_f1(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Sum the F1 of all rows at each cut.

    Deciding a row's cells from the top, each changes the F1 of its row; the sum at a cut is the sum
    of the changes of all cells at or above it.
    """
    falling = np.argsort(-scores, axis=1)
    hits = np.take_along_axis(positive, falling, axis=1).cumsum(axis=1)
    decided = np.arange(1, scores.shape[1] + 1)
    f1 = 2 * hits / (positive.sum(axis=1, keepdims=True) + decided)
    change = np.diff(f1, axis=1, prepend=0.0).ravel()
    cells = np.take_along_axis(scores, falling, axis=1).ravel()
    order = np.argsort(-cells)
    total = np.append(0.0, np.cumsum(change[order]))
    return total[len(cells) - np.searchsorted(cells[order][::-1], cuts)]
