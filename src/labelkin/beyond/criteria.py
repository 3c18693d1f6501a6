"""What a learnt evidence weight is judged by: losses of out-of-fold log-odds, smaller is better.

Unknown cells are left out; a label set with unknown cells is right when its known cells are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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


#: Groups of documents that are left out in turn.
_GROUPS = 20
#: Standard errors beyond which a loss is clear.
_CLEAR = 3.0


def does_clear_harm(content: Matrix, posterior: Matrix, truth: Truth) -> bool:
    """Tell whether micro F1, macro F1, Hamming or subset 0/1 loss is clearly worse than without.

    Parameters
    ----------
    content, posterior
        Out-of-fold log-odds without and with what the labels add, ``(n_documents, n_labels)``.
    truth
        The true labels of the documents.
    """
    return bool((loss_in_standard_errors(content, posterior, truth) > _CLEAR).any())


def loss_in_standard_errors(content: Matrix, posterior: Matrix, truth: Truth) -> Matrix:
    """Return how much is lost by micro F1, macro F1, Hamming and subset 0/1 loss, ``(4,)``.

    In standard errors of the difference; below 0 is a gain.
    """
    without, with_labels = _count(content, truth), _count(posterior, truth)
    difference = _losses(*map(_all, with_labels)) - _losses(*map(_all, without))
    left_out = np.array(
        [
            _losses(*(_all(part) - part[g] for part in with_labels))
            - _losses(*(_all(part) - part[g] for part in without))
            for g in range(len(without.hits))
        ]
    )
    n_groups = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0) * (n_groups - 1) / n_groups
    error = np.sqrt(spread)
    # A loss that every group has in the same measure is beyond doubt.
    sure = np.where(difference == 0, 0.0, np.copysign(np.inf, difference))
    return np.divide(difference, error, out=sure, where=error > 0)


class _Counts(NamedTuple):
    """Per group of documents: right and wrong decisions by label, wrong label sets, documents."""

    hits: Matrix
    wrong: Matrix
    wrong_sets: Matrix
    documents: Matrix


def _count(log_odds: Matrix, truth: Truth) -> _Counts:
    given = log_odds > 0
    wrong = truth.only_known(given != truth.positive)
    hits = given & truth.positive
    groups = [slice(g, None, _GROUPS) for g in range(min(_GROUPS, len(given)))]
    return _Counts(
        np.array([truth.times[g] @ hits[g] for g in groups]),
        np.array([truth.times[g] @ wrong[g] for g in groups]),
        np.array([[truth.times[g] @ wrong[g].any(axis=1)] for g in groups]),
        np.array([[truth.times[g].sum()] for g in groups]),
    )


def _all(part: Matrix) -> Matrix:
    return np.asarray(part.sum(axis=0))


def _losses(hits: Matrix, wrong: Matrix, wrong_sets: Matrix, documents: Matrix) -> Matrix:
    n_documents = max(float(documents[0]), 1e-12)
    return np.array(
        [
            1 - float(f1_of(hits.sum(keepdims=True), wrong.sum(keepdims=True))[0]),
            1 - float(f1_of(hits, wrong).mean()),
            wrong.sum() / n_documents,
            float(wrong_sets[0]) / n_documents,
        ]
    )
