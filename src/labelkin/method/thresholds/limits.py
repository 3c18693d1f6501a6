"""At least and at most so many labels per document, around any rule."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from labelkin.label_matrix import LabelMatrix
from labelkin.method.thresholds.fixed_cut import FixedCut
from labelkin.method.thresholds.order import top_of_rows
from labelkin.method.thresholds.rule import Decisions, Scores, ThresholdRule, is_whole


class LabelLimits(ThresholdRule):
    """Keep the number of labels of each document within limits.

    A document with too few gets its best-scored others, but never refused ones (−inf); one with too
    many keeps its best-scored, and all accepted ones (+inf), be they too many. Of equal scores the
    lowest columns count as better. ``at_least=1`` leaves no document empty.

    Parameters
    ----------
    rule
        The rule that decides first; ``None``: ``FixedCut()``, for probabilities. What the scores
        are is the rule's affair: log-odds need e.g. ``FixedCut(scale="log_odds")``.
    at_least
        How many labels a document has at least, 0 or more.
    at_most
        How many at most, not below ``at_least``; ``None``: any number.

    Attributes
    ----------
    rule_ : ThresholdRule
        The fitted rule.

    Examples
    --------
    >>> rule = LabelLimits(at_least=1, at_most=2).fit(None, [["tea"], ["sugar"], ["milk", "tea"]])
    >>> rule.decide([[0.1, 0.3, 0.2], [0.9, 0.6, 0.7]]).astype(int)
    array([[0, 1, 0],
           [1, 0, 1]])
    """

    def __init__(
        self,
        rule: ThresholdRule | None = None,
        at_least: int = 0,
        at_most: int | None = None,
    ) -> None:
        self.rule = rule
        self.at_least = at_least
        self.at_most = at_most

    @property
    def needs_scores(self) -> bool:  # type: ignore[override]
        """Whether the rule inside does."""
        return self._inner().needs_scores

    @property
    def needs_batch(self) -> bool:  # type: ignore[override]
        """Whether the rule inside does."""
        return self._inner().needs_batch

    def _check_parameters(self) -> None:
        if not isinstance(self._inner(), ThresholdRule):
            raise TypeError(
                f"rule must be a threshold rule or None, got {self.rule!r}. as_rule reads numbers "
                "and names of metrics."
            )
        if not is_whole(self.at_least) or self.at_least < 0:
            raise ValueError(
                f"at_least must be a whole number of at least 0, got {self.at_least!r}."
            )
        if self.at_most is None:
            return
        if not is_whole(self.at_most) or self.at_most < self.at_least:
            raise ValueError(
                f"at_most must be None or a whole number not below at_least={self.at_least!r}, got "
                f"{self.at_most!r}."
            )

    def _inner(self) -> ThresholdRule:
        return FixedCut() if self.rule is None else self.rule

    def _learn(self, scores: Scores | None, labels: LabelMatrix) -> Scores:
        self.rule_ = clone(self._inner()).fit(scores, labels)
        return self.rule_.cut_

    def _decide(self, scores: Scores) -> Decisions:
        decided = self.rule_.decide(scores)
        missing = self.at_least - decided.sum(axis=1)
        decided |= top_of_rows(np.where(decided, -np.inf, scores), missing)
        if self.at_most is None:
            return decided
        return decided & top_of_rows(np.where(decided, scores, -np.inf), int(self.at_most))
