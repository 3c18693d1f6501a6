"""Evaluation of decisions, rankings and probabilities.

================  =================================================================
``metrics``       Micro and macro F1, ranking and probability metrics, ``evaluate``
``significance``  Sign tests, paired bootstrap and rank tests between systems
``splits``        Stratified folds and splits for documents with several labels
================  =================================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin.evaluation import metrics, significance, splits

__all__ = ["metrics", "significance", "splits"]


def __getattr__(name: str) -> Any:
    """Import a module when it is first used."""
    if name in __all__:
        return import_module(f"labelkin.evaluation.{name}")
    raise AttributeError(f"module 'labelkin.evaluation' has no attribute {name!r}")
