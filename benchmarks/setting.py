"""Where a benchmark runs: the corpus, the rounds, and what the machine and the versions are."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from benchmarks.corpus import Benchmark

PACKAGES = ("labelkin", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Setting:
    """What every subject is given."""

    corpus: Benchmark
    rounds: int

    def describe(self) -> list[str]:
        """Return a line each on corpus, clock, machine and versions."""
        return [
            f"corpus: {self.corpus.description}; the targets are meant for Reuters-21578",
            f"clock: user and system time of all threads; rounds: {self.rounds}; one thread each",
            f"machine: {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
            f"versions: Python {platform.python_version()}, "
            + ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        ]


def say(text: str) -> None:
    """Report progress, apart from the table."""
    print(text, file=sys.stderr, flush=True)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
