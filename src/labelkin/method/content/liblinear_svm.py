"""The same linear SVMs by scikit-learn's LinearSVC, where there is no numba.

LIBLINEAR's dual solver draws from one generator for the whole process, so in threads its answers
depend on who comes first: the SVMs are solved one after the other, whatever ``n_jobs`` says.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from labelkin.method.content.linear_svms import LinearSVMs, SVMTask

#: Never looser than this, so that the engines differ by no more than their tolerances: on
#: Reuters-21578 by 4e-5 in the mean probability, of 2e-4 between two draws of the folds.
_TOL = 0.03

#: A bias that is to be free has the constant feature 3: its penalty is a ninth. That came as close
#: to the free bias as two re-centrings do; a feature of 10 costs five times more and gains nothing.
_FREE_BIAS_FEATURE = 3.0


def solve_liblinear(task: SVMTask, n_jobs: int | None = None) -> LinearSVMs:
    """Solve every label's SVMs one by one; ``n_jobs`` is not used."""
    svms = task.unsolved()
    for fold in range(-1, task.n_folds):
        rows = np.flatnonzero(task.folds != fold)
        X_train = task.X[rows]
        left_out = np.flatnonzero(task.folds == fold)
        X_left_out = task.X[left_out]
        for j in range(len(svms.bias)):
            weights, bias = _solve_one(task, svms, j, fold, X_train, rows)
            if fold < 0:
                svms.weights[j], svms.bias[j] = weights, bias
            else:
                svms.out_of_fold[left_out, j] = X_left_out @ weights + bias
    return svms


def _solve_one(
    task: SVMTask,
    svms: LinearSVMs,
    j: int,
    fold: int,
    X_train: sparse.csr_array,
    rows: NDArray[np.intp],
) -> tuple[NDArray[np.float64], float]:
    """Return weights and bias of label ``j`` learnt without ``fold`` (−1: from all documents)."""
    signs = task.signs(j)
    answer = task.constant_answers(signs)[fold + 1]
    if not np.isnan(answer):
        return np.zeros(task.X.shape[1]), float(answer)
    svc = LinearSVC(
        C=task.C,
        loss="hinge",
        dual=True,
        tol=min(task.tol, _TOL),
        intercept_scaling=_FREE_BIAS_FEATURE if task.recentre else 1.0,
        max_iter=task.max_sweeps,
        random_state=task.seed,
    )
    cost = np.where(signs == 0, 0.0, task.cost)[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svc.fit(X_train, signs[rows] > 0, sample_weight=cost)
    svms.converged[j] &= svc.n_iter_ < task.max_sweeps
    return svc.coef_.ravel(), float(svc.intercept_[0])
