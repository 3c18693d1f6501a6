"""Candidates label by label and document by document, compiled.

What :mod:`labelkin.solvers.candidate_terms` describes. Needs numba (``pip install
"labelkin[fast]"``): import this module where it is used, not before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from labelkin.solvers.candidate_terms import SLOW, Learned, ProblemsByLabel
from labelkin.solvers.logistic import HALVINGS, NEWTON_STEPS, ROUNDING
from labelkin.solvers.neighbourhood_kernel import factorise, insert, substitute

Array = NDArray[Any]


@njit(nogil=True, cache=True)
def gather(
    ends: Array, labels: Array, inputs: Array, w_ends: Array, w_inputs: Array, weights: Array
) -> Array:
    """Return inputs times weights (CSC) at the cells; inputs are 0 outside them."""
    result = np.empty(len(labels))
    spread = np.zeros(len(w_ends) - 1)
    for i in range(len(ends) - 1):
        for cell in range(ends[i], ends[i + 1]):
            spread[labels[cell]] = inputs[cell]
        for cell in range(ends[i], ends[i + 1]):
            j, total = labels[cell], 0.0
            for place in range(w_ends[j], w_ends[j + 1]):
                total += spread[w_inputs[place]] * weights[place]
            result[cell] = total
        for cell in range(ends[i], ends[i + 1]):
            spread[labels[cell]] = 0.0
    return result


@njit(nogil=True, cache=True)
def fit_labels(chosen: Array, problems: ProblemsByLabel, tol: float, learned: Learned) -> None:
    """Fit the labels that are chosen; fill in what is learned of them."""
    row_of = np.full(len(problems.sums), -1, np.int64)
    has_rest = int(len(learned.rest) > 0)
    for j in chosen:
        first, last = problems.ends[j], problems.ends[j + 1]
        start, stop = problems.input_ends[j], problems.input_ends[j + 1]
        n = stop - start
        A, times = lay_out(j, problems, row_of, has_rest)
        w = _newton(
            A,
            times,
            problems.truth[first:last],
            problems.given[first:last],
            problems.penalty[j],
            tol,
        )
        learned.weights[start:stop] = w[:n]
        learned.bias[j] = w[n + has_rest]
        if has_rest:
            learned.weights[start:stop] -= w[n]
            learned.rest[j] = w[n]


@njit(nogil=True, cache=True)
def lay_out(j: int, problems: ProblemsByLabel, row_of: Array, has_rest: int) -> tuple[Array, Array]:
    """Return the inputs of a label, input by input, and how often each of its documents counts."""
    first, last = problems.ends[j], problems.ends[j + 1]
    start, stop = problems.input_ends[j], problems.input_ends[j + 1]
    n_rows, n = last - first, stop - start
    A = np.zeros((n + 1 + has_rest, n_rows))  # sums run along the documents
    A[n + has_rest] = 1.0
    times = np.empty(n_rows)
    for i in range(n_rows):
        document = problems.documents[first + i]
        row_of[document] = i
        times[i] = problems.times[document] if problems.truth[first + i] >= 0 else 0.0
        if has_rest:
            A[n, i] = problems.sums[document] - problems.values[first + i]
    for column in range(n):
        k = problems.inputs[start + column]
        for place in range(problems.ends[k], problems.ends[k + 1]):
            row = row_of[problems.documents[place]]
            if row >= 0:
                A[column, row] = problems.values[place]
                if has_rest:
                    A[n, row] -= problems.values[place]
    for i in range(n_rows):
        row_of[problems.documents[first + i]] = -1
    return A, times


@njit(nogil=True, cache=True)
def choose_inputs(
    chosen: Array,
    problems: ProblemsByLabel,
    by_document: Any,
    least: float,
    inputs: Array,
    n_inputs: Array,
) -> None:
    """Fill in the inputs of the labels that are chosen, ascending, and how many they are."""
    ends, labels, values = by_document
    n_labels = len(problems.penalty)
    push, bend, both = np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels)
    listed, is_listed = np.empty(n_labels, np.int32), np.zeros(n_labels, np.bool_)
    gains = np.empty(inputs.shape[1])
    for j in chosen:
        n_listed, total_push, total_bend = 0, 0.0, 0.0
        for cell in range(problems.ends[j], problems.ends[j + 1]):
            document, truth, z = (
                problems.documents[cell],
                problems.truth[cell],
                problems.given[cell],
            )
            if truth < 0:
                continue
            e = np.exp(-abs(z))
            larger = 1 / (1 + e)
            error = problems.times[document] * (truth - (larger if z >= 0 else e * larger))
            h = problems.times[document] * e * larger * larger
            total_push += error
            total_bend += h
            for place in range(ends[document], ends[document + 1]):
                k, value = labels[place], values[place]
                if not is_listed[k]:
                    is_listed[k] = True
                    listed[n_listed] = k
                    n_listed += 1
                push[k] += error * value
                bend[k] += h * value * value
                both[k] += h * value
        n = 0
        for k in listed[:n_listed]:
            share = both[k] / (total_bend + problems.penalty[j])
            left = bend[k] - share * both[k] + problems.penalty[j]
            gain = (push[k] - share * total_push) ** 2 / left
            if k != j and gain > least:
                n = insert(k, gain, inputs[j], gains, n)
            push[k], bend[k], both[k], is_listed[k] = 0.0, 0.0, 0.0, False
        inputs[j][:n].sort()
        n_inputs[j] = n


@njit(nogil=True, cache=True)
def _newton(
    A: Array, times: Array, truth: Array, given: Array, penalty: float, tol: float
) -> Array:
    """Return the weights of one logistic regression."""
    size, n_rows = A.shape
    w, direction, m = np.zeros(size), np.zeros(size), np.empty(n_rows)
    factor, before, is_old = np.zeros((size, size)), np.inf, True
    f = _objective(A, times, truth, given, penalty, w, m)
    for _ in range(NEWTON_STEPS):
        gradient = _gradient(A, times, truth, penalty, w, m)
        if is_old:
            _hessian(A, times, penalty, m, factor)
            factorise(factor)
        substitute(factor, gradient, direction)
        promised = 0.0
        for k in range(size):
            promised += gradient[k] * direction[k]
        is_last = promised <= 2 * max(tol, ROUNDING) * abs(f)
        t = 1.0
        for _ in range(HALVINGS):
            moved = w - t * direction
            new = _objective(A, times, truth, given, penalty, moved, m)
            if new <= f - 1e-4 * t * promised + ROUNDING * abs(f):
                break
            t /= 2
        w, f = moved, new
        if is_last:
            break
        is_old, before = t < 1 or promised > SLOW * before, promised
    return w


@njit(nogil=True, cache=True)
def _objective(
    A: Array, times: Array, truth: Array, given: Array, penalty: float, w: Array, m: Array
) -> float:
    """Return the objective; fill in the log-odds of every row."""
    m[:] = given
    square = 0.0
    for k in range(len(w)):
        square += w[k] * w[k]
        _add(w[k], A[k], m)
    loss = 0.0
    for i in range(len(m)):
        loss += times[i] * (max(m[i], 0.0) + np.log1p(np.exp(-abs(m[i]))) - truth[i] * m[i])
    return loss + penalty / 2 * square


@njit(nogil=True, cache=True)
def _gradient(A: Array, times: Array, truth: Array, penalty: float, w: Array, m: Array) -> Array:
    gradient, error = penalty * w, np.empty(len(m))
    for i in range(len(m)):
        e = np.exp(-abs(m[i]))
        error[i] = times[i] * ((1.0 if m[i] >= 0 else e) / (1 + e) - truth[i])
    for a in range(len(w)):
        gradient[a] += _dot(error, A[a])
    return gradient


@njit(nogil=True, cache=True)
def _hessian(A: Array, times: Array, penalty: float, m: Array, hessian: Array) -> None:
    """Fill in the lower half."""
    bend, bent = np.empty(len(m)), np.empty(len(m))
    for i in range(len(m)):
        e = np.exp(-abs(m[i]))
        bend[i] = times[i] * e / ((1 + e) * (1 + e))
    for a in range(len(hessian)):
        for i in range(len(m)):
            bent[i] = bend[i] * A[a, i]
        for b in range(a + 1):
            hessian[a, b] = _dot(bent, A[b])
        hessian[a, a] += penalty


@njit(nogil=True, cache=True)
def _add(factor: float, values: Array, total: Array) -> None:
    for i in range(len(total)):
        total[i] += factor * values[i]


# Sums in whatever order a processor adds fastest.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _dot(one: Array, other: Array) -> float:
    total = 0.0
    for i in range(len(one)):
        total += one[i] * other[i]
    return total
