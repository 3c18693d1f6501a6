"""Content odds × label odds ÷ prior odds: the paper's equation 2, added up in log-odds.

Label evidence learnt from true labels is asked about guessed ones when a document is new. How the
guesses are made is the *variant* (``guesses``); how much they count is the *evidence weight*, and a
*correction* learnt on guesses may be added; a label that a person has stated is no guess, and
counts as the paper has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from labelkin.beyond.first_place import keep_first
from labelkin.beyond.guesses import Guesses, Matrix

#: Documents combined at a time: what lies between content and posterior stays in the cache.
_BLOCK = 512


def combine(content: Any, label: Any, prior: Any, weight: Any = 1.0) -> Any:
    """Weigh what the text says against what the other labels say; everything in log-odds.

    Equation 2 of the paper is ``weight = 1``; 0 is the content alone.

    Examples
    --------
    Two independent hints of 0.9 on a label that half the documents have:

    >>> from scipy.special import expit, logit
    >>> round(float(expit(combine(logit(0.9), logit(0.9), logit(0.5)))), 3)
    0.988
    """
    return content + weight * (label - prior)


class LabelClassifier(Protocol):
    """p(label | other labels), all labels at once; column j of ``L`` is ignored for label j."""

    def fit(self, Y: Any) -> Any:
        """Learn from true labels, ``(n_documents, n_labels)``."""

    def log_odds(self, L: Any) -> Matrix:
        """Return the log-odds given filled-in labels in [0, 1], ``(n_documents, n_labels)``."""


class LinearEvidence(NamedTuple):
    """What labels add to the log-odds of the others: ``labels @ weights + bias``.

    ``weights[k, j]`` is what label k says of label j, ``(n_labels, n_labels)``; ``bias`` is what is
    said when no label is there, ``(n_labels,)``.
    """

    weights: Matrix
    bias: Matrix

    def constant(self, prior: Matrix) -> Matrix:
        """Return what is said when all labels are at their priors."""
        return np.asarray(self.bias + prior @ self.weights)


@dataclass(frozen=True)
class Combination:
    """The fitted rule that turns content log-odds into the posterior's.

    Attributes
    ----------
    labels
        The label classifier. One with ``weights_`` (n_labels × n_labels, ``[k, j]`` = what label k
        says of label j) and ``bias_`` is linear, and then each known label counts for itself.
    prior
        p(label), ``(n_labels,)``.
    prior_log_odds
        Its log-odds, finite.
    variant
        How guessed labels are filled in.
    weight
        How much the paper's label evidence counts where labels are guessed.
    correction
        What guessed labels say besides; ``None``: nothing.
    first_place
        How much guessed labels have a say in which open label comes first: see ``first_place``.
    mute
        Labels of which the others say nothing, ``(n_labels,)``. ``None``: those that no document
        has or all have, and a label that is alone.
    stated, guessed
        What a stated label and what a guessed one adds to the others; ``None`` where the label
        classifier is not linear. Labels of which the others say nothing have 0.
    """

    labels: LabelClassifier
    prior: Matrix
    prior_log_odds: Matrix
    variant: Guesses
    weight: float
    correction: LinearEvidence | None = None
    first_place: float = 1.0
    mute: Any = None
    stated: LinearEvidence | None = field(init=False)
    guessed: LinearEvidence | None = field(init=False)

    def __post_init__(self) -> None:
        if self.mute is None:
            object.__setattr__(self, "mute", (self.prior <= 0) | (self.prior >= 1))
        if len(self.prior) == 1:
            object.__setattr__(self, "mute", np.ones(1, dtype=np.bool_))
        stated = guessed = None
        labels: Any = self.labels
        if hasattr(labels, "weights_"):
            speaks = ~self.mute
            weights = labels.weights_ if speaks.all() else labels.weights_ * speaks
            stated = LinearEvidence(weights, (labels.bias_ - self.prior_log_odds) * speaks)
            guessed = self._corrected(LinearEvidence(*(self.weight * part for part in stated)))
        object.__setattr__(self, "stated", stated)
        object.__setattr__(self, "guessed", guessed)

    def posterior(self, content: Matrix, known: Matrix | None = None) -> Matrix:
        """Return the posterior log-odds, ``(n_documents, n_labels)``; ±inf where known."""
        posterior = np.empty(content.shape)
        step = _BLOCK if self.stated else max(len(content), 1)
        for start in range(0, len(content), step):
            rows = slice(start, start + step)
            facts = None if known is None or np.isnan(known[rows]).all() else known[rows]
            posterior[rows] = self._posterior_of_block(content[rows], facts)
        return posterior

    def _posterior_of_block(self, content: Matrix, known: Matrix | None) -> Matrix:
        filled = self.variant(content)
        if known is None:
            guesses = self.from_guesses(filled)
            posterior = content + guesses
            if self.first_place < 1:
                contest = content + self.first_place * guesses
                keep_first(posterior, contest, ~self.mute if self.mute.any() else None)
            return posterior
        is_known = ~np.isnan(known)
        guesses, facts = self.from_guesses_and_facts(np.where(is_known, known, filled), is_known)
        posterior = content + guesses + facts
        if self.first_place < 1:
            contest = content + facts + self.first_place * guesses
            keep_first(posterior, contest, ~(is_known | self.mute))
        posterior[is_known] = np.where(known[is_known] == 1, np.inf, -np.inf)
        return posterior

    def paper_evidence(self, filled: Matrix) -> Matrix:
        """Return what the other labels add to the prior: label evidence less the prior."""
        if self.stated is not None:
            evidence: Matrix = filled @ self.stated.weights
            evidence += self.stated.bias
            return evidence
        evidence = self.labels.log_odds(filled) - self.prior_log_odds
        evidence[:, self.mute] = 0.0
        return evidence

    def from_guesses(self, filled: Matrix) -> Matrix:
        """Return what the other labels add when all of them are guessed."""
        if self.guessed is not None:
            evidence: Matrix = filled @ self.guessed.weights
            evidence += self.guessed.bias
            return evidence
        evidence = self.weight * self.paper_evidence(filled)
        if self.correction is not None:
            evidence += filled @ self.correction.weights + self.correction.bias
        return evidence

    def from_guesses_and_facts(
        self, filled: Matrix, is_known: NDArray[np.bool_]
    ) -> tuple[Matrix, Matrix]:
        """Return what guessed labels add, and what stated ones do.

        Linear evidence is a sum over labels, so that each label has its own share: its weight times
        what it is above its prior. The constant that remains, when all labels are at their priors,
        is shared out by the numbers of guessed and stated labels among the others. Evidence that is
        not linear is shared out like that as a whole.
        """
        fact = known_share(is_known)
        above = filled - self.prior
        if self.stated is not None and self.guessed is not None:
            guesses = np.where(is_known, 0.0, above) @ self.guessed.weights
            guesses += (1 - fact) * self.guessed.constant(self.prior)
            facts = np.where(is_known, above, 0.0) @ self.stated.weights
            return guesses, facts + fact * self.stated.constant(self.prior)
        evidence = self.paper_evidence(filled)
        guesses = (1 - fact) * self.weight * evidence
        if self.correction is not None:
            guesses += np.where(is_known, 0.0, above) @ self.correction.weights
            guesses += (1 - fact) * self.correction.constant(self.prior)
        return guesses, fact * evidence

    def _corrected(self, weighted: LinearEvidence) -> LinearEvidence:
        if self.correction is None:
            return weighted
        return LinearEvidence(
            weighted.weights + self.correction.weights, weighted.bias + self.correction.bias
        )


def known_share(is_known: NDArray[np.bool_]) -> Matrix:
    """Return which share of each label's others is known, ``(n_documents, n_labels)``."""
    n_others = max(is_known.shape[1] - 1, 1)
    return (is_known.sum(axis=1, keepdims=True) - is_known) / n_others
