"""Multilabel classification with evidence from the other labels.

Names are imported when they are first used: a command that needs no model loads no scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin import corpora, curation, evaluation, research, text, vocabulary
    from labelkin.content.any_classifier import MultilabelContent, PerLabel, cross_val_log_odds
    from labelkin.content.ensemble import ContentEnsemble
    from labelkin.content.forest import RandomForest
    from labelkin.content.naive_bayes import NaiveBayes
    from labelkin.content.nearest_neighbours import NearestNeighbours
    from labelkin.content.platt_svm import PlattSVM
    from labelkin.curation.active_learning import next_documents
    from labelkin.curation.audit.label_audit import LabelAudit
    from labelkin.explain.contributions import (
        Explanation,
        Posterior,
        Suggestion,
        TermExplanation,
        explain_terms,
    )
    from labelkin.explain.graph import LabelEdge, LabelGraph, label_graph
    from labelkin.learned.fitting import LearnedWeight
    from labelkin.method.label_evidence import LogisticLabels, PerLabelEvidence, SVMLabels
    from labelkin.method.paper import PaperClassifier
    from labelkin.models.classifier import LabelDependenceClassifier
    from labelkin.models.presets import preset
    from labelkin.models.rescored import RescoredClassifier
    from labelkin.models.rescorer import LabelRescorer
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
    from labelkin.vocabulary.rules import Rules

    __version__: str

#: Where each name is; what is not in here is a module of its own.
_HOMES = {
    name: module
    for module, names in {
        "curation.active_learning": "next_documents",
        "curation.audit.label_audit": "LabelAudit",
        "learned.fitting": "LearnedWeight",
        "content.any_classifier": "MultilabelContent PerLabel cross_val_log_odds",
        "content.ensemble": "ContentEnsemble",
        "content.forest": "RandomForest",
        "content.naive_bayes": "NaiveBayes",
        "content.nearest_neighbours": "NearestNeighbours",
        "content.platt_svm": "PlattSVM",
        "explain.contributions": "Explanation Posterior Suggestion TermExplanation explain_terms",
        "explain.graph": "LabelEdge LabelGraph label_graph",
        "models.classifier": "LabelDependenceClassifier",
        "method.label_evidence": "LogisticLabels PerLabelEvidence SVMLabels",
        "method.paper": "PaperClassifier",
        "models.rescored": "RescoredClassifier",
        "models.rescorer": "LabelRescorer",
        "models.presets": "preset",
        "vocabulary.rules": "Rules",
        "storage": "load save",
        "thresholds": "ExpectedF1 FixedCut GlobalCut LabelLimits MCut PCut RCut SCut SCutFBR",
    }.items()
    for name in names.split()
}

__all__ = [
    "ContentEnsemble",
    "ExpectedF1",
    "Explanation",
    "FixedCut",
    "GlobalCut",
    "LabelAudit",
    "LabelDependenceClassifier",
    "LabelEdge",
    "LabelGraph",
    "LabelLimits",
    "LabelRescorer",
    "LearnedWeight",
    "LogisticLabels",
    "MCut",
    "MultilabelContent",
    "NaiveBayes",
    "NearestNeighbours",
    "PCut",
    "PaperClassifier",
    "PerLabel",
    "PerLabelEvidence",
    "PlattSVM",
    "Posterior",
    "RCut",
    "RandomForest",
    "RescoredClassifier",
    "Rules",
    "SCut",
    "SCutFBR",
    "SVMLabels",
    "Suggestion",
    "TermExplanation",
    "corpora",
    "cross_val_log_odds",
    "curation",
    "evaluation",
    "explain_terms",
    "label_graph",
    "load",
    "next_documents",
    "preset",
    "research",
    "save",
    "text",
    "vocabulary",
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
        from difflib import get_close_matches

        near = get_close_matches(name, __all__, 1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'labelkin' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
