"""What is judged: true label sets beside log-odds and decisions, cut into blocks of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix
from labelkin.metrics.sums import Floats

CELLS_PER_BLOCK = 1 << 20  # 8 MB per dense array of a block
S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Block:
    """Some documents, all with a weight above 0.

    ``positive`` and ``decided`` are 0/1 CSR matrices ``(n_documents, n_labels)``, ``unknown`` marks
    the cells nobody knows (``None``: there are none), ``log_odds`` is a dense float64 matrix,
    ``weight`` ``(n_documents,)``. ``log_odds`` and ``decided`` are ``None`` where they were not
    given; no metric that needs them is asked for then.
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    weight: Floats
    log_odds: Any
    decided: Any


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents with their true label sets and what a classifier said about them."""

    truth: LabelMatrix
    weight: Floats
    log_odds: NDArray[Any] | None = None
    decisions: LabelMatrix | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield the documents in blocks of bounded size; without documents, one empty block."""
        n_documents, n_labels = self.truth.shape
        step = max(1, min(4096, CELLS_PER_BLOCK // max(n_labels, 1)))
        for start in range(0, max(n_documents, 1), step):
            rows = np.arange(start, min(start + step, n_documents))
            yield self._block(rows[self.weight[rows] > 0])

    def add_up(self, count: Callable[[Block], S]) -> S:
        """Return the total of ``count(block)``, a record that adds up, over all blocks."""
        return reduce(add, map(count, self.blocks()))

    def refuse_unknown(self, metric: str) -> Judged:
        """Return itself; unknown cells are an error, for ``metric`` cannot leave them out."""
        if self.truth.unknown is None:
            return self
        row, column = self.truth.unknown.nonzero()
        row, column = row[self.weight[row] > 0], column[self.weight[row] > 0]
        if len(row):
            raise ValueError(
                f"{metric} needs every label of a document to be known, got {len(row)} unknown "
                f"cells (NaN) in {len(np.unique(row))} documents, the first at document {row[0]}, "
                f"label {column[0]}. Leave those documents out, or use a metric that counts cells: "
                "hamming_loss, micro_f1, macro_f1, brier_score, log_loss."
            )
        return self

    def _block(self, rows: NDArray[np.intp]) -> Block:
        truth = self.truth.rows(rows)
        unknown = truth.unknown if truth.unknown is not None and truth.unknown.nnz else None
        log_odds = (
            None if self.log_odds is None else self.log_odds[rows].astype(np.float64, copy=False)
        )
        if self.decisions is not None:
            decided = self.decisions.positive[rows]
        else:
            decided = None if log_odds is None else sparse.csr_array(log_odds > 0, dtype=np.float64)
        return Block(truth.positive, unknown, self.weight[rows], log_odds, decided)
