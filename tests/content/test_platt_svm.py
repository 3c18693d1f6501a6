import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from labelkin.content.platt_svm import PlattSVM
from labelkin.solvers import linear_svm


def world(seed=0, n=200, d=20, p=4):
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(sparse.random(n, d, density=0.4, random_state=rng))
    Y = (X @ rng.normal(size=(d, p)) + rng.normal(0, 0.4, (n, p)) > 0.3).astype(int)
    return X, Y


def test_log_odds_are_linear_and_rank_as_the_svm():
    X, Y = world()
    model = PlattSVM(random_state=0, tol=1e-3).fit(X, Y)
    np.testing.assert_allclose(model.log_odds(X), X @ model.coef_.T + model.intercept_)
    for j in range(Y.shape[1]):
        svc = LinearSVC(loss="hinge", tol=1e-9, max_iter=10**6).fit(X, Y[:, j])
        direction = model.coef_[j] / np.linalg.norm(model.coef_[j])
        np.testing.assert_allclose(direction, svc.coef_[0] / np.linalg.norm(svc.coef_), atol=5e-3)


def test_probabilities_are_calibrated_on_new_documents():
    X, Y = world(1, n=3000)
    model = PlattSVM(random_state=0).fit(X[:2000], Y[:2000])
    p = expit(model.log_odds(X[2000:]))
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = (p >= low) & (p < low + 0.2)
        assert abs(p[inside].mean() - Y[2000:][inside].mean()) < 0.08


def test_results_without_numba_are_close_and_reproducible(monkeypatch):
    X, Y = world(3)
    with_numba = PlattSVM(random_state=0, tol=0.01).fit(X, Y).predict_proba(X)

    monkeypatch.setattr(linear_svm, "load_kernels", lambda: None)
    without = [PlattSVM(random_state=0, tol=0.01).fit(X, Y).predict_proba(X) for _ in range(2)]
    np.testing.assert_array_equal(*without)
    assert np.abs(without[0] - with_numba).mean() < 2e-3


def test_long_rows_cause_a_warning_with_a_hint():
    X, Y = world(5)
    with pytest.warns(ConvergenceWarning, match="reach tol=1e-09 with rows of mean length"):
        PlattSVM(random_state=0, tol=1e-9).fit(X * 1000, Y)
