"""Label names: where each stands, and frames whose columns they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray


def names_to_columns(labels: Sequence[Any] | Set[Any], names: NDArray[Any]) -> NDArray[np.int64]:
    """Return the column of every label; unknown labels are listed in the error.

    Examples
    --------
    >>> names_to_columns(["tea"], np.array(["sugar", "tea"]))
    array([1])
    """
    place = {name: j for j, name in enumerate(names.tolist())}
    missing = sorted({str(label) for label in labels if label not in place})
    if missing:
        raise ValueError(
            f"Labels must be among the {len(names)} labels of the model, got {some_of(missing)}. "
            f"It knows {some_of([str(name) for name in names.tolist()])}."
        )
    return np.array([place[label] for label in labels], dtype=np.int64)


def frame_in_order(frame: Any, names: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a DataFrame with its columns in the order of the labels.

    Columns that are not named, but numbered from 0, are taken as they stand.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_in_order(pd.DataFrame({"tea": [1], "sugar": [0]}), np.array(["sugar", "tea"]))
    array([[0, 1]])
    """
    columns, values = list(frame.columns), frame_values(frame)
    place = {name: j for j, name in enumerate(columns)}
    if len(place) == len(names) and all(name in place for name in names.tolist()):
        return values[:, [place[name] for name in names.tolist()]]
    if columns == list(range(len(names))):
        return values
    names_to_columns(columns, names)
    missing = [str(name) for name in names.tolist() if name not in place]
    raise ValueError(
        f"A DataFrame must have a column for every label; it lacks {some_of(missing)}."
    )


def frame_values(frame: Any) -> NDArray[Any]:
    """Numbers of a frame; pandas' own mark for a missing value becomes NaN."""
    if type(frame).__module__.startswith("pandas") and frame.isna().to_numpy().any():
        try:
            return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError):
            pass  # not numbers: refused, with what they are, by whoever asked
    return np.asarray(frame.to_numpy())


def name_array(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Names as an array: text and integers keep their type, anything else is an object."""
    if isinstance(names, np.ndarray):
        return names
    kinds = {type(name) for name in names}
    if kinds <= {str} or kinds <= {int}:
        return np.array(names, dtype=str if kinds == {str} else None)
    array = np.empty(len(names), dtype=object)
    array[:] = list(names)
    return array


def refuse_repeated(names: NDArray[Any], what: str) -> None:
    """Refuse names that occur twice; ``what`` they are is told."""
    repeated = [str(name) for name, count in Counter(names.tolist()).items() if count > 1]
    if repeated:
        raise ValueError(f"{what} must be distinct labels, got {some_of(repeated)} twice.")


def some_of(items: Sequence[str], most: int = 8) -> str:
    """Return the first few items for a message, and how many there are in all."""
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} … ({len(items)} in all)"
