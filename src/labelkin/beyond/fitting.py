"""From a user's choice of variant and evidence weight to a fitted combination."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from labelkin.beyond.calibration import (
    CalibratedLabels,
    fit_calibration,
    fit_cell_calibration,
)
from labelkin.beyond.candidates import CandidateEvidence
from labelkin.beyond.learned_weight import LearnedWeight, cautious_combination
from labelkin.beyond.predicted_evidence import PredictedEvidence, finite_content
from labelkin.label_matrix import Cells, LabelMatrix
from labelkin.label_matrix.record import check_choice
from labelkin.memory import check_memory
from labelkin.method.combination import VARIANTS, Combination, FillIn, Matrix, fit_combination
from labelkin.method.label_sets import LabelSets
from labelkin.odds import constant_labels, count_log_odds
from labelkin.thresholds import RuleLabels, ThresholdRule, as_rule, fit_rule

Variant = Literal["soft", "hard"] | ThresholdRule
EvidenceWeight = float | Literal["auto"] | LearnedWeight

#: With fewer documents nothing is learned about predicted and known labels, and they count nothing.
_FEWEST = 8
#: Matrices of documents × labels that are there at a time when a weight is learned.
_COPIES = 10.5


class Fitted(NamedTuple):
    """A combination, and the posterior log-odds of the training documents as if unseen.

    Of candidates, they are ``(n_cells,)``.
    """

    combination: Combination
    out_of_fold: Matrix | None


def fit_posterior(
    classifier: Any,
    variant: Variant,
    evidence_weight: EvidenceWeight,
    labels: LabelMatrix,
    *,
    content: Any = None,
    weight: Matrix | None = None,
    out_of_fold: bool = False,
) -> Fitted:
    """Learn how labels go together and how much predicted labels count.

    Parameters
    ----------
    classifier : label classifier
        Clones of it are fitted.
    variant, evidence_weight
        As :class:`labelkin.LabelRescorer` takes them.
    labels : LabelMatrix
        The true labels of the training documents.
    content : array or CSR array of shape (n_documents, n_labels), optional
        Their out-of-fold content log-odds, of all labels or of candidates; needed where something
        :func:`learns_from_predictions`, and for ``out_of_fold``. With ``"auto"`` and without them
        predicted labels count cautiously.
    weight : array of shape (n_documents,), optional
        How often each document counts.
    out_of_fold : bool, default False
        Whether their out-of-fold posterior is wanted.
    """
    if content is None and is_cautious(evidence_weight):
        paper = fit_posterior(classifier, variant, 1.0, labels, weight=weight).combination
        return Fitted(cautious_combination(paper), None)
    if content is None and learns_from_predictions(variant, evidence_weight):
        raise ValueError(
            f"A weight or cut-offs that are learned (evidence_weight={evidence_weight!r}, "
            f"variant={variant!r}) are learned from predicted labels: fit(Y, scores=...) needs "
            "out-of-fold scores of the training documents."
        )
    if weight is None or (weight > 0).all():
        return _fit(classifier, variant, evidence_weight, labels, content, weight, out_of_fold)
    # Documents that count nothing are as good as absent, and judged like new ones.
    counts = np.flatnonzero(weight > 0)
    combination, posterior = _fit(
        classifier,
        variant,
        evidence_weight,
        labels.rows(counts),
        None if content is None else content[counts],
        weight[counts],
        out_of_fold,
    )
    if posterior is None or content is None:
        return Fitted(combination, None)
    if sparse.issparse(content):
        cells = Cells.of(content)
        judged = combination.posterior_at(cells, content.data)
        judged[cells.take(counts)[1]] = posterior
    else:
        judged = combination.posterior(content)
        judged[counts] = posterior
    return Fitted(combination, judged)


def _fit(
    classifier: Any,
    variant: Any,
    evidence_weight: Any,
    labels: LabelMatrix,
    content: Any,
    weight: Matrix | None,
    out_of_fold: bool,
) -> Fitted:
    chosen = read_weight(usable_weight(evidence_weight, labels))
    learns = isinstance(chosen, LearnedWeight)
    if content is not None and not sparse.issparse(content) and (learns or out_of_fold):
        check_learning(*labels.shape)
    content = None if content is None else finite_content(content)
    fill_in = _fit_fill_in(variant, learns, content, labels, weight)
    number = 1.0 if isinstance(chosen, LearnedWeight) else chosen
    paper = fit_combination(classifier, labels, fill_in, number, weight)
    if content is None or not (learns or out_of_fold):
        return Fitted(paper, None)
    evidence: PredictedEvidence | CandidateEvidence
    if sparse.issparse(content):
        weights = getattr(paper.labels, "weights_", None)
        given = classifier, fill_in, content, labels, weight
        evidence = CandidateEvidence.of(*given, weights)
    else:
        evidence = PredictedEvidence.of(classifier, fill_in, content, labels, weight)
    if isinstance(chosen, LearnedWeight):
        return Fitted(*chosen.learn(paper, evidence))
    return Fitted(paper, evidence.content + chosen * evidence.paper)


def check_learning(n_documents: int, n_labels: int) -> None:
    """Raise before scores of all labels are learned from that take more memory than there is."""
    check_memory(
        _COPIES * 8.0 * n_documents * n_labels,
        f"Learning from scores of {n_documents:,} documents × {n_labels:,} labels",
        "Give a sparse matrix with the best labels of each document: a content classifier with "
        "top=100, or scores of candidates.",
    )


def counted_combination(
    classifier: Any, label_sets: LabelSets, names: Any, variant: Any, evidence_weight: Any
) -> Combination:
    """Return the combination of a fixed weight, learned from label sets that are counted."""
    positive, known = label_sets.positives(), label_sets.known()
    cautious = is_cautious(evidence_weight)
    fill_in = read_variant(variant)
    if isinstance(fill_in, ThresholdRule):
        raise ValueError(
            f"A threshold rule is fitted on documents, not on counted label sets: variant must be "
            f"'soft' or 'hard', got {variant!r}. Use fit(Y)."
        )
    paper = Combination(
        clone(classifier).fit_counted(label_sets, names),
        label_sets.prior(),
        count_log_odds(positive, known),
        fill_in,
        1.0 if cautious else float(evidence_weight),
        constant_labels(positive, known),
    )
    return cautious_combination(paper) if cautious else paper


def is_cautious(evidence_weight: Any) -> bool:
    """Return whether the weight is learned where there is something to learn it from."""
    return isinstance(evidence_weight, str) and evidence_weight == "auto"


def learns_from_predictions(variant: Any, evidence_weight: Any) -> bool:
    """Return whether something is learned from out-of-fold content evidence."""
    learns_cuts = isinstance(variant, ThresholdRule) and as_rule(variant, "log_odds").needs_scores
    return learns_cuts or isinstance(read_weight(evidence_weight), LearnedWeight)


def usable_weight(evidence_weight: EvidenceWeight, labels: LabelMatrix) -> EvidenceWeight:
    """Return 0 for a weight that is to be learned from too few documents, or labels."""
    too_little = labels.shape[0] < _FEWEST or labels.shape[1] < 2
    learns = isinstance(read_weight(evidence_weight), LearnedWeight)
    return 0.0 if learns and too_little else evidence_weight


def read_weight(value: Any) -> float | LearnedWeight:
    """Return a number of at least 0, or how the weight is learned."""
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


def read_variant(value: Any) -> FillIn | ThresholdRule:
    """Return the paper's way of filling labels in, or the rule that is to decide them."""
    if isinstance(value, ThresholdRule):
        if as_rule(value, "log_odds").needs_batch:
            raise ValueError(
                f"A variant must fill in the labels of each document by itself, and {value!r} "
                "looks at all documents together. Use SCutFBR(), GlobalCut() or another rule."
            )
        return value
    check_choice("variant, if it is not a rule such as SCutFBR(),", value, VARIANTS)
    return VARIANTS[value]


def _fit_fill_in(
    variant: Any, learns: bool, content: Any, labels: LabelMatrix, weight: Matrix | None
) -> FillIn:
    """Fit how labels are filled in; a learned weight fills in calibrated probabilities."""
    chosen = read_variant(variant)
    if isinstance(chosen, ThresholdRule):
        return RuleLabels(fit_rule(as_rule(chosen, "log_odds"), content, labels, weight))
    if variant == "soft" and learns and content is not None:
        if sparse.issparse(content):
            cells = Cells.of(content)
            return CalibratedLabels(fit_cell_calibration(cells, content.data, labels, weight))
        return CalibratedLabels(fit_calibration(content, labels, weight, monotone=False))
    return chosen
