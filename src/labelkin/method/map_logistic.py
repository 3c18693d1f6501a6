"""Logistic regression with a Gaussian prior, all labels at once, to the exact optimum.

Every label is predicted from the others by the weights w that minimise

    Σ_i c_i [log(1 + exp(m_i)) − y_i m_i] + (λ/2) |w − w₀|²,    m = offset + [inputs, 1] w,

the objective of Weka's BayesianLogisticRegression: c_i says how often row i occurs, λ = 2/tau,
w₀ = 0, and the intercept is penalised like any weight. All labels share one input matrix, so they
are solved side by side: Newton's method, each step by conjugate gradients on a block of labels.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from labelkin.method.label_sets import LabelSets
from labelkin.method.newton import (
    Array,
    Block,
    Columns,
    Inputs,
    columns_of,
    solve_block,
    without_own,
)


@dataclass(frozen=True, eq=False)
class LogisticWeights:
    """Log-odds of all labels, linear in the inputs: ``inputs @ weights + bias``.

    ``weights[k, j]`` is what input k adds to the log-odds of label j, ``(n_inputs, n_labels)``;
    where the inputs are the labels, the diagonal is 0. ``bias`` and ``sweeps`` are ``(n_labels,)``:
    the log-odds when all inputs are 0, and how many sweeps or Newton steps the label took.
    """

    weights: Array
    bias: Array
    sweeps: NDArray[np.int64]


def fit_map_logistic(
    label_sets: LabelSets, *, penalty_factor: float = 1.0, **options: Any
) -> LogisticWeights:
    """Learn every label's log-odds given the other labels.

    A label set whose cell is unknown is left out for that label; as an input an unknown cell counts
    its label's prior. ``penalty_factor`` multiplies the penalty 2/tau of :func:`prior_scale`.
    ``offset``, ``centre``, ``tol`` and ``n_jobs`` are those of :func:`fit_logistic_layer`, with the
    label sets as rows.

    Examples
    --------
    What speaks for tea (the last column) and what against it:

    >>> from labelkin.label_matrix import read_labels
    >>> from labelkin.method.label_sets import count_label_sets
    >>> drinks = read_labels([["tea"], ["tea", "sugar"], ["tea", "sugar"], ["milk"], ["milk"]])
    >>> drinks.names.tolist()
    ['milk', 'sugar', 'tea']
    >>> fit_map_logistic(count_label_sets(drinks)).weights[:, 2].round(2).tolist()
    [-0.82, 0.63, 0.0]
    """
    penalty = penalty_factor * 2 / prior_scale(label_sets)
    rows = label_sets.inputs(), label_sets.positive, label_sets.count
    return fit_logistic_layer(*rows, penalty, unknown=label_sets.unknown, **options)


def prior_scale(label_sets: LabelSets) -> Array:
    """Return Weka's tau of every label, ``(n_labels,)``; the prior's variance is tau/2.

    tau = (inputs + 2) / (1 + mean sum of squared inputs): the inputs are the other labels, the mean
    is over the documents for which the label is known.
    """
    squares = label_sets.count * label_sets.inputs().power(2).sum(axis=1)
    total = squares.sum() - label_sets.positives()
    if label_sets.unknown is not None:
        total -= label_sets.unknown.T @ squares
    known = label_sets.known()
    mean = np.divide(total, known, out=np.zeros_like(total), where=known > 0)
    return (label_sets.n_labels + 1) / (1 + mean)


def fit_logistic_layer(
    inputs: Array | sparse.csr_array,
    targets: Array | sparse.csr_array,
    counts: Array,
    penalty: Array,
    *,
    unknown: sparse.csr_array | None = None,
    offset: Array | None = None,
    centre: tuple[Array, Array] | None = None,
    own_column_zero: bool = True,
    tol: float = 1e-9,
    n_jobs: int | None = None,
) -> LogisticWeights:
    """Find the weights that minimise every label's objective.

    Parameters
    ----------
    inputs, targets
        ``(n_rows, n_inputs)`` and ``(n_rows, n_labels)``, sparse or dense; targets lie in [0, 1].
    counts, penalty
        How often each row occurs, ``(n_rows,)``; λ of each label, ``(n_labels,)``, above 0.
    unknown
        1 where the row is left out for the label, ``(n_rows, n_labels)``.
    offset
        A given part of the log-odds, ``(n_rows, n_labels)``.
    centre
        w₀ as weights ``(n_inputs, n_labels)`` and bias ``(n_labels,)``; also the start.
    own_column_zero
        Whether input j is ignored for label j; there are as many inputs as labels then.
    tol
        A Newton step that promises to lower the objective by no more than this share is the last.
    n_jobs
        Threads over blocks of labels. The result does not depend on it.
    """
    n_inputs, n_labels = inputs.shape[1], targets.shape[1]
    _check_layer(n_inputs, n_labels, penalty, own_column_zero)
    _check_finite(inputs=inputs, offset=offset)
    middle = np.zeros((n_inputs + 1, n_labels)) if centre is None else np.vstack(centre)
    fixed = np.zeros((1, n_labels)) if offset is None else offset

    def block(labels: Columns) -> Block:
        known = 1.0 if unknown is None else 1 - columns_of(unknown, labels)
        own = labels if own_column_zero else labels[:0]
        start = without_own(columns_of(middle, labels), own)
        y, c = columns_of(targets, labels), counts[:, None] * known
        return Block(y, c, penalty[labels], start, own)

    shared = Inputs.of(inputs)
    parts = _blocks_of_labels(targets.T @ counts, max(inputs.shape))
    with nullcontext() if sparse.issparse(inputs) else threadpool_limits(1, user_api="blas"):
        solved = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(solve_block)(shared, block(labels), fixed[:, labels], tol) for labels in parts
        )
    weights, sweeps = np.zeros_like(middle), np.zeros(n_labels, dtype=np.int64)
    for labels, (found, steps) in zip(parts, solved, strict=True):
        weights[:, labels], sweeps[labels] = found, steps
    return LogisticWeights(weights[:-1], weights[-1], sweeps)


def _check_layer(n_inputs: int, n_labels: int, penalty: Array, own_column_zero: bool) -> None:
    if own_column_zero and n_inputs != n_labels:
        raise ValueError(
            f"Inputs must be the labels when each label ignores its own, got {n_inputs} inputs and "
            f"{n_labels} labels. Pass own_column_zero=False for other inputs."
        )
    if not np.all((penalty > 0) & np.isfinite(penalty)):
        raise ValueError(f"Every label's penalty must be finite and above 0, got {penalty.min()}.")


def _check_finite(**matrices: Any) -> None:
    for name, matrix in matrices.items():
        values = 0.0 if matrix is None else matrix.data if sparse.issparse(matrix) else matrix
        wrong = np.count_nonzero(~np.isfinite(values))
        if wrong:
            raise ValueError(
                f"{name} must be finite, got NaN or infinity in {wrong} cells. "
                "Clip log-odds that are infinite, fill in what is unknown."
            )


def _blocks_of_labels(frequency: Array, n_rows: int) -> list[Columns]:
    """Labels of like frequency side by side: 64, or more while a block stays in the cache."""
    size = max(64, 2**17 // max(n_rows, 1))
    order = np.argsort(-frequency, kind="stable")
    return [order[i : i + size] for i in range(0, len(order), size)]
