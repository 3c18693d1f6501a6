"""What scores are: probabilities or log-odds."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from labelkin.odds import probability_of

Scale = Literal["probability", "log_odds"]


def check_scale(scale: str) -> None:
    """Refuse what is not the name of a scale."""
    if scale not in get_args(Scale):
        raise ValueError(f"scale must be one of {get_args(Scale)}, got {scale!r}.")


def as_probabilities(scores: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    """Return scores as probabilities; ±inf, a label that is known, is 1 or 0 on either scale."""
    if scale == "log_odds":
        return probability_of(scores)
    check_probabilities(scores)
    return np.clip(scores, 0.0, 1.0)


def check_probabilities(scores: NDArray[np.float64]) -> None:
    """Refuse finite scores outside [0, 1]."""
    wrong = ((scores < 0) | (scores > 1)) & np.isfinite(scores)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(
            f"scores must be probabilities in [0, 1], got {float(scores[i, j])!r} at document {i}, "
            f'label {j} ({int(wrong.sum())} such cells). Log-odds need scale="log_odds".'
        )
