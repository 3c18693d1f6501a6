"""Values are restored from model files; other values raise an error with their place."""

import datetime
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from labelkin import LabelRescorer, NaiveBayes, PerLabel, PlattSVM
from labelkin.content import MultilabelContent
from labelkin.storage import load, save

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs", "Ll"]))  # halves of characters
)
KEYS = LEAVES.filter(lambda key: not isinstance(key, float) or math.isfinite(key))
VALUES = st.recursive(
    LEAVES | st.frozensets(KEYS, max_size=3) | st.sets(KEYS, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)
DTYPES = (
    arrays.boolean_dtypes()
    | arrays.integer_dtypes(endianness="?")
    | arrays.unsigned_integer_dtypes(endianness="?")
    | arrays.floating_dtypes(endianness="?", sizes=(16, 32, 64))
    | arrays.unicode_string_dtypes(endianness="?", max_len=5)
    | arrays.byte_string_dtypes(max_len=5)
)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
files = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def again(tmp_path):
    def save_and_load(value):
        model = Normalizer()
        model.note = value
        return load(save(model, tmp_path / "model")).note

    return save_and_load


def same(a, b):
    """Equal, of the same type all the way down; NaN equals NaN, and 0 is not −0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)
    return a == b


@files
@given(VALUES)
def test_plain_values_are_restored(again, value):
    assert same(again(value), value)


@files
@given(st.data())
def test_arrays_are_restored(again, data):
    array = data.draw(arrays.arrays(data.draw(DTYPES), data.draw(SHAPES)))
    if data.draw(st.booleans()):
        array = array.T
    if array.ndim and data.draw(st.booleans()):
        array = array[::-2]
    restored = again(array)
    assert restored.dtype == array.dtype.newbyteorder("<")
    assert restored.shape == array.shape
    np.testing.assert_array_equal(restored, array)
    assert restored.tobytes() == array.astype(restored.dtype).tobytes()


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix]
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_sparse_matrices_are_restored(again, kind, index, dtype):
    matrix = kind(np.array([[0, 2, 0], [1, 0, 0]], dtype=dtype))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    restored = again(matrix)
    assert type(restored) is kind
    assert (restored.dtype, restored.indices.dtype, restored.indptr.dtype) == (dtype, index, index)
    np.testing.assert_array_equal(restored.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    "scalar",
    [np.float32(0.1), np.float64(np.nan), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True),
     np.str_("½ né"), np.bytes_(b"ab"), np.float16(2)],
    ids=repr,
)  # fmt: skip
def test_numpy_scalars_are_restored(again, scalar):
    restored = again([scalar])[0]
    assert type(restored) is type(scalar)
    assert restored.tobytes() == scalar.tobytes()


@pytest.mark.parametrize(
    "value",
    [
        np.float32,
        float,
        np.dtype("int64"),
        np.dtype("<U3"),
        slice(1, None, 2),
        np.log1p,
        np.abs,
    ],
    ids=repr,
)
def test_types_slices_and_known_functions_are_restored(again, value):
    assert again({"it": value})["it"] == value


X = np.array([[3.0, 0], [2, 1], [0, 4], [1, 1]])
Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
TEXTS = ["sea sea", "sea town", "town", "gulls"]


class OwnClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


class OwnNaiveBayes(NaiveBayes):
    pass


@pytest.fixture
def why_not(tmp_path):
    def message(model, error=TypeError):
        with pytest.raises(error) as caught:
            save(model, tmp_path / "model")
        assert list(tmp_path.iterdir()) == []
        return str(caught.value)

    return message


def with_note(value):
    model = Normalizer()
    model.note = value
    return model


def test_lambda_raises_with_place_and_hint(why_not):
    model = make_pipeline(CountVectorizer(analyzer=lambda text: text.split()), NaiveBayes())
    message = why_not(model.fit(TEXTS, Y))
    assert message.startswith(
        "A model file holds arrays, plain values and objects of known classes, no code, got the "
        "function test_lambda_raises_with_place_and_hint.<locals>.<lambda> at "
        "model.steps[0][1].analyzer. Use options named by texts, such as analyzer='word', "
    )
    assert message.endswith("save a LabelRescorer fitted to the labels, which improves its scores.")


@pytest.mark.parametrize(
    ("model", "name", "place"),
    [
        (PerLabel(OwnClassifier()), "test_codec.OwnClassifier", "model.estimator"),
        (
            MultilabelContent(RandomForestClassifier(3)),
            "sklearn.ensemble._forest.RandomForestClassifier",
            "model.estimator",
        ),
        (
            MultilabelContent(KNeighborsClassifier(2)),
            "sklearn.neighbors._classification.KNeighborsClassifier",
            "model.estimator",
        ),
        (OwnNaiveBayes(), "test_codec.OwnNaiveBayes", "model"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_unknown_estimator_raises_with_place(why_not, model, name, place):
    message = why_not(model.fit(X, Y))
    assert f"got a {name} at {place}. " in message
    assert "Use a class that labelkin.storage.trusted lists, or keep that model" in message


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Fraction(1, 3), "a fractions.Fraction at model.note"),
        (datetime.date(2024, 1, 1), "a datetime.date at model.note"),
        (pd.DataFrame({"a": [1]}), "a pandas.* at model.note"),
        (sparse.coo_array(X), r"a scipy.sparse._coo.coo_array at model.note"),
        (np.ma.masked_array([1]), r"a numpy.ma.*MaskedArray at model.note"),
        (np.array(["2024-01-01"], dtype="M8[D]"), r"one of dtype datetime64\[D\] at model.note"),
        (np.zeros(2, dtype=[("a", float)]), "one of dtype .* at model.note"),
        (np.zeros(2, dtype=complex), "one of dtype complex128"),
        (np.zeros(2, dtype=np.longdouble), "one of dtype"),
        (np.complex64(1), "one of dtype complex64"),
        (1j, "a builtins.complex"),
        (2**63, "a builtins.int"),
        ({(1, 2)}, "a builtins.set"),
        (iter([1]), "a builtins.list_iterator"),
        (np, "a builtins.module"),
        (np.random.default_rng(0), "Generator at model.note. Give a whole number as random_state"),
        (np.random.RandomState(0), "RandomState at model.note. Give a whole number"),
        (Fraction, "the ABCMeta Fraction at model.note"),
        ([0, {"a": {"b": (1, print)}}], r"print at model.note\[1\]\['a'\]\['b'\]\[1\]. "),
        ({Fraction(1): 2}, "a Fraction as a key at model.note"),
        (np.array(["a", Fraction(1)], dtype=object), r"Fraction at model.note.ravel\(\)\[1\]"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_unknown_values_raise_with_place(tmp_path, value, what):
    with pytest.raises(TypeError, match=what):
        save(with_note(value), tmp_path / "model")


def test_deep_nesting_and_cycles_raise(why_not):
    nest = []
    for _ in range(5000):
        nest = [nest]
    circle = [1]
    circle.append({"again": circle})
    for value in (nest, circle):
        message = why_not(with_note(value), ValueError)
        assert "nests at most 90 levels, got a " in message
        assert " that lies deeper at model.note[" in message


def test_invalid_vocabulary_is_not_saved(why_not):
    model = CountVectorizer().fit(TEXTS)
    model.vocabulary_["gulls"] = 77
    message = why_not(model, ValueError)
    assert "must be safe to load, got a vocabulary that does not number its terms" in message
    assert message.endswith("at model. Change that and train again.")


def test_unfitted_model_raises(tmp_path):
    with pytest.raises(NotFittedError, match="This PlattSVM instance is not fitted yet"):
        save(PlattSVM(), tmp_path / "model")


@pytest.mark.parametrize("model", [{"a": 1}, NaiveBayes, "NaiveBayes", None])
def test_other_objects_raise(why_not, model):
    assert "model must be a fitted estimator, got " in why_not(model)


@pytest.mark.parametrize(
    "summary", [{"a": np.float64}, {"a": np.int64(1)}, {"a": float("nan")}, {1j: 2}]
)
def test_summary_outside_json_raises(tmp_path, summary):
    with pytest.raises(TypeError, match=r"summary must contain values of JSON.*\.item\(\)"):
        save(LabelRescorer().fit(Y), tmp_path / "model", summary=summary)
