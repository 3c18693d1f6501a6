"""The learned rule: calibrated predicted labels, one weight, one correction, each fitted once.

Predicted labels repeat the content from which they were predicted, so that the paper's weight 1
counts it twice. Three steps on the out-of-fold content evidence of the training documents
(:func:`learn_predicted_labels`):

1. Predicted labels are calibrated probabilities, with one slope and one shift per label.
2. One weight w in [0, 1] multiplies the paper's label evidence E: the w with the smallest Brier
   score of content + w·E.
3. A correction, linear in the predicted labels, is one logistic regression per label with
   content + w·E as offset and a Gaussian prior around 0.

The steps are the same for scores of all labels (:class:`DenseEvidence`) and for sparse scores of
the best labels of each document, the candidates (:class:`CandidateEvidence`).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.special import expit
from sklearn.base import BaseEstimator

from labelkin.evaluation.metrics.inputs import Truth
from labelkin.evaluation.metrics.probabilities import squared_errors
from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.learned.calibration import CalibratedLabels, cell_weights, fit_calibration
from labelkin.learned.terms import Combination, KnownLabels, PaperEvidence, PredictedLabels
from labelkin.method.combination import VARIANTS, FillIn, Matrix
from labelkin.method.label_evidence import mean_other_labels, prior_scale
from labelkin.method.label_sets import LabelSets, count_label_sets
from labelkin.solvers.candidate_terms import CandidateValues, InputChoice, fit_at_candidates
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


def learns_cuts(variant: Any) -> bool:
    """Return whether a variant is a threshold rule that is fitted on content evidence."""
    return isinstance(variant, ThresholdRule) and rule_for(variant).needs_scores


def learns_weight(
    evidence_weight: Any, n_documents: float = np.inf, n_labels: float = np.inf
) -> bool:
    """Return whether the evidence weight is learned, from out-of-fold content evidence."""
    return isinstance(
        resolve_evidence_weight(evidence_weight, n_documents, n_labels), LearnedWeight
    )


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
    if not learns_weight(evidence_weight):
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


def has_candidates(content: Any) -> bool:
    """Return whether a content classifier, or a member of it, returns the ``top`` labels only."""
    given = content.get_params() if hasattr(content, "get_params") else {}
    return any(value is not None for key, value in given.items() if key.split("__")[-1] == "top")


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


#: Log-odds beyond this are clipped before learning.
_CERTAIN = 500.0
#: Folds of :func:`cross_fitted_posterior`.
_FOLDS = 4
#: Maximum number of labels for which the correction uses every label, and directions above.
_ALL_LABELS, _DIRECTIONS = 150, 256
#: Share of the objective at which the correction stops, for all labels and for candidates.
_TOL, _CANDIDATES_TOL = 1e-6, 1e-5
#: With neighbours as inputs, the prior of the correction is as strong as with this many labels.
_LABELS = 3000
#: Labels that join the neighbours as inputs of a correction: each must promise a gain in
#: log-likelihood of two standard errors, counted where its value is at least 0.1.
_MORE_INPUTS = InputChoice(most=96, least=2.0, hardly=0.1)


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
    """Fit label evidence, and learn the weight of predicted labels if it is not fixed.

    Parameters
    ----------
    classifier : label classifier
        A clone of it is fitted.
    variant, evidence_weight, known_weight
        As :class:`labelkin.LabelRescorer` takes them.
    labels : LabelMatrix
        True labels of the training documents.
    content : array or CSR array of shape (n_documents, n_labels), optional
        Out-of-fold content log-odds, of all labels or of candidates. Required if
        cut-offs or a weight are learned; without them ``"auto"`` is a small fixed weight.
    weight : array of shape (n_documents,), optional
        Weights of the documents.
    """
    if weight is not None and not (weight > 0).all():  # weight 0 leaves a document out
        rows = np.flatnonzero(weight > 0)
        labels, weight = labels.rows(rows), weight[rows]
        content = None if content is None else content[rows]
    chosen = resolve_evidence_weight(evidence_weight, *labels.shape)
    learns = isinstance(chosen, LearnedWeight)
    if content is None and learns and is_auto(evidence_weight):
        chosen = CAUTIOUS_WEIGHT
    elif content is None and (learns or learns_cuts(variant)):
        raise ValueError(
            f"scores must be given to learn a weight or cut-offs (evidence_weight="
            f"{evidence_weight!r}, variant={variant!r}). Use fit(Y, scores=...) with out-of-fold "
            "scores of the training documents."
        )
    paper = PaperEvidence.fit(classifier, labels, weight)
    is_linear = paper.linear is not None
    known = resolve_known_weight(known_weight, evidence_weight, chosen, is_linear)
    content = None if content is None else _finite(content)
    if isinstance(chosen, LearnedWeight):
        predicted = learn_predicted_labels(chosen, paper, variant, content, labels, weight)
    else:
        fill_in = _fit_variant(variant, content, labels, weight)
        predicted = PredictedLabels(paper, fill_in, chosen)
    return Combination(predicted, KnownLabels(paper, known))


def fit_counted_combination(
    classifier: Any,
    label_sets: LabelSets,
    names: Any,
    variant: str,
    evidence_weight: EvidenceWeight,
    known_weight: float | None = None,
) -> Combination:
    """Fit label evidence with a fixed weight and a variant of the paper on counted label sets."""
    weight = CAUTIOUS_WEIGHT if is_auto(evidence_weight) else float(evidence_weight)
    paper = PaperEvidence.fit_counted(classifier, label_sets, names)
    known = resolve_known_weight(known_weight, evidence_weight, weight, is_linear=True)
    predicted = PredictedLabels(paper, VARIANTS[variant], weight)
    return Combination(predicted, KnownLabels(paper, known))


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


def learn_predicted_labels(
    how: LearnedWeight,
    paper: PaperEvidence,
    variant: Variant,
    content: Any,
    labels: LabelMatrix,
    weight: Matrix | None = None,
) -> PredictedLabels:
    """Learn the term of predicted labels in three steps, from out-of-fold content log-odds."""
    if isinstance(variant, str) and variant == "soft":  # step 1
        calibration = fit_calibration(content, labels, weight, monotone=False)
        fill_in: FillIn = CalibratedLabels(calibration)
    else:
        fill_in = _fit_variant(variant, content, labels, weight)
    evidence: DenseEvidence | CandidateEvidence
    if sparse.issparse(content):
        evidence = CandidateEvidence.of(paper, fill_in, content, labels, weight)
    else:
        evidence = DenseEvidence.of(paper, fill_in, content, labels, weight)
    weights = np.arange(11) / 10  # step 2; of equally good weights the smallest
    losses = [evidence.brier(evidence.content + w * evidence.paper) for w in weights]
    best = float(weights[int(np.argmin(losses))])
    correction = None
    if np.isfinite(how.shrinkage):  # step 3
        correction = evidence.correction(evidence.content + best * evidence.paper, how.shrinkage)
    return PredictedLabels(paper, fill_in, best, correction, evidence.absent)


class DenseEvidence(NamedTuple):
    """Content and label evidence of training documents, for all labels.

    Attributes
    ----------
    content, filled, paper
        Out-of-fold content log-odds, predicted labels, and the paper's label evidence less the
        prior, ``(n_documents, n_labels)`` each.
    labels, weight
        True labels and weights of the documents (``None``: 1).
    truth
        The same, as metrics take them.
    """

    content: Matrix
    filled: Matrix
    paper: Matrix
    labels: LabelMatrix
    weight: Matrix | None
    truth: Truth
    absent: None = None

    @classmethod
    def of(
        cls,
        paper: PaperEvidence,
        fill_in: FillIn,
        content: Matrix,
        labels: LabelMatrix,
        weight: Matrix | None,
    ) -> DenseEvidence:
        """Predict the labels and compute their label evidence."""
        check_learning(*labels.shape)
        filled = fill_in(content)
        truth = Truth.of(labels, weight)
        return cls(content, filled, paper.at(filled), labels, weight, truth)

    def brier(self, log_odds: Matrix) -> float:
        """Return the sum of squared errors of log-odds, ``(n_documents, n_labels)``."""
        return float(self.truth.weight @ squared_errors(self.truth, log_odds).sum(axis=1))

    def correction(self, offset: Matrix, shrinkage: float) -> LinearTerm:
        """Fit the correction on all labels, or on the leading directions; see step 3."""
        return fit_correction(self.filled, offset, self.labels, self.weight, shrinkage)


class CandidateEvidence(NamedTuple):
    """Content and label evidence of the candidates of training documents.

    With very many labels, values are 1-d arrays over the candidate cells, and a step costs cells ×
    neighbours. A label outside the candidates of a document has the value ρ: the share of the
    documents without it as a candidate that have it.

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
        ρ of every label, ``(n_labels,)``.
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
        """Predict the labels of the candidates and compute their label evidence."""
        cells = Cells.of(content)
        filled = PredictedLabels(paper, fill_in).filled_cells(cells, content.data)
        absent = share_of_missed(cells, labels, weight)
        evidence = paper.at_cells(cells, filled, absent)
        weights = None if paper.linear is None else paper.linear.weights
        return cls(cells, content.data, filled, evidence, labels, weight, absent, weights)

    def brier(self, log_odds: Matrix) -> float:
        """Return the sum of squared errors of log-odds of the candidates, ``(n_cells,)``."""
        times = cell_weights(self.cells, self.labels, self.weight)
        return float(times @ (expit(log_odds) - self.cells.at(self.labels.positive)) ** 2)

    def correction(self, offset: Matrix, shrinkage: float) -> LinearTerm | None:
        """Fit one logistic regression per label over its candidates, with ``offset`` given.

        The inputs are all other labels. If the paper's label evidence uses neighbours, the inputs
        are these, labels that promise a clear gain, and the sum of all others. ``None`` if label
        evidence is not linear.
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
            tol=_CANDIDATES_TOL,
        )
        # Inputs are differences from ρ: with all labels at ρ only the bias remains.
        return term._replace(bias=term.bias - term.beyond_bias(self.absent))


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


def share_of_missed(cells: Cells, labels: LabelMatrix, weight: Matrix | None) -> Matrix:
    """Return ρ, ``(n_labels,)``: how many documents have a label outside their candidates."""
    positive, known = labels.counts(weight)
    times = cell_weights(cells, labels, weight)
    missed = positive - cells.sums_by_label(times * cells.at(labels.positive))
    others = known - cells.sums_by_label(times)
    has_others = others > 1e-12 * (1 + known)
    share = np.divide(missed, others, out=np.zeros(len(known)), where=has_others)
    return np.clip(share, 0.0, 1.0)


def _fit_variant(variant: Any, content: Any, labels: LabelMatrix, weight: Matrix | None) -> FillIn:
    chosen = read_variant(variant)
    if isinstance(chosen, ThresholdRule):
        return RuleLabels(fit_rule(rule_for(chosen), content, labels, weight))
    return chosen


def _leading_directions(filled: Matrix, times: Matrix) -> Matrix:
    """Return the leading eigenvectors of the second moments of predicted labels, as columns."""
    moments = filled.T @ (filled * times[:, None])
    n_labels = len(moments)
    first = max(0, n_labels - _DIRECTIONS)
    return np.asarray(eigh(moments, subset_by_index=[first, n_labels - 1])[1])


def _finite(content: Any) -> Any:
    """Return content log-odds, dense or a CSR array of candidates, without infinite values."""
    if not sparse.issparse(content):
        return np.clip(content, -_CERTAIN, _CERTAIN)
    return Cells.of(content).matrix(np.clip(content.data, -_CERTAIN, _CERTAIN))
