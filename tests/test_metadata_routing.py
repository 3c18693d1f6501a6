"""Weights reach the parts that ask for them, by scikit-learn's metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelkin import LabelDependenceClassifier, LogisticLabels, NaiveBayes, PerLabel, PlattSVM

rng = np.random.default_rng(0)
X = rng.poisson(1.0, (60, 6)).astype(float)
Y = (X[:, :3] + rng.normal(0, 0.5, (60, 3)) > 1).astype(int)
WEIGHT = rng.integers(0, 3, 60)
REPEATED = np.repeat(np.arange(60), WEIGHT)


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_weights_equal_repetition_through_the_whole_classifier():
    model = LabelDependenceClassifier(
        content=NaiveBayes().set_fit_request(sample_weight=True),
        labels=LogisticLabels().set_fit_request(sample_weight=True),
    )
    weighted = model.fit(X, Y, sample_weight=WEIGHT).log_odds(X)
    repeated = LabelDependenceClassifier(content=NaiveBayes()).fit(X[REPEATED], Y[REPEATED])
    np.testing.assert_allclose(weighted, repeated.log_odds(X), atol=1e-8)


def test_weights_go_only_where_they_are_requested():
    content = NaiveBayes().set_fit_request(sample_weight=True)
    labels = LogisticLabels().set_fit_request(sample_weight=False)
    model = LabelDependenceClassifier(content=content, labels=labels)
    model.fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(
        model.content_.log_odds(X), NaiveBayes().fit(X, Y, sample_weight=WEIGHT).log_odds(X)
    )
    np.testing.assert_array_equal(model.label_weights_, LogisticLabels().fit(Y).weights_)


def test_per_label_passes_weights_to_any_estimator():
    inner = LogisticRegression(tol=1e-10).set_fit_request(sample_weight=True)
    for target in (Y, np.where(rng.random(Y.shape) < 0.1, np.nan, Y)):
        weighted = PerLabel(inner).fit(X, target, sample_weight=WEIGHT).log_odds(X)
        repeated = PerLabel(LogisticRegression(tol=1e-10)).fit(X[REPEATED], target[REPEATED])
        np.testing.assert_allclose(weighted, repeated.log_odds(X), atol=1e-4)
        assert PerLabel(inner).fit_out_of_fold(X, target, sample_weight=WEIGHT).shape == Y.shape


def test_svm_accepts_routed_weights():
    svm = PlattSVM(random_state=0).set_fit_request(sample_weight=True)
    model = LabelDependenceClassifier(
        content=svm, labels=LogisticLabels().set_fit_request(sample_weight=False)
    )
    ones = model.fit(X, Y, sample_weight=np.ones(60)).log_odds(X)
    plain = LabelDependenceClassifier(content=PlattSVM(random_state=0)).fit(X, Y).log_odds(X)
    np.testing.assert_allclose(ones, plain, atol=1e-6)
    weighted = model.fit(X, Y, sample_weight=np.where(Y[:, 0] == 1, 3.0, 1.0)).log_odds(X)
    assert weighted[:, 0].mean() > plain[:, 0].mean() + 0.1


def test_known_labels_are_routed_through_a_pipeline():
    known = np.full(Y.shape, np.nan)
    known[:, 0] = 1
    model = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1)
    for method in ("predict_proba", "decision_function", "predict"):
        getattr(model, f"set_{method}_request")(known=True)
    pipeline = make_pipeline(StandardScaler(with_mean=False), model).fit(X, Y)
    scaled = pipeline[0].transform(X)
    for method in ("predict_proba", "decision_function", "predict"):
        routed = getattr(pipeline, method)(X, known=known)
        np.testing.assert_array_equal(routed, getattr(pipeline[-1], method)(scaled, known=known))
        assert not np.array_equal(routed, getattr(pipeline, method)(X))
