"""Content odds × label odds ÷ prior odds: the paper's equation 2, added up in log-odds.

Label evidence learnt from true labels is asked about guessed ones when a document is new. How the
guesses are made is the *variant*; how much they count is the *evidence weight*; a label that a
person has stated is no guess, and counts in full.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Matrix = NDArray[np.float64]

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


def decided_labels(content: Matrix) -> Matrix:
    """Fill in the other labels as the content decides them (M1, equation 3); ½ counts as yes."""
    return (content >= 0).astype(np.float64)


def probable_labels(content: Matrix) -> Matrix:
    """Fill in the other labels with their probabilities (M2, equation 4)."""
    return np.asarray(expit(content))


VARIANTS: dict[str, Callable[[Matrix], Matrix]] = {
    "hard": decided_labels,
    "soft": probable_labels,
}


class LabelClassifier(Protocol):
    """p(label | other labels), all labels at once; column j of ``L`` is ignored for label j."""

    def fit(self, Y: Any) -> Any:
        """Learn from true labels, ``(n_documents, n_labels)``."""

    def log_odds(self, L: Any) -> Matrix:
        """Return the log-odds given filled-in labels in [0, 1], ``(n_documents, n_labels)``."""


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
        How much they count.
    linear
        Weights and bias of what the other labels add to the prior, 0 for labels of which they say
        nothing; ``None`` where the label classifier is not linear.
    """

    labels: LabelClassifier
    prior: Matrix
    prior_log_odds: Matrix
    variant: Callable[[Matrix], Matrix]
    weight: float
    linear: tuple[Matrix, Matrix] | None = field(init=False)

    def __post_init__(self) -> None:
        labels: Any = self.labels
        speaks = ~self._mute
        linear = None
        if hasattr(labels, "weights_"):
            weights = labels.weights_ if speaks.all() else labels.weights_ * speaks
            linear = weights, (labels.bias_ - self.prior_log_odds) * speaks
        object.__setattr__(self, "linear", linear)

    def posterior(self, content: Matrix, known: Matrix | None = None) -> Matrix:
        """Return the posterior log-odds, ``(n_documents, n_labels)``; ±inf where known."""
        posterior = np.empty(content.shape)
        step = _BLOCK if self.linear else max(len(content), 1)
        for start in range(0, len(content), step):
            rows = slice(start, start + step)
            facts = None if known is None else known[rows]
            posterior[rows] = self._posterior_of_block(content[rows], facts)
        return posterior

    def _posterior_of_block(self, content: Matrix, known: Matrix | None) -> Matrix:
        filled = self.variant(content)
        if known is None or np.isnan(known).all():
            return combine(content, self._evidence(filled), 0.0, self.weight)
        is_known = ~np.isnan(known)
        filled = np.where(is_known, known, filled)
        posterior = content + self._evidence_with_facts(filled, is_known)
        posterior[is_known] = np.where(known[is_known] == 1, np.inf, -np.inf)
        return posterior

    def _evidence(self, filled: Matrix) -> Matrix:
        """Return what the other labels add to the prior: label evidence less the prior."""
        if self.linear is not None:
            weights, bias = self.linear
            evidence: Matrix = filled @ weights
            evidence += bias
            return evidence
        evidence = self.labels.log_odds(filled) - self.prior_log_odds
        evidence[:, self._mute] = 0.0
        return evidence

    def _evidence_with_facts(self, filled: Matrix, is_known: NDArray[np.bool_]) -> Matrix:
        """Evidence in which guesses count with the weight and facts in full.

        A linear classifier's evidence is a sum over labels: each share has its own weight, and the
        constant has the mean of the others' weights. Otherwise the whole has that mean.
        """
        each = np.where(is_known, 1.0, self.weight)
        of_others = (each.sum(axis=1, keepdims=True) - each) / max(each.shape[1] - 1, 1)
        if self.linear is None:
            return of_others * self._evidence(filled)
        weights, bias = self.linear
        constant = bias + self.prior @ weights  # evidence when all labels are at their priors
        return (each * (filled - self.prior)) @ weights + of_others * constant

    @property
    def _mute(self) -> NDArray[np.bool_]:
        """Labels of which the others say nothing: none or all have them, or they are alone."""
        return (self.prior <= 0) | (self.prior >= 1) | (len(self.prior) == 1)
