"""Conventions of scikit-learn estimators beyond scikit-learn's own checks."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from labelkin import (
    LabelDependenceClassifier,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
)
from labelkin.scikit_learn import with_random_state

rng = np.random.default_rng(0)
Y = (rng.random((90, 4)) < [0.5, 0.3, 0.4, 0.2]).astype(int)
Y[:, 3] |= Y[:, 0] & (rng.random(90) < 0.7)
X = rng.poisson(0.5 + 2 * np.repeat(Y, 3, axis=1)).astype(float)


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
def test_seed_is_passed_to_the_content_classifier(content):
    first, second = (
        LabelDependenceClassifier(content, random_state=0).fit(X, Y).log_odds(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_own_seed_is_kept():
    content = make_pipeline(MaxAbsScaler(), PlattSVM(random_state=7))
    assert with_random_state(content, 0).get_params()["plattsvm__random_state"] == 7
    unset = PlattSVM()
    assert with_random_state(unset, 5).random_state == 5
    assert unset.random_state is None
    drawn = with_random_state(unset, np.random.RandomState(1)).random_state
    assert drawn == np.random.RandomState(1).randint(2**31 - 1)


WEIGHT = rng.integers(0, 3, 90)
REPEATED = np.repeat(np.arange(90), WEIGHT)


def test_weights_without_metadata_routing_equal_repetition():
    assert not sklearn.get_config()["enable_metadata_routing"]
    weighted = LabelDependenceClassifier(NaiveBayes()).fit(X, Y, sample_weight=WEIGHT)
    repeated = LabelDependenceClassifier(NaiveBayes()).fit(X[REPEATED], Y[REPEATED])
    np.testing.assert_allclose(weighted.log_odds(X), repeated.log_odds(X), atol=1e-8)


@pytest.mark.parametrize(
    "content",
    [NearestNeighbours(), make_pipeline(MaxAbsScaler(), LogisticRegression())],
    ids=["neighbours", "pipeline"],
)
def test_part_without_sample_weight_raises(content):
    with pytest.raises(TypeError, match=r"taken by all parts .*content=.*enable_metadata_routing"):
        LabelDependenceClassifier(content).fit(X, Y, sample_weight=np.ones(90))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("model", [LabelDependenceClassifier(NaiveBayes()), NaiveBayes()], ids=str)
def test_predictions_have_the_sparse_container_of_labels(model, kind):
    found = model.fit(X, kind(Y)).predict(X)
    assert isinstance(found, sparse.sparray) == issubclass(kind, sparse.sparray)
    assert sparse.issparse(found) and found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), model.fit(X, Y).predict(X))


def test_posterior_computes_content_once(monkeypatch):
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
