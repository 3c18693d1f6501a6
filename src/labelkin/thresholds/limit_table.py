"""How many labels, and from which probability on: every limit with every threshold, scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelkin.evaluation.metrics.judged import ratio
from labelkin.label_matrix import best_labels, read_labels, read_scores
from labelkin.records import short_repr

Floats = NDArray[np.float64]

LIMITS = tuple(range(1, 16))
THRESHOLDS = tuple(round(0.05 * k, 2) for k in range(20))


@short_repr
class BestCell(NamedTuple):
    """The best of a table by one measure: the limit, the threshold, and the score.

    Attributes
    ----------
    limit
        Labels at most.
    threshold
        Least probability.
    score
        What the two give by the measure.

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


@short_repr
@dataclass(frozen=True, eq=False)
class LimitTable:
    """What limits and thresholds score, ``(n_thresholds, n_limits)``; adds up over blocks.

    A document is given its ``limit`` most probable labels, of those that have at least the
    probability ``threshold``. :func:`limit_table` makes it.

    Attributes
    ----------
    limits, thresholds : tuples of numbers
        Columns and rows.
    n_documents : int
        How many were scored.
    right, given, true : arrays of shape (n_thresholds, n_limits, n_labels)
        Documents that rightly have a label, are given it, and have it, label by label.
    documents : array of shape (4, n_thresholds, n_limits)
        Precision, recall and F1 of the documents, and how many are given nothing, summed.

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
    right: Floats
    given: Floats
    true: Floats
    documents: Floats = field(repr=False)

    METRICS: ClassVar[tuple[str, ...]] = (
        *("micro_f1", "macro_f1", "document_f1"),
        *("document_precision", "document_recall"),
    )

    def __add__(self, other: LimitTable) -> LimitTable:
        """Return the table of the documents of both."""
        if not isinstance(other, LimitTable):
            return NotImplemented
        added = ("n_documents", "right", "given", "true", "documents")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in added})

    def scores(self, metric: str) -> Floats:
        """Return a measure of every cell, ``(n_thresholds, n_limits)``.

        ``"micro_f1"``, ``"macro_f1"``; ``"document_f1"``, ``"document_precision"`` and
        ``"document_recall"`` are averaged over documents. 0/0 is 0.
        """
        if metric not in self.METRICS:
            listed = ", ".join(map(repr, self.METRICS))
            raise ValueError(f"metric must be one of {listed}, got {metric!r}.")
        if metric == "micro_f1":
            right, given, true = (x.sum(axis=2) for x in (self.right, self.given, self.true))
            return np.asarray(ratio(2 * right, given + true))
        if metric == "macro_f1":
            return np.asarray(ratio(2 * self.right, self.given + self.true).mean(axis=2))
        place = ("document_precision", "document_recall", "document_f1").index(metric)
        return np.asarray(self.documents[place] / max(self.n_documents, 1))

    @property
    def empty(self) -> Floats:
        """How many documents are given nothing, ``(n_thresholds, n_limits)``."""
        return np.asarray(self.documents[3])

    def best(self, metric: str) -> BestCell:
        """Return the best cell; of equals that with the fewest labels."""
        scores = self.scores(metric)
        order = [(-scores[i, j].round(12), j, -i) for i, j in np.ndindex(scores.shape)]
        _, j, i = min(order)
        return BestCell(self.limits[j], self.thresholds[-i], float(scores[-i, j]))


def limit_table(
    Y: Any,
    probabilities: ArrayLike,
    *,
    limits: Sequence[int] = LIMITS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> LimitTable:
    """Score every limit with every threshold, as Annif's ``optimize`` does.

    Parameters
    ----------
    Y : any kind of labels
        What is true; all known.
    probabilities : array of shape (n_documents, n_labels)
        Of every label.
    limits : sequence of int, default 1, 2, …, 15
        How many labels a document is given at most.
    thresholds : sequence of float, default 0, 0.05, …, 0.95
        How probable a label must be to be given.

    Returns
    -------
    LimitTable

    Examples
    --------
    >>> table = limit_table([["tea"], ["sugar", "tea"]], [[0.2, 0.9], [0.6, 0.7]])
    >>> table.best("micro_f1")
    BestCell(limit=2, threshold=0.6, score=1.0)
    """
    labels = read_labels(Y)
    if labels.unknown is not None:
        raise ValueError("Label sets must be known whole to be counted, got unknown cells (NaN).")
    values = read_scores(probabilities, labels.names, n_documents=labels.shape[0])
    (n_documents, n_labels), cuts = labels.shape, np.asarray(thresholds, dtype=np.float64)
    most = min(max(limits), n_labels)
    ranked = np.array(best_labels(values, most)).reshape(n_documents, most)
    rows = np.arange(n_documents)[:, None]
    score, truth = values[rows, ranked], labels.positive.toarray()
    hit = truth[rows, ranked]
    columns = [min(limit, most) - 1 for limit in limits]
    n_true = truth.sum(axis=1)[:, None]
    shape = (len(cuts), len(limits))
    right, given = np.zeros((*shape, n_labels)), np.zeros((*shape, n_labels))
    documents = np.zeros((4, *shape))
    for i, cut in enumerate(cuts):
        taken = (score >= cut).astype(np.float64)
        for counts, weight in ((given, taken), (right, taken * hit)):
            by_rank = np.zeros((most, n_labels))
            np.add.at(by_rank, (np.broadcast_to(np.arange(most), ranked.shape), ranked), weight)
            counts[i] = by_rank.cumsum(axis=0)[columns]
        n_given = taken.cumsum(axis=1)[:, columns]
        n_right = (taken * hit).cumsum(axis=1)[:, columns]
        parts = (n_given, n_true, (n_given + n_true) / 2)
        documents[:3, i] = [ratio(n_right, part).sum(axis=0) for part in parts]
        documents[3, i] = (n_given == 0).sum(axis=0)
    true = np.broadcast_to(truth.sum(axis=0), right.shape).copy()
    chosen = tuple(int(limit) for limit in limits), tuple(cuts.tolist())
    return LimitTable(*chosen, n_documents, right, given, true, documents)
