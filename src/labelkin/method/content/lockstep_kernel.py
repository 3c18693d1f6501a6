"""Dual coordinate descent on six linear SVMs at once: numbers only, compiled by numba.

The SVM of a label and the SVMs of its folds see nearly the same documents and keep nearly the same
support vectors. So they walk together, each in its own *lane*: one pass over the terms of a document
gives its score in every lane. Within a lane the step is that of Hsieh et al. (2008), "A dual
coordinate descent method for large-scale linear SVM": with dual variable a of document x, label
y = ±1, constant bias feature 1,

    gradient = y · score(x) − 1,    a ← clip(a − gradient / (|x|² + 1), 0, upper),

and the weights follow by (new a − old a) · y · x. A document rests as soon as every lane holds its a
at a bound; whenever the others have converged all documents are awakened, and only a sweep over all of
them that finds no violation above ``tol`` ends the descent.

This module needs numba when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LANES = 6  # the final SVM and five folds; more lanes run out of registers and are slower per lane
_LANES = np.uint64(LANES)  # unsigned offsets spare numba its test for negative indices


class Problem(NamedTuple):
    """The documents as all lanes of one label see them.

    Attributes
    ----------
    indptr, indices, data
        The CSR matrix (n_documents, n_features): int64, int32, float64.
    curvature
        |x|² + 1 of each document.
    upper
        Largest value of each document's dual variable: C × its cost.
    sign
        int8: +1 carries the label, −1 does not, 0 is left out of every lane.
    left_out
        int8: the lane that does not learn from this document; −1: all lanes do.
    learns
        bool (LANES,): whether anything is learnt in the lane.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]
    curvature: NDArray[np.float64]
    upper: NDArray[np.float64]
    sign: NDArray[np.int8]
    left_out: NDArray[np.int8]
    learns: NDArray[np.bool_]


class Walk(NamedTuple):
    """What changes on the way; all float64.

    Attributes
    ----------
    W
        Weights, ((n_features + 1) · LANES,): the lanes of a term lie together, the bias comes last.
    offset
        The part of the bias that is not penalised, (LANES,).
    dual
        Dual variables, (n_documents · LANES,).
    score, step
        Of the document visited, (LANES,).
    low, high
        Extremes of the projected gradient in this sweep, (LANES,).
    """

    W: NDArray[np.float64]
    offset: NDArray[np.float64]
    dual: NDArray[np.float64]
    score: NDArray[np.float64]
    step: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def start(n_documents: int, n_features: int) -> Walk:
    """Return the walk before its first step: everything zero."""
    small = np.zeros((5, LANES))
    W, dual = np.zeros((n_features + 1) * LANES), np.zeros(n_documents * LANES)
    return Walk(W, small[0], dual, small[1], small[2], small[3], small[4])


def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder where a cache could be written: compile in every process
        return njit(nogil=True, error_model="numpy")(function)


@_compiled
def _read_scores(problem, i, walk):  # type: ignore[no-untyped-def]
    """Score of document ``i`` in every lane."""
    W = walk.W
    s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(np.uint64(problem.indptr[i]), np.uint64(problem.indptr[i + 1])):
        at, x = _LANES * np.uint64(problem.indices[t]), problem.data[t]
        s0 += x * W[at]
        s1 += x * W[at + np.uint64(1)]
        s2 += x * W[at + np.uint64(2)]
        s3 += x * W[at + np.uint64(3)]
        s4 += x * W[at + np.uint64(4)]
        s5 += x * W[at + np.uint64(5)]
    bias = W[-LANES:]
    for k, s in enumerate((s0, s1, s2, s3, s4, s5)):
        walk.score[k] = s + bias[k] + walk.offset[k]


@_compiled
def _add_document(problem, i, walk):  # type: ignore[no-untyped-def]
    """Weights of every lane += its step · document ``i``."""
    W, step = walk.W, walk.step
    d0, d1, d2, d3, d4, d5 = step[0], step[1], step[2], step[3], step[4], step[5]
    for t in range(np.uint64(problem.indptr[i]), np.uint64(problem.indptr[i + 1])):
        at, x = _LANES * np.uint64(problem.indices[t]), problem.data[t]
        W[at] += x * d0
        W[at + np.uint64(1)] += x * d1
        W[at + np.uint64(2)] += x * d2
        W[at + np.uint64(3)] += x * d3
        W[at + np.uint64(4)] += x * d4
        W[at + np.uint64(5)] += x * d5
    bias = W[-LANES:]
    for k in range(LANES):
        bias[k] += step[k]


@_compiled
def _project(gradient, a, upper):  # type: ignore[no-untyped-def]
    """The part of the gradient that can be followed without leaving [0, upper]."""
    if a <= 0.0:
        return min(gradient, 0.0)
    if a >= upper:
        return max(gradient, 0.0)
    return gradient


@_compiled
def _step_lane(problem, i, k, walk):  # type: ignore[no-untyped-def]
    """Move the dual variable of document ``i`` in lane ``k``; tell whether it may rest there."""
    walk.step[k] = 0.0
    if k == problem.left_out[i] or not problem.learns[k]:
        return True
    y, upper = np.float64(problem.sign[i]), problem.upper[i]
    at = _LANES * np.uint64(i) + np.uint64(k)
    a = walk.dual[at]
    gradient = y * walk.score[k] - 1.0
    projected = _project(gradient, a, upper)
    if projected == 0.0:
        return gradient != 0.0
    walk.low[k] = min(walk.low[k], projected)
    walk.high[k] = max(walk.high[k], projected)
    walk.dual[at] = min(max(a - gradient / problem.curvature[i], 0.0), upper)
    walk.step[k] = (walk.dual[at] - a) * y
    return False


@_compiled
def _visit(problem, i, walk):  # type: ignore[no-untyped-def]
    """One document, all lanes; tell whether it may rest in all of them."""
    _read_scores(problem, i, walk)
    may_rest, moves = True, False
    for k in range(LANES):
        may_rest &= _step_lane(problem, i, k, walk)
        moves |= walk.step[k] != 0.0
    if moves:
        _add_document(problem, i, walk)
    return may_rest


@_compiled
def _sweep(problem, walk, order, n_awake):  # type: ignore[no-untyped-def]
    """Visit the documents ``order[:n_awake]``; those that rest are moved behind the others."""
    walk.low[:] = 0.0
    walk.high[:] = 0.0
    place = 0
    while place < n_awake:
        i = order[place]
        if _visit(problem, i, walk):
            n_awake -= 1
            order[place], order[n_awake] = order[n_awake], i
        else:
            place += 1
    return n_awake


@_compiled
def _shuffle(order, n, state):  # type: ignore[no-untyped-def]
    """Fisher and Yates on ``order[:n]`` with Marsaglia's xorshift; return the generator's state."""
    for i in range(n):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = i + np.int64(state % np.uint64(n - i))
        order[i], order[j] = order[j], order[i]
    return state


@_compiled
def descend(problem, walk, tol, recentre, max_sweeps, state):  # type: ignore[no-untyped-def]
    """Walk until no lane violates its optimum by more than ``tol``; tell whether that was reached.

    ``recentre`` times, what the bias has reached becomes free of penalty and the walk goes on: each
    time is a proximal step towards LibSVM's unpenalised bias. ``state``: uint64, not 0.
    """
    order = np.flatnonzero(problem.sign)
    n_awake = len(order)
    for _ in range(max_sweeps):
        everyone = n_awake == len(order)
        state = _shuffle(order, n_awake, state)
        n_awake = _sweep(problem, walk, order, n_awake)
        if np.max(walk.high - walk.low) > tol:
            continue
        if everyone and recentre == 0:
            return True
        if everyone:
            recentre -= 1
            walk.offset[:] += walk.W[-LANES:]
        n_awake = len(order)
    return False


@_compiled
def score_left_out(problem, walk, decision_values):  # type: ignore[no-untyped-def]
    """Write the score of every document in the lane that did not learn from it."""
    W = walk.W
    for i in range(len(problem.left_out)):
        k = problem.left_out[i]
        if k < 0:
            continue
        s = W[len(W) - LANES + k] + walk.offset[k]
        for t in range(np.uint64(problem.indptr[i]), np.uint64(problem.indptr[i + 1])):
            s += problem.data[t] * W[_LANES * np.uint64(problem.indices[t]) + np.uint64(k)]
        decision_values[i] = s
