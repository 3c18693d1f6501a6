"""The record every corpus is handed over in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix

#: What the features of a corpus are: texts still to be read, term counts, weights such as tf-idf
#: (0 or more), 0/1 marks, or any other numbers.
Features = Literal["text", "counts", "weights", "binary", "numbers"]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents, their label sets and a fixed split.

    Attributes
    ----------
    name
        What :func:`load` knows it by.
    documents
        The texts, an object array ``(n_documents,)``; or, where the corpus is published as vectors,
        a CSR or dense array ``(n_documents, n_features)``. ``documents[train]`` works for both.
    features
        Which of them: ``"text"``, or what the vectors hold.
    Y
        Their label sets with the names of the labels, ``(n_documents, n_labels)``;
        ``Y.rows(train)`` are those of the training documents.
    train, test
        Positions of the training and of the test documents, ascending and disjoint.
    ids
        The documents' own names, ``(n_documents,)``, where they have any.
    terms
        Names of the features, ``(n_features,)``, where they have any.
    source, licence
        Where it comes from, and what may be done with it.
    """

    name: str
    documents: Any
    Y: LabelMatrix
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    source: str
    licence: str
    features: Features = "text"
    ids: NDArray[Any] | None = None
    terms: NDArray[Any] | None = None


def kind_of_features(X: Any) -> Features:
    """Return the narrowest kind that fits all values of a dense or sparse ``X``.

    0 and 1 only: ``"binary"``; whole and not negative: ``"counts"``; not negative: ``"weights"``;
    else ``"numbers"``. NaN, where a value is unknown, fits all.

    Examples
    --------
    >>> kind_of_features(np.array([[0.0, 1.0], [2.0, 0.0]]))
    'counts'
    """
    values = X.data if sparse.issparse(X) else np.ravel(X)
    values = values[~np.isnan(values)]
    if (values < 0).any():
        return "numbers"
    if (values != np.floor(values)).any():
        return "weights"
    return "counts" if (values > 1).any() else "binary"
