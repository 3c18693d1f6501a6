"""Multilabel classification that listens to the other labels."""

from importlib.metadata import version

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

__version__ = version("labelkin")

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
