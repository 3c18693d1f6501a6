"""What a person has said about a document's labels: accepted, refused, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import frame_in_order, names_to_columns

_STATEMENTS = {"accepted": 1.0, "refused": 0.0}


def read_known(known: Any, n_documents: int, names: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 for accepted, 0 for refused and NaN for open labels, ``(n_documents, n_labels)``.

    Parameters
    ----------
    known
        ``None`` (all open); such a matrix; a sparse matrix with +1 (accepted) and −1 (refused) and
        nothing stored where open; or one mapping ``{"accepted": […], "refused": […]}`` of label
        names per document (for one document also the bare mapping).

    Examples
    --------
    >>> read_known({"refused": ["tea"]}, 1, np.array(["sugar", "tea"]))
    array([[nan,  0.]])
    """
    shape = (n_documents, len(names))
    if known is None:
        return np.full(shape, np.nan)
    if sparse.issparse(known):
        return _read_signs(known, shape)
    if isinstance(known, Mapping):
        known = [known]
    if isinstance(known, Sequence) and all(
        isinstance(row, Mapping) or row is None for row in known
    ):
        return _read_statements(known, shape, names)
    if hasattr(known, "columns"):
        known = frame_in_order(known, names)
    return _read_matrix(known, shape)


def _read_signs(known: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    _check_shape(known.shape, shape)
    stored = sparse.coo_array(known)
    result = np.full(shape, np.nan)
    result[stored.row, stored.col] = stored.data > 0
    wrong = np.flatnonzero((stored.data != 1) & (stored.data != -1))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"A sparse known must hold +1 (accepted) and -1 (refused), got {stored.data[first]:g} "
            f"at document {stored.row[first]}, label {stored.col[first]} ({len(wrong)} such cells)."
        )
    clash = np.flatnonzero(result[stored.row, stored.col] != (stored.data > 0))
    if len(clash):
        first = clash[0]
        raise ValueError(
            f"known contradicts itself: document {stored.row[first]}, label {stored.col[first]} is "
            "both accepted and refused. State each label once."
        )
    return result


def _read_statements(
    known: Sequence[Any], shape: tuple[int, int], names: NDArray[Any]
) -> NDArray[np.float64]:
    _check_shape((len(known), shape[1]), shape)
    result = np.full(shape, np.nan)
    for i, statements in enumerate(known):
        for word, labels in (statements or {}).items():
            if word not in _STATEMENTS:
                raise ValueError(
                    f'known must say "accepted" or "refused", got {word!r} for document {i}.'
                )
            columns = names_to_columns([labels] if isinstance(labels, str) else labels, names)
            clash = columns[result[i, columns] == 1 - _STATEMENTS[word]]
            if len(clash):
                raise ValueError(
                    f"known contradicts itself: document {i} has {names[clash[0]]!s} both accepted "
                    "and refused. State each label once."
                )
            result[i, columns] = _STATEMENTS[word]
    return result


def _read_matrix(known: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    try:
        values = np.asarray(known, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"known must be a matrix of 1, 0 and NaN, or a mapping of label names per document, "
            f'{{"accepted": [...], "refused": [...]}}, got {known!r:.60}.'
        ) from None
    _check_shape(values.shape, shape)
    wrong = np.argwhere(~((values == 0) | (values == 1) | np.isnan(values)))
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"known must hold 1 (accepted), 0 (refused) or NaN (open), got {values[i, j]:g} at "
            f"document {i}, label {j} ({len(wrong)} such cells)."
        )
    return values


def _check_shape(came: tuple[int, ...], shape: tuple[int, int]) -> None:
    if came != shape:
        raise ValueError(
            f"known must have the shape of the scores, {shape} documents × labels, got {came}."
        )
