"""Content evidence, p(label | document): classifiers of documents.

==========================  ==================================================================
``PlattSVM``                Linear SVMs with Platt's probabilities; the default for texts
``NaiveBayes``              Multinomial naive Bayes
``NearestNeighbours``       k nearest neighbours by cosine similarity
``RandomForest``            A random forest, for numbers
``ContentEnsemble``         Several classifiers, or several views of a document
``PerLabel``                Any classifier with ``predict_proba``, one clone per label
``MultilabelContent``       Any multilabel classifier with ``predict_proba``
``cross_val_log_odds``      Out-of-fold log-odds of any of them
==========================  ==================================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin.content.any_classifier import MultilabelContent, PerLabel, cross_val_log_odds
    from labelkin.content.ensemble import ContentEnsemble
    from labelkin.content.forest import RandomForest
    from labelkin.content.naive_bayes import NaiveBayes
    from labelkin.content.nearest_neighbours import NearestNeighbours
    from labelkin.content.platt_svm import PlattSVM

_MODULES = {
    "ContentEnsemble": "ensemble",
    "MultilabelContent": "any_classifier",
    "NaiveBayes": "naive_bayes",
    "NearestNeighbours": "nearest_neighbours",
    "PerLabel": "any_classifier",
    "PlattSVM": "platt_svm",
    "RandomForest": "forest",
    "cross_val_log_odds": "any_classifier",
}

__all__ = [
    "ContentEnsemble",
    "MultilabelContent",
    "NaiveBayes",
    "NearestNeighbours",
    "PerLabel",
    "PlattSVM",
    "RandomForest",
    "cross_val_log_odds",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'labelkin.content' has no attribute {name!r}")
    return getattr(import_module(f"labelkin.content.{_MODULES[name]}"), name)
