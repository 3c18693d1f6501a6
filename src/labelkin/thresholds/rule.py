"""What every threshold rule does: read scores, learn, decide, and show itself label by label."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from labelkin.evaluation.metrics.decisions import count_decisions
from labelkin.evaluation.metrics.judged import Truth
from labelkin.label_matrix import (
    Cells,
    LabelMatrix,
    Scale,
    read_candidates,
    read_labels,
    read_scores,
)
from labelkin.label_matrix.scores import check_probabilities
from labelkin.odds import probability_of
from labelkin.records import short_repr
from labelkin.scikit_learn import LinkedEstimator

Scores = NDArray[np.float64]
Decisions = NDArray[np.bool_]
TunedMetric = Literal["hamming_loss", "micro_f1", "macro_f1", "subset_loss", "document_f1"]


@short_repr
class LabelCut(NamedTuple):
    """One label in the table of a fitted rule; ``None`` where a field does not apply.

    Attributes
    ----------
    label
        Its name.
    cut
        Its cut, on the scale of the scores (log-odds in a classifier); +inf: only accepted
        documents. ``None`` for rules that do not cut label by label.
    probability
        The cut as a probability, not calibrated. ``None`` if the scale of the scores is not known.
    f1
        Its F1 on the fitting scores, 0/0 = 0. ``None`` when the rule was fitted without scores, or
        nothing is known of the label.
    positives
        How many documents have it.
    decided
        How many documents the rule gives it, among those for which it is known.

    Examples
    --------
    >>> from labelkin import SCut
    >>> scores, Y = [[0.9, 0.2], [0.7, 0.6], [0.1, 0.3]], [["sea"], ["sea", "town"], []]
    >>> sea, town = SCut().fit(scores, Y).table()
    >>> town.label, round(town.cut, 2), town.f1, town.positives, town.decided
    ('town', 0.45, 1.0, 1, 1)
    """

    label: Any
    cut: float | None
    probability: float | None
    f1: float | None
    positives: int
    decided: int | None


class ThresholdRule(LinkedEstimator, ABC):
    """Turns scores (documents × labels) into decisions.

    In every rule a score of +inf, a label that a person accepted, is decided yes, and −inf, one
    that was rejected, no; neither is ever taken for a number.

    Attributes
    ----------
    needs_scores : bool
        Whether ``fit`` learns from scores; if not, ``fit(None, Y)`` is legal.
    needs_batch : bool
        Whether a decision depends on the other documents, so that streams cannot be decided.
    label_names_ : array of shape (n_labels,)
    cut_, f1_, positives_, decided_ : arrays of shape (n_labels,)
        The columns of :meth:`table`; NaN where they do not apply.

    Examples
    --------
    A rule of one's own says what it learns, here a cut per label:

    >>> import numpy as np
    >>> from labelkin.thresholds import ThresholdRule
    >>> class MeanCut(ThresholdRule):
    ...     def _learn(self, scores, labels):
    ...         return scores.mean(axis=0)
    >>> rule = MeanCut().fit([[0.9, 0.2], [0.1, 0.6]], [["sea"], ["town"]])
    >>> rule.decide([[0.6, 0.3], [0.2, np.inf]]).tolist()
    [[True, False], [False, True]]
    """

    needs_scores: ClassVar[bool] = True
    needs_batch: ClassVar[bool] = False

    def fit(self, scores: Any, Y: Any) -> Self:
        """Learn from out-of-fold scores and true labels.

        Parameters
        ----------
        scores : array or sparse matrix of shape (n_documents, n_labels), or None
            Of training documents, made without their labels; no NaN. Of a sparse matrix the stored
            labels are candidates, and no other is ever given. ``None`` where the rule needs none.
        Y : any kind of labels
            Of the same documents; a cell that is NaN is unknown and left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        labels = read_labels(Y)
        values = None if scores is None else _read(scores, labels.names)
        self._check_given(values, labels)
        cut = self._learn(values, labels)
        self.label_names_ = labels.names
        self.cut_ = np.full(labels.shape[1], np.nan) if cut is None else cut
        self._look_back(values, labels)
        return self

    def decide(self, scores: Any) -> Any:
        """Return which document gets which label, ``(n_documents, n_labels)``.

        A bool array; of sparse scores a CSR array of the candidates that are given.
        """
        check_is_fitted(self)
        return self._decide_open(_read(scores, self.label_names_))

    def table(self) -> list[LabelCut]:
        """Return what the rule does to every label, as seen on the fitting scores."""
        check_is_fitted(self)
        columns = zip(
            self.label_names_.tolist(),
            map(_number, self.cut_),
            map(_number, self._cut_probability()),
            map(_number, self.f1_),
            map(int, self.positives_),
            map(_count, self.decided_),
            strict=True,
        )
        return [LabelCut(*line) for line in columns]

    def _cut_probability(self) -> Scores:
        scale = getattr(self, "scale_", getattr(self, "scale", None))
        if scale == "log_odds":
            return probability_of(self.cut_)
        return self.cut_ if scale == "probability" else np.full_like(self.cut_, np.nan)

    @abstractmethod
    def _learn(self, scores: Any, labels: LabelMatrix) -> Scores | None:
        """Learn, and return the cut of every label if there is one; ``scores`` may be ``None``."""

    def _decide(self, scores: Scores) -> Decisions:
        """Decide; what was accepted or rejected is put right afterwards."""
        return scores >= self.cut_

    def _check_parameters(self) -> None:
        """Raise for parameters that make no sense."""

    def _decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        """Decide candidates, ``(n_cells,)``: here, document by document, whichever the labels."""
        rows, places = cells.side_by_side(scores, -np.inf)
        return self._decide(rows)[places]

    def _decide_open(self, scores: Any) -> Any:
        if not sparse.issparse(scores):
            return (self._decide(scores) | (scores == np.inf)) & (scores != -np.inf)
        return given_cells(scores, self.decide_cells(Cells.of(scores), scores.data))

    def decide_cells(self, cells: Cells, scores: Scores) -> Decisions:
        """Return which candidates are given, ``(n_cells,)``; ±inf, what is known, stays so."""
        decided = self._decide_cells(cells, scores)
        return (decided | (scores == np.inf)) & (scores != -np.inf)

    def _check_given(self, scores: Scores | None, labels: LabelMatrix) -> None:
        if scores is None and self.needs_scores:
            raise ValueError(
                f"{type(self).__name__} learns its cuts from scores, got None. Give out-of-fold "
                "scores of the training documents."
            )
        if scores is not None and scores.shape[0] != labels.shape[0]:
            raise ValueError(
                f"scores and Y must have the same documents, got {scores.shape[0]} and "
                f"{labels.shape[0]}."
            )

    def _look_back(self, scores: Scores | None, labels: LabelMatrix) -> None:
        """Count what the rule decides on the scores it was fitted on, known cells only."""
        self.positives_, _ = labels.counts()
        if scores is None:
            self.f1_ = self.decided_ = np.full(labels.shape[1], np.nan)
            return
        counts = count_decisions(Truth.of(labels), self._decide_open(scores))
        self.decided_, self.f1_ = counts.decided, counts.per_label("f1")


def given_cells(scores: sparse.csr_array, decided: Decisions) -> sparse.csr_array:
    """Return the candidates that are given as a bool CSR array."""
    ends = np.concatenate(([0], np.cumsum(decided)))[scores.indptr]
    yes = np.ones(int(decided.sum()), dtype=np.bool_)
    return sparse.csr_array((yes, scores.indices[decided], ends), shape=scores.shape)


def _read(scores: Any, names: NDArray[Any]) -> Any:
    """Return checked scores: dense, or a CSR array of candidates."""
    if not sparse.issparse(scores):
        return read_scores(scores, names)
    cells, values = read_candidates(scores, names)
    return cells.matrix(values)


def known_scores(scores: Any, labels: LabelMatrix) -> Any:
    """Return the scores with −inf, which is never decided, in the unknown cells."""
    if labels.unknown is None:
        return scores
    if sparse.issparse(scores):
        cells = Cells.of(scores)
        return cells.matrix(np.where(cells.at(labels.unknown) > 0, -np.inf, scores.data))
    known = scores.copy()
    known[labels.unknown.nonzero()] = -np.inf
    return known


def known_frequency(labels: LabelMatrix) -> NDArray[np.float64]:
    """Return the share of documents with each label; 0, not ½, where nothing is known."""
    positive, known = labels.counts()
    return np.divide(positive, known, out=np.zeros(len(known)), where=known > 0)


def is_number(value: object) -> bool:
    """Return whether it is a number of any type, but no truth value."""
    return not isinstance(value, bool) and isinstance(value, Real)


def is_whole(value: object) -> bool:
    """Return whether it is an integer of any type."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def _number(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _count(value: np.float64) -> int | None:
    return None if np.isnan(value) else int(value)


def as_probabilities(scores: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Return scores as probabilities; ±inf, a label that is known, is 1 or 0 on either scale."""
    if scale == "log_odds":
        return probability_of(scores)
    check_probabilities(scores, allow_infinite=True)
    return np.clip(scores, 0.0, 1.0)


def top_of_rows(scores: NDArray[np.float64], counts: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """Mark the ``counts`` highest scores of each row; of equal ones the lowest columns.

    Parameters
    ----------
    scores
        Any shape ``(n_rows, n_columns)``.
    counts
        How many, one number or ``(n_rows,)``; more than there are columns: all.

    Examples
    --------
    >>> top_of_rows(np.array([[0.2, 0.9, 0.2], [0.5, 0.5, 0.5]]), 2).astype(int)
    array([[1, 1, 0],
           [1, 1, 0]])
    """
    n_rows, n_columns = scores.shape
    if not scores.size:
        return np.zeros(scores.shape, dtype=np.bool_)
    wanted = np.clip(np.broadcast_to(counts, n_rows), 0, n_columns)
    place = np.minimum(n_columns - wanted, n_columns - 1)
    lowest = np.sort(scores, axis=1)[np.arange(n_rows), place][:, None]
    above, tied = scores > lowest, scores == lowest
    room = wanted - above.sum(axis=1)
    crowded = tied.sum(axis=1) > room
    tied[crowded] &= tied[crowded].cumsum(axis=1) <= room[crowded, None]
    return above | tied


def halfway(lower: ArrayLike, upper: ArrayLike) -> NDArray[np.float64]:
    """Return the middle of two finite numbers: above the lower one, at most the upper one.

    Halves are added, for the sum of huge numbers overflows; where rounding would give the lower
    number itself (neighbouring floats), the upper one is returned.

    Examples
    --------
    >>> float(halfway(0.25, 0.75)), float(halfway(1.0, np.nextafter(1.0, 2.0))) > 1
    (0.5, True)
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    middle = low / 2 + high / 2
    return np.where((middle > low) & (middle <= high), middle, high)


def cut_below(score: float, next_lower: float) -> float:
    """Return the cut that decides ``score`` and what is above it, and nothing below.

    It lies halfway to the next lower score. A score with none below it (−inf) is its own cut, and
    so is +inf.
    """
    if score == np.inf or next_lower == -np.inf:
        return score
    return float(halfway(next_lower, score))
