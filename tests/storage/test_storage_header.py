"""What a file says of itself, and what is said when versions differ."""

import warnings
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import numpy as np
import pytest
from forged_files import put_together, take_apart
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from labelkin import LabelRescorer, NaiveBayes, PerLabel
from labelkin.storage import VersionWarning, load, read_header, save

X = np.array([[3.0, 0], [2, 1], [0, 4], [1, 1]])
Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
TEXTS = ["sea sea", "sea town", "town", "gulls"]
SETS = [["sea"], ["sea", "town"], ["town"], []]


def test_a_header_tells_what_was_saved(tmp_path):
    summary = {"corpus": "coast", "documents": 4, "micro_f1": 0.75, "nested": {"list": [1, None]}}
    model = make_pipeline(CountVectorizer(), NaiveBayes()).fit(TEXTS, SETS)
    path = save(model, tmp_path / "coast.labelkin", summary=summary)
    header = read_header(path)
    assert header.path == path
    assert header.format_version == 1
    assert header.model == "Pipeline"
    assert header.labels == ("sea", "town")
    assert header.n_labels == 2
    assert header.summary == summary
    assert header.file_bytes == path.stat().st_size
    assert header.array_bytes == len(take_apart(path).data)
    assert set(header.class_names) == {
        "labelkin.content.naive_bayes.NaiveBayes",
        "labelkin.content.naive_bayes.TermCounts",
        "sklearn.feature_extraction.text.CountVectorizer",
        "sklearn.pipeline.Pipeline",
    }
    assert timedelta(0) <= datetime.now(UTC) - header.created < timedelta(minutes=5)
    for package in ("labelkin", "numpy", "scikit-learn", "scipy"):
        assert header.versions[package] == version(package)


def test_no_summary_is_none(tmp_path):
    assert read_header(save(LabelRescorer().fit(SETS), tmp_path / "model")).summary is None


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (Y, (0, 1)),
        (SETS, ("sea", "town")),
        ([{("a", 1)}, {2}, {2}, set()], ("('a', 1)", "2")),
        ([{"½", "né"}, {"½"}, {"né"}, set()], ("né", "½")),
    ],
)
def test_labels_of_any_kind_are_told(tmp_path, labels, names):
    header = read_header(save(NaiveBayes().fit(X, labels), tmp_path / "model"))
    assert sorted(map(str, header.labels)) == sorted(map(str, names))


def test_a_vectoriser_has_no_labels(tmp_path):
    header = read_header(save(CountVectorizer().fit(TEXTS), tmp_path / "model"))
    assert (header.labels, header.n_labels) == ((), 0)


def test_the_model_is_not_built_for_its_header(tmp_path, monkeypatch):
    path = save(LabelRescorer().fit(SETS), tmp_path / "model")
    monkeypatch.setattr("labelkin.storage.file.decode_model", None)
    assert read_header(path).model == "LabelRescorer"


def saved_by(path, **versions):
    about, model, data = take_apart(path)
    return put_together(path, {**about, "versions": about["versions"] | versions}, model, data)


def test_another_scikit_learn_is_told_with_both_versions(tmp_path):
    path = save(PerLabel(LogisticRegression()).fit(X, Y), tmp_path / "model.labelkin")
    saved_by(path, **{"scikit-learn": "1.2.3"})
    now = version("scikit-learn")
    with pytest.warns(
        VersionWarning, match=rf"model.labelkin was saved with .*1\.2\.3.*{now}"
    ) as told:
        load(path)
    assert told[0].filename == __file__
    assert issubclass(VersionWarning, InconsistentVersionWarning)


def test_a_model_of_ours_alone_does_not_depend_on_scikit_learn(tmp_path):
    path = save(NaiveBayes().fit(X, Y), tmp_path / "model.labelkin")
    saved_by(path, **{"scikit-learn": "1.2.3"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path)


def test_a_model_that_lacks_a_parameter_of_this_version_is_refused(tmp_path):
    path = save(NaiveBayes().fit(X, Y), tmp_path / "model.labelkin")
    about, model, data = take_apart(path)
    del model["parts"][-1]["object"][1]["alpha"]
    put_together(path, about, model, data)
    with pytest.raises(ValueError, match="NaiveBayes lacks alpha, which this version has; read"):
        load(path)
