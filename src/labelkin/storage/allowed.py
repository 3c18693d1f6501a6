"""The classes, functions and types that a model file may name.

Of labelkin: estimators, records and named tuples of the packages below. Of scikit-learn: the
classes listed, whose fitted state is arrays and plain values, and whose compiled code cannot be led
outside its arrays by them. (``SVC`` and the trees index memory by their fitted arrays; so does
``KNeighborsClassifier``, in whose place there is ``NearestNeighbours``.)

To allow one more, add its name here and a round trip to the tests.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

PACKAGES = (
    "labelkin.beyond",
    "labelkin.content",
    "labelkin.label_matrix",
    "labelkin.method",
    "labelkin.rules",
    "labelkin.solvers",
    "labelkin.text",
    "labelkin.thresholds",
)

SKLEARN: dict[str, tuple[str, ...]] = {
    "sklearn.calibration": (
        "CalibratedClassifierCV",
        "_CalibratedClassifier",
        "_SigmoidCalibration",
    ),
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.decomposition": ("TruncatedSVD",),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "sklearn.feature_extraction.text": (
        "CountVectorizer",
        "HashingVectorizer",
        "TfidfTransformer",
        "TfidfVectorizer",
    ),
    "sklearn.feature_selection": ("SelectKBest", "SelectPercentile", "VarianceThreshold"),
    "sklearn.linear_model": ("LogisticRegression", "RidgeClassifier", "SGDClassifier"),
    "sklearn.multiclass": ("OneVsRestClassifier", "_ConstantPredictor"),
    "sklearn.multioutput": ("MultiOutputClassifier",),
    "sklearn.naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "sklearn.neural_network": ("MLPClassifier",),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "FunctionTransformer",
        "LabelBinarizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MultiLabelBinarizer",
        "Normalizer",
        "StandardScaler",
    ),
    "sklearn.svm": ("LinearSVC",),
}

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "labelkin.beyond.guesses": ("decided_labels", "probable_labels"),
    "numpy": ("abs", "exp", "expm1", "log", "log10", "log1p", "log2", "sign", "sqrt", "square"),
    "sklearn.feature_selection": ("chi2", "f_classif", "mutual_info_classif"),
}

_NUMPY_TYPES = (
    *("bool_", "str_", "object_", "float16", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
    **{f"numpy.{name}": getattr(np, name) for name in _NUMPY_TYPES},
}


def name_of_class(kind: type) -> str | None:
    """Return the name under which a class is stored; ``None`` if it is not allowed."""
    if _is_ours(kind):
        return f"{kind.__module__}.{kind.__name__}"
    return _name_in(SKLEARN, kind.__name__, kind)


def class_named(name: str) -> type | None:
    """Return the class that is stored under a name; ``None`` if none is."""
    module, _, attribute = name.rpartition(".")
    if attribute in SKLEARN.get(module, ()):
        return _look_up(module, attribute)
    if module not in _our_modules():
        return None
    kind = _look_up(module, attribute)
    same = isinstance(kind, type) and _is_ours(kind) and name_of_class(kind) == name
    return kind if same else None


def name_of_function(function: Any) -> str | None:
    """Return the name under which a function is stored; ``None`` if it is not allowed."""
    name = getattr(function, "__name__", "")
    return _name_in(FUNCTIONS, {"absolute": "abs"}.get(name, name), function)


def function_named(name: str) -> Callable[..., Any] | None:
    """Return the function that is stored under a name; ``None`` if none is."""
    module, _, attribute = name.rpartition(".")
    return _look_up(module, attribute) if attribute in FUNCTIONS.get(module, ()) else None


def name_of_type(kind: type) -> str | None:
    """Return the name of a plain or NumPy type, such as a vectoriser's ``dtype``."""
    return next((name for name, known in TYPES.items() if known is kind), None)


def is_named_tuple(kind: type) -> bool:
    """Tell a class made by ``typing.NamedTuple``."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _name_in(table: dict[str, tuple[str, ...]], attribute: str, value: Any) -> str | None:
    """Return where in a table of modules the value itself is, not just its name."""
    for module, names in table.items():
        if attribute in names and _look_up(module, attribute) is value:
            return f"{module}.{attribute}"
    return None


def _look_up(module: str, attribute: str) -> Any:
    """Import a module of our tables; one that this installation lacks has nothing in it."""
    try:
        return getattr(import_module(module), attribute, None)
    except ImportError:
        return None


@cache
def _our_modules() -> frozenset[str]:
    names: set[str] = set()
    for package in PACKAGES:
        if find_spec(package) is None:
            continue
        paths = import_module(package).__path__
        names |= {package, *(found.name for found in pkgutil.walk_packages(paths, f"{package}."))}
    return frozenset(names)


def _is_ours(kind: type) -> bool:
    return (
        kind.__module__ in _our_modules()
        and (issubclass(kind, BaseEstimator) or is_dataclass(kind) or is_named_tuple(kind))
        and kind.__qualname__ == kind.__name__
        and not inspect.isabstract(kind)
    )
