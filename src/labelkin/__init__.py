"""Multilabel classification that listens to the other labels.

Names are imported when they are first used: a command that needs no model loads no scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin import corpora, metrics, rules, significance, splits, text
    from labelkin.beyond.learned_weight import LearnedWeight
    from labelkin.content.any_classifier import AllLabels, PerLabel, cross_val_log_odds
    from labelkin.content.naive_bayes import NaiveBayes
    from labelkin.content.nearest_neighbours import NearestNeighbours
    from labelkin.content.platt_svm import PlattSVM
    from labelkin.explain.contributions import Explanation, Suggestion
    from labelkin.explain.label_graph import LabelEdge, LabelGraph, label_graph
    from labelkin.explain.terms import TermExplanation, explain_terms
    from labelkin.method.classifier import LabelDependenceClassifier
    from labelkin.method.label_evidence import LogisticLabels, OtherLabels, SVMLabels
    from labelkin.method.rescorer import LabelRescorer
    from labelkin.rules import Rules
    from labelkin.storage import load, save
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
    )

    __version__: str

#: Where each name is; what is not in here is a module of its own.
_HOMES = {
    "AllLabels": "content.any_classifier",
    "LabelEdge": "explain.label_graph",
    "ExpectedF1": "thresholds",
    "Explanation": "explain.contributions",
    "FixedCut": "thresholds",
    "GlobalCut": "thresholds",
    "LabelDependenceClassifier": "method.classifier",
    "LabelGraph": "explain.label_graph",
    "LabelLimits": "thresholds",
    "LabelRescorer": "method.rescorer",
    "LearnedWeight": "beyond.learned_weight",
    "LogisticLabels": "method.label_evidence",
    "MCut": "thresholds",
    "NaiveBayes": "content.naive_bayes",
    "NearestNeighbours": "content.nearest_neighbours",
    "OtherLabels": "method.label_evidence",
    "PCut": "thresholds",
    "PerLabel": "content.any_classifier",
    "PlattSVM": "content.platt_svm",
    "RCut": "thresholds",
    "Rules": "rules",
    "SCut": "thresholds",
    "SCutFBR": "thresholds",
    "SVMLabels": "method.label_evidence",
    "Suggestion": "explain.contributions",
    "TermExplanation": "explain.terms",
    "cross_val_log_odds": "content.any_classifier",
    "explain_terms": "explain.terms",
    "label_graph": "explain.label_graph",
    "load": "storage",
    "save": "storage",
}

__all__ = [
    "AllLabels",
    "ExpectedF1",
    "Explanation",
    "FixedCut",
    "GlobalCut",
    "LabelDependenceClassifier",
    "LabelEdge",
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
