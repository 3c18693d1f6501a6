"""Platt's sigmoid: from decision values to log-odds, for all labels at once.

P = 1 / (1 + exp(A f + B)), so log-odds = −(A f + B). A and B minimise the log-loss of the targets
by Newton steps with backtracking, as LibSVM does it: Lin, Lin & Weng (2007), "A note on Platt's
probabilistic outputs for support vector machines". The labels of a block iterate together, and each
leaves the block when it has finished.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_weight

_MOST_STEPS = 100
_SHORTEST_STEP = 1e-10
_DAMPING = 1e-12  # on the diagonal of the Hessian, so that it can always be inverted
_BLOCK_CELLS = 2**16  # documents × labels that iterate together: their arrays stay in the cache

_Floats = NDArray[np.float64]


class SigmoidPrior(NamedTuple):
    """A Gaussian prior of A and B: where it is centred, and how sharp it is (1 / variance).

    It adds (precision/2) (parameter − centre)² of both to the log-loss.
    """

    slope: float = 0.0
    intercept: float = 0.0
    slope_precision: float = 0.0
    intercept_precision: float = 0.0


_FLAT = SigmoidPrior()


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

    slope: _Floats
    intercept: _Floats

    def log_odds(self, decision_values: _Floats) -> _Floats:
        """Return −(A f + B) for decision values f of shape ``(n_documents, n_labels)``."""
        return -(self.slope * decision_values + self.intercept)


def fit_sigmoid(
    decision_values: ArrayLike,
    targets: LabelMatrix | ArrayLike,
    weight: ArrayLike | None = None,
    *,
    smooth: bool = True,
    prior: SigmoidPrior = _FLAT,
    tol: float | None = None,
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
        Aim at Platt's (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), N₊ and N₋ the label's documents with and
        without it. Otherwise aim at 1 and 0: the tolerance and the prior alone bound the slope of a
        label whose two sides do not overlap.
    prior
        What A and B are before there is data; the default is flat. One that says something of both
        is also where the search starts.
    tol
        Gradient at which a label has finished: 1e-5 with smoothed targets, else 1e-9.

    Returns
    -------
    Sigmoid
        With smoothed targets a label whose known targets are all the same has slope 0, and one
        without known targets intercept 0, too.

    Examples
    --------
    >>> sigmoid = fit_sigmoid([[-2.0], [-1.0], [0.5], [1.5]], [[0], [0], [1], [1]])
    >>> sigmoid.log_odds(np.array([[-1.0], [0.0], [1.0]])).round(1)
    array([[-0.6],
           [ 0.2],
           [ 1. ]])
    """
    values = np.asarray(decision_values, dtype=np.float64)
    if isinstance(targets, LabelMatrix):
        is_positive, is_unknown = targets.positive, targets.unknown
    else:
        is_positive, is_unknown = np.equal(targets, 1), np.isnan(targets)
    positive = sparse.csc_array(is_positive)
    unknown = None if is_unknown is None else sparse.csc_array(is_unknown)
    n_documents, n_labels = values.shape
    counts = read_weight(weight, n_documents)
    stop = (1e-5 if smooth else 1e-9) if tol is None else tol
    A, B = np.zeros(n_labels), np.zeros(n_labels)
    n_columns = max(1, _BLOCK_CELLS // max(1, n_documents))
    for start in range(0, n_labels, n_columns):
        block = slice(start, start + n_columns)
        count = counts if unknown is None else counts * (1 - unknown[:, block].T.toarray())
        truth = positive[:, block].T.toarray() > 0
        labels, centre, begin = _prepare(values[:, block].T, truth, count, smooth, prior)
        A[block], B[block] = begin
        _iterate(labels, A[block], B[block], centre, stop)
        B[block] -= A[block] * centre
    return Sigmoid(A, B)


class _Labels(NamedTuple):
    """Labels that are still iterating, one per row.

    ``f`` are the decision values (k, n), ``weight`` their weights, ``None`` if all are 1. Of the
    targets t the log-loss needs only the sums Σ t and Σ t f, (k,).
    """

    f: _Floats
    weight: _Floats | None
    sum_t: _Floats
    sum_tf: _Floats
    prior: SigmoidPrior

    def take(self, rows: NDArray[Any]) -> _Labels:
        weight = None if self.weight is None else self.weight[rows]
        return _Labels(self.f[rows], weight, self.sum_t[rows], self.sum_tf[rows], self.prior)


def _prepare(
    values: _Floats, positive: NDArray[np.bool_], weight: _Floats, smooth: bool, prior: SigmoidPrior
) -> tuple[_Labels, _Floats, tuple[Any, Any]]:
    """Return the labels in the rows of ``values``, what was subtracted from these, and a start.

    To begin with, A and B are the prior's, or those of a classifier that says nothing.
    """
    weight = np.broadcast_to(weight, values.shape)
    f = np.where(weight > 0, values, 0.0)
    total = weight.sum(axis=1)
    # Around their mean, decision values that hardly differ keep their digits in the Hessian. (A
    # prior of B, which the prior of A would have to follow there, makes it safe by itself.)
    centred = (total > 0) & (prior.intercept_precision == 0)
    centre = np.divide(_dot(weight, f), total, out=np.zeros(len(f)), where=centred)
    f -= centre[:, None]
    n_positive = _dot(weight, positive)
    n_negative = total - n_positive
    high = (n_positive + 1) / (n_positive + 2) if smooth else np.ones(len(f))
    low = 1 / (n_negative + 2) if smooth else np.zeros(len(f))
    t = weight * np.where(positive, high[:, None], low[:, None])
    cell_weight = None if (weight == 1).all() else weight
    says_nothing = 0.0, np.log((n_negative + 1) / (n_positive + 1))
    start = (prior.slope, prior.intercept) if prior.intercept_precision > 0 else says_nothing
    return _Labels(f, cell_weight, t.sum(axis=1), _dot(t, f), prior), centre, start


def _iterate(labels: _Labels, A: _Floats, B: _Floats, centre: _Floats, tol: float) -> None:
    """Step ``A`` and ``B``, in place, until no label's gradient reaches ``tol``."""
    left = np.arange(len(A))
    moved = np.ones(len(A), dtype=np.bool_)
    sums = _evaluate(labels, A, B)
    for _ in range(_MOST_STEPS):
        _, by_A, by_B, *_ = sums
        by_A = by_A + centre[left] * by_B  # with respect to the decision values as they came
        going = moved & (np.maximum(np.abs(by_A), np.abs(by_B)) >= tol)
        if not going.all():
            left, labels, sums = left[going], labels.take(going), sums[:, going]
        if not len(left):
            return
        step, sums = _search_line(labels, sums, A[left], B[left])
        A[left] += step[0]
        B[left] += step[1]
        moved = (step != 0).any(axis=0)


def _search_line(labels: _Labels, sums: _Floats, A: _Floats, B: _Floats) -> tuple[_Floats, _Floats]:
    """Return Newton's step, halved until the loss falls enough, and the sums where it leads.

    The step is 0 where no length makes the loss fall.
    """
    step = _newton_step(sums)
    loss, descent = sums[0], (sums[1:3] * step).sum(axis=0)
    reached = sums.copy()
    trying, length = np.arange(len(A)), 1.0
    while len(trying) and length >= _SHORTEST_STEP:
        part = labels if len(trying) == len(A) else labels.take(trying)
        tried = _evaluate(part, A[trying] + step[0, trying], B[trying] + step[1, trying])
        falls = tried[0] < loss[trying] + 1e-4 * length * descent[trying]
        reached[:, trying[falls]] = tried[:, falls]
        trying = trying[~falls]
        step[:, trying] /= 2
        length /= 2
    step[:, trying] = 0.0
    return step, reached


def _newton_step(sums: _Floats) -> _Floats:
    """Return −Hessian⁻¹ · gradient, (2, k)."""
    _, by_A, by_B, by_AA, by_AB, by_BB = sums
    AA, BB = by_AA + _DAMPING, by_BB + _DAMPING
    step = np.stack([by_AB * by_B - BB * by_A, by_AB * by_A - AA * by_B])
    return np.asarray(step / (AA * BB - by_AB**2))


def _evaluate(labels: _Labels, A: _Floats, B: _Floats) -> _Floats:
    """Return the log-loss, its derivatives by A, B, AA, AB and BB, (6, k).

    The log-loss is Σ w (t z + log(1 + exp(−z))), where z = A f + B, and what the prior adds.
    """
    f, weight, sum_t, sum_tf, prior = labels
    z = A[:, None] * f
    z += B[:, None]
    smaller = np.exp(-np.abs(z))
    larger = 1 / (1 + smaller)
    smaller *= larger  # now P and 1 − P, whichever is which
    gain = np.log(larger)
    gain += np.minimum(z, 0)
    P = np.where(z > 0, smaller, larger)
    curvature = smaller * larger
    if weight is not None:
        gain, P, curvature = gain * weight, P * weight, curvature * weight
    curvature_f = curvature * f
    from_prior_A = prior.slope_precision * (A - prior.slope)
    from_prior_B = prior.intercept_precision * (B - prior.intercept)
    loss = (from_prior_A * (A - prior.slope) + from_prior_B * (B - prior.intercept)) / 2
    return np.stack(
        [
            loss + sum_tf * A + sum_t * B - gain.sum(axis=1),
            sum_tf - _dot(P, f) + from_prior_A,
            sum_t - P.sum(axis=1) + from_prior_B,
            _dot(curvature_f, f) + prior.slope_precision,
            curvature_f.sum(axis=1),
            curvature.sum(axis=1) + prior.intercept_precision,
        ]
    )


def _dot(left: NDArray[Any], right: NDArray[Any]) -> _Floats:
    """Return the inner products of the rows."""
    return np.einsum("ij,ij->i", left, right)
