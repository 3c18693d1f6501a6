"""Names that a model file may use, and checks of its arrays before compiled code reads them.

A file contains separate names of classes and functions, not their modules: when a module moves, its
line in :data:`PLACES` changes and every file stays readable. Names outside the table are neither
imported nor looked up.

The checksum finds accidents. The checks below find a file that was made to mislead: positions
outside an array, which SciPy's and NumPy's compiled loops follow without a look, and a vectoriser
for which texts are names of files to open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from typing import Any, Literal

import numpy as np

from labelkin.storage.file import shown
from labelkin.validation import check_choice

#: Module of labelkin → classes and functions that a file may name, without the module.
_OURS = {
    "content": ("ContentEnsemble", "MultilabelContent", "PerLabel", "RandomForest"),
    "content.members": ("Member",),
    "content.forest": ("TreeNodes",),
    "content.naive_bayes": ("NaiveBayes", "TermCounts"),
    "content.nearest_neighbours": ("NearestNeighbours",),
    "content.platt_svm": ("PlattSVM",),
    "label_matrix": ("LabelMatrix",),
    "learned.calibration": ("CalibratedLabels", "Calibration"),
    "learned.terms": ("Combination", "KnownLabels", "PaperEvidence", "PredictedLabels"),
    "learned.fitting": ("LearnedWeight",),
    "method.combination": ("decided_labels", "probable_labels"),
    "method.label_evidence": ("LogisticLabels", "PerLabelEvidence", "SVMLabels"),
    "method.label_sets": ("LabelSets",),
    "method.paper": ("PaperClassifier",),
    "models.classifier": ("LabelDependenceClassifier", "OutOfFold", "RescoredClassifier"),
    "models.rescorer": ("LabelRescorer",),
    # Of the related methods trees are left out: they are scikit-learn's.
    "research.related": (
        *("ChainEnsemble", "ClassifierChain", "ProbabilisticChain", "DependencyNetwork"),
        *("DependentRelevance", "StackedRelevance", "LabelPowerset", "RAkEL"),
        *("BRkNN", "IBLR", "MLkNN", "MixtureModel", "ParametricMixture"),
    ),
    "research.related.conditionals": ("Conditional",),
    "solvers.logistic": ("LinearTerm",),
    "text": ("TermSelection", "TermWeights", "TextView", "WordCounts"),
    "thresholds": (
        *("ExpectedF1", "FixedCut", "GlobalCut", "LabelLimits", "RuleLabels"),
        *("MCut", "PCut", "RCut", "SCut", "SCutFBR"),
    ),
    "vocabulary": ("Vocabulary",),
    "vocabulary.bound_rules": ("BoundRules",),
    "vocabulary.rules": ("Rules",),
}
#: scikit-learn's classes whose fitted state is arrays and plain values, and whose compiled code
#: cannot be led outside its arrays by them. (``SVC`` and the trees index memory by their fitted
#: arrays; so does ``KNeighborsClassifier``, in whose place there is ``NearestNeighbours``.)
_SKLEARN = {
    "calibration": ("CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration"),
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
    "multiclass": ("OneVsRestClassifier", "_ConstantPredictor"),
    "multioutput": ("MultiOutputClassifier",),
    "naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "neural_network": ("MLPClassifier",),
    "neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "pipeline": ("FeatureUnion", "Pipeline"),
    "preprocessing": (
        *("FunctionTransformer", "LabelBinarizer", "MultiLabelBinarizer", "Normalizer"),
        *("MaxAbsScaler", "MinMaxScaler", "StandardScaler"),
    ),
    "svm": ("LinearSVC",),
}
_NUMPY = ("absolute", "exp", "expm1", "log", "log10", "log1p", "log2", "sign", "sqrt", "square")

#: Name in model files → where it is today. If a class moves, its name stays.
#: To allow one more class, add its name above, and a round trip to the tests.
PLACES: dict[str, str] = {
    **{name: f"labelkin.{module}.{name}" for module, names in _OURS.items() for name in names},
    **{
        f"sklearn.{module}.{name}": f"sklearn.{module}.{name}"
        for module, names in _SKLEARN.items()
        for name in names
    },
    **{f"numpy.{name}": f"numpy.{name}" for name in _NUMPY},
    "OmikujiContent": "labelkin_omikuji.OmikujiContent",
    "OmikujiForest": "labelkin_omikuji.OmikujiForest",
}

#: Parts that are read only on request, ``load(path, trusted=["omikuji"])``: the class in
#: the file, and why.
ON_REQUEST: dict[str, tuple[str, str]] = {
    "omikuji": ("OmikujiForest", "a folder for the compiled code of Omikuji to read"),
}

_MOST_PIPELINES, _COMPOSED = 5, ("Pipeline", "FeatureUnion", "ColumnTransformer")
_NUMPY_TYPES = (
    *("bool_", "str_", "object_", "float16", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
#: Plain and NumPy types that a file may name, such as a vectoriser's ``dtype``.
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
    **{f"numpy.{name}": getattr(np, name) for name in _NUMPY_TYPES},
}

#: Attributes that the class computes again when it needs them, and their values until then. The
#: cache folder of a pipeline belongs to the machine on which it was fitted.
NOT_STORED: dict[str, dict[str, Any]] = {
    "sklearn.linear_model.SGDClassifier": {"_loss_function_": None},
    "sklearn.neural_network.MLPClassifier": {"_random_state": None},
    "sklearn.pipeline.Pipeline": {"memory": None},
    "sklearn.preprocessing.MultiLabelBinarizer": {"_cached_dict": None},
}


def name_of(thing: Any) -> str | None:
    """Return the name of a class or function in model files; ``None`` if it has none."""
    ending = f".{getattr(thing, '__name__', '')}"
    places = ((name, place) for name, place in PLACES.items() if place.endswith(ending))
    return next((name for name, place in places if _look_up(place) is thing), None)


def named(what: Literal["class", "function", "type"], name: Any) -> Any:
    """Return the class, function or type of a name; other names are an error."""
    found: Any = None
    if isinstance(name, str):
        place = PLACES.get(name)
        found = TYPES.get(name) if what == "type" else place and _look_up(place)
    if found is None or isinstance(found, type) == (what == "function"):
        raise ValueError(f"it names the {what} {shown(name)}, which model files may not name")
    return found


def _look_up(place: str) -> Any:
    """Return the object at a place of the table; ``None`` if it is not installed."""
    module, _, attribute = place.rpartition(".")
    try:
        return getattr(import_module(module), attribute, None)
    except ImportError:
        return None


def check_trusted(names: Iterable[str], class_names: Iterable[str], path: Any) -> None:
    """Raise for a file with a part that is read on request only, if it was not requested."""
    asked = [names] if isinstance(names, str) else list(names)
    for name in asked:
        check_choice("trusted", name, ON_REQUEST)
    for name, (class_name, what) in ON_REQUEST.items():
        if class_name in class_names and name not in asked:
            raise ValueError(
                f"{path} holds {what}, which is read only when it is asked for by name. If you "
                f"know where the file comes from: load(path, trusted=[{name!r}]), or --trusted "
                f"{name} on the command line."
            )
        if class_name in class_names and _look_up(PLACES[class_name]) is None:
            package = f"labelkin-{name}"
            raise ImportError(f"{path} needs {package}: pip install {package}.")


def check_state(name: str, state: dict[str, Any]) -> None:
    """Raise for attributes that would lead an object of the class ``name`` outside its arrays."""
    if not isinstance(state.get("n_jobs"), int | np.integer | None):
        raise ValueError(f"n_jobs={shown(state['n_jobs'])}")
    if name in _CHECKS:
        _CHECKS[name](state)
    elif PLACES.get(name, "").startswith("labelkin_"):
        named("class", name).check_state(state)


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


def _check_pipeline(state: dict[str, Any]) -> None:
    """Raise for pipelines in pipelines: scikit-learn's time triples with every level."""
    if (levels := 1 + _pipelines_in(state)) > _MOST_PIPELINES:
        raise ValueError(f"{levels} nested pipelines, of at most {_MOST_PIPELINES}")


def _pipelines_in(state: dict[str, Any]) -> int:
    """Return how many pipelines are nested in a state, also those in unions and columns."""
    lists = [value for value in state.values() if isinstance(value, list | tuple)]
    steps = [x for value in lists for pair in value if type(pair) is tuple for x in pair]
    inner = [x for x in steps if type(x).__name__ in _COMPOSED]
    return max(
        (_pipelines_in(vars(x)) + (type(x).__name__ == "Pipeline") for x in inner), default=0
    )


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
    """Raise for columns outside the labels, and for circular implications."""
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
        raise ValueError(f"rules that cannot be applied ({error})") from None


def _check_trees(state: dict[str, Any]) -> None:
    from labelkin.content.forest import TreeNodes

    TreeNodes(**state).check()


def _check_random_forest(state: dict[str, Any]) -> None:
    """Raise for trees that are not of the model's features and labels."""
    if "nodes_" not in state:  # a parameter that is not fitted
        return
    nodes, fitted, prior = (state.get(k) for k in ("nodes_", "fitted_labels_", "prior_log_odds_"))
    if not (
        isinstance(prior, np.ndarray)
        and isinstance(fitted, np.ndarray)
        and prior.ndim == fitted.ndim == 1
        and prior.dtype == np.float64
        and fitted.dtype.kind == "i"
        and (not len(fitted) or 0 <= fitted.min() <= fitted.max() < len(prior))
    ):
        raise ValueError("a RandomForest without labels")
    if nodes is not None and (
        type(nodes).__name__ != "TreeNodes"
        or np.shape(nodes.shares)[1:] != fitted.shape
        or nodes.n_features != state.get("n_features_in_")
    ):
        raise ValueError("a RandomForest whose trees are of other features or labels")


def _check_concepts(state: dict[str, Any]) -> None:
    """Raise for a vocabulary whose columns do not fit each other."""
    try:
        uris, pairs = state["uris"], (state["broader"], state["disjoint"])
        columns = [uris, state["notations"], *state["labels"].values()]
        others = [*state["alternatives"].values()]
        places = [owners for owners, _ in others]
        texts = [*columns, *(names for _, names in others), [state["name"], state["language"]]]
        fits = (
            all(type(text) is str for column in texts for text in column)
            and all(type(text) is str for text in state["replaced"].values())
            and len(set(uris)) == len(uris)
            and all(len(column) == len(uris) for column in columns)
            and all(owners.shape == (len(names),) for owners, names in others)
            and all(pair.shape[1:] == (2,) for pair in pairs)
            and all(_are_places(array, len(uris)) for array in (*places, *pairs))
            and all((np.diff(order) >= 0).all() for order in (*places, pairs[0][:, 0]))
        )
    except (AttributeError, TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError("a vocabulary whose columns do not fit each other")


def _are_places(array: Any, n: int) -> bool:
    """Return whether an array contains numbers of ``n`` things."""
    is_array = isinstance(array, np.ndarray) and array.dtype == np.int32
    return is_array and bool(((array >= 0) & (array < n)).all())


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BoundRules": _check_bound_rules,
    "RandomForest": _check_random_forest,
    "TreeNodes": _check_trees,
    "Vocabulary": _check_concepts,
    "WordCounts": _check_vocabulary,
    "sklearn.feature_extraction.text.CountVectorizer": _check_vocabulary,
    "sklearn.feature_extraction.text.HashingVectorizer": _check_hashing,
    "sklearn.feature_extraction.text.TfidfVectorizer": _check_vocabulary,
    "sklearn.pipeline.Pipeline": _check_pipeline,
}
