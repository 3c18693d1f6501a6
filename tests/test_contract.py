"""What strangers expect of a scikit-learn estimator beyond what scikit-learn's own checks ask."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import labelkin
from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
    SVMLabels,
)
from labelkin.scikit_learn import with_random_state

rng = np.random.default_rng(0)
Y = (rng.random((90, 4)) < [0.5, 0.3, 0.4, 0.2]).astype(int)
Y[:, 3] |= Y[:, 0] & (rng.random(90) < 0.7)
X = rng.poisson(0.5 + 2 * np.repeat(Y, 3, axis=1)).astype(float)
NAMES = ["corn", "gold", "grain", "wheat"]


@pytest.mark.parametrize(
    "content",
    [
        None,
        "svm",
        PlattSVM(),
        PerLabel(SGDClassifier(loss="log_loss")),
        RandomForestClassifier(n_estimators=5),
        make_pipeline(MaxAbsScaler(), PlattSVM()),
    ],
    ids=str,
)
def test_a_seed_reaches_the_content_classifier_that_is_given(content):
    first, second = (
        LabelDependenceClassifier(content, random_state=0).fit(X, Y).log_odds(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_a_given_classifier_without_a_seed_is_the_default_one():
    words = sparse.csr_array(X)
    default = LabelDependenceClassifier(random_state=3).fit(words, Y).log_odds(words)
    given = LabelDependenceClassifier(PlattSVM(), random_state=3).fit(words, Y).log_odds(words)
    np.testing.assert_array_equal(given, default)


def test_a_seed_of_its_own_is_kept_and_no_parameter_is_changed():
    content = make_pipeline(MaxAbsScaler(), PlattSVM(random_state=7))
    assert with_random_state(content, 0).get_params()["plattsvm__random_state"] == 7
    unset = PlattSVM()
    assert with_random_state(unset, 5).random_state == 5
    assert unset.random_state is None
    drawn = with_random_state(unset, np.random.RandomState(1)).random_state
    assert drawn == np.random.RandomState(1).randint(2**31 - 1)


WEIGHT = rng.integers(0, 3, 90)
REPEATED = np.repeat(np.arange(90), WEIGHT)


def test_weights_work_without_metadata_routing_and_count_like_copies():
    assert not sklearn.get_config()["enable_metadata_routing"]
    weighted = LabelDependenceClassifier(NaiveBayes()).fit(X, Y, sample_weight=WEIGHT)
    repeated = LabelDependenceClassifier(NaiveBayes()).fit(X[REPEATED], Y[REPEATED])
    np.testing.assert_allclose(weighted.log_odds(X), repeated.log_odds(X), atol=1e-8)


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        (PlattSVM(random_state=0), SVMLabels()),
        (PerLabel(LogisticRegression()), LogisticLabels()),
        (NaiveBayes(), LogisticLabels()),
    ],
    ids=str,
)
def test_weights_move_every_part_that_takes_them(content, labels):
    plain = LabelDependenceClassifier(content, labels=labels, evidence_weight=1).fit(X, Y)
    weighted = LabelDependenceClassifier(content, labels=labels, evidence_weight=1)
    weighted.fit(X, Y, sample_weight=1.0 + (np.arange(90) % 3))
    assert not np.allclose(weighted.content_.log_odds(X), plain.content_.log_odds(X))
    assert not np.allclose(weighted.label_weights_, plain.label_weights_)


@pytest.mark.parametrize(
    "content",
    [NearestNeighbours(), make_pipeline(MaxAbsScaler(), LogisticRegression())],
    ids=["neighbours", "pipeline"],
)
def test_a_part_that_takes_no_weights_is_named(content):
    with pytest.raises(TypeError, match=r"taken by all parts .*content=.*enable_metadata_routing"):
        LabelDependenceClassifier(content).fit(X, Y, sample_weight=np.ones(90))


def test_predictions_come_back_by_name():
    frame = pd.DataFrame(Y, columns=NAMES)
    documents = pd.DataFrame(X, index=[f"d{i}" for i in range(90)])
    documents.columns = documents.columns.astype(str)
    model = LabelDependenceClassifier(NaiveBayes()).fit(documents, frame)
    decisions = model.predict(documents)
    names = model.predict_labels(documents)
    assert names == [tuple(np.array(NAMES)[row == 1]) for row in decisions]
    known = [{"accepted": ["gold"]}] * 90
    assert all("gold" in row for row in model.predict_labels(documents, known=known))
    classes = NaiveBayes().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="got one trained on binary classes"):
        classes.predict_labels(X)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("model", [LabelDependenceClassifier(NaiveBayes()), NaiveBayes()], ids=str)
def test_sparse_labels_come_back_in_the_flavour_they_came(model, kind):
    found = model.fit(X, kind(Y)).predict(X)
    assert isinstance(found, sparse.sparray) == issubclass(kind, sparse.sparray)
    assert sparse.issparse(found) and found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), model.fit(X, Y).predict(X))


def test_out_of_fold_evidence_is_kept_when_asked_and_only_then():
    model = LabelDependenceClassifier(NaiveBayes(), keep_out_of_fold=True).fit(X, Y)
    np.testing.assert_array_equal(model.out_of_fold_.content, NaiveBayes().fit_out_of_fold(X, Y))
    apart = LabelDependenceClassifier(NaiveBayes()).fit_out_of_fold(X, Y)
    np.testing.assert_array_equal(model.out_of_fold_.posterior, apart)
    assert not hasattr(LabelDependenceClassifier(NaiveBayes()).fit(X, Y), "out_of_fold_")


def test_everything_about_a_posterior_is_read_from_one_computation(monkeypatch):
    model = LabelDependenceClassifier(NaiveBayes(), thresholds="micro_f1").fit(X, Y)
    calls = []
    plain = NaiveBayes._log_odds
    monkeypatch.setattr(NaiveBayes, "_log_odds", lambda self, X: calls.append(1) or plain(self, X))
    found = model.posterior(X[:5], known=[{"accepted": [2]}] * 5)
    suggestions, reasons = found.suggest(3), found.explain(3)
    decisions, probabilities = found.decisions(), found.probabilities()
    assert len(calls) == 1
    known = [{"accepted": [2]}] * 5
    assert suggestions == model.suggest(X[:5], top=3, known=known)
    assert reasons == model.explain(X[:5], top=3, known=known)
    np.testing.assert_array_equal(decisions, model.predict(X[:5], known) == 1)
    np.testing.assert_array_equal(probabilities, model.predict_proba(X[:5], known))


#: Calls, and whether they are right; the others name no choice that there is.
CALLS = {
    'LabelDependenceClassifier(variant="soft", thresholds="micro_f1")': True,
    "LabelRescorer(evidence_weight=0.5, scale='log_odds')": True,
    'LabelDependenceClassifier(variant="medium")': False,
    'LabelDependenceClassifier(thresholds="f1")': False,
    'LabelRescorer(scale="logit")': False,
    'LabelRescorer(evidence_weight="automatic")': False,
    'LogisticLabels(solver="newton")': False,
    'SVMLabels(rare="none")': False,
    'LearnedWeight(criterion="accuracy")': False,
    "LearnedWeight(shrinkage=100)": True,
}


def test_mypy_sees_what_is_no_choice(tmp_path):
    names = sorted({call.split("(")[0] for call in CALLS})
    imports = f"from labelkin import {', '.join(set(names) & set(labelkin.__all__))}; "
    program = imports + "from labelkin.thresholds import GlobalCut\n" + "\n".join(CALLS)
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = {int(line) for line in re.findall(r"^program.py:(\d+): error", done.stdout, re.M)}
    found = {call: line not in wrong for line, call in enumerate(CALLS, 2)}
    assert found == CALLS, done.stdout + done.stderr
