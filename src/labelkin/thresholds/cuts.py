"""One cut that is given, not learned: the paper's 0.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from labelkin.label_matrix import Cells, LabelMatrix, Scale, check_scale
from labelkin.label_matrix.record import check_choice
from labelkin.label_matrix.scores import check_probabilities
from labelkin.thresholds.rule import (
    Decisions,
    Scores,
    ThresholdRule,
    TunedMetric,
    cut_below,
    is_number,
    known_frequency,
    known_scores,
    top_of_rows,
)


class FixedCut(ThresholdRule):
    """Give a label where its probability is above a fixed cut.

    Parameters
    ----------
    cut : float, default 0.5
        A probability, strictly between 0 and 1, whatever the scale of the scores. A score at the
        cut is not above it.
    scale : "probability" or "log_odds", default "probability"
        What the scores are: ``"probability"`` or ``"log_odds"``.

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

    def _learn(self, scores: Any, labels: LabelMatrix) -> Scores:
        cut = logit(self.cut) if self.scale == "log_odds" else self.cut
        return np.full(labels.shape[1], cut, dtype=np.float64)

    def _decide(self, scores: Scores) -> Decisions:
        if self.scale == "probability":
            check_probabilities(scores, allow_infinite=True)
        return scores > self.cut_

    def _decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        return scores > self.cut_[cells.label]


#: Qualities that differ by less than this share are equal: they are sums, rounded on the way.
EQUAL = 1e-12


class GlobalCut(ThresholdRule):
    """Cut all labels at the one score that is best for a metric on the fitting scores.

    A score at or above the cut is decided. The cut lies halfway between two neighbouring scores,
    and the highest of equally good ones is taken; a cut that gives every label to every fitting
    document is the lowest score.

    Parameters
    ----------
    metric : str, default "micro_f1"
        ``"micro_f1"``, ``"macro_f1"``, ``"document_f1"`` (the mean of the documents' F1),
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

    def __init__(self, metric: TunedMetric = "micro_f1") -> None:
        self.metric = metric

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, QUALITIES)

    def _learn(self, scores: Scores, labels: LabelMatrix) -> Scores:
        known = known_scores(scores, labels)
        if sparse.issparse(known):
            return self._learn_from_cells(known, labels)
        positive = labels.positive.toarray() > 0
        # The lowest decided score says which cut is meant.
        lowest_given = np.union1d(known[positive & (known > -np.inf)], [np.inf])
        quality = QUALITIES[self.metric](known, positive, lowest_given)
        best = quality.max()
        score = lowest_given[quality >= best - EQUAL * abs(best)][-1]
        next_lower = np.max(known, where=known < score, initial=-np.inf)
        return np.full(labels.shape[1], cut_below(float(score), float(next_lower)))

    def _learn_from_cells(self, scores: sparse.csr_array, labels: LabelMatrix) -> Scores:
        """Learn from candidates; a true label that is none has −inf, which no cut decides."""
        cells, theirs, missed = Cells.of(scores).union(Cells.of(labels.positive))
        values = np.full(cells.n, -np.inf)
        values[theirs] = scores.data
        positive = np.zeros(cells.n, dtype=np.bool_)
        positive[missed] = True
        lowest_given = np.union1d(values[positive & (values > -np.inf)], [np.inf])
        quality = _quality_of_cells(self.metric, cells, values, positive, lowest_given)
        best = quality.max()
        score = lowest_given[quality >= best - EQUAL * abs(best)][-1]
        next_lower = np.max(values, where=values < score, initial=-np.inf)
        return np.full(labels.shape[1], cut_below(float(score), float(next_lower)))

    def _decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        return scores >= self.cut_[cells.label]


def _micro_f1(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    hits, decided = _at_or_above(scores[positive], cuts), _at_or_above(scores, cuts)
    total = positive.sum() + decided
    return np.divide(2 * hits, total, out=np.zeros(len(cuts)), where=total > 0)


def _hamming(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Right minus wrong decisions among the decided cells; the rest of the loss is constant."""
    return 2.0 * _at_or_above(scores[positive], cuts) - _at_or_above(scores, cuts)


def _subset(scores: Scores, positive: Decisions, cuts: Scores) -> Scores:
    """Count the label sets that are exactly right: highest negative < cut ≤ lowest positive."""
    low = np.max(scores, axis=1, where=~positive, initial=-np.inf)
    high = np.min(scores, axis=1, where=positive, initial=np.inf)
    possible = low < high
    return _at_or_above(high[possible], cuts) - _at_or_above(low[possible], cuts)


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


#: By metric: its quality at every cut, from scores, positive cells and cuts (ascending).
QUALITIES: dict[str, Callable[[Scores, Decisions, Scores], Scores]] = {
    "micro_f1": _micro_f1,
    "macro_f1": lambda scores, positive, cuts: _sum_of_f1(scores.T, positive.T, cuts),
    "document_f1": _sum_of_f1,
    "hamming_loss": _hamming,
    "subset_loss": _subset,
}


def _quality_of_cells(
    metric: str, cells: Cells, scores: Scores, positive: Decisions, cuts: Scores
) -> Scores:
    """Return the quality at every cut as :data:`QUALITIES` has it, from flat cells."""
    if metric in ("micro_f1", "hamming_loss"):
        return QUALITIES[metric](scores, positive, cuts)
    if metric == "subset_loss":
        low, high = np.full(cells.shape[0], -np.inf), np.full(cells.shape[0], np.inf)
        np.maximum.at(low, cells.document[~positive], scores[~positive])
        np.minimum.at(high, cells.document[positive], scores[positive])
        possible = low < high
        return _at_or_above(high[possible], cuts) - _at_or_above(low[possible], cuts)
    group = cells.label if metric == "macro_f1" else cells.document
    order = np.lexsort((-scores, group))
    group, scores, positive = group[order], scores[order], positive[order]
    is_first = np.append(True, group[1:] != group[:-1]) if len(group) else positive
    start = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    before = np.append(0, np.cumsum(positive))
    hits = before[1:] - before[start]
    decided = np.arange(len(group)) - start + 1
    f1 = 2 * hits / (np.bincount(group, positive)[group] + decided) if len(group) else scores
    change = f1 - np.where(is_first, 0.0, np.append(0.0, f1[:-1]))
    falling = np.argsort(-scores, kind="stable")
    total = np.append(0.0, np.cumsum(change[falling]))
    return total[len(scores) - np.searchsorted(scores[falling][::-1], cuts)]


class SCut(ThresholdRule):
    """Cut each label where its F_beta on the fitting scores is highest (Yang 2001).

    A score at or above the cut is decided. Cuts lie halfway between two neighbouring scores, and
    the highest of equally good ones is taken. A cut that gives the label to every fitting document
    is its lowest score; a label without positives is cut at +inf. For rare labels this overfits:
    see :class:`SCutFBR`.

    Parameters
    ----------
    beta : float, default 1.0
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

    def _decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        return scores >= self.cut_[cells.label]


class SCutFBR(SCut):
    """SCut with a way out for labels whose best F is poor: SCutFBR.0 and SCutFBR.1 (Yang 2001).

    Parameters
    ----------
    beta : float, default 1.0
        As in :class:`SCut`.
    fbr : float, default 0.1
        Where the best F_beta is below it, in [0, 1], the cut is not trusted; 0 is plain SCut.
    variant : 0 or 1, default 1
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

    def __init__(self, beta: float = 1.0, *, fbr: float = 0.1, variant: int = 1) -> None:
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
    positive = sparse.csc_array(labels.positive)
    if sparse.issparse(scores):
        hits = sparse.csc_array(Cells.of(labels.positive).matrix(_scores_of(labels, scores)))
        by_label = sparse.csc_array(scores)
        for j in np.flatnonzero(np.diff(positive.indptr)):
            own, theirs = (
                np.sort(part.data[part.indptr[j] : part.indptr[j + 1]]) for part in (by_label, hits)
            )
            cut[j], f_beta[j] = _best_cut(own, theirs, beta)
        return cut, f_beta
    ordered = np.sort(scores.T, axis=1)
    for j in np.flatnonzero(np.diff(positive.indptr)):
        rows = positive.indices[positive.indptr[j] : positive.indptr[j + 1]]
        cut[j], f_beta[j] = _best_cut(ordered[j], np.sort(scores[rows, j]), beta)
    return cut, f_beta


def _scores_of(labels: LabelMatrix, scores: sparse.csr_array) -> Scores:
    """Return the scores of the positive cells; −inf where they are no candidates."""
    place, found = Cells.of(scores).find(Cells.of(labels.positive))
    values = np.full(labels.positive.nnz, -np.inf)
    values[found] = scores.data[place[found]]
    return values


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


def _highest(scores: Any) -> Scores:
    """Return the highest finite score of each label; +inf where they are all equal, or none is."""
    if sparse.issparse(scores):
        highest, lowest = np.full(scores.shape[1], -np.inf), np.full(scores.shape[1], np.inf)
        finite = np.isfinite(scores.data)
        np.maximum.at(highest, scores.indices[finite], scores.data[finite])
        np.minimum.at(lowest, scores.indices[finite], scores.data[finite])
        return np.where(highest > lowest, highest, np.inf)
    finite = np.isfinite(scores)
    highest = np.max(scores, axis=0, where=finite, initial=-np.inf)
    lowest = np.min(scores, axis=0, where=finite, initial=np.inf)
    return np.where(highest > lowest, highest, np.inf)


class PCut(ThresholdRule):
    """Give label j to its k_j best documents of the batch; of equal ones the first (Yang 2001).

    Parameters
    ----------
    x : float, optional
        ``None``: k_j = round(prior_j · n) for a batch of n documents, the share the label has in
        training. A number above 0: Yang's k_j = round(prior_j · x · p) with p labels; the size of
        the batch does not enter, x · p stands in its place, and x = n / p is the default. k_j is at
        most n; a half is rounded to the even number. A label of which nothing is known is not
        given.

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

    def __init__(self, x: float | None = None) -> None:
        self.x = x

    def _check_parameters(self) -> None:
        if self.x is not None and (not is_number(self.x) or not 0 < self.x < np.inf):
            raise ValueError(
                f"x must be a number above 0, or None (frequencies as in training), got {self.x!r}."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        self.prior_ = known_frequency(labels)

    def _decide(self, scores: Scores) -> Decisions:
        n_documents, n_labels = scores.shape
        expected = n_documents if self.x is None else float(self.x) * n_labels
        return top_of_rows(np.ascontiguousarray(scores.T), self._counts(expected, n_documents)).T

    def _counts(self, expected: float, n_documents: int) -> NDArray[np.int64]:
        return np.rint(np.minimum(self.prior_ * expected, n_documents)).astype(np.int64)

    def _decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        n_documents, n_labels = cells.shape
        expected = n_documents if self.x is None else float(self.x) * n_labels
        order = np.lexsort((cells.document, -scores, cells.label))
        starts = np.searchsorted(cells.label[order], np.arange(n_labels))
        rank = np.arange(cells.n) - starts[cells.label[order]]
        decided = np.zeros(cells.n, dtype=np.bool_)
        decided[order] = rank < self._counts(expected, n_documents)[cells.label[order]]
        return decided
