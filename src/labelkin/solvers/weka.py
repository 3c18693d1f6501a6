"""The paper's label classifiers as Weka fits them: its logistic loop, and ``SMO -M``.

``BayesianLogisticRegression`` lowers the objective of :mod:`labelkin.solvers.logistic` by cyclic
coordinate descent, but its stopping rule fires before the optimum, so that its weights depend on
the order of the labels. It serves to compare with published results; labels are solved side by
side, each by exactly the steps it would take alone.

``SMO -M`` is a linear SVM with a logistic output: inputs scaled to [0, 1], soft margin with
unpenalised bias, then a logistic fit of the label on the outputs of the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.svm import SVC

from labelkin.odds import to_log_odds
from labelkin.solvers.logistic import only_columns

_Array = NDArray[np.float64]

_SWEEPS, _STOP = 101, 0.0005  # the most sweeps; the relative change that ends them
_BLOCK = 64  # labels side by side, which bounds the memory

#: Of the logistic fit on SVM outputs: ridge, last gradient, shortest part of a step, and damping of
#: the Hessian.
_RIDGE, _LINE_TOL, _SHORTEST, _DAMPING = 2e-8, 1e-9, 1e-10, 1e-12
#: Outputs that differ by less than this over all training rows are solver noise, not a rule.
_NO_SPREAD = 1e-3


class WekaWeights(NamedTuple):
    """Weights with diagonal 0, bias, and the number of sweeps of each label, ``(n_labels,)``."""

    weights: _Array
    bias: _Array
    sweeps: NDArray[np.int64]


def fit_weka_logistic(
    inputs: sparse.csr_array,
    positive: sparse.csr_array,
    counts: _Array,
    tau: _Array,
    *,
    unknown: sparse.csr_array | None = None,
) -> WekaWeights:
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
    for first in range(0, n_labels, _BLOCK):
        labels = np.arange(first, min(first + _BLOCK, n_labels))
        known = 1.0 if unknown is None else 1 - unknown[:, labels].toarray()
        sign = 2 * positive[:, labels].toarray() - 1
        weight = np.broadcast_to(counts[:, None] * known, sign.shape)
        start = _start(labels, sign, weight, tau[labels], n_labels)
        weights[:, labels], sweeps[labels] = _descend(columns, start)
    return WekaWeights(weights[1:], weights[0], sweeps)


class _Descent(NamedTuple):
    """Some labels side by side, a column each; rows are label sets, or intercept and labels."""

    label: NDArray[np.intp]
    sign: _Array  # +1 where the set has the label, −1 where not
    weight: _Array  # how often the set occurs, 0 where the cell is unknown
    tau: _Array
    beta: _Array
    trust: _Array  # Δ, the largest step allowed
    margin: _Array  # r = sign · log-odds
    change: _Array  # d, what the last non-zero input added to the margin
    total: _Array  # S, the sum of |d| after the last sweep


def _start(labels: NDArray[np.intp], sign: _Array, weight: _Array, tau: _Array, n: int) -> _Descent:
    zero = np.zeros_like(sign)
    step = np.zeros((n + 1, len(labels))), np.ones((n + 1, len(labels)))
    return _Descent(labels, sign, weight, tau, *step, zero, zero.copy(), np.zeros(len(labels)))


def _descend(inputs: sparse.csc_array, state: _Descent) -> tuple[_Array, NDArray[np.int64]]:
    """Sweep until the stopping rule fires for every label."""
    place = np.arange(len(state.label))
    beta, sweeps = np.zeros_like(state.beta), np.zeros(len(place), dtype=np.int64)
    for sweep in range(1, _SWEEPS + 1):
        _sweep(inputs, state)
        beta[:, place], sweeps[place] = state.beta, sweep
        total = (state.weight * np.abs(state.change)).sum(axis=0)
        size = (state.weight * np.abs(state.margin)).sum(axis=0)
        is_open = np.abs(total - state.total) / (1 + size) > _STOP
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


def _update(state: _Descent, j: int, rows: NDArray[np.intp], values: _Array) -> None:
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


def _curvature_bound(r: _Array, delta: _Array) -> _Array:
    """F(r, δ): the largest p(1 − p) within δ of the margin r."""
    e = np.exp(-np.maximum(np.abs(r) - delta, 0))
    return e / (1 + e) ** 2


def fit_svm_layer(
    inputs: _Array,
    positive: sparse.csr_array,
    counts: _Array,
    *,
    unknown: sparse.csr_array | None = None,
    C: float = 1.0,
    balance_rare: bool = False,
    n_jobs: int | None = None,
) -> tuple[_Array, _Array]:
    """Return weights ``(n_labels, n_labels)``, the diagonal 0, and bias ``(n_labels,)``.

    Parameters
    ----------
    inputs, positive
        The rows as inputs, and 1 where a row has the label, ``(n_rows, n_labels)``.
    counts
        How often each row occurs, ``(n_rows,)``.
    unknown
        1 where the row is left out for the label, ``(n_rows, n_labels)``.
    C
        Penalty of a margin violation.
    balance_rare
        Whether a label whose best SVM gives every row the same answer is fitted again with both
        sides weighing the same. Otherwise its log-odds are the prior's.
    n_jobs
        Labels fitted at a time.
    """
    n_labels = positive.shape[1]
    low = inputs.min(axis=0, initial=np.inf) if len(inputs) else np.zeros(n_labels)
    spread = (inputs.max(axis=0, initial=-np.inf) if len(inputs) else low) - low
    scale = np.divide(1.0, spread, out=np.zeros(n_labels), where=spread > 0)
    scaled = (inputs - low) * scale

    def problems() -> Iterator[tuple[_Array, _Array, int]]:
        for j in range(n_labels):
            left_out = 0.0 if unknown is None else unknown[:, [j]].toarray().ravel()
            yield positive[:, [j]].toarray().ravel(), counts * (1 - left_out), j

    columns = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_svm_column)(scaled, *problem, C, balance_rare) for problem in problems()
    )
    on_scaled = np.array([weights for weights, _ in columns]).reshape(n_labels, n_labels).T
    weights = on_scaled * scale[:, None]
    return weights, np.array([bias for _, bias in columns]) - low @ weights


def _svm_column(
    inputs: _Array, target: _Array, count: _Array, j: int, C: float, balance_rare: bool
) -> tuple[_Array, float]:
    """Weights (own place 0) and bias of label j's log-odds on the scaled inputs."""
    rows = np.flatnonzero(count > 0)
    others = inputs[rows]
    others[:, j] = 0.0
    target, count = target[rows], count[rows]
    prior = target @ count / count.sum() if len(rows) else 0.5
    # A label without two sides goes to the end of the scale, as Weka's logistic fit drives it
    # there.
    nothing = np.zeros(inputs.shape[1]), float(to_log_odds(prior, clip=1e-7))
    if len(np.unique(target)) < 2:
        return nothing
    svm = SVC(kernel="linear", C=C, tol=1e-6).fit(others, target, sample_weight=count)
    if balance_rare and np.ptp(svm.decision_function(others)) < _NO_SPREAD:
        svm.fit(others, target, sample_weight=_balanced(target, count))
    output = svm.decision_function(others)
    if np.ptp(output) < _NO_SPREAD:
        return nothing
    slope, intercept = _fit_line(output, target, count)
    return slope * svm.coef_.ravel(), slope * float(svm.intercept_[0]) + intercept


def _fit_line(output: _Array, target: _Array, count: _Array) -> tuple[float, float]:
    """Return slope and intercept of the log-odds, by the Newton steps of Lin, Lin & Weng (2007).

    Where the two sides do not overlap the result is where these steps end, so that another solver
    of the same objective is no replacement.
    """
    centre = np.einsum("i,i", count, output) / count.sum()
    f = output - centre
    sum_t, sum_tf = (count * target).sum(), np.einsum("i,i", count * target, f)

    def evaluate(A: float, B: float) -> _Array:
        """Return loss and derivatives by A, B, AA, AB and BB, in Platt's letters."""
        z = A * f + B
        smaller = np.exp(-np.abs(z))
        larger = 1 / (1 + smaller)
        smaller = smaller * larger
        gain, bend = count * (np.log(larger) + np.minimum(z, 0)), count * (smaller * larger)
        p, bend_f = count * np.where(z > 0, smaller, larger), bend * f
        loss = _RIDGE * A * A / 2 + sum_tf * A + sum_t * B - gain.sum()
        by_A = sum_tf - np.einsum("i,i", p, f) + _RIDGE * A
        by_AA = np.einsum("i,i", bend_f, f) + _RIDGE
        return np.array([loss, by_A, sum_t - p.sum(), by_AA, bend_f.sum(), bend.sum()])

    positives = np.einsum("i,i", count, target)
    A, B = 0.0, float(np.log((count.sum() - positives + 1) / (positives + 1)))
    sums = evaluate(A, B)
    for _ in range(_SWEEPS):
        loss, a, b, aa, ab, bb = sums
        if max(abs(a + centre * b), abs(b)) < _LINE_TOL:
            break
        aa, bb = aa + _DAMPING, bb + _DAMPING
        step = np.array([ab * b - bb * a, ab * a - aa * b]) / (aa * bb - ab**2)
        descent, length = (sums[1:3] * step).sum(), 1.0
        sums = evaluate(A + step[0], B + step[1])
        while sums[0] >= loss + 1e-4 * length * descent:
            step, length = step / 2, length / 2
            if length < _SHORTEST:
                return -A, A * centre - B
            sums = evaluate(A + step[0], B + step[1])
        A, B = A + step[0], B + step[1]
    return -A, A * centre - B


def _balanced(target: _Array, count: _Array) -> _Array:
    """Scale counts so that both sides weigh half of all."""
    positive = target @ count
    half = count.sum() / 2
    return count * np.where(target == 1, half / positive, half / (count.sum() - positive))
