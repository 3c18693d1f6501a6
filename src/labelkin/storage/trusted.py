"""What a model file may name, and what must hold before compiled code is let loose on its arrays.

A file names classes and functions by names of its own, never by the modules they are in: when a
module moves, its line in :data:`PLACES` changes and every file stays readable. What is not in the
table is neither imported nor looked up.

The checksum finds accidents. The checks below find a file that was made to mislead: positions
outside an array, which SciPy's and NumPy's compiled loops follow without a look, and a vectoriser
for which texts are names of files to open.
"""

from __future__ import annotations

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import InconsistentVersionWarning

from labelkin.storage.file import shown

#: The public estimators, rules and thresholds of labelkin.
_PUBLIC = (
    *("AllLabels", "NaiveBayes", "NearestNeighbours", "PerLabel", "PlattSVM"),
    *("LabelDependenceClassifier", "LabelRescorer", "LearnedWeight", "RescoredClassifier"),
    *("Rules",),
    *("LogisticLabels", "OtherLabels", "SVMLabels"),
    *("ExpectedF1", "FixedCut", "GlobalCut", "LabelLimits"),
    *("MCut", "PCut", "RCut", "SCut", "SCutFBR"),
)
#: The rivals, in :mod:`labelkin.rivals`, but for trees: they are scikit-learn's.
_RIVALS = (
    *("ChainEnsemble", "ClassifierChain", "ProbabilisticChain", "DependencyNetwork"),
    *("DependentRelevance", "StackedRelevance", "LabelPowerset", "RAkEL"),
    *("BRkNN", "IBLR", "MLkNN", "MixtureModel", "ParametricMixture"),
)
#: scikit-learn's classes whose fitted state is arrays and plain values, and whose compiled code
#: cannot be led outside its arrays by them. (``SVC`` and the trees index memory by their fitted
#: arrays; so does ``KNeighborsClassifier``, in whose place there is ``NearestNeighbours``.)
_SKLEARN = {
    "calibration": ("CalibratedClassifierCV",),
    "compose": ("ColumnTransformer",),
    "decomposition": ("TruncatedSVD",),
    "discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "feature_extraction.text": (
        *("CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"),
    ),
    "feature_selection": (
        *("SelectKBest", "SelectPercentile", "VarianceThreshold"),
        *("chi2", "f_classif", "mutual_info_classif"),
    ),
    "linear_model": ("LogisticRegression", "RidgeClassifier", "SGDClassifier"),
    "multiclass": ("OneVsRestClassifier",),
    "multioutput": ("MultiOutputClassifier",),
    "naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "neural_network": ("MLPClassifier",),
    "pipeline": ("FeatureUnion", "Pipeline"),
    "preprocessing": (
        *("FunctionTransformer", "LabelBinarizer", "MultiLabelBinarizer", "Normalizer"),
        *("MaxAbsScaler", "MinMaxScaler", "StandardScaler"),
    ),
    "svm": ("LinearSVC",),
}
_NUMPY = ("exp", "expm1", "log", "log10", "log1p", "log2", "sign", "sqrt", "square")

#: Name in model files → where it is today. A name is for ever; where it leads may change.
#: To allow one more class, add its line, and a round trip to the tests.
PLACES: dict[str, str] = {
    **{name: f"labelkin.{name}" for name in _PUBLIC},
    **{name: f"labelkin.rivals.{name}" for name in _RIVALS},
    "BoundRules": "labelkin.rules.BoundRules",
    "CalibratedLabels": "labelkin.beyond.calibration.CalibratedLabels",
    "Calibration": "labelkin.beyond.calibration.Calibration",
    "Conditional": "labelkin.rivals.conditionals.Conditional",
    "Combination": "labelkin.method.combination.Combination",
    "KnownWeights": "labelkin.beyond.known_labels.KnownWeights",
    "LabelMatrix": "labelkin.label_matrix.LabelMatrix",
    "LabelSets": "labelkin.method.label_sets.LabelSets",
    "LearnedCombination": "labelkin.beyond.learned_weight.LearnedCombination",
    "LearnedLabels": "labelkin.beyond.learned_weight.LearnedLabels",
    "LinearTerm": "labelkin.solvers.logistic.LinearTerm",
    "OutOfFold": "labelkin.method.classifier.OutOfFold",
    "RuleLabels": "labelkin.thresholds.choosing.RuleLabels",
    "TermCounts": "labelkin.content.naive_bayes.TermCounts",
    "TermSelection": "labelkin.text.TermSelection",
    "TermWeights": "labelkin.text.TermWeights",
    "WordCounts": "labelkin.text.WordCounts",
    "decided_labels": "labelkin.method.combination.decided_labels",
    "probable_labels": "labelkin.method.combination.probable_labels",
    "numpy.abs": "numpy.absolute",
    **{f"numpy.{name}": f"numpy.{name}" for name in _NUMPY},
    **{
        f"sklearn.{module}.{name}": f"sklearn.{module}.{name}"
        for module, names in _SKLEARN.items()
        for name in names
    },
    # Parts of fitted models, which scikit-learn itself does not show.
    "sklearn.CalibratedClassifier": "sklearn.calibration._CalibratedClassifier",
    "sklearn.SigmoidCalibration": "sklearn.calibration._SigmoidCalibration",
    "sklearn.ConstantPredictor": "sklearn.multiclass._ConstantPredictor",
    "sklearn.AdamOptimizer": "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.SGDOptimizer": "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
}

_NUMPY_TYPES = (
    *("bool_", "str_", "object_", "float16", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
#: Plain and NumPy types that a file may name, such as a vectoriser's ``dtype``.
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
    **{f"numpy.{name}": getattr(np, name) for name in _NUMPY_TYPES},
}

#: Attributes that the class makes anew when it needs them, and what stands for them until then. The
#: folder in which a pipeline keeps pickles while it is fitted is a matter of that machine.
NOT_STORED: dict[str, dict[str, Any]] = {
    "sklearn.linear_model.SGDClassifier": {"_loss_function_": None},
    "sklearn.pipeline.Pipeline": {"memory": None},
    "sklearn.preprocessing.MultiLabelBinarizer": {"_cached_dict": None},
}


class VersionWarning(InconsistentVersionWarning):
    """A model with scikit-learn parts was saved under another version of scikit-learn."""

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was saved with scikit-learn {self.original_sklearn_version}, "
            f"and this is {self.current_sklearn_version}: the model may fail or answer "
            "differently. Train it again, or install that version."
        )


def name_of(thing: Any) -> str | None:
    """Return the name of a class or function in model files; ``None`` if it has none."""
    ending = f".{getattr(thing, '__name__', '')}"
    places = ((name, place) for name, place in PLACES.items() if place.endswith(ending))
    return next((name for name, place in places if _look_up(place) is thing), None)


def named(what: Literal["class", "function", "type"], name: Any) -> Any:
    """Return what a file names; what it may not name, or is of another kind, is an error."""
    found: Any = None
    if isinstance(name, str):
        place = PLACES.get(name)
        found = TYPES.get(name) if what == "type" else place and _look_up(place)
    if found is None or isinstance(found, type) == (what == "function"):
        raise ValueError(f"it names the {what} {shown(name)}, which model files may not name")
    return found


def _look_up(place: str) -> Any:
    """Return what is at a place of our table; what this installation lacks is ``None``."""
    module, _, attribute = place.rpartition(".")
    try:
        return getattr(import_module(module), attribute, None)
    except ImportError:
        return None


def check_compressed(
    shape: tuple[int, ...], data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]
) -> None:
    """Raise for parts that are no sparse matrix; ``shape`` counts what ``indptr`` cuts first."""
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
    """Raise for what is no state of NumPy's ``RandomState``."""
    n_words = 624
    try:
        words, place = state["state"]["key"], state["state"]["pos"]
        fits = (
            state["bit_generator"] == "MT19937"
            and words.dtype == np.uint32
            and words.shape == (n_words,)
            and type(place) is int
            and 0 <= place <= n_words
            and state["has_gauss"] in (0, 1)
            and isinstance(state["gauss"], float)
        )
    except (KeyError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise ValueError("a random state is not one of the Mersenne twister")


def check_state(name: str, state: dict[str, Any]) -> None:
    """Raise for attributes that would lead an object of the class ``name`` outside its arrays."""
    if not isinstance(state.get("n_jobs"), int | np.integer | None):
        raise ValueError(f"n_jobs={shown(state['n_jobs'])}")
    if name in _CHECKS:
        _CHECKS[name](state)


def _check_vocabulary(state: dict[str, Any]) -> None:
    _check_input(state)
    terms = state.get("vocabulary_", {})
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
        raise ValueError(f"a HashingVectorizer with n_features={shown(n_features)}")


def _check_input(state: dict[str, Any]) -> None:
    how = state.get("input", "content")
    if not isinstance(how, str) or how != "content":
        raise ValueError(
            f"a vectoriser with input={shown(how)}, to which texts name files to open (read "
            "them before, and use input='content')"
        )
    dtype = state.get("dtype")
    if isinstance(dtype, np.dtype) and dtype.kind not in "biuf":
        raise ValueError(f"a vectoriser that counts in the dtype {dtype.str}")


def _check_bound_rules(state: dict[str, Any]) -> None:
    """Raise for columns that are no labels, and for implications that go round."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    try:
        n_labels, pairs, groups = len(state["names"]), state["implies"], state["groups"]
        columns = [column for columns in (*pairs, *groups) for column in columns]
        if not all(isinstance(c, int | np.integer) and 0 <= c < n_labels for c in columns):
            raise ValueError(f"columns that are not among {n_labels} labels")
        for narrower, broader in pairs:
            sorter.add(narrower, broader)
        sorter.prepare()
    except CycleError:
        raise ValueError("rules that imply each other in a circle") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"rules that are none ({error})") from None


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BoundRules": _check_bound_rules,
    "WordCounts": _check_vocabulary,
    "sklearn.feature_extraction.text.CountVectorizer": _check_vocabulary,
    "sklearn.feature_extraction.text.HashingVectorizer": _check_hashing,
    "sklearn.feature_extraction.text.TfidfVectorizer": _check_vocabulary,
}
