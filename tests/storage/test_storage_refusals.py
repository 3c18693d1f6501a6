"""What cannot be stored is refused when it is saved: what it is, where it is, and the way out."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.svm import SVC

from labelkin import AllLabels, LabelRescorer, NaiveBayes, PerLabel, PlattSVM
from labelkin.storage import save

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
def refuse(tmp_path):
    def refusal(model, error=TypeError):
        with pytest.raises(error) as caught:
            save(model, tmp_path / "model")
        assert list(tmp_path.iterdir()) == []
        return str(caught.value)

    return refusal


def with_note(value):
    model = Normalizer()
    model.note = value
    return model


def test_a_lambda_is_named_with_its_place_and_the_way_out(refuse):
    model = make_pipeline(CountVectorizer(analyzer=lambda text: text.split()), NaiveBayes())
    message = refuse(model.fit(TEXTS, Y))
    assert message.startswith(
        "A model file holds arrays, plain values and objects of known classes, no code, got a "
        "function (test_storage_refusals.test_a_lambda_is_named_with_its_place_and_the_way_out."
        "<locals>.<lambda>) at model.steps[0][1].analyzer. Use options that are named by texts, "
        "such as analyzer='word' and a token_pattern, one of "
    )
    assert "numpy.log1p" in message
    assert message.endswith("save a LabelRescorer fitted to the labels, which improves its scores.")


@pytest.mark.parametrize(
    ("model", "name", "place"),
    [
        (PerLabel(OwnClassifier()), "test_storage_refusals.OwnClassifier", "model.estimator"),
        (
            AllLabels(RandomForestClassifier(3)),
            "sklearn.ensemble._forest.RandomForestClassifier",
            "model.estimator",
        ),
        (
            AllLabels(KNeighborsClassifier(2)),
            "sklearn.neighbors._classification.KNeighborsClassifier",
            "model.estimator",
        ),
        (OwnNaiveBayes(), "test_storage_refusals.OwnNaiveBayes", "model"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_estimators_outside_the_table_are_named_with_their_place(refuse, model, name, place):
    message = refuse(model.fit(X, Y))
    assert f"got an estimator of the class {name} at {place}. " in message
    assert "Use a class that labelkin.storage.trusted lists, or keep that model" in message


def test_estimators_are_found_wherever_they_are(refuse):
    model = LabelRescorer().fit(Y)
    model.labels_.note = {"others": [None, SVC()]}
    message = refuse(model)
    assert re.search(
        r"class sklearn.svm._classes.SVC at model\.[\w.]+\.note\['others'\]\[1\]", message
    )


def np_cos(values):
    return np.cos(values)


@pytest.mark.parametrize("function", [np_cos, np.cos, print, len, eval, str.upper, np.log1p.reduce])
def test_functions_outside_the_table_are_refused(refuse, function):
    assert "at model.func. Use options" in refuse(FunctionTransformer(function))


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
        (iter([1]), "a builtins.list_iterator"),
        (np, "a builtins.module"),
        (np.random.default_rng(0), "Generator at model.note. Give a whole number as random_state"),
        (np.random.RandomState(np.random.PCG64(0)), "RandomState at model.note. Give"),
        (Fraction, "ABCMeta .fractions.Fraction. at model.note"),
        ([0, {"a": {"b": (1, print)}}], r"print\) at model.note\[1\]\['a'\]\['b'\]\[1\]. "),
        ({Fraction(1): 2}, r"Fraction at model.note.keys\(\) number 0"),
        (np.array(["a", Fraction(1)], dtype=object), r"Fraction at model.note.ravel\(\)\[1\]"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_other_things_are_refused_with_their_place(tmp_path, value, what):
    with pytest.raises(TypeError, match=what):
        save(with_note(value), tmp_path / "model")


def test_cycles_are_refused(refuse):
    circle = [1]
    circle.append({"again": circle})
    message = refuse(with_note(circle), ValueError)
    assert "no cycles, got a list that contains itself at model.note[1]['again']. Remove" in message
    model = Normalizer()
    model.note = (model,)
    assert "a Normalizer that contains itself at model.note[0]" in refuse(model, ValueError)


def test_deep_nests_are_refused(refuse):
    nest = []
    for _ in range(5000):
        nest = [nest]
    assert "nests at most 100 levels, got a list that lies deeper" in refuse(
        with_note(nest), ValueError
    )


def test_a_vocabulary_that_could_not_be_loaded_is_not_saved(refuse):
    model = CountVectorizer().fit(TEXTS)
    model.vocabulary_["gulls"] = 77
    message = refuse(model, ValueError)
    assert "must be safe to load, got a vocabulary that does not number its terms" in message
    assert message.endswith("at model. Change that and train again.")


def test_a_vectoriser_that_opens_files_is_not_saved(refuse, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "text.txt"
    path.write_text("sea town")
    model = CountVectorizer(input="filename").fit([str(path)])
    assert "a vectoriser with input='filename', to which texts name" in refuse(model, ValueError)


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError, match="This PlattSVM instance is not fitted yet"):
        save(PlattSVM(), tmp_path / "model")


@pytest.mark.parametrize("model", [{"a": 1}, NaiveBayes, "NaiveBayes", None])
def test_what_is_no_model_is_refused(refuse, model):
    assert "model must be a fitted estimator, got " in refuse(model)


@pytest.mark.parametrize(
    "summary", [{"a": np.float64}, {"a": np.int64(1)}, {"a": float("nan")}, {1j: 2}]
)
def test_a_summary_that_json_cannot_hold_is_refused(tmp_path, summary):
    with pytest.raises(TypeError, match=r"summary must be what JSON can hold.*\.item\(\)"):
        save(LabelRescorer().fit(Y), tmp_path / "model", summary=summary)


def test_a_summary_that_is_no_mapping_is_refused(tmp_path):
    with pytest.raises(TypeError, match="summary must be a dict, got a list"):
        save(LabelRescorer().fit(Y), tmp_path / "model", summary=[1])
