"""Labels ranked by log-odds: how high do the relevant ones stand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.metrics.judged import (
    Block,
    Floats,
    Sums,
    judge,
    ratio,
    read_ks,
    read_propensity,
    weighted_sum,
)


@dataclass(frozen=True, eq=False)
class RankingSums(Sums):
    """Weighted sums over documents of what their rankings score.

    All but ``n_documents`` are NaN where a label set is not wholly known, or there are no labels.
    The functions of :mod:`labelkin.metrics.rankings` define every score.

    Attributes
    ----------
    n_documents
        Sum of the weights.
    one_error, coverage, ranking_loss, average_precision
        One number per document, added up.
    precision_at, recall_at, ndcg_at
        The same for every k, ``(n_ks,)``.
    gain_at, best_gain_at
        Sums of 1/propensity over the relevant labels among the first k, and the most that any
        ranking could have had, ``(n_ks,)``; NaN without propensities.
    """

    n_documents: float
    one_error: float
    coverage: float
    ranking_loss: float
    average_precision: float
    precision_at: Floats
    recall_at: Floats
    ndcg_at: Floats
    gain_at: Floats
    best_gain_at: Floats

    def mean(self, name: str) -> float:
        """Return the mean over documents of a scalar field; without documents NaN."""
        return float(ratio(getattr(self, name), self.n_documents, nothing=np.nan))

    def mean_at(self, name: str) -> Floats:
        """Return the mean over documents of a field for every k; without documents NaN."""
        means: Floats = ratio(getattr(self, name), self.n_documents, nothing=np.nan)
        return means

    @property
    def propensity_scored_precision(self) -> Floats:
        """Gain over the best possible gain, for every k; 0 when no document has a label."""
        nothing = 0.0 if self.n_documents else np.nan
        scores: Floats = ratio(self.gain_at, self.best_gain_at, nothing=nothing)
        return scores

    def scores(self, ks: tuple[int, ...], *, has_propensity: bool) -> dict[str, float]:
        """Return all scores by name, those at k as ``"precision@5"``."""
        scores = {name: self.mean(name) for name in ("one_error", "coverage", "ranking_loss")}
        scores["label_ranking_average_precision"] = self.mean("average_precision")
        at = {metric: self.mean_at(f"{metric}_at") for metric in ("precision", "recall", "ndcg")}
        if has_propensity:
            at["psp"] = self.propensity_scored_precision
        for metric, values in at.items():
            scores |= {f"{metric}@{k}": float(value) for k, value in zip(ks, values, strict=True)}
        return scores


def sum_rankings(
    block: Block, ks: tuple[int, ...] = (), propensity: Floats | None = None
) -> RankingSums:
    """Rank the labels of every document of a block, sorting once for all metrics."""
    n_documents, nothing = float(block.weight.sum()), np.full(len(ks), np.nan)
    if block.unknown is not None or block.positive.shape[1] == 0:
        nan = float("nan")
        return RankingSums(n_documents, nan, nan, nan, nan, *[nothing] * 5)
    ranking = _rank(block)
    gains = [nothing] * 2 if propensity is None else _gains(block, ranking, ks, 1 / propensity)
    return RankingSums(
        n_documents, *_whole_rankings(block, ranking), *_first_labels(block, ranking, ks), *gains
    )


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Labels from the highest log-odds to the lowest; ties go to the lowest column.

    ``order`` holds columns, ``relevant`` whether the document carries them, ``last`` the last place
    of each place's tie group: ``(n_documents, n_labels)`` each; ``size`` the label set's.
    """

    order: NDArray[np.intp]
    relevant: NDArray[np.bool_]
    last: NDArray[np.intp]
    size: Floats


def _rank(block: Block) -> _Ranking:
    order = np.argsort(-block.log_odds, axis=1, kind="stable")
    relevant = np.take_along_axis(block.positive.toarray() > 0, order, axis=1)
    last = _last_of_ties(np.take_along_axis(block.log_odds, order, axis=1))
    return _Ranking(order, relevant, last, block.positive.sum(axis=1))


def _last_of_ties(descending: Floats) -> NDArray[np.intp]:
    """For every place the last place with the same value, row by row."""
    n_labels = descending.shape[1]
    last = np.tile(np.arange(n_labels), (len(descending), 1))
    goes_on = descending[:, :-1] == descending[:, 1:]
    if goes_on.any():
        last[:, :-1][goes_on] = n_labels
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    return last


def _whole_rankings(block: Block, ranking: _Ranking) -> tuple[float, float, float, float]:
    """One-error, coverage, ranking loss and average precision, added up.

    Within a tie every label has the tie's last rank, as in scikit-learn.
    """
    weight, size = block.weight, ranking.size
    n_documents, n_labels = ranking.relevant.shape
    document, place = np.nonzero(ranking.relevant)
    last = ranking.last[document, place]
    rank = last + 1.0
    not_below = np.cumsum(ranking.relevant, axis=1)[document, last]
    coverage = np.zeros(n_documents)
    np.maximum.at(coverage, document, rank)
    wrong_pairs = np.bincount(document, rank - not_below, n_documents)
    precision = np.bincount(document, not_below / rank, n_documents)
    has_pairs = (size > 0) & (size < n_labels)
    return (
        float(weight[~ranking.relevant[:, 0]].sum()),
        float(weighted_sum(weight, coverage)),
        float(weighted_sum(weight, ratio(wrong_pairs, size * (n_labels - size)))),
        float(weighted_sum(weight, np.where(has_pairs, ratio(precision, size), 1.0))),
    )


def _first_labels(
    block: Block, ranking: _Ranking, ks: tuple[int, ...]
) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and nDCG at every k, added up."""
    weight, size = block.weight, ranking.size
    most = max(ks, default=0)
    discount = 1 / np.log2(np.arange(2, most + 2))
    best = np.concatenate([[0.0], np.cumsum(discount)])
    first = ranking.relevant[:, :most]
    hits = _running_sum(first, ks)
    dcg = _running_sum(first * discount[: first.shape[1]], ks)
    k = np.array(ks, dtype=np.intp)
    ideal = best[np.minimum(size[:, None].astype(np.intp), k)]
    return (
        weighted_sum(weight, hits / k),
        weighted_sum(weight, ratio(hits, size[:, None])),
        weighted_sum(weight, ratio(dcg, ideal)),
    )


def _gains(
    block: Block, ranking: _Ranking, ks: tuple[int, ...], gain: Floats
) -> tuple[Floats, Floats]:
    """Gains of the relevant labels among the first k, and of the best k relevant ones, added up."""
    most = max(ks, default=0)
    reached = _running_sum(ranking.relevant[:, :most] * gain[ranking.order[:, :most]], ks)
    best = _best_gains(block.positive, block.weight, ks, gain)
    return weighted_sum(block.weight, reached), best


def _best_gains(
    positive: sparse.csr_array, weight: Floats, ks: tuple[int, ...], gain: Floats
) -> Floats:
    start = positive.indptr[:-1]
    document = np.repeat(np.arange(len(start)), np.diff(positive.indptr))
    descending = np.lexsort((-gain[positive.indices], document))
    place = np.arange(len(document)) - start[document]
    weighted = gain[positive.indices][descending] * weight[document]
    return np.array([weighted[place < k].sum() for k in ks])


def _running_sum(values: NDArray[np.generic], ks: tuple[int, ...]) -> Floats:
    """Sum of the first k columns (of all, if fewer) for every k, ``(n_documents, n_ks)``."""
    padded = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=padded[:, 1:])
    return padded[:, np.minimum(ks, values.shape[1])] if ks else padded[:, :0]


def propensities(
    label_counts: ArrayLike, n_documents: int, *, a: float = 0.55, b: float = 1.5
) -> Floats:
    """Return the propensity of every label, ``(n_labels,)``, from the training documents.

    Jain, Prabhu & Varma (2016): 1/p_l = 1 + C (N_l + b)^−a with C = (log n − 1)(b + 1)^a. With
    fewer than e documents C would be negative; it is 0 then, and every propensity 1.

    Parameters
    ----------
    label_counts
        N_l, the number of *training* documents that carry the label, ``(n_labels,)``.
    n_documents
        n, the number of training documents.
    a, b
        The paper's values for text; it uses 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> counts, _ = read_labels([["tea"], ["tea", "sugar"], ["tea"], ["tea"]]).counts()
    >>> propensities(counts, 4).round(3)
    array([0.721, 0.8  ])
    """
    counts = np.asarray(label_counts, dtype=np.float64)
    if counts.ndim != 1:
        raise ValueError(f"label_counts must have shape (n_labels,), got shape {counts.shape}.")
    wrong = np.flatnonzero(~((counts >= 0) & (counts <= n_documents)))
    if len(wrong):
        raise ValueError(
            f"label_counts must lie between 0 and n_documents = {n_documents}, got "
            f"{counts[wrong[0]]} at label {wrong[0]} ({len(wrong)} such labels). "
            "Both are counted on the training documents."
        )
    c = max(math.log(max(n_documents, 1)) - 1, 0) * (b + 1) ** a
    return 1 / (1 + c * (counts + b) ** -a)


def one_error(Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of documents whose top label is not relevant; lower is better.

    Ties at the top go to the lowest column. A document without relevant labels is an error.

    Examples
    --------
    >>> one_error([[1, 0], [0, 1], [0, 0]], [[2.0, 2.0], [-3.0, -1.0], [0.0, 1.0]])
    0.3333333333333333
    """
    return _sums("one_error", Y, log_odds, sample_weight).mean("one_error")


def coverage(Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return how many labels must be read from the top to meet all relevant ones, on average.

    Lower is better. As scikit-learn's ``coverage_error``: the best value is the mean size of a
    label set (others subtract 1), a tie is read to its end, and a document without relevant labels
    counts 0.

    Examples
    --------
    >>> coverage([[0, 1, 0], [1, 0, 1]], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    2.5
    """
    return _sums("coverage", Y, log_odds, sample_weight).mean("coverage")


def ranking_loss(Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of (relevant, irrelevant) pairs in the wrong order, averaged over documents.

    Lower is better. As scikit-learn's ``label_ranking_loss``: a tie is wrong, and 0/0 (no or all
    labels relevant: there are no pairs) is 0.

    Examples
    --------
    >>> ranking_loss([[0, 1, 0]], [[3.0, 2.0, 1.0]])
    0.5
    """
    return _sums("ranking_loss", Y, log_odds, sample_weight).mean("ranking_loss")


def label_ranking_average_precision(
    Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of relevant labels among those ranked as high as each relevant label.

    Averaged over a document's relevant labels, then over documents; higher is better. As
    scikit-learn's ``label_ranking_average_precision_score``: within a tie every label has the last
    rank, and 0/0 (no label relevant; likewise all) is 1.

    Examples
    --------
    >>> label_ranking_average_precision([[0, 1, 0]], [[3.0, 2.0, 1.0]])
    0.5
    """
    sums = _sums("label_ranking_average_precision", Y, log_odds, sample_weight)
    return sums.mean("average_precision")


def precision_at_k(
    Y: Any, log_odds: ArrayLike, k: int, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of relevant labels among the first k, averaged over documents.

    Higher is better. Divided by k even when there are fewer than k labels, so there is no 0/0. Ties
    go to the lowest column.

    Examples
    --------
    >>> precision_at_k([[0, 1, 0]], [[3.0, 2.0, 1.0]], 2)
    0.5
    """
    sums = _sums("precision_at_k", Y, log_odds, sample_weight, k)
    return float(sums.mean_at("precision_at")[0])


def recall_at_k(
    Y: Any, log_odds: ArrayLike, k: int, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of the relevant labels that are among the first k, averaged over documents.

    Higher is better. 0/0 (a document without relevant labels) is 0. Ties go to the lowest column.
    """
    sums = _sums("recall_at_k", Y, log_odds, sample_weight, k)
    return float(sums.mean_at("recall_at")[0])


def ndcg_at_k(
    Y: Any, log_odds: ArrayLike, k: int, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the discounted gain of the first k labels over the best possible, averaged.

    A relevant label at rank r gains 1/log₂(r + 1); higher is better. 0/0 (a document without
    relevant labels) is 0. Ties go to the lowest column, while scikit-learn's ``ndcg_score``
    averages over them; without ties the two agree.
    """
    sums = _sums("ndcg_at_k", Y, log_odds, sample_weight, k)
    return float(sums.mean_at("ndcg_at")[0])


def propensity_scored_precision_at_k(
    Y: Any,
    log_odds: ArrayLike,
    k: int,
    propensity: ArrayLike,
    *,
    normalised: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return precision at k in which a relevant label counts 1/propensity: rare labels count more.

    Jain, Prabhu & Varma (2016). Higher is better. Ties go to the lowest column.

    Parameters
    ----------
    Y, log_odds, sample_weight
        See the module.
    k
        How many labels are read from the top.
    propensity
        Of the labels, ``(n_labels,)``, in (0, 1], from training counts: see :func:`propensities`.
    normalised
        Divide the sum over documents by that of the best possible rankings, as the paper's tables
        and the extreme classification repository do; 0/0 (no document has a label) is 0. Otherwise
        divide by k and the number of documents.

    Examples
    --------
    >>> propensity_scored_precision_at_k([[1, 1]], [[2.0, 1.0]], 1, [1.0, 0.5])
    0.5
    """
    judged = judge(Y, log_odds=log_odds, sample_weight=sample_weight)
    gains = read_propensity(propensity, judged.truth.shape[1])
    judged.refuse_unknown("propensity_scored_precision_at_k")
    sums = judged.add_up(lambda block: sum_rankings(block, read_ks([k]), gains))
    if normalised:
        return float(sums.propensity_scored_precision[0])
    return float(sums.mean_at("gain_at")[0]) / k


def _sums(
    name: str, Y: Any, log_odds: ArrayLike, sample_weight: ArrayLike | None, *ks: int
) -> RankingSums:
    judged = judge(Y, log_odds=log_odds, sample_weight=sample_weight).refuse_unknown(name)
    chosen = read_ks(ks)
    return judged.add_up(lambda block: sum_rankings(block, chosen))
