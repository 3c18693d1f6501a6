"""Conversion between probabilities and log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit, logit

#: Largest and smallest probability of a label that is not known.
ALMOST_ONE = float(np.nextafter(1.0, 0.0))
ALMOST_ZERO = float(np.finfo(np.float64).tiny)


def to_log_odds(probability: ArrayLike, *, clip: float = 0.0) -> NDArray[np.float64]:
    """Convert probabilities to log-odds.

    Use log-odds instead if a classifier returns them: probabilities near 1 are equal in float64.

    Parameters
    ----------
    probability : array of any shape
        Values in [0, 1].
    clip : float, default 0.0
        Values are clipped to [``clip``, ``1 - clip``], ``0 ≤ clip < ½``. Without clipping 0 and 1
        become ∓inf.

    Returns
    -------
    array
        Of the shape of ``probability``.

    Examples
    --------
    >>> to_log_odds([0.5, 0.9]).round(3).tolist()
    [0.0, 2.197]
    >>> to_log_odds([0.0, 1.0], clip=0.01).round(3).tolist()
    [-4.595, 4.595]
    """
    if not 0 <= clip < 0.5:
        raise ValueError(f"clip must be at least 0 and below 0.5, got {clip!r}.")
    if sparse.issparse(probability):
        raise TypeError("Probabilities must be a dense array, got a sparse one; use .toarray().")
    values = np.asarray(probability, dtype=np.float64)
    wrong = ~((values >= 0) & (values <= 1))  # also true for NaN
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"Probabilities must lie in [0, 1], got {float(values[place])!r} at {place} "
            f"({int(wrong.sum())} such values of {values.size}). "
            'Log-odds need no conversion (LabelRescorer: scale="log_odds").'
        )
    inside = np.clip(values, clip, 1 - clip) if clip else values
    return np.asarray(logit(inside), dtype=np.float64)


def to_probability(log_odds: ArrayLike) -> NDArray[np.float64]:
    """Convert log-odds to probabilities, strictly inside (0, 1); ±inf (known labels) is 1 or 0.

    Parameters
    ----------
    log_odds : array of any shape
        From −inf to inf.

    Returns
    -------
    array
        Of the same shape.

    Examples
    --------
    >>> to_probability([0.0, np.inf, -np.inf]).tolist()
    [0.5, 1.0, 0.0]
    >>> bool(to_probability(1000.0) < 1)
    True
    """
    values = np.asarray(log_odds, dtype=np.float64)
    probability = np.asarray(expit(values))
    known = np.isinf(values)
    np.clip(probability, ALMOST_ZERO, ALMOST_ONE, out=probability)
    if known.any():
        probability[known] = values[known] > 0
    return probability


def count_log_odds(positive: Any, total: Any) -> NDArray[np.float64]:
    """Return the log-odds of ``positive`` out of ``total``, always finite.

    logit(positive / total); where that is infinite, logit((positive + ½) / (total + 1)).

    Examples
    --------
    >>> count_log_odds([5, 0], [10, 10]).round(3).tolist()
    [0.0, -3.045]
    """
    positive = np.asarray(positive, dtype=np.float64)
    total = np.asarray(total, dtype=np.float64)
    smoothing = np.where(constant_labels(positive, total), 0.5, 0.0)
    return np.log(positive + smoothing) - np.log(total - positive + smoothing)


def constant_labels(positive: Any, total: Any) -> NDArray[np.bool_]:
    """Return which labels are constant: 0 or all of ``total`` documents have them.

    For such labels no classifier is fitted.

    Examples
    --------
    >>> constant_labels([5, 0, 10], [10, 10, 10]).tolist()
    [False, True, True]
    """
    return np.asarray((np.asarray(positive) <= 0) | (np.asarray(positive) >= np.asarray(total)))
