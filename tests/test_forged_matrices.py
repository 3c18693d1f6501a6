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
def test_forged_matrix_raises_in_fit(make, kind, forge):
    X = matrix(kind)
    forge(X)
    with pytest.raises(ValueError, match="whose parts fit each other"):
        make().fit(X, SETS)


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_matrix_raises_in_predict(forge):
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
def test_forged_labels_and_scores_raise(reader, forge):
    with pytest.raises(ValueError, match="whose parts fit each other"):
        READERS[reader](labels(forge))


@pytest.mark.parametrize("kind", ["coo", "lil", "bsr"])
@pytest.mark.parametrize("place", [-5, 10**6])
def test_forged_matrices_of_other_formats_raise(kind, place):
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


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("make", [NearestNeighbours, PlattSVM, NaiveBayes])
@pytest.mark.parametrize("value", [1e308, 1e-308, 1e160])
def test_huge_and_tiny_numbers_are_accepted_or_raise(make, value):
    X = matrix()
    X.data[:] *= value / 4
    try:
        answers = make().fit(X, SETS).predict_proba(X)
    except ValueError as error:
        assert "X" in str(error)
        return
    assert np.isfinite(answers).all()
