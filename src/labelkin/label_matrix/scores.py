"""Scores and known labels, documents × labels, as validated numbers in the order of the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix.cells import Cells
from labelkin.label_matrix.record import frame_in_order, names_to_columns
from labelkin.validation import abbreviate, check_cells, check_choice, unmasked, validate_sparse

Scale = Literal["probability", "log_odds"]
#: What a label is known to be; "refused" is another word for "rejected".
_VALUES = {"accepted": 1.0, "rejected": 0.0, "refused": 0.0}


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
    """Return scores as a matrix of numbers with one column per label, on the scale they came on.

    The result may be the array that was given: whoever changes it copies it first.

    Parameters
    ----------
    scores : array, sparse matrix or DataFrame of shape (n_documents, n_labels)
        The columns of a DataFrame go by name. One label alone may come as ``(n_documents,)``.
    names : array of shape (n_labels,)
        The labels, in the order of the result.
    n_documents : int or None, default None
        How many documents there must be; ``None``: any number.
    scale : "log_odds" or "probability", default "log_odds"
        Log-odds are any numbers, ±inf included. Probabilities lie in [0, 1] (yes and no are 1 and
        0), and may be sparse, 0 where nothing is stored.
        :func:`labelkin.odds.to_log_odds` turns them into log-odds, and clips.
    missing : float, array of shape (n_labels,), or None, default None
        What NaN stands for, the labels' prior for instance. ``None``: NaN is an error.
    what : str, default "scores"
        The name of the parameter, for messages.
    hint : str
        What to do with values that are no probabilities, for messages.
    dtype : numpy.float64 or None, default numpy.float64
        The type of the result; ``None``: as they came, without a copy.

    Returns
    -------
    array of shape (n_documents, n_labels)

    Raises
    ------
    ValueError, TypeError
        With the rule, the first wrong cell and how many there are, and a way out.

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
                f"{what} must be a dense array, got a sparse one; use .toarray(). (What is not "
                "stored would be log-odds of 0, a probability of one half.)"
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
            never = ", -inf where it must not be given" if scale == "log_odds" else ""
            prior = f"Give a label's prior where nothing is known{never}."
            cells = np.nonzero(np.isnan(values))
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
    """Return the cells of a sparse score matrix, stored = candidate, and their scores.

    Parameters
    ----------
    scores : sparse matrix or array of shape (n_documents, n_labels)
        A label that is not stored is no candidate; a stored 0 is one.
    names : array of shape (n_labels,)
        The labels, in the order of the columns.
    n_documents : int or None, default None
        How many documents there must be; ``None``: any number.
    scale : "log_odds" or "probability", default "log_odds"
        What the scores are; probabilities must lie in [0, 1].
    what : str, default "scores"
        The name of the parameter, for messages.

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
    wrong = np.isnan(values)
    rule = f"{what} must be numbers"
    if scale == "probability":
        wrong |= ~((values >= 0) & (values <= 1))
        rule = f"{what} must be probabilities in [0, 1]"
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"{rule}, got {float(values[first])!r} at document {cells.document[first]}, label "
            f"{cells.label[first]} ({int(wrong.sum())} such cells). Do not store a label that is "
            'no candidate; log-odds need scale="log_odds".'
        )
    return cells, values


def check_scale(scale: str) -> None:
    """Raise for what is not the name of a scale."""
    check_choice("scale", scale, Scale)


def check_probabilities(
    values: NDArray[Any],
    *,
    what: str = "scores",
    hint: str = 'Log-odds need scale="log_odds".',
    allow_infinite: bool = False,
) -> None:
    """Raise for values outside [0, 1], except ±inf, labels that are known, where allowed."""
    if not values.size or (values.min() >= 0 and values.max() <= 1):
        return
    wrong = ~((values >= 0) & (values <= 1))
    if allow_infinite:
        wrong &= ~np.isinf(values)
    rule = f"{what} must be probabilities in [0, 1]"
    check_cells(rule, values[wrong], np.nonzero(wrong), hint)


def read_known(known: Any, n_documents: int | None, names: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 for accepted, 0 for rejected and NaN for open labels.

    The result may be the array that was given: whoever changes it copies it first.

    Parameters
    ----------
    known : array, sparse matrix, DataFrame, mapping, sequence of mappings, or None
        ``None``: all open. A matrix of 1, 0 and NaN, ``(n_documents, n_labels)``, the columns of a
        DataFrame by name. A sparse matrix with +1 (accepted) and −1 (rejected), nothing stored
        where open. Or one mapping ``{"accepted": […], "rejected": […]}`` of label names per
        document, ``None`` for a document with none; for one document also the bare mapping.
        ``"refused"`` is read as ``"rejected"``.
    n_documents : int or None
        How many documents there must be; ``None``: any number.
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
        _check_known_shape(known.shape, n_documents, names)
        return _read_signs(known)
    if isinstance(known, Mapping):
        known = [known]
    if isinstance(known, Sequence) and all(
        isinstance(row, Mapping) or row is None for row in known
    ):
        if n_documents not in (None, len(known)):
            raise ValueError(
                f"known must hold one mapping per document: {n_documents} needed, got "
                f"{'one' if len(known) == 1 else len(known)}. Use None for a document without "
                "known labels."
            )
        return _read_names(known, names)
    if hasattr(known, "columns"):
        known = frame_in_order(known, names)
    return _read_matrix(known, n_documents, names)


def _read_signs(known: Any) -> NDArray[np.float64]:
    stored = sparse.coo_array(validate_sparse(known, "known"))
    result = np.full(stored.shape, np.nan)
    result[stored.row, stored.col] = stored.data > 0
    wrong = (stored.data != 1) & (stored.data != -1)
    rule = "A sparse known must hold +1 (accepted) and -1 (rejected)"
    check_cells(rule, stored.data[wrong], (stored.row[wrong], stored.col[wrong]))
    clash = np.flatnonzero(result[stored.row, stored.col] != (stored.data > 0))
    if len(clash):
        first = clash[0]
        raise ValueError(
            f"known contradicts itself: document {stored.row[first]}, label {stored.col[first]} is "
            "both accepted and rejected. Give each label once."
        )
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
                    f"known contradicts itself: document {i} has {names[clash[0]]!s} both accepted "
                    "and rejected. Give each label once."
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
    _check_known_shape(values.shape, n_documents, names)
    wrong = ~((values == 0) | (values == 1) | np.isnan(values))
    rule = "known must hold 1 (accepted), 0 (rejected) or NaN (open)"
    check_cells(rule, values[wrong], np.nonzero(wrong))
    return values


def _check_known_shape(came: tuple[int, ...], n_documents: int | None, names: NDArray[Any]) -> None:
    if len(came) != 2 or came != (came[0] if n_documents is None else n_documents, len(names)):
        rows = "n" if n_documents is None else n_documents
        raise ValueError(
            f"known must have the shape of the scores, ({rows}, {len(names)}) documents × labels, "
            f"got shape {came}."
        )


def best_labels(
    log_odds: NDArray[Any], top: int | None = None, is_open: NDArray[np.bool_] | None = None
) -> list[NDArray[np.intp]]:
    """Return the columns of each document's best labels, the best first.

    Of equal ones the lowest column comes first.

    Parameters
    ----------
    log_odds : array of shape (n_documents, n_labels)
        Or any score that orders the labels; no NaN.
    top : int or None, default None
        How many at most; ``None``: all.
    is_open : bool array of shape (n_documents, n_labels), or None, default None
        Which labels come into question; ``None``: all.

    Examples
    --------
    >>> best_labels(np.array([[0.5, 2.0, 0.5, 3.0]]), top=3)
    [array([3, 1, 0])]
    >>> best_labels(np.array([[1.0, 2.0]]), is_open=np.array([[True, False]]))
    [array([0])]
    """
    n_labels = log_odds.shape[1]
    key = np.negative(log_odds) if is_open is None else np.where(is_open, -log_odds, np.nan)
    # Whoever is not behind the last place that counts takes part; NaN sorts last, and is behind
    # nobody.
    taken = ~np.isnan(key)
    if top is not None and 0 < top < n_labels:
        taken &= ~(key > np.partition(key, top - 1, axis=1)[:, [top - 1]])
    row, column = np.nonzero(taken)
    column = column[np.lexsort((key[row, column], row))]
    ends = np.concatenate(([0], np.cumsum(taken.sum(axis=1))))
    return [column[start:stop][:top] for start, stop in pairwise(ends.tolist())]


def _check_shape(
    shape: tuple[int, ...], n_documents: int | None, names: NDArray[Any], what: str
) -> None:
    if shape != (shape[0] if n_documents is None else n_documents, len(names)):
        rows = "n" if n_documents is None else n_documents
        raise ValueError(
            f"{what} must be documents × labels, ({rows}, {len(names)}), got shape "
            f"{shape}. The columns are the labels in this order: {abbreviate(names.tolist())}."
        )


def _numbers(scores: Any, scale: Scale, what: str, dtype: type[np.float64] | None) -> NDArray[Any]:
    if isinstance(scores, np.ma.MaskedArray):
        scores = unmasked(scores)
    array = np.asarray(scores)
    if array.dtype.kind == "O":  # numbers among None and other marks of what is missing
        with suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.dtype.kind not in ("iuf" if scale == "log_odds" else "biuf"):
        hint = " Yes/no answers are decisions." if array.dtype.kind == "b" else ""
        raise TypeError(f"{what} must be real numbers, got dtype {array.dtype}.{hint}")
    return array if dtype is None else array.astype(dtype, copy=False)
