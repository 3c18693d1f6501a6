"""Conversion between probabilities and log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit, logit

#: The largest float64 below 1; a probability never leaves the library as exactly 0 or 1 …
ALMOST_ONE = float(np.nextafter(1.0, 0.0))
#: … unless the label is known.
ALMOST_ZERO = float(np.finfo(np.float64).tiny)


def to_log_odds(probability: ArrayLike, *, clip: float = 0.0) -> NDArray[np.float64]:
    """Turn probabilities from outside into log-odds: the one entrance, and the one place to clip.

    Whoever has log-odds should hand over those: probabilities tie at the top, where float64 ends.

    Parameters
    ----------
    probability : array of any shape
        Values in [0, 1], any shape; anything else is an error that names the first wrong place.
    clip : float, default 0.0
        Values closer to 0 or 1 count as ``clip`` and ``1 - clip``, ``0 ≤ clip < ½``. With 0 every
        value is kept, and 0 and 1 become ∓inf: sure, and infinitely wrong in log loss when wrong.

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
            'Log-odds are handed over as they are (LabelRescorer: scale="log_odds").'
        )
    inside = np.clip(values, clip, 1 - clip) if clip else values
    return np.asarray(logit(inside), dtype=np.float64)


def to_probability(log_odds: ArrayLike) -> NDArray[np.float64]:
    """Turn log-odds into probabilities, strictly inside (0, 1); ±inf, a known label, is 1 or 0.

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
    """Return the log-odds of ``positive`` out of ``total``, finite also for none and for all.

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
    """Return which labels nobody or everybody has: ``positive`` documents out of ``total``.

    There is nothing to tell apart then, and no classifier is fitted for such a label.

    Examples
    --------
    >>> constant_labels([5, 0, 10], [10, 10, 10]).tolist()
    [False, True, True]
    """
    return np.asarray((np.asarray(positive) <= 0) | (np.asarray(positive) >= np.asarray(total)))
