"""Newton's method for logistic regression on a block of labels, side by side.

Each step is found by conjugate gradients on the whole block, so the work is products of the input
matrix with as many columns as there are labels. Labels leave the block as they finish.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Columns = NDArray[np.intp]

NEWTON_STEPS, GRADIENT_STEPS, HALVINGS = 100, 60, 40
ROUNDING = 1e-13  # a promised gain below this share of the objective is rounding noise
TINY = float(np.finfo(np.float32).tiny)


class Inputs(NamedTuple):
    """A = [inputs, 1] and its transpose, also in single precision, and the squares of its cells."""

    A: Any
    At: Any
    A32: Any
    At32: Any
    squares32: Any

    @classmethod
    def of(cls, inputs: Any) -> Inputs:
        """Prepare the inputs for all blocks of labels."""
        join = sparse.hstack if sparse.issparse(inputs) else np.hstack
        A = join([inputs, np.ones((inputs.shape[0], 1))])
        At = A.T
        if sparse.issparse(inputs):
            A, At = sparse.csr_array(A), sparse.csr_array(At)
        At32 = At.astype(np.float32)
        return cls(A, At, A.astype(np.float32), At32, At32 * At32)


class Block(NamedTuple):
    """Some labels side by side, a column each."""

    targets: Array
    counts: Array  # a single column when no cell is left out
    penalty: Array
    centre: Array
    own: Columns  # the input each label ignores, or empty


class _Point(NamedTuple):
    """Weights, their log-odds M, exp(−|M|) and the objective."""

    W: Array
    M: Array
    E: Array
    f: Array


def solve_block(
    inputs: Inputs, block: Block, offset: Array, tol: float
) -> tuple[Array, NDArray[np.int64]]:
    """Solve some labels by Newton's method; return weights, intercept last, and steps taken."""
    weights, steps = np.zeros_like(block.centre), np.zeros(len(block.penalty), dtype=np.int64)
    labels = np.arange(len(steps))
    point = _evaluate(block, block.centre, inputs.A @ block.centre + offset)
    for _ in range(NEWTON_STEPS):
        gradient, S = _newton_direction(inputs, block, point)
        promised = _dots(gradient, S)
        is_open = promised > 2 * max(tol, ROUNDING) * point.f
        point = _line_search(block, point, S, inputs.A @ S, promised)
        weights[:, labels], steps[labels] = point.W, steps[labels] + 1
        if not is_open.any():
            return weights, steps
        labels, block, point = labels[is_open], _only(is_open, block), _only(is_open, point)
    warnings.warn(
        f"Newton's method should settle in {NEWTON_STEPS} steps, {len(labels)} labels did not. "
        "Look for huge inputs, offsets or counts, or raise the penalty.",
        RuntimeWarning,
        stacklevel=2,
    )
    return weights, steps


def _evaluate(block: Block, W: Array, M: Array) -> _Point:
    E = np.exp(-np.abs(M))
    loss = np.log1p(E)
    loss += np.maximum(M, 0)
    loss -= block.targets * M
    loss *= block.counts
    moved = W - block.centre
    return _Point(W, M, E, loss.sum(axis=0) + block.penalty / 2 * _dots(moved, moved))


def _newton_direction(inputs: Inputs, block: Block, point: _Point) -> tuple[Array, Array]:
    """Return the gradient and, nearly, the inverse of the Hessian times it."""
    larger = 1 / (1 + point.E)
    smaller = point.E * larger
    P = np.where(point.M >= 0, larger, smaller)
    G = inputs.At @ (block.counts * (P - block.targets)) + block.penalty * (point.W - block.centre)
    without_own(G, block.own)
    scale = np.maximum(np.abs(G).max(axis=0), TINY)
    parts = G / scale, block.counts * (smaller * larger), block.penalty
    R, D, penalty = (part.astype(np.float32) for part in parts)
    inverse = 1 / (inputs.squares32 @ D + penalty)
    rz = _dots(R, R * inverse)
    eta = np.minimum(0.1, np.cbrt(scale**2 * rz / np.maximum(point.f, TINY)))
    enough = rz * (eta**2).astype(np.float32)
    search = _Search(np.zeros_like(R), R, R * inverse, rz, enough, D, inverse, penalty, block.own)
    return G, scale * _conjugate_gradients(inputs, search)


class _Search(NamedTuple):
    """Conjugate gradients for (AᵀDA + λ) S = G: solution, residual, direction, their scalars.

    In single precision: it touches the direction of a Newton step only, not where the steps end.
    """

    S: Any
    R: Any
    V: Any
    rz: Any
    enough: Any
    D: Any
    inverse: Any
    penalty: Any
    own: Columns


def _conjugate_gradients(inputs: Inputs, search: _Search) -> Any:
    """Step until every label's residual is small; drop those that are done, half at a time."""
    found, labels = np.zeros_like(search.S), np.arange(len(search.rz))
    for _ in range(GRADIENT_STEPS):
        search = _gradient_step(inputs, search)
        is_open = search.rz > search.enough
        if np.count_nonzero(is_open) > len(labels) / 2:
            continue
        found[:, labels] = search.S
        labels, search = labels[is_open], _only(is_open, search)
        if not len(labels):
            break
    found[:, labels] = search.S
    return found


def _gradient_step(inputs: Inputs, search: _Search) -> _Search:
    S, R, V, rz = search[:4]
    AV = inputs.A32 @ V
    AV *= search.D
    HV = inputs.At32 @ AV
    HV += search.penalty * V
    without_own(HV, search.own)
    step = rz / np.maximum(_dots(V, HV), TINY)
    S += step * V
    R -= step * HV
    Z = R * search.inverse
    new = _dots(R, Z)
    V *= new / np.maximum(rz, TINY)
    V += Z
    return search._replace(rz=new)


def _line_search(block: Block, point: _Point, S: Array, AS: Array, promised: Array) -> _Point:
    """Go along −S; halve a label's step until its objective falls by a share of the promise."""
    t = np.ones(len(promised))
    for _ in range(HALVINGS):
        new = _evaluate(block, point.W - t * S, point.M - t * AS)
        short = new.f > point.f - 1e-4 * t * promised
        if not short.any():
            break
        t[short] /= 2
    return new


def _only(keep: NDArray[np.bool_], record: Any) -> Any:
    """Drop the labels that are done from every array that has a column for each."""
    if keep.all():
        return record
    return record._make(
        np.compress(keep, x, axis=-1) if x.shape[-1] == len(keep) else x for x in record
    )


def without_own(X: Any, own: Columns) -> Any:
    """Set every label's own row to 0, in place."""
    X[own, np.arange(len(own))] = 0
    return X


def columns_of(matrix: Any, labels: Columns) -> Array:
    """Return some labels' columns as a dense array of their own."""
    part = matrix[:, labels]
    return np.array(part.toarray() if sparse.issparse(part) else part, dtype=np.float64, order="C")


def _dots(a: Any, b: Any) -> Any:
    return np.einsum("ij,ij->j", a, b)
