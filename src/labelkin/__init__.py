"""Multilabel classification that listens to the other labels.

Names are imported when they are first used: a command that needs no model loads no scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin import corpora, metrics, rules, significance, splits, text
    from labelkin.method.classifier import LabelDependenceClassifier, Suggestion
    from labelkin.method.content.all_labels import AllLabels
    from labelkin.method.content.naive_bayes import NaiveBayes
    from labelkin.method.content.nearest_neighbours import NearestNeighbours
    from labelkin.method.content.per_label import PerLabel
    from labelkin.method.content.platt_svm import PlattSVM
    from labelkin.method.cross_validation import cross_val_log_odds
    from labelkin.method.explanation import Explanation
    from labelkin.method.label_evidence import LogisticLabels, OtherLabels, SVMLabels
    from labelkin.method.label_graph import Bond, LabelGraph, label_graph
    from labelkin.method.learned_weight import LearnedWeight
    from labelkin.method.rescorer import LabelRescorer
    from labelkin.method.term_explanation import TermExplanation, explain_terms
    from labelkin.method.thresholds import (
        ExpectedF1,
        FixedCut,
        GlobalCut,
        LabelLimits,
        MCut,
        PCut,
        RCut,
        SCut,
        SCutFBR,
    )
    from labelkin.rules import Rules
    from labelkin.storage import load, save

    __version__: str

#: Where each name is; what is not in here is a module of its own.
_HOMES = {
    "AllLabels": "method.content.all_labels",
    "Bond": "method.label_graph",
    "ExpectedF1": "method.thresholds",
    "Explanation": "method.explanation",
    "FixedCut": "method.thresholds",
    "GlobalCut": "method.thresholds",
    "LabelDependenceClassifier": "method.classifier",
    "LabelGraph": "method.label_graph",
    "LabelLimits": "method.thresholds",
    "LabelRescorer": "method.rescorer",
    "LearnedWeight": "method.learned_weight",
    "LogisticLabels": "method.label_evidence",
    "MCut": "method.thresholds",
    "NaiveBayes": "method.content.naive_bayes",
    "NearestNeighbours": "method.content.nearest_neighbours",
    "OtherLabels": "method.label_evidence",
    "PCut": "method.thresholds",
    "PerLabel": "method.content.per_label",
    "PlattSVM": "method.content.platt_svm",
    "RCut": "method.thresholds",
    "Rules": "rules",
    "SCut": "method.thresholds",
    "SCutFBR": "method.thresholds",
    "SVMLabels": "method.label_evidence",
    "Suggestion": "method.classifier",
    "TermExplanation": "method.term_explanation",
    "cross_val_log_odds": "method.cross_validation",
    "explain_terms": "method.term_explanation",
    "label_graph": "method.label_graph",
    "load": "storage",
    "save": "storage",
}

__all__ = [
    "AllLabels",
    "Bond",
    "ExpectedF1",
    "Explanation",
    "FixedCut",
    "GlobalCut",
    "LabelDependenceClassifier",
    "LabelGraph",
    "LabelLimits",
    "LabelRescorer",
    "LearnedWeight",
    "LogisticLabels",
    "MCut",
    "NaiveBayes",
    "NearestNeighbours",
    "OtherLabels",
    "PCut",
    "PerLabel",
    "PlattSVM",
    "RCut",
    "Rules",
    "SCut",
    "SCutFBR",
    "SVMLabels",
    "Suggestion",
    "TermExplanation",
    "corpora",
    "cross_val_log_odds",
    "explain_terms",
    "label_graph",
    "load",
    "metrics",
    "rules",
    "save",
    "significance",
    "splits",
    "text",
]


def __getattr__(name: str) -> Any:
    """Import a public name; afterwards it is an attribute like any other."""
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("labelkin")
    elif name in _HOMES:
        value = getattr(import_module(f"labelkin.{_HOMES[name]}"), name)
    elif name in __all__:
        return import_module(f"labelkin.{name}")
    else:
        raise AttributeError(f"module 'labelkin' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
