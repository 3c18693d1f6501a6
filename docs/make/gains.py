"""Gains: how much of the remaining loss a system removes, and how often it is better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from docs.make.cells import BeyondCell, is_gain

from labelkin.report.scores import METRICS


def gain(metric: str, before: float, after: float) -> float:
    """Return by how many per cent of the remaining loss a score is better.

    The remaining loss of an F1 is 1 − F1. 0 for equal scores, minus infinity for a loss where none
    remained.

    Examples
    --------
    >>> round(gain("micro_f1", 0.8, 0.9), 9), round(gain("one_error", 0.2, 0.3), 9)
    (50.0, -50.0)
    """
    left, now = (1 - before, 1 - after) if is_gain(metric) else (before, after)
    if abs(left - now) <= 1e-12:
        return 0.0
    return 100 * (left - now) / left if left else -np.inf


class Verdict(NamedTuple):
    """How often something is better, equal and worse, and its gains in per cent."""

    better: int
    equal: int
    worse: int
    mean: float
    worst: float

    def __str__(self) -> str:
        """``"44 / 1 / 0"``."""
        return f"{self.better} / {self.equal} / {self.worse}"


def count_gains(gains: Iterable[float]) -> Verdict:
    """Count gains; the mean leaves out those that are not finite.

    Examples
    --------
    >>> print(count_gains([5.0, 0.0, -1.0]))
    1 / 1 / 1
    """
    values = np.array(list(gains))
    finite = values[np.isfinite(values)]
    return Verdict(
        better=int((values > 0).sum()),
        equal=int((values == 0).sum()),
        worse=int((values < 0).sum()),
        mean=float(finite.mean()) if len(finite) else np.nan,
        worst=float(values.min(initial=np.inf)),
    )


def gains_over(
    cells: Sequence[BeyondCell], after: str, before: str = "", metrics: Sequence[str] = METRICS
) -> list[float]:
    """Return the gains of one system over another, cell by cell and metric by metric.

    Systems are named by their additions; cells that lack one of the two are left out.
    """
    return [
        gain(metric, cell.systems[before][metric], cell.systems[after][metric])
        for cell in cells
        if before in cell.systems and after in cell.systems
        for metric in metrics
    ]
