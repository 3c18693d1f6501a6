"""Decisions counted cell by cell: how many are true, decided, and both, label by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from labelkin.metrics.judged import Block
from labelkin.metrics.sums import Floats, Sums, ratio, weighted_sum

Metric = Literal["precision", "recall", "f1", "jaccard"]
Average = Literal["micro", "macro", "weighted"]


@dataclass(frozen=True, eq=False)
class DecisionCounts(Sums):
    """Weighted numbers of documents per label, ``(n_labels,)`` each; unknown cells are skipped.

    Attributes
    ----------
    known
        Documents of which it is known whether they carry the label.
    true, decided
        Those that carry it; those for which the decision is yes.
    hits
        Those that carry it and for which the decision is yes.
    """

    known: Floats
    true: Floats
    decided: Floats
    hits: Floats

    @property
    def hamming_loss(self) -> float:
        """Share of wrong decisions among the known cells; without known cells NaN."""
        wrong = self.true + self.decided - 2 * self.hits
        return float(ratio(wrong.sum(), self.known.sum(), nothing=np.nan))

    def per_label(self, metric: Metric) -> Floats:
        """Return the metric of every label, ``(n_labels,)``.

        0/0 is 0: the precision of a label that is never decided, the recall of one that no document
        carries, F1 and Jaccard of one with neither. A label without any known cell is NaN.
        """
        scores: Floats = ratio(*self._parts(metric))
        return np.where(self.known > 0, scores, np.nan)

    def average(self, metric: Metric, average: Average) -> float:
        """Return one number for all labels; NaN when no cell is known.

        ``"micro"``: counts are added over labels first. ``"macro"``: mean over the labels with
        known cells. ``"weighted"``: mean weighted by the number of documents that carry the label;
        0 when no document carries any. 0/0 is 0, as in :meth:`per_label`.
        """
        if average not in get_args(Average):
            raise ValueError(f"average must be one of {get_args(Average)}, got {average!r}.")
        is_known = self.known > 0
        if not is_known.any():
            return float("nan")
        numerator, denominator = self._parts(metric)
        if average == "micro":
            return float(ratio(numerator.sum(), denominator.sum()))
        scores = self.per_label(metric)[is_known]
        if average == "macro":
            return float(scores.mean())
        support = self.true[is_known]
        return float(ratio(weighted_sum(support, scores), support.sum()))

    def scores(self) -> dict[str, float]:
        """Return Hamming loss and all averages by name."""
        averages = {
            f"{average}_{metric}": self.average(metric, average)
            for average in get_args(Average)
            for metric in get_args(Metric)
        }
        return {"hamming_loss": self.hamming_loss} | averages

    def _parts(self, metric: Metric) -> tuple[Floats, Floats]:
        """Numerator and denominator of the metric, label by label."""
        if metric == "precision":
            return self.hits, self.decided
        if metric == "recall":
            return self.hits, self.true
        if metric == "f1":
            return 2 * self.hits, self.true + self.decided
        if metric == "jaccard":
            return self.hits, self.true + self.decided - self.hits
        raise ValueError(f"metric must be one of {get_args(Metric)}, got {metric!r}.")


def count_decisions(block: Block) -> DecisionCounts:
    """Count the decisions of a block, label by label."""
    weight, decided = block.weight, block.decided
    known = np.full(decided.shape[1], weight.sum())
    if block.unknown is not None:
        known = known - block.unknown.T @ weight
        decided = decided - decided * block.unknown
    hits = block.positive * decided
    return DecisionCounts(known, block.positive.T @ weight, decided.T @ weight, hits.T @ weight)
