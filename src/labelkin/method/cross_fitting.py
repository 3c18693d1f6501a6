"""Label evidence for training documents from layers that have not seen their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.method.combination import Combination
from labelkin.method.guesses import Matrix, probable_labels
from labelkin.odds import count_log_odds

#: Layers that are fitted, each without one fold. An even number: the folds also make two halves.
N_FOLDS = 4


def dealt_folds(labels: LabelMatrix) -> NDArray[np.int64]:
    """Return the fold of each document, ``(n_documents,)``: dealt like cards, rare labels first.

    Documents are sorted by their rarest label and dealt out in turn, so that the folds share every
    label as evenly as its documents allow. Nothing is drawn at random, and the order of the labels
    does not matter.
    """
    n_documents, n_labels = labels.shape
    positive = labels.positive
    place = _places_by_rarity(positive)
    rarest = np.full(n_documents, n_labels)
    has_some = np.flatnonzero(np.diff(positive.indptr))
    starts = positive.indptr[has_some]
    if len(starts):
        rarest[has_some] = np.minimum.reduceat(place[positive.indices], starts)
    fold = np.empty(n_documents, dtype=np.int64)
    fold[np.argsort(rarest, kind="stable")] = np.arange(n_documents) % N_FOLDS
    return fold


def _places_by_rarity(positive: sparse.csr_array) -> NDArray[np.int64]:
    """Return the place of each label, 0 for the rarest; of equals, that with earlier documents."""
    numbers = np.arange(1.0, positive.shape[0] + 1)
    keys = [positive.T @ numbers**power for power in (2, 1, 0)]
    place = np.empty(positive.shape[1], dtype=np.int64)
    place[np.lexsort(keys)] = np.arange(positive.shape[1])
    return place


def cross_fitted_evidence(
    classifier: Any,
    filled: Matrix,
    labels: LabelMatrix,
    fold: NDArray[np.int64],
    weight: Matrix | None = None,
) -> Matrix:
    """Return the paper's label evidence less the prior, ``(n_documents, n_labels)``.

    Parameters
    ----------
    classifier
        A label classifier; clones of it are fitted on all folds but one.
    filled
        The other labels of every document as they are guessed.
    labels
        The true labels.
    fold
        The fold of every document.
    weight
        How often each document counts; none: once.
    """
    evidence = np.zeros(filled.shape)
    for k in np.unique(fold):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        layer = fit_paper_layer(
            classifier, labels.rows(train), None if weight is None else weight[train]
        )
        evidence[test] = layer.paper_evidence(filled[test])
    return evidence


def fit_paper_layer(classifier: Any, labels: LabelMatrix, weight: Matrix | None) -> Combination:
    """Fit a clone of the label classifier; return the paper's combination with it."""
    fitted = clone(classifier)
    counted = {} if weight is None else {"sample_weight": weight}
    fitted.fit(labels_for(fitted, labels), **counted)
    positive, known = labels.counts(weight)
    return Combination(
        fitted,
        labels.prior(weight),
        count_log_odds(positive, known),
        probable_labels,
        1.0,
        mute=(positive <= 0) | (positive >= known),
    )
