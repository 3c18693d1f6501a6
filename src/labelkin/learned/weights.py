"""Weights of label evidence: what users can choose, and their defaults."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from labelkin.method.combination import VARIANTS, FillIn
from labelkin.thresholds import ThresholdRule, rule_for
from labelkin.validation import check_choice, check_memory

#: Evidence weight of predicted labels without out-of-fold scores. On 24 kinds of scores of two
#: corpora micro F1 rises for most and falls by 0.02 at most; the paper's 1 loses up to 0.25.
CAUTIOUS_WEIGHT = 0.1
#: Weight of known labels if the evidence weight is learned.
KNOWN_WEIGHT = 0.75
#: With fewer documents nothing is learned, and label evidence has weight 0.
_FEWEST = 8
#: Matrices of documents × labels in memory while a rule is learned.
_COPIES = 6.0


class LearnedWeight(BaseEstimator):
    """Parameters of the learned rule; ``evidence_weight="auto"`` is ``LearnedWeight()``.

    Parameters
    ----------
    shrinkage : float, default 30.0
        Strength of the prior of the correction, relative to the prior of the paper's label
        evidence. ``float("inf")``: one weight without correction.

    Examples
    --------
    >>> from labelkin import LabelDependenceClassifier
    >>> model = LabelDependenceClassifier(evidence_weight=LearnedWeight(shrinkage=100))
    """

    def __init__(self, shrinkage: float = 30.0) -> None:
        self.shrinkage = shrinkage

    def check(self) -> None:
        """Raise for an invalid parameter."""
        if not self.shrinkage > 0:
            raise ValueError(
                f"shrinkage must be above 0, got {self.shrinkage!r}. Use float('inf') for one "
                "weight without correction."
            )


Variant = Literal["soft", "hard"] | ThresholdRule
EvidenceWeight = float | Literal["auto"] | LearnedWeight


def is_auto(evidence_weight: Any) -> bool:
    """Return whether the weight is learned if scores are available."""
    return isinstance(evidence_weight, str) and evidence_weight == "auto"


def learns_from_predictions(variant: Any, evidence_weight: Any) -> bool:
    """Return whether out-of-fold content evidence is needed."""
    learns_cuts = isinstance(variant, ThresholdRule) and rule_for(variant).needs_scores
    return learns_cuts or isinstance(resolve_evidence_weight(evidence_weight), LearnedWeight)


def resolve_evidence_weight(
    value: Any, n_documents: float = np.inf, n_labels: float = np.inf
) -> float | LearnedWeight:
    """Return a fixed weight or a :class:`LearnedWeight`; 0 if there is too little data to learn."""
    if is_auto(value):
        value = LearnedWeight()
    if not isinstance(value, LearnedWeight):
        return _read_number(
            value, "evidence_weight", 'a number of at least 0, "auto" or LearnedWeight()'
        )
    value.check()
    return 0.0 if n_documents < _FEWEST or n_labels < 2 else value


def resolve_known_weight(
    known_weight: Any, evidence_weight: Any, weight: Any, is_linear: bool
) -> float:
    """Return the weight of known labels.

    Parameters
    ----------
    known_weight
        The parameter; ``None``: the default.
    evidence_weight, weight
        The evidence weight as the user chose it, and as it is resolved.
    is_linear
        Whether the label classifier is linear. If the evidence weight is learned, the default is
        0.75 for linear label classifiers and 0.1 for others.
    """
    if known_weight is not None:
        return _read_number(known_weight, "known_weight", "a number of at least 0 or None")
    if not isinstance(resolve_evidence_weight(evidence_weight), LearnedWeight):
        return float(weight)
    return KNOWN_WEIGHT if is_linear else CAUTIOUS_WEIGHT


def read_variant(value: Any) -> FillIn | ThresholdRule:
    """Return the paper's function for a variant, or the threshold rule."""
    if isinstance(value, ThresholdRule):
        if rule_for(value).needs_batch:
            raise ValueError(
                "variant must be a rule that decides each document separately, got "
                f"{value!r}, which needs all documents. Use SCutFBR() or GlobalCut()."
            )
        return value
    check_choice("variant, if it is not a rule such as SCutFBR(),", value, VARIANTS)
    return VARIANTS[value]


def check_learning(n_documents: int, n_labels: int) -> None:
    """Raise if learning from scores of all labels needs too much memory."""
    check_memory(
        _COPIES * 8.0 * n_documents * n_labels,
        f"Learning from scores of {n_documents:,} documents × {n_labels:,} labels",
        "Pass a sparse matrix with the best labels of each document: a content classifier with "
        "top=100, or scores of candidates.",
    )


def _read_number(value: Any, name: str, rule: str) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    number = float(value) if is_number else -1.0
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be {rule}, got {value!r}. Use 1 for the paper's weight.")
    return number
