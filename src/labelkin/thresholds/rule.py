"""The interface of all threshold rules, the fixed cut, and the rule for a number or a name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelkin.evaluation.metrics.decisions import count_decisions
from labelkin.evaluation.metrics.inputs import SCIKIT_LEARN_NAMES, Truth
from labelkin.label_matrix import (
    Cells,
    LabelMatrix,
    Scale,
    read_candidates,
    read_labels,
    read_scores,
)
from labelkin.label_matrix.reading import check_values
from labelkin.odds import to_probability
from labelkin.records import short_repr
from labelkin.registry import names, part_class
from labelkin.validation import check_choice, did_you_mean

_Scores = NDArray[np.float64]
_Decisions = NDArray[np.bool_]


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
    >>> from labelkin.thresholds import SCut
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


class ThresholdRule(BaseEstimator, ABC):
    """Turns scores (documents × labels) into decisions.

    In every rule a score of +inf, an accepted label, is decided yes, and −inf, a rejected label,
    no; rules do not calculate with them.

    Attributes
    ----------
    needs_scores : bool
        Whether ``fit`` needs scores; if not, use ``fit(None, Y)``.
    needs_batch : bool
        Whether a decision depends on the other documents, so that streams cannot be decided.
    label_names_ : array of shape (n_labels,)
    cut_, f1_, positives_, decided_ : arrays of shape (n_labels,)
        The columns of :meth:`table`; NaN if they do not apply.

    Examples
    --------
    A custom rule, with one cut per label:

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
            Out-of-fold scores of training documents, no NaN. The stored labels of a sparse matrix
            are candidates; other labels are never decided. ``None`` if the rule needs none.
        Y : any kind of labels
            Of the same documents; NaN cells are unknown and left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        labels = read_labels(Y)
        values = None if scores is None else _read(scores, labels.names)
        if values is None and self.needs_scores:
            raise ValueError(
                f"{type(self).__name__} learns its cuts from scores, got None. Give out-of-fold "
                "scores of the training documents."
            )
        if values is not None and values.shape[0] != labels.shape[0]:
            raise ValueError(
                f"scores and Y must have the same documents, got {values.shape[0]} and "
                f"{labels.shape[0]}."
            )
        cut = self._learn(values, labels)
        self.label_names_ = labels.names
        self.cut_ = np.full(labels.shape[1], np.nan) if cut is None else cut
        self._look_back(values, labels)
        return self

    def decide(self, scores: Any) -> Any:
        """Return the decisions, ``(n_documents, n_labels)``.

        A bool array; for sparse scores a CSR array of the decided candidates.
        """
        check_is_fitted(self)
        return self._decide_open(_read(scores, self.label_names_))

    def table(self) -> list[LabelCut]:
        """Return the cut of every label and its results on the fitting scores."""
        check_is_fitted(self)
        columns = zip(
            self.label_names_.tolist(),
            _or_none(self.cut_),
            _or_none(self._cut_probability()),
            _or_none(self.f1_),
            map(int, self.positives_),
            _or_none(self.decided_, int),
            strict=True,
        )
        return [LabelCut(*line) for line in columns]

    def _cut_probability(self) -> _Scores:
        scale = getattr(self, "scale_", getattr(self, "scale", None))
        if scale == "log_odds":
            return to_probability(self.cut_)
        return self.cut_ if scale == "probability" else np.full_like(self.cut_, np.nan)

    @abstractmethod
    def _learn(self, scores: Any, labels: LabelMatrix) -> _Scores | None:
        """Learn, and return the cut of every label, if any; ``scores`` may be ``None``."""

    def _is_decided(self, scores: _Scores, cut: _Scores) -> _Decisions:
        """Compare scores with their cuts."""
        return scores >= cut

    def _decide(self, scores: _Scores) -> _Decisions:
        """Decide dense scores; accepted and rejected labels are corrected afterwards."""
        return self._is_decided(scores, self.cut_)

    def _check_parameters(self) -> None:
        """Raise for invalid parameters."""

    def _decide_cells(self, cells: Cells, scores: _Scores) -> _Decisions:
        """Decide candidates, ``(n_cells,)``, by the cuts of labels if there are any."""
        if not np.isnan(self.cut_).any():
            return self._is_decided(scores, self.cut_[cells.label])
        rows, places = cells.side_by_side(scores, -np.inf)
        return self._decide(rows)[places]

    def _decide_open(self, scores: Any) -> Any:
        if not sparse.issparse(scores):
            return (self._decide(scores) | (scores == np.inf)) & (scores != -np.inf)
        cells = Cells.of(scores)
        given = cells.select(self.decide_cells(cells, scores.data))
        return given.matrix(np.ones(given.n, dtype=np.bool_))

    def decide_cells(self, cells: Cells, scores: _Scores) -> _Decisions:
        """Return the decisions of candidates, ``(n_cells,)``; ±inf, known labels, stay."""
        decided = self._decide_cells(cells, scores)
        return (decided | (scores == np.inf)) & (scores != -np.inf)

    def _look_back(self, scores: _Scores | None, labels: LabelMatrix) -> None:
        """Count the decisions on the fitting scores, known cells only."""
        self.positives_, _ = labels.counts()
        if scores is None:
            self.f1_ = self.decided_ = np.full(labels.shape[1], np.nan)
            return
        counts = count_decisions(Truth.of(labels), self._decide_open(scores))
        self.decided_, self.f1_ = counts.decided, counts.per_label("f1")


class FixedCut(ThresholdRule):
    """Decide the labels whose probability is above a fixed cut.

    Parameters
    ----------
    cut : float, default 0.5
        A probability, strictly between 0 and 1, for any scale of the scores. A score at the cut is
        not above it.
    scale : "probability" or "log_odds", default "probability"
        Scale of the scores.

    Examples
    --------
    >>> rule = FixedCut(0.5, scale="log_odds").fit(None, [["tea"], ["sugar", "tea"]])
    >>> rule.decide([[0.0, 2.0]])
    array([[False,  True]])
    """

    needs_scores: ClassVar[bool] = False

    def __init__(self, cut: float = 0.5, *, scale: Scale = "probability") -> None:
        self.cut = cut
        self.scale = scale

    def _check_parameters(self) -> None:
        check_choice("scale", self.scale, Scale)
        if not is_number(self.cut) or not 0 < self.cut < 1:
            raise ValueError(
                f"cut must be a probability strictly between 0 and 1, got {self.cut!r}, also when "
                "the scores are log-odds."
            )

    def _learn(self, scores: Any, labels: LabelMatrix) -> _Scores:
        cut = logit(self.cut) if self.scale == "log_odds" else self.cut
        return np.full(labels.shape[1], cut, dtype=np.float64)

    def _is_decided(self, scores: _Scores, cut: _Scores) -> _Decisions:
        if self.scale == "probability":
            check_values(scores, "probability", allow_infinite=True)
        return scores > cut


ThresholdChoice = float | str | ThresholdRule | None

#: The name of a rule that is good for each metric.
METRIC_RULES: dict[str, str] = {
    "hamming_loss": "fixed_cut",
    "micro_f1": "global_cut",
    "macro_f1": "scut_fbr",
    "subset_loss": "mcut",
    "document_f1": "expected_f1",
}


def rule_for(thresholds: ThresholdChoice, scale: Scale = "log_odds") -> ThresholdRule:
    """Return an unfitted rule for a number, a metric or a name.

    Parameters
    ----------
    thresholds : float, metric, name, rule or None
        ``None``: cut at 0.5. A number: cut at this probability. ``"hamming_loss"``,
        ``"micro_f1"``, ``"macro_f1"``, ``"subset_loss"`` or ``"document_f1"``, or scikit-learn's
        name of one of them, such as ``"f1_micro"``: the rule for this metric. The name of a rule:
        that rule with its defaults. A rule: a clone of it, for this scale of scores, also if it is
        inside another rule.
    scale : "probability" or "log_odds", default "log_odds"
        Scale of the scores.

    Returns
    -------
    ThresholdRule
        Not fitted.

    Examples
    --------
    >>> rule_for("subset_loss"), rule_for(0.3)
    (MCut(scale='log_odds'), FixedCut(cut=0.3, scale='log_odds'))
    """
    check_choice("scale", scale, Scale)
    if isinstance(thresholds, str):
        metric = SCIKIT_LEARN_NAMES.get(thresholds, thresholds)
        name = METRIC_RULES.get(metric, thresholds)
        if name in names("thresholds"):
            return _for_scale(part_class("thresholds", name)(), scale)
    if isinstance(thresholds, ThresholdRule):
        return _for_scale(clone(thresholds), scale)
    if thresholds is None or is_number(thresholds):
        cut = 0.5 if thresholds is None else float(thresholds)
        return _for_scale(part_class("thresholds", "fixed_cut")(cut), scale)
    kind = ValueError if isinstance(thresholds, str) else TypeError
    raise kind(
        "thresholds must be None (0.5), a probability, the name of a metric "
        f"({', '.join(METRIC_RULES)}) or of a rule ({', '.join(names('thresholds'))}), or a rule "
        f"such as SCutFBR(), got {thresholds!r}. "
        f"{did_you_mean(thresholds, [*METRIC_RULES, *names('thresholds')])}".rstrip()
    )


def fit_rule(
    rule: ThresholdRule,
    scores: _Scores | None,
    labels: LabelMatrix,
    weight: NDArray[np.float64] | None = None,
    scale: Scale = "log_odds",
) -> ThresholdRule:
    """Fit a rule on documents with a weight above 0.

    Rules count documents; other weights have no effect.

    Parameters
    ----------
    rule : ThresholdRule
        Not fitted.
    scores : array or CSR array of shape (n_documents, n_labels), or None
        Out-of-fold scores, on the rule's scale; ``None`` for rules that need none.
    labels : LabelMatrix
        Their labels.
    weight : array of shape (n_documents,), optional
        Documents with weight 0 are left out.
    scale : "probability" or "log_odds", default "log_odds"
        Scale of the scores, for the table of the rule.

    Returns
    -------
    ThresholdRule
        The same one, fitted.

    Examples
    --------
    >>> from labelkin.thresholds import RCut
    >>> from labelkin.label_matrix import read_labels
    >>> scores = np.array([[0.9, 0.2], [0.1, 0.6]])
    >>> labels = read_labels([[1, 0], [0, 1]])
    >>> fit_rule(RCut(), scores, labels, scale="probability").decide(scores).tolist()
    [[True, False], [False, True]]
    """
    seen = scores if rule.needs_scores else None
    rule.scale_ = scale
    if weight is None or (weight > 0).all():
        return rule.fit(seen, labels)
    rows = np.flatnonzero(weight > 0)
    return rule.fit(None if seen is None else seen[rows], labels.rows(rows))


@dataclass(frozen=True)
class RuleLabels:
    """Fill in the other labels by a threshold rule: M1 with learned cut-offs.

    The paper does not define the cut-offs τ of equation 3; here a rule is fitted on out-of-fold
    content evidence.

    Attributes
    ----------
    rule
        Fitted, for scores that are log-odds.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin.thresholds import FixedCut
    >>> from labelkin.thresholds import RuleLabels
    >>> content = np.array([[2.0, -1.0], [-0.3, 0.7]])  # log-odds
    >>> rule = FixedCut(0.5, scale="log_odds").fit(content, [["sea"], ["town"]])
    >>> RuleLabels(rule)(content).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    rule: ThresholdRule

    def __call__(self, content: _Scores) -> _Scores:
        """Return 1 for decided labels, else 0."""
        return np.asarray(self.rule.decide(content), dtype=np.float64)

    def at_cells(self, cells: Cells, content: _Scores) -> _Scores:
        """Return 1 for decided candidates, else 0, ``(n_cells,)``."""
        return self.rule.decide_cells(cells, content).astype(np.float64)


def _for_scale(rule: Any, scale: Scale) -> ThresholdRule:
    """Set the scale of the scores, in a rule and in the rule inside it."""
    parameters = rule.get_params(deep=False)
    if "scale" in parameters:
        rule.set_params(scale=scale)
    if "rule" in parameters:
        rule.set_params(rule=rule_for(parameters["rule"], scale))
    return rule


def _read(scores: Any, names: NDArray[Any]) -> Any:
    """Return checked scores: dense, or a CSR array of candidates."""
    if not sparse.issparse(scores):
        return read_scores(scores, names)
    cells, values = read_candidates(scores, names)
    return cells.matrix(values)


def known_scores(scores: Any, labels: LabelMatrix) -> Any:
    """Return the scores with −inf, which is never decided, in unknown cells."""
    if labels.unknown is None:
        return scores
    if sparse.issparse(scores):
        cells = Cells.of(scores)
        return cells.matrix(np.where(cells.at(labels.unknown) > 0, -np.inf, scores.data))
    known = scores.copy()
    known[labels.unknown.nonzero()] = -np.inf
    return known


def known_frequency(labels: LabelMatrix) -> NDArray[np.float64]:
    """Return the share of documents with each label; 0 if all its cells are unknown."""
    positive, known = labels.counts()
    return np.divide(positive, known, out=np.zeros(len(known)), where=known > 0)


def is_number(value: object) -> bool:
    """Return whether a value is a real number, not a bool."""
    return not isinstance(value, bool) and isinstance(value, Real)


def _or_none(values: _Scores, kind: type = float) -> list[Any]:
    """Return numbers as Python numbers, NaN as ``None``."""
    return [None if np.isnan(value) else kind(value) for value in values]


def as_probabilities(scores: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Return scores as probabilities; ±inf, a known label, is 1 or 0 on either scale."""
    if scale == "log_odds":
        return to_probability(scores)
    check_values(scores, "probability", allow_infinite=True)
    return np.clip(scores, 0.0, 1.0)


def halfway(lower: ArrayLike, upper: ArrayLike) -> NDArray[np.float64]:
    """Return the middle of two finite numbers: above the lower one, at most the upper one.

    Halves are added, because the sum of huge numbers overflows; of neighbouring floats the upper
    one is returned.

    Examples
    --------
    >>> float(halfway(0.25, 0.75)), float(halfway(1.0, np.nextafter(1.0, 2.0))) > 1
    (0.5, True)
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    middle = low / 2 + high / 2
    return np.where((middle > low) & (middle <= high), middle, high)


def cut_below(score: ArrayLike, next_lower: ArrayLike) -> NDArray[np.float64]:
    """Return the cut halfway to the next lower score; the score itself if it is lowest or +inf."""
    cut, lower = np.array(score, dtype=np.float64), np.asarray(next_lower)
    is_between = (cut < np.inf) & (lower > -np.inf)
    cut[is_between] = halfway(lower[is_between], cut[is_between])
    return cut
