"""Explanations: contributions of labels and of terms, and the label graph."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: models import this package."""
    if name not in __all__:
        raise AttributeError(f"module 'labelkin.explain' has no attribute {name!r}")
    home = "graph" if name in ("LabelEdge", "LabelGraph", "label_graph") else "contributions"
    return getattr(import_module(f"labelkin.explain.{home}"), name)
