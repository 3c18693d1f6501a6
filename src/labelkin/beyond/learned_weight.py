"""The learnt evidence weight: how much guessed labels count, found on out-of-fold evidence.

Guessed labels repeat the content they were guessed from, so that the paper's full weight counts it
twice. What they are worth is learnt in four steps, all on training documents as if unseen:

1. **weight**: the paper's label evidence E counts w, the w in [0, 1] under which content + w·E is
   best by the criterion (the Brier score: bounded, so that an overconfident classifier cannot
   force w to 0).
2. **correction**: a label layer on the guesses, one logistic regression per label with
   content + w·E given, shrunk towards 0 by a Gaussian prior that is ``shrinkage`` times as strong
   as the one of the paper's layer. So the weights of guessed labels are w·W + u: the paper's,
   scaled, are the prior mean, and the data must speak clearly to move them.
3. **no harm**: while out-of-fold decisions are clearly worse than without all this by micro F1,
   macro F1, Hamming or subset 0/1 loss, it counts a quarter less (``do_no_harm``).
4. **first place**: how much of this has a say in which label comes first (``first_place``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from labelkin.beyond.criteria import CRITERIA, Truth, does_clear_harm
from labelkin.beyond.first_place import choose_first_place
from labelkin.beyond.guesses import Matrix, probable_labels
from labelkin.label_matrix import LabelMatrix, labels_for
from labelkin.method.combination import Combination, LinearEvidence
from labelkin.method.label_sets import count_label_sets
from labelkin.odds import count_log_odds
from labelkin.solvers.logistic import fit_logistic_layer, prior_scale

#: Weights tried first, and how far on either side of the best the second look goes.
_COARSE, _FINE = 0.1, 0.05
#: Shares of the evidence that are tried where all of it does harm.
_STRENGTHS = (1.0, 0.75, 0.5, 0.25)
#: Guesses below this may be left out of the correction's inputs, if at most this share remains.
_HARDLY, _FEW = 0.01, 0.05
#: Share of the objective at which a correction is good enough.
_TOL = 1e-9


class LearnedWeight(BaseEstimator):
    """How the evidence weight is learnt; ``evidence_weight="auto"`` is ``LearnedWeight()``.

    Parameters
    ----------
    criterion
        What the weight is best by, out of fold: ``"brier"`` (default), ``"log_loss"``,
        ``"hamming_loss"``, ``"subset_loss"``, ``"one_error"``, ``"micro_f1"``, ``"macro_f1"``. The
        default improves all of them somewhat; a named measure improves that one more, often at the
        others' cost.
    shrinkage
        How many times stronger the prior of the correction is than the one of the paper's label
        layer. ``float("inf")``: no correction, one weight alone.
    first_place
        Whether out-of-fold documents decide who comes first. ``False``: the posterior does.

    Examples
    --------
    >>> from labelkin import LabelDependenceClassifier
    >>> model = LabelDependenceClassifier(evidence_weight=LearnedWeight(criterion="micro_f1"))
    """

    def __init__(
        self, criterion: str = "brier", shrinkage: float = 100.0, first_place: bool = True
    ) -> None:
        self.criterion = criterion
        self.shrinkage = shrinkage
        self.first_place = first_place

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        if self.criterion not in CRITERIA:
            listed = ", ".join(repr(name) for name in CRITERIA)
            raise ValueError(f"criterion must be one of {listed}, got {self.criterion!r}.")
        if not self.shrinkage > 0:
            raise ValueError(
                f"shrinkage must be above 0, got {self.shrinkage!r}; float('inf') learns one "
                "weight and no correction."
            )

    def learn(self, evidence: GuessedEvidence) -> LearnedEvidence:
        """Learn weight, correction and first place."""
        self.check()
        truth = Truth.of(evidence.labels, evidence.weight)
        weight = self._best_weight(evidence, truth)
        offset = evidence.content + weight * evidence.paper
        added, correction = weight * evidence.paper, None
        if np.isfinite(self.shrinkage):
            correction = _correction(evidence, offset, self.shrinkage)
            added = added + _cross_fitted_correction(evidence, offset, self.shrinkage)
        strength = _harmless_strength(evidence.content, added, truth)
        added *= strength
        share = 1.0
        if self.first_place:
            share = choose_first_place(evidence.content, added, evidence.labels, evidence.weight)
        return LearnedEvidence(strength * weight, _scaled(correction, strength), share, added)

    def _best_weight(self, evidence: GuessedEvidence, truth: Truth) -> float:
        """Look at every tenth, then closer around the best; of equals the smallest."""
        loss = CRITERIA[self.criterion]

        def best(weights: Any) -> float:
            losses = [loss(evidence.content + w * evidence.paper, truth) for w in weights]
            return float(weights[int(np.argmin(losses))])

        rough = best(np.round(np.arange(0, 1 + _FINE, _COARSE), 2))
        close = np.round([rough - _FINE, rough, rough + _FINE], 2)
        return best(close[(close >= 0) & (close <= 1)])


class GuessedEvidence(NamedTuple):
    """What is known of the training documents, as if each were new.

    Attributes
    ----------
    content
        Out-of-fold content log-odds, finite, ``(n_documents, n_labels)``.
    filled
        The other labels as guessed from it.
    paper
        The paper's label evidence from the guesses, by layers that have not seen the document.
    labels, weight
        The true labels, and how often each document counts.
    fold
        Number of the fold of each document: which layers have not seen it.
    """

    content: Matrix
    filled: Matrix
    paper: Matrix
    labels: LabelMatrix
    weight: Matrix | None
    fold: NDArray[np.int64]

    def rows(self, index: NDArray[np.bool_]) -> GuessedEvidence:
        """Return the evidence of some documents."""
        return GuessedEvidence(
            self.content[index],
            self.filled[index],
            self.paper[index],
            self.labels.rows(np.flatnonzero(index)),
            None if self.weight is None else self.weight[index],
            self.fold[index],
        )


class LearnedEvidence(NamedTuple):
    """What was learnt, and what it adds to the content of the training documents, out of fold."""

    weight: float
    correction: LinearEvidence | None
    first_place: float
    added: Matrix


def _harmless_strength(content: Matrix, added: Matrix, truth: Truth) -> float:
    """Return the largest share of the evidence that does no clear harm out of fold."""
    return next(
        (s for s in _STRENGTHS if not does_clear_harm(content, content + s * added, truth)), 0.0
    )


def _scaled(correction: LinearEvidence | None, strength: float) -> LinearEvidence | None:
    if correction is None:
        return None
    return LinearEvidence(strength * correction.weights, strength * correction.bias)


def _correction(evidence: GuessedEvidence, offset: Matrix, shrinkage: float) -> LinearEvidence:
    """Fit what guessed labels say beyond the given log-odds; nothing for one-sided labels."""
    labels, weight = evidence.labels, evidence.weight
    positive, total = labels.counts(weight)
    layer = fit_logistic_layer(
        _as_inputs(evidence.filled),
        labels.positive,
        np.ones(labels.shape[0]) if weight is None else weight,
        shrinkage * 2 / prior_scale(count_label_sets(labels, weight)),
        unknown=labels.unknown,
        offset=offset,
        tol=_TOL,
    )
    speaks = (positive > 0) & (positive < total)
    return LinearEvidence(layer.weights * speaks, layer.bias * speaks)


def _as_inputs(filled: Matrix) -> Matrix | sparse.csr_array:
    """Leave out guesses that hardly count where few others are left: thousands of labels."""
    counts = filled >= _HARDLY
    if counts.mean() > _FEW:
        return filled
    return sparse.csr_array(np.where(counts, filled, 0.0))


def _cross_fitted_correction(evidence: GuessedEvidence, offset: Matrix, shrinkage: float) -> Matrix:
    """Return what a correction adds to documents that it was not fitted on: halves, crosswise."""
    added = np.zeros_like(offset)
    for half in _halves(evidence.fold):
        others = evidence.rows(~half)
        layer = _correction(others, offset[~half], shrinkage)
        added[half] = evidence.filled[half] @ layer.weights + layer.bias
    return added


def _halves(fold: NDArray[np.int64]) -> Iterator[NDArray[np.bool_]]:
    first = fold < (fold.max() + 1) // 2
    yield first
    yield ~first


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
