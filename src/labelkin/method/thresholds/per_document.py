"""Rules that look at one document at a time: the t best labels, the largest gap."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from labelkin.label_matrix import LabelMatrix
from labelkin.method.thresholds.order import halfway, top_of_rows
from labelkin.method.thresholds.rule import (
    Decisions,
    Scores,
    ThresholdRule,
    is_whole,
    known_frequency,
)
from labelkin.method.thresholds.scale import Scale, as_probabilities, check_scale

#: Gaps that differ by less than this share are equally large: 0.7 − 0.4 and 0.4 − 0.1.
EQUAL_GAPS = 1e-12


class RCut(ThresholdRule):
    """Give each document its t best labels; of equally good ones the first columns (Yang 2001).

    Parameters
    ----------
    t
        How many, at least 1; more than there are labels: all. ``None`` learns it: the mean number
        of labels of a document, rounded, at least 1 (a half goes to the even number; with unknown
        cells the sum of the labels' frequencies among the known ones).

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
        if self.t is not None and (not is_whole(self.t) or self.t < 1):
            raise ValueError(
                f"t must be a whole number of at least 1, or None (learned), got {self.t!r}."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        mean_size = known_frequency(labels).sum()
        self.t_ = max(1, round(mean_size)) if self.t is None else int(self.t)

    def _decide(self, scores: Scores) -> Decisions:
        return top_of_rows(scores, self.t_)


class MCut(ThresholdRule):
    """Cut each document in the largest gap between its sorted probabilities (Largeron et al. 2012).

    Of equally large gaps the highest counts. A document without a gap (one open label, or all
    equally probable) is cut at 0.5, strictly. Accepted and refused labels take no part.

    Parameters
    ----------
    scale
        What the scores are: ``"probability"`` or ``"log_odds"``; the gap is measured in
        probabilities in either case.

    Examples
    --------
    >>> rule = MCut().fit(None, [["tea"], ["sugar", "tea"], ["milk", "tea"]])
    >>> rule.decide([[0.1, 0.3, 0.4], [0.8, 0.2, 0.9]]).astype(int)
    array([[0, 1, 1],
           [1, 0, 1]])
    """

    needs_scores: ClassVar[bool] = False

    def __init__(self, scale: Scale = "probability") -> None:
        self.scale = scale

    def _check_parameters(self) -> None:
        check_scale(self.scale)

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        """Learn nothing: each document has its own cut."""

    def _decide(self, scores: Scores) -> Decisions:
        probability = as_probabilities(scores, self.scale)
        probability[np.isinf(scores)] = np.nan
        return probability >= _cut_in_largest_gap(probability)[:, None]


def _cut_in_largest_gap(probability: Scores) -> Scores:
    """Return the cut of each row, ``(n_documents,)``; NaN cells take no part."""
    # A probability is at or above the next float after 0.5 when it is above 0.5.
    cut = np.full(len(probability), np.nextafter(0.5, 1.0))
    if probability.shape[1] < 2:
        return cut
    falling = -np.sort(-probability, axis=1)  # NaN stays last
    gaps = np.nan_to_num(falling[:, :-1] - falling[:, 1:])
    largest = gaps.max(axis=1, keepdims=True)
    place = np.argmax(gaps >= largest * (1 - EQUAL_GAPS), axis=1)
    row = np.flatnonzero(largest[:, 0] > 0)
    cut[row] = halfway(falling[row, place[row] + 1], falling[row, place[row]])
    return cut
