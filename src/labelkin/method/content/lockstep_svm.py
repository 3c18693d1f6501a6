"""Linear SVMs in lockstep: a label's final SVM and those of its folds in the same sweeps.

The folds' SVMs are nearly the final one, so the passes over the documents that solve one of them
solve them all; the numbers are in ``lockstep_kernel``. Labels are independent and run in threads.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from labelkin.method.content.linear_svms import LinearSVMs, SVMTask


def load_kernel() -> ModuleType:
    """Import the compiled kernel; an ``ImportError`` where numba is missing or does not work."""
    from labelkin.method.content import lockstep_kernel

    return lockstep_kernel


def solve_lockstep(task: SVMTask, n_jobs: int | None = None) -> LinearSVMs:
    """Solve every label's SVMs; six at a time (all documents and five folds) share their sweeps."""
    svms = task.unsolved()
    documents = _read_documents(task)
    # Threads fill in ``svms``: they must share memory, whatever backend a user has set.
    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_solve_label)(task, documents, svms, j) for j in range(len(svms.bias))
    )
    return svms


def _read_documents(task: SVMTask) -> tuple[NDArray[np.generic], ...]:
    """Return the first fields of the kernel's ``Problem``: the same for every label."""
    X = task.X
    squares = X.multiply(X).sum(axis=1)
    return (
        X.indptr.astype(np.int64),
        X.indices.astype(np.uint32),
        X.data,
        np.asarray(squares, dtype=np.float64).ravel() + 1.0,
        task.C * task.cost,
    )


def _solve_label(
    task: SVMTask, documents: tuple[NDArray[np.generic], ...], svms: LinearSVMs, j: int
) -> None:
    """Fill in label ``j``. W, n_features × 6, exists only while its label is being solved."""
    kernel = load_kernel()
    signs = task.signs(j)
    answers = task.constant_answers(signs)
    svms.bias[j] = np.nan_to_num(answers[0])
    for first in range(0, len(answers), kernel.LANES):
        learns = np.zeros(kernel.LANES, dtype=np.bool_)
        part = np.isnan(answers[first : first + kernel.LANES])
        learns[: len(part)] = part
        if not learns.any():
            continue
        lane = task.folds + 1 - first
        left_out = np.where((lane >= 0) & (lane < kernel.LANES), lane, -1).astype(np.int8)
        problem = kernel.Problem(*documents, signs, left_out, learns)
        W, bias = np.zeros(task.X.shape[1] * kernel.LANES), np.zeros(kernel.LANES)
        svms.converged[j] &= kernel.descend(
            problem, W, bias, task.tol, task.recentre, task.max_sweeps, _first_state(task.seed)
        )
        kernel.score_left_out(problem, W, bias, svms.out_of_fold[:, j])
        if first == 0 and learns[0]:
            svms.weights[j], svms.bias[j] = W[:: kernel.LANES], bias[0]
    constant = answers[1:][task.folds]
    svms.out_of_fold[~np.isnan(constant), j] = constant[~np.isnan(constant)]


def _first_state(seed: int) -> np.uint64:
    """Return a well-mixed state of the generator, never 0."""
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1))
