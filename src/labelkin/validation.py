"""Checks of values that users pass: rule, value received and hint in every message."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise an error for a value outside the choices, a ``Literal`` or texts.

    Examples
    --------
    >>> check_choice("scale", "logit", ["probability", "log_odds"])
    Traceback (most recent call last):
    ValueError: scale must be one of 'probability', 'log_odds', got 'logit'.
    """
    texts = get_args(choices) or tuple(choices)
    if not isinstance(value, str) or value not in texts:
        hint = f" {did_you_mean(value, texts)}".rstrip()
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, texts))}, got {value!r}.{hint}"
        )


def did_you_mean(value: Any, choices: Sequence[Any]) -> str:
    """Return a hint with the choice most similar to a misspelt value, or an empty text.

    Examples
    --------
    >>> did_you_mean("whaet", ["gold", "wheat"])
    "Did you mean 'wheat'?"
    """
    found = get_close_matches(str(value), [str(choice) for choice in choices], 1)
    return f"Did you mean {found[0]!r}?" if found else ""


def check_whole_number(name: str, value: Any, least: int = 1, hint: str = "") -> None:
    """Raise for a value that is not a whole number, or too small.

    Examples
    --------
    >>> check_whole_number("n_chains", 0)
    Traceback (most recent call last):
    ValueError: n_chains must be a whole number of at least 1, got 0.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        rule = f"{name} must be a whole number of at least {least}, got {value!r}."
        raise ValueError(f"{rule} {hint}".rstrip())


def abbreviate(items: Sequence[Any], most: int = 8) -> str:
    """Return the first few items for a message, and how many there are in all."""
    shown = ", ".join(repr(str(item)) for item in items[:most])
    return shown if len(items) <= most else f"{shown} … ({len(items)} in all)"


def check_cells(rule: str, values: NDArray[Any], cells: Any, hint: str = "") -> None:
    """Raise if there are wrong cells, with the first value, its place, and the number of cells.

    Examples
    --------
    >>> check_cells("Y must be 0 or 1", np.array([np.nan]), ([3], [0]), "Leave it out.")
    Traceback (most recent call last):
    ValueError: Y must be 0 or 1, got NaN at document 3, label 0 (1 such cells). Leave it out.
    """
    if len(values):
        value = "NaN" if np.isnan(values[0]) else repr(float(values[0])).removesuffix(".0")
        where = f"document {cells[0][0]}, label {cells[1][0]} ({len(values)} such cells)"
        raise ValueError(f"{rule}, got {value} at {where}. {hint}".rstrip())


def check_distinct(names: Sequence[Any], what: str) -> None:
    """Raise for names that occur twice; ``what`` describes them."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{what} must be distinct labels, got {abbreviate(repeated)} twice.")


def check_no_nul(names: Sequence[Any] | NDArray[Any]) -> None:
    """Raise for a text that ends in NUL, which NumPy removes from arrays of texts."""
    for name in names:
        if isinstance(name, str) and name.endswith("\0"):
            raise ValueError(
                f"Labels must not end in a NUL character, got {name!r}. NumPy removes it, so that "
                "two labels may become one. Use name.rstrip(chr(0))."
            )


def unmasked(values: Any) -> Any:
    """Return values unchanged, except for a masked array: its numbers, NaN where masked.

    Examples
    --------
    >>> unmasked(np.ma.array([1, 0], mask=[False, True]))
    array([ 1., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"A masked array must hold numbers, got dtype {values.dtype}. Leave out the documents "
            "whose value is masked."
        )
    return np.ma.filled(values.astype(np.float64), np.nan)


def validate_sparse(X: Any, what: str = "X") -> Any:
    """Return documents, after an error for sparse matrices with positions outside their shape.

    SciPy and scikit-learn do not check positions, and compiled loops would read memory elsewhere.
    Formats other than CSR and CSC are converted to COO. Masked values are also an error, because
    scikit-learn uses the numbers under the mask.
    """
    if np.ma.is_masked(X):
        raise ValueError(
            f"{what} must not have masked values, got {np.ma.getmaskarray(X).sum()} of {X.size}. "
            "Fill or impute them first: X.filled(0), or X.astype(float).filled(numpy.nan) and "
            "sklearn.impute.SimpleImputer."
        )
    if not sparse.issparse(X) or X.ndim != 2:
        return X
    try:
        if X.format in ("csr", "csc"):
            n_stored = max(0, int(X.indptr[-1]))  # SciPy allows more memory than is in use
            shape = X.shape if X.format == "csr" else X.shape[::-1]
            check_compressed(shape, X.data[:n_stored], X.indices[:n_stored], X.indptr)
        else:
            X = X.tocoo()
            _check_places(X.row, X.shape[0], X.data)
            _check_places(X.col, X.shape[1], X.data)
    except (ValueError, IndexError, ZeroDivisionError) as error:
        raise ValueError(
            f"{what} must be a sparse matrix whose parts fit each other, got one of shape "
            f"{X.shape} where {error}. Build it again from its values and their positions."
        ) from None
    return X


def check_compressed(
    shape: tuple[int, ...], data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]
) -> None:
    """Raise for parts that do not form a CSR matrix of this shape."""
    if len(shape) != 2:
        raise ValueError(f"a sparse matrix has the shape {shape}")
    if any(part.ndim != 1 for part in (data, indices, indptr)):
        raise ValueError("the parts of a sparse matrix must be vectors")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise ValueError("the positions in a sparse matrix must be integers of 32 or 64 bits")
    if data.dtype.kind not in "biufc":
        raise ValueError(f"a sparse matrix holds values of dtype {data.dtype}")
    # Compared, not subtracted: a difference may overflow.
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the ends of the rows of a sparse matrix do not increase")
    if indptr[-1] != len(indices):
        raise ValueError("a sparse matrix has different numbers of positions and values")
    _check_places(indices, shape[1], data)


def _check_places(places: NDArray[Any], n: int, data: NDArray[Any]) -> None:
    if len(places) != len(data):
        raise ValueError("a sparse matrix has different numbers of positions and values")
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise ValueError("the positions in a sparse matrix must be integers")
    if len(places) and not 0 <= places.min() <= places.max() < n:
        raise ValueError(f"a sparse matrix has positions outside its shape, 0 to {n - 1}")


def check_memory(n_bytes: float, what: str, hint: str) -> None:
    """Raise before work that needs more memory than the machine has.

    Parameters
    ----------
    n_bytes
        Estimated size.
    what
        The work and its size, for the message.
    hint
        What to do instead.

    Raises
    ------
    MemoryError
        With the estimate, the memory of the machine, and the hint.

    Examples
    --------
    >>> check_memory(1e3, "weights of 10 × 10 labels", "Use fewer labels.")
    """
    available = memory_of_machine()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} will take about {n_bytes / 1e9:,.1f} GB of memory, and this machine has "
            f"{available / 1e9:,.1f} GB. {hint}"
        )


def memory_of_machine() -> int | None:
    """Return the bytes of memory of this machine; ``None`` if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None
