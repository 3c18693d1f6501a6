"""Decisions judged document by document: is the label set right, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy import sparse

from labelkin.metrics.judged import Block
from labelkin.metrics.sums import Floats, Sums, ratio, weighted_sum


@dataclass(frozen=True, eq=False)
class DocumentSums(Sums):
    """Weighted sums over documents of what their label sets score.

    All but ``n_documents`` are NaN where a label set is not wholly known, or there are no labels.

    Attributes
    ----------
    n_documents
        Sum of the weights.
    wrong_sets
        Documents whose decided label set is not exactly the true one.
    precision, recall, f1, jaccard
        Sums of the documents' own scores; 0/0 is 0, as scikit-learn's default has it: the precision
        of a document with no decided label, the recall of one with no true label, F1 and Jaccard of
        one with neither (although its label set is right).
    """

    n_documents: float
    wrong_sets: float
    precision: float
    recall: float
    f1: float
    jaccard: float

    def mean(self, name: str) -> float:
        """Return the mean over documents of a field; without documents NaN."""
        return float(ratio(getattr(self, name), self.n_documents, nothing=np.nan))

    def scores(self) -> dict[str, float]:
        """Return subset loss and the averages over documents by name."""
        metrics = ("precision", "recall", "f1", "jaccard")
        averages = {f"document_{metric}": self.mean(metric) for metric in metrics}
        return {"subset_loss": self.mean("wrong_sets")} | averages


def sum_documents(block: Block) -> DocumentSums:
    """Compare the label sets of a block."""
    weight, n_documents = block.weight, float(block.weight.sum())
    if block.unknown is not None or block.positive.shape[1] == 0:
        return DocumentSums(n_documents, *[float("nan")] * (len(fields(DocumentSums)) - 1))
    true, decided = _sizes(block.positive), _sizes(block.decided)
    hits = _sizes(block.positive * block.decided)
    return DocumentSums(
        n_documents,
        float(weight[(hits < true) | (hits < decided)].sum()),
        float(weighted_sum(weight, ratio(hits, decided))),
        float(weighted_sum(weight, ratio(hits, true))),
        float(weighted_sum(weight, ratio(2 * hits, true + decided))),
        float(weighted_sum(weight, ratio(hits, true + decided - hits))),
    )


def _sizes(label_sets: sparse.csr_array) -> Floats:
    return label_sets.sum(axis=1)
