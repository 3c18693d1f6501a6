"""What is known of the training documents as if each were new: the ground to learn from.

The paper learns from true labels and asks about predicted ones. What predicted labels are worth can
only be learned where they are predicted, by parts that have not seen the document: content evidence
out of fold, and label evidence from layers fitted without the document's fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.method.combination import Combination, FillIn, Matrix, fit_combination
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.progress import track
from labelkin.solvers.logistic import LinearTerm, fit_logistic_layer

#: Layers that are fitted, each without one fold. An even number: the folds also make two halves.
N_FOLDS = 4
#: To learn from, log-odds beyond this are this: there is nothing to tell apart out there.
_SURE = 500.0
#: Inputs below this may be left out of a term, if at most this share remains.
_HARDLY, _FEW = 0.01, 0.05
#: Share of the objective at which a term is good enough.
_TOL = 1e-9


class PredictedEvidence(NamedTuple):
    """Content and label evidence of the training documents, as if each were new.

    Attributes
    ----------
    content
        Out-of-fold content log-odds, finite, ``(n_documents, n_labels)``.
    filled
        The labels as filled in from it.
    paper
        The paper's label evidence less the prior, given the filled-in labels, by layers that have
        not seen the document.
    labels, weight
        The true labels, and how often each document counts; ``None``: once.
    fold
        The fold of each document: which layer has not seen it.
    layers
        The paper's label evidence, fitted on all folds but one each.
    """

    content: Matrix
    filled: Matrix
    paper: Matrix
    labels: LabelMatrix
    weight: Matrix | None
    fold: NDArray[np.int64]
    layers: Sequence[Combination] = ()

    @classmethod
    def of(
        cls,
        classifier: Any,
        variant: FillIn,
        content: Matrix,
        labels: LabelMatrix,
        weight: Matrix | None,
    ) -> PredictedEvidence:
        """Fill in the labels, and fit clones of the label classifier on all folds but one."""
        filled, fold = variant(content), dealt_folds(labels)
        paper, layers = np.zeros(filled.shape), []
        for k in track(np.unique(fold).tolist(), "label evidence of folds"):
            test = np.flatnonzero(fold == k)
            layers.append(without_fold(classifier, labels, weight, fold, k))
            paper[test] = layers[-1].beyond_prior(filled[test])
        return cls(content, filled, paper, labels, weight, fold, layers)

    def rows(self, index: NDArray[np.bool_]) -> PredictedEvidence:
        """Return the evidence of some documents."""
        return PredictedEvidence(
            self.content[index],
            self.filled[index],
            self.paper[index],
            self.labels.rows(np.flatnonzero(index)),
            None if self.weight is None else self.weight[index],
            self.fold[index],
            self.layers,
        )

    def learn_term(self, offset: Matrix, precision: Matrix) -> LinearTerm:
        """Learn what predicted labels say beyond given log-odds; nothing for constant labels.

        One logistic regression per label, with a Gaussian prior around 0.

        Parameters
        ----------
        offset
            The given log-odds, ``(n_documents, n_labels)``.
        precision
            Of the prior of each label's weights, ``(n_labels,)``.
        """
        times = np.ones(len(offset)) if self.weight is None else self.weight
        layer = fit_logistic_layer(
            _as_inputs(self.filled),
            self.labels.positive,
            times,
            precision,
            unknown=self.labels.unknown,
            offset=offset,
            tol=_TOL,
        )
        varies = ~self.labels.constant(self.weight)
        return layer.term.scaled(varies)

    def scores(self, log_odds: Matrix) -> Matrix:
        """Return log-odds as what the criteria judge: as they are."""
        return log_odds

    def correction(self, offset: Matrix, shrinkage: float) -> LinearTerm:
        """Learn what predicted labels say beyond given log-odds, ``(n_documents, n_labels)``."""
        sets = count_label_sets(self.labels, self.weight)
        return self.learn_term(offset, shrinkage * 2 / prior_scale(sets))

    def cross_fitted_correction(self, offset: Matrix, shrinkage: float) -> Matrix:
        """Return what a correction adds to documents that it was not fitted on: halves, crosswise.

        The prior of the whole, in proportion to the documents: with all of it, a half's correction
        would be weaker than the one that is deployed, and what is tuned on it tuned for another
        posterior.
        """
        added = np.zeros_like(offset)
        times = read_weight(self.weight, len(offset))
        for half in self.halves():
            share = float(times[~half].sum() / times.sum())
            term = self.rows(~half).correction(offset[~half], share * shrinkage)
            added[half] = term.at(self.filled[half])
        return added

    def halves(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two halves of the documents, whole folds each, as masks."""
        first = self.fold < (self.fold.max() + 1) // 2
        return first, ~first


def without_fold(
    classifier: Any,
    labels: LabelMatrix,
    weight: Matrix | None,
    fold: NDArray[np.int64],
    k: int,
) -> Combination:
    """Fit a clone of the label classifier on all folds but one.

    The documents of a part count as many times as makes them the whole: the prior of the label
    classifier is meant for as many documents as there are, and would hold a classifier of fewer
    nearer to itself than the one that is deployed. (Of classifiers that learn from counted label
    sets; others have no prior that is known.)
    """
    train = np.flatnonzero(fold != k)
    times = None if weight is None else weight[train]
    if hasattr(classifier, "fit_counted"):
        part = read_weight(times, len(train))
        times = part * read_weight(weight, len(fold)).sum() / part.sum()
    return fit_combination(classifier, labels.rows(train), sample_weight=times)


def finite_content(content: Any) -> Any:
    """Return content log-odds to learn from: dense, or a CSR array of candidates."""
    if not sparse.issparse(content):
        return np.clip(content, -_SURE, _SURE)
    return Cells.of(content).matrix(np.clip(content.data, -_SURE, _SURE))


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


def _as_inputs(filled: Matrix) -> Matrix | sparse.csr_array:
    """Leave out labels that hardly count where few others are left: thousands of labels."""
    counts = filled >= _HARDLY
    if counts.mean() > _FEW:
        return filled
    return sparse.csr_array(np.where(counts, filled, 0.0))
