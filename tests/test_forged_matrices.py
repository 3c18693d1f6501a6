"""A sparse matrix with positions outside it is an error, before a compiled loop follows them."""

import numpy as np
import pytest
from scipy import sparse

from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
)
from labelkin.curation.audit.issues import as_rows
from labelkin.evaluation import metrics
from labelkin.label_matrix import read_labels
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


def overflowing(X):
    """Make every difference of ends positive by overflow."""
    most = np.iinfo(X.indptr.dtype)
    X.indptr[1:4] = [most.max, most.min, -1]


FORGERIES = [outside, negative, rows_back, too_far, overflowing]


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


def labels(forge):
    Y = sparse.csr_array(np.array([[1.0, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]]))
    if forge is not None:
        forge(Y)
    return Y


RESCORER = LabelRescorer(evidence_weight=1).fit(labels(None).toarray())
READERS = {
    "Y": lambda forged: LabelRescorer(evidence_weight=1).fit(forged),
    "Y beside X": lambda forged: NaiveBayes().fit(np.eye(5), forged),
    "scores": RESCORER.rescore,
    "known": lambda forged: RESCORER.rescore(np.zeros((5, 3)), known=forged),
    "known of candidates": lambda forged: RESCORER.rescore(labels(None), known=forged),
    "true labels": lambda forged: metrics.evaluate(forged, decisions=labels(None)),
    "decisions": lambda forged: metrics.evaluate(labels(None), decisions=forged),
    "probabilities": lambda forged: metrics.evaluate(labels(None), probabilities=forged),
    "documents to compare": as_rows,
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
@pytest.mark.parametrize("reader", READERS)
def test_forged_labels_and_scores_are_an_error(reader, forge):
    with pytest.raises(ValueError, match="whose parts fit each other"):
        READERS[reader](labels(forge))


@pytest.mark.parametrize("kind", ["coo", "lil", "bsr"])
@pytest.mark.parametrize("place", [-5, 10**6])
def test_other_kinds_of_sparse_matrices_are_looked_at(kind, place):
    Y = labels(None).asformat(kind)
    NaiveBayes().fit(Y, labels(None))
    if kind == "lil":
        Y.rows[0][0] = place
    else:
        (Y.col if kind == "coo" else Y.indices)[0] = place
    with pytest.raises(ValueError, match="Y must be a sparse matrix whose parts fit each other"):
        NaiveBayes().fit(np.eye(5), Y)
    with pytest.raises(ValueError, match="X must be a sparse matrix whose parts fit each other"):
        NaiveBayes().fit(Y, labels(None))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sound_ones_of_any_kind_are_taken(kind):
    Y = labels(None)
    assert (read_labels(Y.asformat(kind)).dense() == Y.toarray()).all()


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
