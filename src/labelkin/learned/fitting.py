"""The learned rule: calibrated predicted labels, one weight, one correction, each fitted once.

Predicted labels repeat the content from which they were predicted, so that the paper's weight 1
counts it twice. Three steps on the out-of-fold content evidence of the training documents:

1. Predicted labels are calibrated probabilities, one slope and one shift per label.
2. One weight w in [0, 1] multiplies the paper's label evidence E: the w with the smallest Brier
   score of content + w·E.
3. A correction, linear in the predicted labels, is one logistic regression per label with
   content + w·E as offset and a Gaussian prior around 0.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from labelkin.evaluation.metrics.inputs import Truth
from labelkin.evaluation.metrics.probabilities import squared_errors
from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.learned.calibration import CalibratedLabels, fit_calibration, fit_cell_calibration
from labelkin.learned.candidates import CandidateEvidence
from labelkin.learned.terms import Combination, KnownLabels, PaperEvidence, PredictedLabels
from labelkin.method.combination import VARIANTS, FillIn, Matrix
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import LabelSets, count_label_sets
from labelkin.scikit_learn import LinkedEstimator
from labelkin.solvers.logistic import LinearTerm, fit_logistic_layer
from labelkin.thresholds import RuleLabels, ThresholdRule, fit_rule, rule_for
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
#: Log-odds beyond this are cut before learning.
_SURE = 500.0
#: Labels up to which the correction uses every label, and directions it uses above.
_ALL_LABELS, _DIRECTIONS = 150, 256
#: Share of the objective at which the correction stops.
_TOL = 1e-6
#: Folds of :func:`cross_fitted_posterior`.
_FOLDS = 4


class LearnedWeight(LinkedEstimator):
    """How label evidence is learned; ``evidence_weight="auto"`` is ``LearnedWeight()``.

    Parameters
    ----------
    shrinkage : float, default 30.0
        How many times stronger the prior of the correction is than the prior of the paper's label
        evidence. ``float("inf")``: no correction, only one weight.

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


def fit_combination(
    classifier: Any,
    variant: Variant,
    evidence_weight: EvidenceWeight,
    labels: LabelMatrix,
    *,
    content: Any = None,
    weight: Matrix | None = None,
    known_weight: float | None = None,
) -> Combination:
    """Fit label evidence, and learn the weight of predicted labels if it is not given.

    Parameters
    ----------
    classifier : label classifier
        A clone of it is fitted.
    variant, evidence_weight, known_weight
        As :class:`labelkin.LabelRescorer` takes them.
    labels : LabelMatrix
        True labels of the training documents.
    content : array or CSR array of shape (n_documents, n_labels), optional
        Out-of-fold content log-odds, of all labels or of candidates. Needed if
        :func:`learns_from_predictions`; with ``"auto"`` and without them the weight is small.
    weight : array of shape (n_documents,), optional
        Weights of the documents.
    """
    chosen = resolve_evidence_weight(evidence_weight)
    if content is None and is_auto(evidence_weight):
        chosen = CAUTIOUS_WEIGHT
    elif content is None and learns_from_predictions(variant, evidence_weight):
        raise ValueError(
            f"scores must be given to learn a weight or cut-offs (evidence_weight="
            f"{evidence_weight!r}, variant={variant!r}). Use fit(Y, scores=...) with out-of-fold "
            "scores of the training documents."
        )
    if weight is not None and not (weight > 0).all():  # weight 0 is as good as absent
        rows = np.flatnonzero(weight > 0)
        labels, weight = labels.rows(rows), weight[rows]
        content = None if content is None else content[rows]
    chosen = resolve_evidence_weight(chosen, *labels.shape)
    paper = PaperEvidence.fit(classifier, labels, weight)
    known = KnownLabels(
        paper, read_known_weight(known_weight, evidence_weight, chosen, paper.linear is not None)
    )
    if content is not None:
        content = _finite(content)
    if not isinstance(chosen, LearnedWeight):
        fill_in = _fit_fill_in(variant, content, labels, weight)
        return Combination(PredictedLabels(paper, fill_in, chosen), known)
    if sparse.issparse(content):
        return Combination(
            _learn_candidates(chosen, paper, variant, content, labels, weight), known
        )
    return Combination(_learn(chosen, paper, variant, content, labels, weight), known)


def counted_combination(
    classifier: Any,
    label_sets: LabelSets,
    names: Any,
    variant: Any,
    evidence_weight: Any,
    known_weight: float | None = None,
) -> Combination:
    """Return the combination with a fixed weight, fitted on counted label sets."""
    fill_in = read_variant(variant)
    if isinstance(fill_in, ThresholdRule):
        raise ValueError(
            f"variant must be 'soft' or 'hard' with counted label sets, got {variant!r}. "
            "Use fit(Y)."
        )
    weight = CAUTIOUS_WEIGHT if is_auto(evidence_weight) else float(evidence_weight)
    paper = PaperEvidence.fit_counted(classifier, label_sets, names)
    known = KnownLabels(
        paper, read_known_weight(known_weight, evidence_weight, weight, is_linear=True)
    )
    return Combination(PredictedLabels(paper, fill_in, weight), known)


def cross_fitted_posterior(
    classifier: Any,
    variant: Variant,
    evidence_weight: EvidenceWeight,
    labels: LabelMatrix,
    content: Any,
    weight: Matrix | None = None,
) -> Any:
    """Return the posterior of the training documents with label evidence fitted out of fold.

    Content log-odds and result are ``(n_documents, n_labels)``, dense or CSR arrays of candidates.
    Every document is in one of four folds, whose label evidence is fitted on the other three.
    """
    counted = np.flatnonzero(read_weight(weight, labels.shape[0]) > 0)
    fold = np.zeros(labels.shape[0], dtype=np.int64)
    fold[counted] = round_robin_folds(labels.rows(counted), _FOLDS)
    parts, order = [], []
    for k in np.unique(fold):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        combination = fit_combination(
            classifier,
            variant,
            evidence_weight,
            labels.rows(train),
            content=content[train],
            weight=None if weight is None else weight[train],
        )
        order.append(test)
        if sparse.issparse(content):
            cells = Cells.of(content[test])
            parts.append(cells.matrix(combination.posterior_at(cells, content[test].data)))
        else:
            parts.append(combination.posterior(content[test]))
    place = np.argsort(np.concatenate(order))
    if sparse.issparse(content):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))[place]
    return np.concatenate(parts)[place]


def check_learning(n_documents: int, n_labels: int) -> None:
    """Raise before learning from scores of all labels that would take too much memory."""
    check_memory(
        _COPIES * 8.0 * n_documents * n_labels,
        f"Learning from scores of {n_documents:,} documents × {n_labels:,} labels",
        "Give a sparse matrix with the best labels of each document: a content classifier with "
        "top=100, or scores of candidates.",
    )


def is_auto(evidence_weight: Any) -> bool:
    """Return whether the weight is learned if scores are given."""
    return isinstance(evidence_weight, str) and evidence_weight == "auto"


def learns_from_predictions(variant: Any, evidence_weight: Any) -> bool:
    """Return whether out-of-fold content evidence is needed."""
    learns_cuts = isinstance(variant, ThresholdRule) and rule_for(variant).needs_scores
    return learns_cuts or isinstance(resolve_evidence_weight(evidence_weight), LearnedWeight)


def resolve_evidence_weight(
    value: Any, n_documents: float = np.inf, n_labels: float = np.inf
) -> float | LearnedWeight:
    """Return a fixed weight, or how it is learned; 0 if there is too little data to learn it."""
    is_learned = isinstance(value, LearnedWeight) or is_auto(value)
    if not is_learned:
        return _read_number(
            value, "evidence_weight", 'a number of at least 0, "auto" or LearnedWeight()'
        )
    learned = LearnedWeight() if is_auto(value) else value
    learned.check()
    return 0.0 if n_documents < _FEWEST or n_labels < 2 else learned


def read_known_weight(
    known_weight: Any, evidence_weight: Any, weight: Any, is_linear: bool
) -> float:
    """Return the weight of known labels; the default depends on how the other weight is chosen.

    If the evidence weight is learned: 0.75, or 0.1 for label classifiers that are not linear.
    """
    if known_weight is not None:
        return _read_number(known_weight, "known_weight", "a number of at least 0 or None")
    learns = isinstance(resolve_evidence_weight(evidence_weight), LearnedWeight)
    if not learns:
        return float(weight)
    return KNOWN_WEIGHT if is_linear else CAUTIOUS_WEIGHT


def _read_number(value: Any, name: str, rule: str) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    number = float(value) if is_number else -1.0
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be {rule}, got {value!r}. Use 1 for the paper's weight.")
    return number


def read_variant(value: Any) -> FillIn | ThresholdRule:
    """Return the paper's function that fills labels in, or the rule that decides them."""
    if isinstance(value, ThresholdRule):
        if rule_for(value).needs_batch:
            raise ValueError(
                "variant must be a rule that decides each document separately, got "
                f"{value!r}, which needs all documents. Use SCutFBR() or GlobalCut()."
            )
        return value
    check_choice("variant, if it is not a rule such as SCutFBR(),", value, VARIANTS)
    return VARIANTS[value]


def _fit_fill_in(variant: Any, content: Any, labels: LabelMatrix, weight: Matrix | None) -> FillIn:
    chosen = read_variant(variant)
    if isinstance(chosen, ThresholdRule):
        return RuleLabels(fit_rule(rule_for(chosen), content, labels, weight))
    return chosen


def _learn(
    how: LearnedWeight,
    paper: PaperEvidence,
    variant: Any,
    content: Matrix,
    labels: LabelMatrix,
    weight: Matrix | None,
) -> PredictedLabels:
    check_learning(*labels.shape)
    if variant == "soft":
        fill_in: FillIn = CalibratedLabels(fit_calibration(content, labels, weight, monotone=False))
    else:
        fill_in = _fit_fill_in(variant, content, labels, weight)
    filled = fill_in(content)
    evidence, truth = paper.at(filled), Truth.of(labels, weight)

    def brier(log_odds: Matrix) -> float:
        return float(truth.weight @ squared_errors(truth, log_odds).sum(axis=1))

    best = _best_weight(content, evidence, brier)
    correction = None
    if np.isfinite(how.shrinkage):
        offset = content + best * evidence
        correction = fit_correction(filled, offset, labels, weight, how.shrinkage)
    return PredictedLabels(paper, fill_in, best, correction)


def _learn_candidates(
    how: LearnedWeight,
    paper: PaperEvidence,
    variant: Any,
    content: sparse.csr_array,
    labels: LabelMatrix,
    weight: Matrix | None,
) -> PredictedLabels:
    cells = Cells.of(content)
    if variant == "soft":
        calibration = fit_cell_calibration(cells, content.data, labels, weight)
        fill_in: FillIn = CalibratedLabels(calibration)
    else:
        fill_in = _fit_fill_in(variant, content, labels, weight)
    evidence = CandidateEvidence.of(paper, fill_in, content, labels, weight)
    best = _best_weight(evidence.content, evidence.paper, evidence.brier)
    correction = None
    if np.isfinite(how.shrinkage):
        offset = evidence.content + best * evidence.paper
        correction = evidence.correction(offset, how.shrinkage)
    return PredictedLabels(paper, fill_in, best, correction, evidence.absent)


def _best_weight(content: Matrix, evidence: Matrix, loss: Callable[[Matrix], float]) -> float:
    """Return the weight 0, 0.1, …, 1 with the smallest loss; of equals the smallest weight."""
    weights = np.arange(11) / 10
    losses = [loss(content + w * evidence) for w in weights]
    return float(weights[int(np.argmin(losses))])


def fit_correction(
    filled: Matrix, offset: Matrix, labels: LabelMatrix, weight: Matrix | None, shrinkage: float
) -> LinearTerm:
    """Fit one logistic regression per label on predicted labels, with given log-odds as offset.

    Up to 150 labels the inputs are all other labels; above, the 256 leading directions of the
    predicted labels, in which a label's own prediction has a part.

    Parameters
    ----------
    filled, offset
        Predicted labels and given log-odds, ``(n_documents, n_labels)`` each.
    labels
        True labels.
    weight
        Weights of the documents, ``(n_documents,)``; default 1.
    shrinkage
        As in :class:`LearnedWeight`.
    """
    times, n_labels = read_weight(weight, len(filled)), filled.shape[1]
    precision = shrinkage * 2 / prior_scale(count_label_sets(labels, weight))
    has_all = n_labels <= _ALL_LABELS
    directions = np.eye(n_labels) if has_all else _leading_directions(filled, times)
    layer = fit_logistic_layer(
        filled if has_all else filled @ directions,
        labels.positive,
        times,
        precision,
        unknown=labels.unknown,
        offset=offset,
        own_column_zero=has_all,
        tol=_TOL,
    )
    weights = layer.weights if has_all else directions @ layer.weights
    return LinearTerm(weights, layer.bias).scaled(~labels.constant(weight))


def _leading_directions(filled: Matrix, times: Matrix) -> Matrix:
    """Return the leading eigenvectors of the second moments of predicted labels, as columns."""
    moments = filled.T @ (filled * times[:, None])
    n_labels = len(moments)
    first = max(0, n_labels - _DIRECTIONS)
    return np.asarray(eigh(moments, subset_by_index=[first, n_labels - 1])[1])


def _finite(content: Any) -> Any:
    """Return content log-odds, dense or a CSR array of candidates, without infinite values."""
    if not sparse.issparse(content):
        return np.clip(content, -_SURE, _SURE)
    return Cells.of(content).matrix(np.clip(content.data, -_SURE, _SURE))
