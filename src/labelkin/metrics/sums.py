"""Records of sums over documents, which add up block by block, and the ratios read from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sums:
    """A record whose every field is a sum over documents: two of them add field by field.

    Sums over no document are zero, so an empty block changes nothing; a NaN (the block holds
    unknown cells that the metric cannot skip) stays NaN in every total.
    """

    def __add__(self, other: Self) -> Self:
        """Return the sums over the documents of both."""
        totals = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)]
        return type(self)(*totals)


def ratio(numerator: ArrayLike, denominator: ArrayLike, *, nothing: float = 0.0) -> Any:
    """Return the quotient, elementwise; ``nothing`` where the denominator is 0.

    Examples
    --------
    >>> ratio([1.0, 0.0], [4.0, 0.0]).tolist()
    [0.25, 0.0]
    """
    above, below = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.full(above.shape, nothing)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient if quotient.ndim else float(quotient)


def weighted_sum(weight: Floats, values: NDArray[Any]) -> Any:
    """Return Σ weight · value over axis 0; not by BLAS, so the same with any number of threads.

    Examples
    --------
    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1, 0], [1, 5]])).tolist()
    [3.0, 10.0]
    """
    return (weight * values.T).sum(axis=-1)
