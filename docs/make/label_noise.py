"""Injected label errors, which are known and with which an audit is evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix

Recipe = Literal["random", "label", "document"]
RECIPES: tuple[Recipe, ...] = ("random", "label", "document")
#: How many times as often the shortest texts are labelled wrongly as the longest.
_SHORT = 9.0


def damage_labels(
    labels: LabelMatrix,
    missing: float = 0.1,
    wrong: float = 0.05,
    recipe: Recipe = "random",
    lengths: ArrayLike | None = None,
    random_state: int = 0,
) -> LabelMatrix:
    """Return labels of which some are deleted and some wrong ones are added.

    Parameters
    ----------
    labels : LabelMatrix
        Taken to be right; unknown cells stay unknown.
    missing, wrong : float, default 0.1 and 0.05
        Labels that are deleted, and that are added, as shares of the given ones.
    recipe : "random", "label" or "document", default "random"
        ``"random"``: every given label is as likely to be deleted as any other; wrong ones are
        drawn by the labels' frequencies, their documents at random. ``"label"``: rare labels are
        forgotten more often, by one over the square root of their number. ``"document"``: short
        documents are labelled worse, the shortest nine times as badly as the longest.
    lengths : array of shape (n_documents,), optional
        Of the documents, for ``"document"``.
    random_state : int, default 0
        The same seed gives the same errors.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> labels = read_labels([["tea"], ["milk"], ["tea", "milk"], []] * 25)
    >>> damaged = damage_labels(labels, missing=0.1, wrong=0.05)
    >>> removed = (labels.positive - damaged.positive) == 1
    >>> int(removed.sum()), damaged.positive.nnz
    (10, 95)
    """
    rng = np.random.default_rng(random_state)
    row, column = labels.positive.nonzero()
    count = labels.counts()[0]
    by_document = np.ones(labels.shape[0])
    if recipe == "document":
        if lengths is None:
            raise ValueError("recipe='document' needs the lengths of the documents.")
        order = np.argsort(np.argsort(np.asarray(lengths), kind="stable"), kind="stable")
        by_document = _SHORT ** (1 - order / max(len(order) - 1, 1))
    elif recipe not in RECIPES:
        raise ValueError(f"recipe must be one of {RECIPES}, got {recipe!r}.")
    chance = by_document[row] / (np.sqrt(count[column]) if recipe == "label" else 1.0)
    lost = rng.choice(len(row), round(missing * len(row)), replace=False, p=chance / chance.sum())
    positive = labels.positive.tolil(copy=True)
    positive[row[lost], column[lost]] = 0.0
    taken = set(zip(row.tolist(), column.tolist(), strict=True))
    if labels.unknown is not None:
        taken |= set(zip(*(places.tolist() for places in labels.unknown.nonzero()), strict=True))
    added = _draw_cells(rng, round(wrong * len(row)), by_document, count, taken)
    positive[added[:, 0], added[:, 1]] = 1.0
    result = sparse.csr_array(positive)
    result.eliminate_zeros()
    result.sort_indices()
    return replace(labels, positive=result)


def _draw_cells(
    rng: np.random.Generator,
    n_cells: int,
    by_document: NDArray[np.float64],
    by_label: NDArray[np.float64],
    taken: set[tuple[int, int]],
) -> NDArray[np.int64]:
    """Draw cells that are not taken, by weights of documents and labels."""
    room = len(by_document) * len(by_label) - len(taken)
    if n_cells > room:
        raise ValueError(f"There must be room for {n_cells} wrong labels, got {room} free cells.")
    found: dict[tuple[int, int], None] = {}
    while len(found) < n_cells:
        i = rng.choice(len(by_document), n_cells, p=by_document / by_document.sum())
        j = rng.choice(len(by_label), n_cells, p=by_label / by_label.sum())
        for cell in zip(i.tolist(), j.tolist(), strict=True):
            if cell not in taken and len(found) < n_cells:
                found.setdefault(cell)
    return np.array(list(found), dtype=np.int64).reshape(-1, 2)
