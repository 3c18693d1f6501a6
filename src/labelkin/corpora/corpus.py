"""The record every corpus is handed over in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelkin.label_matrix import LabelMatrix


@dataclass(frozen=True)
class Corpus:
    """Documents, their label sets and a fixed split.

    Attributes
    ----------
    name
        What :func:`load` knows it by.
    documents
        The texts, ``(n_documents,)``; an object array, so that ``documents[train]`` works.
    Y
        Their label sets with the names of the labels, ``(n_documents, n_labels)``;
        ``Y.rows(train)`` are those of the training documents.
    train, test
        Positions of the training and of the test documents, ascending and disjoint.
    source, licence
        Where it comes from, and what may be done with it.
    """

    name: str
    documents: NDArray[np.object_]
    Y: LabelMatrix
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    source: str
    licence: str
