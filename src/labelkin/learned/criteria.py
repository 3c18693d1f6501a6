"""What is learned is judged by losses of out-of-fold log-odds: smaller is better.

The evidence weight is chosen by one criterion. A gain by that criterion can hide a loss by another:
a classifier that gives too few labels can gain F1 and lose Hamming loss. Whether it does is seen
out of fold, and how sure that is, by leaving out one group of documents after the other (the
delete-a-group jackknife). The measures are those of :mod:`labelkin.metrics`; unknown cells are left
out, and a label set with unknown cells is right when its known cells are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from labelkin.label_matrix import Cells
from labelkin.metrics.decisions import DecisionCounts, count_by_document, count_decisions
from labelkin.metrics.judged import Truth, above_zero
from labelkin.metrics.probabilities import (
    ProbabilitySums,
    log_losses,
    squared_errors,
    sum_probabilities,
)
from labelkin.metrics.rankings import first_errors, first_label_scores

Matrix = NDArray[np.float64]
#: Log-odds ``(n_documents, n_labels)``: a dense array, or a CSR array of candidates.
Scored = Any

#: Groups of documents that are left out in turn.
_GROUPS = 20
#: Standard errors beyond which a loss is clear.
_CLEAR = 3.0
#: Documents whose candidates are judged at a time.
_ROWS = 8192


def _micro_f1(log_odds: Scored, truth: Truth) -> float:
    return -float(count_decisions(truth, above_zero(log_odds)).average("f1", "micro"))


def _macro_f1(log_odds: Scored, truth: Truth) -> float:
    return -float(count_decisions(truth, above_zero(log_odds)).average("f1", "macro"))


def _subset_loss(log_odds: Scored, truth: Truth) -> float:
    return float(truth.weight @ (count_by_document(truth, above_zero(log_odds)).wrong > 0))


def _brier(log_odds: Scored, truth: Truth) -> float:
    if sparse.issparse(log_odds):
        return float(sum(sums.squared_error.sum() for sums in _sums_of_blocks(log_odds, truth)))
    return float(truth.weight @ squared_errors(truth, log_odds).sum(axis=1))


def _log_loss(log_odds: Scored, truth: Truth) -> float:
    if sparse.issparse(log_odds):
        return float(sum(sums.log_loss.sum() for sums in _sums_of_blocks(log_odds, truth)))
    return float(truth.weight @ log_losses(truth, log_odds).sum(axis=1))


def brier_of_candidates(cells: Cells, truth: Truth) -> Callable[[Matrix], float]:
    """Return what gives the squared error of log-odds of candidates, ``(n_cells,)``.

    Less what is the same for all: the labels that are no candidates.
    """
    times, is_true = truth.weight[cells.document], cells.at(truth.positive)
    if truth.unknown is not None:
        times *= 1 - cells.at(truth.unknown)

    def loss(log_odds: Matrix) -> float:
        error = expit(log_odds)
        error -= is_true
        error *= error
        return float(times @ error)

    return loss


def _sums_of_blocks(log_odds: sparse.csr_array, truth: Truth) -> Iterator[ProbabilitySums]:
    """Judge candidates some documents at a time: what lies between is many times their size."""
    for block, rows in _blocks(truth):
        yield sum_probabilities(block, log_odds[rows], 1)


def _blocks(truth: Truth) -> Iterator[tuple[Truth, slice]]:
    for start in range(0, len(truth.weight), _ROWS):
        rows = slice(start, start + _ROWS)
        unknown = None if truth.unknown is None else truth.unknown[rows]
        yield Truth(truth.positive[rows], unknown, truth.weight[rows]), rows


#: Losses by name; only their order counts.
CRITERIA: dict[str, Callable[[Scored, Truth], float]] = {
    "brier": _brier,
    "log_loss": _log_loss,
    "hamming_loss": lambda z, truth: float(count_decisions(truth, above_zero(z)).wrong.sum()),
    "subset_loss": _subset_loss,
    "one_error": lambda z, truth: float(truth.weight @ first_errors(truth, z)),
    "micro_f1": _micro_f1,
    "macro_f1": _macro_f1,
}


def does_clear_harm(content: Scored, posterior: Scored, truth: Truth) -> bool:
    """Return whether micro F1, macro F1, Hamming or subset 0/1 loss is clearly worse than without.

    Parameters
    ----------
    content, posterior
        Out-of-fold log-odds without and with what the labels add, ``(n_documents, n_labels)``.
    truth
        The true labels of the documents.
    """
    return bool((loss_in_standard_errors(content, posterior, truth) > _CLEAR).any())


class FirstLabels:
    """How good the first labels of documents are with content alone, to be compared with.

    Parameters
    ----------
    content
        Out-of-fold log-odds, ``(n_documents, n_labels)``.
    truth
        The true labels of the documents.
    """

    def __init__(self, content: Scored, truth: Truth) -> None:
        self._truth = truth
        self._times = truth.weight[np.diff(truth.positive.indptr) > 0]
        self._alone = self._scores(content)

    def are_worse_in(self, posterior: Scored) -> bool:
        """Return whether P@3, P@5 or nDCG@5 is lower by more than one standard error."""
        lost = self._alone - self._scores(posterior)
        total = max(self._times.sum(), 1e-12)
        mean = self._times @ lost / total
        error = np.sqrt(self._times @ (lost - mean) ** 2) / total
        return bool((mean > error).any())

    def _scores(self, log_odds: Scored) -> Matrix:
        """Return the three measures of every labelled document."""
        parts = []
        for block, rows in _blocks(self._truth):
            found = first_label_scores(block, log_odds[rows], (3, 5))
            parts.append(np.column_stack([found[name] for name in _FIRST]))
        return np.concatenate(parts)


_FIRST = ("precision@3", "precision@5", "ndcg@5")


def loss_in_standard_errors(content: Scored, posterior: Scored, truth: Truth) -> Matrix:
    """Return how much is lost by micro F1, macro F1, Hamming and subset 0/1 loss, ``(4,)``.

    In standard errors of the difference; below 0 is a gain.
    """
    difference = _losses(posterior, truth) - _losses(content, truth)
    whole, left_out = difference[0], difference[1:]
    n_groups = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0) * (n_groups - 1) / n_groups
    error = np.sqrt(spread)
    # A loss that every group has in the same measure is beyond doubt.
    sure = np.where(whole == 0, 0.0, np.copysign(np.inf, whole))
    return np.divide(whole, error, out=sure, where=error > 0)


def _losses(log_odds: Scored, truth: Truth) -> Matrix:
    """Return the four losses of all documents, and of all but each group, ``(1 + n_groups, 4)``."""
    document = np.arange(log_odds.shape[0])
    shape = (min(_GROUPS, len(document)), len(document))
    groups = sparse.csr_array((truth.weight, (document % _GROUPS, document)), shape)
    decided = above_zero(log_odds)
    by_group = count_decisions(truth, decided, groups)
    counts = DecisionCounts(*(_with_left_out(field) for field in vars(by_group).values()))
    wrong_sets = _with_left_out(groups @ (count_by_document(truth, decided).wrong > 0))
    n_documents = np.maximum(_with_left_out(groups.sum(axis=1)), 1e-12)
    return np.column_stack(
        [
            1 - counts.average("f1", "micro"),
            1 - counts.average("f1", "macro"),
            counts.wrong.sum(axis=1) / n_documents,
            wrong_sets / n_documents,
        ]
    )


def _with_left_out(sums: Matrix) -> Matrix:
    """Return the sum over all groups, and over all but each."""
    total = sums.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - sums])
