"""One cut that is given, not learned: the paper's 0.5."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import logit

from labelkin.label_matrix import LabelMatrix
from labelkin.method.thresholds.rule import Decisions, Scores, ThresholdRule, is_number
from labelkin.method.thresholds.scale import Scale, check_probabilities, check_scale


class FixedCut(ThresholdRule):
    """Give a label where its probability is above a fixed cut.

    Parameters
    ----------
    cut
        A probability, strictly between 0 and 1, whatever the scale of the scores. A score at the
        cut is not above it.
    scale
        What the scores are: ``"probability"`` or ``"log_odds"``.

    Examples
    --------
    >>> rule = FixedCut(0.5, scale="log_odds").fit(None, [["tea"], ["sugar", "tea"]])
    >>> rule.decide([[0.0, 2.0]])
    array([[False,  True]])
    """

    needs_scores: ClassVar[bool] = False

    def __init__(self, cut: float = 0.5, scale: Scale = "probability") -> None:
        self.cut = cut
        self.scale = scale

    def _check_parameters(self) -> None:
        check_scale(self.scale)
        if not is_number(self.cut) or not 0 < self.cut < 1:
            raise ValueError(
                f"cut must be a probability strictly between 0 and 1, got {self.cut!r}, also when "
                "the scores are log-odds."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> Scores:
        cut = logit(self.cut) if self.scale == "log_odds" else self.cut
        return np.full(labels.shape[1], cut, dtype=np.float64)

    def _decide(self, scores: Scores) -> Decisions:
        if self.scale == "probability":
            check_probabilities(scores)
        return scores > self.cut_
