"""A linear SVM per label, with decision values for documents it was not trained on.

With numba the SVMs of a label are solved in lockstep, without it one by one by scikit-learn.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from labelkin.label_matrix import LabelMatrix, read_weight
from labelkin.solvers import load_kernels


@dataclass(frozen=True)
class LinearSVMs:
    """The SVMs of p labels; the decision value of document x is weights · x + bias.

    A label of which the documents show one side only has weights 0 and bias +1 or −1: the side they
    show (0 if nothing is known).

    Attributes
    ----------
    weights
        ``(n_labels, n_features)``.
    bias
        ``(n_labels,)``.
    out_of_fold
        Decision values of every training document by SVMs that did not learn from its fold,
        ``(n_documents, n_labels)``, unknown cells included. An SVM whose training part shows one
        side only says +1 or −1, one without training part 0.
    converged
        Whether the label's SVMs all reached the tolerance, ``(n_labels,)``.
    """

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    out_of_fold: NDArray[np.float64]
    converged: NDArray[np.bool_]

    def decision_values(self, X: Any) -> NDArray[np.float64]:
        """Return the decision values of documents ``X``, ``(n_documents, n_labels)``."""
        return np.asarray(X @ self.weights.T) + self.bias


@dataclass(frozen=True)
class SVMTask:
    """Checked inputs, in the form that both ways to solve read.

    ``X`` is canonical CSR of float64, ``positive`` and ``unknown`` are CSC, ``cost`` multiplies
    ``C``.
    """

    X: sparse.csr_array
    positive: sparse.csc_array
    unknown: sparse.csc_array | None
    folds: NDArray[np.int64]
    cost: NDArray[np.float64]
    C: float
    tol: float
    recentre: int
    seed: int
    max_sweeps: int

    @property
    def n_folds(self) -> int:
        """Number of folds; those without documents count."""
        return int(self.folds.max(initial=0)) + 1

    def signs(self, j: int) -> NDArray[np.int8]:
        """Return +1 where label ``j`` is carried, −1 where not, 0 where unknown or without cost."""
        signs = np.full(len(self.folds), -1, dtype=np.int8)
        signs[_rows(self.positive, j)] = 1
        if self.unknown is not None:
            signs[_rows(self.unknown, j)] = 0
        signs[self.cost == 0] = 0
        return signs

    def constant_values(self, signs: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return +1, −1, 0 where a training part has one side or no document, which needs no SVM.

        NaN elsewhere. The first is of the training part "all documents", then one for each fold
        that is left out: ``(1 + n_folds,)``.
        """
        n_positive = self._training_sizes(signs > 0)
        n_negative = self._training_sizes(signs < 0)
        answers = np.sign(n_positive - n_negative).astype(np.float64)
        answers[(n_positive > 0) & (n_negative > 0)] = np.nan
        return answers

    def _training_sizes(self, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        in_fold = np.bincount(self.folds[counted], minlength=self.n_folds)
        return np.append(0, -in_fold) + counted.sum()

    def unsolved(self) -> LinearSVMs:
        """Return empty arrays for the result; out-of-fold values are stored label by label."""
        n_documents, n_labels = self.positive.shape
        return LinearSVMs(
            weights=np.zeros((n_labels, self.X.shape[1])),
            bias=np.zeros(n_labels),
            out_of_fold=np.zeros((n_labels, n_documents)).T,
            converged=np.ones(n_labels, dtype=np.bool_),
        )


def solve_svms(
    X: Any,
    Y: LabelMatrix,
    folds: NDArray[np.int64],
    *,
    C: float = 1.0,
    tol: float = 0.1,
    recentre: int = 0,
    cost: NDArray[np.float64] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    max_sweeps: int = 1000,
) -> LinearSVMs:
    """Solve the SVM of every label on all documents, and once more without each fold.

    ½ |weights|² + ½ bias² + Σ C · cost · max(0, 1 − sign · decision value) is minimised over the
    documents whose label is known.

    Parameters
    ----------
    X
        Documents × features, sparse or dense. A document may have no feature.
    Y
        Their labels. Where a label is unknown the document is left out of that label's training.
    folds
        The fold of each document, ``(n_documents,)``, numbered from 0.
    C
        Price of a margin violation, positive.
    tol
        Largest violation of the optimality conditions, in units of the decision value, positive.
    recentre
        0: the bias is penalised like any weight. Otherwise it is freed in this number of proximal
        steps; 2 come close to LibSVM's unpenalised bias. Without numba the penalty of the bias is
        lowered to a ninth instead.
    cost
        Multiplies ``C`` per document, ``(n_documents,)``; 2 is the same as giving it twice.
    seed
        Of the order in which documents are visited; the same for every label, so that a result
        does not depend on the label's place.
    n_jobs
        Threads over labels; the result is the same, byte by byte. Without numba one is used.
    max_sweeps
        Most passes over the documents before a label is given up as not converged.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.2], [0.1, 1.0]])
    >>> Y = read_labels([["tea"], ["coffee"], ["tea"], ["coffee"]])
    >>> svms = solve_svms(X, Y, folds=np.array([0, 0, 1, 1]), tol=1e-6)
    >>> svms.decision_values(X).round(1)
    array([[-1. ,  1. ],
           [ 1. , -1. ],
           [-0.8,  0.8],
           [ 0.9, -0.9]])
    """
    task = SVMTask(
        X=_read_features(X),
        positive=sparse.csc_array(Y.positive),
        unknown=None if Y.unknown is None else sparse.csc_array(Y.unknown),
        folds=folds,
        cost=read_weight(cost, Y.shape[0], "cost"),
        C=float(C),
        tol=float(tol),
        recentre=int(recentre),
        seed=int(seed),
        max_sweeps=int(max_sweeps),
    )
    kernels = load_kernels()
    return _solve_by_liblinear(task) if kernels is None else _solve_lockstep(task, kernels, n_jobs)


def _read_features(X: Any) -> sparse.csr_array:
    """Canonical CSR of float64, with 32-bit indices if possible (liblinear takes no others)."""
    matrix = sparse.csr_array(X, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sparse.csr_array((matrix.data, indices, indptr), shape=matrix.shape)


def _rows(matrix: sparse.csc_array, j: int) -> NDArray[Any]:
    return matrix.indices[matrix.indptr[j] : matrix.indptr[j + 1]]


#: liblinear's largest tolerance: both ways then differ by no more than their tolerances, on
#: Reuters-21578 by 4e-5 in the mean probability, of 2e-4 between two draws of the folds.
_TOL = 0.03

#: A bias that is to be free has the constant feature 3: its penalty is a ninth. That came as close
#: to the free bias as two re-centrings do; a feature of 10 costs five times more and gains nothing.
_FREE_BIAS_FEATURE = 3.0


def _solve_by_liblinear(task: SVMTask) -> LinearSVMs:
    """Solve every label's SVMs one by one with scikit-learn."""
    svms = task.unsolved()
    svc = LinearSVC(
        C=task.C,
        loss="hinge",
        dual=True,
        tol=min(task.tol, _TOL),
        intercept_scaling=_FREE_BIAS_FEATURE if task.recentre else 1.0,
        max_iter=task.max_sweeps,
        random_state=task.seed,
    )
    for j in range(len(svms.bias)):
        signs = task.signs(j)
        for fold, constant in enumerate(task.constant_values(signs), start=-1):
            weights, bias = np.zeros(task.X.shape[1]), float(constant)
            left_out = task.folds == fold
            if np.isnan(constant):
                cost = np.where((signs == 0) | left_out, 0.0, task.cost)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    svc.fit(task.X, signs > 0, sample_weight=cost)  # leaves out documents of cost 0
                weights, bias = svc.coef_.ravel(), float(svc.intercept_[0])
                svms.converged[j] &= svc.n_iter_ < task.max_sweeps
            if fold < 0:
                svms.weights[j], svms.bias[j] = weights, bias
            else:
                svms.out_of_fold[left_out, j] = task.X[left_out] @ weights + bias
    return svms


def _solve_lockstep(task: SVMTask, kernels: ModuleType, n_jobs: int | None) -> LinearSVMs:
    """Solve every label's SVMs; six at a time (all documents and five folds) share their sweeps."""
    svms = task.unsolved()
    X = task.X
    squares = X.multiply(X).sum(axis=1)
    # The first fields of the kernel's ``SVMProblem``: the same for every label.
    documents = (
        X.indptr.astype(np.int64),
        X.indices.astype(np.uint32),
        X.data,
        np.asarray(squares, dtype=np.float64).ravel() + 1.0,
        task.C * task.cost,
    )
    # Threads fill in ``svms``: they must share memory, also with another backend of joblib.
    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_solve_label)(kernels, task, documents, svms, j) for j in range(len(svms.bias))
    )
    return svms


def _solve_label(
    kernels: ModuleType,
    task: SVMTask,
    documents: tuple[NDArray[np.generic], ...],
    svms: LinearSVMs,
    j: int,
) -> None:
    """Fill in label ``j``: SVM 0 is the final one, SVM 1 + k leaves out fold k."""
    signs = task.signs(j)
    answers = task.constant_values(signs)
    svms.bias[j] = np.nan_to_num(answers[0])
    how = task.tol, task.recentre, task.max_sweeps, _first_state(task.seed)
    for first in range(0, len(answers), kernels.LANES):
        needed = np.isnan(answers[first : first + kernels.LANES])
        if not needed.any():
            continue
        learns = np.zeros(kernels.LANES, dtype=np.bool_)
        learns[: len(needed)] = needed
        lane = task.folds + 1 - first
        left_out = np.where((lane >= 0) & (lane < kernels.LANES), lane, -1).astype(np.int8)
        problem = kernels.SVMProblem(*documents, signs, left_out, learns)
        W, bias = np.zeros(task.X.shape[1] * kernels.LANES), np.zeros(kernels.LANES)
        svms.converged[j] &= kernels.descend(problem, np.flatnonzero(signs), W, bias, *how)
        kernels.score_left_out(problem, W, bias, svms.out_of_fold[:, j])
        if first == 0 and learns[0]:
            svms.weights[j], svms.bias[j] = W[:: kernels.LANES], bias[0]
    constant = answers[1:][task.folds]
    svms.out_of_fold[:, j] = np.where(np.isnan(constant), svms.out_of_fold[:, j], constant)


def _first_state(seed: int) -> np.uint64:
    """Return a well-mixed state of the generator, never 0."""
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1))
