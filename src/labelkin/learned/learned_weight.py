"""The learned evidence weight: how much predicted labels count, found on out-of-fold evidence.

Predicted labels repeat the content they were predicted from, so that the paper's full weight counts
it twice. What they are worth is learned in five steps, all on training documents as if unseen:

1. **weight**: the paper's label evidence E counts w, the w in [0, 1] under which content + w·E is
   best by the criterion (the Brier score: bounded, so that an overconfident classifier cannot
   force w to 0).
2. **correction**: a linear term on the predicted labels, one logistic regression per label with
   content + w·E given, shrunk towards 0 by a Gaussian prior that is ``shrinkage`` times as strong
   as the one of the paper's label evidence. So the weights of predicted labels are w·W + u: the
   paper's, scaled, are the prior mean, and the data must speak clearly to move them. Of candidates
   among very many labels it is linear in the square roots of the predicted labels (``candidates``);
   and as content is often strong there, it counts a quarter less as long as the first labels of
   out-of-fold documents are worse for it (P@3, P@5, nDCG@5).
3. **no harm**: while out-of-fold decisions are clearly worse than without all this by micro F1,
   macro F1, Hamming or subset 0/1 loss, it counts a quarter less.
4. **first place**: how much of this has a say in which label comes first (``first_place``).
5. **known labels**: what a label adds that a person has accepted or rejected (``known_labels``).

What comes out is equation 2 again, with label evidence made for predicted labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells
from labelkin.learned.candidates import CandidateEvidence
from labelkin.learned.criteria import (
    CRITERIA,
    FirstLabels,
    brier_of_candidates,
    does_clear_harm,
)
from labelkin.learned.first_place import choose_first_place, keep_first, keep_first_of_cells
from labelkin.learned.known_labels import PAPER_WEIGHTS, KnownWeights, learn_known_weights
from labelkin.learned.predicted_evidence import PredictedEvidence
from labelkin.method.combination import (
    Combination,
    LabelClassifier,
    Matrix,
    Part,
    combine,
    fill_in_absent,
    fill_in_cells,
)
from labelkin.metrics.judged import Truth
from labelkin.scikit_learn import LinkedEstimator
from labelkin.solvers.logistic import LinearTerm

Criterion = Literal[
    "brier", "log_loss", "hamming_loss", "subset_loss", "one_error", "micro_f1", "macro_f1"
]

#: Weights tried first, and how far on either side of the best the second look goes.
_COARSE, _FINE = 0.1, 0.05
#: Shares of the evidence that are tried where all of it does harm.
_STRENGTHS = (1.0, 0.75, 0.5, 0.25)


class LearnedWeight(LinkedEstimator):
    """How the evidence weight is learned; ``evidence_weight="auto"`` is ``LearnedWeight()``.

    Parameters
    ----------
    criterion : str, default "brier"
        What the weight is best by, out of fold: ``"brier"``, ``"log_loss"``, ``"hamming_loss"``,
        ``"subset_loss"``, ``"one_error"``, ``"micro_f1"`` or ``"macro_f1"``. The default improves
        all of them somewhat; a named measure improves that one more, often at the others' cost.
    shrinkage : float, default 100.0
        How many times stronger the prior of the correction is than the one of the paper's label
        evidence. ``float("inf")``: no correction, one weight alone.
    first_place : bool, default True
        Whether out-of-fold documents decide who comes first. ``False``: the posterior does.

    Examples
    --------
    >>> from labelkin import LabelDependenceClassifier
    >>> model = LabelDependenceClassifier(evidence_weight=LearnedWeight(criterion="micro_f1"))
    """

    def __init__(
        self,
        criterion: Criterion = "brier",
        *,
        shrinkage: float = 100.0,
        first_place: bool = True,
    ) -> None:
        self.criterion = criterion
        self.shrinkage = shrinkage
        self.first_place = first_place

    def check(self) -> None:
        """Raise for parameters that make no sense."""
        if self.criterion not in CRITERIA:
            listed = ", ".join(repr(name) for name in CRITERIA)
            raise ValueError(f"criterion must be one of {listed}, got {self.criterion!r}.")
        if not self.shrinkage > 0:
            raise ValueError(
                f"shrinkage must be above 0, got {self.shrinkage!r}; float('inf') learns one "
                "weight and no correction."
            )

    def learn(self, paper: Combination, evidence: PredictedEvidence | CandidateEvidence) -> Learned:
        """Learn weight, correction, first place and what known labels add.

        Parameters
        ----------
        paper : Combination
            The paper's label evidence, fitted on all documents.
        evidence : PredictedEvidence or CandidateEvidence
            What is known of the same documents, or of their candidates, as if each were new.

        Returns
        -------
        Learned
            The combination, and the posterior of the documents, or of their candidates, as if each
            were new.
        """
        truth = Truth.of(evidence.labels, evidence.weight)
        weight = self._best_weight(evidence, truth)
        added, correction = weight * evidence.paper, None
        if np.isfinite(self.shrinkage):
            offset = evidence.content + added
            correction = evidence.correction(offset, self.shrinkage)
            further = evidence.cross_fitted_correction(offset, self.shrinkage)
            share = _harmless_share(evidence, added, further, truth)
            added = added + share * further
            correction = None if correction is None else correction.scaled(share)
        strength = _harmless_strength(evidence, added, truth)
        added *= strength
        share = 1.0
        if self.first_place:
            share = choose_first_place(
                evidence.content, added, evidence.labels, evidence.weight, evidence.scores
            )
        posterior = evidence.content + added
        contest = evidence.content + share * added
        absent = evidence.absent if isinstance(evidence, CandidateEvidence) else None
        if share < 1 and isinstance(evidence, CandidateEvidence):
            takes_part = ~paper.constant[evidence.cells.label]
            keep_first_of_cells(evidence.cells, posterior, contest, takes_part)
        elif share < 1:
            keep_first(posterior, contest, ~paper.constant)
        known_weights = learn_known_weights(
            evidence, posterior, paper.constant, first_place=self.first_place
        )
        combination = LearnedCombination(
            LearnedLabels(
                paper.labels,
                paper.prior_log_odds,
                strength * weight,
                None if correction is None else correction.scaled(strength),
                by_root=isinstance(evidence, CandidateEvidence) and evidence.by_root,
            ),
            paper.prior,
            paper.prior_log_odds,
            paper.variant,
            1.0,
            paper.constant,
            share,
            known_weights,
            absent,
        )
        return Learned(combination, posterior)

    def _best_weight(self, evidence: PredictedEvidence | CandidateEvidence, truth: Truth) -> float:
        """Look at every tenth, then closer around the best; of equals the smallest."""

        def by_criterion(log_odds: Matrix) -> float:
            return CRITERIA[self.criterion](evidence.scores(log_odds), truth)

        loss: Callable[[Matrix], float] = by_criterion
        if self.criterion == "brier" and isinstance(evidence, CandidateEvidence):
            loss = brier_of_candidates(evidence.cells, truth)

        def best(weights: Any) -> float:
            losses = [loss(evidence.content + w * evidence.paper) for w in weights]
            return float(weights[int(np.argmin(losses))])

        rough = best(np.round(np.arange(0, 1 + _FINE, _COARSE), 2))
        close = np.round([rough - _FINE, rough, rough + _FINE], 2)
        return best(close[(close >= 0) & (close <= 1)])


#: What predicted labels count where nothing says how far their scores can be trusted. Measured on
#: 24 kinds of scores of two corpora (calibrated, overconfident, softmax, noisy): micro F1 rises in
#: most, and falls by 0.02 at most, where the paper's 1 loses up to 0.25.
CAUTIOUS_WEIGHT = 0.1


def cautious_combination(paper: Combination) -> LearnedCombination:
    """Return label evidence that counts cautiously for predicted labels, in full for known ones."""
    labels = LearnedLabels(paper.labels, paper.prior_log_odds, CAUTIOUS_WEIGHT, None)
    given = paper.prior, paper.prior_log_odds, paper.variant, 1.0, paper.constant
    return LearnedCombination(labels, *given)


class Learned(NamedTuple):
    """What was learned, and the posterior log-odds of the training documents as if unseen."""

    combination: LearnedCombination
    out_of_fold: Matrix


@dataclass(frozen=True)
class LearnedLabels:
    """p(label | predicted other labels): the paper's label evidence, weighted and corrected.

    Attributes
    ----------
    labels
        The paper's label classifier, fitted on true labels.
    prior_log_odds
        Of the labels, ``(n_labels,)``.
    weight
        How much of the paper's label evidence counts.
    correction
        What predicted labels say besides; ``None``: nothing.
    by_root
        Whether the correction is linear in the square roots of predicted labels.
    weights_, bias_
        What is linear in predicted labels, in one, where the label classifier is; else ``None``.
    """

    labels: LabelClassifier
    prior_log_odds: Matrix
    weight: float
    correction: LinearTerm | None
    by_root: bool = False
    weights_: Matrix | None = field(init=False, default=None)
    bias_: Matrix | None = field(init=False, default=None)
    rest_: Matrix | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        labels: Any = self.labels
        if getattr(labels, "weights_", None) is None:
            return
        rest = getattr(labels, "rest_", None)
        paper = LinearTerm(labels.weights_, labels.bias_ - self.prior_log_odds, rest)
        both = paper.scaled(self.weight).plus(None if self.by_root else self.correction)
        object.__setattr__(self, "weights_", both.weights)
        object.__setattr__(self, "bias_", both.bias + self.prior_log_odds)
        object.__setattr__(self, "rest_", both.rest)

    def log_odds(self, L: Matrix) -> Matrix:
        """Return the log-odds given predicted labels, ``(n_documents, n_labels)``."""
        if self.weights_ is not None and self.bias_ is not None:
            linear = LinearTerm(self.weights_, self.bias_, self.rest_).at(L)
            if self.by_root and self.correction is not None:
                linear += self.correction.at(np.sqrt(L))
            return linear
        paper = self.labels.log_odds(L) - self.prior_log_odds
        added = 0.0 if self.correction is None else self.correction.at(L)
        return np.asarray(self.prior_log_odds + self.weight * paper + added)


@dataclass(frozen=True)
class LearnedCombination(Combination):
    """Equation 2 with label evidence for predicted labels, and a say in who comes first.

    Attributes
    ----------
    labels
        :class:`LearnedLabels`; they carry the evidence weight, and count in full.
    first_place
        How much predicted labels have a say in which open label comes first.
    known_weights
        How much known labels count.
    absent
        What a label counts as that is no candidate, ``(n_labels,)``; ``None``: 0.
    """

    first_place: float = 1.0
    known_weights: KnownWeights = PAPER_WEIGHTS
    absent: Matrix | None = None

    @property
    def learned_labels(self) -> LearnedLabels:
        """The label evidence for predicted labels."""
        assert isinstance(self.labels, LearnedLabels)
        return self.labels

    @property
    def evidence_weight(self) -> float:
        """How much the paper's label evidence counts where labels are predicted."""
        return self.learned_labels.weight

    @property
    def paper_labels(self) -> LabelClassifier:
        """The paper's label classifier, fitted on true labels."""
        return self.learned_labels.labels

    def with_labels(
        self, labels: Any, prior: Matrix, prior_log_odds: Matrix, constant: NDArray[np.bool_]
    ) -> Self:
        """Return the same rule with label evidence learned from more label sets."""
        now = self.learned_labels
        learned = LearnedLabels(labels, prior_log_odds, now.weight, now.correction, now.by_root)
        return super().with_labels(learned, prior, prior_log_odds, constant)

    @cached_property
    def predicted_roots(self) -> LinearTerm | None:
        """What square roots of predicted labels add to the others; ``None``: nothing."""
        now = self.learned_labels
        if not now.by_root or now.correction is None:
            return None
        return now.correction.scaled(~self.constant) if self.constant.any() else now.correction

    def added_at(self, cells: Cells, filled: Matrix, absent: Matrix | None = None) -> Matrix:
        """Return what predicted labels add at candidate cells, ``(n_cells,)``."""
        added = super().added_at(cells, filled, absent)
        if self.predicted_roots is not None:
            roots = None if absent is None else np.sqrt(absent)
            added += self.predicted_roots.at_cells(cells, np.sqrt(filled), roots)
        return added

    def _combined(self, content: Matrix) -> Matrix:
        label = self.label_evidence(self.fill_in(content))
        posterior = np.asarray(combine(content, label, self.prior_log_odds, self.weight))
        if self.first_place < 1:
            # The contest lies between content and posterior: who is first in both wins it, too.
            first = content.argmax(axis=1)
            asked = (first != posterior.argmax(axis=1)) | self.constant[first]
            share, kept = self.first_place * self.weight, posterior[asked]
            contest = combine(content[asked], label[asked], self.prior_log_odds, share)
            keep_first(kept, contest, ~self.constant)
            posterior[asked] = kept
        return posterior

    def fill_in(self, content: Matrix) -> Matrix:
        """Return predicted labels; what is no candidate, −inf, counts what it is worth."""
        return fill_in_absent(self.variant, content, 0.0 if self.absent is None else self.absent)

    def posterior_at(self, cells: Cells, content: Matrix) -> Matrix:
        """Return the posterior log-odds of candidate cells alone, ``(n_cells,)``."""
        added = self.added_at(cells, fill_in_cells(self.variant, cells, content), self.absent)
        posterior = content + added
        if self.first_place < 1:
            takes_part = ~self.constant[cells.label]
            keep_first_of_cells(cells, posterior, content + self.first_place * added, takes_part)
        return posterior

    def taken_apart(
        self, content: Matrix, known: Matrix | None = None
    ) -> tuple[Matrix, list[Part]]:
        """Return the posterior and its parts, computed together.

        Known labels add to the posterior that there is when nothing is known.
        """
        posterior, parts = super().taken_apart(content)
        parts[2] = parts[2]._replace(root_term=self.predicted_roots)
        moved = np.zeros_like(posterior)
        if self.first_place < 1:
            contest = content + self.first_place * parts[2].log_odds
            _put_first(posterior, contest, ~self.constant, moved)
        if known is not None and not np.isnan(known).all():
            filled = parts[2].values
            if filled is None:  # evidence that is not linear
                filled = self.fill_in(content)
            accepted, rejected = self.known_weights.added(self, filled, known)
            shares = self.known_weights.first_place
            contest = posterior + shares[0] * accepted + shares[1] * rejected
            added = accepted + rejected
            posterior += added
            if min(shares) < 1:
                _put_first(posterior, contest, np.isnan(known) & ~self.constant, moved)
            posterior[known == 1], posterior[known == 0] = np.inf, -np.inf
            terms = self.known_terms
            linear = () if terms is None else (known, filled, *terms)
            parts.append(Part("known labels", added, *linear))
        if min(self.first_place, *self.known_weights.first_place) < 1:
            parts.append(Part("first place", moved))
        return posterior, parts

    @cached_property
    def known_terms(self) -> tuple[LinearTerm, LinearTerm] | None:
        """What accepted and what rejected labels count; ``None``: not linear."""
        paper = self.paper_term
        return None if paper is None else self.known_weights.terms(paper)


def _put_first(
    posterior: Matrix, contest: Matrix, takes_part: NDArray[np.bool_], moved: Matrix
) -> None:
    """Put the winner of the contest first, in place; add what that takes to ``moved``."""
    before = posterior.copy()
    keep_first(posterior, contest, takes_part)
    changed = posterior != before
    moved[changed] += posterior[changed] - before[changed]


def _harmless_share(
    evidence: PredictedEvidence | CandidateEvidence, added: Matrix, further: Matrix, truth: Truth
) -> float:
    """Return how much of a correction leaves the first labels as good as those of content alone.

    All of it where all labels are looked at, or each other label is a neighbour.
    """
    if not (isinstance(evidence, CandidateEvidence) and sparse.issparse(evidence.weights)):
        return 1.0
    alone = FirstLabels(evidence.scores(evidence.content), truth)
    given = evidence.content + added
    tried = ((s, evidence.scores(given + s * further)) for s in _STRENGTHS)
    return next((s for s, posterior in tried if not alone.are_worse_in(posterior)), 0.0)


def _harmless_strength(
    evidence: PredictedEvidence | CandidateEvidence, added: Matrix, truth: Truth
) -> float:
    """Return the largest share of the evidence that does no clear harm out of fold."""
    content = evidence.scores(evidence.content)

    def harms(strength: float) -> bool:
        posterior = evidence.scores(evidence.content + strength * added)
        return does_clear_harm(content, posterior, truth)

    return next((s for s in _STRENGTHS if not harms(s)), 0.0)
