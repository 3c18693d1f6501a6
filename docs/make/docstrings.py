"""Validate the docstrings of public names with numpydoc.

``python -m docs.make.docstrings`` prints each deviation and ends with status 1 if there is one.
Public are the names in ``__all__`` of the packages below, with their methods and properties.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module

from numpydoc.validate import validate

PACKAGES = (
    *("", "content", "corpora", "curation", "evaluation.metrics", "evaluation.significance"),
    *("evaluation.splits", "explain", "prediction", "research.related", "text", "thresholds"),
    "vocabulary",
)
#: Rules of numpydoc that are not used, with the reason.
LEFT_OUT = {
    "ES01": "an extended summary is optional",
    "EX01": "examples are on classes and functions, not on every method",
    "GL01": "summaries start on the first line, as in this project's ruff rules",
    "PR08": "descriptions of parameters may start in lower case",
    "PR09": "descriptions of parameters may end without a period",
    "RT04": "descriptions of results may start in lower case",
    "RT05": "descriptions of results may end without a period",
    "SA01": "See Also is optional",
}


def public_names() -> Iterator[str]:
    """Yield the full names of public classes and functions, and of their methods."""
    seen = set()
    for package in PACKAGES:
        module = import_module(f"labelkin.{package}".rstrip("."))
        for name in module.__all__:
            thing = getattr(module, name)
            if not callable(thing) or thing in seen:
                continue
            seen.add(thing)
            yield f"{module.__name__}.{name}"
            if inspect.isclass(thing):
                yield from (f"{module.__name__}.{name}.{method}" for method in _methods(thing))


def _methods(kind: type) -> list[str]:
    """Return the public methods and properties that a class of the package defines."""
    members = [(name, getattr(value, "fget", value)) for name, value in inspect.getmembers(kind)]
    return [
        name
        for name, value in members
        if not name.startswith("_")
        and inspect.isfunction(value)
        and value.__module__.startswith("labelkin")
    ]


def deviations() -> list[str]:
    """Return one line for each deviation from numpydoc's rules."""
    return [
        f"{name}: {code} {message}"
        for name in public_names()
        for code, message in validate(name)["errors"]
        if code not in LEFT_OUT
    ]


if __name__ == "__main__":
    found = deviations()
    print("\n".join(found))
    sys.exit(bool(found))
