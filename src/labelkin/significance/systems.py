"""How truth and two systems enter a comparison, and the sign that comes out of it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_labels

Sign = Literal["≪", "<", "~", ">", "≫"]


def read_decisions(decisions: Any, truth: LabelMatrix) -> sparse.csr_array:
    """Return 0/1 decisions in the columns of ``truth``; where truth is unknown they are 0."""
    if (isinstance(decisions, np.ndarray) or sparse.issparse(decisions)) and decisions.ndim == 2:
        check_shape(decisions.shape, truth)
    matrix = read_labels(decisions, names=truth.classes)
    check_shape(matrix.shape, truth)
    if matrix.unknown is not None:
        raise ValueError(
            f"Decisions must be 0 or 1, got {matrix.unknown.nnz} NaN. Only cells of Y may be "
            "unknown: decide these."
        )
    if truth.unknown is None:
        return matrix.positive
    return sparse.csr_array(matrix.positive - matrix.positive.multiply(truth.unknown))


def read_log_odds(log_odds: Any, truth: LabelMatrix) -> NDArray[np.float64]:
    """Return dense log-odds of the shape of ``truth``; NaN is refused."""
    values = np.asarray(log_odds, dtype=np.float64)
    check_shape(values.shape, truth)
    if np.isnan(values).any():
        raise ValueError(
            f"Log-odds must be numbers or ±inf, got {np.isnan(values).sum()} NaN. Score every cell."
        )
    return values


def check_shape(shape: tuple[int, ...], truth: LabelMatrix) -> None:
    """Refuse a system whose shape is not that of the truth."""
    if tuple(shape) != tuple(truth.shape):
        raise ValueError(
            f"A system must have the shape of Y, {truth.shape}, got {tuple(shape)}. "
            "Give both systems for the same documents and labels."
        )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Refuse anything but two different names."""
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise ValueError(
            f"names must be two different names, baseline first, got {names!r}. "
            'Write names=("SVM", "SVM + labels").'
        )
    return names[0], names[1]


def sign_of(p_value: float, lead: float) -> Sign:
    """Return the paper's sign; ``lead`` > 0: the proposal is better, 0: neither is."""
    if lead == 0 or p_value >= 0.05:
        return "~"
    if p_value < 0.01:
        return "≪" if lead > 0 else "≫"
    return "<" if lead > 0 else ">"
