"""What is known of the candidates of training documents as if each document were new.

The same ground to learn from as :mod:`labelkin.beyond.predicted_evidence`, where there are too many
labels to look at all: everything is a 1-d array over the candidate cells, and a step costs cells ×
neighbours. A label that is no candidate is not a sure "no": it counts ρ, the share of the documents
without it as a candidate that have it. Candidates count for what they are above their ρ, and a
label of which nothing can be missed counts 0 where it is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.beyond.predicted_evidence import dealt_folds, without_fold
from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.method.combination import Combination, FillIn, Matrix, fill_in_cells
from labelkin.method.label_evidence import mean_other_labels
from labelkin.method.label_sets import count_label_sets
from labelkin.progress import track
from labelkin.solvers.logistic import LinearTerm
from labelkin.solvers.neighbourhoods import newton

#: With neighbours as inputs the correction's prior is as strong as it is with so many labels as
#: inputs, however many there are: their number does not grow.
_LABELS = 2000
#: Share of the objective at which a label's correction is good enough.
_TOL = 1e-7
_GONE = 1e-12


class CandidateEvidence(NamedTuple):
    """Content and label evidence of the candidates of training documents, as if each were new.

    Attributes
    ----------
    cells
        The candidates.
    content, filled, paper
        Out-of-fold content log-odds, labels as filled in from them, and the paper's label evidence
        less the prior by layers that have not seen the document; ``(n_cells,)`` each.
    labels, weight, fold
        The true labels, how often each document counts (``None``: once), and its fold.
    layers
        The paper's label evidence, fitted on all folds but one each.
    absent
        ρ: what a label counts as that is no candidate, ``(n_labels,)``.
    weights
        The paper's label weights on all documents, which say who is whose neighbour; ``None``:
        label evidence is not linear.
    """

    cells: Cells
    content: Matrix
    filled: Matrix
    paper: Matrix
    labels: LabelMatrix
    weight: Matrix | None
    fold: NDArray[np.int64]
    layers: Sequence[Combination]
    absent: Matrix
    weights: Any

    @classmethod
    def of(
        cls,
        classifier: Any,
        variant: FillIn,
        content: sparse.csr_array,
        labels: LabelMatrix,
        weight: Matrix | None,
        weights: Any,
    ) -> CandidateEvidence:
        """Fill in the candidates, and fit clones of the label classifier on all folds but one."""
        cells, fold = Cells.of(content), dealt_folds(labels)
        filled = fill_in_cells(variant, cells, content.data)
        absent = share_of_missed(cells, labels, weight)
        paper, layers = np.zeros(cells.n), []
        for k in track(np.unique(fold).tolist(), "label evidence of folds"):
            layers.append(without_fold(classifier, labels, weight, fold, k))
            part, places = cells.take(np.flatnonzero(fold == k))
            paper[places] = layers[-1].added_at(part, filled[places], absent)
        return cls(
            cells, content.data, filled, paper, labels, weight, fold, layers, absent, weights
        )

    def scores(self, log_odds: Matrix) -> sparse.csr_array:
        """Return log-odds of the cells as what the criteria judge."""
        return self.cells.matrix(log_odds)

    def correction(self, offset: Matrix, shrinkage: float) -> LinearTerm | None:
        """Learn what predicted labels say beyond given log-odds, ``(n_cells,)``.

        One logistic regression per label on its neighbours, over the documents of which it is a
        candidate, with a Gaussian prior around 0. ``None`` where label evidence is not linear.
        """
        return self._learn(offset, shrinkage, np.ones(self.cells.shape[0], dtype=np.bool_))

    def cross_fitted_correction(self, offset: Matrix, shrinkage: float) -> Matrix:
        """Return what a correction adds to documents that it was not fitted on, ``(n_cells,)``."""
        added = np.zeros(self.cells.n)
        times = read_weight(self.weight, self.cells.shape[0])
        first = self.fold < (self.fold.max() + 1) // 2
        for half in (first, ~first):
            share = float(times[~half].sum() / times.sum())
            term = self._learn(offset, share * shrinkage, ~half)
            if term is not None:
                part, places = self.cells.take(np.flatnonzero(half))
                added[places] = term.at_cells(part, self.filled[places], self.absent)
        return added

    def _learn(
        self, offset: Matrix, shrinkage: float, rows: NDArray[np.bool_]
    ) -> LinearTerm | None:
        if self.weights is None:
            return None
        problems = _Problems.of(self, offset, rows)
        penalty = self._penalty(shrinkage)
        varies = ~self.labels.constant(self.weight)
        n_labels = len(varies)
        bias, inputs, weights = np.zeros(n_labels), [np.zeros(0, np.int64)], [np.zeros(0)]
        ends = np.zeros(n_labels + 1, dtype=np.int64)
        for j in np.flatnonzero(varies).tolist():
            neighbours, A, y, times, given = problems.of_label(j)
            ends[j + 1] = len(neighbours)
            if not len(y):
                ends[j + 1] = 0
                continue
            start = np.zeros(A.shape[1])
            w, _ = newton(A, times, times * y, penalty[j], start, _TOL, given)
            inputs.append(neighbours)
            weights.append(w[:-1])
            bias[j] = w[-1]
        shape = n_labels, n_labels
        joined = np.concatenate(weights), np.concatenate(inputs), np.cumsum(ends)
        learned = sparse.csc_array(joined, shape=shape)
        # Inputs are what candidates are above ρ: with all at ρ there is the bias alone.
        return LinearTerm(learned, bias - self.absent @ learned)

    def _penalty(self, shrinkage: float) -> Matrix:
        sets = count_label_sets(self.labels, self.weight)
        n_labels = _LABELS if sparse.issparse(self.weights) else self.labels.shape[1]
        return np.asarray(shrinkage * 2 * (1 + mean_other_labels(sets)) / (n_labels + 1))


class _Problems(NamedTuple):
    """The cells by label: for each, its documents, and what its neighbours count in them."""

    ends: NDArray[Any]
    documents: NDArray[Any]
    values: Matrix  # what the label is above ρ
    truth: Matrix
    times: Matrix
    given: Matrix
    weights: Any
    row_of: NDArray[np.int64]  # -1 for every document, before and after

    @classmethod
    def of(cls, e: CandidateEvidence, offset: Matrix, rows: NDArray[np.bool_]) -> _Problems:
        cells, places = e.cells.take(np.flatnonzero(rows))
        labels = e.labels.rows(np.flatnonzero(rows))
        times = read_weight(e.weight, e.cells.shape[0])[rows][cells.document]
        if labels.unknown is not None:
            times = times * (1 - cells.at(labels.unknown))
        by_label = sparse.csc_array(cells.matrix(np.arange(cells.n)))
        order = by_label.data
        values = (e.filled[places] - e.absent[cells.label])[order]
        return cls(
            by_label.indptr,
            by_label.indices,
            values,
            cells.at(labels.positive)[order],
            times[order],
            offset[places][order],
            e.weights,
            np.full(cells.shape[0], -1, dtype=np.int64),
        )

    def of_label(self, j: int) -> tuple[NDArray[Any], Matrix, Matrix, Matrix, Matrix]:
        """Return neighbours, inputs with a column of ones, truth, times and what is given."""
        own = slice(self.ends[j], self.ends[j + 1])
        documents = self.documents[own]
        if sparse.issparse(self.weights):
            stored = slice(self.weights.indptr[j], self.weights.indptr[j + 1])
            neighbours = self.weights.indices[stored].astype(np.int64)
        else:
            neighbours = np.flatnonzero(np.arange(len(self.ends) - 1) != j)
        A = np.zeros((len(documents), len(neighbours) + 1))
        A[:, -1] = 1.0
        self.row_of[documents] = np.arange(len(documents))
        lengths = self.ends[neighbours + 1] - self.ends[neighbours]
        column = np.repeat(np.arange(len(neighbours)), lengths)
        place = np.arange(len(column)) + np.repeat(
            self.ends[neighbours] - (np.cumsum(lengths) - lengths), lengths
        )
        row = self.row_of[self.documents[place]]
        shared = row >= 0
        A[row[shared], column[shared]] = self.values[place[shared]]
        self.row_of[documents] = -1
        return neighbours, A, self.truth[own], self.times[own], self.given[own]


def share_of_missed(cells: Cells, labels: LabelMatrix, weight: Matrix | None) -> Matrix:
    """Return ρ, ``(n_labels,)``: how many documents have a label that is no candidate of theirs."""
    positive, known = labels.counts(weight)
    times = read_weight(weight, cells.shape[0])[cells.document]
    if labels.unknown is not None:
        times = times * (1 - cells.at(labels.unknown))
    missed = positive - cells.sums_by_label(times * cells.at(labels.positive))
    others = known - cells.sums_by_label(times)
    share = np.divide(missed, others, out=np.zeros(len(known)), where=others > _GONE * (1 + known))
    return np.clip(share, 0.0, 1.0)
