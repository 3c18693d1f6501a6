"""Logistic regression of a few inputs, for many labels at once.

Cells are documents × labels, grouped by label. The weights of a label are drawn towards given ones
by a Gaussian prior, so that a label with three documents has nearly the given weights, and one with
three thousand its own. The labels iterate together, by Newton steps that are halved where the loss
rises.

Platt's sigmoid is the case of one input, the decision value, with smoothed targets and a flat
prior: Lin, Lin & Weng (2007), "A note on Platt's probabilistic outputs for support vector
machines".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_weight

_Floats = NDArray[np.float64]

_MOST_STEPS, _MOST_HALVINGS = 100, 30
_ROUNDING = 1e-12  # share by which a sum over cells may be wrong
_DAMPING = 1e-12  # on the diagonal of the Hessian, so that it can always be inverted
_BLOCK_CELLS = 2**16  # documents × labels that iterate together: their arrays stay in the cache


@dataclass(frozen=True, eq=False)
class GroupedCells:
    """Cells to learn from, grouped by label.

    Attributes
    ----------
    start : array of shape (n_labels + 1,)
        The cells of label j are ``start[j]:start[j + 1]``.
    inputs : array of shape (n_inputs, n_cells)
    offset : array of shape (n_cells,)
        What is added to the log-odds with weight 1.
    target : array of shape (n_cells,)
        1 or 0; between them, where a cell stands for several.
    weight : array of shape (n_cells,)
        How many times a cell counts.
    """

    start: NDArray[np.intp]
    inputs: _Floats
    offset: _Floats
    target: _Floats
    weight: _Floats

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of cells of every label."""
        return np.diff(self.start)

    def labels(self, some: NDArray[np.bool_]) -> GroupedCells:
        """Return the cells of some labels."""
        kept = np.repeat(some, self.sizes)
        start = np.concatenate([[0], np.cumsum(self.sizes[some])])
        return GroupedCells(
            start, self.inputs[:, kept], self.offset[kept], self.target[kept], self.weight[kept]
        )

    def sums(self, values: _Floats) -> _Floats:
        """Add up values, ``(n_cells,)``, over each label's cells."""
        result = np.zeros(len(self.start) - 1)
        some = self.sizes > 0
        if some.any():
            result[some] = np.add.reduceat(values, self.start[:-1][some])
        return result


class Prior(NamedTuple):
    """A Gaussian prior of weights and bias: its centre and precision, ``(n_inputs + 1,)`` each."""

    centre: _Floats
    precision: _Floats


def fit_logistic(
    cells: GroupedCells,
    prior: Prior,
    begin: _Floats | None = None,
    step_tol: float = 1e-4,
    is_done: Callable[[NDArray[np.intp], _Floats], NDArray[np.bool_]] | None = None,
) -> _Floats:
    """Return weights and, last, bias of every label, ``(n_labels, n_inputs + 1)``.

    Minimises Σ weight · logloss(target, offset + inputs · w + b) + ½ Σ precision (w − centre)².

    Parameters
    ----------
    cells
        The cells to learn from.
    prior
        The same for all labels.
    begin
        First weights, ``(n_labels, n_inputs + 1)``; ``None``: the centre of the prior.
    step_tol
        Largest change of a weight in the last step. That step is taken, and what is left after a
        Newton step is about the square of it.
    is_done
        Labels and their gradients, ``(n, n_inputs + 1)`` → which of them take no further step.

    Examples
    --------
    >>> inputs = np.array([[-1.0, 1.0, -1.0, 1.0]])
    >>> target = np.array([0.0, 1.0, 0.0, 1.0])
    >>> cells = GroupedCells(np.array([0, 4]), inputs, np.zeros(4), target, np.ones(4))
    >>> flat = Prior(np.zeros(2), np.full(2, 0.1))
    >>> fit_logistic(cells, flat).round(2).tolist()
    [[2.65, 0.0]]
    """
    result = np.tile(prior.centre, (len(cells.start) - 1, 1)) if begin is None else begin.copy()
    running = np.flatnonzero(cells.sizes)
    cells = cells if len(running) == len(result) else cells.labels(cells.sizes > 0)
    theta = result[running]
    loss, probability = _evaluate(cells, prior, theta)
    for _ in range(_MOST_STEPS):
        if not len(running):
            break
        gradient, hessian = _derivatives(cells, prior, theta, probability)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        if is_done is not None:
            step[is_done(running, gradient)] = 0.0
        further, probability = _evaluate(cells, prior, theta - step)
        for _ in range(_MOST_HALVINGS):
            worse = further > loss + _ROUNDING * np.abs(loss)
            if not worse.any():
                break
            step[worse] /= 2
            further, probability = _evaluate(cells, prior, theta - step)
        step[further > loss + _ROUNDING * np.abs(loss)] = 0.0  # no length makes the loss fall
        theta, loss = theta - step, np.minimum(loss, further)
        result[running] = theta
        # The result of a label does not depend on the labels that iterate with it.
        moving = np.abs(step).max(axis=1) > step_tol
        if not moving.all():
            visited = np.repeat(moving, cells.sizes)
            cells, probability = cells.labels(moving), probability[visited]
            running, theta, loss = running[moving], theta[moving], loss[moving]
    return result


def _evaluate(cells: GroupedCells, prior: Prior, theta: _Floats) -> tuple[_Floats, _Floats]:
    """Return the loss of every label, and the probability of every cell."""
    sizes = cells.sizes
    log_odds = cells.offset + np.repeat(theta[:, -1], sizes)
    for values, weights in zip(cells.inputs, theta.T[:-1], strict=True):
        log_odds += values * np.repeat(weights, sizes)
    small = np.exp(-np.abs(log_odds))
    is_likely = log_odds >= 0
    probability = np.where(is_likely, 1.0, small) / (1.0 + small)
    losses = np.log(1.0 + small) + log_odds * (is_likely - cells.target)
    far = 0.5 * ((theta - prior.centre) ** 2 * prior.precision).sum(axis=1)
    return cells.sums(cells.weight * losses) + far, probability


def _derivatives(
    cells: GroupedCells, prior: Prior, theta: _Floats, probability: _Floats
) -> tuple[_Floats, _Floats]:
    """Return gradient and Hessian of every label's loss; the Hessian has an inverse."""
    residual = cells.weight * (probability - cells.target)
    curvature = cells.weight * probability * (1.0 - probability)
    gradient = prior.precision * (theta - prior.centre)
    hessian = np.tile(np.diag(prior.precision), (len(theta), 1, 1))
    last = len(cells.inputs)
    gradient[:, last] += cells.sums(residual)
    hessian[:, last, last] += cells.sums(curvature)
    for i, values in enumerate(cells.inputs):
        gradient[:, i] += cells.sums(residual * values)
        bent = curvature * values
        bias = cells.sums(bent)
        hessian[:, i, last] += bias
        hessian[:, last, i] += bias
        for k in range(i + 1):
            product = cells.sums(bent * cells.inputs[k])
            hessian[:, i, k] += product
            if k < i:
                hessian[:, k, i] += product
    return gradient, hessian + _DAMPING * np.eye(last + 1)


class Sigmoid(NamedTuple):
    """Log-odds ``slope * decision value + intercept``: −A and −B in Platt's notation.

    Attributes
    ----------
    slope, intercept
        Of every label, ``(n_labels,)``; the slope is positive where high decision values are
        evidence for the label.
    """

    slope: _Floats
    intercept: _Floats

    def log_odds(self, decision_values: _Floats) -> _Floats:
        """Return the log-odds of decision values, ``(n_documents, n_labels)``."""
        return self.slope * decision_values + self.intercept


def fit_sigmoid(
    decision_values: ArrayLike,
    targets: LabelMatrix | ArrayLike,
    weight: ArrayLike | None = None,
    *,
    smooth: bool = True,
    prior: Prior | None = None,
    tol: float = 1e-5,
) -> Sigmoid:
    """Fit one sigmoid per label to decision values of documents the classifier has not seen.

    Parameters
    ----------
    decision_values
        ``(n_documents, n_labels)``, finite where the target is known.
    targets
        A label matrix, or an array of 0, 1 and NaN of the same shape; unknown cells are left out.
    weight
        How often each document counts, ``(n_documents,)``; default once.
    smooth
        Whether the targets are Platt's (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), where N₊ and N₋ count the
        label's documents with and without it. Otherwise they are 1 and 0: the tolerance and the
        prior alone bound the slope of a label whose two sides do not overlap.
    prior
        Of slope and intercept; default flat.
    tol
        Gradient at which a label has finished.

    Returns
    -------
    Sigmoid
        With smoothed targets a label whose known targets are all the same has slope 0, and one
        without known targets also has intercept 0.

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
    line = np.zeros((n_labels, 2))
    n_columns = max(1, _BLOCK_CELLS // max(1, n_documents))
    for start in range(0, n_labels, n_columns):
        block = slice(start, start + n_columns)
        f = values[:, block].T
        count = counts if unknown is None else counts * (1 - unknown[:, block].T.toarray())
        truth = positive[:, block].T.toarray() > 0
        line[block] = _fit_lines(f, truth, np.broadcast_to(count, f.shape), smooth, prior, tol)
    return Sigmoid(*line.T)


def _fit_lines(
    f: _Floats,
    positive: NDArray[np.bool_],
    weight: _Floats,
    smooth: bool,
    prior: Prior | None,
    tol: float,
) -> _Floats:
    """Return slope and intercept of some labels, one per row of ``f``."""
    n_positive, n_negative = (weight * positive).sum(axis=1), (weight * ~positive).sum(axis=1)
    high = (n_positive + 1) / (n_positive + 2) if smooth else np.ones(len(f))
    low = 1 / (n_negative + 2) if smooth else np.zeros(len(f))
    f = np.where(weight > 0, f, 0.0)
    prior = Prior(np.zeros(2), np.zeros(2)) if prior is None else prior
    begin = np.tile(prior.centre, (len(f), 1))
    centre = np.zeros(len(f))
    if prior.precision[1] == 0:
        begin[:, 1] = np.log((n_positive + 1) / (n_negative + 1))
        # Around their mean, decision values that hardly differ keep their digits in the Hessian.
        total = n_positive + n_negative
        centre = np.divide((weight * f).sum(axis=1), total, out=centre, where=total > 0)
    cells = GroupedCells(
        np.arange(len(f) + 1) * f.shape[1],
        (f - centre[:, None]).reshape(1, -1),
        np.zeros(f.size),
        np.where(positive, high[:, None], low[:, None]).ravel(),
        weight.ravel(),
    )

    def is_done(labels: NDArray[np.intp], gradient: _Floats) -> NDArray[np.bool_]:
        by_slope = gradient[:, 0] + centre[labels] * gradient[:, 1]  # of values with their mean
        return np.maximum(np.abs(by_slope), np.abs(gradient[:, 1])) < tol

    line = fit_logistic(cells, prior, begin, step_tol=0.0, is_done=is_done)
    line[:, 1] -= line[:, 0] * centre
    return line
