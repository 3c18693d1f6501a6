"""Conversion of what users pass as labels, scores and known labels to validated matrices."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from numbers import Integral, Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from labelkin.label_matrix.cells import Cells
from labelkin.label_matrix.record import (
    Container,
    LabelMatrix,
    frame_in_order,
    frame_values,
    name_array,
    names_to_columns,
)
from labelkin.validation import (
    abbreviate,
    check_cells,
    check_distinct,
    check_no_nul,
    unmasked,
    validate_sparse,
)

Scale = Literal["probability", "log_odds"]
_VALUES = {"accepted": 1.0, "rejected": 0.0}
#: Largest score, rule and hint of each scale.
_RULES: dict[Scale, tuple[float, str, str]] = {
    "probability": (1.0, "probabilities in [0, 1]", 'Log-odds need scale="log_odds".'),
    "log_odds": (np.inf, "numbers", "Use the prior of a label without a score, or -inf."),
}


def read_labels(Y: Any, *, names: Sequence[Any] | NDArray[Any] | None = None) -> LabelMatrix:
    """Convert labels of any kind to a :class:`LabelMatrix`.

    Parameters
    ----------
    Y : array, sparse matrix, DataFrame, label sets, classes or LabelMatrix
        A 0/1 array (bool, int or float; with two or more columns NaN or masked: unknown); a SciPy
        sparse matrix or array; a pandas or polars DataFrame with one column per label; label sets,
        that is, a sequence of lists or tuples of strings or of integer ids, or of sets; a 1-d
        ``y`` of classes as in scikit-learn; a :class:`LabelMatrix`.
    names : sequence, optional
        The expected labels, in this order. Label sets and DataFrames are ordered by name, and other
        names are an error; a matrix without names must have as many columns.

    Returns
    -------
    LabelMatrix

    Notes
    -----
    Lists of integers of different lengths, such as ``[[3, 7], [2]]``, are label sets of ids. Lists
    of the same length are a matrix, or a 1-d ``y`` if that length is 1. Sets are always label sets.

    A text that contains several labels, in a 1-d ``y`` or in lists of one text per document, is an
    error: a list in Python's notation, such as ``"['a', 'b']"``, or texts that, split at ``,``,
    ``;`` or ``|``, have the same parts at different places, such as ``"a,b"`` and ``"b,c"``. Among
    the different texts, more than 15 % of the parts must be at another place than most often, or
    5 % if three quarters of the parts occur again. With ``;``, which is rare in names, all parts
    that occur again count. The parts of class names such as ``"Smith, John"`` or
    ``"sports|tennis"`` keep their place.

    Examples
    --------
    >>> read_labels([["tea"], ["tea", "sugar"], []]).dense()
    array([[0., 1.],
           [1., 1.],
           [0., 0.]])
    >>> read_labels([["tea"], ["tea", "sugar"], []]).names.tolist()
    ['sugar', 'tea']
    """
    wanted = None if names is None else name_array(names)
    Y = unmasked(Y)
    if isinstance(Y, LabelMatrix):
        return Y if wanted is None else _arrange(Y, wanted)
    if sparse.issparse(Y):
        if Y.ndim != 2:
            raise ValueError(f"A sparse Y must have 2 dimensions, got {Y.ndim}.")
        container: Container = "sparse_array" if isinstance(Y, sparse.sparray) else "sparse_matrix"
        return _read_matrix(validate_sparse(Y, "Y"), wanted, container)
    if hasattr(Y, "columns") and hasattr(Y, "to_numpy") and len(Y.shape) == 2:
        columns = name_array(list(Y.columns))
        check_distinct(columns.tolist(), "DataFrame columns")
        named = _read_matrix(frame_values(Y), columns)
        return named if wanted is None else _arrange(named, wanted)
    if is_label_sets(Y):
        return _read_label_sets(Y, wanted)
    array = _as_array(Y)
    # As in scikit-learn, one column of other values than 0 and 1 is a 1-d ``y``.
    is_column = array.ndim == 2 and array.shape[1] == 1
    if is_column and array.dtype.kind in "biuf":
        is_column = not np.isin(array[~np.isnan(array)], [0, 1]).all()
    if array.ndim == 2 and not is_column:
        return _read_matrix(array, wanted)
    return _read_classes(array, wanted)


def _read_matrix(
    Y: Any, names: NDArray[Any] | None = None, container: Container = "dense"
) -> LabelMatrix:
    """Read a dense or sparse matrix; default names are the numbers of its columns."""
    try:
        stored = sparse.coo_array(Y if sparse.issparse(Y) else np.asarray(Y, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(
            f"A matrix Y must contain 0, 1 or NaN, got dtype {Y.dtype} with {Y.flat[0]!r}. "
            "Use one list or set per document for label names."
        ) from None
    row, column, values = stored.row, stored.col, stored.data.astype(np.float64)
    is_nan, is_one = np.isnan(values), values == 1
    wrong = (values != 0) & ~is_one & ~is_nan
    if wrong.any():
        check_cells(
            "A label matrix Y must contain 0, 1 or NaN (unknown)",
            values[wrong],
            (row[wrong], column[wrong]),
            "Apply a threshold to scores first; use sets for label ids, such as [{3, 7}, {2}]. If "
            "cross_val_predict made this Y from label lists, NaN or a sparse matrix, use "
            "labelkin.content.cross_val_log_odds.",
        )
    shape = stored.shape
    if is_nan.any() and shape[1] < 2:
        raise ValueError(
            "Y contains NaN: unknown labels are allowed in matrices of two or more columns, got "
            "one column. Remove those documents."
        )
    names = np.arange(shape[1]) if names is None else names
    if len(names) != shape[1]:
        raise ValueError(
            f"Y must have one column per label: {len(names)} labels, got shape {shape}."
        )
    positive = _indicator(row[is_one], column[is_one], shape)
    unknown = _indicator(row[is_nan], column[is_nan], shape) if is_nan.any() else None
    return LabelMatrix(positive, unknown, names, "multilabel", names, container)


def _read_label_sets(Y: Any, wanted: NDArray[Any] | None) -> LabelMatrix:
    """Read label sets; the names are sorted, by their text if they are not comparable."""
    sets = list(Y)
    if wanted is None:
        if all(len(row) < 2 and isinstance(row, list | tuple | np.ndarray) for row in sets):
            _check_not_joined(sorted({row[0] for row in sets if len(row) and type(row[0]) is str}))
        found = {label for labels in sets for label in labels}
        try:
            wanted = name_array(sorted(found))
        except TypeError:
            wanted = name_array(sorted(found, key=str))
    row = np.repeat(np.arange(len(sets)), [len(labels) for labels in sets])
    column = names_to_columns([label for labels in sets for label in labels], wanted)
    positive = _indicator(row, column, (len(sets), len(wanted)))
    return LabelMatrix(positive, None, wanted, "multilabel", wanted)


def _read_classes(y: NDArray[Any], wanted: NDArray[Any] | None) -> LabelMatrix:
    """Read a 1-d ``y``: one label per class, a single label for two classes."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(
            "Input y contains NaN: unknown labels are allowed in matrices of two or more columns "
            "only. Remove those documents."
        )
    if y.dtype == object:
        check_no_nul(y)
        _check_kinds(y)
    if y.dtype.kind in "OU":
        _check_not_joined(np.unique(y.astype(str)).tolist())
    check_classification_targets(y)
    classes = np.unique(y) if wanted is None else wanted
    place = np.searchsorted(classes, y) if wanted is None else names_to_columns(y.tolist(), classes)
    one_hot = _indicator(np.arange(len(y)), place, (len(y), len(classes)))
    if len(classes) > 2:
        return LabelMatrix(one_hot, None, classes, "multiclass", classes)
    return LabelMatrix(one_hot[:, [-1]], None, classes[-1:], "binary", classes)


def _check_kinds(y: NDArray[Any]) -> None:
    """Raise for objects that are neither a class each nor lists of strings or of integers."""
    values = [label for row in y for label in (row if isinstance(row, list | tuple) else [row])]
    are_lists = any(isinstance(row, list | tuple | np.ndarray) for row in y)
    if are_lists or not all(isinstance(value, str | bytes | Number) for value in values):
        kinds = sorted({type(value).__name__ for value in values})
        raise ValueError(
            "Labels must be one text or number per document (classes), or lists of strings or of "
            f"integers (label sets), got values of type {' and '.join(kinds)}. Use a 0/1 matrix, "
            "such as sklearn.preprocessing.MultiLabelBinarizer().fit_transform(Y)."
        )


#: Share of parts at an unusual place above which texts are label sets; the second if three
#: quarters of the parts occur again.
_MOVED = (0.15, 0.05)


def _check_not_joined(texts: list[str]) -> None:
    """Raise if different texts contain several labels each, as cells of tables often do."""
    is_list = [text[:1] + text[-1:] in ("[]", "()", "{}") and _is_literal(text) for text in texts]
    if sum(is_list) > len(texts) / 2:
        _raise_joined(texts[is_list.index(True)], "ast.literal_eval(text)")
    for sign in ",;|":
        split = [[part.strip() for part in text.split(sign)] for text in texts]
        joined = [i for i, parts in enumerate(split) if len(parts) > 1 and all(parts)]
        places: dict[str, list[int]] = {}
        for parts in split:
            for place, part in enumerate(parts):
                places.setdefault(part, []).append(place)
        # A semicolon is rare in names: repeated parts count at any place.
        usual = (1 if sign == ";" else max(Counter(where).values()) for where in places.values())
        n_parts = sum(map(len, split))
        n_again = sum(len(where) for where in places.values() if len(where) > 1)
        least = _MOVED[n_again > 0.75 * n_parts] * n_parts
        if len(joined) > 0.2 * len(texts) and n_parts - sum(usual) > least:
            separators = re.findall(f" ?[{sign}] ?", "\n".join(texts[i] for i in joined))
            _raise_joined(texts[joined[0]], f"text.split({min(separators, key=len)!r})")


def _is_literal(text: str) -> bool:
    try:
        return all(isinstance(label, str | int) for label in ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _raise_joined(text: str, split: str) -> None:
    raise ValueError(
        "A text in y must be one label, got texts that look like several labels each, such as "
        f"{text[:60]!r}. Split them into label sets: [{split} for text in y]. If each text is one "
        "label, encode y with LabelEncoder (texts) or MultiLabelBinarizer (lists) of scikit-learn."
    )


def _indicator(row: Any, column: Any, shape: tuple[int, int]) -> sparse.csr_array:
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0  # a label that occurs twice in a set is one label
    return matrix


def _arrange(matrix: LabelMatrix, wanted: NDArray[Any]) -> LabelMatrix:
    """Return the columns in the given order, without documents for missing labels."""
    if matrix.kind != "multilabel" or np.array_equal(matrix.names, wanted):
        return matrix
    place = names_to_columns(matrix.names.tolist(), wanted)
    move = _indicator(np.arange(len(place)), place, (len(place), len(wanted)))
    unknown = None if matrix.unknown is None else (matrix.unknown @ move).sorted_indices()
    positive = (matrix.positive @ move).sorted_indices()
    return replace(matrix, positive=positive, unknown=unknown, names=wanted, classes=wanted)


def is_label_sets(Y: Any) -> bool:
    """Return whether ``Y`` is a sequence, array or Series of label sets (:func:`read_labels`)."""
    if hasattr(Y, "to_list") and len(getattr(Y, "shape", ())) == 1:
        Y = Y.to_list()
    if isinstance(Y, np.ndarray):
        if Y.dtype != object or Y.ndim != 1:
            return False
    elif not isinstance(Y, list | tuple):
        return False
    rows = [row for row in Y if not isinstance(row, list | tuple | np.ndarray) or len(row)]
    has_empty = len(rows) < len(Y)
    if not rows or not all(isinstance(row, list | tuple | np.ndarray | Set) for row in rows):
        return has_empty and not rows  # documents without labels only
    if all(isinstance(row, Set) or all(isinstance(x, str) for x in row) for row in rows):
        return True
    ids = [x for row in rows for x in row]
    if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in ids):
        return False
    # Lists of one length are the rows of a matrix, or a 1-d ``y``.
    return has_empty or len({len(row) for row in rows}) > 1


def _as_array(Y: Any) -> NDArray[Any]:
    if isinstance(Y, list | tuple):
        check_no_nul(Y)
    try:
        array = np.asarray(Y)
    except ValueError:  # lists of different lengths
        array = np.fromiter(Y, dtype=object)
    if array.size == 0 and array.ndim == 1:
        raise ValueError("Y must contain at least one document, got none.")
    if array.ndim not in (1, 2):
        raise ValueError(
            "Y must be a label matrix (n_documents, n_labels), label sets, or a 1-d y, got "
            f"{f'{array.ndim} dimensions' if array.ndim else type(Y).__name__}."
        )
    return array


def read_scores(
    scores: Any,
    names: NDArray[Any],
    *,
    n_documents: int | None = None,
    scale: Scale = "log_odds",
    what: str = "scores",
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
    what : str, default "scores"
        Name of the parameter, for messages.
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
    check_values(values, scale, what)
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
    check_values(values, scale, what, cells)
    return cells, values


def check_values(
    values: NDArray[Any],
    scale: Scale,
    what: str = "scores",
    cells: Cells | None = None,
    allow_infinite: bool = False,
) -> None:
    """Raise for NaN, and for probabilities outside [0, 1].

    Parameters
    ----------
    values : array of shape (n_documents, n_labels), or (n_cells,)
        Scores of all labels, or of ``cells``.
    scale : "log_odds" or "probability"
        Scale of the scores.
    what : str, default "scores"
        Name of the parameter, for messages.
    cells : Cells, optional
        The candidates.
    allow_infinite : bool, default False
        Whether probabilities may be ±inf (known labels).
    """
    most, rule, hint = _RULES[scale]
    least = 0.0 if scale == "probability" else -most
    if not values.size or (values.min() >= least and values.max() <= most):
        return
    wrong = ~((values >= least) & (values <= most))
    if allow_infinite:
        wrong &= ~np.isinf(values)
    where = np.nonzero(wrong) if cells is None else (cells.document[wrong], cells.label[wrong])
    check_cells(f"{what} must be {rule}", values[wrong], where, hint)


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
        cells, signs = read_candidates(known, names, n_documents=n_documents, what="known")
        wrong = np.abs(signs) != 1
        rule = "A sparse known must contain +1 (accepted) and -1 (rejected), once for each label"
        check_cells(rule, signs[wrong], (cells.document[wrong], cells.label[wrong]))
        return cells.dense((signs > 0).astype(np.float64), np.nan)
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
    return _read_known_matrix(known, n_documents, names)


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


def _read_known_matrix(
    known: Any, n_documents: int | None, names: NDArray[Any]
) -> NDArray[np.float64]:
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
