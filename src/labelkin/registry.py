"""Names of parts and of public objects, which are imported when they are used.

``LabelDependenceClassifier(content="naive_bayes")``, ``labelkin train --content naive_bayes`` and
``content = "naive_bayes"`` in an experiment name the same class. A command that lists names does
not load scikit-learn, and ``import labelkin`` loads only this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal

Kind = Literal["content", "labels", "thresholds"]

#: Kind of part → name → module, below ``labelkin`` or of a package in ``packages/``, and class.
PARTS: dict[Kind, dict[str, str]] = {
    "content": {
        "svm": "content.platt_svm.PlattSVM",
        "naive_bayes": "content.naive_bayes.NaiveBayes",
        "nearest_neighbours": "content.nearest_neighbours.NearestNeighbours",
        "forest": "content.forest.RandomForest",
        "omikuji": "labelkin_omikuji.OmikujiContent",
    },
    "labels": {
        "logistic": "method.label_evidence.LogisticLabels",
        "svm": "method.label_evidence.SVMLabels",
    },
    "thresholds": {
        "fixed_cut": "thresholds.rule.FixedCut",
        "global_cut": "thresholds.cuts.GlobalCut",
        "scut": "thresholds.cuts.SCut",
        "scut_fbr": "thresholds.cuts.SCutFBR",
        "pcut": "thresholds.cuts.PCut",
        "rcut": "thresholds.per_document.RCut",
        "mcut": "thresholds.per_document.MCut",
        "expected_f1": "thresholds.per_document.ExpectedF1",
    },
}


#: Short names.
SHORT = {"nb": "naive_bayes", "knn": "nearest_neighbours"}


def names(kind: Kind) -> tuple[str, ...]:
    """Return the names of a kind of part."""
    return tuple(PARTS[kind])


def part_class(kind: Kind, name: str) -> Any:
    """Return the class of a name.

    Examples
    --------
    >>> part_class("content", "naive_bayes")
    <class 'labelkin.content.naive_bayes.NaiveBayes'>
    """
    check_name(kind, name)
    module, _, attribute = PARTS[kind][name].rpartition(".")
    if not module.startswith("labelkin_"):
        return getattr(import_module(f"labelkin.{module}"), attribute)
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        package = module.replace("_", "-")
        raise ImportError(f"{kind}={name!r} needs {package}: pip install {package}.") from error


def check_name(kind: Kind, name: str) -> None:
    """Raise for an unknown name, with a list of known names."""
    if name in PARTS[kind]:
        return
    near = get_close_matches(name.replace("-", "_").lower(), PARTS[kind], 1)
    hint = f"Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(map(repr, PARTS[kind]))
    raise ValueError(f"{kind} must be one of {listed}, got {name!r}. {hint}".rstrip())


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package, ``__name__``.
    homes : mapping
        Module, relative to the package, to the names it defines, separated by spaces.

    Examples
    --------
    >>> get, _, names = lazy_names("labelkin", {"odds": "to_log_odds"})
    >>> names, get("to_log_odds").__name__
    (['to_log_odds'], 'to_log_odds')
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home:
            near = get_close_matches(name, home, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *home}), sorted(home)
