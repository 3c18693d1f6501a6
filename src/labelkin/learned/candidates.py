"""What is known of the candidates of training documents as if each document were new.

The same ground to learn from as :mod:`labelkin.learned.predicted_evidence`, where there are too many
labels to look at all: everything is a 1-d array over the candidate cells, and a step costs cells ×
neighbours. A label that is no candidate is not a sure "no": it counts ρ, the share of the documents
without it as a candidate that have it. Candidates count for what they are above their ρ, and a
label of which nothing can be missed counts 0 where it is absent.

Among very many labels nearly all are improbable, and what tells documents apart is whether a label
has 0.01 or 0.1: there the correction is linear in the square roots of the predicted labels, which
lie further apart down there than the labels themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.learned.predicted_evidence import dealt_folds, without_fold
from labelkin.method.combination import Combination, FillIn, Matrix, fill_in_cells
from labelkin.method.label_evidence import mean_other_labels
from labelkin.method.label_sets import count_label_sets
from labelkin.progress import track
from labelkin.solvers.candidate_terms import fit_at_candidates, problems_by_label, with_best_inputs
from labelkin.solvers.logistic import LinearTerm

#: With neighbours as inputs the correction's prior is as strong as it is with so many labels as
#: inputs, however many there are: their number does not grow.
_LABELS = 3000
#: So many labels join a label's neighbours as inputs of its correction, those that promise a gain
#: of more than this in log-likelihood: two standard errors.
_MOST_MORE, _CLEAR_GAIN = 96, 2.0
#: What an input must count in a document to have a say there in who is chosen: the root of 0.01.
_HARDLY = 0.1
#: Share of the objective at which a label's correction is good enough.
_TOL = 1e-5
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
        The paper's label weights on all documents; ``None``: label evidence is not linear.
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

    @property
    def by_root(self) -> bool:
        """Whether the correction is linear in square roots of predicted labels: of neighbours."""
        return bool(sparse.issparse(self.weights))

    def correction(self, offset: Matrix, shrinkage: float) -> LinearTerm | None:
        """Learn what predicted labels say beyond given log-odds, ``(n_cells,)``.

        One logistic regression per label over the documents of which it is a candidate, with a
        Gaussian prior around 0: on all other labels, or, where the paper's weights are those of
        neighbours, on the roots of these, of the labels it clearly gains from besides, and on the
        sum of the others'. ``None`` where label evidence is not linear.
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
                inputs, absent = self._inputs(places)
                added[places] = term.at_cells(part, inputs, absent)
        return added

    def _inputs(self, places: Any) -> tuple[Matrix, Matrix]:
        """Return what the correction is linear in: of some cells, and of absent labels."""
        filled = self.filled[places], self.absent
        return (np.sqrt(filled[0]), np.sqrt(filled[1])) if self.by_root else filled

    def _learn(
        self, offset: Matrix, shrinkage: float, rows: NDArray[np.bool_]
    ) -> LinearTerm | None:
        if self.weights is None:
            return None
        index, whole = np.flatnonzero(rows), read_weight(self.weight, self.cells.shape[0])
        cells, labels, places = self.cells, self.labels, cast(Any, slice(None))
        if not rows.all():
            cells, places = self.cells.take(index)
            labels = self.labels.rows(index)
        truth = cells.at(labels.positive).astype(np.int8)
        if labels.unknown is not None:
            truth[cells.at(labels.unknown) > 0] = -1
        inputs, absent = self._inputs(places)
        values = inputs - absent[cells.label]
        problems = problems_by_label(
            cells,
            values,
            truth,
            offset[places],
            whole[index],
            self.weights,
            self._penalty(shrinkage),
        )
        varies = np.flatnonzero(~self.labels.constant(self.weight))
        has_rest = self.by_root
        if has_rest:
            problems = with_best_inputs(
                problems, cells, values, varies, most=_MOST_MORE, least=_CLEAR_GAIN, hardly=_HARDLY
            )
        learned = fit_at_candidates(problems, varies, rest=has_rest, tol=_TOL)
        pattern = problems.inputs, problems.input_ends
        weights = sparse.csc_array((learned.weights, *pattern), shape=(self.cells.shape[1],) * 2)
        term = LinearTerm(weights, learned.bias, learned.rest if has_rest else None)
        # Inputs are what candidates are above ρ: with all at ρ there is the bias alone.
        return term._replace(bias=learned.bias - term.beyond_bias(absent))

    def _penalty(self, shrinkage: float) -> Matrix:
        sets = count_label_sets(self.labels, self.weight)
        n_labels = _LABELS if sparse.issparse(self.weights) else self.labels.shape[1]
        return np.asarray(shrinkage * 2 * (1 + mean_other_labels(sets)) / (n_labels + 1))


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
