"""Short representations of result records, for consoles and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

Record = TypeVar("Record")
#: Values of a sequence or mapping on one line, characters of a text, and rows of a table.
_VALUES, _CHARACTERS = 3, 60
MOST_ROWS = 10


def short_repr(cls: type[Record]) -> type[Record]:
    """Give a record a representation on one line, with 3 digits and abbreviated values.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @short_repr
    ... @dataclass
    ... class Result:
    ...     name: str
    ...     scores: list
    >>> Result("svm", [1 / 3, 0.5, 1.0, 0.25])
    Result(name='svm', scores=[0.333, 0.5, 1.0, … 1 more])
    """
    setattr(cls, "__repr__", _short_repr)  # noqa: B010
    return cls


def _short_repr(record: Any) -> str:
    if is_dataclass(record):
        names = [field.name for field in fields(record) if field.repr]
    else:
        names = list(record._fields)
    values = ", ".join(f"{name}={short(getattr(record, name))}" for name in names)
    return f"{type(record).__name__}({values})"


def short(value: Any) -> str:
    """Return a value as text: numbers with 3 digits, the first few values of a sequence."""
    if isinstance(value, float | np.floating):
        return repr(float(f"{value:.3g}") if -1000 < value < 1000 else round(float(value), 1))
    if sparse.issparse(value) or (isinstance(value, np.ndarray) and value.size > _VALUES):
        return f"{type(value).__name__} of shape {value.shape}"
    if isinstance(value, str):
        return repr(value if len(value) <= _CHARACTERS else value[: _CHARACTERS - 1] + "…")
    if isinstance(value, Mapping):
        parts = [f"{key!r}: {short(one)}" for key, one in value.items()]
        return "{" + ", ".join(shortened(parts, MOST_ROWS)) + "}"
    if isinstance(value, list | tuple | np.ndarray) and not hasattr(value, "_fields"):
        inside = ", ".join(shortened([short(one) for one in value], _VALUES))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value)


def shortened(items: Sequence[str], most: int) -> list[str]:
    """Return the first items and how many more there are.

    Examples
    --------
    >>> shortened(["tea", "milk", "sugar"], 1)
    ['tea', '… 2 more']
    """
    return [*items[:most], *([f"… {len(items) - most} more"] if len(items) > most else [])]
