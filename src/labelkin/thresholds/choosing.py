"""From what a user says, a number, a metric or a name, to a fitted threshold rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelkin.evaluation.metrics.names import SCIKIT_LEARN_NAMES, metric_name
from labelkin.label_matrix import Cells, LabelMatrix, Scale, check_scale
from labelkin.registry import did_you_mean, names, part_class
from labelkin.thresholds.cuts import FixedCut, GlobalCut, SCutFBR
from labelkin.thresholds.per_document import ExpectedF1, MCut
from labelkin.thresholds.rule import Scores, ThresholdRule, TunedMetric, is_number

RuleName = Literal[
    "fixed_cut", "global_cut", "scut", "scut_fbr", "pcut", "rcut", "mcut", "expected_f1"
]
Thresholds = float | TunedMetric | RuleName | ThresholdRule | None

#: No rule is best for everything; this one is good for each metric.
RULES: dict[str, Callable[[Scale], ThresholdRule]] = {
    "hamming_loss": lambda scale: FixedCut(0.5, scale=scale),
    "micro_f1": lambda scale: GlobalCut("micro_f1"),
    "macro_f1": lambda scale: SCutFBR(),
    "subset_loss": lambda scale: MCut(scale=scale),
    "document_f1": lambda scale: ExpectedF1(scale=scale),
}


def rule_for(metric: TunedMetric | str, scale: Scale = "log_odds") -> ThresholdRule:
    """Return the rule to use when a metric matters most.

    Parameters
    ----------
    metric : str
        ``"hamming_loss"``, ``"micro_f1"``, ``"macro_f1"``, ``"subset_loss"`` or ``"document_f1"``,
        or scikit-learn's name of one of them, such as ``"f1_micro"``.
    scale : "probability" or "log_odds", default "log_odds"
        What the scores are.

    Returns
    -------
    ThresholdRule
        Not fitted.

    Examples
    --------
    >>> rule_for("subset_loss")
    MCut(scale='log_odds')
    """
    check_scale(scale)
    return RULES[metric_name(metric, RULES)](scale)


def as_rule(thresholds: Thresholds | str, scale: Scale) -> ThresholdRule:
    """Return an unfitted rule for what a user gave as thresholds.

    Parameters
    ----------
    thresholds : float, metric, name, rule or None
        ``None``: cut at 0.5. A number: cut at this probability. A metric: see :func:`rule_for`. The
        name of a rule: that rule with its defaults. A rule: a clone of it, for this scale of
        scores, also where it stands inside another rule.
    scale : "probability" or "log_odds"
        What the scores are.

    Returns
    -------
    ThresholdRule
        Not fitted.

    Examples
    --------
    >>> as_rule(0.3, scale="log_odds")
    FixedCut(cut=0.3, scale='log_odds')
    """
    check_scale(scale)
    if thresholds is None:
        return FixedCut(scale=scale)
    if isinstance(thresholds, str) and SCIKIT_LEARN_NAMES.get(thresholds, thresholds) in RULES:
        return rule_for(thresholds, scale)
    if isinstance(thresholds, str) and thresholds in names("thresholds"):
        return _for_scale(part_class("thresholds", thresholds)(), scale)
    if isinstance(thresholds, ThresholdRule):
        return _for_scale(clone(thresholds), scale)
    if is_number(thresholds):
        return FixedCut(float(thresholds), scale=scale)
    kind = ValueError if isinstance(thresholds, str) else TypeError
    raise kind(
        "thresholds must be None (0.5), a probability, the name of a metric "
        f"({', '.join(RULES)}) or of a rule ({', '.join(names('thresholds'))}), or a threshold "
        f"rule such as SCutFBR(), got {thresholds!r}. "
        f"{did_you_mean(thresholds, [*RULES, *names('thresholds')])}".rstrip()
    )


def fit_rule(
    rule: ThresholdRule,
    scores: Scores | None,
    labels: LabelMatrix,
    weight: NDArray[np.float64] | None = None,
    scale: Scale = "log_odds",
) -> ThresholdRule:
    """Fit a rule on what it needs; documents that count nothing are as good as absent.

    Rules count documents, and do not weigh them otherwise.

    Parameters
    ----------
    rule : ThresholdRule
        Not fitted.
    scores : array or CSR array of shape (n_documents, n_labels), or None
        Of documents as if unseen, on the rule's scale; None for rules that learn from none.
    labels : LabelMatrix
        Their labels.
    weight : array of shape (n_documents,), optional
        Documents with 0 are left out.
    scale : "probability" or "log_odds", default "log_odds"
        Scale of the scores, for the table of the rule.

    Returns
    -------
    ThresholdRule
        The same one, fitted.

    Examples
    --------
    >>> from labelkin import RCut
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
    """Fill in the other labels as a threshold rule decides them: M1 with learned cut-offs.

    The paper leaves the cut-offs τ of equation 3 open; a rule fitted on out-of-fold content
    evidence finds them.

    Attributes
    ----------
    rule
        Fitted, for scores that are log-odds.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin import FixedCut
    >>> from labelkin.thresholds import RuleLabels
    >>> content = np.array([[2.0, -1.0], [-0.3, 0.7]])  # log-odds
    >>> rule = FixedCut(0.5, scale="log_odds").fit(content, [["sea"], ["town"]])
    >>> RuleLabels(rule)(content).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    rule: ThresholdRule

    def __call__(self, content: Scores) -> Scores:
        """Return 1 where the rule gives the label."""
        return np.asarray(self.rule.decide(content), dtype=np.float64)

    def at_cells(self, cells: Cells, content: Scores) -> Scores:
        """Return 1 where the rule gives the candidate, ``(n_cells,)``."""
        return self.rule.decide_cells(cells, content).astype(np.float64)


def _for_scale(rule: Any, scale: Scale) -> ThresholdRule:
    """Set what the scores are, in a rule and in the one inside it."""
    parameters = rule.get_params(deep=False)
    if "scale" in parameters:
        rule.set_params(scale=scale)
    if "rule" in parameters:
        rule.set_params(rule=as_rule(parameters["rule"], scale))
    return rule
