"""Implications between columns: what follows along them, level by level, and their closure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Columns = NDArray[np.int64]


class Level(NamedTuple):
    """Arrows whose targets are at one height; those of one target follow each other.

    Attributes
    ----------
    sources
        Column each arrow comes from.
    starts
        Where the arrows of each target begin.
    targets
        Column of each target, once.
    """

    sources: Columns
    starts: Columns
    targets: Columns


def levels(sources: Columns, targets: Columns, n_labels: int) -> tuple[Level, ...]:
    """Sort arrows into levels such that every source is finished before it is used.

    Examples
    --------
    >>> steps = levels(np.array([0, 1]), np.array([1, 2]), 3)
    >>> [step.targets.tolist() for step in steps]
    [[1], [2]]
    """
    height = _heights(sources, targets, n_labels)[targets]
    order = np.lexsort((sources, targets, height))
    cuts = np.flatnonzero(np.diff(height[order])) + 1
    return tuple(
        _level(sources[part], targets[part]) for part in np.split(order, cuts) if len(part)
    )


def raise_along(values: NDArray[Any], arrows: Sequence[Level]) -> None:
    """Give each target the largest value of itself and its sources; in place, along axis 1."""
    for sources, starts, targets in arrows:
        highest = np.maximum.reduceat(values[:, sources], starts, axis=1)
        values[:, targets] = np.maximum(values[:, targets], highest)


def closure(narrower: Columns, broader: Columns, n_labels: int) -> sparse.csr_array:
    """Return a sparse matrix that marks each label's broader labels near and far, and itself.

    Examples
    --------
    >>> closure(np.array([0, 1]), np.array([1, 2]), 3).toarray().astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    """
    every = np.arange(n_labels)
    cells = np.concatenate([every, narrower]), np.concatenate([every, broader])
    reach = sparse.csr_array((np.ones(len(cells[0]), dtype=bool), cells), (n_labels, n_labels))
    while True:
        # Each product doubles the length of the chains that are followed.
        further = sparse.csr_array(reach @ reach)
        if further.nnz == reach.nnz:
            reach.sort_indices()
            return reach
        reach = further


def _heights(sources: Columns, targets: Columns, n_labels: int) -> Columns:
    """Length of the longest chain of arrows that ends at each label."""
    height = np.zeros(n_labels, dtype=np.int64)
    while True:
        higher = height.copy()
        np.maximum.at(higher, targets, height[sources] + 1)
        if np.array_equal(higher, height):
            return height
        height = higher


def _level(sources: Columns, targets: Columns) -> Level:
    distinct, starts = np.unique(targets, return_index=True)
    return Level(sources, starts, distinct)
