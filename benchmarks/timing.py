"""CPU time in turns: peer, ours, peer, ours, … in one process and one run.

A shared machine is now faster, now slower, so seconds of different runs say little. Turns that
follow one another meet the same machine, and their ratio says more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

Name = TypeVar("Name")
Clock = Callable[[], float]
#: Does its work once and returns the CPU seconds it took.
Turn = Callable[[], float]


@dataclass(frozen=True)
class Ratio:
    """The median over rounds of labelkin ÷ peer, and the extremes."""

    middle: float
    low: float
    high: float


def timed(
    task: Callable[[], object], *, at_least: float = 0.2, clock: Clock = time.process_time
) -> Turn:
    """Return a turn that runs ``task`` until ``at_least`` seconds are gone: the mean of its runs.

    The clock counts user and system time of all threads of this process.
    """

    def turn() -> float:
        start, runs, spent = clock(), 0, 0.0
        while spent < at_least or not runs:
            task()
            runs += 1
            spent = clock() - start
        return spent / runs

    return turn


def alternate(turns: Mapping[Name, Turn], rounds: int) -> dict[Name, list[float]]:
    """Run every turn ``rounds`` times, in turn; return the seconds of each."""
    seconds: dict[Name, list[float]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            seconds[name].append(turn())
    return seconds


def user_seconds() -> float:
    """Return the CPU time of this process without the system's part, in steps of about 0.01 s."""
    return os.times().user


def ratio(ours: list[float], peer: list[float]) -> Ratio:
    """Divide round by round; what slows one turn down slows its neighbour down as well."""
    each = [a / b for a, b in zip(ours, peer, strict=True)]
    return Ratio(median(each), min(each), max(each))
