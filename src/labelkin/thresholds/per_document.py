"""Rules that look at one document at a time: the t best labels, the largest gap."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre
from sklearn.base import clone

from labelkin.label_matrix import Cells, LabelMatrix, Scale, check_scale
from labelkin.thresholds.cuts import FixedCut
from labelkin.thresholds.rule import (
    Decisions,
    Scores,
    ThresholdRule,
    as_probabilities,
    halfway,
    is_whole,
    known_frequency,
    top_of_rows,
)

#: Gaps that differ by less than this share are equally large: 0.7 − 0.4 and 0.4 − 0.1.
EQUAL_GAPS = 1e-12


class RCut(ThresholdRule):
    """Give each document its t best labels; of equally good ones the first columns (Yang 2001).

    Parameters
    ----------
    t : int, optional
        How many, at least 1; more than there are labels: all. ``None`` learns it: the mean number
        of labels of a document, rounded, at least 1 (a half goes to the even number; with unknown
        cells the sum of the labels' frequencies among the known ones).

    Attributes
    ----------
    t_ : int

    Examples
    --------
    >>> rule = RCut().fit(None, [["tea"], ["sugar", "tea"], ["milk", "tea"]])
    >>> rule.t_, rule.decide([[0.1, 0.7, 0.7]]).tolist()
    (2, [[False, True, True]])
    """

    needs_scores: ClassVar[bool] = False

    def __init__(self, t: int | None = None) -> None:
        self.t = t

    def _check_parameters(self) -> None:
        if self.t is not None and (not is_whole(self.t) or self.t < 1):
            raise ValueError(
                f"t must be a whole number of at least 1, or None (learned), got {self.t!r}."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        mean_size = known_frequency(labels).sum()
        self.t_ = max(1, round(mean_size)) if self.t is None else int(self.t)

    def _decide(self, scores: Scores) -> Decisions:
        return top_of_rows(scores, self.t_)


class _ByProbabilities(ThresholdRule):
    """Rules that learn nothing: the probabilities of each document say it all."""

    needs_scores: ClassVar[bool] = False

    def __init__(self, scale: Scale = "probability") -> None:
        self.scale = scale

    def _check_parameters(self) -> None:
        check_scale(self.scale)

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        """Learn nothing."""

    @abstractmethod
    def _decide(self, scores: Scores) -> Decisions:
        """Decide each document for itself: there are no cuts of labels."""


class MCut(_ByProbabilities):
    """Cut each document in the largest gap between its sorted probabilities (Largeron et al. 2012).

    Of equally large gaps the highest counts. A document without a gap (one open label, or all
    equally probable) is cut at 0.5, strictly. Accepted and rejected labels take no part.

    Parameters
    ----------
    scale : "probability" or "log_odds", default "probability"
        What the scores are: ``"probability"`` or ``"log_odds"``; the gap is measured in
        probabilities in either case.

    Examples
    --------
    >>> rule = MCut().fit(None, [["tea"], ["sugar", "tea"], ["milk", "tea"]])
    >>> rule.decide([[0.1, 0.3, 0.4], [0.8, 0.2, 0.9]]).astype(int)
    array([[0, 1, 1],
           [1, 0, 1]])
    """

    def _decide(self, scores: Scores) -> Decisions:
        probability = as_probabilities(scores, self.scale)
        probability[np.isinf(scores)] = np.nan
        return probability >= _cut_in_largest_gap(probability)[:, None]


def _cut_in_largest_gap(probability: Scores) -> Scores:
    """Return the cut of each row, ``(n_documents,)``; NaN cells take no part."""
    # A probability is at or above the next float after 0.5 when it is above 0.5.
    cut = np.full(len(probability), np.nextafter(0.5, 1.0))
    if probability.shape[1] < 2:
        return cut
    falling = -np.sort(-probability, axis=1)  # NaN stays last
    gaps = np.nan_to_num(falling[:, :-1] - falling[:, 1:])
    largest = gaps.max(axis=1, keepdims=True)
    place = np.argmax(gaps >= largest * (1 - EQUAL_GAPS), axis=1)
    row = np.flatnonzero(largest[:, 0] > 0)
    cut[row] = halfway(falling[row, place[row] + 1], falling[row, place[row]])
    return cut


# The label set with the highest expected F1, document by document.
#
# With independent labels of probability p_1 ≥ p_2 ≥ … the best set of k labels is the first k. With
# S the number of true labels and T those among the first k, its expected F1 is E[2T / (k + S)].
# From 1/(k + S) = ∫₀¹ u^(k+S−1) du it follows that
#
#     F(k) = 2 ∫₀¹ u^k · ∏_j (1 − p_j + p_j u) · Σ_{j≤k} p_j / (1 − p_j + p_j u) du,
#
# a polynomial of degree at most k + p − 1 under the integral, so a Gauss–Legendre rule of (k + p)/2
# nodes is exact, and nothing is ever subtracted. Two bounds save work and leave the answer:
#
# - F(k) lies between 2 c_k / (k + 1 + μ) (Jensen) and 2 c_k / (k + 1), where c_k = p_1 + … + p_k
#   and μ = E[S]; sizes whose upper bound is below the best lower bound are not looked at.
# - A rule of m nodes is exact for the terms with S ≤ 2m − k, and never too high for the others.
#   These make up at most the share P(S ≥ 2m − k) of F(k), which by Bernstein's inequality is below
#   1e-14 for 2m − k ≥ μ + t, t = L/3 + √(L²/9 + 2Lμ), L = log(1e14).

#: Expected F1 that differ by less than this share are equal, and the smaller set is taken.
EQUAL = 1e-12
#: The share of an expected F1 that integration may miss.
MISSED = 1e-14
#: Numbers per working array: documents of a block × nodes.
BLOCK = 1 << 16


class ExpectedF1(_ByProbabilities):
    """Give each document the label set with the highest expected F1.

    Labels are taken as independent, with the probabilities that the scores say. Of equally good
    sets (to a share of 1e-12) the smallest is taken. F1 of an empty set is 0, also where the truth
    is empty, so a document gets a label unless all its probabilities are 0.

    Parameters
    ----------
    scale : "probability" or "log_odds", default "probability"
        What the scores are: ``"probability"`` or ``"log_odds"``.

    Examples
    --------
    Three labels of 0.4 each: none is likely, but giving all is better than giving one or none.

    >>> rule = ExpectedF1().fit(None, [["tea"], ["sugar", "tea"], ["milk", "tea"]])
    >>> rule.decide([[0.4, 0.4, 0.4], [0.9, 0.2, 0.1]]).astype(int)
    array([[1, 1, 1],
           [1, 0, 0]])
    """

    def _decide(self, scores: Scores) -> Decisions:
        probability = as_probabilities(scores, self.scale)
        return top_of_rows(scores, best_sizes(-np.sort(-probability, axis=1)))


def best_sizes(falling: Scores) -> NDArray[np.int64]:
    """Return how many of its labels each document gets, ``(n_documents,)``.

    Parameters
    ----------
    falling
        Probabilities, ``(n_documents, n_labels)``, each row from the highest to the lowest.

    Examples
    --------
    >>> best_sizes(np.array([[0.9, 0.6, 0.1], [0.0, 0.0, 0.0]])).tolist()
    [2, 0]
    """
    sizes = np.zeros(len(falling), dtype=np.int64)
    largest = largest_sizes(falling)
    n_nodes = node_counts(falling, largest)
    for count in np.unique(n_nodes[largest > 0]):
        documents = np.flatnonzero((n_nodes == count) & (largest > 0))
        for block in np.array_split(documents, -(-len(documents) * int(count) // BLOCK)):
            f1 = expected_f1(falling[block], largest[block].max(), int(count))
            good_enough = f1 >= f1.max(axis=1, keepdims=True) * (1 - EQUAL)
            sizes[block] = 1 + np.argmax(good_enough, axis=1)
    return sizes


def expected_f1(falling: Scores, largest: int, n_nodes: int) -> Scores:
    """Return the expected F1 of the first 1, 2, … ``largest`` labels, ``(n_documents, largest)``.

    Parameters
    ----------
    falling
        Probabilities as in :func:`best_sizes`.
    n_nodes
        Of the integration; (largest + n_labels) / 2, rounded up, is exact.
    """
    u, weight = _nodes(n_nodes)
    labels = np.ascontiguousarray(falling.T)
    integrand = np.tile(2 * weight, (len(falling), 1))
    for p in labels:
        integrand *= 1 - p[:, None] * (1 - u)
    hits = np.zeros_like(integrand)
    f1 = np.empty((len(falling), largest))
    for k, p in enumerate(labels[:largest]):
        hits += p[:, None] / (1 - p[:, None] * (1 - u))
        integrand *= u
        f1[:, k] = (integrand * hits).sum(axis=1)
    return f1


def largest_sizes(falling: Scores) -> NDArray[np.int64]:
    """Return the largest size that the bounds leave open; 0 where all probabilities are 0."""
    size = np.arange(1, falling.shape[1] + 1)
    sure = falling.cumsum(axis=1)
    mean_number = falling.sum(axis=1, keepdims=True)
    reached = (sure / (size + 1 + mean_number)).max(axis=1, keepdims=True, initial=0.0)
    is_open = (sure / (size + 1) >= reached * (1 - EQUAL)) & (sure > 0)
    return np.max(np.where(is_open, size, 0), axis=1, initial=0)


def node_counts(falling: Scores, largest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each document how many nodes are enough, in steps of 4 so that few rules occur."""
    n_labels = falling.shape[1]
    mean_number, log_share = falling.sum(axis=1), -np.log(MISSED)
    excess = log_share / 3 + np.sqrt(log_share**2 / 9 + 2 * log_share * mean_number)
    most = np.minimum(n_labels, np.ceil(mean_number + excess))
    exact = -(-(largest + most) // 2)
    return (4 * np.ceil(exact / 4)).astype(np.int64)


@lru_cache(maxsize=64)
def _nodes(count: int) -> tuple[Scores, Scores]:
    """Return the nodes and weights of Gauss–Legendre integration on [0, 1]."""
    node, weight = roots_legendre(count)
    return (node + 1) / 2, weight / 2


class LabelLimits(ThresholdRule):
    """Keep the number of labels of each document within limits.

    A document with too few gets its best-scored others, but never rejected ones (−inf); one with
    too many keeps its best-scored, and all accepted ones (+inf), be they too many. Of equal
    scores the lowest columns count as better. ``at_least=1`` leaves no document empty.

    Parameters
    ----------
    rule : ThresholdRule, optional
        The rule that decides first; ``None``: ``FixedCut()``, for probabilities. What the scores
        are is the rule's affair: log-odds need e.g. ``FixedCut(scale="log_odds")``.
    at_least : int or "auto", default 0
        How many labels a document has at least, 0 or more; ``"auto"``: 1 where every training
        document has a label, else 0.
    at_most : int, optional
        How many at most, not below ``at_least``; ``None``: any number.

    Attributes
    ----------
    rule_ : ThresholdRule
        The fitted rule.
    at_least_ : int
        How many labels a document has at least.

    Examples
    --------
    >>> rule = LabelLimits(at_least=1, at_most=2).fit(None, [["tea"], ["sugar"], ["milk", "tea"]])
    >>> rule.decide([[0.1, 0.3, 0.2], [0.9, 0.6, 0.7]]).astype(int)
    array([[0, 1, 0],
           [1, 0, 1]])
    """

    def __init__(
        self,
        rule: ThresholdRule | None = None,
        *,
        at_least: int | Literal["auto"] = 0,
        at_most: int | None = None,
    ) -> None:
        self.rule = rule
        self.at_least = at_least
        self.at_most = at_most

    @property
    def needs_scores(self) -> bool:  # type: ignore[override]
        """Whether the rule inside does."""
        return self._inner().needs_scores

    @property
    def needs_batch(self) -> bool:  # type: ignore[override]
        """Whether the rule inside does."""
        return self._inner().needs_batch

    def _check_parameters(self) -> None:
        if not isinstance(self._inner(), ThresholdRule):
            raise TypeError(
                f"rule must be a threshold rule or None, got {self.rule!r}. as_rule reads numbers "
                "and names of metrics."
            )
        least = 1 if self.at_least == "auto" else self.at_least
        if not is_whole(least) or least < 0:
            raise ValueError(
                f"at_least must be a whole number of at least 0 or 'auto', got {self.at_least!r}."
            )
        if self.at_most is None:
            return
        if not is_whole(self.at_most) or self.at_most < least:
            raise ValueError(
                f"at_most must be None or a whole number not below at_least={self.at_least!r}, got "
                f"{self.at_most!r}."
            )

    def _inner(self) -> ThresholdRule:
        return FixedCut() if self.rule is None else self.rule

    def _learn(self, scores: Scores | None, labels: LabelMatrix) -> Scores:
        self.rule_ = clone(self._inner()).fit(scores, labels)
        has_label = np.diff(labels.positive.indptr) > 0
        self.at_least_ = int(has_label.all()) if self.at_least == "auto" else int(self.at_least)
        return self.rule_.cut_

    def _decide(self, scores: Scores) -> Decisions:
        return self._limited(self.rule_.decide(scores), scores)

    def _decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        given, _ = cells.side_by_side(self.rule_.decide_cells(cells, scores), False)
        rows, places = cells.side_by_side(scores, -np.inf)
        return self._limited(given, rows)[places]

    def _limited(self, decided: Decisions, scores: Scores) -> Decisions:
        missing = self.at_least_ - decided.sum(axis=1)
        decided |= top_of_rows(np.where(decided, -np.inf, scores), missing)
        if self.at_most is None:
            return decided
        return decided & top_of_rows(np.where(decided, scores, -np.inf), int(self.at_most))
