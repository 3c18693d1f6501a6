"""Rules by document: the best labels, the largest gap, expected F1, limits; a table of limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import roots_legendre
from sklearn.base import clone

from labelkin.evaluation.metrics.decisions import DecisionCounts, count_decisions, sum_label_sets
from labelkin.evaluation.metrics.inputs import DocumentSums, Truth
from labelkin.label_matrix import (
    Cells,
    LabelMatrix,
    Scale,
    read_labels,
    read_scores,
)
from labelkin.label_matrix.cells import top_of_rows
from labelkin.records import short_repr
from labelkin.thresholds.rule import (
    FixedCut,
    ThresholdRule,
    as_probabilities,
    halfway,
    known_frequency,
)
from labelkin.validation import check_choice, check_whole_number

_Scores = NDArray[np.float64]
_Decisions = NDArray[np.bool_]

#: Gaps, or expected F1, that differ by less than this share are equal: 0.7 − 0.4 and 0.4 − 0.1.
_ROUNDING = 1e-12


class RCut(ThresholdRule):
    """Decide the t best labels of each document; of equal ones the first columns (Yang 2001).

    Parameters
    ----------
    t : int, optional
        At least 1; at most all labels. ``None``: the mean number of labels of a training document,
        rounded, at least 1 (a half goes to the even number; with unknown cells the sum of the
        labels' frequencies among the known ones).

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
        if self.t is not None:
            check_whole_number("t", self.t, hint="None: learned.")

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        mean_size = known_frequency(labels).sum()
        self.t_ = max(1, round(mean_size)) if self.t is None else int(self.t)

    def _decide(self, scores: _Scores) -> _Decisions:
        return top_of_rows(scores, self.t_)


class _ByProbabilities(ThresholdRule):
    """Rules that learn nothing and use only the probabilities of each document."""

    needs_scores: ClassVar[bool] = False

    def __init__(self, scale: Scale = "probability") -> None:
        self.scale = scale

    def _check_parameters(self) -> None:
        check_choice("scale", self.scale, Scale)

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        """Learn nothing."""


class MCut(_ByProbabilities):  # numpydoc ignore=PR02
    """Cut each document in the largest gap between its sorted probabilities (Largeron et al. 2012).

    Of equally large gaps the highest is used. A document without a gap (one open label, or all
    equally probable) is cut at 0.5, strictly. Accepted and rejected labels are ignored.

    Parameters
    ----------
    scale : "probability" or "log_odds", default "probability"
        Scale of the scores; the gap is measured in probabilities in either case.

    Examples
    --------
    >>> rule = MCut().fit(None, [["tea"], ["sugar", "tea"], ["milk", "tea"]])
    >>> rule.decide([[0.1, 0.3, 0.4], [0.8, 0.2, 0.9]]).astype(int)
    array([[0, 1, 1],
           [1, 0, 1]])
    """

    def _decide(self, scores: _Scores) -> _Decisions:
        probability = as_probabilities(scores, self.scale)
        probability[np.isinf(scores)] = np.nan
        return probability >= _cut_in_largest_gap(probability)[:, None]


def _cut_in_largest_gap(probability: _Scores) -> _Scores:
    """Return the cut of each row, ``(n_documents,)``; NaN cells are ignored."""
    # A probability is at or above the next float after 0.5 when it is above 0.5.
    cut = np.full(len(probability), np.nextafter(0.5, 1.0))
    if probability.shape[1] < 2:
        return cut
    falling = -np.sort(-probability, axis=1)  # NaN stays last
    gaps = np.nan_to_num(falling[:, :-1] - falling[:, 1:])
    largest = gaps.max(axis=1, keepdims=True)
    place = np.argmax(gaps >= largest * (1 - _ROUNDING), axis=1)
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
# nodes is exact, and no numbers are subtracted. Two bounds save work without changing the result:
#
# - F(k) lies between 2 c_k / (k + 1 + μ) (Jensen) and 2 c_k / (k + 1), where c_k = p_1 + … + p_k
#   and μ = E[S]; sizes whose upper bound is below the best lower bound are skipped.
# - A rule of m nodes is exact for the terms with S ≤ 2m − k, and never too high for the others.
#   These make up at most the share P(S ≥ 2m − k) of F(k), which by Bernstein's inequality is below
#   1e-14 for 2m − k ≥ μ + t, t = L/3 + √(L²/9 + 2Lμ), L = log(1e14).

_LIMITS = tuple(range(1, 16))
_THRESHOLDS = tuple(round(0.05 * k, 2) for k in range(20))
#: The share of an expected F1 that integration may miss.
_MISSED = 1e-14
#: Numbers per working array: documents of a block × nodes.
_BLOCK = 1 << 16


class ExpectedF1(_ByProbabilities):  # numpydoc ignore=PR02
    """Decide the label set with the highest expected F1 of each document.

    Labels are treated as independent. Of equally good sets (to a share of 1e-12) the smallest is
    taken. F1 of an empty set is 0, also if the truth is empty, so that each document gets a label
    unless all its probabilities are 0.

    Parameters
    ----------
    scale : "probability" or "log_odds", default "probability"
        Scale of the scores.

    Examples
    --------
    Three labels of 0.4 each: no label is likely, but all three are better than one or none.

    >>> rule = ExpectedF1().fit(None, [["tea"], ["sugar", "tea"], ["milk", "tea"]])
    >>> rule.decide([[0.4, 0.4, 0.4], [0.9, 0.2, 0.1]]).astype(int)
    array([[1, 1, 1],
           [1, 0, 0]])
    """

    def _decide(self, scores: _Scores) -> _Decisions:
        probability = as_probabilities(scores, self.scale)
        return top_of_rows(scores, best_sizes(-np.sort(-probability, axis=1)))


def best_sizes(falling: _Scores) -> NDArray[np.int64]:
    """Return the number of decided labels of each document, ``(n_documents,)``.

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
        for block in np.array_split(documents, -(-len(documents) * int(count) // _BLOCK)):
            f1 = expected_f1(falling[block], largest[block].max(), int(count))
            good_enough = f1 >= f1.max(axis=1, keepdims=True) * (1 - _ROUNDING)
            sizes[block] = 1 + np.argmax(good_enough, axis=1)
    return sizes


def expected_f1(falling: _Scores, largest: int, n_nodes: int) -> _Scores:
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


def largest_sizes(falling: _Scores) -> NDArray[np.int64]:
    """Return the largest size within the bounds; 0 if all probabilities are 0."""
    size = np.arange(1, falling.shape[1] + 1)
    sure = falling.cumsum(axis=1)
    mean_number = falling.sum(axis=1, keepdims=True)
    reached = (sure / (size + 1 + mean_number)).max(axis=1, keepdims=True, initial=0.0)
    is_open = (sure / (size + 1) >= reached * (1 - _ROUNDING)) & (sure > 0)
    return np.max(np.where(is_open, size, 0), axis=1, initial=0)


def node_counts(falling: _Scores, largest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a sufficient number of nodes for each document, in steps of 4."""
    n_labels = falling.shape[1]
    mean_number, log_share = falling.sum(axis=1), -np.log(_MISSED)
    excess = log_share / 3 + np.sqrt(log_share**2 / 9 + 2 * log_share * mean_number)
    most = np.minimum(n_labels, np.ceil(mean_number + excess))
    exact = -(-(largest + most) // 2)
    return (4 * np.ceil(exact / 4)).astype(np.int64)


@lru_cache(maxsize=64)
def _nodes(count: int) -> tuple[_Scores, _Scores]:
    """Return the nodes and weights of Gauss–Legendre integration on [0, 1]."""
    node, weight = roots_legendre(count)
    return (node + 1) / 2, weight / 2


class LabelLimits(ThresholdRule):
    """Keep the number of labels of each document within limits.

    A document with too few labels gets its next best ones, but never rejected ones (−inf); one with
    too many keeps its best, and all accepted ones (+inf), even if they are too many. Of equal
    scores the lowest columns come first. ``at_least=1`` leaves no document empty.

    Parameters
    ----------
    rule : ThresholdRule, optional
        The rule that decides first; ``None``: ``FixedCut()``, for probabilities. Log-odds need a
        rule for them, such as ``FixedCut(scale="log_odds")``.
    at_least : int or "auto", default 0
        Minimum number of labels of a document, 0 or more; ``"auto"``: 1 if every training document
        has a label, else 0.
    at_most : int, optional
        Maximum number, not below ``at_least``; ``None``: any number.

    Attributes
    ----------
    rule_ : ThresholdRule
        The fitted rule.
    at_least_ : int
        Minimum number of labels of a document.

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
        """As of the rule inside."""
        return self._inner().needs_scores

    @property
    def needs_batch(self) -> bool:  # type: ignore[override]
        """As of the rule inside."""
        return self._inner().needs_batch

    def _check_parameters(self) -> None:
        if not isinstance(self._inner(), ThresholdRule):
            raise TypeError(
                f"rule must be a threshold rule or None, got {self.rule!r}. Use rule_for(...)."
            )
        least = 1 if self.at_least == "auto" else self.at_least
        check_whole_number("at_least", least, 0, "'auto': 1 if all training documents have labels.")
        if self.at_most is not None:
            hint = f"at_least is {self.at_least!r}. None: any number."
            check_whole_number("at_most", self.at_most, int(least), hint)

    def _inner(self) -> ThresholdRule:
        return FixedCut() if self.rule is None else self.rule

    def _learn(self, scores: _Scores | None, labels: LabelMatrix) -> _Scores:
        self.rule_ = clone(self._inner()).fit(scores, labels)
        has_label = np.diff(labels.positive.indptr) > 0
        self.at_least_ = int(has_label.all()) if self.at_least == "auto" else int(self.at_least)
        return self.rule_.cut_

    def _decide(self, scores: _Scores) -> _Decisions:
        return self._limited(self.rule_.decide(scores), scores)

    def _decide_cells(self, cells: Cells, scores: _Scores) -> _Decisions:
        given, _ = cells.side_by_side(self.rule_.decide_cells(cells, scores), False)
        rows, places = cells.side_by_side(scores, -np.inf)
        return self._limited(given, rows)[places]

    def _limited(self, decided: _Decisions, scores: _Scores) -> _Decisions:
        missing = self.at_least_ - decided.sum(axis=1)
        decided |= top_of_rows(np.where(decided, -np.inf, scores), missing)
        if self.at_most is None:
            return decided
        return decided & top_of_rows(np.where(decided, scores, -np.inf), int(self.at_most))


@short_repr
class BestLimit(NamedTuple):
    """The best limit and threshold of a table by a metric.

    Attributes
    ----------
    limit
        Maximum number of labels.
    threshold
        Minimum probability.
    score
        The score of the two.

    Examples
    --------
    >>> from labelkin.thresholds import limit_table
    >>> table = limit_table([["tea"], ["sugar", "tea"]], [[0.2, 0.9], [0.6, 0.7]])
    >>> best = table.best("micro_f1")
    >>> best.limit, best.threshold, best.score
    (2, 0.6, 1.0)
    """

    limit: int
    threshold: float
    score: float


@dataclass(frozen=True, eq=False, repr=False)
class LimitTable:
    """Scores of every limit with every threshold; tables of different documents add up.

    A document is given its ``limit`` most probable labels, of those with at least the probability
    ``threshold``. :func:`limit_table` computes it.

    Attributes
    ----------
    limits, thresholds : tuples of numbers
        Columns and rows.
    n_documents : int
        Number of evaluated documents.
    sums : dict
        (threshold, limit) → counts by label, sums over documents, documents without labels.

    Examples
    --------
    >>> from labelkin.thresholds import limit_table
    >>> Y, p = [["tea"], ["sugar", "tea"]], [[0.2, 0.9], [0.6, 0.7]]
    >>> table = limit_table(Y, p, limits=(1, 2), thresholds=(0.1, 0.5))
    >>> table.scores("micro_f1").round(2)
    array([[0.8 , 0.86],
           [0.8 , 1.  ]])
    >>> (table + table).n_documents
    4
    """

    limits: tuple[int, ...]
    thresholds: tuple[float, ...]
    n_documents: int
    sums: dict[tuple[float, int], tuple[DecisionCounts, DocumentSums, int]]

    METRICS: ClassVar[tuple[str, ...]] = (
        *("micro_f1", "macro_f1", "document_f1"),
        *("document_precision", "document_recall"),
    )

    def __add__(self, other: LimitTable) -> LimitTable:
        """Return the table of the documents of both."""
        if not isinstance(other, LimitTable):
            return NotImplemented
        sums = {}
        for place, (counts, documents, empty) in self.sums.items():
            theirs = other.sums[place]
            sums[place] = counts + theirs[0], documents + theirs[1], empty + theirs[2]
        return replace(self, n_documents=self.n_documents + other.n_documents, sums=sums)

    def __repr__(self) -> str:
        return f"<LimitTable of {self.n_documents} documents>"

    def scores(self, metric: str) -> _Scores:
        """Return the scores by a metric, ``(n_thresholds, n_limits)``; 0/0 is 0.

        ``"micro_f1"``, ``"macro_f1"``; ``"document_f1"``, ``"document_precision"`` and
        ``"document_recall"`` are averaged over documents.
        """
        check_choice("metric", metric, self.METRICS)
        average, name = cast("Any", metric.split("_"))
        scores = [
            documents.scores()[metric] if average == "document" else counts.average(name, average)
            for counts, documents, _ in self.sums.values()
        ]
        return np.reshape(scores, (len(self.thresholds), len(self.limits)))

    @property
    def empty(self) -> NDArray[np.int64]:
        """Numbers of documents without decided labels, ``(n_thresholds, n_limits)``."""
        shape = len(self.thresholds), len(self.limits)
        return np.reshape([empty for *_, empty in self.sums.values()], shape)

    def best(self, metric: str) -> BestLimit:
        """Return the best limit and threshold; of equal ones that with the fewest labels."""
        scores = dict(zip(self.sums, self.scores(metric).ravel().tolist(), strict=True))
        threshold, limit = min(self.sums, key=lambda at: (-round(scores[at], 12), at[1], -at[0]))
        return BestLimit(limit, threshold, scores[threshold, limit])


def limit_table(
    Y: Any,
    probabilities: ArrayLike,
    *,
    limits: Sequence[int] = _LIMITS,
    thresholds: Sequence[float] = _THRESHOLDS,
) -> LimitTable:
    """Evaluate every limit with every threshold, as Annif's ``optimize`` does.

    Parameters
    ----------
    Y : any kind of labels
        The true labels; no unknown cells.
    probabilities : array of shape (n_documents, n_labels)
        Probabilities of all labels.
    limits : sequence of int, default 1, 2, …, 15
        Maximum numbers of labels of a document.
    thresholds : sequence of float, default 0, 0.05, …, 0.95
        Minimum probabilities of a label.

    Returns
    -------
    LimitTable

    Examples
    --------
    >>> table = limit_table([["tea"], ["sugar", "tea"]], [[0.2, 0.9], [0.6, 0.7]])
    >>> table.best("micro_f1")
    BestLimit(limit=2, threshold=0.6, score=1.0)
    """
    labels = read_labels(Y)
    if labels.unknown is not None:
        raise ValueError("Y must not have unknown cells (NaN) in a table of limits. Complete it.")
    values = read_scores(probabilities, labels.names, n_documents=labels.shape[0])
    truth, sums = Truth.of(labels), {}
    within = [top_of_rows(values, limit) for limit in limits]
    for threshold in map(float, thresholds):
        for limit, first in zip(map(int, limits), within, strict=True):
            decided = sparse.csr_array(first & (values >= threshold), dtype=np.float64)
            sums[threshold, limit] = (
                count_decisions(truth, decided),
                sum_label_sets(truth, decided),
                int((np.diff(decided.indptr) == 0).sum()),
            )
    given = tuple(map(int, limits)), tuple(map(float, thresholds))
    return LimitTable(*given, labels.shape[0], sums)
