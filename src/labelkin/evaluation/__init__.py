"""Evaluation of decisions, rankings and probabilities.

================  =================================================================
``metrics``       Micro and macro F1, ranking and probability metrics, ``evaluate``
``significance``  Sign tests, paired bootstrap and rank tests between systems
``splits``        Stratified folds and splits for documents with several labels
================  =================================================================

The functions can also be imported from here: ``from labelkin.evaluation import f1``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkin.evaluation import metrics, significance, splits
    from labelkin.evaluation.metrics import *  # noqa: F403
    from labelkin.evaluation.significance import *  # noqa: F403
    from labelkin.evaluation.splits import *  # noqa: F403

__all__ = ["metrics", "significance", "splits"]


def __getattr__(name: str) -> Any:
    """Import a module, or a public name of one, when it is first used."""
    if name in __all__:
        return import_module(f"labelkin.evaluation.{name}")
    for home in () if name.startswith("_") else __all__:
        module = import_module(f"labelkin.evaluation.{home}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'labelkin.evaluation' has no attribute {name!r}")
