"""What comes to bound rules, documents × labels: read into new arrays, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def read_known(values: Any, n_labels: int) -> NDArray[np.float64]:
    """Return statements: 1 accepted, 0 refused, NaN open."""
    known = _matrix(values, n_labels, "known")
    wrong = np.argwhere(~((known == 0) | (known == 1) | np.isnan(known)))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"known must hold 1 (accepted), 0 (refused) or NaN (open), got {known[i, j]:g} at "
            f"document {i}, label {j} ({len(wrong)} such cells)."
        )
    return known


def read_log_odds(values: Any, n_labels: int) -> NDArray[np.float64]:
    """Return log-odds; ±inf is legal, NaN is not."""
    log_odds = _matrix(values, n_labels, "log_odds")
    if np.isnan(log_odds).any():
        wrong = np.argwhere(np.isnan(log_odds))
        raise ValueError(
            f"log_odds must be numbers, got NaN at document {wrong[0][0]}, label {wrong[0][1]} "
            f"({len(wrong)} such cells). Give the label's prior where nothing is known."
        )
    return log_odds


def read_decided(values: Any, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return decisions as booleans of the shape of the log-odds."""
    decided = _matrix(values, shape[1], "decided")
    if decided.shape != shape:
        raise ValueError(
            f"decided must have the shape of log_odds, {shape}, got {decided.shape}. Hand over the "
            "decisions of the same documents."
        )
    wrong = np.argwhere(~((decided == 0) | (decided == 1)))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"decided must hold True and False (1 and 0), got {decided[i, j]:g} at document {i}, "
            f"label {j} ({len(wrong)} such cells). Turn scores into decisions by a threshold first."
        )
    return decided == 1


def _matrix(values: Any, n_labels: int, what: str) -> NDArray[np.float64]:
    if sparse.issparse(values):
        raise TypeError(f"{what} must be a dense array, got a sparse one; use .toarray().")
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n_labels:
        raise ValueError(
            f"{what} must be documents × labels, (n, {n_labels}), got shape {matrix.shape}. The "
            "columns are those of the names the rules are bound to."
        )
    return matrix
