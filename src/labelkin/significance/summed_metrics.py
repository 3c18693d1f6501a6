"""Metrics that follow from per-document sums, so that a thousand draws cost one matrix product.

What a document adds to a metric is computed once; a draw of documents is a weighted sum of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.significance.systems import read_decisions, read_log_odds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SummedMetric:
    """A metric computed from sums over documents.

    Attributes
    ----------
    name
        What a record calls the metric.
    document_sums
        ``(Y, system)`` → what each document adds, ``(n_documents, m)``, dense or sparse.
    score
        Sums ``(n_draws, m)`` → scores ``(n_draws,)``.
    greater_is_better
        Whether a greater score is the better one.

    Examples
    --------
    The mean number of labels given to a document:

    >>> def label_count(Y, decisions):
    ...     given = np.asarray(decisions).sum(axis=1)
    ...     return np.column_stack([given, np.ones(len(given))])
    >>> metric = SummedMetric("labels given", label_count, lambda sums: sums[:, 0] / sums[:, 1])
    >>> metric(None, [[1, 0, 1], [1, 0, 0]])
    1.5
    """

    name: str
    document_sums: Callable[[Any, Any], Any]
    score: Callable[[Floats], Floats]
    greater_is_better: bool = True

    def __call__(self, Y: Any, system: Any) -> float:
        """Return the score on all documents."""
        sums = self.document_sums(Y, system)
        total = np.asarray(sums.sum(axis=0), dtype=np.float64)
        return float(self.score(total.reshape(1, -1))[0])


def _true_positives_and_sizes(Y: Any, decisions: Any) -> sparse.csr_array:
    truth = read_labels(Y)
    given = read_decisions(decisions, truth)
    blocks = [given.multiply(truth.positive), given + truth.positive]
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _micro_sums(Y: Any, decisions: Any) -> Floats:
    sums = _true_positives_and_sizes(Y, decisions)
    half = sums.shape[1] // 2
    return np.column_stack([sums[:, :half].sum(axis=1), sums[:, half:].sum(axis=1)])


def _mean_f1(sums: Floats) -> Floats:
    """Mean F1 of the labels, first half true positives, second half sizes; 0/0 is 0."""
    tp, size = np.hsplit(sums, 2)
    return np.divide(2 * tp, size, out=np.zeros_like(tp), where=size > 0).mean(axis=1)


def _hamming_sums(Y: Any, decisions: Any) -> Floats:
    """Wrong cells and known cells of each document."""
    truth = read_labels(Y)
    wrong = abs(read_decisions(decisions, truth) - truth.positive).sum(axis=1)
    known = np.full(truth.shape[0], float(truth.shape[1]))
    if truth.unknown is not None:
        known -= truth.unknown.sum(axis=1)
    return np.column_stack([wrong, known])


def _subset_sums(Y: Any, decisions: Any) -> Floats:
    truth = _fully_known(read_labels(Y), "subset_loss")
    wrong = abs(read_decisions(decisions, truth) - truth.positive).sum(axis=1)
    return _with_count(wrong > 0)


def _one_error_sums(Y: Any, log_odds: Any) -> Floats:
    """1 where the top label is not relevant; ties at the top go to the lowest column."""
    truth = _fully_known(read_labels(Y), "one_error")
    top = read_log_odds(log_odds, truth).argmax(axis=1)
    return _with_count(truth.positive[np.arange(truth.shape[0]), top] == 0)


def _with_count(values: Any) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    return np.column_stack([values, np.ones(len(values))])


def _ratio(sums: Floats) -> Floats:
    return sums[:, 0] / sums[:, 1]


def _fully_known(truth: LabelMatrix, metric: str) -> LabelMatrix:
    if truth.unknown is not None:
        raise ValueError(
            f"{metric} needs whole label sets, got {truth.unknown.nnz} unknown cells (NaN) in Y. "
            "Leave those documents out, or use hamming_loss, micro_f1 or macro_f1."
        )
    return truth


SUMMED_METRICS: dict[str, SummedMetric] = {
    metric.name: metric
    for metric in (
        SummedMetric("micro_f1", _micro_sums, _mean_f1),
        SummedMetric("macro_f1", _true_positives_and_sizes, _mean_f1),
        SummedMetric("hamming_loss", _hamming_sums, _ratio, greater_is_better=False),
        SummedMetric("subset_loss", _subset_sums, _ratio, greater_is_better=False),
        SummedMetric("one_error", _one_error_sums, _ratio, greater_is_better=False),
    )
}
