"""Scores and known labels, documents × labels, as validated numbers in the order of the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix.cells import Cells
from labelkin.label_matrix.record import frame_in_order, names_to_columns
from labelkin.validation import abbreviate, check_cells, check_choice, unmasked, validate_sparse

Scale = Literal["probability", "log_odds"]
_VALUES = {"accepted": 1.0, "rejected": 0.0}


def read_scores(
    scores: Any,
    names: NDArray[Any],
    *,
    n_documents: int | None = None,
    scale: Scale = "log_odds",
    missing: ArrayLike | None = None,
    what: str = "scores",
    hint: str = 'Log-odds need scale="log_odds".',
    dtype: type[np.float64] | None = np.float64,
) -> NDArray[Any]:
    """Return scores as a matrix of numbers with one column per label, on the same scale.

    The result may be the input array: callers that change it copy it first.

    Parameters
    ----------
    scores : array, sparse matrix or DataFrame of shape (n_documents, n_labels)
        The columns of a DataFrame are ordered by name. Scores of a single label may have the shape
        ``(n_documents,)``.
    names : array of shape (n_labels,)
        The labels, in the order of the result.
    n_documents : int, optional
        Expected number of documents; default any.
    scale : "log_odds" or "probability", default "log_odds"
        Log-odds are any numbers, ±inf included. Probabilities are in [0, 1] and may be sparse, with
        0 for cells that are not stored.
    missing : float or array of shape (n_labels,), optional
        Value instead of NaN, such as the prior of each label; default: NaN is an error.
    what : str, default "scores"
        Name of the parameter, for messages.
    hint : str
        Hint for values that are not probabilities.
    dtype : numpy.float64 or None, default numpy.float64
        Type of the result; ``None``: that of the input.

    Returns
    -------
    array of shape (n_documents, n_labels)

    Raises
    ------
    ValueError, TypeError
        With the rule, the first wrong cell, the number of wrong cells, and a hint.

    Examples
    --------
    >>> import pandas as pd
    >>> read_scores(pd.DataFrame({"tea": [2.0], "sugar": [-1.0]}), np.array(["sugar", "tea"]))
    array([[-1.,  2.]])
    >>> read_scores([[0.2, np.nan]], np.array(["sugar", "tea"]), scale="probability", missing=0.5)
    array([[0.2, 0.5]])
    """
    if sparse.issparse(scores):
        if scale == "log_odds":
            raise TypeError(
                f"{what} must be a dense array, got a sparse one; use .toarray(). (Cells that are "
                "not stored would be log-odds of 0, a probability of ½.)"
            )
        scores = validate_sparse(scores, what).toarray()
    elif hasattr(scores, "columns"):
        scores = frame_in_order(scores, names)
    values = _numbers(scores, scale, what, dtype)
    if values.ndim == 1 and len(names) == 1:
        values = values[:, None]
    _check_shape(values.shape, n_documents, names, what)
    if values.size and np.isnan(values.min()):
        if missing is None:
            never = ", or -inf to exclude it" if scale == "log_odds" else ""
            cells = np.nonzero(np.isnan(values))
            prior = f"Use the prior of a label without a score{never}."
            check_cells(f"{what} must be numbers", values[cells], cells, prior)
        else:
            values = np.where(np.isnan(values), missing, values)
    if scale == "probability":
        check_probabilities(values, what=what, hint=hint)
    return values


def read_candidates(
    scores: Any,
    names: NDArray[Any],
    *,
    n_documents: int | None = None,
    scale: Scale = "log_odds",
    what: str = "scores",
) -> tuple[Cells, NDArray[np.float64]]:
    """Return the stored cells of a sparse score matrix, the candidates, and their scores.

    Parameters
    ----------
    scores : sparse matrix or array of shape (n_documents, n_labels)
        A stored 0 is a candidate; labels that are not stored are not.
    names : array of shape (n_labels,)
        The labels, in the order of the columns.
    n_documents : int, optional
        Expected number of documents; default any.
    scale : "log_odds" or "probability", default "log_odds"
        Scale of the scores; probabilities must be in [0, 1].
    what : str, default "scores"
        Name of the parameter, for messages.

    Returns
    -------
    Cells, array of shape (n_cells,)

    Examples
    --------
    >>> from scipy import sparse
    >>> scores = sparse.csr_array(([0.0, 2.0], [0, 1], [0, 2, 2]), shape=(2, 3))
    >>> cells, values = read_candidates(scores, np.array(["milk", "sugar", "tea"]))
    >>> cells.label.tolist(), values.tolist()
    ([0, 1], [0.0, 2.0])
    """
    matrix = sparse.csr_array(validate_sparse(scores, what))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sort_indices()
        if not matrix.has_canonical_format:
            raise ValueError(f"{what} must have every cell once, got some twice.")
    _check_shape(matrix.shape, n_documents, names, what)
    cells = Cells.of(matrix)
    values = _numbers(matrix.data, scale, what, np.float64)
    wrong, rule = np.isnan(values), f"{what} must be numbers"
    if scale == "probability":
        wrong, rule = ~((values >= 0) & (values <= 1)), f"{what} must be probabilities in [0, 1]"
    if wrong.any():
        hint = 'Store the candidates only; log-odds need scale="log_odds".'
        check_cells(rule, values[wrong], (cells.document[wrong], cells.label[wrong]), hint)
    return cells, values


def check_scale(scale: str) -> None:
    """Raise for an unknown scale."""
    check_choice("scale", scale, Scale)


def check_probabilities(
    values: NDArray[Any],
    *,
    what: str = "scores",
    hint: str = 'Log-odds need scale="log_odds".',
    allow_infinite: bool = False,
) -> None:
    """Raise for values outside [0, 1], except ±inf (known labels) if ``allow_infinite``."""
    if not values.size or (values.min() >= 0 and values.max() <= 1):
        return
    wrong = ~((values >= 0) & (values <= 1))
    if allow_infinite:
        wrong &= ~np.isinf(values)
    rule = f"{what} must be probabilities in [0, 1]"
    check_cells(rule, values[wrong], np.nonzero(wrong), hint)


def read_known(known: Any, n_documents: int | None, names: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 for accepted, 0 for rejected and NaN for open labels.

    The result may be the input array: callers that change it copy it first.

    Parameters
    ----------
    known : array, sparse matrix, DataFrame, mapping, sequence of mappings, or None
        A matrix of 1, 0 and NaN, ``(n_documents, n_labels)``; the columns of a DataFrame are
        ordered by name. A sparse matrix with +1 (accepted) and −1 (rejected). One mapping
        ``{"accepted": […], "rejected": […]}`` of label names per document, or ``None`` for a
        document without known labels; for a single document also the mapping itself. ``None``: all
        labels are open.
    n_documents : int or None
        Expected number of documents; ``None``: any number.
    names : array of shape (n_labels,)
        The labels, in the order of the result.

    Returns
    -------
    array of shape (n_documents, n_labels)

    Examples
    --------
    >>> read_known({"rejected": ["tea"]}, 1, np.array(["sugar", "tea"]))
    array([[nan,  0.]])
    """
    if known is None and n_documents is not None:
        return np.full((n_documents, len(names)), np.nan)
    if sparse.issparse(known):
        _check_shape(known.shape, n_documents, names, "known")
        return _read_signs(known)
    if isinstance(known, Mapping):
        known = [known]
    if isinstance(known, Sequence) and all(
        row is None or isinstance(row, Mapping) for row in known
    ):
        if n_documents not in (None, len(known)):
            raise ValueError(
                f"known must contain one mapping per document: {n_documents} needed, got "
                f"{len(known)}. Use None for a document without known labels."
            )
        return _read_names(known, names)
    if hasattr(known, "columns"):
        known = frame_in_order(known, names)
    return _read_matrix(known, n_documents, names)


def _read_signs(known: Any) -> NDArray[np.float64]:
    stored = sparse.coo_array(sparse.csr_array(validate_sparse(known, "known")))
    wrong = (stored.data != 1) & (stored.data != -1)
    rule = "A sparse known must contain +1 (accepted) and -1 (rejected), once for each label"
    check_cells(rule, stored.data[wrong], (stored.row[wrong], stored.col[wrong]))
    result = np.full(stored.shape, np.nan)
    result[stored.row, stored.col] = stored.data > 0
    return result


def _read_names(known: Sequence[Any], names: NDArray[Any]) -> NDArray[np.float64]:
    result = np.full((len(known), len(names)), np.nan)
    for i, of_document in enumerate(known):
        for word, labels in (of_document or {}).items():
            if word not in _VALUES:
                raise ValueError(
                    'known must be of the form {"accepted": [...], "rejected": [...]}, got '
                    f"{word!r} for document {i}."
                )
            columns = names_to_columns([labels] if isinstance(labels, str) else labels, names)
            clash = columns[result[i, columns] == 1 - _VALUES[word]]
            if len(clash):
                raise ValueError(
                    f"A known label must be accepted or rejected, got {names[clash[0]]!s} of "
                    f"document {i} as both. Use each label once."
                )
            result[i, columns] = _VALUES[word]
    return result


def _read_matrix(known: Any, n_documents: int | None, names: NDArray[Any]) -> NDArray[np.float64]:
    try:
        values = np.asarray(unmasked(known), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"known must be a matrix of 1, 0 and NaN, or a mapping of label names per document, "
            f'{{"accepted": [...], "rejected": [...]}}, got {known!r:.60}.'
        ) from None
    _check_shape(values.shape, n_documents, names, "known")
    wrong = ~((values == 0) | (values == 1) | np.isnan(values))
    rule = "known must be 1 (accepted), 0 (rejected) or NaN (open)"
    check_cells(rule, values[wrong], np.nonzero(wrong))
    return values


def _check_shape(
    shape: tuple[int, ...], n_documents: int | None, names: NDArray[Any], what: str
) -> None:
    rows = shape[:1] if n_documents is None else (n_documents,)
    if shape != (*rows, len(names)):
        expected = "n" if n_documents is None else n_documents
        raise ValueError(
            f"{what} must be documents × labels, ({expected}, {len(names)}), got shape {shape}. "
            f"The columns are the labels in this order: {abbreviate(names.tolist())}."
        )


def _numbers(scores: Any, scale: Scale, what: str, dtype: type[np.float64] | None) -> NDArray[Any]:
    array = np.asarray(unmasked(scores))
    if array.dtype.kind == "O":  # numbers and marks of missing values such as None
        with suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.dtype.kind not in ("iuf" if scale == "log_odds" else "biuf"):
        hint = " True and False are decisions." if array.dtype.kind == "b" else ""
        raise TypeError(f"{what} must be real numbers, got dtype {array.dtype}.{hint}")
    return array if dtype is None else array.astype(dtype, copy=False)
