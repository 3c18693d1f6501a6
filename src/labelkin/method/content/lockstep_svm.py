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
    """Fill in label ``j``."""
    signs = task.signs(j)
    answers = task.constant_answers(signs)
    needed = np.isnan(answers)
    svms.bias[j] = np.nan_to_num(answers[0])
    n_lanes = load_kernel().LANES
    for first in range(0, len(answers), n_lanes):
        if needed[first : first + n_lanes].any():
            _solve_lanes(task, documents, svms, j, signs, needed, first)
    constant = answers[1:][task.folds]
    svms.out_of_fold[:, j] = np.where(np.isnan(constant), svms.out_of_fold[:, j], constant)


def _solve_lanes(
    task: SVMTask,
    documents: tuple[NDArray[np.generic], ...],
    svms: LinearSVMs,
    j: int,
    signs: NDArray[np.int8],
    needed: NDArray[np.bool_],
    first: int,
) -> None:
    """Fill in what the SVMs from ``first`` on say; 0 is the final one, 1 + k leaves out fold k."""
    kernel = load_kernel()
    learns = np.zeros(kernel.LANES, dtype=np.bool_)
    learns[: len(needed) - first] = needed[first : first + kernel.LANES]
    lane = task.folds + 1 - first
    left_out = np.where((lane >= 0) & (lane < kernel.LANES), lane, -1).astype(np.int8)
    problem = kernel.Problem(*documents, signs, left_out, learns)
    W, bias = np.zeros(task.X.shape[1] * kernel.LANES), np.zeros(kernel.LANES)
    how = task.tol, task.recentre, task.max_sweeps, _first_state(task.seed)
    svms.converged[j] &= kernel.descend(problem, np.flatnonzero(signs), W, bias, *how)
    kernel.score_left_out(problem, W, bias, svms.out_of_fold[:, j])
    if first == 0 and learns[0]:
        svms.weights[j], svms.bias[j] = W[:: kernel.LANES], bias[0]


def _first_state(seed: int) -> np.uint64:
    """Return a well-mixed state of the generator, never 0."""
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1))
