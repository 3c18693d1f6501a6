"""Conversion of arrays, sparse matrices, DataFrames, label sets and classes to label matrices."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from labelkin.label_matrix.record import (
    Container,
    LabelMatrix,
    frame_values,
    name_array,
    names_to_columns,
)
from labelkin.validation import check_cells, check_distinct, check_no_nul, unmasked, validate_sparse

#: Hint for labels that are neither lists of names nor a matrix.
_CONVERSION = (
    "Use a 0/1 matrix, such as sklearn.preprocessing.MultiLabelBinarizer().fit_transform(Y) for "
    "lists of labels."
)


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
    of the same length are a matrix, or a 1-d ``y`` if that length is 1, unless they cannot be a
    matrix: ``[[3, 7], [2, 5]]`` has no 0, no number twice in a row, and a number above the length
    of the rows. Sets are always label sets.

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
        matrix = _read_sparse(Y)
        return matrix if wanted is None else _name_columns(matrix, wanted)
    if hasattr(Y, "columns") and hasattr(Y, "to_numpy") and len(Y.shape) == 2:
        matrix = _read_dense(frame_values(Y))
        columns = name_array(list(Y.columns))
        check_distinct(columns.tolist(), "DataFrame columns")
        named = replace(matrix, names=columns, classes=columns)
        return named if wanted is None else _arrange(named, wanted)
    if is_label_sets(Y):
        return _read_label_sets(Y, wanted)
    array = _as_array(Y)
    # As in scikit-learn, one column of other values than 0 and 1 is a 1-d ``y``.
    is_column = array.ndim == 2 and array.shape[1] == 1
    if is_column and array.dtype.kind in "biuf":
        is_column = not np.isin(array[~np.isnan(array)], [0, 1]).all()
    if array.ndim == 2 and not is_column:
        matrix = _read_dense(array)
        return matrix if wanted is None else _name_columns(matrix, wanted)
    return _read_classes(array, wanted)


def _read_sparse(Y: Any) -> LabelMatrix:
    """Read a sparse matrix: explicit zeros are removed, stored NaN is unknown."""
    if Y.ndim != 2:
        raise ValueError(f"A sparse Y must have 2 dimensions, got {Y.ndim}.")
    container: Container = "sparse_array" if isinstance(Y, sparse.sparray) else "sparse_matrix"
    Y = validate_sparse(Y, "Y")
    if Y.format == "csr" and Y.has_canonical_format and (Y.data == 1).all():
        # Without other values and sorting, millions of documents are copied once.
        cells = np.ones(Y.nnz), Y.indices.copy(), Y.indptr.copy()
        positive, names = sparse.csr_array(cells, shape=Y.shape), np.arange(Y.shape[1])
        return LabelMatrix(positive, None, names, "multilabel", names, container)
    stored = sparse.coo_array(Y)
    values = stored.data.astype(np.float64)
    return _from_cells(stored.row, stored.col, values, Y.shape, container)


def _read_dense(Y: NDArray[Any]) -> LabelMatrix:
    try:
        values = np.asarray(Y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"A matrix Y must contain 0, 1 or NaN, got dtype {Y.dtype} with {Y.flat[0]!r}. "
            "Use one list or set per document for label names."
        ) from None
    row, column = np.nonzero(values)
    return _from_cells(row, column, values[row, column], values.shape, "dense")


def _from_cells(
    row: Any, column: Any, values: NDArray[np.float64], shape: Any, container: Container
) -> LabelMatrix:
    """Return labels without names, given the cells that may differ from 0."""
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
    if is_nan.any() and shape[1] < 2:
        raise ValueError(
            "Y contains NaN: unknown labels are allowed in matrices of two or more columns, got "
            "one column. Remove those documents."
        )
    positive = _indicator(row[is_one], column[is_one], shape)
    unknown = _indicator(row[is_nan], column[is_nan], shape) if is_nan.any() else None
    names = np.arange(shape[1])
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
    for value in y if y.dtype == object else ():
        if not isinstance(value, str | bytes | Number):
            raise ValueError(
                "y must contain one class per document, a text or a number, got "
                f"{type(value).__name__}. {_CONVERSION}"
            )
    if y.dtype.kind in "OU":
        _check_not_joined(np.unique(y.astype(str)).tolist())
    check_classification_targets(y)
    classes = np.unique(y) if wanted is None else wanted
    place = np.searchsorted(classes, y) if wanted is None else names_to_columns(y.tolist(), classes)
    one_hot = _indicator(np.arange(len(y)), place, (len(y), len(classes)))
    if len(classes) > 2:
        return LabelMatrix(one_hot, None, classes, "multiclass", classes)
    return LabelMatrix(one_hot[:, [-1]], None, classes[-1:], "binary", classes)


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
            given = [texts[i] for i in joined]
            separators = (f" {sign} ", f"{sign} ", sign)
            separator = next(
                s for s in separators if all(t.count(s) == t.count(sign) for t in given)
            )
            _raise_joined(given[0], f"text.split({separator!r})")


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


def _name_columns(matrix: LabelMatrix, wanted: NDArray[Any]) -> LabelMatrix:
    if len(wanted) != matrix.shape[1]:
        raise ValueError(
            f"Y must have one column per label: {len(wanted)} labels, got shape {matrix.shape}."
        )
    return replace(matrix, names=wanted, classes=wanted)


def _arrange(matrix: LabelMatrix, wanted: NDArray[Any]) -> LabelMatrix:
    """Return the columns in the given order, without documents for missing labels."""
    if matrix.kind != "multilabel" or np.array_equal(matrix.names, wanted):
        return matrix
    place = names_to_columns(matrix.names.tolist(), wanted)
    shape = (matrix.shape[0], len(wanted))

    def move(cells: sparse.csr_array) -> sparse.csr_array:
        stored = sparse.coo_array(cells)
        return _indicator(stored.row, place[stored.col], shape)

    unknown = None if matrix.unknown is None else move(matrix.unknown)
    return replace(
        matrix, positive=move(matrix.positive), unknown=unknown, names=wanted, classes=wanted
    )


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
    if len(rows) < len(Y) and not rows:
        return True  # documents without labels only
    if not rows or not all(isinstance(row, list | tuple | np.ndarray | Set) for row in rows):
        return False
    if all(isinstance(row, Set) or all(isinstance(x, str) for x in row) for row in rows):
        return True
    return _are_ids(rows, has_empty=len(rows) < len(Y))


def _are_ids(rows: list[Any], has_empty: bool) -> bool:
    """Return whether rows are label sets of ids, not the rows of a matrix or a 1-d ``y``."""
    ids = [x for row in rows for x in row]
    if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in ids):
        return False
    if has_empty or len({len(row) for row in rows}) > 1:
        return True
    are_distinct = all(len(set(row)) == len(row) for row in rows)
    return are_distinct and min(ids) > 0 and max(ids) > len(rows[0]) > 1


def _as_array(Y: Any) -> NDArray[Any]:
    if isinstance(Y, list | tuple):
        check_no_nul(Y)
    try:
        array = np.asarray(Y)
        rows = array if array.dtype == object and array.ndim == 1 else ()
        is_ragged = any(isinstance(row, list | tuple | np.ndarray) for row in rows)
    except ValueError:
        is_ragged = True
    if is_ragged:
        sets = [row if isinstance(row, list | tuple | np.ndarray) else [row] for row in Y]
        kinds = sorted({type(label).__name__ for row in sets for label in row})
        raise ValueError(
            "Label sets must be lists of strings or of integers, one list per document, got values "
            f"of type {' and '.join(kinds)}. {_CONVERSION}"
        )
    if array.size == 0 and array.ndim == 1:
        raise ValueError("Y must contain at least one document, got none.")
    if array.ndim not in (1, 2):
        raise ValueError(
            "Y must be a label matrix (n_documents, n_labels), label sets, or a 1-d y, got "
            f"{f'{array.ndim} dimensions' if array.ndim else type(Y).__name__}."
        )
    return array
