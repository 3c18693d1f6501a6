"""A cut for every label, the best on the fitting scores (SCut), and a safe one for rare labels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from labelkin.label_matrix import LabelMatrix
from labelkin.method.thresholds.order import cut_below
from labelkin.method.thresholds.rule import (
    Decisions,
    Scores,
    ThresholdRule,
    is_number,
    known_scores,
)


class SCut(ThresholdRule):
    """Cut each label where its F_beta on the fitting scores is highest (Yang 2001).

    A score at or above the cut is decided. Cuts lie halfway between two neighbouring scores, and
    the highest of equally good ones is taken. A cut that gives the label to every fitting document
    is its lowest score; a label without positives is cut at +inf. For rare labels this overfits:
    see :class:`SCutFBR`.

    Parameters
    ----------
    beta
        Above 0; recall counts beta times as much as precision.

    Attributes
    ----------
    f_beta_ : array of shape (n_labels,)
        The highest F_beta, reached by ``cut_``.

    Examples
    --------
    >>> scores = [[0.1, 0.9], [0.4, 0.6], [0.2, 0.1], [0.3, 0.2]]
    >>> rule = SCut().fit(scores, [["tea"], ["sugar"], ["tea"], ["sugar"]])
    >>> rule.cut_.round(2).tolist()
    [0.25, 0.75]
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def _check_parameters(self) -> None:
        if not is_number(self.beta) or not 0 < self.beta < np.inf:
            raise ValueError(f"beta must be a number above 0, got {self.beta!r}.")

    def _learn(self, scores: Scores, labels: LabelMatrix) -> Scores:
        cut, self.f_beta_ = _best_cuts(known_scores(scores, labels), labels, float(self.beta))
        return cut

    def _decide(self, scores: Scores) -> Decisions:
        return scores >= self.cut_


class SCutFBR(SCut):
    """SCut with a way out for labels whose best F is poor: SCutFBR.0 and SCutFBR.1 (Yang 2001).

    Parameters
    ----------
    beta
        As in :class:`SCut`.
    fbr
        Where the best F_beta is below it, in [0, 1], the cut is not trusted; 0 is plain SCut.
    variant
        What such a label is cut at: 0: +inf, it is never given; 1: its highest fitting score. Also
        in variant 1 a label without positives, or with the same score for all documents, is cut at
        +inf: its highest score would give it to everyone.

    Examples
    --------
    One of forty documents is about tea, and the scores do not see it:

    >>> scores, Y = np.linspace(0, 1, 40)[:, None], np.eye(40, 1)
    >>> rules = [SCut(), SCutFBR(), SCutFBR(variant=0)]
    >>> [float(rule.fit(scores, Y).cut_[0]) for rule in rules]
    [0.0, 1.0, inf]
    """

    def __init__(self, beta: float = 1.0, fbr: float = 0.1, variant: int = 1) -> None:
        super().__init__(beta)
        self.fbr = fbr
        self.variant = variant

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_number(self.fbr) or not 0 <= self.fbr <= 1:
            raise ValueError(f"fbr must be a number in [0, 1], got {self.fbr!r}.")
        if self.variant not in (0, 1):
            raise ValueError(
                f"variant must be 0 (never given) or 1 (highest fitting score), got "
                f"{self.variant!r}."
            )

    def _learn(self, scores: Scores, labels: LabelMatrix) -> Scores:
        cut = super()._learn(scores, labels)
        fallback = np.full(len(cut), np.inf)
        if self.variant == 1:
            has_positives = labels.counts()[0] > 0
            fallback[has_positives] = _highest(known_scores(scores, labels))[has_positives]
        return np.where(self.f_beta_ < self.fbr, fallback, cut)


def _best_cuts(scores: Scores, labels: LabelMatrix, beta: float) -> tuple[Scores, Scores]:
    """Return the best cut of every label and its F_beta; −inf scores are out of play."""
    n_labels = labels.shape[1]
    cut, f_beta = np.full(n_labels, np.inf), np.zeros(n_labels)
    ordered = np.sort(scores.T, axis=1)
    positive = sparse.csc_array(labels.positive)
    for j in np.flatnonzero(np.diff(positive.indptr)):
        rows = positive.indices[positive.indptr[j] : positive.indptr[j + 1]]
        cut[j], f_beta[j] = _best_cut(ordered[j], np.sort(scores[rows, j]), beta)
    return cut, f_beta


def _best_cut(ordered: Scores, positive: Scores, beta: float) -> tuple[float, float]:
    """Return the best cut of one label and its F_beta.

    Parameters
    ----------
    ordered, positive
        Scores of all documents, and of those with the label (at least one); ascending.
    """
    # Moving a cut down past documents without the label can only lose: the best cut has a positive
    # just above it, or is +inf.
    lowest_given = np.append(positive[positive > -np.inf], np.inf)
    hits = len(positive) - np.searchsorted(positive, lowest_given)
    place = np.searchsorted(ordered, lowest_given)
    decided = len(ordered) - place
    f_beta = (1 + beta**2) * hits / (beta**2 * len(positive) + decided)
    best = len(f_beta) - 1 - int(np.argmax(f_beta[::-1]))
    next_lower = ordered[place[best] - 1] if place[best] else -np.inf
    return cut_below(float(lowest_given[best]), float(next_lower)), float(f_beta[best])


def _highest(scores: Scores) -> Scores:
    """Return the highest finite score of each label; +inf where they are all equal, or none is."""
    finite = np.isfinite(scores)
    highest = np.max(scores, axis=0, where=finite, initial=-np.inf)
    lowest = np.min(scores, axis=0, where=finite, initial=np.inf)
    return np.where(highest > lowest, highest, np.inf)
