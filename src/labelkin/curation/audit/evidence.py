"""Evidence for every cell of a labelled corpus that does not depend on the cell itself.

Content evidence is out of fold. Label evidence is that of equation 2, given the document's own
other labels, by label layers that have not seen the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import LabelMatrix, read_weight
from labelkin.learned.terms import PaperEvidence
from labelkin.method.combination import Matrix

#: Cells computed at a time: 16 MB of float64.
_BLOCK_CELLS = 2**21


class GivenEvidence(NamedTuple):
    """Label evidence of the given other labels, by layers that have not seen the document.

    Attributes
    ----------
    added
        Label evidence less the prior, in log-odds, ``(n_documents, n_labels)``, float32.
    layers
        The fitted label evidence, one per fold.
    fold
        The fold of each document, ``(n_documents,)``: layer k has not seen fold k.
    """

    added: NDArray[np.float32]
    layers: tuple[PaperEvidence, ...]
    fold: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        classifier: Any,
        labels: LabelMatrix,
        weight: Matrix | None = None,
        *,
        learned: LabelMatrix | None = None,
    ) -> GivenEvidence:
        """Fit clones of the label classifier on all folds but one, and predict that one.

        Parameters
        ----------
        classifier : label classifier
        labels : LabelMatrix
            The labels of the corpus.
        weight : array of shape (n_documents,), optional
            Weight of each document.
        learned : LabelMatrix, optional
            Labels to fit on, if not ``labels``: those without suspects. Evidence is computed from
            ``labels`` in any case: whether a cell is suspected depends on its own value, and must
            not return as evidence.
        """
        source = labels if learned is None else learned
        fold = round_robin_folds(labels)
        added = np.zeros(labels.shape, dtype=np.float32)
        layers = []
        for k in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            times = None if weight is None else weight[train]
            if hasattr(classifier, "fit_counted"):
                # Counts as large as those of all documents, for which the layer's prior is meant.
                part = read_weight(times, len(train))
                times = part * read_weight(weight, labels.shape[0]).sum() / part.sum()
            layer = PaperEvidence.fit(classifier, source.rows(train), times)
            layers.append(layer)
            for rows in blocks(test, labels.shape[1]):
                added[rows] = layer.at(_given(labels.rows(rows), layer.prior))
        return cls(added, tuple(layers), fold)

    def contributions(self, labels: LabelMatrix, i: int, j: int) -> Matrix | None:
        """Return the contribution of each label to label j of document i; ``None``: not linear."""
        layer = self.layers[int(self.fold[i])]
        if layer.linear is None:
            return None
        given = _given(labels.rows([i]), layer.prior)[0]
        return np.asarray((given - layer.prior) * layer.linear.weights[:, j])


def blocks(rows: NDArray[np.int64], n_labels: int) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of documents whose cells fit into memory."""
    size = max(1, _BLOCK_CELLS // max(n_labels, 1))
    yield from (rows[start : start + size] for start in range(0, len(rows), size))


def _given(labels: LabelMatrix, prior: Matrix) -> Matrix:
    """Return the labels of some documents as 0 and 1; unknown ones are at their prior."""
    values = labels.dense()
    return values if labels.unknown is None else np.where(np.isnan(values), prior, values)
