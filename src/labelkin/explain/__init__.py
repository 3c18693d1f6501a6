"""Explanations: contributions of labels and of terms, and the label graph."""

from labelkin.explain.contributions import (
    Explanation,
    LabelContribution,
    Posterior,
    Suggestion,
    TermExplanation,
    explain_terms,
)
from labelkin.explain.graph import LabelEdge, LabelGraph, label_graph

__all__ = [
    "Explanation",
    "LabelContribution",
    "LabelEdge",
    "LabelGraph",
    "Posterior",
    "Suggestion",
    "TermExplanation",
    "explain_terms",
    "label_graph",
]
