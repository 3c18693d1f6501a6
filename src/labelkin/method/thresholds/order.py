"""What follows from the order of scores: the best of each document, and where to cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def top_of_rows(scores: NDArray[np.float64], counts: NDArray[np.int64] | int) -> NDArray[np.bool_]:
    """Mark the ``counts`` highest scores of each row; of equal ones the lowest columns.

    Parameters
    ----------
    scores
        Any shape ``(n_rows, n_columns)``.
    counts
        How many, one number or ``(n_rows,)``; more than there are columns: all.

    Examples
    --------
    >>> top_of_rows(np.array([[0.2, 0.9, 0.2], [0.5, 0.5, 0.5]]), 2).astype(int)
    array([[1, 1, 0],
           [1, 1, 0]])
    """
    n_rows, n_columns = scores.shape
    if not scores.size:
        return np.zeros(scores.shape, dtype=np.bool_)
    wanted = np.clip(np.broadcast_to(counts, n_rows), 0, n_columns)
    place = np.minimum(n_columns - wanted, n_columns - 1)
    lowest = np.sort(scores, axis=1)[np.arange(n_rows), place][:, None]
    above, tied = scores > lowest, scores == lowest
    room = wanted - above.sum(axis=1)
    crowded = tied.sum(axis=1) > room
    tied[crowded] &= tied[crowded].cumsum(axis=1) <= room[crowded, None]
    return above | tied


def halfway(lower: ArrayLike, upper: ArrayLike) -> NDArray[np.float64]:
    """Return the middle of two finite numbers: above the lower one, at most the upper one.

    Halves are added, for the sum of huge numbers overflows; where rounding would give the lower
    number itself (neighbouring floats), the upper one is returned.

    Examples
    --------
    >>> float(halfway(0.25, 0.75)), float(halfway(1.0, np.nextafter(1.0, 2.0))) > 1
    (0.5, True)
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    middle = low / 2 + high / 2
    return np.where((middle > low) & (middle <= high), middle, high)


def cut_below(score: float, next_lower: float) -> float:
    """Return the cut that decides ``score`` and what is above it, and nothing below.

    It lies halfway to the next lower score. A score with none below it (−inf) is its own cut, and
    so is +inf.
    """
    if score == np.inf or next_lower == -np.inf:
        return score
    return float(halfway(next_lower, score))
