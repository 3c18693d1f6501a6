"""Logistic regression with a Gaussian prior, all labels at once, to the exact optimum.

Every label is predicted from the others by the weights w that minimise

    Σ_i c_i [log(1 + exp(m_i)) − y_i m_i] + (λ/2) |w|²,    m = offset + [inputs, 1] w,

the objective of Weka's BayesianLogisticRegression: c_i is the number of occurrences of row i,
λ = 2/tau, and the intercept is penalised like any weight. All labels share one input matrix and
are solved in blocks: Newton's method, each step by conjugate gradients.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotrs
from threadpoolctl import threadpool_limits

from labelkin.label_matrix.cells import Cells
from labelkin.scaling.progress import track
from labelkin.solvers import load_kernels

_Array = NDArray[np.float64]
_Columns = NDArray[np.intp]

NEWTON_STEPS, GRADIENT_STEPS, HALVINGS = 100, 60, 40
ROUNDING = 1e-13  # a promised gain below this share of the objective is rounding noise
#: A step that promises more than this share of the one before takes a new Hessian.
_SLOW = 0.5
#: Dot products of the columns of two matrices, for ``einsum``.
_DOTS = "ij,ij->j"
_TINY = float(np.finfo(np.float32).tiny)


class LinearTerm(NamedTuple):
    """A part of the log-odds that is linear in some inputs: ``inputs @ weights + bias``.

    ``weights[k, j]`` is what input k adds to label j, ``(n_inputs, n_labels)``, dense or CSC;
    ``bias`` is what there is when all inputs are 0, ``(n_labels,)``. Where the inputs are labels,
    ``rest`` may be one weight more for the sum of the other labels, ``(n_labels,)``.
    """

    weights: Any
    bias: _Array
    rest: _Array | None = None

    def at(self, inputs: Any) -> _Array:
        """Return the term for some inputs, ``(n_documents, n_labels)``."""
        values = self.beyond_bias(inputs)
        values += self.bias
        return values

    def beyond_bias(self, inputs: Any) -> _Array:
        """Return what the inputs add to the bias, ``(n_documents, n_labels)``."""
        values: _Array = inputs @ self.weights
        if self.rest is not None:
            values += (inputs.sum(axis=-1, keepdims=True) - inputs) * self.rest
        return values

    def at_cells(self, cells: Cells, inputs: _Array, absent: _Array | None = None) -> _Array:
        """Return the term at candidate cells alone, ``(n_cells,)``.

        Parameters
        ----------
        cells
            The labels of each document that are looked at.
        inputs
            The inputs at the cells, ``(n_cells,)``.
        absent
            What a label counts that is not among a document's cells, ``(n_labels,)``; ``None``: 0.
        """
        values = self.bias[cells.label] if absent is None else self.at(absent)[cells.label]
        above = inputs if absent is None else inputs - absent[cells.label]
        values += _product_at(cells, above, self.weights)
        if self.rest is not None:
            others = cells.sums_by_document(above)[cells.document] - above
            values += others * self.rest[cells.label]
        return values

    def column(self, j: int) -> _Array:
        """Return what each input adds to label j, all in all, ``(n_inputs,)``."""
        column = self.weights[:, [j]]
        column = np.array(column.toarray() if sparse.issparse(column) else column).ravel()
        if self.rest is not None:
            column += self.rest[j]
            column[j] = 0.0
        return column

    def scaled(self, factor: Any) -> LinearTerm:
        """Return the term times a number, or times one for each label."""
        rest = None if self.rest is None else self.rest * factor
        if not sparse.issparse(self.weights):
            return LinearTerm(self.weights * factor, self.bias * factor, rest)
        each = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.bias.shape)
        data = self.weights.data * np.repeat(each, np.diff(self.weights.indptr))
        pattern = self.weights.indices, self.weights.indptr
        weights = sparse.csc_array((data, *pattern), shape=self.weights.shape)
        return LinearTerm(weights, self.bias * factor, rest)

    def plus(self, other: LinearTerm | None) -> LinearTerm:
        """Return the sum of two terms."""
        if other is None:
            return self
        rest = self.rest if other.rest is None else other.rest
        if self.rest is not None and other.rest is not None:
            rest = self.rest + other.rest
        return LinearTerm(self.weights + other.weights, self.bias + other.bias, rest)


#: Cells of the dense block in which candidates are products.
_DENSE_CELLS = 2**22
#: From this number of products on the compiled loops are loaded.
_MANY = 2**20


def _product_at(cells: Cells, inputs: _Array, weights: Any) -> _Array:
    """Return ``inputs @ weights`` at the cells, where inputs are 0 outside them.

    With CSC weights a compiled cell adds up what its column stores, from the lowest input to the
    highest; without numba all cells of a document are computed, with the same bits.
    """
    is_sparse = sparse.issparse(weights)
    if is_sparse and cells.n * weights.nnz >= _MANY * weights.shape[1]:
        kernels = load_kernels()
        if kernels is not None:
            stored = weights.indptr, weights.indices, weights.data
            found: _Array = kernels.product_at(cells.indptr, cells.label, inputs, *stored)
            return found
    result, factor = np.empty(cells.n), sparse.csr_array(weights) if is_sparse else weights
    step = max(1, _DENSE_CELLS // max(cells.shape[1], 1))
    for start in range(0, cells.shape[0], step):
        part, places = cells.rows(start, min(start + step, cells.shape[0]))
        rows = part.matrix(inputs[places]) if is_sparse else part.dense(inputs[places])
        result[places] = part.at(rows @ factor)
    return result


def newton(
    A: _Array,
    times: _Array,
    positives: _Array,
    penalty: float,
    start: _Array,
    tol: float,
    offset: Any = 0.0,
) -> _Array:
    """Return the weights of one logistic regression.

    One Hessian serves while each step promises far less than the one before: it costs more than
    everything else.

    Parameters
    ----------
    A, times, positives
        Inputs ``(n_rows, n_inputs)``, the number of documents of each row, and of those that have
        the label.
    penalty
        Precision of the prior of every weight, around 0.
    start
        First weights, ``(n_inputs,)``.
    tol
        A step that promises to lower the objective by no more than this share is the last.
    offset
        A given part of the log-odds, ``(n_rows,)``.
    """
    w, ridge = start, penalty * np.eye(A.shape[1])

    def evaluate(w: _Array) -> tuple[float, _Array, _Array]:
        m = A @ w + offset
        e = np.exp(-np.abs(m))
        loss = times @ (np.maximum(m, 0.0) + np.log1p(e)) - positives @ m
        return float(loss + penalty / 2 * (w @ w)), m, e

    f, m, e = evaluate(w)
    before, is_old = np.inf, True
    for _ in range(NEWTON_STEPS):
        p = np.where(m >= 0, 1.0, e) / (1 + e)
        gradient = A.T @ (times * p - positives) + penalty * w
        if is_old:
            bent = A.T * (np.sqrt(times * e) / (1 + e))
            factor, _ = dpotrf(bent @ bent.T + ridge)  # half the work: AᵀA
        direction, _ = dpotrs(factor, gradient)
        promised = gradient @ direction
        is_last = promised <= 2 * max(tol, ROUNDING) * abs(f)
        t = 1.0
        for _ in range(HALVINGS):
            moved = w - t * direction
            new, m, e = evaluate(moved)
            if new <= f - 1e-4 * t * promised + ROUNDING * abs(f):
                break
            t /= 2
        w, f = moved, new
        if is_last:
            break
        is_old, before = t < 1 or promised > _SLOW * before, promised
    return w


def fit_logistic_layer(
    inputs: _Array | sparse.csr_array,
    targets: _Array | sparse.csr_array,
    counts: _Array,
    penalty: _Array,
    *,
    unknown: sparse.csr_array | None = None,
    offset: _Array | None = None,
    own_column_zero: bool = True,
    tol: float = 1e-9,
    n_jobs: int | None = None,
) -> LinearTerm:
    """Return the weights that minimise every label's objective.

    Where the inputs are the labels, the diagonal of the weights is 0.

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
    own_column_zero
        Whether input j is ignored for label j; there are as many inputs as labels then.
    tol
        A Newton step that promises to lower the objective by no more than this share is the last.
    n_jobs
        Threads over blocks of labels. The result does not depend on it.
    """
    n_inputs, n_labels = inputs.shape[1], targets.shape[1]
    fixed = np.zeros((1, n_labels)) if offset is None else offset
    for name, matrix in (("inputs", inputs), ("offset", fixed)):
        wrong = np.count_nonzero(~np.isfinite(matrix.data if sparse.issparse(matrix) else matrix))
        if wrong:
            raise ValueError(
                f"{name} must be finite, got NaN or infinity in {wrong} cells. "
                "Clip log-odds that are infinite, fill in what is unknown."
            )

    def block(labels: _Columns) -> Block:
        known = 1.0 if unknown is None else 1 - columns_of(unknown, labels)
        own = labels if own_column_zero else labels[:0]
        y, c = columns_of(targets, labels), counts[:, None] * known
        return Block(y, c, penalty[labels], own)

    shared = Inputs.of(inputs)
    # Labels of like frequency side by side: 64, or more while a block stays in the cache.
    size = max(64, 2**17 // max(*inputs.shape, 1))
    order = np.argsort(-(targets.T @ counts), kind="stable")
    parts = [order[i : i + size] for i in range(0, n_labels, size)]
    with nullcontext() if sparse.issparse(inputs) else threadpool_limits(1, user_api="blas"):
        solved = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(solve_block)(shared, block(labels), fixed[:, labels], tol)
            for labels in track(parts, "labels by the others")
        )
    weights = np.zeros((n_inputs + 1, n_labels))
    for labels, found in zip(parts, solved, strict=True):
        weights[:, labels] = found
    return LinearTerm(weights[:-1], weights[-1])


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

    targets: _Array
    counts: _Array  # a single column when no cell is left out
    penalty: _Array
    own: _Columns  # the input each label ignores, or empty


class _Point(NamedTuple):
    """Weights, their log-odds M, exp(−|M|) and the objective."""

    W: _Array
    M: _Array
    E: _Array
    f: _Array


def solve_block(inputs: Inputs, block: Block, offset: _Array, tol: float) -> _Array:
    """Solve some labels by Newton's method; return weights, intercept last."""
    weights = np.zeros((inputs.A.shape[1], len(block.penalty)))
    labels = np.arange(len(block.penalty))
    point = _evaluate(block, weights, np.broadcast_to(offset, block.targets.shape))
    for _ in range(NEWTON_STEPS):
        gradient, S = _newton_direction(inputs, block, point)
        promised = np.einsum(_DOTS, gradient, S)
        is_open = promised > 2 * max(tol, ROUNDING) * point.f
        point = _line_search(block, point, S, inputs.A @ S, promised)
        weights[:, labels] = point.W
        if not is_open.any():
            return weights
        labels, block, point = (
            labels[is_open],
            only_columns(is_open, block),
            only_columns(is_open, point),
        )
    warnings.warn(
        f"Newton's method should settle in {NEWTON_STEPS} steps, {len(labels)} labels did not. "
        "Look for huge inputs, offsets or counts, or raise the penalty.",
        RuntimeWarning,
        stacklevel=2,
    )
    return weights


def _evaluate(block: Block, W: _Array, M: _Array) -> _Point:
    E = np.exp(-np.abs(M))
    loss = np.log1p(E)
    loss += np.maximum(M, 0)
    loss -= block.targets * M
    loss *= block.counts
    return _Point(W, M, E, loss.sum(axis=0) + block.penalty / 2 * np.einsum(_DOTS, W, W))


def _newton_direction(inputs: Inputs, block: Block, point: _Point) -> tuple[_Array, _Array]:
    """Return the gradient and, nearly, the inverse of the Hessian times it."""
    larger = 1 / (1 + point.E)
    smaller = point.E * larger
    P = np.where(point.M >= 0, larger, smaller)
    G = inputs.At @ (block.counts * (P - block.targets)) + block.penalty * point.W
    without_own(G, block.own)
    scale = np.maximum(np.abs(G).max(axis=0), _TINY)
    parts = G / scale, block.counts * (smaller * larger), block.penalty
    R, D, penalty = (part.astype(np.float32) for part in parts)
    inverse = 1 / (inputs.squares32 @ D + penalty)
    rz = np.einsum(_DOTS, R, R * inverse)
    eta = np.minimum(0.1, np.cbrt(scale**2 * rz / np.maximum(point.f, _TINY)))
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
    own: _Columns


def _conjugate_gradients(inputs: Inputs, search: _Search) -> Any:
    """Step until every label's residual is small; drop those that are done, half at a time."""
    found, labels = np.zeros_like(search.S), np.arange(len(search.rz))
    for _ in range(GRADIENT_STEPS):
        S, R, V, rz = search[:4]
        AV = inputs.A32 @ V
        AV *= search.D
        HV = inputs.At32 @ AV
        HV += search.penalty * V
        without_own(HV, search.own)
        step = rz / np.maximum(np.einsum(_DOTS, V, HV), _TINY)
        S += step * V
        R -= step * HV
        Z = R * search.inverse
        search = search._replace(rz=np.einsum(_DOTS, R, Z))
        V *= search.rz / np.maximum(rz, _TINY)
        V += Z
        is_open = search.rz > search.enough
        if np.count_nonzero(is_open) > len(labels) / 2:
            continue
        found[:, labels] = search.S
        labels, search = labels[is_open], only_columns(is_open, search)
        if not len(labels):
            break
    found[:, labels] = search.S
    return found


def _line_search(block: Block, point: _Point, S: _Array, AS: _Array, promised: _Array) -> _Point:
    """Go along −S; halve a label's step until its objective falls by a share of the promise."""
    t = np.ones(len(promised))
    for _ in range(HALVINGS):
        new = _evaluate(block, point.W - t * S, point.M - t * AS)
        short = new.f > point.f - 1e-4 * t * promised
        if not short.any():
            break
        t[short] /= 2
    return new


def only_columns(keep: NDArray[np.bool_], record: Any) -> Any:
    """Drop the labels that are done from every array that has a column for each."""
    if keep.all():
        return record
    return record._make(
        np.compress(keep, x, axis=-1) if x.shape[-1] == len(keep) else x for x in record
    )


def without_own(X: Any, own: _Columns) -> Any:
    """Set every label's own row to 0, in place."""
    X[own, np.arange(len(own))] = 0
    return X


def columns_of(matrix: Any, labels: _Columns) -> _Array:
    """Return some labels' columns as a dense array of their own."""
    part = matrix[:, labels]
    return np.array(part.toarray() if sparse.issparse(part) else part, dtype=np.float64, order="C")
