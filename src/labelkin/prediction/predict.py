"""Documents → answers, a batch at a time, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.corpora.documents import Document, in_blocks
from labelkin.label_matrix import best_labels
from labelkin.prediction.fitted_model import FittedModel

#: Documents × labels answered at a time, unless a batch is named: 2²² numbers are 32 MB.
_CELLS = 2**22
_MOST = 1000


class Answer(NamedTuple):
    """What a model says of one document.

    Attributes
    ----------
    id : str or int
        Of the document, or its number.
    given : ndarray of int
        Columns of the labels it is given, most probable first.
    probabilities : ndarray, (n_labels,)
        Of all labels.
    """

    id: str | int
    given: NDArray[np.intp]
    probabilities: NDArray[np.float64]


def answer_batches(
    model: FittedModel,
    documents: Iterable[Document],
    *,
    batch: int | None = None,
    limit: int | None = None,
) -> Iterator[list[Answer]]:
    """Answer documents batch by batch; memory holds one batch.

    Parameters
    ----------
    model : FittedModel
        Takes texts, and decides each document by itself.
    documents : iterable of Document
        From wherever they come.
    batch : int or None, default=None
        How many are answered together; ``None``: 1,000, or fewer where there are many labels.
    limit : int or None, default=None
        The most labels that a document is given; ``None``: as many as the thresholds decide.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit!r}.")
    if model.needs_batch:
        raise ValueError(
            f"A stream must be decided document by document, and "
            f"{type(model.classifier.thresholds_).__name__} looks at all documents together. Train "
            "with other thresholds, or predict in Python (labelkin.load)."
        )
    size = batch if batch is not None else max(1, min(_MOST, _CELLS // max(len(model.labels), 1)))
    return (_answer(model, block, limit) for block in in_blocks(documents, size))


def _answer(model: FittedModel, documents: list[Document], limit: int | None) -> list[Answer]:
    names = [_name(document) for document in documents]
    log_odds = model.log_odds([document.text for document in documents])
    given = best_labels(log_odds, limit, model.decide(log_odds))
    return list(map(Answer, names, given, model.probabilities(log_odds)))


def _name(document: Document) -> str | int:
    """Return what the answer is found again by: a line of the output begins with it."""
    if isinstance(document.name, str) and len(document.name.splitlines()) > 1:
        raise ValueError(f"{document.place}: an id must be on one line, got {document.name!r}.")
    return document.name
