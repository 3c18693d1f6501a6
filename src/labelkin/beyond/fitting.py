"""From training labels, and out-of-fold content evidence where it is there, to a combination."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from labelkin.beyond.first_place import keep_first
from labelkin.beyond.guesses import VARIANTS, CutLabels, Guesses, Matrix, fit_calibrated_labels
from labelkin.beyond.learned_weight import (
    GuessedEvidence,
    LearnedWeight,
    cross_fitted_evidence,
    dealt_folds,
    fit_paper_layer,
)
from labelkin.label_matrix import LabelMatrix
from labelkin.method.combination import Combination
from labelkin.thresholds import ThresholdRule, as_rule

#: To learn from, log-odds beyond this are this: there is nothing to tell apart out there.
_SURE = 500.0
#: With fewer documents nothing is learnt about guesses, and they count nothing.
_FEWEST = 8


class Fitted(NamedTuple):
    """A combination, and the posterior log-odds of the training documents as if unseen."""

    combination: Combination
    out_of_fold: Matrix | None


def learns_from_guesses(variant: Any, evidence_weight: Any) -> bool:
    """Tell whether there is something to learn from out-of-fold content evidence."""
    learns_cuts = isinstance(variant, ThresholdRule) and as_rule(variant, "log_odds").needs_scores
    return learns_cuts or isinstance(read_evidence_weight(evidence_weight), LearnedWeight)


def is_too_little(labels: LabelMatrix) -> bool:
    """Tell whether there are too few documents, or labels, to learn anything about guesses."""
    return labels.shape[0] < _FEWEST or labels.shape[1] < 2


def fit_combination(
    classifier: Any,
    variant: Any,
    evidence_weight: Any,
    labels: LabelMatrix,
    *,
    content: Matrix | None = None,
    weight: Matrix | None = None,
    out_of_fold: bool = False,
) -> Fitted:
    """Learn how labels go together and how much guessed labels count.

    Parameters
    ----------
    classifier
        A label classifier to be cloned and fitted.
    variant, evidence_weight
        As :class:`labelkin.LabelRescorer` takes them.
    labels
        The true labels of the training documents.
    content
        Their out-of-fold content log-odds; needed where there is something that
        :func:`learns_from_guesses`, and for ``out_of_fold``.
    weight
        How often each document counts.
    out_of_fold
        Whether their out-of-fold posterior is wanted.
    """
    if weight is not None and not (weight > 0).all():
        return _fit_without_absent(
            classifier, variant, evidence_weight, labels, content, weight, out_of_fold
        )
    chosen = read_evidence_weight(evidence_weight)
    learns = isinstance(chosen, LearnedWeight)
    paper = fit_paper_layer(classifier, labels, weight)
    if content is not None:
        content = np.clip(content, -_SURE, _SURE)
    if learns and is_too_little(labels):
        learns, chosen = False, 0.0
    guesses = _fit_guesses(variant, learns, content, labels, weight)
    if content is None or not (learns or out_of_fold):
        return Fitted(replace(paper, variant=guesses, weight=chosen), None)
    evidence = _guessed_evidence(classifier, guesses, content, labels, weight)
    if not isinstance(chosen, LearnedWeight):
        combination = replace(paper, variant=guesses, weight=chosen)
        return Fitted(combination, content + chosen * evidence.paper)
    learned = chosen.learn(evidence)
    combination = replace(
        paper,
        variant=guesses,
        weight=learned.weight,
        correction=learned.correction,
        first_place=learned.first_place,
    )
    posterior = content + learned.added
    if learned.first_place < 1:
        keep_first(posterior, content + learned.first_place * learned.added, ~combination.mute)
    return Fitted(combination, posterior)


def _fit_without_absent(
    classifier: Any,
    variant: Any,
    evidence_weight: Any,
    labels: LabelMatrix,
    content: Matrix | None,
    weight: Matrix,
    out_of_fold: bool,
) -> Fitted:
    """Fit on the documents that count; the others are judged like new ones."""
    counts = np.flatnonzero(weight > 0)
    combination, posterior = fit_combination(
        classifier,
        variant,
        evidence_weight,
        labels.rows(counts),
        content=None if content is None else content[counts],
        weight=weight[counts],
        out_of_fold=out_of_fold,
    )
    if posterior is None or content is None:
        return Fitted(combination, None)
    judged = combination.posterior(content)
    judged[counts] = posterior
    return Fitted(combination, judged)


def read_evidence_weight(value: Any) -> float | LearnedWeight:
    """Return a number of at least 0, or how the weight is learnt."""
    if isinstance(value, LearnedWeight):
        value.check()
        return value
    if isinstance(value, str) and value == "auto":
        return LearnedWeight()
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    weight = float(value) if is_number else -1.0
    if not 0 <= weight < np.inf:
        raise ValueError(
            f'evidence_weight must be a number of at least 0, "auto" or a LearnedWeight, got '
            f"{value!r}; 1 is the paper, 0 the content alone."
        )
    return weight


def read_variant(value: Any) -> Guesses | ThresholdRule:
    """Return the paper's way of filling labels in, or the rule that is to decide them."""
    if isinstance(value, ThresholdRule):
        if as_rule(value, "log_odds").needs_batch:
            raise ValueError(
                f"A variant must fill in the labels of each document by itself, and {value!r} "
                "looks at all documents together. Use SCutFBR(), GlobalCut() or another rule."
            )
        return value
    if not isinstance(value, str) or value not in VARIANTS:
        listed = ", ".join(repr(choice) for choice in VARIANTS)
        raise ValueError(
            f"variant must be one of {listed}, or a threshold rule such as SCutFBR(), "
            f"got {value!r}."
        )
    return VARIANTS[value]


def _fit_guesses(
    variant: Any,
    calibrated: bool,
    content: Matrix | None,
    labels: LabelMatrix,
    weight: Matrix | None,
) -> Guesses:
    """Fit how labels are filled in; a learnt weight makes soft guesses calibrated ones."""
    chosen = read_variant(variant)
    if isinstance(chosen, ThresholdRule):
        return CutLabels(fit_rule(as_rule(chosen, "log_odds"), content, labels, weight))
    if variant == "soft" and calibrated and content is not None:
        return fit_calibrated_labels(content, labels, weight)
    return chosen


def fit_rule(
    rule: ThresholdRule, scores: Matrix | None, labels: LabelMatrix, weight: Matrix | None
) -> ThresholdRule:
    """Fit a rule on what it needs; documents that count nothing are as good as absent.

    Rules count documents, and do not weigh them otherwise.
    """
    seen = scores if rule.needs_scores else None
    if weight is None or (weight > 0).all():
        return rule.fit(seen, labels)
    rows = np.flatnonzero(weight > 0)
    return rule.fit(None if seen is None else seen[rows], labels.rows(rows))


def _guessed_evidence(
    classifier: Any,
    guesses: Guesses,
    content: Matrix,
    labels: LabelMatrix,
    weight: Matrix | None,
) -> GuessedEvidence:
    filled = guesses(content)
    fold = dealt_folds(labels)
    paper = cross_fitted_evidence(classifier, filled, labels, fold, weight)
    return GuessedEvidence(content, filled, paper, labels, weight, fold)
