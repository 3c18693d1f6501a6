"""Any score matrix, documents × labels → checked numbers in the order of the labels."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix.cells import Cells
from labelkin.label_matrix.record import (
    check_cells,
    check_choice,
    frame_in_order,
    some_of,
    unmasked,
)
from labelkin.scikit_learn import sound_sparse

Scale = Literal["probability", "log_odds"]


def read_scores(
    scores: Any,
    names: NDArray[Any],
    *,
    n_documents: int | None = None,
    scale: Scale = "log_odds",
    missing: ArrayLike | None = None,
    what: str = "scores",
    way_out: str = 'Log-odds need scale="log_odds".',
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
        :func:`labelkin.odds.log_odds_of` turns them into log-odds, and clips.
    missing : float, array of shape (n_labels,), or None, default None
        What NaN stands for, the labels' prior for instance. ``None``: NaN is an error.
    what : str, default "scores"
        The name of the parameter, for messages.
    way_out : str
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
    check_scale(scale)
    if sparse.issparse(scores):
        if scale == "log_odds":
            raise TypeError(
                f"{what} must be a dense array, got a sparse one; use .toarray(). (What is not "
                "stored would be log-odds of 0, a probability of one half.)"
            )
        scores = sound_sparse(scores, what).toarray()
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
        check_probabilities(values, what=what, way_out=way_out)
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
    check_scale(scale)
    matrix = sparse.csr_array(sound_sparse(scores, what))
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
    way_out: str = 'Log-odds need scale="log_odds".',
    allow_infinite: bool = False,
) -> None:
    """Raise for values outside [0, 1], except ±inf, labels that are known, where allowed."""
    if not values.size or (values.min() >= 0 and values.max() <= 1):
        return
    wrong = ~((values >= 0) & (values <= 1))
    if allow_infinite:
        wrong &= ~np.isinf(values)
    rule = f"{what} must be probabilities in [0, 1]"
    check_cells(rule, values[wrong], np.nonzero(wrong), way_out)


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
            f"{shape}. The columns are the labels in this order: {some_of(names.tolist())}."
        )


def _numbers(scores: Any, scale: Scale, what: str, dtype: type[np.float64] | None) -> NDArray[Any]:
    array = np.asarray(unmasked(scores))
    if array.dtype.kind == "O":  # numbers among None and other marks of what is missing
        with suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.dtype.kind not in ("iuf" if scale == "log_odds" else "biuf"):
        hint = " Yes/no answers are decisions." if array.dtype.kind == "b" else ""
        raise TypeError(f"{what} must be real numbers, got dtype {array.dtype}.{hint}")
    return array if dtype is None else array.astype(dtype, copy=False)
