"""With what a run was made."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("labelkin", "numpy", "scipy", "scikit-learn", "joblib", "numba", "PyStemmer")


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that have a say in the numbers."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    return {**found, **dict(_package_versions())}


def _package_versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
