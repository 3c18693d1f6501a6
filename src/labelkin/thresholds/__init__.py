"""Thresholds: rules that turn scores into decisions.

A rule has three verbs: ``fit(scores, Y)`` on out-of-fold scores of training documents and their
true labels, ``decide(scores)`` → 0/1, and ``table()``, one line per label to look at.

==================  ==========================================  ====================================
one cut for all     :class:`FixedCut`, :class:`GlobalCut`       Hamming loss; any metric
a cut per label     :class:`SCut`, :class:`SCutFBR`             macro F1
by document         :class:`RCut`, :class:`MCut`,               a number of labels; the largest gap;
                    :class:`ExpectedF1`                         each document's own F1
by batch            :class:`PCut`                               as many documents as in training
limits              :class:`LabelLimits`                        at least, at most k labels
==================  ==========================================  ====================================

:func:`rule_for` names the rule for a metric, :func:`as_rule` reads what a user gave, and
:func:`limit_table` scores every number of labels with every cut.
"""

from labelkin.thresholds.choosing import RuleLabels, Thresholds, as_rule, fit_rule, rule_for
from labelkin.thresholds.cuts import FixedCut, GlobalCut, PCut, SCut, SCutFBR
from labelkin.thresholds.limit_table import BestCell, LimitTable, limit_table
from labelkin.thresholds.per_document import ExpectedF1, LabelLimits, MCut, RCut
from labelkin.thresholds.rule import LabelCut, ThresholdRule

__all__ = [
    "BestCell",
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
    "ThresholdRule",
    "Thresholds",
    "as_rule",
    "fit_rule",
    "limit_table",
    "rule_for",
]
