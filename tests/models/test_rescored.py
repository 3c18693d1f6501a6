"""A classifier, and the same with label evidence on top: its own out-of-fold scores decide."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier

from labelkin import LabelDependenceClassifier, RescoredClassifier, corpora
from labelkin.evaluation import metrics

BASE = OneVsRestClassifier(LogisticRegression(C=30, max_iter=500))


@pytest.fixture(scope="module")
def news():
    corpus = corpora.newsroom(600)
    X = TfidfVectorizer(min_df=3).fit_transform(corpus.documents)
    Y = corpus.Y
    return X[:400], Y[:400], X[400:], Y[400:]


@pytest.fixture(scope="module")
def fitted(news):
    return RescoredClassifier(BASE, cv=3, random_state=0).fit(*news[:2])


def test_rescored_classifier_is_better(news, fitted):
    X, Y, X_test, Y_test = news
    before = metrics.micro_f1(Y_test, clone(BASE).fit(X, Y).predict(X_test))
    assert metrics.micro_f1(Y_test, fitted.predict(X_test)) > before + 0.01


def test_the_estimator_is_fitted_on_all_documents(news, fitted):
    X, Y, X_test, _ = news
    alone = clone(BASE).fit(X, Y).predict_proba(X_test)
    np.testing.assert_allclose(fitted.estimator_.predict_proba(X_test), alone, rtol=1e-6)
    assert len(RescoredClassifier(LogisticRegression()).fit(X, Y[:, :3]).estimator_) == 3


def test_scores_are_out_of_fold_with_given_folds(news, fitted):
    X, Y, X_test, _ = news
    from labelkin.content import MultilabelContent

    same = LabelDependenceClassifier(MultilabelContent(BASE, cv=3), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(fitted.log_odds(X_test), same.log_odds(X_test))
    assert fitted.content_.cv == 3


def test_parameters_of_the_estimator_can_be_searched(news):
    X, Y, *_ = news
    grid = {"estimator__estimator__C": [1, 30], "evidence_weight": [0, 1]}
    search = GridSearchCV(RescoredClassifier(BASE), grid, cv=2, scoring="f1_micro")
    found = search.fit(X[:200], Y[:200, :3]).best_params_
    assert found["estimator__estimator__C"] == 30


def test_forests_known_labels_and_sparse_labels(news):
    X, Y, X_test, _ = news
    forest = RandomForestClassifier(10, random_state=0)
    model = RescoredClassifier(forest, cv=2).fit(X, sparse.csr_array(Y))
    assert sparse.issparse(model.predict(X_test[:3]))
    known = np.full((1, Y.shape[1]), np.nan)
    known[0, 0] = 1
    assert model.predict_proba(X_test[:1], known=known)[0, 0] == 1
