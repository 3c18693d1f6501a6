"""Weka's BayesianLogisticRegression, step by step: cyclic coordinate descent that stops early.

It lowers the objective of :mod:`labelkin.solvers.logistic`, but its stopping rule fires before
the optimum, so its weights depend on the order of the labels. It is here to compare with published
results; labels are solved side by side, each by exactly the steps it would take alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from labelkin.solvers.logistic import Solved, only_columns

Array = NDArray[np.float64]

SWEEPS, STOP = 101, 0.0005  # the most sweeps; the relative change that ends them
BLOCK = 64  # labels side by side, which bounds the memory


def fit_weka_logistic(
    inputs: sparse.csr_array,
    positive: sparse.csr_array,
    counts: Array,
    tau: Array,
    *,
    unknown: sparse.csr_array | None = None,
) -> Solved:
    """Learn every label's log-odds given the other labels as Weka 3.6 does by default.

    A label's inputs are the intercept and then the other labels in column order.

    Parameters
    ----------
    inputs, positive
        The rows as inputs, and 1 where a row has the label, ``(n_rows, n_labels)``.
    counts, tau
        How often each row occurs, ``(n_rows,)``; Weka's tau of each label, ``(n_labels,)``.
    unknown
        1 where the row is left out for the label, ``(n_rows, n_labels)``.
    """
    columns = sparse.csc_array(inputs)
    n_labels = columns.shape[1]
    weights, sweeps = np.zeros((n_labels + 1, n_labels)), np.zeros(n_labels, dtype=np.int64)
    for first in range(0, n_labels, BLOCK):
        labels = np.arange(first, min(first + BLOCK, n_labels))
        known = 1.0 if unknown is None else 1 - unknown[:, labels].toarray()
        sign = 2 * positive[:, labels].toarray() - 1
        weight = np.broadcast_to(counts[:, None] * known, sign.shape)
        start = _start(labels, sign, weight, tau[labels], n_labels)
        weights[:, labels], sweeps[labels] = _descend(columns, start)
    return Solved(weights[1:], weights[0], sweeps)


class _Descent(NamedTuple):
    """Some labels side by side, a column each; rows are label sets, or intercept and labels."""

    label: NDArray[np.intp]
    sign: Array  # +1 where the set has the label, −1 where not
    weight: Array  # how often the set occurs, 0 where the cell is unknown
    tau: Array
    beta: Array
    trust: Array  # Δ, the largest step allowed
    margin: Array  # r = sign · log-odds
    change: Array  # d, what the last non-zero input added to the margin
    total: Array  # S, the sum of |d| after the last sweep


def _start(labels: NDArray[np.intp], sign: Array, weight: Array, tau: Array, n: int) -> _Descent:
    zero = np.zeros_like(sign)
    step = np.zeros((n + 1, len(labels))), np.ones((n + 1, len(labels)))
    return _Descent(labels, sign, weight, tau, *step, zero, zero.copy(), np.zeros(len(labels)))


def _descend(inputs: sparse.csc_array, state: _Descent) -> tuple[Array, NDArray[np.int64]]:
    """Sweep until the stopping rule fires for every label."""
    place = np.arange(len(state.label))
    beta, sweeps = np.zeros_like(state.beta), np.zeros(len(place), dtype=np.int64)
    for sweep in range(1, SWEEPS + 1):
        _sweep(inputs, state)
        beta[:, place], sweeps[place] = state.beta, sweep
        total = (state.weight * np.abs(state.change)).sum(axis=0)
        size = (state.weight * np.abs(state.margin)).sum(axis=0)
        is_open = np.abs(total - state.total) / (1 + size) > STOP
        if not is_open.any():
            break
        place = place[is_open]
        state = only_columns(is_open, state._replace(total=total))
    return beta, sweeps


def _sweep(inputs: sparse.csc_array, state: _Descent) -> None:
    """Update the intercept, then every label's weight, each in all columns but its own."""
    everything = np.arange(inputs.shape[0])
    _update(state, 0, everything, np.ones(len(everything)))
    for k in range(inputs.shape[1]):
        stored = slice(inputs.indptr[k], inputs.indptr[k + 1])
        _update(state, k + 1, inputs.indices[stored], inputs.data[stored])


def _update(state: _Descent, j: int, rows: NDArray[np.intp], values: Array) -> None:
    """Take one Newton step in coordinate j, no longer than the trust region, for all labels."""
    own = state.label == j - 1
    x, weight, sign, r = values[:, None], state.weight[rows], state.sign[rows], state.margin[rows]
    beta, trust = state.beta[j], state.trust[j]
    g = 2 * beta / state.tau - (weight * sign * x * expit(-r)).sum(axis=0)
    h = 2 / state.tau + (weight * x**2 * _curvature_bound(r, trust * np.abs(x))).sum(axis=0)
    dv = np.where(own, 0.0, np.clip(-g / h, -trust, trust))
    d = dv * x * sign
    state.margin[rows] = r + d
    state.change[rows] = np.where(own, state.change[rows], d)
    state.beta[j] = beta + dv
    state.trust[j] = np.maximum(2 * np.abs(dv), trust / 2)


def _curvature_bound(r: Array, delta: Array) -> Array:
    """F(r, δ): the largest p(1 − p) within δ of the margin r."""
    e = np.exp(-np.maximum(np.abs(r) - delta, 0))
    return e / (1 + e) ** 2
