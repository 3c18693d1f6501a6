"""Linear SVMs of all labels, with numba and without, against LIBLINEAR and LibSVM."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

from labelkin.label_matrix import read_labels
from labelkin.solvers.linear_svm import solve_svms

TIGHT = {"tol": 1e-7, "max_sweeps": 100_000}


def made_up(seed=0, n_documents=60, n_labels=4, n_folds=5):
    """Return sparse documents, one of them empty, labels that depend on them, and folds."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(sparse.random(n_documents, 25, density=0.25, random_state=rng))
    X.data += 0.2
    X = X.toarray()
    X[7] = 0.0
    hidden = X @ rng.normal(size=(25, n_labels)) + rng.normal(0, 0.5, (n_documents, n_labels))
    Y = (hidden > hidden.mean(axis=0) + np.linspace(0, 1, n_labels)).astype(float)
    folds = rng.permutation(n_documents) % n_folds
    return sparse.csr_array(X), Y, folds


def liblinear_values(X, y, rows, at, cost=None, C=1.0):
    """Return decision values of scikit-learn's SVM fitted on ``rows``, for documents ``at``."""
    svc = LinearSVC(loss="hinge", C=C, tol=1e-8, max_iter=1_000_000)
    weight = None if cost is None else cost[rows]
    return svc.fit(X[rows], y[rows], sample_weight=weight).decision_function(X[at])


@pytest.mark.parametrize("n_folds", [2, 7])
def test_decision_values_equal_scikit_learn(way, n_folds):
    X, Y, folds = made_up(n_folds=n_folds)
    svms = solve_svms(X, read_labels(Y), folds, C=0.7, **TIGHT)
    assert svms.converged.all()
    everyone = np.arange(len(folds))
    for j, y in enumerate(Y.T):
        expected = liblinear_values(X, y, everyone, everyone, C=0.7)
        np.testing.assert_allclose(svms.decision_values(X)[:, j], expected, atol=1e-4)
        for fold in range(n_folds):
            rows, left_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            expected = liblinear_values(X, y, rows, left_out, C=0.7)
            np.testing.assert_allclose(svms.out_of_fold[left_out, j], expected, atol=1e-4)


def test_recentred_bias_equals_libsvm():
    pytest.importorskip("numba", reason="re-centring needs numba")
    X, Y, folds = made_up(seed=1, n_folds=3)
    svms = solve_svms(X, read_labels(Y), folds, recentre=40, **TIGHT)
    for j, y in enumerate(Y.T):
        final = SVC(kernel="linear", tol=1e-8).fit(X, y)
        expected = final.decision_function(X)
        np.testing.assert_allclose(svms.decision_values(X)[:, j], expected, atol=1e-3)
        rows, left_out = np.flatnonzero(folds != 1), np.flatnonzero(folds == 1)
        fold = SVC(kernel="linear", tol=1e-8).fit(X[rows], y[rows])
        expected = fold.decision_function(X[left_out])
        np.testing.assert_allclose(svms.out_of_fold[left_out, j], expected, atol=1e-3)


def test_free_bias_is_closer_to_libsvm(way):
    X, Y, folds = made_up(seed=2, n_documents=120, n_folds=3)
    expected = np.column_stack(
        [SVC(kernel="linear", tol=1e-8).fit(X, y).decision_function(X) for y in Y.T]
    )
    error = [
        np.abs(
            solve_svms(X, read_labels(Y), folds, recentre=recentre, **TIGHT).decision_values(X)
            - expected
        ).mean()
        for recentre in (0, 2)
    ]
    assert error[1] < error[0] / 3


def test_cost_two_equals_document_twice(way):
    X, Y, folds = made_up(seed=3)
    cost = np.where(np.arange(len(folds)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(folds)), cost.astype(int))
    weighted = solve_svms(X, read_labels(Y), folds, cost=cost, **TIGHT)
    copied = solve_svms(X[twice], read_labels(Y[twice]), folds[twice], **TIGHT)
    np.testing.assert_allclose(weighted.weights, copied.weights, atol=1e-4)
    np.testing.assert_allclose(weighted.bias, copied.bias, atol=1e-4)
    np.testing.assert_allclose(weighted.out_of_fold[twice], copied.out_of_fold, atol=1e-4)


@pytest.mark.parametrize("by_cost", [False, True], ids=["unknown", "cost 0"])
def test_unknown_cells_and_zero_costs_are_ignored(way, by_cost):
    X, Y, folds = made_up(seed=4)
    is_unknown = np.random.default_rng(4).random(len(folds)) < 0.3
    marked, cost = Y.copy(), np.ones(len(folds))
    if by_cost:
        cost[is_unknown] = 0.0
    else:
        marked[is_unknown, 1] = np.nan
    svms = solve_svms(X, read_labels(marked), folds, cost=cost, **TIGHT)
    rest = np.flatnonzero(~is_unknown)
    alone = solve_svms(X[rest], read_labels(Y[rest]), folds[rest], **TIGHT)
    np.testing.assert_allclose(svms.weights[1], alone.weights[1], atol=1e-4)
    np.testing.assert_allclose(svms.out_of_fold[rest, 1], alone.out_of_fold[:, 1], atol=1e-4)
    in_fold = np.flatnonzero(is_unknown & (folds == 2))
    rows = np.flatnonzero(~is_unknown & (folds != 2))
    expected = liblinear_values(X, Y[:, 1], rows, in_fold)
    np.testing.assert_allclose(svms.out_of_fold[in_fold, 1], expected, atol=1e-4)


def test_training_part_of_one_class_predicts_it(way):
    X, Y, folds = made_up(seed=5, n_labels=2)
    Y[:, 0] = folds == 3
    Y[:, 1] = folds != 1
    svms = solve_svms(X, read_labels(Y), folds, **TIGHT)
    assert (svms.out_of_fold[folds == 3, 0] == -1).all()
    assert (svms.out_of_fold[folds == 1, 1] == 1).all()
    rows, left_out = np.flatnonzero(folds != 0), np.flatnonzero(folds == 0)
    for j in range(2):
        expected = liblinear_values(X, Y[:, j], rows, left_out)
        np.testing.assert_allclose(svms.out_of_fold[left_out, j], expected, atol=1e-4)


def test_number_of_jobs_does_not_change_result(way):
    X, Y, folds = made_up(seed=9, n_labels=12)
    one, two, again = (
        solve_svms(X, read_labels(Y), folds, seed=3, n_jobs=n_jobs) for n_jobs in (1, 2, 2)
    )
    for other in (two, again):
        assert other.weights.tobytes() == one.weights.tobytes()
        assert other.out_of_fold.tobytes() == one.out_of_fold.tobytes()


def test_too_few_sweeps_are_reported_without_warning(way, recwarn):
    X, Y, folds = made_up(seed=12)
    svms = solve_svms(X, read_labels(Y), folds, tol=1e-9, max_sweeps=2)
    assert not svms.converged.any()
    assert not len(recwarn)


def test_dense_and_unsorted_documents_give_same_result(way):
    X, Y, folds = made_up(seed=13)
    expected = solve_svms(X, read_labels(Y), folds)
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    entries = np.concatenate([np.r_[a:b, a:b][::-1] for a, b in ends])
    twice = sparse.csr_array((X.data[entries] / 2, X.indices[entries], 2 * X.indptr), shape=X.shape)
    before = twice.copy()
    for same in (X.toarray(), twice):
        svms = solve_svms(same, read_labels(Y), folds)
        np.testing.assert_allclose(svms.weights, expected.weights, atol=1e-10)
    np.testing.assert_array_equal(twice.data, before.data)


def test_import_does_not_load_numba():
    code = "import sys, labelkin.solvers.linear_svm;sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
