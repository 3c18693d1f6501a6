"""Arrays, sparse matrices, frames, label sets and classes → a label matrix."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from labelkin.label_matrix.record import (
    Container,
    LabelMatrix,
    frame_values,
    name_array,
    names_to_columns,
)
from labelkin.validation import check_cells, check_distinct, check_no_nul, unmasked, validate_sparse

#: The hint for labels that are neither lists of names nor a matrix.
_CONVERSION = (
    "A 0/1 matrix works everywhere: sklearn.preprocessing.MultiLabelBinarizer().fit_transform(Y) "
    "makes one from lists of labels."
)


def read_labels(Y: Any, *, names: Sequence[Any] | NDArray[Any] | None = None) -> LabelMatrix:
    """Turn any kind of ``Y`` into a :class:`LabelMatrix`.

    Parameters
    ----------
    Y : array, sparse matrix, DataFrame, label sets, classes or LabelMatrix
        A 0/1 array (bool, int or float; NaN or masked = unknown, from two columns on); a SciPy
        sparse matrix or array; a pandas or polars DataFrame with one column per label; label sets,
        a sequence of lists or tuples of strings or of integer ids, or of sets of anything; a 1-d
        ``y`` as scikit-learn's one-vs-rest takes it; a :class:`LabelMatrix`.
    names : sequence or None, default None
        The labels wanted, in this order. Label sets and DataFrames are arranged by name, and a name
        that is not among them is an error; for nameless matrices they must be as many as columns.

    Returns
    -------
    LabelMatrix

    Notes
    -----
    Lists of integers of different lengths, such as ``[[3, 7], [2]]``, are label sets of ids. If
    all have the same length they are a matrix, or a 1-d ``y`` if that length is 1, except where
    they cannot be a matrix: ``[[3, 7], [2, 5]]`` has no 0, no number twice in a row, and a number
    above the length of the rows. Sets are always label sets.

    Texts that are several labels each, in a 1-d ``y`` or in lists of one text per document, are an
    error: lists in Python's notation, such as ``"['a', 'b']"``; or texts that, split at ``,``,
    ``;`` or ``|``, have the same parts at different places, such as ``"a,b"`` and ``"b,c"``. The
    rule counts different texts: more than 15 % of their parts stand at another place than the part
    mostly does, 5 % if three quarters of the parts occur again (for ``;``, which is rare in names,
    the part occurs again). The parts of class names such as ``"Smith, John"`` or
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
    if isinstance(Y, np.ma.MaskedArray):
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
    # One column of other values than 0 and 1 is a 1-d ``y``, as scikit-learn allows.
    is_column = array.ndim == 2 and array.shape[1] == 1
    if is_column and array.dtype.kind in "biuf":
        is_column = not np.isin(array[~np.isnan(array)], [0, 1]).all()
    if array.ndim == 2 and not is_column:
        matrix = _read_dense(array)
        return matrix if wanted is None else _name_columns(matrix, wanted)
    return _read_classes(array, wanted)


def _read_sparse(Y: Any) -> LabelMatrix:
    """0/1 values of a sparse matrix; explicit zeros are dropped, stored NaN is unknown."""
    if Y.ndim != 2:
        raise ValueError(f"A sparse Y must have 2 dimensions, got {Y.ndim}.")
    container: Container = "sparse_array" if isinstance(Y, sparse.sparray) else "sparse_matrix"
    Y = validate_sparse(Y, "Y")
    if Y.format == "csr" and Y.has_canonical_format and (Y.data == 1).all():
        # Nothing to look for and nothing to sort: millions of documents are copied once.
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
            f"A matrix Y must hold 0, 1 or NaN, got dtype {Y.dtype} with {Y.flat[0]!r} in it. "
            "Label names go into lists or sets, one per document."
        ) from None
    row, column = np.nonzero(values)
    return _from_cells(row, column, values[row, column], values.shape, "dense")


def _from_cells(
    row: Any, column: Any, values: NDArray[np.float64], shape: Any, container: Container
) -> LabelMatrix:
    """Nameless labels from the cells that may be other than 0."""
    is_nan, is_one = np.isnan(values), values == 1
    wrong = (values != 0) & ~is_one & ~is_nan
    if wrong.any():
        check_cells(
            "A label matrix Y must hold 0, 1 or NaN (unknown)",
            values[wrong],
            (row[wrong], column[wrong]),
            "Apply a threshold to scores first; put label ids into sets, such as "
            "[{3, 7}, {2}]. If cross_val_predict made this Y "
            "from label lists, NaN or a sparse matrix, use labelkin.content.cross_val_log_odds.",
        )
    if is_nan.any() and shape[1] < 2:
        raise ValueError(
            "Y contains NaN: unknown labels are allowed in matrices of two or more columns, got "
            "one column. Leave those documents out."
        )
    positive = _indicator(row[is_one], column[is_one], shape)
    unknown = _indicator(row[is_nan], column[is_nan], shape) if is_nan.any() else None
    names = np.arange(shape[1])
    return LabelMatrix(positive, unknown, names, "multilabel", names, container)


def _read_label_sets(Y: Any, wanted: NDArray[Any] | None) -> LabelMatrix:
    """Sequences of label sets; names are sorted (by text where they do not compare)."""
    sets = list(Y)
    if wanted is None:
        if all(len(row) < 2 and isinstance(row, list | tuple | np.ndarray) for row in sets):
            _check_not_joined(sorted({row[0] for row in sets if len(row) and type(row[0]) is str}))
        wanted = name_array(_in_order({label for labels in sets for label in labels}))
    row = np.repeat(np.arange(len(sets)), [len(labels) for labels in sets])
    column = names_to_columns([label for labels in sets for label in labels], wanted)
    positive = _indicator(row, column, (len(sets), len(wanted)))
    return LabelMatrix(positive, None, wanted, "multilabel", wanted)


def _in_order(labels: set[Any]) -> list[Any]:
    """Sort labels; by their text where they do not compare, or not all with each other (sets)."""
    try:
        if not any(isinstance(label, Set) for label in labels):
            return sorted(labels)
    except TypeError:
        pass
    return sorted(
        labels,
        key=lambda label: sorted(map(str, label)) if isinstance(label, Set) else [str(label)],
    )


def _read_classes(y: NDArray[Any], wanted: NDArray[Any] | None) -> LabelMatrix:
    """Read a 1-d ``y``: one label per class, a single one when there are two classes."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(
            "Input y contains NaN: unknown labels are allowed in matrices of two or more columns "
            "only. Leave those documents out."
        )
    if y.dtype == object:
        check_no_nul(y)
    for value in y if y.dtype == object else ():
        if not isinstance(value, str | bytes | Number):
            raise ValueError(
                "y must hold classes, texts or numbers, one per document, got "
                f"{type(value).__name__}. {_CONVERSION}"
            )
    if y.dtype.kind in "OU":
        _check_not_joined(np.unique(y.astype(str)).tolist())
    check_classification_targets(y)
    if type_of_target(y) not in ("binary", "multiclass"):
        raise ValueError(f"y must hold classes, got {type_of_target(y)} values.")
    classes = np.unique(y) if wanted is None else wanted
    place = np.searchsorted(classes, y) if wanted is None else names_to_columns(y.tolist(), classes)
    one_hot = _indicator(np.arange(len(y)), place, (len(y), len(classes)))
    if len(classes) > 2:
        return LabelMatrix(one_hot, None, classes, "multiclass", classes)
    return LabelMatrix(one_hot[:, [-1]], None, classes[-1:], "binary", classes)


#: Share of parts that stand at another place than usual, above which texts are label sets; the
#: second if three quarters of the parts occur again.
_MOVED = (0.15, 0.05)


def _check_not_joined(texts: list[str]) -> None:
    """Raise for different texts that are several labels each, as cells of tables have them."""
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
        # A semicolon is rare in names: a part that recurs is enough, wherever it stands.
        usual = (1 if sign == ";" else max(Counter(where).values()) for where in places.values())
        n_parts = sum(map(len, split))
        n_again = sum(len(where) for where in places.values() if len(where) > 1)
        least = _MOVED[n_again > 0.75 * n_parts] * n_parts
        if len(joined) > 0.2 * len(texts) and n_parts - sum(usual) > least:
            given = [texts[i] for i in joined]
            glues = (f" {sign} ", f"{sign} ", sign)
            glue = next(g for g in glues if sum(t.count(g) != t.count(sign) for t in given) == 0)
            _raise_joined(given[0], f"text.split({glue!r})")


def _is_literal(text: str) -> bool:
    try:
        return all(isinstance(label, str | int) for label in ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _raise_joined(text: str, split: str) -> None:
    raise ValueError(
        "A text in y must be one label, got texts that look like several labels each, such as "
        f"{text[:60]!r}. Split them into label sets: [{split} for text in y]. If each text is one "
        "label, encode y: LabelEncoder (texts) or MultiLabelBinarizer (lists) of scikit-learn."
    )


def _indicator(row: Any, column: Any, shape: tuple[int, int]) -> sparse.csr_array:
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0  # the same cell given twice is still one label
    return matrix


def _name_columns(matrix: LabelMatrix, wanted: NDArray[Any]) -> LabelMatrix:
    if len(wanted) != matrix.shape[1]:
        raise ValueError(
            f"Y must have one column per label: {len(wanted)} labels, got shape {matrix.shape}."
        )
    return replace(matrix, names=wanted, classes=wanted)


def _arrange(matrix: LabelMatrix, wanted: NDArray[Any]) -> LabelMatrix:
    """Columns in the wanted order; labels the matrix lacks have no document."""
    if matrix.kind != "multilabel" or np.array_equal(matrix.names, wanted):
        return matrix
    place = names_to_columns(matrix.names.tolist(), wanted)
    shape = (matrix.shape[0], len(wanted))

    def move(values: sparse.csr_array) -> sparse.csr_array:
        stored = sparse.coo_array(values)
        return _indicator(stored.row, place[stored.col], shape)

    unknown = None if matrix.unknown is None else move(matrix.unknown)
    return replace(
        matrix, positive=move(matrix.positive), unknown=unknown, names=wanted, classes=wanted
    )


def is_label_sets(Y: Any) -> bool:
    """Whether it is a sequence, array or Series of label sets, as :func:`read_labels` explains."""
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
    """Whether lists of integers are label sets of ids, not the rows of a matrix or a 1-d y."""
    ids = [x for row in rows for x in row]
    if not all(isinstance(x, Integral) and not isinstance(x, bool) for x in ids):
        return False
    if has_empty or len({len(row) for row in rows}) > 1:
        return True
    are_distinct = all(len(set(row)) == len(row) for row in rows)
    return are_distinct and min(ids) > 0 and max(ids) > len(rows[0]) > 1


def _as_array(Y: Any) -> NDArray[Any]:
    if isinstance(Y, Mapping):
        raise ValueError(
            "Y must be a matrix, label sets or classes, got a mapping; use its values."
        )
    if isinstance(Y, list | tuple):
        check_no_nul(Y)
    try:
        array = np.asarray(Y)
        rows = array if array.dtype == object and array.ndim == 1 else ()
        is_ragged = any(isinstance(row, list | tuple | np.ndarray) for row in rows)
    except ValueError:
        is_ragged = True
    if is_ragged:
        raise ValueError(
            "Label sets must be lists of strings or of integers, one list per document, got "
            f"{_kinds_in(Y)}. {_CONVERSION}"
        )
    if array.size == 0 and array.ndim == 1:
        raise ValueError("Y must hold at least one document, got none.")
    if array.ndim not in (1, 2):
        raise ValueError(
            "Y must be a label matrix (n_documents, n_labels), label sets, or a 1-d y, got "
            f"{f'{array.ndim} dimensions' if array.ndim else type(Y).__name__}."
        )
    return array


def _kinds_in(rows: Any) -> str:
    """Return the types of what is in lists, and of rows that are not lists, for a message."""
    kinds = (
        {f"lists of {type(x).__name__}" for x in row}
        if isinstance(row, list | tuple | np.ndarray)
        else {f"a row of type {type(row).__name__}"}
        for row in rows
    )
    return " and ".join(sorted(set().union(*kinds)))
