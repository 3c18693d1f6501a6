"""Multilabel classification with evidence from the other labels.

The estimators and their usual parts are here; everything else is one level below, under a noun:
:mod:`labelkin.content`, :mod:`labelkin.corpora`, :mod:`labelkin.curation`,
:mod:`labelkin.evaluation`, :mod:`labelkin.explain`, :mod:`labelkin.research`,
:mod:`labelkin.text`, :mod:`labelkin.thresholds`, :mod:`labelkin.vocabulary`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labelkin.registry import lazy_names

if TYPE_CHECKING:
    from labelkin.content.any_classifier import PerLabel
    from labelkin.content.ensemble import ContentEnsemble
    from labelkin.content.forest import RandomForest
    from labelkin.content.naive_bayes import NaiveBayes
    from labelkin.content.nearest_neighbours import NearestNeighbours
    from labelkin.content.platt_svm import PlattSVM
    from labelkin.curation.audit.label_audit import LabelAudit
    from labelkin.learned.fitting import LearnedWeight
    from labelkin.method.label_evidence import LogisticLabels, SVMLabels
    from labelkin.method.paper import PaperClassifier
    from labelkin.models.builder import preset
    from labelkin.models.classifier import LabelDependenceClassifier, RescoredClassifier
    from labelkin.models.rescorer import LabelRescorer
    from labelkin.storage import load, save
    from labelkin.vocabulary.rules import Rules

    __version__: str

__all__ = [
    "ContentEnsemble",
    "LabelAudit",
    "LabelDependenceClassifier",
    "LabelRescorer",
    "LearnedWeight",
    "LogisticLabels",
    "NaiveBayes",
    "NearestNeighbours",
    "PaperClassifier",
    "PerLabel",
    "PlattSVM",
    "RandomForest",
    "RescoredClassifier",
    "Rules",
    "SVMLabels",
    "load",
    "preset",
    "save",
]

#: Subpackages that are attributes without an import of their own: ``labelkin.corpora.load``.
_SUBPACKAGES = frozenset(
    {
        "content",
        "corpora",
        "curation",
        "evaluation",
        "explain",
        "research",
        "text",
        "thresholds",
        "vocabulary",
    }
)

_public, __dir__, _names = lazy_names(
    __name__,
    {
        "content.any_classifier": "PerLabel",
        "content.ensemble": "ContentEnsemble",
        "content.forest": "RandomForest",
        "content.naive_bayes": "NaiveBayes",
        "content.nearest_neighbours": "NearestNeighbours",
        "content.platt_svm": "PlattSVM",
        "curation.audit.label_audit": "LabelAudit",
        "learned.fitting": "LearnedWeight",
        "method.label_evidence": "LogisticLabels SVMLabels",
        "method.paper": "PaperClassifier",
        "models.classifier": "LabelDependenceClassifier RescoredClassifier",
        "models.builder": "preset",
        "models.rescorer": "LabelRescorer",
        "storage": "load save",
        "vocabulary.rules": "Rules",
    },
)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _SUBPACKAGES:
        return import_module(f"labelkin.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("labelkin")
    return _public(name)
