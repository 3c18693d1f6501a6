"""Logistic regression of a few inputs, for many labels at once: weights of all, then of each.

Cells are documents × labels, grouped by label. Weights that all labels share are fitted first; the
weights of a label are drawn towards them by a Gaussian prior, so that a label with three documents
has those of all, and one with three thousand its own. Newton steps, halved where they go too far;
the labels iterate together, and those that have finished are no longer visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

_MOST_STEPS = 50
_MOST_HALVINGS = 20


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
    """A Gaussian: where it is centred, and how sharp it is, ``(n_inputs + 1,)`` each."""

    centre: _Floats
    precision: _Floats


def fit_logistic(
    cells: GroupedCells, prior: Prior, begin: _Floats | None = None, tolerance: float = 1e-4
) -> _Floats:
    """Return weights and, last, bias of every label, ``(n_labels, n_inputs + 1)``.

    Minimises Σ weight · logloss(target, offset + inputs · w + b) + ½ Σ precision (w − centre)².

    Parameters
    ----------
    cells
        What is learned from.
    prior
        The same for all labels.
    begin
        Where to begin, ``(n_labels, n_inputs + 1)``; ``None``: at the centre of the prior.
    tolerance
        Largest change of a weight in the last step. That step is taken, and what is left after a
        Newton step is about the square of it.

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
        further, probability = _evaluate(cells, prior, theta - step)
        for _ in range(_MOST_HALVINGS):
            worse = further > loss + 1e-12 * np.abs(loss)
            if not worse.any():
                break
            step[worse] /= 2
            further, probability = _evaluate(cells, prior, theta - step)
        step[further > loss + 1e-12 * np.abs(loss)] = 0.0  # as good as it gets
        theta, loss = theta - step, np.minimum(loss, further)
        result[running] = theta
        # Whoever else iterates, a label ends the same.
        moving = np.abs(step).max(axis=1) > tolerance
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
    """Return gradient and Hessian of every label's loss."""
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
    return gradient, hessian
