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
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
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


_TWISTER_WORDS = 624


def check_compressed(
    shape: tuple[int, ...], data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]
) -> None:
    """Refuse parts that are no sparse matrix; ``shape`` counts what ``indptr`` cuts first."""
    if len(shape) != 2:
        raise ValueError(f"a sparse matrix has the shape {shape}")
    if any(part.ndim != 1 for part in (data, indices, indptr)):
        raise ValueError("the parts of a sparse matrix must be vectors")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise ValueError("the positions in a sparse matrix must be integers of 32 or 64 bits")
    if data.dtype.kind not in "biuf":
        raise ValueError(f"a sparse matrix holds values of dtype {data.dtype}")
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of a sparse matrix do not follow each other")
    if not indptr[-1] == len(indices) == len(data):
        raise ValueError("a sparse matrix has not as many positions as values")
    if len(indices) and not 0 <= indices.min() <= indices.max() < shape[1]:
        raise ValueError(f"a sparse matrix has positions outside its shape {shape}")


def check_twister(state: Any) -> None:
    """Refuse what is no state of NumPy's ``RandomState``."""
    try:
        words, place = state["state"]["key"], state["state"]["pos"]
        fits = (
            state["bit_generator"] == "MT19937"
            and words.dtype == np.uint32
            and words.shape == (_TWISTER_WORDS,)
            and type(place) is int
            and 0 <= place <= _TWISTER_WORDS
            and state["has_gauss"] in (0, 1)
            and isinstance(state["gauss"], float)
        )
    except (KeyError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise ValueError("a random state is not one of the Mersenne twister")


def check_state(name: str, state: dict[str, Any]) -> None:
    """Refuse attributes that would lead an object of the class ``name`` outside its arrays."""
    check = _CHECKS.get(name.rpartition(".")[2])
    if check is not None:
        check(state)


def _check_vocabulary(state: dict[str, Any]) -> None:
    _check_input(state)
    if "vocabulary_" not in state:
        return
    terms = state["vocabulary_"]
    if not (
        isinstance(terms, dict)
        and all(type(term) is str for term in terms)
        and all(type(column) in (int, np.int32, np.int64) for column in terms.values())
        and set(terms.values()) == set(range(len(terms)))
    ):
        raise ValueError("a vocabulary that does not number its terms from 0, each once")


def _check_hashing(state: dict[str, Any]) -> None:
    _check_input(state)
    n_features = state.get("n_features")
    if not (isinstance(n_features, int | np.integer) and 1 <= n_features < 2**31):
        raise ValueError(f"a HashingVectorizer with n_features={str(n_features)[:80]}")


def _check_input(state: dict[str, Any]) -> None:
    how = state.get("input", "content")
    if how != "content":
        raise ValueError(
            f"a vectoriser with input={str(how)[:80]!r}, to which texts name files to open (read "
            "them before, and use input='content')"
        )


def _check_bound_rules(state: dict[str, Any]) -> None:
    """Refuse columns that are no labels, and implications that go round."""
    n_labels = len(state["names"])
    pairs, groups = state["implies"], state["groups"]
    columns = [column for columns in (*pairs, *groups) for column in columns]
    if not all(isinstance(c, int | np.integer) and 0 <= c < n_labels for c in columns):
        raise ValueError(f"rules about columns that are not among {n_labels} labels")
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for narrower, broader in pairs:
        sorter.add(int(narrower), int(broader))
    try:
        sorter.prepare()
    except CycleError:
        raise ValueError("rules that imply each other in a circle") from None


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BoundRules": _check_bound_rules,
    "CountVectorizer": _check_vocabulary,
    "HashingVectorizer": _check_hashing,
    "TfidfVectorizer": _check_vocabulary,
    "WordCounts": _check_vocabulary,
}
