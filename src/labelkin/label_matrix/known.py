"""Known labels of documents: accepted, rejected, or open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix.record import check_cells, frame_in_order, names_to_columns, unmasked
from labelkin.scikit_learn import sound_sparse

#: What a label is known to be; "refused" is another word for "rejected".
_VALUES = {"accepted": 1.0, "rejected": 0.0, "refused": 0.0}


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
        _check_shape(known.shape, n_documents, names)
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
    stored = sparse.coo_array(sound_sparse(known, "known"))
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
    _check_shape(values.shape, n_documents, names)
    wrong = ~((values == 0) | (values == 1) | np.isnan(values))
    rule = "known must hold 1 (accepted), 0 (rejected) or NaN (open)"
    check_cells(rule, values[wrong], np.nonzero(wrong))
    return values


def _check_shape(came: tuple[int, ...], n_documents: int | None, names: NDArray[Any]) -> None:
    if len(came) != 2 or came != (came[0] if n_documents is None else n_documents, len(names)):
        rows = "n" if n_documents is None else n_documents
        raise ValueError(
            f"known must have the shape of the scores, ({rows}, {len(names)}) documents × labels, "
            f"got shape {came}."
        )
