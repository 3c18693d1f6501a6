"""Platt's sigmoid: from decision values to log-odds, for all labels at once.

P = 1 / (1 + exp(A f + B)), so log-odds = −(A f + B). A and B minimise the log-loss of the targets by
Newton steps with backtracking, as Lin, Lin & Weng (2007), "A note on Platt's probabilistic outputs for
support vector machines", and LibSVM do it. The labels of a block iterate together, and leave it as
they finish.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix

_MOST_STEPS = 100
_SHORTEST_STEP = 1e-10
_DAMPING = 1e-12  # on the diagonal of the Hessian, so that it can always be inverted
_BLOCK_CELLS = 2**16  # documents × labels iterated together: the block's arrays stay in the cache

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Sigmoid:
    """Platt's A and B of every label.

    Attributes
    ----------
    slope
        Platt's A, ``(n_labels,)``; negative where high decision values speak for the label.
    intercept
        Platt's B, ``(n_labels,)``.
    """

    slope: Vector
    intercept: Vector

    def log_odds(self, decision_values: Vector) -> Vector:
        """Return −(A f + B) for decision values f of shape ``(n_documents, n_labels)``."""
        return -(self.slope * decision_values + self.intercept)


def fit_sigmoid(
    decision_values: ArrayLike,
    targets: LabelMatrix | ArrayLike,
    weight: ArrayLike | None = None,
    *,
    smooth: bool = True,
    ridge: float = 0.0,
) -> Sigmoid:
    """Fit one sigmoid per label to decision values of documents the classifier has not seen.

    Parameters
    ----------
    decision_values
        ``(n_documents, n_labels)``, finite where the target is known.
    targets
        A label matrix, or an array of 0, 1 and NaN of the same shape; unknown cells are left out.
    weight
        How often each document counts, ``(n_documents,)``; none: once.
    smooth
        Aim at Platt's (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), which keep the sigmoid finite and honest on
        few documents, and stop as LibSVM does (gradient below 1e-5). Otherwise aim at 1 and 0 and go
        on to a gradient of 1e-9: give a ``ridge``, or only that bounds a label without overlap.
    ridge
        Adds ridge · A² to the log-loss.

    Returns
    -------
    Sigmoid
        A label without known targets gets A = B = 0; one whose targets are all the same, A = 0.

    Examples
    --------
    >>> sigmoid = fit_sigmoid([[-2.0], [-1.0], [0.5], [1.5]], [[0], [0], [1], [1]])
    >>> sigmoid.log_odds(np.array([[-1.0], [0.0], [1.0]])).round(1)
    array([[-0.9],
           [ 0.1],
           [ 1. ]])
    """
    values = np.asarray(decision_values, dtype=np.float64)
    positive, unknown = _read_targets(targets, values.shape)
    weights = _read_weight(weight, values.shape[0])
    A, B = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    n_columns = max(1, _BLOCK_CELLS // max(1, values.shape[0]))
    for start in range(0, values.shape[1], n_columns):
        block = slice(start, start + n_columns)
        count = weights if unknown is None else weights * (1 - unknown[:, block].T.toarray())
        is_positive = positive[:, block].T.toarray()
        A[block], B[block] = _fit_block(values[:, block].T, is_positive, count, smooth, ridge)
    return Sigmoid(A, B)


def _read_targets(
    targets: LabelMatrix | ArrayLike, shape: tuple[int, ...]
) -> tuple[sparse.csc_array, sparse.csc_array | None]:
    """Positive and unknown cells by column."""
    dense = None if isinstance(targets, LabelMatrix) else np.asarray(targets, dtype=np.float64)
    got = targets.shape if isinstance(targets, LabelMatrix) else np.shape(dense)
    if len(shape) != 2 or got != shape:
        raise ValueError(
            "decision_values and targets must both be (n_documents, n_labels), got shapes "
            f"{shape} and {got}."
        )
    if isinstance(targets, LabelMatrix):
        unknown = None if targets.unknown is None else sparse.csc_array(targets.unknown)
        return sparse.csc_array(targets.positive), unknown
    wrong = ~(np.isnan(dense) | (dense == 0) | (dense == 1))
    if wrong.any():
        raise ValueError(
            f"targets must be 0, 1 or NaN, got {dense[wrong][0]!r} ({wrong.sum()} such cells)."
        )
    return sparse.csc_array(dense == 1), sparse.csc_array(np.isnan(dense))


def _read_weight(weight: ArrayLike | None, n_documents: int) -> Vector:
    """Weights as one row."""
    weights = np.ones(n_documents) if weight is None else np.asarray(weight, dtype=np.float64)
    if weights.shape != (n_documents,) or not (weights >= 0).all():
        raise ValueError(
            f"weight must hold one number of at least 0 per document, {n_documents} in all, got shape "
            f"{weights.shape}, smallest {weights.min(initial=np.inf)!r}."
        )
    return weights[None, :]


class _Labels(NamedTuple):
    """Labels that are still iterating, one per row.

    ``f`` are the decision values (k, n), ``weight`` their weights (k, n) or (1, n). The targets t are
    constants of the log-loss: their sum and their product with f, (k,), are all it needs of them.
    """

    f: Vector
    weight: Vector
    sum_t: Vector
    sum_tf: Vector
    ridge: float

    def take(self, rows: NDArray[Any]) -> _Labels:
        weight = self.weight if len(self.weight) == 1 else self.weight[rows]
        return _Labels(self.f[rows], weight, self.sum_t[rows], self.sum_tf[rows], self.ridge)


class _Sums(NamedTuple):
    """The log-loss at some A and B, its gradient and its Hessian; one number per label each."""

    loss: Vector
    by_A: Vector
    by_B: Vector
    by_AA: Vector
    by_AB: Vector
    by_BB: Vector

    def take(self, rows: NDArray[Any]) -> _Sums:
        return _Sums(*(part[rows] for part in self))


def _fit_block(
    values: Vector, positive: NDArray[Any], weight: Vector, smooth: bool, ridge: float
) -> tuple[Vector, Vector]:
    """A and B of the labels in the rows of ``values``."""
    weight = np.broadcast_to(weight, values.shape)
    f = np.where(weight > 0, values, 0.0)
    total = weight.sum(axis=1)
    # Around their mean, decision values that hardly differ keep their digits in the Hessian.
    centre = np.divide((weight * f).sum(axis=1), total, out=np.zeros(len(f)), where=total > 0)
    f -= centre[:, None]
    n_positive = (weight * positive).sum(axis=1)
    n_negative = total - n_positive
    high = (n_positive + 1) / (n_positive + 2) if smooth else np.ones(len(f))
    low = 1 / (n_negative + 2) if smooth else np.zeros(len(f))
    target = weight * np.where(positive, high[:, None], low[:, None])
    labels = _Labels(f, weight, target.sum(axis=1), _dot(target, f), ridge)
    A, B = np.zeros(len(f)), np.log((n_negative + 1) / (n_positive + 1))
    _iterate(labels, A, B, centre, 1e-5 if smooth else 1e-9)
    return A, B - A * centre


def _iterate(labels: _Labels, A: Vector, B: Vector, centre: Vector, tol: float) -> None:
    """Newton steps on ``A`` and ``B``, in place, until the gradient of every label is below ``tol``."""
    left = np.arange(len(A))
    sums = _evaluate(labels, A, B)
    for _ in range(_MOST_STEPS):
        by_A = sums.by_A + centre[left] * sums.by_B  # of the values as they came
        going = (np.abs(by_A) >= tol) | (np.abs(sums.by_B) >= tol)
        if not going.all():
            left, labels, sums = left[going], labels.take(going), sums.take(going)
        if not len(left):
            return
        step, tried = _search_line(labels, sums, A[left], B[left])
        A[left] += step[0]
        B[left] += step[1]
        moved = step.any(axis=0)
        left, labels, sums = left[moved], labels.take(moved), tried.take(moved)


def _search_line(
    labels: _Labels, sums: _Sums, A: Vector, B: Vector
) -> tuple[NDArray[np.float64], _Sums]:
    """Newton's step, halved until the loss falls enough; zero where it never does."""
    step = _newton_step(sums)
    descent = sums.by_A * step[0] + sums.by_B * step[1]
    accepted = _Sums(*(part.copy() for part in sums))
    open_, length = np.arange(len(A)), 1.0
    while len(open_) and length >= _SHORTEST_STEP:
        part = labels if len(open_) == len(A) else labels.take(open_)
        tried = _evaluate(part, A[open_] + step[0, open_], B[open_] + step[1, open_])
        falls = tried.loss < sums.loss[open_] + 1e-4 * length * descent[open_]
        for old, new in zip(accepted, tried, strict=True):
            old[open_[falls]] = new[falls]
        open_ = open_[~falls]
        step[:, open_] /= 2
        length /= 2
    step[:, open_] = 0.0
    return step, accepted


def _newton_step(sums: _Sums) -> NDArray[np.float64]:
    """−Hessian⁻¹ · gradient, (2, k)."""
    AA, BB = sums.by_AA + _DAMPING, sums.by_BB + _DAMPING
    determinant = AA * BB - sums.by_AB**2
    step_A = sums.by_AB * sums.by_B - BB * sums.by_A
    step_B = sums.by_AB * sums.by_A - AA * sums.by_B
    return np.stack([step_A, step_B]) / determinant


def _evaluate(labels: _Labels, A: Vector, B: Vector) -> _Sums:
    """Log-loss Σ w (t z + log(1 + exp(−z))) + ridge A² with z = A f + B, and its derivatives."""
    f, weight, sum_t, sum_tf, ridge = labels
    z = A[:, None] * f
    z += B[:, None]
    small = np.exp(-np.abs(z))
    larger = 1 / (1 + small)  # of P and 1 − P
    small *= larger
    loss = np.minimum(z, 0)
    loss += np.log(larger)
    probability = np.where(z > 0, small, larger)
    curvature = small * larger
    for part in () if weight is None else (loss, probability, curvature):
        part *= weight
    curvature_f = curvature * f
    return _Sums(
        sum_tf * A + sum_t * B + ridge * A**2 - loss.sum(axis=1),
        sum_tf - _dot(probability, f) + 2 * ridge * A,
        sum_t - probability.sum(axis=1),
        _dot(curvature_f, f) + 2 * ridge,
        curvature_f.sum(axis=1),
        curvature.sum(axis=1),
    )


def _dot(left: Vector, right: Vector) -> Vector:
    """Row-wise inner products."""
    return np.einsum("ij,ij->i", left, right)
