"""What a learnt evidence weight is judged by: losses of out-of-fold log-odds, smaller is better.

Unknown cells are left out; a label set with unknown cells is right when its known cells are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.label_matrix import LabelMatrix

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Truth:
    """The true labels in the form the criteria need.

    Attributes
    ----------
    positive
        Where a document has the label, ``(n_documents, n_labels)``.
    known
        Where that is known; ``None``: everywhere.
    times
        How often each document counts, ``(n_documents,)``.
    """

    positive: NDArray[np.bool_]
    known: NDArray[np.bool_] | None
    times: Matrix

    @classmethod
    def of(cls, labels: LabelMatrix, weight: Matrix | None) -> Truth:
        """Lay out the labels of documents that count ``weight`` times each."""
        known = None if labels.unknown is None else labels.unknown.toarray() == 0
        times = np.ones(labels.shape[0]) if weight is None else weight
        return cls(labels.positive.toarray() > 0, known, times)

    def only_known(self, cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the cells without those of which nothing is known."""
        return cells if self.known is None else cells & self.known


def _brier(log_odds: Matrix, truth: Truth) -> float:
    squares = expit(log_odds)
    squares -= truth.positive
    squares *= squares
    if truth.known is not None:
        squares *= truth.known
    return float(truth.times @ squares.sum(axis=1))


def _log_loss(log_odds: Matrix, truth: Truth) -> float:
    losses = np.logaddexp(0, np.where(truth.positive, -log_odds, log_odds))
    if truth.known is not None:
        losses *= truth.known
    return float(truth.times @ losses.sum(axis=1))


def _hamming_loss(log_odds: Matrix, truth: Truth) -> float:
    return float(truth.times @ _wrong(log_odds, truth).sum(axis=1))


def _subset_loss(log_odds: Matrix, truth: Truth) -> float:
    return float(truth.times @ _wrong(log_odds, truth).any(axis=1))


def _one_error(log_odds: Matrix, truth: Truth) -> float:
    first = log_odds.argmax(axis=1)
    return float(truth.times @ ~truth.positive[np.arange(len(first)), first])


def _micro_f1(log_odds: Matrix, truth: Truth) -> float:
    hits, wrong = _hits_and_wrong(log_odds, truth)
    return -float(f1_of(hits.sum(), wrong.sum()))


def _macro_f1(log_odds: Matrix, truth: Truth) -> float:
    return -float(f1_of(*_hits_and_wrong(log_odds, truth)).mean())


CRITERIA: dict[str, Callable[[Matrix, Truth], float]] = {
    "brier": _brier,
    "log_loss": _log_loss,
    "hamming_loss": _hamming_loss,
    "subset_loss": _subset_loss,
    "one_error": _one_error,
    "micro_f1": _micro_f1,
    "macro_f1": _macro_f1,
}


def _wrong(log_odds: Matrix, truth: Truth) -> NDArray[np.bool_]:
    return truth.only_known((log_odds > 0) != truth.positive)


def _hits_and_wrong(log_odds: Matrix, truth: Truth) -> tuple[Matrix, Matrix]:
    """Count, per label, what is rightly given and what is wrongly given or withheld."""
    hits = truth.times @ ((log_odds > 0) & truth.positive)
    return hits, truth.times @ _wrong(log_odds, truth)


def f1_of(hits: Matrix, wrong: Matrix) -> Matrix:
    """Return F1 = 2 hits / (2 hits + wrong); 0 where there is nothing to find and nothing found."""
    return np.divide(2 * hits, 2 * hits + wrong, out=np.zeros_like(hits), where=hits > 0)
