"""How numbers are written for people."""

from __future__ import annotations

import math


def score_text(value: float, decimals: int = 4) -> str:
    """Write a score with its decimals; a score that does not exist is a dash.

    Examples
    --------
    >>> score_text(0.65), score_text(float("nan"))
    ('0.6500', '–')
    """
    return "–" if math.isnan(value) else f"{value:.{decimals}f}"


def signed_text(value: float, decimals: int = 2) -> str:
    """Write a change with its sign; what rounds to 0 has none.

    Examples
    --------
    >>> signed_text(6.358), signed_text(-1.08), signed_text(-0.001), signed_text(float("nan"))
    ('+6.36', '−1.08', '0.00', '–')
    """
    if math.isnan(value):
        return "–"
    size = f"{abs(value):.{decimals}f}"
    if float(size) == 0:
        return size
    return f"+{size}" if value > 0 else f"−{size}"


def p_value_text(p_value: float) -> str:
    """Write a P value with four decimals, or that it is smaller.

    Examples
    --------
    >>> p_value_text(0.0312), p_value_text(3e-9)
    ('P = 0.0312', 'P < 0.0001')
    """
    return "P < 0.0001" if p_value < 0.0001 else f"P = {p_value:.4f}"
