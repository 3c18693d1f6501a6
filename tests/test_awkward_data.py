"""Awkward data has a stated meaning and crashes nothing."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
    SVMLabels,
)
from labelkin.content import cross_val_log_odds

CONTENT = [
    NaiveBayes(),
    NearestNeighbours(n_neighbors=3),
    PlattSVM(random_state=0),
    PerLabel(LogisticRegression(), random_state=0),
]
MODELS = [
    *CONTENT,
    *(LabelDependenceClassifier(content=c) for c in CONTENT),
    LabelDependenceClassifier(content=NaiveBayes(), labels=SVMLabels(), variant="hard"),
    LabelDependenceClassifier(content=NaiveBayes(), labels=LogisticLabels(solver="weka")),
    LabelDependenceClassifier(content=NaiveBayes(), labels=LogisticRegression()),
]
rng = np.random.default_rng(0)
X = rng.poisson(0.8, (24, 9)).astype(float)


def fit(model, X, Y):
    """Fit and predict; everything must be finite and of the right shape."""
    model = clone(model).fit(X, Y)
    log_odds = model.log_odds(X)
    assert np.isfinite(log_odds).all()
    assert log_odds.shape[0] == X.shape[0]
    probability = model.predict_proba(X)
    assert ((probability > 0) & (probability < 1)).all()
    assert model.predict(X).shape == log_odds.shape
    return model, log_odds


@pytest.mark.parametrize("model", MODELS, ids=repr)
class TestEveryModel:
    def test_labels_of_no_one_or_all_documents(self, model):
        Y = (rng.random((24, 5)) < 0.4).astype(int)
        Y[:, 0], Y[:, 1], Y[:, 2] = 0, 1, 0
        Y[7, 2] = 1
        _, log_odds = fit(model, X, Y)
        assert (log_odds[:, 0] < 0).all()
        assert (log_odds[:, 1] > 0).all()
        np.testing.assert_allclose(log_odds[:, 0], np.log(0.5 / 24.5))
        np.testing.assert_allclose(log_odds[:, 1], np.log(24.5 / 0.5))

    def test_documents_without_words(self, model):
        Y = (rng.random((24, 3)) < 0.5).astype(int)
        empty = X.copy()
        empty[[0, 5]] = 0
        fit(model, empty, Y)
        fit(model, sparse.csr_matrix(empty), Y)
        fit(model, np.zeros_like(X), Y)

    def test_one_label(self, model):
        Y = (rng.random((24, 1)) < 0.5).astype(int)
        _, log_odds = fit(model, X, Y)
        assert log_odds.shape == (24, 1)

    def test_one_document(self, model):
        _, log_odds = fit(model, X[:1], [[1, 0, 1]])
        assert (log_odds > 0).tolist() == [[True, False, True]]

    def test_more_labels_than_documents(self, model):
        fit(model, X[:6], (rng.random((6, 30)) < 0.3).astype(int))

    def test_labels_that_are_copies_of_each_other(self, model):
        Y = (rng.random((24, 2)) < 0.4).astype(int)
        _, log_odds = fit(model, X, np.hstack([Y, Y]))
        if "weka" not in repr(model):  # Weka's loop stops early, wherever the column order leads it
            np.testing.assert_allclose(log_odds[:, :2], log_odds[:, 2:], atol=1e-6)

    # Labels of every flavour and type are read by one function: see tests/label_matrix.
    @pytest.mark.parametrize("flavour", [sparse.coo_matrix, sparse.csc_array])
    def test_any_sparse_format(self, model, flavour):
        Y = np.arange(72).reshape(24, 3) % 5 < 2
        dense = clone(model).fit(X, Y).log_odds(X)
        both = clone(model).fit(flavour(X), flavour(Y.astype(int))).log_odds(flavour(X))
        np.testing.assert_allclose(both, dense, atol=1e-4)

    def test_unknown_cells(self, model):
        Y = (rng.random((24, 4)) < 0.5).astype(float)
        Y[rng.random(Y.shape) < 0.3] = np.nan
        Y[:, 3] = np.nan
        _, log_odds = fit(model, X, Y)
        np.testing.assert_array_equal(log_odds[:, 3], 0)  # nothing is known of it: even odds


@pytest.mark.parametrize("content", CONTENT, ids=repr)
def test_out_of_fold_evidence_of_labels_that_a_fold_lacks(content):
    Y = (rng.random((24, 6)) < 0.4).astype(int)
    Y[:, 0], Y[:, 1], Y[:, 2], Y[:, 3] = 0, 1, 0, 1
    Y[3, 2], Y[4, 3] = 1, 0  # one document on one side: the other folds have none
    for target in (Y, sparse.csr_array(Y)):
        log_odds = clone(content).fit_out_of_fold(X, target)
        assert np.isfinite(log_odds).all()
        assert log_odds.shape == Y.shape
    assert np.isfinite(cross_val_log_odds(content, X, Y, cv=12, random_state=0)).all()


def test_only_document_of_a_label_has_the_prior_out_of_fold():
    Y = np.zeros((24, 2), dtype=int)
    Y[5, 0] = 1
    Y[::2, 1] = 1
    for content in CONTENT[:2]:
        log_odds = clone(content).fit_out_of_fold(X, Y)
        np.testing.assert_allclose(log_odds[5, 0], np.log(0.5 / 23.5))
