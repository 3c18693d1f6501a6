"""Rules with cuts: one for all labels, one per label, or by the ranks of a batch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from labelkin.label_matrix import Cells, LabelMatrix, Scale, check_scale
from labelkin.label_matrix.reading import check_values
from labelkin.thresholds.rule import (
    ThresholdRule,
    cut_below,
    is_number,
    known_frequency,
    known_scores,
)
from labelkin.validation import check_choice

_Scores = NDArray[np.float64]
_Decisions = NDArray[np.bool_]
_TunedMetric = Literal["micro_f1", "macro_f1", "document_f1"]

#: Qualities that differ by less than this share are equal: they are rounded sums.
_ROUNDING = 1e-12


class FixedCut(ThresholdRule):
    """Decide the labels whose probability is above a fixed cut.

    Parameters
    ----------
    cut : float, default 0.5
        A probability, strictly between 0 and 1, for any scale of the scores. A score at the cut is
        not above it.
    scale : "probability" or "log_odds", default "probability"
        Scale of the scores.

    Examples
    --------
    >>> rule = FixedCut(0.5, scale="log_odds").fit(None, [["tea"], ["sugar", "tea"]])
    >>> rule.decide([[0.0, 2.0]])
    array([[False,  True]])
    """

    needs_scores: ClassVar[bool] = False

    def __init__(self, cut: float = 0.5, *, scale: Scale = "probability") -> None:
        self.cut = cut
        self.scale = scale

    def _check_parameters(self) -> None:
        check_scale(self.scale)
        if not is_number(self.cut) or not 0 < self.cut < 1:
            raise ValueError(
                f"cut must be a probability strictly between 0 and 1, got {self.cut!r}, also when "
                "the scores are log-odds."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> _Scores:
        cut = logit(self.cut) if self.scale == "log_odds" else self.cut
        return np.full(labels.shape[1], cut, dtype=np.float64)

    def _is_decided(self, scores: _Scores, cut: _Scores) -> _Decisions:
        if self.scale == "probability":
            check_values(scores, "probability", allow_infinite=True)
        return scores > cut


class GlobalCut(ThresholdRule):
    """Cut all labels at the one score that is best for a metric on the fitting scores.

    A score at or above the cut is decided. The cut lies halfway between two neighbouring scores,
    and the highest of equally good ones is taken; a cut that decides all cells is the lowest score.

    Parameters
    ----------
    metric : str, default "micro_f1"
        ``"micro_f1"``, ``"macro_f1"`` or ``"document_f1"`` (the mean of the documents' F1). 0/0 is
        0. Unknown cells are ignored.

    Examples
    --------
    >>> scores = [[0.1, 0.9], [0.4, 0.6], [0.2, 0.1], [0.3, 0.2]]
    >>> rule = GlobalCut().fit(scores, [["tea"], ["sugar"], ["tea"], ["sugar"]])
    >>> rule.cut_.round(2).tolist()
    [0.25, 0.25]
    """

    def __init__(self, metric: _TunedMetric = "micro_f1") -> None:
        self.metric = metric

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, _TunedMetric)

    def _learn(self, scores: _Scores, labels: LabelMatrix) -> _Scores:
        cells, values, positive = _cells_and_truth(known_scores(scores, labels), labels)
        # Each possible cut is named by the lowest score that it decides.
        lowest = np.union1d(values[positive & (values > -np.inf)], [np.inf])
        none = np.zeros(cells.n, dtype=np.intp)
        groups = {"micro_f1": none, "macro_f1": cells.label, "document_f1": cells.document}
        quality = _sum_of_f1(groups[self.metric], values, positive, lowest)
        best = quality.max()
        score = lowest[quality >= best - _ROUNDING * abs(best)][-1]
        next_lower = np.max(values, where=values < score, initial=-np.inf)
        return np.full(labels.shape[1], cut_below(score, next_lower))


def _cells_and_truth(scores: Any, labels: LabelMatrix) -> tuple[Cells, _Scores, _Decisions]:
    """Return cells, their scores and whether they are positive.

    A positive label outside the candidates is a cell with −inf, which no cut decides.
    """
    if not sparse.issparse(scores):
        return Cells.full(scores.shape), scores.ravel(), labels.positive.toarray().ravel() > 0
    cells, own, positives = Cells.of(scores).union(Cells.of(labels.positive))
    values, positive = np.full(cells.n, -np.inf), np.zeros(cells.n, dtype=np.bool_)
    values[own], positive[positives] = scores.data, True
    return cells, values, positive


def _f1_from_top(
    group: NDArray[Any], scores: _Scores, positive: _Decisions
) -> tuple[NDArray[np.intp], _Scores]:
    """Return an order of cells, and the F1 of the group of each cell after deciding it.

    The groups follow each other; the cells of a group are decided from the highest score down.
    """
    order = np.lexsort((-scores, group))
    group, positive = group[order], positive[order]
    start = np.searchsorted(group, group)
    so_far = np.append(0, np.cumsum(positive))
    hits, decided = so_far[1:] - so_far[start], np.arange(len(group)) - start + 1
    return order, 2 * hits / (np.bincount(group, positive)[group] + decided)


def _sum_of_f1(
    group: NDArray[Any], scores: _Scores, positive: _Decisions, cuts: _Scores
) -> _Scores:
    """Sum the F1 of all groups of cells at each cut.

    The sum at a cut is the sum of the changes of F1 of all cells at or above it.
    """
    if not len(group):
        return np.zeros(len(cuts))
    order, f1 = _f1_from_top(group, scores, positive)
    group, scores = group[order], scores[order]
    is_first = np.append(True, group[1:] != group[:-1])
    change = f1 - np.where(is_first, 0.0, np.append(0.0, f1[:-1]))
    falling = np.argsort(-scores, kind="stable")
    total = np.append(0.0, np.cumsum(change[falling]))
    return total[len(scores) - np.searchsorted(scores[falling][::-1], cuts)]


class SCut(ThresholdRule):
    """Cut each label where its F1 on the fitting scores is highest (Yang 2001).

    A score at or above the cut is decided. Cuts lie halfway between two neighbouring scores, and
    the highest of equally good ones is taken. A cut that decides the label for every fitting
    document is its lowest score; a label without positives is cut at +inf. For rare labels this
    overfits: see :class:`SCutFBR`.

    Examples
    --------
    >>> scores = [[0.1, 0.9], [0.4, 0.6], [0.2, 0.1], [0.3, 0.2]]
    >>> rule = SCut().fit(scores, [["tea"], ["sugar"], ["tea"], ["sugar"]])
    >>> rule.cut_.round(2).tolist()
    [0.25, 0.75]
    """

    def _learn(self, scores: _Scores, labels: LabelMatrix) -> _Scores:
        return _best_cuts(known_scores(scores, labels), labels)[0]


class SCutFBR(ThresholdRule):
    """SCut with a fallback for labels whose best F1 is poor: SCutFBR.1 (Yang 2001).

    Parameters
    ----------
    fbr : float, default 0.1
        A label whose best F1 is below this number, in [0, 1], is cut at its highest fitting score.
        A label without positives, or with the same score for all documents, is cut at +inf. 0 is
        plain SCut.

    Examples
    --------
    One of forty documents is about tea, and its score is the lowest:

    >>> scores, Y = np.linspace(0, 1, 40)[:, None], np.eye(40, 1)
    >>> [float(rule.fit(scores, Y).cut_[0]) for rule in (SCut(), SCutFBR())]
    [0.0, 1.0]
    """

    def __init__(self, fbr: float = 0.1) -> None:
        self.fbr = fbr

    def _check_parameters(self) -> None:
        if not is_number(self.fbr) or not 0 <= self.fbr <= 1:
            raise ValueError(f"fbr must be a number in [0, 1], got {self.fbr!r}.")

    def _learn(self, scores: _Scores, labels: LabelMatrix) -> _Scores:
        known = known_scores(scores, labels)
        cut, f1 = _best_cuts(known, labels)
        fallback = np.where(labels.counts()[0] > 0, _highest(known), np.inf)
        return np.where(f1 < self.fbr, fallback, cut)


def _best_cuts(scores: Any, labels: LabelMatrix) -> tuple[_Scores, _Scores]:
    """Return the best cut of every label and its F1; −inf scores are never decided."""
    cut, best_f1 = np.full(labels.shape[1], np.inf), np.zeros(labels.shape[1])
    cells, values, positive = _cells_and_truth(scores, labels)
    order, f1 = _f1_from_top(cells.label, values, positive)
    label, values = cells.label[order], values[order]
    is_last = np.append(label[1:] != label[:-1], True)
    next_lower = np.where(is_last, -np.inf, np.append(values[1:], -np.inf))
    f1[values == next_lower] = 0.0  # equal scores are decided together, and -inf never
    from_best = np.lexsort((-f1, label))  # of equally good cuts the highest first
    found, first = np.unique(label[from_best], return_index=True)
    best = from_best[first]
    cut[found] = np.where(f1[best] > 0, cut_below(values[best], next_lower[best]), np.inf)
    best_f1[found] = f1[best]
    return cut, best_f1


def _highest(scores: Any) -> _Scores:
    """Return the highest finite score of each label; +inf if all are equal, or none is finite."""
    if not sparse.issparse(scores):
        scores = Cells.full(scores.shape).matrix(scores.ravel())
    finite = np.isfinite(scores.data)
    highest, lowest = np.full(scores.shape[1], -np.inf), np.full(scores.shape[1], np.inf)
    np.maximum.at(highest, scores.indices[finite], scores.data[finite])
    np.minimum.at(lowest, scores.indices[finite], scores.data[finite])
    return np.where(highest > lowest, highest, np.inf)


class PCut(ThresholdRule):
    """Decide each label for a number of best documents of the batch (Yang 2001).

    Label j is decided for the round(prior_j · n) best of n documents, the share of documents with
    the label in training; of equal ones for the first. A half is rounded to the even number. A
    label whose cells are all unknown is not decided.

    Attributes
    ----------
    prior_ : array of shape (n_labels,)
        The share of documents with each label, among those for which it is known.

    Examples
    --------
    >>> rule = PCut().fit(None, [["tea"], ["sugar", "tea"]])
    >>> rule.decide([[0.1, 0.9], [0.3, 0.8], [0.2, 0.9], [0.3, 0.1]]).astype(int).T
    array([[0, 1, 0, 1],
           [1, 1, 1, 1]])
    """

    needs_scores: ClassVar[bool] = False
    needs_batch: ClassVar[bool] = True

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        self.prior_ = known_frequency(labels)

    def _decide(self, scores: _Scores) -> _Decisions:
        cells = Cells.full(scores.shape)
        return self._decide_cells(cells, scores.ravel()).reshape(scores.shape)

    def _decide_cells(self, cells: Cells, scores: _Scores) -> _Decisions:
        n_documents, n_labels = cells.shape
        order = np.lexsort((cells.document, -scores, cells.label))
        label = cells.label[order]
        rank = np.arange(cells.n) - np.searchsorted(label, np.arange(n_labels))[label]
        decided = np.zeros(cells.n, dtype=np.bool_)
        decided[order] = rank < np.rint(self.prior_ * n_documents)[label]
        return decided
