"""Label evidence learned from candidates: sparse scores of the best labels of each document.

With very many labels everything is a 1-d array over the candidate cells, and a step costs cells ×
neighbours. A label outside the candidates of a document counts ρ, the share of the documents
without it as a candidate that have it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.learned.terms import PaperEvidence, PredictedLabels
from labelkin.method.combination import FillIn, Matrix
from labelkin.method.label_evidence import mean_other_labels
from labelkin.method.label_sets import count_label_sets
from labelkin.solvers.candidate_terms import CandidateValues, InputChoice, fit_at_candidates
from labelkin.solvers.logistic import LinearTerm

#: With neighbours as inputs, the prior of the correction is as strong as with this many labels.
_LABELS = 3000
#: Labels that join the neighbours as inputs of a correction: each must promise a gain in
#: log-likelihood of two standard errors, counted where its value is at least 0.1.
_MORE_INPUTS = InputChoice(most=96, least=2.0, hardly=0.1)
#: Share of the objective at which the correction of a label stops.
_TOL = 1e-5
_GONE = 1e-12


class CandidateEvidence(NamedTuple):
    """Content and label evidence of the candidates of training documents.

    Attributes
    ----------
    cells
        The candidates.
    content, filled, paper
        Out-of-fold content log-odds, predicted labels, and the paper's label evidence less the
        prior, ``(n_cells,)`` each.
    labels, weight
        True labels and weights of the documents (``None``: 1).
    absent
        ρ, the value of a label outside the candidates, ``(n_labels,)``.
    weights
        The paper's label weights; ``None`` if the label classifier is not linear.
    """

    cells: Cells
    content: Matrix
    filled: Matrix
    paper: Matrix
    labels: LabelMatrix
    weight: Matrix | None
    absent: Matrix
    weights: Any

    @classmethod
    def of(
        cls,
        paper: PaperEvidence,
        fill_in: FillIn,
        content: sparse.csr_array,
        labels: LabelMatrix,
        weight: Matrix | None,
    ) -> CandidateEvidence:
        """Fill in the candidates and compute the label evidence that they give."""
        cells = Cells.of(content)
        filled = PredictedLabels(paper, fill_in).filled_cells(cells, content.data)
        absent = share_of_missed(cells, labels, weight)
        evidence = paper.at_cells(cells, filled, absent)
        weights = None if paper.linear is None else paper.linear.weights
        return cls(cells, content.data, filled, evidence, labels, weight, absent, weights)

    def brier(self, log_odds: Matrix) -> float:
        """Return the sum of squared errors of log-odds of the candidates, ``(n_cells,)``."""
        return float(self._times() @ (expit(log_odds) - self.cells.at(self.labels.positive)) ** 2)

    def correction(self, offset: Matrix, shrinkage: float) -> LinearTerm | None:
        """Fit one logistic regression per label over its candidates, with ``offset`` given.

        The inputs are all other labels; or, with the paper's weights of neighbours, these, labels
        that promise a clear gain, and the sum of the others. ``None`` if label evidence is not
        linear.
        """
        if self.weights is None:
            return None
        cells, n_labels = self.cells, self.cells.shape[1]
        truth = cells.at(self.labels.positive).astype(np.int8)
        if self.labels.unknown is not None:
            truth[cells.at(self.labels.unknown) > 0] = -1
        values = self.filled - self.absent[cells.label]
        sets = count_label_sets(self.labels, self.weight)
        has_neighbours = bool(sparse.issparse(self.weights))
        n_inputs = _LABELS if has_neighbours else n_labels
        penalty = shrinkage * 2 * (1 + mean_other_labels(sets)) / (n_inputs + 1)
        times = read_weight(self.weight, cells.shape[0])
        term = fit_at_candidates(
            CandidateValues(cells, values, truth, offset, times),
            self.weights,
            penalty,
            np.flatnonzero(~self.labels.constant(self.weight)),
            more=_MORE_INPUTS if has_neighbours else None,
            rest=has_neighbours,
            tol=_TOL,
        )
        # Inputs are differences from ρ: with all labels at ρ only the bias remains.
        return term._replace(bias=term.bias - term.beyond_bias(self.absent))

    def _times(self) -> Matrix:
        times = read_weight(self.weight, self.cells.shape[0])[self.cells.document]
        return (
            times
            if self.labels.unknown is None
            else times * (1 - self.cells.at(self.labels.unknown))
        )


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
