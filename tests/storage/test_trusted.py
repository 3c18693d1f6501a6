"""The table of names in model files is complete, and modules may move."""

import inspect
import json
import pkgutil
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from forged_files import split_file
from sklearn.base import BaseEstimator

import labelkin
from labelkin import LabelDependenceClassifier, NaiveBayes, text
from labelkin.storage import load, read_header, save
from labelkin.storage.trusted import PLACES, name_of, named

X = np.array([[3.0, 0], [2, 1], [0, 4], [1, 1]])
SETS = [["sea"], ["sea", "town"], ["town"], []]


#: Places in the library itself and in others; packages/ has its own tests.
HERE = {name: place for name, place in PLACES.items() if not place.startswith("labelkin_")}


def thing_at(place):
    module, _, attribute = place.rpartition(".")
    return getattr(import_module(module), attribute)


def test_names_and_classes_map_to_each_other():
    for name, place in HERE.items():
        thing = thing_at(place)
        what = "class" if isinstance(thing, type) else "function"
        assert (name_of(thing), named(what, name)) == (name, thing)


#: Packages whose classes are no parts of models: those above storage, and the audit of a corpus.
ABOVE = ("cli", "curation", "prediction", "service")


def estimators():
    """Yield every estimator class that can be fitted, wherever in the library it is."""
    for module in pkgutil.walk_packages(labelkin.__path__, "labelkin."):
        if module.name.split(".")[1] in ABOVE:
            continue
        for thing in vars(import_module(module.name)).values():
            if (
                isinstance(thing, type)
                and issubclass(thing, BaseEstimator)
                and thing.__module__ == module.name
                and not inspect.isabstract(thing)
                and not thing.__name__.startswith("_")
                and hasattr(thing, "fit")
            ):
                yield thing


def test_every_estimator_has_a_name():
    found = {kind.__name__: name_of(kind) for kind in estimators()}
    assert {"NaiveBayes", "LabelRescorer", "SCutFBR", "WordCounts"} <= set(found)
    unnamed = [kind.__name__ for kind in estimators() if found[kind.__name__] is None]
    # trees cannot be saved; saving them is an error
    assert sorted(unnamed) == ["MultilabelForest", "MultilabelTree"]


@pytest.mark.parametrize("public", [labelkin, text], ids=lambda module: module.__name__)
def test_public_estimators_have_their_public_names(public):
    things = {name: getattr(public, name) for name in public.__all__}
    kinds = {
        name: kind
        for name, kind in things.items()
        if isinstance(kind, type)
        and issubclass(kind, BaseEstimator)
        and kind.__module__.split(".")[1] not in ABOVE
    }
    assert kinds
    assert {name: name_of(kind) for name, kind in kinds.items()} == {name: name for name in kinds}


def test_file_contains_no_module_names(tmp_path):
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, SETS)
    about, written, _ = split_file(save(model, tmp_path / "model"))
    assert "NaiveBayes" in about["classes"]
    assert "labelkin." not in json.dumps([about, written])


def test_renamed_class_keeps_its_name_in_files(tmp_path, monkeypatch):
    model = NaiveBayes().fit(X, SETS)
    path = save(model, tmp_path / "model")
    renamed = type("CountingBayes", (NaiveBayes,), {})
    monkeypatch.setattr("labelkin.content.naive_bayes.CountingBayes", renamed, raising=False)
    monkeypatch.setitem(PLACES, "NaiveBayes", "labelkin.content.naive_bayes.CountingBayes")
    restored = load(path)
    assert type(restored) is renamed
    assert "NaiveBayes" in read_header(save(restored, path)).class_names


def test_header_is_read_without_scikit_learn(tmp_path):
    path = save(NaiveBayes().fit(X, SETS), tmp_path / "model")
    program = (
        "import sys; from labelkin.storage import read_header; "
        "print(read_header(sys.argv[1]).model, 'sklearn' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["NaiveBayes", "False"]
