"""Thresholds: rules that turn scores into decisions.

A rule has three verbs: ``fit(scores, Y)`` on out-of-fold scores of training documents and their
true labels, ``decide(scores)`` → 0/1, and ``table()``, one line per label.

==================  ==========================================  ====================================
one cut for all     :class:`FixedCut`, :class:`GlobalCut`       Hamming loss; any metric
a cut per label     :class:`SCut`, :class:`SCutFBR`             macro F1
by document         :class:`RCut`, :class:`MCut`,               a number of labels; the largest gap;
                    :class:`ExpectedF1`                         each document's own F1
by batch            :class:`PCut`                               as many documents as in training
limits              :class:`LabelLimits`                        at least, at most k labels
==================  ==========================================  ====================================

:func:`rule_for` returns the rule for a number, a metric or a name, and :func:`limit_table`
evaluates every number of labels with every cut.
"""

from labelkin.thresholds.cuts import GlobalCut, PCut, SCut, SCutFBR
from labelkin.thresholds.per_document import (
    BestLimit,
    ExpectedF1,
    LabelLimits,
    LimitTable,
    MCut,
    RCut,
    limit_table,
)
from labelkin.thresholds.rule import (
    FixedCut,
    LabelCut,
    RuleLabels,
    ThresholdChoice,
    ThresholdRule,
    fit_rule,
    rule_for,
)

__all__ = [
    "BestLimit",
    "ExpectedF1",
    "FixedCut",
    "GlobalCut",
    "LabelCut",
    "LabelLimits",
    "LimitTable",
    "MCut",
    "PCut",
    "RCut",
    "RuleLabels",
    "SCut",
    "SCutFBR",
    "ThresholdChoice",
    "ThresholdRule",
    "fit_rule",
    "limit_table",
    "rule_for",
]
