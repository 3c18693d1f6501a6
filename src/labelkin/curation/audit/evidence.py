"""What is known of every cell of a labelled corpus, as if its document were new.

Content evidence comes from a classifier that has not seen the document; label evidence is equation
2's, given the document's own other labels, by layers that have not seen it. So neither knows what
the corpus says of the cell itself.
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

#: Cells that are computed at a time: 16 MB of float64.
BLOCK_CELLS = 2**21

Cells = NDArray[np.float32]


class GivenEvidence(NamedTuple):
    """What the given other labels say of each label, by layers that have not seen the document.

    Attributes
    ----------
    added
        Label evidence less the prior, in log-odds, ``(n_documents, n_labels)``, float32.
    layers
        The fitted label evidence, one for each fold …
    fold
        … and the fold of each document, ``(n_documents,)``: layer k has not seen fold k.
    """

    added: Cells
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
        """Fit clones of the label classifier on all folds but one, and ask about that one.

        Parameters
        ----------
        classifier : label classifier
        labels : LabelMatrix
            What the corpus says.
        weight : array of shape (n_documents,), optional
            How often each document counts.
        learned : LabelMatrix, optional
            What the layers learn from, where it is not ``labels``: the labels without their
            suspects. They are asked about what the corpus says all the same: whether a cell is
            suspected depends on what the corpus says of it, and must not come back as evidence.
        """
        source = labels if learned is None else learned
        fold = round_robin_folds(labels)
        added = np.zeros(labels.shape, dtype=np.float32)
        layers = []
        for k in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            times = None if weight is None else weight[train]
            if hasattr(classifier, "fit_counted"):
                # As many documents as there are: the prior of the layer is meant for these.
                part = read_weight(times, len(train))
                times = part * read_weight(weight, labels.shape[0]).sum() / part.sum()
            layer = PaperEvidence.fit(classifier, source.rows(train), times)
            layers.append(layer)
            for rows in blocks(test, labels.shape[1]):
                added[rows] = layer.at(_given(labels.rows(rows), layer.prior))
        return cls(added, tuple(layers), fold)

    def contributions(self, labels: LabelMatrix, i: int, j: int) -> Matrix | None:
        """Return what each other label adds to label j of document i; ``None``: not linear."""
        layer = self.layers[int(self.fold[i])]
        if layer.linear is None:
            return None
        given = _given(labels.rows([i]), layer.prior)[0]
        return np.asarray((given - layer.prior) * layer.linear.weights[:, j])


def blocks(rows: NDArray[np.int64], n_labels: int) -> Iterator[NDArray[np.int64]]:
    """Yield some documents at a time, so many that their cells fit into memory."""
    size = max(1, BLOCK_CELLS // max(n_labels, 1))
    yield from (rows[start : start + size] for start in range(0, len(rows), size))


def _given(labels: LabelMatrix, prior: Matrix) -> Matrix:
    """Return the labels of some documents as 0 and 1; an unknown one counts its prior."""
    values = labels.dense()
    return values if labels.unknown is None else np.where(np.isnan(values), prior, values)
