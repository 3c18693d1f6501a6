"""A rule for whole batches: each label goes to as many documents as its frequency promises."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from labelkin.label_matrix import LabelMatrix
from labelkin.method.thresholds.order import top_of_rows
from labelkin.method.thresholds.rule import (
    Decisions,
    Scores,
    ThresholdRule,
    is_number,
    known_frequency,
)


class PCut(ThresholdRule):
    """Give label j to its k_j best documents of the batch; of equal ones the first (Yang 2001).

    Parameters
    ----------
    x
        ``None``: k_j = round(prior_j · n) for a batch of n documents, the share the label has in
        training. A number above 0: Yang's k_j = round(prior_j · x · p) with p labels; the size of
        the batch does not enter, x · p stands in its place, and x = n / p is the default. k_j is at
        most n; a half is rounded to the even number. A label of which nothing is known is not
        given.

    Attributes
    ----------
    prior_ : array of shape (n_labels,)
        The share of documents with each label, among those for which it is known.

    Examples
    --------
    >>> rule = PCut().fit(None, [["tea"], ["sugar", "tea"]])
    >>> rule.decide([[0.1, 0.9], [0.3, 0.8], [0.2, 0.9], [0.3, 0.1]]).astype(int).T
    array([[0, 1, 0, 1],
           [1, 1, 1, 1]])
    """

    needs_scores: ClassVar[bool] = False
    needs_batch: ClassVar[bool] = True

    def __init__(self, x: float | None = None) -> None:
        self.x = x

    def _check_parameters(self) -> None:
        if self.x is not None and (not is_number(self.x) or not 0 < self.x < np.inf):
            raise ValueError(
                f"x must be a number above 0, or None (frequencies as in training), got {self.x!r}."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> None:
        self.prior_ = known_frequency(labels)

    def _decide(self, scores: Scores) -> Decisions:
        n_documents, n_labels = scores.shape
        expected = n_documents if self.x is None else float(self.x) * n_labels
        counts = np.rint(np.minimum(self.prior_ * expected, n_documents)).astype(np.int64)
        return top_of_rows(np.ascontiguousarray(scores.T), counts).T
