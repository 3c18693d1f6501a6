"""The threshold rules an experiment can name: tuned on out-of-fold log-odds, used on test ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment.systems import Thresholds, parameter_kinds
from labelkin.thresholds import (
    ExpectedF1,
    FixedCut,
    GlobalCut,
    LabelLimits,
    MCut,
    PCut,
    RCut,
    SCut,
    SCutFBR,
    ThresholdRule,
    as_rule,
)

#: Documents × labels decided at a time: 2²⁰ numbers are 8 MB.
_BLOCK_CELLS = 2**20
#: The scores are always log-odds, and what decides before limits is the rule's own affair.
_NOT_OURS = ("scale", "rule")


def _not_empty() -> ThresholdRule:
    return LabelLimits(at_least=1)


#: Threshold rules by name; what they take are their parameters in an experiment.
RULES: dict[str, Callable[..., ThresholdRule]] = {
    "fixed_cut": FixedCut,
    "global_cut": GlobalCut,
    "scut": SCut,
    "scut_fbr": SCutFBR,
    "rcut": RCut,
    "mcut": MCut,
    "expected_f1": ExpectedF1,
    "pcut": PCut,
    "not_empty": _not_empty,
}


def rule_parameters(rule: str) -> dict[str, Any]:
    """Return the parameters that a rule takes in an experiment, with their types.

    Examples
    --------
    >>> rule_parameters("scut_fbr")
    {'beta': <class 'float'>, 'fbr': <class 'float'>, 'variant': <class 'int'>}
    """
    if rule == "not_empty":
        return {}
    kinds = parameter_kinds(RULES[rule])
    return {name: kind for name, kind in kinds.items() if name not in _NOT_OURS}


def make_rule(thresholds: Thresholds) -> ThresholdRule:
    """Make an unfitted rule for log-odds."""
    return as_rule(RULES[thresholds.rule](**thresholds.parameters), "log_odds")


def check_rule(rule: str, parameters: Mapping[str, Any]) -> None:
    """Refuse values that the rule itself refuses: it is fitted on two documents."""
    made = make_rule(Thresholds(rule, rule, parameters))
    made.fit(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(2))


def decide(rule: ThresholdRule, log_odds: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    """Yield the decisions, block by block where the rule decides each document by itself."""
    n_documents, n_labels = log_odds.shape
    size = n_documents if rule.needs_batch else max(1, _BLOCK_CELLS // n_labels)
    for start in range(0, n_documents, size):
        yield rule.decide(np.array(log_odds[start : start + size]))


def cuts_csv(rule: ThresholdRule) -> str:
    """Return the table of a fitted rule as CSV, a line per label; empty where nothing applies."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["label", "cut", "f1", "positives", "decided"])
    writer.writerows(rule.table())
    return file.getvalue()
