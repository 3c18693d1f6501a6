"""Private functions of scikit-learn that are used, tested by their behaviour.

`make test-scikit-learn` runs this file on the lowest versions that pyproject.toml allows and on the
newest, to detect names that have moved or behave differently.
"""

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy import sparse

import labelkin
from labelkin import LabelDependenceClassifier, LogisticLabels, NaiveBayes, SVMLabels
from labelkin.scikit_learn import (
    params_of_rows,
    read_sample_weight,
    route_fit,
    rows_of,
)
from labelkin.storage.trusted import PLACES

ROOT = Path(labelkin.__file__).parent
X = np.arange(12.0).reshape(4, 3)
SOME = np.array([2, 0])


# _safe_indexing: some documents of any container.


@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array], ids=str
)
def test_rows_of_an_array_or_sparse_matrix(kind):
    found = rows_of(kind(X), SOME)
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X[SOME])


# _check_method_params: of fit's parameters, those with a value for each document are cut.


def test_only_parameters_per_document_are_sliced():
    given = {"sample_weight": [0.0, 1.0, 2.0, 3.0], "epochs": 5, "classes": ["a", "b"]}
    found = params_of_rows(X, given, SOME)
    assert list(found["sample_weight"]) == [2.0, 0.0]
    assert found["epochs"] == 5
    assert found["classes"] == ["a", "b"]


# _check_sample_weight: one finite number of at least 0 for each document.


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1, 2, 3], r"sample_weight\.shape"),
        (np.ones((4, 2)), "1D array"),
        ([1, 2, -1, 1], "[Nn]egative values"),
        ([1, 2, np.nan, 1], "NaN"),
    ],
)
def test_invalid_weights_raise(wrong, message):
    with pytest.raises(ValueError, match=message):
        read_sample_weight(X, wrong)


# _raise_for_params and the routing: what goes to which part.


def owner():
    return LabelDependenceClassifier(NaiveBayes(), labels=LogisticLabels())


def parts():
    return {"content": NaiveBayes(), "labels": LogisticLabels()}


def test_without_metadata_routing_weights_go_to_every_part():
    weight = np.ones(4)
    assert route_fit(owner(), {}, **parts()) == {"content": {}, "labels": {}}
    routed = route_fit(owner(), {"sample_weight": weight}, **parts())
    assert routed["content"]["sample_weight"] is weight
    assert routed["labels"]["sample_weight"] is weight


def test_without_metadata_routing_other_metadata_raises():
    with pytest.raises(ValueError, match=r"(?s)enable_metadata_routing=True.*'epochs'"):
        route_fit(owner(), {"epochs": 3}, **parts())


def test_with_metadata_routing_parts_get_requested_metadata():
    weight = np.ones(4)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = {
            "content": NaiveBayes().set_fit_request(sample_weight=False),
            "labels": SVMLabels().set_fit_request(sample_weight=True),
        }
        given = {"sample_weight": weight}
        routed = route_fit(LabelDependenceClassifier(**asking), given, **asking)
    assert routed["content"] == {}
    assert routed["labels"]["sample_weight"] is weight


def test_with_metadata_routing_unrequested_metadata_raises():
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(TypeError, match="epochs"),
    ):
        route_fit(owner(), {"epochs": 3}, **parts())


# has_fit_parameter and metadata requests: who takes weights.


# No other module.


def private_names(source):
    """Yield each private module or name of scikit-learn that a source imports or reaches for."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            if first == "sklearn" and any(
                part.startswith("_") and not part.startswith("__") for part in rest
            ):
                yield name


def test_one_module_imports_private_names():
    users = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if list(private_names(path.read_text(encoding="utf-8")))
    }
    assert users == {"scikit_learn.py"}


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils import _safe_indexing",
        "def f():\n    import sklearn.utils._tags",
        "from sklearn.svm._base import libsvm",
        "import sklearn\nsklearn.utils._safe_indexing(X, [0])",
    ],
)
def test_check_detects_injected_names(source):
    assert list(private_names(source))


@pytest.mark.parametrize(
    "place", sorted(place for place in PLACES.values() if place.startswith("sklearn."))
)
def test_trusted_classes_exist(place):
    """A place that has moved would leave files unreadable; some of the places are private."""
    module, _, name = place.rpartition(".")
    assert callable(getattr(import_module(module), name))
