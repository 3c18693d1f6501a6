"""scikit-learn's own checks, and the same promises for estimators it has no checks for."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelkin import (
    ContentEnsemble,
    LabelDependenceClassifier,
    LabelRescorer,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PaperClassifier,
    PerLabel,
    PlattSVM,
    RescoredClassifier,
    SVMLabels,
)
from labelkin.content import MultilabelContent
from labelkin.evaluation import metrics
from labelkin.method.label_evidence import PerLabelEvidence

CLASSIFIERS = [
    LabelDependenceClassifier(),
    NaiveBayes(),
    NearestNeighbours(),
    PaperClassifier(),
    PlattSVM(),
    PerLabel(LogisticRegression()),
    ContentEnsemble([NearestNeighbours(), PerLabel(LogisticRegression())], random_state=0),
    RescoredClassifier(LogisticRegression()),
    RescoredClassifier(OneVsRestClassifier(LogisticRegression()), cv=3),
]
LABEL_ESTIMATORS = [
    LogisticLabels(),
    LogisticLabels(solver="weka"),
    SVMLabels(),
    PerLabelEvidence(LogisticRegression()),
    LabelRescorer(),
    LabelRescorer(labels=SVMLabels(C=2.0), variant="hard", evidence_weight=0.5),
]


@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def correlated(n=120, p=5, d=12, seed=0):
    """Documents whose features and labels depend on each other."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (n, d)).astype(float)
    Y = (X[:, :p] + rng.normal(0, 0.7, (n, p)) > 1.2).astype(int)
    Y[:, 1] |= Y[:, 0]
    return X, Y


@pytest.mark.parametrize("estimator", LABEL_ESTIMATORS, ids=repr)
class TestEstimatorsOfLabelMatrices:
    def test_clone_repr_and_parameters(self, estimator):
        copy = clone(estimator)
        assert copy is not estimator
        assert repr(copy) == repr(estimator)
        assert copy.get_params().keys() == estimator.get_params().keys()
        name, value = next(iter(copy.get_params(deep=False).items()))
        assert getattr(copy.set_params(**{name: value}), name) is value

    def test_init_does_no_work(self, estimator):
        strange = {name: object() for name in estimator.get_params(deep=False)}
        made = type(estimator)(**strange)
        assert vars(made) == strange

    def test_pickle_returns_the_same_results(self, estimator):
        _, Y = correlated()
        fitted = clone(estimator).fit(Y)
        again = pickle.loads(pickle.dumps(fitted))
        answer = "rescore" if isinstance(estimator, LabelRescorer) else "predict_proba"
        L = np.random.default_rng(0).random(Y.shape)
        np.testing.assert_array_equal(getattr(fitted, answer)(L), getattr(again, answer)(L))

    def test_not_fitted_raises(self, estimator):
        answer = "rescore" if isinstance(estimator, LabelRescorer) else "predict_proba"
        with pytest.raises(
            NotFittedError, match=f"This {type(estimator).__name__} instance is not fitted"
        ):
            getattr(clone(estimator), answer)([[0.5, 0.5]])


MULTILABEL = [
    *CLASSIFIERS,
    MultilabelContent(RandomForestClassifier(n_estimators=10, random_state=0)),
    LabelDependenceClassifier(content=NaiveBayes(), labels=SVMLabels(), variant="hard"),
]


@pytest.mark.parametrize("estimator", MULTILABEL, ids=repr)
class TestInsideScikitLearn:
    def test_pipeline_and_cross_validated_probabilities(self, estimator):
        X, Y = correlated()
        model = make_pipeline(StandardScaler(with_mean=False), clone(estimator))
        for target in (Y, pd.DataFrame(Y, columns=list("abcde"))):
            probability = cross_val_predict(model, X, target, cv=3, method="predict_proba")
            assert probability.shape == Y.shape
            assert metrics.macro_f1(Y, probability > 0.5) > 0.5

    def test_score_accepts_all_kinds_of_labels(self, estimator):
        X, Y = correlated()
        names = np.array(list("abcde"))
        sets = [names[row == 1].tolist() for row in Y]
        model = clone(estimator).fit(X, sets)
        expected = np.mean((model.predict(X) == Y).all(axis=1))
        for labels in (sets, pd.DataFrame(Y, columns=names), sparse.csr_array(Y), Y.astype(float)):
            assert model.score(X, labels) == pytest.approx(expected)
        half_known = Y.astype(float)
        half_known[0] = np.nan
        assert model.score(X, half_known) >= expected

    def test_new_labels_count_as_wrong_in_score(self, estimator):
        X, Y = correlated()
        names = np.array(list("abcde"))
        model = clone(estimator).fit(X, [names[row == 1].tolist() for row in Y])
        right = [list(labels) for labels in model.label_sets(model.predict(X))]
        assert model.score(X, right) == 1.0
        right[0].append("unseen")
        assert model.score(X, right) == pytest.approx(1 - 1 / len(X))
