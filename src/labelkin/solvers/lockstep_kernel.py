"""Dual coordinate descent on six linear SVMs at once: numbers only, compiled by numba.

The SVM of a label and the SVMs of its folds see nearly the same documents and keep nearly the same
support vectors. So they walk together, each in its own *lane*: one pass over the terms of a
document gives its score in every lane. In a lane the step is that of Hsieh et al. (2008), "A dual
coordinate descent method for large-scale linear SVM". For a document x of sign y = ±1 with dual
variable a,

    gradient = y · score(x) − 1,    a ← clip(a − gradient / (|x|² + 1), 0, upper),

and the weights follow by (new a − old a) · y · x, the bias as the weight of a constant term 1. A
document rests once all lanes hold its a at a bound. When the others have converged all are
awakened, and only a sweep over all documents that finds no violation above ``tol`` ends the
descent.

Needs numba (``pip install "labelkin[fast]"``): import this module where it is used, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: The final SVM and five folds. Eight lanes need more registers than there are: slower per lane.
LANES = 6

_LANES, _1, _2, _3, _4, _5 = (np.uint64(k) for k in (LANES, 1, 2, 3, 4, 5))

Floats = NDArray[np.float64]


class Problem(NamedTuple):
    """The documents as all lanes of one label see them.

    Attributes
    ----------
    indptr, indices, data
        CSR ``(n_documents, n_features)``: int64, uint32 (numba then has no negative indices to take
        care of), float64.
    curvature
        |x|² + 1 of each document.
    upper
        Largest value of each document's dual variable: C times its cost.
    sign
        +1 carries the label, −1 does not, 0 is left out of every lane.
    left_out
        The lane that does not learn from this document; −1: all lanes do.
    learns
        Whether anything is learned in a lane, ``(LANES,)``.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    data: Floats
    curvature: Floats
    upper: Floats
    sign: NDArray[np.int8]
    left_out: NDArray[np.int8]
    learns: NDArray[np.bool_]


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder a cache could be written to: compile in every process
        return njit(nogil=True, error_model="numpy")(function)


@_compiled
def descend(
    problem: Problem,
    order: NDArray[np.int64],
    W: Floats,
    bias: Floats,
    tol: float,
    recentre: int,
    max_sweeps: int,
    state: np.uint64,
) -> bool:
    """Solve every lane to a violation of at most ``tol``; return whether that was reached.

    ``order`` holds the documents whose sign is not 0, and is shuffled. ``W``, flat (n_features ·
    LANES,), and ``bias``, (LANES,), come as zeros and leave as the solution. ``recentre`` times the
    bias reached is freed of its penalty and the descent goes on: proximal steps towards LibSVM's
    unpenalised bias. ``state`` is the generator's, not 0.
    """
    dual = np.zeros((len(problem.sign), LANES))
    violation, free = np.zeros((2, LANES)), np.zeros(LANES)
    n_awake = len(order)
    for _ in range(max_sweeps):
        everyone = n_awake == len(order)
        state = _shuffle(order, n_awake, state)
        n_awake = _sweep(problem, W, bias, dual, order, n_awake, violation)
        if _clear(violation) > tol:
            continue
        if everyone and recentre == 0:
            return True
        if everyone:
            _recentre(bias, free)
            recentre -= 1
        n_awake = len(order)
    return False


@_compiled
def score_left_out(problem: Problem, W: Floats, bias: Floats, decision_values: Floats) -> None:
    """Write the score of every document in the lane that did not learn from it."""
    for i in range(len(decision_values)):
        k = problem.left_out[i]
        if k < 0:
            continue
        score = bias[k]
        for t in range(problem.indptr[i], problem.indptr[i + 1]):
            score += problem.data[t] * W[_LANES * np.uint64(problem.indices[t]) + np.uint64(k)]
        decision_values[i] = score


@_compiled
def _sweep(
    problem: Problem,
    W: Floats,
    bias: Floats,
    dual: Floats,
    order: NDArray[np.int64],
    n_awake: int,
    violation: Floats,
) -> int:
    """Visit the documents ``order[:n_awake]``; move those that may rest behind the others.

    Return how many are awake then.
    """
    indptr, indices, data, curvature, upper, sign, left_out, learns = problem
    score, step = np.zeros(LANES), np.zeros(LANES)
    place = 0
    while place < n_awake:
        i = order[place]
        terms, x = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        _score(terms, x, W, bias, score)
        document = np.float64(sign[i]), curvature[i], upper[i], left_out[i]
        moves, may_rest = _step_lanes(document, learns, score, dual[i], violation, step)
        if moves:
            _add(terms, x, W, bias, step)
        if may_rest:
            n_awake -= 1
            order[place], order[n_awake] = order[n_awake], i
        else:
            place += 1
    return n_awake


@_compiled
def _score(terms: NDArray[np.uint32], x: Floats, W: Floats, bias: Floats, score: Floats) -> None:
    """Write the score of every lane: weights · document + bias."""
    s0, s1, s2, s3, s4, s5 = bias[0], bias[1], bias[2], bias[3], bias[4], bias[5]
    for t in range(len(terms)):
        at, value = _LANES * np.uint64(terms[t]), x[t]
        s0 += value * W[at]
        s1 += value * W[at + _1]
        s2 += value * W[at + _2]
        s3 += value * W[at + _3]
        s4 += value * W[at + _4]
        s5 += value * W[at + _5]
    score[0], score[1], score[2], score[3], score[4], score[5] = s0, s1, s2, s3, s4, s5


@_compiled
def _step_lanes(
    document: tuple[float, float, float, int],
    learns: NDArray[np.bool_],
    score: Floats,
    dual: Floats,
    violation: Floats,
    step: Floats,
) -> tuple[bool, bool]:
    """Move one document's dual variables; return whether any moved, and whether it may rest.

    ``document`` is its sign, curvature, upper bound and the lane it is left out of. ``violation``
    collects the smallest and the largest projected gradient of every lane, ``(2, LANES)``.
    """
    sign, curvature, upper, left_out = document
    moves, may_rest = False, True
    for k in range(LANES):
        step[k] = 0.0
        if k == left_out or not learns[k]:
            continue
        gradient, a = sign * score[k] - 1.0, dual[k]
        projected = _project(gradient, a, upper)
        if projected == 0.0:
            may_rest = may_rest and gradient != 0.0
            continue
        violation[0, k] = min(violation[0, k], projected)
        violation[1, k] = max(violation[1, k], projected)
        dual[k] = min(max(a - gradient / curvature, 0.0), upper)
        step[k] = (dual[k] - a) * sign
        moves, may_rest = True, False
    return moves, may_rest


@_compiled
def _project(gradient: float, a: float, upper: float) -> float:
    """Return the part of the gradient that can be followed without leaving [0, upper]."""
    if a <= 0.0:
        return min(gradient, 0.0)
    if a >= upper:
        return max(gradient, 0.0)
    return gradient


@_compiled
def _add(terms: NDArray[np.uint32], x: Floats, W: Floats, bias: Floats, step: Floats) -> None:
    """Weights and bias of every lane += its step · document."""
    for k in range(LANES):
        bias[k] += step[k]
    d0, d1, d2, d3, d4, d5 = step[0], step[1], step[2], step[3], step[4], step[5]
    for t in range(len(terms)):
        at, value = _LANES * np.uint64(terms[t]), x[t]
        W[at] += value * d0
        W[at + _1] += value * d1
        W[at + _2] += value * d2
        W[at + _3] += value * d3
        W[at + _4] += value * d4
        W[at + _5] += value * d5


@_compiled
def _clear(violation: Floats) -> float:
    """Set the violations of a sweep to 0; return the widest gap between smallest and largest."""
    widest = 0.0
    for k in range(LANES):
        widest = max(widest, violation[1, k] - violation[0, k])
        violation[0, k] = violation[1, k] = 0.0
    return widest


@_compiled
def _recentre(bias: Floats, free: Floats) -> None:
    """Free the whole bias of its penalty; its penalised part, Σ dual · sign, comes on top anew."""
    for k in range(LANES):
        penalised = bias[k] - free[k]
        free[k] = bias[k]
        bias[k] += penalised


@_compiled
def _shuffle(order: NDArray[np.int64], n: int, state: np.uint64) -> np.uint64:
    """Fisher and Yates on ``order[:n]`` with Marsaglia's xorshift; return the generator's state."""
    for i in range(n):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        j = i + np.int64(state % np.uint64(n - i))
        order[i], order[j] = order[j], order[i]
    return state
