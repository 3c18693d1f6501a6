"""At most one of several labels: what that makes of their log-odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LOWEST = float(np.finfo(np.float64).min)


def at_most_one(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Condition independent labels on "at most one of them", exactly.

    Of the worlds with at most one label, those with label j weigh e^z_j, the empty one 1, and the
    others e^z_k; so label j has the log-odds z_j − log(1 + Σ_{k≠j} e^z_k).

    Parameters
    ----------
    log_odds
        ``(n_documents, n_labels)``, at most one +inf per document: it makes the others −inf. No
        finite value becomes infinite beside finite ones.

    Examples
    --------
    Two labels of probability ½ leave three equally likely worlds:

    >>> bool(np.allclose(at_most_one(np.zeros((1, 2))), np.log(1 / 2)))
    True
    """
    others = _log_one_plus_others(log_odds)
    with np.errstate(over="ignore"):
        conditioned = log_odds - others
    finite = np.isfinite(log_odds) & np.isfinite(others)
    return np.where(finite, np.maximum(conditioned, _LOWEST), conditioned)


def _log_one_plus_others(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(1 + Σ_{k≠j} e^z_k): what is left of j and what is right of it, nothing subtracted."""
    n = len(log_odds)
    left = np.hstack([np.zeros((n, 1)), log_odds[:, :-1]])
    right = np.hstack([np.full((n, 1), -np.inf), log_odds[:, :0:-1]])
    below = np.logaddexp.accumulate(left, axis=1)
    above = np.logaddexp.accumulate(right, axis=1)[:, ::-1]
    return np.asarray(np.logaddexp(below, above))
