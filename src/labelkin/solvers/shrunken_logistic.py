"""Logistic regression of a few inputs, for many labels at once: weights of all, then of each.

Cells are documents × labels, grouped by label. Weights that all labels share are fitted first; the
weights of a label are drawn towards them by a Gaussian prior, so that a label with three documents
has those of all, and one with three thousand its own. Newton steps, halved where they go too far;
the labels iterate together, and each stays where it is once it has finished.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

_MOST_STEPS = 50
_MOST_HALVINGS = 20
#: Largest change of a weight in the last step.
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class GroupedCells:
    """Cells to learn from, grouped by label.

    Attributes
    ----------
    start : array of shape (n_labels + 1,)
        The cells of label j are ``start[j]:start[j + 1]``.
    inputs : array of shape (n_cells, n_inputs)
    offset : array of shape (n_cells,)
        What is added to the log-odds with weight 1.
    target : array of shape (n_cells,)
        1 or 0; between them, where a cell stands for several.
    weight : array of shape (n_cells,)
        How many times a cell counts.
    """

    start: NDArray[np.intp]
    inputs: Floats
    offset: Floats
    target: Floats
    weight: Floats

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.start) - 1

    @cached_property
    def label(self) -> NDArray[np.intp]:
        """The label of every cell."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.start))

    @cached_property
    def columns(self) -> Floats:
        """The inputs and a 1, ``(n_inputs + 1, n_cells)``."""
        return np.vstack([self.inputs.T, np.ones(len(self.target))])

    def pooled(self) -> GroupedCells:
        """Return the same cells as those of one label."""
        ends = np.array([0, len(self.target)])
        return GroupedCells(ends, self.inputs, self.offset, self.target, self.weight)

    def some(
        self, kept: NDArray[np.bool_], shared: NDArray[np.bool_], share: float
    ) -> GroupedCells:
        """Return some of the cells; those that are shared count ``share`` of what they do."""
        start = np.concatenate([[0], np.cumsum(kept)])[self.start]
        weight = np.where(shared, share * self.weight, self.weight)
        return GroupedCells(
            start, self.inputs[kept], self.offset[kept], self.target[kept], weight[kept]
        )

    def sums(self, values: Floats) -> Floats:
        """Add up values over each label's cells; along the last axis."""
        result = np.zeros((*values.shape[:-1], self.n_labels))
        first = self.start[:-1]
        some = first < self.start[1:]
        if some.any():
            result[..., some] = np.add.reduceat(values, first[some], axis=-1)
        return result


class Prior(NamedTuple):
    """A Gaussian: where it is centred, and how sharp it is, ``(n_inputs + 1,)`` each."""

    centre: Floats
    precision: Floats


def fit_logistic(cells: GroupedCells, prior: Prior, begin: Floats | None = None) -> Floats:
    """Return weights and, last, bias of every label, ``(n_labels, n_inputs + 1)``.

    Minimises Σ weight · logloss(target, offset + inputs · w + b) + ½ Σ precision (w − centre)².

    Examples
    --------
    >>> inputs = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> target = np.array([0.0, 1.0, 0.0, 1.0])
    >>> cells = GroupedCells(np.array([0, 4]), inputs, np.zeros(4), target, np.ones(4))
    >>> flat = Prior(np.zeros(2), np.full(2, 0.1))
    >>> fit_logistic(cells, flat).round(2).tolist()
    [[2.65, 0.0]]
    """
    theta = np.tile(prior.centre, (cells.n_labels, 1)) if begin is None else begin.copy()
    loss = _loss(cells, prior, theta)
    running = np.diff(cells.start) > 0
    for _ in range(_MOST_STEPS):
        gradient, hessian = _derivatives(cells, prior, theta)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        step[~running] = 0.0
        # The last step, a small one, is taken, too: whoever else iterates, a label ends the same.
        running = np.abs(step).max(axis=1, initial=0.0) > _TOLERANCE
        for _ in range(_MOST_HALVINGS):
            further = _loss(cells, prior, theta - step)
            worse = further > loss + 1e-12 * np.abs(loss)
            if not worse.any():
                break
            step[worse] /= 2
        step[further > loss + 1e-12 * np.abs(loss)] = 0.0  # as good as it gets
        theta = theta - step
        loss = np.minimum(loss, further)
        if not running.any():
            break
    return theta


def _log_odds(cells: GroupedCells, theta: Floats) -> Floats:
    found = cells.offset.copy()
    for column, weights in zip(cells.columns, theta.T, strict=True):
        found += column * weights[cells.label]
    return found


def _loss(cells: GroupedCells, prior: Prior, theta: Floats) -> Floats:
    log_odds = _log_odds(cells, theta)
    losses = cells.weight * (np.logaddexp(0.0, log_odds) - cells.target * log_odds)
    far = 0.5 * ((theta - prior.centre) ** 2 * prior.precision).sum(axis=1)
    return cells.sums(losses) + far


def _derivatives(cells: GroupedCells, prior: Prior, theta: Floats) -> tuple[Floats, Floats]:
    probability = expit(_log_odds(cells, theta))
    residual = cells.weight * (probability - cells.target)
    gradient = cells.sums(residual * cells.columns).T + prior.precision * (theta - prior.centre)
    curvature = cells.weight * probability * (1 - probability)
    n_weights = len(prior.centre)
    hessian = np.empty((cells.n_labels, n_weights, n_weights))
    for i in range(n_weights):
        bent = curvature * cells.columns[i]
        for k in range(i + 1):
            hessian[:, i, k] = hessian[:, k, i] = cells.sums(bent * cells.columns[k])
    hessian += np.diag(prior.precision)
    return gradient, hessian
