"""One number from true label sets and log-odds as rankings; views of the sums ``evaluate`` adds up.

In all of them ``Y`` is anything :func:`labelkin.label_matrix.read_labels` takes (unknown cells are
an error: a ranking of half-known labels has no score), ``log_odds`` are dense, ``(n_documents,
n_labels)``, and ``sample_weight`` ``(n_documents,)`` counts a document of weight 2 like one given
twice. Log-odds and not probabilities, because probabilities tie at the top. Without documents or
labels every score is NaN.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from labelkin.metrics.ranking_sums import RankingSums, sum_rankings
from labelkin.metrics.reading import judge, read_ks, read_propensity


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
