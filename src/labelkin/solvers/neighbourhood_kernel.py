"""Neighbourhoods label by label, compiled: what :mod:`labelkin.solvers.neighbourhoods` describes.

Needs numba (``pip install "labelkin[fast]"``): import this module where it is used, not before.

A set's pattern is the bits of the neighbours it has, one 32-bit mask; with the number of its other
labels above it, it is the key under which equal rows are merged in a hash table. From then on a row
is a short list of set bits, so that the Hessian costs the squares of their numbers and no more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from labelkin.solvers.logistic import HALVINGS, NEWTON_STEPS, ROUNDING
from labelkin.solvers.neighbourhoods import Found, Labels, Sets, Settings

Array = NDArray[Any]

_POSITIVE, _LEFT_OUT = 1, 2
_NOBODY = 1e-9  # less than this share is what rounding leaves of a sum of weights


class _Work(NamedTuple):
    """Arrays that every label uses and leaves as they were: zero, or of no meaning."""

    together: Array  # documents that a label shares with this one, zero
    listed: Array  # labels or sets that are not zero
    mask: Array  # the neighbours each set has, zero
    side: Array  # whether it has the label, or is left out, zero
    table: Array  # 1 + the row of a key, zero
    keys: Array
    documents: Array  # of each row
    positives: Array  # those of them that have the label


class _Rows(NamedTuple):
    """Merged rows: bits from ``ends[i]`` to ``ends[i + 1]``, other labels, documents, positives."""

    ends: Array
    bits: Array
    others: Array
    documents: Array
    positives: Array


@njit(nogil=True, cache=True)
def fit_labels(chosen: Array, sets: Sets, labels: Labels, settings: Settings, found: Found) -> None:
    """Fit the labels that are chosen; fill in what is found of them."""
    n_sets, n_labels = len(sets.times), len(labels.frequency)
    room = n_sets + len(sets.by_size)
    work = _Work(
        np.zeros(n_labels),
        np.empty(max(n_sets, n_labels), np.int32),
        np.zeros(n_sets, np.uint32),
        np.zeros(n_sets, np.uint8),
        np.zeros(_power_of_two(2 * n_sets), np.int32),
        np.empty(room, np.uint64),
        np.empty(room),
        np.empty(room),
    )
    total = sets.times.sum()
    for j in chosen:
        n = _neighbours(j, sets, labels, settings, total, work, found.neighbours[j])
        _mark(j, sets, work.side, True)
        rows = _unfold(_merge(j, found.neighbours[j][:n], sets, settings.rest, work), work)
        _mark(j, sets, work.side, False)
        penalty = 2 * labels.spread[j] / (n + 2)
        w, taken = _newton(rows, n, penalty, labels.start[j], settings)
        found.n[j], found.rest[j], found.bias[j], found.steps[j] = n, w[n], w[n + 1], taken
        found.weights[j, :n] = w[:n] - w[n]


@njit(nogil=True, cache=True)
def _power_of_two(least: int) -> int:
    size = 64
    while size < least:
        size *= 2
    return size


@njit(nogil=True, cache=True)
def _mark(j: int, sets: Sets, side: Array, is_on: bool) -> None:
    for place in range(sets.label_ends[j], sets.label_ends[j + 1]):
        side[sets.label_sets[place]] = _POSITIVE if is_on else 0
    for place in range(sets.unknown_ends[j], sets.unknown_ends[j + 1]):
        side[sets.unknown_sets[place]] = _LEFT_OUT if is_on else 0


@njit(nogil=True, cache=True)
def _neighbours(
    j: int, sets: Sets, labels: Labels, settings: Settings, total: float, work: _Work, chosen: Array
) -> int:
    """Fill in the neighbours of a label, ascending; return how many they are."""
    together, n_listed = work.together, 0
    for place in range(sets.label_ends[j], sets.label_ends[j + 1]):
        row = sets.label_sets[place]
        for cell in range(sets.set_ends[row], sets.set_ends[row + 1]):
            k = sets.set_labels[cell]
            if together[k] == 0.0:
                work.listed[n_listed] = k
                n_listed += 1
            together[k] += sets.times[row]
    z, n = np.empty(settings.most), 0
    for k in work.listed[:n_listed]:
        expected = labels.frequency[j] * labels.frequency[k] / total
        deviation = abs(together[k] - expected) / np.sqrt(expected + 0.25)
        if k != j and deviation >= settings.least:
            n = insert(k, deviation, chosen, z, n)
    for k in labels.by_frequency:
        expected = labels.frequency[j] * labels.frequency[k] / total
        deviation = expected / np.sqrt(expected + 0.25)
        if expected < 1 or deviation < settings.least:
            break
        if k != j and together[k] == 0.0:
            n = insert(k, deviation, chosen, z, n)
    for k in work.listed[:n_listed]:
        together[k] = 0.0
    chosen[:n].sort()
    return n


@njit(nogil=True, cache=True)
def insert(k: int, deviation: float, chosen: Array, z: Array, n: int) -> int:
    """Keep the largest deviations, falling; of equal ones the lower label. Return how many."""
    place = n
    while place > 0 and (
        z[place - 1] < deviation or (z[place - 1] == deviation and chosen[place - 1] > k)
    ):
        place -= 1
    if place == len(z):
        return n
    for i in range(min(n, len(z) - 1), place, -1):
        z[i], chosen[i] = z[i - 1], chosen[i - 1]
    z[place], chosen[place] = deviation, k
    return min(n + 1, len(z))


@njit(nogil=True, cache=True)
def _merge(j: int, chosen: Array, sets: Sets, has_rest: bool, work: _Work) -> int:
    """Merge the sets that are equal to this label; return how many rows there are."""
    n_touched = 0
    for bit in range(len(chosen)):
        for place in range(sets.label_ends[chosen[bit]], sets.label_ends[chosen[bit] + 1]):
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
        others = 0
        if has_rest:
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
            work.keys[n_rows] = np.uint64(size if has_rest else 0) << np.uint64(32)
            work.documents[n_rows] = negatives[size] + positives[size]
            work.positives[n_rows] = positives[size]
            n_rows += 1
    return n_rows


@njit(nogil=True, cache=True)
def _without_neighbour(j: int, sets: Sets, mask: Array, touched: Array) -> tuple[Array, Array]:
    """Count documents without any neighbour, by other labels: without the label, and with it.

    Those without it are never looked at: all of a size, less those that have a neighbour.
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
        if negatives[size] <= _NOBODY * sets.by_size[size]:
            negatives[size] = 0.0
    return negatives, positives


@njit(nogil=True, cache=True)
def _ones(bits: np.uint32) -> int:
    n = 0
    while bits:
        bits &= bits - np.uint32(1)
        n += 1
    return n


@njit(nogil=True, cache=True)
def _slot(key: np.uint64, work: _Work, slots: int) -> np.uint64:
    """Return where the key is in the table, or where it goes; ``slots`` is a power of two."""
    last = np.uint64(slots - 1)
    slot = ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & last
    while work.table[slot] and work.keys[work.table[slot] - 1] != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@njit(nogil=True, cache=True)
def _unfold(n_rows: int, work: _Work) -> _Rows:
    """Turn keys into lists of bits and numbers of other labels."""
    ends, others = np.zeros(n_rows + 1, np.int64), np.empty(n_rows)
    bits, n_bits = np.empty(32 * n_rows, np.uint8), 0
    for i in range(n_rows):
        others[i] = work.keys[i] >> np.uint64(32)
        left = work.keys[i] & np.uint64(0xFFFFFFFF)
        for bit in range(32):
            if left & np.uint64(1):
                bits[n_bits] = bit
                n_bits += 1
            left >>= np.uint64(1)
            if left == 0:
                break
        ends[i + 1] = n_bits
    return _Rows(ends, bits, others, work.documents[:n_rows], work.positives[:n_rows])


@njit(nogil=True, cache=True)
def _newton(
    rows: _Rows, n: int, penalty: float, start: float, settings: Settings
) -> tuple[Array, int]:
    """Return weights of neighbours, rest and bias, and the steps taken."""
    size = n + 2
    w, direction = np.zeros(size), np.zeros(size)
    w[n + 1] = start
    m = np.empty(len(rows.others))
    f = _objective(rows, w, penalty, n, m)
    for step in range(1, NEWTON_STEPS + 1):
        gradient, hessian = _derivatives(rows, w, penalty, n, m)
        if not settings.rest:
            gradient[n], hessian[n, :], hessian[:, n] = 0.0, 0.0, 0.0
            hessian[n, n] = 1.0
        solve(hessian, gradient, direction)
        promised = 0.0
        for k in range(size):
            promised += gradient[k] * direction[k]
        is_last = promised <= 2 * max(settings.tol, ROUNDING) * f
        t = 1.0
        for _ in range(HALVINGS):
            moved = w - t * direction
            new = _objective(rows, moved, penalty, n, m)
            if new <= f - 1e-4 * t * promised + ROUNDING * f:
                break
            t /= 2
        w, f = moved, new
        if is_last:
            return w, step
    return w, NEWTON_STEPS


@njit(nogil=True, cache=True)
def _objective(rows: _Rows, w: Array, penalty: float, n: int, m: Array) -> float:
    """Return the objective; fill in the log-odds of every row."""
    loss = 0.0
    for i in range(len(m)):
        z = w[n + 1] + rows.others[i] * w[n]
        for place in range(rows.ends[i], rows.ends[i + 1]):
            z += w[rows.bits[place]]
        m[i] = z
        softplus = max(z, 0.0) + np.log1p(np.exp(-abs(z)))
        loss += rows.documents[i] * softplus - rows.positives[i] * z
    square = 0.0
    for k in range(len(w)):
        square += w[k] * w[k]
    return loss + penalty / 2 * square


@njit(nogil=True, cache=True)
def _derivatives(rows: _Rows, w: Array, penalty: float, n: int, m: Array) -> tuple[Array, Array]:
    """Return the gradient and the lower half of the Hessian."""
    gradient, hessian = penalty * w, np.zeros((len(w), len(w)))
    for k in range(len(w)):
        hessian[k, k] = penalty
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


@njit(nogil=True, cache=True)
def solve(matrix: Array, right: Array, result: Array) -> None:
    """Solve by Cholesky's factors, which take the place of the lower half of the matrix."""
    factorise(matrix)
    substitute(matrix, right, result)


@njit(nogil=True, cache=True)
def factorise(matrix: Array) -> None:
    """Put Cholesky's factor in the place of the lower half of a matrix."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(value) if i == j else value / matrix[j, j]


@njit(nogil=True, cache=True)
def substitute(matrix: Array, right: Array, result: Array) -> None:
    """Solve with Cholesky's factor."""
    size = len(right)
    for i in range(size):
        value = right[i]
        for k in range(i):
            value -= matrix[i, k] * result[k]
        result[i] = value / matrix[i, i]
    for i in range(size - 1, -1, -1):
        value = result[i]
        for k in range(i + 1, size):
            value -= matrix[k, i] * result[k]
        result[i] = value / matrix[i, i]
