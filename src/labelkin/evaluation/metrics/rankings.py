"""Ranking metrics: the places of the relevant labels.

In all functions ``Y`` is as :class:`labelkin.LabelDependenceClassifier` takes it (unknown cells
are an error), ``log_odds`` are ``(n_documents, n_labels)``, and a document of weight 2 in
``sample_weight`` ``(n_documents,)`` counts like two documents. Use log-odds, because probabilities
tie at the top. Without documents or labels every score is NaN.

The stored labels of sparse log-odds are candidates. All others tie below them: a relevant label
outside the candidates has the last rank of all labels and is in no first k. ``"candidate_recall"``
of an evaluation is the share of the relevant labels that are candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.evaluation.metrics.inputs import (
    DocumentScores,
    DocumentSums,
    FloatArray,
    Truth,
    Weights,
    ratio,
    read_inputs,
    read_ks,
)
from labelkin.label_matrix import Cells


def one_error(Y: Any, log_odds: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the share of documents whose top label is not relevant; lower is better.

    Ties at the top go to the lowest column. Documents without relevant labels are left out, as in
    all ranking metrics; ``evaluate(...).n_ranked`` is the number of the others.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> one_error([[1, 0], [1, 0], [0, 0]], [[2.0, 2.0], [-3.0, -1.0], [0.0, 1.0]])
    0.5
    """
    return _score("one_error", Y, log_odds, sample_weight)


def coverage(Y: Any, log_odds: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the mean rank of the lowest relevant label.

    Lower is better. As scikit-learn's ``coverage_error``: the best value is the mean size of a
    label set (others subtract 1), and a tie is read to its end. Documents without relevant labels
    are left out.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> coverage([[0, 1, 0], [1, 0, 1]], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    2.5
    """
    return _score("coverage", Y, log_odds, sample_weight)


def ranking_loss(Y: Any, log_odds: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the share of (relevant, irrelevant) pairs in the wrong order, averaged over documents.

    Lower is better. As scikit-learn's ``label_ranking_loss``: a tie is wrong, and 0/0 (all labels
    relevant: there are no pairs) is 0. Documents without relevant labels are left out.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> ranking_loss([[0, 1, 0]], [[3.0, 2.0, 1.0]])
    0.5
    """
    return _score("ranking_loss", Y, log_odds, sample_weight)


def label_ranking_average_precision(
    Y: Any, log_odds: ArrayLike, *, sample_weight: Weights = None
) -> float:
    """Return the share of relevant labels among those ranked as high as each relevant label.

    Averaged over a document's relevant labels, then over documents; higher is better. As
    scikit-learn's ``label_ranking_average_precision_score``: within a tie every label has the last
    rank. Documents without relevant labels are left out.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> label_ranking_average_precision([[0, 1, 0]], [[3.0, 2.0, 1.0]])
    0.5
    """
    return _score("label_ranking_average_precision", Y, log_odds, sample_weight)


def precision_at_k(Y: Any, log_odds: ArrayLike, k: int, *, sample_weight: Weights = None) -> float:
    """Return the share of relevant labels among the first k, averaged over documents.

    Higher is better. Divided by k even when there are fewer than k labels, so there is no 0/0. Ties
    go to the lowest column.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    k : int
        Number of labels from the top.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> precision_at_k([[0, 1, 0]], [[3.0, 2.0, 1.0]], 2)
    0.5
    """
    return _score(f"precision@{k}", Y, log_odds, sample_weight, k)


def recall_at_k(Y: Any, log_odds: ArrayLike, k: int, *, sample_weight: Weights = None) -> float:
    """Return the share of the relevant labels that are among the first k, averaged over documents.

    Higher is better. Ties go to the lowest column. Documents without relevant labels are left out.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    k : int
        Number of labels from the top.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> recall_at_k([[1, 0, 1]], [[2.0, 1.0, -1.0]], 2)
    0.5
    """
    return _score(f"recall@{k}", Y, log_odds, sample_weight, k)


def ndcg_at_k(Y: Any, log_odds: ArrayLike, k: int, *, sample_weight: Weights = None) -> float:
    """Return the discounted gain of the first k labels over the best possible, averaged.

    A relevant label at rank r gains 1/log₂(r + 1); higher is better. Documents without relevant
    labels are left out. Ties go to the lowest column, while scikit-learn's ``ndcg_score`` averages
    over them; without ties the two agree.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    k : int
        Number of labels from the top.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 1]], [[2.0, 1.0, -1.0]], 3), 3)
    0.92
    """
    return _score(f"ndcg@{k}", Y, log_odds, sample_weight, k)


def first_errors(truth: Truth, log_odds: Any) -> NDArray[np.bool_]:
    """Return whether the highest label of each document is wrong, ``(n_documents,)``.

    Of several labels with the highest log-odds the lowest column is first. A document without
    candidates is wrong.
    """
    return _first_is_wrong(_rank(truth, log_odds))


def sum_rankings(truth: Truth, log_odds: Any, ks: tuple[int, ...] = ()) -> DocumentSums:
    """Rank the labels of every labelled document, sorting once for all metrics.

    Documents without relevant labels are left out.
    """
    truth, log_odds = _labelled(truth, log_odds)
    ranking = _rank(truth, log_odds)
    values: DocumentScores = {"one_error": _first_is_wrong(ranking)}
    values |= _whole_rankings(ranking) | _first_labels(ranking, ks)
    best: DocumentScores = {}
    if sparse.issparse(log_odds):
        values["candidate_recall"] = ranking.size - ranking.missed
        best["candidate_recall"] = ranking.size
    return DocumentSums.of(truth, values, best)


def first_label_scores(truth: Truth, log_odds: Any, ks: tuple[int, ...]) -> DocumentScores:
    """Return precision, recall and nDCG at every k of every labelled document, by name."""
    return _first_labels(_rank(*_labelled(truth, log_odds)), ks)


def _labelled(truth: Truth, log_odds: Any) -> tuple[Truth, Any]:
    """Return the documents that have a relevant label, and their log-odds."""
    is_labelled = np.diff(truth.positive.indptr) > 0
    if is_labelled.all():
        return truth, log_odds
    unknown = None if truth.unknown is None else truth.unknown[is_labelled]
    labelled = Truth(truth.positive[is_labelled], unknown, truth.weight[is_labelled])
    return labelled, log_odds[is_labelled]


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Labels from the highest log-odds to the lowest; ties go to the lowest column.

    ``order`` contains columns, ``relevant`` whether the document has them, ``last`` the last place
    of each place's tie group: ``(n_documents, n_places)`` each, with a place for every label, or
    for the largest number of candidates; ``size`` that of the label set; ``missed`` the number of
    its labels outside the places, which tie at the end.
    """

    order: NDArray[np.intp]
    relevant: NDArray[np.bool_]
    last: NDArray[np.intp]
    size: FloatArray
    missed: FloatArray
    n_labels: int


def _rank(truth: Truth, log_odds: Any) -> _Ranking:
    """Rank all labels, or the candidates of each document."""
    n_labels, size = log_odds.shape[1], truth.positive.sum(axis=1)
    if sparse.issparse(log_odds):
        cells = Cells.of(log_odds)
        # NaN is sorted to the end, and has no ties.
        values, _ = cells.side_by_side(log_odds.data, np.nan)
        labels, _ = cells.side_by_side(cells.label, 0)
        is_relevant, _ = cells.side_by_side(cells.at(truth.positive) > 0, False)
    else:
        values, labels = log_odds, np.broadcast_to(np.arange(n_labels), log_odds.shape)
        is_relevant = truth.positive.toarray() > 0
    by_rank = np.argsort(-values, axis=1, kind="stable")
    order, relevant, falling = (
        np.take_along_axis(part, by_rank, axis=1) for part in (labels, is_relevant, values)
    )
    missed = size - relevant.sum(axis=1)
    return _Ranking(order, relevant, _last_of_ties(falling), size, missed, n_labels)


def _first_is_wrong(ranking: _Ranking) -> NDArray[np.bool_]:
    return np.asarray(~ranking.relevant[:, :1].any(axis=1))


def _last_of_ties(descending: FloatArray) -> NDArray[np.intp]:
    """For every place the last place with the same value, row by row."""
    n_labels = descending.shape[1]
    last = np.tile(np.arange(n_labels), (len(descending), 1))
    goes_on = descending[:, :-1] == descending[:, 1:]
    if goes_on.any():
        last[:, :-1][goes_on] = n_labels
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    return last


def _whole_rankings(ranking: _Ranking) -> DocumentScores:
    """Coverage, ranking loss and average precision of every document.

    Within a tie every label has the tie's last rank, as in scikit-learn.
    """
    size, missed, n_labels = ranking.size, ranking.missed, ranking.n_labels
    n_documents = len(size)
    document, place = np.nonzero(ranking.relevant)
    last = ranking.last[document, place]
    rank = last + 1.0
    not_below = np.cumsum(ranking.relevant, axis=1)[document, last]
    coverage = np.zeros(n_documents)
    np.maximum.at(coverage, document, rank)
    coverage[missed > 0] = n_labels
    wrong_pairs = missed * (n_labels - size)
    wrong_pairs += np.bincount(document, rank - not_below, n_documents)
    precision = missed * size / max(n_labels, 1)
    precision += np.bincount(document, not_below / rank, n_documents)
    has_pairs = (size > 0) & (size < n_labels)
    return {
        "coverage": coverage,
        "ranking_loss": ratio(wrong_pairs, size * (n_labels - size)),
        "label_ranking_average_precision": np.where(has_pairs, ratio(precision, size), 1.0),
    }


def _first_labels(ranking: _Ranking, ks: tuple[int, ...]) -> DocumentScores:
    """Precision, recall and nDCG at every k of every document."""
    most = max(ks, default=0)
    discount = 1 / np.log2(np.arange(2, most + 2))
    best = np.concatenate([[0.0], np.cumsum(discount)])
    first = ranking.relevant[:, :most]
    hits, dcg = _running_sum(first), _running_sum(first * discount[: first.shape[1]])
    size = ranking.size.astype(np.intp)
    scores = {f"precision@{k}": hits(k) / k for k in ks}
    scores |= {f"recall@{k}": ratio(hits(k), size) for k in ks}
    return scores | {f"ndcg@{k}": ratio(dcg(k), best[np.minimum(size, k)]) for k in ks}


def _running_sum(values: NDArray[np.generic]) -> Callable[[int], FloatArray]:
    """Return what gives the sum of each row's first k columns, of all if fewer."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return lambda k: sums[:, min(k, values.shape[1])]


def _score(name: str, Y: Any, log_odds: ArrayLike, sample_weight: Weights, *ks: int) -> float:
    inputs = read_inputs(Y, log_odds=log_odds, sample_weight=sample_weight)
    inputs.need_whole_sets(name.replace(f"@{ks[0]}", "_at_k") if ks else name)
    chosen = read_ks(ks)
    return inputs.add_up(lambda truth, z, _: sum_rankings(truth, z, chosen)).scores()[name]
