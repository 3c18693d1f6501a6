"""A sparse matrix with positions outside it is an error, before a compiled loop follows them."""

import numpy as np
import pytest
from scipy import sparse

from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours, PerLabel, PlattSVM
from labelkin.text import TermSelection, TermWeights

SETS = [["sea"], ["sea", "town"], ["town"], ["sea"], ["town"], ["sea", "town"]]


def matrix(kind=sparse.csr_array):
    return kind(np.array([[3.0, 0, 1], [2, 1, 0], [0, 4, 0], [1, 1, 1], [0, 2, 0], [1, 0, 0]]))


def outside(X):
    X.indices[0] = 10**6


def negative(X):
    X.indices[0] = -5


def rows_back(X):
    X.indptr[2] = 0


def too_far(X):
    X.indptr[-1] += 10


FORGERIES = [outside, negative, rows_back, too_far]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix], ids=["csr", "csc"])
@pytest.mark.parametrize(
    "make",
    [
        *(NearestNeighbours, PlattSVM, NaiveBayes, LabelDependenceClassifier),
        *(TermWeights, TermSelection, lambda: PerLabel(NaiveBayes())),
    ],
    ids=["knn", "svm", "bayes", "dependence", "weights", "selection", "per_label"],
)
def test_a_forged_matrix_is_an_error(make, kind, forge):
    X = matrix(kind)
    forge(X)
    with pytest.raises(ValueError, match="whose parts fit each other"):
        make().fit(X, SETS)


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_matrix_is_an_error_when_it_is_asked_about(forge):
    model = NearestNeighbours().fit(matrix(), SETS)
    X = matrix()
    forge(X)
    with pytest.raises(ValueError, match="whose parts fit each other"):
        model.predict_proba(X)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("make", [NearestNeighbours, PlattSVM, NaiveBayes])
@pytest.mark.parametrize("value", [1e308, 1e-308, 1e160])
def test_huge_and_tiny_numbers_are_taken_or_an_error_about_x(make, value):
    X = matrix()
    X.data[:] *= value / 4
    try:
        answers = make().fit(X, SETS).predict_proba(X)
    except ValueError as error:
        assert "X" in str(error)
        return
    assert np.isfinite(answers).all()


def test_the_label_that_cannot_be_fitted_is_named():
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    sets = [["rare", "sea"], *([["sea"], ["town"]] * 10)]
    X = np.random.default_rng(0).random((len(sets), 3))
    with pytest.raises(ValueError, match=r"the label 'rare' \(1 of 21 documents have it\) cannot"):
        PerLabel(CalibratedClassifierCV(LogisticRegression(), cv=2)).fit(X, sets)
