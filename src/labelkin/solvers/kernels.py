"""Compiled loops of the solvers; needs numba (``pip install "labelkin[fast]"``).

Import this module through :func:`labelkin.solvers.load_kernels`, when a solver runs: numba takes
long to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from labelkin.solvers.logistic import HALVINGS, NEWTON_STEPS, ROUNDING

_Array = NDArray[Any]


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder for the cache: compile in every process
        return njit(nogil=True, error_model="numpy")(function)


# Linear SVMs in lockstep.
#
# The SVM of a label and the SVMs of its folds see nearly the same documents and keep nearly the
# same support vectors. They advance together, each in a separate *lane*: one pass over the terms of
# a document computes its score in every lane. In a lane the step is that of Hsieh et al. (2008), "A
# dual coordinate descent method for large-scale linear SVM". For a document x of sign y = ±1 with
# dual variable a,
#
#     gradient = y · score(x) − 1,    a ← clip(a − gradient / (|x|² + 1), 0, upper),
#
# and the weights follow by (new a − old a) · y · x, the bias as the weight of a constant term 1. A
# document rests once all lanes have its a at a bound. After the others have converged, all
# documents are visited again, and only a sweep over all of them without a violation above ``tol``
# ends the descent.

#: The final SVM and five folds. Eight lanes need more registers than there are: slower per lane.
LANES = 6

_LANES, _1, _2, _3, _4, _5 = (np.uint64(k) for k in (LANES, 1, 2, 3, 4, 5))

_Floats = NDArray[np.float64]


class SVMProblem(NamedTuple):
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
    data: _Floats
    curvature: _Floats
    upper: _Floats
    sign: NDArray[np.int8]
    left_out: NDArray[np.int8]
    learns: NDArray[np.bool_]


@_compiled
def descend(
    problem: SVMProblem,
    order: NDArray[np.int64],
    W: _Floats,
    bias: _Floats,
    tol: float,
    recentre: int,
    max_sweeps: int,
    state: np.uint64,
) -> bool:
    """Solve every lane to a violation of at most ``tol``; return whether that was reached.

    ``order`` holds the documents whose sign is not 0, and is shuffled. ``W``, flat (n_features ·
    LANES,), and ``bias``, (LANES,), come as zeros and leave as the solution. ``recentre`` times the
    bias reached is freed of its penalty, and the descent continues: proximal steps towards LibSVM's
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
def score_left_out(
    problem: SVMProblem, W: _Floats, bias: _Floats, decision_values: _Floats
) -> None:
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
    problem: SVMProblem,
    W: _Floats,
    bias: _Floats,
    dual: _Floats,
    order: NDArray[np.int64],
    n_awake: int,
    violation: _Floats,
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
def _score(
    terms: NDArray[np.uint32], x: _Floats, W: _Floats, bias: _Floats, score: _Floats
) -> None:
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
    score: _Floats,
    dual: _Floats,
    violation: _Floats,
    step: _Floats,
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
def _add(terms: NDArray[np.uint32], x: _Floats, W: _Floats, bias: _Floats, step: _Floats) -> None:
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
def _clear(violation: _Floats) -> float:
    """Set the violations of a sweep to 0; return the widest gap between smallest and largest."""
    widest = 0.0
    for k in range(LANES):
        widest = max(widest, violation[1, k] - violation[0, k])
        violation[0, k] = violation[1, k] = 0.0
    return widest


@_compiled
def _recentre(bias: _Floats, free: _Floats) -> None:
    """Free the whole bias of its penalty, and add its penalised part, Σ dual · sign, again."""
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


# Labels on their neighbours: what :mod:`labelkin.solvers.neighbourhoods` describes.
#
# A set's pattern is the bits of the neighbours it has, one 32-bit mask; with the number of its
# other labels above it, it is the key under which equal rows are merged in a hash table. From then
# on a row is a short list of set bits, so that the Hessian costs the squares of their numbers.

_POSITIVE, _LEFT_OUT = 1, 2
_NOTHING = 1e-9  # a smaller share of a sum of weights is rounding


class _Work(NamedTuple):
    """Arrays that every label uses and resets, or whose content has no meaning."""

    listed: _Array  # sets with a neighbour
    mask: _Array  # the neighbours of each set, zero
    side: _Array  # whether it has the label, or is left out, zero
    table: _Array  # 1 + the row of a key, zero
    keys: _Array
    documents: _Array  # of each row
    positives: _Array  # those of them that have the label


class _Rows(NamedTuple):
    """Merged rows: bits from ``ends[i]`` to ``ends[i + 1]``, other labels, documents, positives."""

    ends: _Array
    bits: _Array
    others: _Array
    documents: _Array
    positives: _Array


@_compiled
def fit_neighbourhoods(problem: Any, tol: float) -> tuple[_Array, _Array, _Array]:
    """Return the weights of the neighbours, and rest and bias of every label of a problem."""
    sets, ends = problem.sets, problem.ends
    n_sets = len(sets.times)
    room = n_sets + len(sets.by_size)
    work = _Work(
        np.empty(n_sets, np.int32),
        np.zeros(n_sets, np.uint32),
        np.zeros(n_sets, np.uint8),
        np.zeros(_power_of_two(2 * n_sets), np.int32),
        np.empty(room, np.uint64),
        np.empty(room),
        np.empty(room),
    )
    n_labels = len(problem.labels)
    weights, rest, bias = np.empty(ends[-1]), np.empty(n_labels), np.empty(n_labels)
    for i in range(n_labels):
        j, neighbours = problem.labels[i], problem.neighbours[ends[i] : ends[i + 1]]
        _mark(j, sets, work.side, True)
        rows = _unfold(_merge(j, neighbours, sets, work), work)
        _mark(j, sets, work.side, False)
        w = _newton(rows, len(neighbours), problem.penalty[i], problem.start[i], tol)
        rest[i], bias[i] = w[-2], w[-1]
        weights[ends[i] : ends[i + 1]] = w[:-2] - w[-2]
    return weights, rest, bias


@_compiled
def _power_of_two(least: int) -> int:
    size = 64
    while size < least:
        size *= 2
    return size


@_compiled
def _mark(j: int, sets: Any, side: _Array, is_on: bool) -> None:
    for place in range(sets.label_ends[j], sets.label_ends[j + 1]):
        side[sets.label_sets[place]] = _POSITIVE if is_on else 0
    for place in range(sets.unknown_ends[j], sets.unknown_ends[j + 1]):
        side[sets.unknown_sets[place]] = _LEFT_OUT if is_on else 0


@_compiled
def _merge(j: int, neighbours: _Array, sets: Any, work: _Work) -> int:
    """Merge the sets that are equal for this label; return the number of rows."""
    n_touched = 0
    for bit in range(len(neighbours)):
        for place in range(sets.label_ends[neighbours[bit]], sets.label_ends[neighbours[bit] + 1]):
            row = sets.label_sets[place]
            if work.mask[row] == 0:
                work.listed[n_touched] = row
                n_touched += 1
            work.mask[row] |= np.uint32(1) << np.uint32(bit)
    negatives, positives = _without_neighbour(j, sets, work.mask, work.listed[:n_touched])
    n_rows, slots = 0, _power_of_two(2 * n_touched)
    for row in work.listed[:n_touched]:
        bits = work.mask[row]
        work.mask[row] = 0
        if work.side[row] == _LEFT_OUT:
            continue
        others = sets.set_ends[row + 1] - sets.set_ends[row] - work.side[row] - _ones(bits)
        key = np.uint64(bits) | (np.uint64(others) << np.uint64(32))
        slot = _slot(key, work, slots)
        if work.table[slot] == 0:
            work.keys[n_rows], work.documents[n_rows], work.positives[n_rows] = key, 0.0, 0.0
            n_rows += 1
            work.table[slot] = n_rows
        i = work.table[slot] - 1
        work.documents[i] += sets.times[row]
        work.positives[i] += sets.times[row] * work.side[row]
    work.table[:slots] = 0
    for size in range(len(negatives)):
        if negatives[size] + positives[size] > 0:
            work.keys[n_rows] = np.uint64(size) << np.uint64(32)
            work.documents[n_rows] = negatives[size] + positives[size]
            work.positives[n_rows] = positives[size]
            n_rows += 1
    return n_rows


@_compiled
def _without_neighbour(j: int, sets: Any, mask: _Array, touched: _Array) -> tuple[_Array, _Array]:
    """Count documents without any neighbour, by other labels: without the label, and with it.

    Those without it are not visited: they are all of a size, less those that have a neighbour.
    """
    negatives, positives = sets.by_size.copy(), np.zeros(len(sets.by_size))
    for place in range(sets.label_ends[j], sets.label_ends[j + 1]):
        row = sets.label_sets[place]
        if mask[row] == 0:
            size = sets.set_ends[row + 1] - sets.set_ends[row]
            negatives[size] -= sets.times[row]
            positives[size - 1] += sets.times[row]
    for place in range(sets.unknown_ends[j], sets.unknown_ends[j + 1]):
        row = sets.unknown_sets[place]
        if mask[row] == 0:
            negatives[sets.set_ends[row + 1] - sets.set_ends[row]] -= sets.times[row]
    for row in touched:
        negatives[sets.set_ends[row + 1] - sets.set_ends[row]] -= sets.times[row]
    for size in range(len(negatives)):
        if negatives[size] <= _NOTHING * sets.by_size[size]:
            negatives[size] = 0.0
    return negatives, positives


@_compiled
def _ones(bits: np.uint32) -> int:
    n = 0
    while bits:
        bits &= bits - np.uint32(1)
        n += 1
    return n


@_compiled
def _slot(key: np.uint64, work: _Work, slots: int) -> np.uint64:
    """Return the place of a key in the table, old or new; ``slots`` is a power of two."""
    last = np.uint64(slots - 1)
    slot = ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & last
    while work.table[slot] and work.keys[work.table[slot] - 1] != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@_compiled
def _unfold(n_rows: int, work: _Work) -> _Rows:
    """Turn keys into lists of bits and numbers of other labels."""
    ends, others = np.zeros(n_rows + 1, np.int64), np.empty(n_rows)
    bits, n_bits = np.empty(32 * n_rows, np.uint8), 0
    for i in range(n_rows):
        others[i] = work.keys[i] >> np.uint64(32)
        left = work.keys[i] & np.uint64(0xFFFFFFFF)
        bit = 0
        while left:
            if left & np.uint64(1):
                bits[n_bits] = bit
                n_bits += 1
            left >>= np.uint64(1)
            bit += 1
        ends[i + 1] = n_bits
    return _Rows(ends, bits, others, work.documents[:n_rows], work.positives[:n_rows])


@_compiled
def _newton(rows: _Rows, n: int, penalty: float, start: float, tol: float) -> _Array:
    """Return weights of neighbours, rest and bias."""
    w, m = np.zeros(n + 2), np.empty(len(rows.others))
    w[n + 1] = start
    f = _objective(rows, w, penalty, m)
    for _ in range(NEWTON_STEPS):
        gradient, hessian = _derivatives(rows, w, penalty, m)
        direction = _solve(hessian, gradient)
        promised = (gradient * direction).sum()
        t = 1.0
        for _ in range(HALVINGS):
            moved = w - t * direction
            new = _objective(rows, moved, penalty, m)
            if new <= f - 1e-4 * t * promised + ROUNDING * f:
                break
            t /= 2
        is_last = promised <= 2 * max(tol, ROUNDING) * f
        w, f = moved, new
        if is_last:
            break
    return w


@_compiled
def _objective(rows: _Rows, w: _Array, penalty: float, m: _Array) -> float:
    """Return the objective; fill in the log-odds of every row."""
    loss, rest, bias = 0.0, w[-2], w[-1]
    for i in range(len(m)):
        z = bias + rows.others[i] * rest
        for place in range(rows.ends[i], rows.ends[i + 1]):
            z += w[rows.bits[place]]
        m[i] = z
        softplus = max(z, 0.0) + np.log1p(np.exp(-abs(z)))
        loss += rows.documents[i] * softplus - rows.positives[i] * z
    return loss + penalty / 2 * (w * w).sum()


@_compiled
def _derivatives(rows: _Rows, w: _Array, penalty: float, m: _Array) -> tuple[_Array, _Array]:
    """Return the gradient and the lower half of the Hessian."""
    n = len(w) - 2
    gradient, hessian = penalty * w, penalty * np.eye(len(w))
    for i in range(len(m)):
        e = np.exp(-abs(m[i]))
        larger = 1 / (1 + e)
        p = larger if m[i] >= 0 else e * larger
        g, h = rows.documents[i] * p - rows.positives[i], rows.documents[i] * e * larger * larger
        others = rows.others[i]
        for place in range(rows.ends[i], rows.ends[i + 1]):
            a = rows.bits[place]
            gradient[a] += g
            for before in range(rows.ends[i], place + 1):
                hessian[a, rows.bits[before]] += h
            hessian[n, a] += h * others
            hessian[n + 1, a] += h
        gradient[n] += g * others
        gradient[n + 1] += g
        hessian[n, n] += h * others * others
        hessian[n + 1, n] += h * others
        hessian[n + 1, n + 1] += h
    return gradient, hessian


@_compiled
def _solve(matrix: _Array, right: _Array) -> _Array:
    """Solve by Cholesky's factor, which replaces the lower half of the matrix."""
    size, result = len(right), np.empty(len(right))
    for i in range(size):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(value) if i == j else value / matrix[j, j]
        value = right[i]
        for k in range(i):
            value -= matrix[i, k] * result[k]
        result[i] = value / matrix[i, i]
    for i in range(size - 1, -1, -1):
        value = result[i]
        for k in range(i + 1, size):
            value -= matrix[k, i] * result[k]
        result[i] = value / matrix[i, i]
    return result


# Products at candidate cells.


@_compiled
def product_at(
    ends: _Array, labels: _Array, inputs: _Array, w_ends: _Array, w_inputs: _Array, weights: _Array
) -> _Array:
    """Return inputs times weights (CSC) at the cells; inputs are 0 outside them."""
    result, row = np.empty(len(labels)), np.zeros(len(w_ends) - 1)
    for i in range(len(ends) - 1):
        for cell in range(ends[i], ends[i + 1]):
            row[labels[cell]] = inputs[cell]
        for cell in range(ends[i], ends[i + 1]):
            j, total = labels[cell], 0.0
            for place in range(w_ends[j], w_ends[j + 1]):
                total += row[w_inputs[place]] * weights[place]
            result[cell] = total
        for cell in range(ends[i], ends[i + 1]):
            row[labels[cell]] = 0.0
    return result


# Similar documents from posting lists.
#
# A similarity and its document are one integer, the *key*: the bits of the float32 similarity
# above, the document counted backwards below. Positive floats sort as their bits do, so a larger
# key is a larger similarity or, at equal similarity, a lower document. Key 0 is "no document".

LAST_DOCUMENT = 0xFFFFFFFF  # documents are counted backwards from here: 32 bits


@_compiled
def search_postings(
    postings: tuple[_Array, _Array, _Array],
    queries: tuple[_Array, _Array, _Array],
    left_out: _Array,
    similarity: _Array,
    keys: _Array,
) -> None:
    """Fill row i of ``keys``, all zero, with the largest keys of query i.

    ``similarity`` is all zero, before and after, and has one place more than there are documents:
    the value of ``left_out`` if no document is.
    """
    term_ends, documents, weights = postings
    query_ends, terms, term_weights = queries
    for i in range(len(keys)):
        for place in range(query_ends[i], query_ends[i + 1]):
            term, weight = terms[place], term_weights[place]
            for posting in range(term_ends[term], term_ends[term + 1]):
                similarity[documents[posting]] += weight * weights[posting]
        similarity[left_out[i]] = 0.0
        _keep_largest(similarity.view(np.int32), keys[i])
        similarity[:] = 0.0


@_compiled
def _keep_largest(bits: _Array, heap: _Array) -> None:
    """Fill ``heap``, all zero, with the largest keys; the smallest of them stays at the root.

    ``bits`` are the similarities as integers: negative ones have the sign bit, so they and zero
    never pass the empty root. Documents are visited in ascending order, so a tie with the root
    loses.
    """
    least = np.int64(0)
    for document in range(bits.size):
        if bits[document] > least:
            _replace_root(heap, (np.int64(bits[document]) << 32) | (LAST_DOCUMENT - document))
            least = heap[0] >> 32


@_compiled
def _replace_root(heap: _Array, key: np.int64) -> None:
    """Put ``key`` in the place of the smallest key and let it sink."""
    place, child = 0, 1
    while child < heap.size:
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if key <= heap[child]:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = key
