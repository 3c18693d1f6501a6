"""Multilabel classification that listens to the other labels."""

from importlib.metadata import version

from labelkin import corpora, metrics, significance, splits, text
from labelkin.method.classifier import LabelDependenceClassifier, Suggestion
from labelkin.method.content.all_labels import AllLabels
from labelkin.method.content.naive_bayes import NaiveBayes
from labelkin.method.content.nearest_neighbours import NearestNeighbours
from labelkin.method.content.per_label import PerLabel
from labelkin.method.content.platt_svm import PlattSVM
from labelkin.method.cross_validation import cross_val_log_odds
from labelkin.method.label_evidence import LogisticLabels, OtherLabels, SVMLabels
from labelkin.method.rescorer import LabelRescorer

__version__ = version("labelkin")

__all__ = [
    "AllLabels",
    "LabelDependenceClassifier",
    "LabelRescorer",
    "LogisticLabels",
    "NaiveBayes",
    "NearestNeighbours",
    "OtherLabels",
    "PerLabel",
    "PlattSVM",
    "SVMLabels",
    "Suggestion",
    "corpora",
    "cross_val_log_odds",
    "metrics",
    "significance",
    "splits",
    "text",
]
