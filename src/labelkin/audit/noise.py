"""How often labels are missing or wrong, and how probable that is of a cell.

A cell has a true label t, which nobody knows, and a given one y. What is known of the cell without
looking at y says how probable t is,

    z = logit p(t = 1) = b·content + (w + v·log(1 + k))·label evidence + terms of k + constant,

where k is the number of other labels that the document has: equation 2 is b = w = 1 and v = 0. A
document with many labels is a survey, of which each label makes the others improbable; how much
less that counts, v, is learned. Then t is lost with the rate m_j = p(y = 0 | t = 1), and a wrong
label is given with f_j = p(y = 1 | t = 0), so that the log-odds of an error are

    missing (y = 0):   z + log m_j − log(1 − f_j)
    wrong   (y = 1):  −z + log f_j − log(1 − m_j)

and both kinds stand on one scale. Weights and rates are those under which the given labels are most
probable (EM): logistic regression that knows that its targets are not all right. Wrong labels are
taken to be drawn as labels are, f_j ∝ prior odds, so that what is estimated is a share of the given
labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.audit.evidence import blocks
from labelkin.label_matrix import LabelMatrix, read_weight
from labelkin.method.combination import Matrix

#: What the weights are of, in order.
FEATURES = (
    "content",
    "label evidence",
    "label evidence × log(1 + k)",
    "no other label",
    "log(1 + k)",
    "constant",
)
_EQUATION_2 = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
#: Precision of the weights' Gaussian prior around equation 2.
_PRECISION = 1.0
#: The rates' prior: so many given labels of which this share is wrong, and as many lost.
_RATE, _RATE_COUNT = 0.05, 100.0
#: Labels' own rates are drawn towards the common one by so many given labels.
_LABEL_COUNT = 200.0
#: No more than this share of a label's cells is taken to be wrong.
_MOST = 0.5
#: Cells that are looked at one by one; of more, the clear ones are counted on some documents.
_CELLS = 200_000
_STEPS, _HALVINGS, _TOL = 100, 30, 1e-5


class Cells(NamedTuple):
    """The cells that the model is learned from, each with the number of cells it stands for."""

    features: Matrix
    label: NDArray[np.intp]
    given: NDArray[np.bool_]
    weight: Matrix


@dataclass(frozen=True)
class NoiseModel:
    """What is learned: weights of the evidence, and rates of errors.

    Attributes
    ----------
    weights
        Of :data:`FEATURES`, ``(6,)``.
    missing_rate
        p(not given | true), ``(n_labels,)``.
    wrong_rate
        p(given | not true), ``(n_labels,)``.
    log_likelihood
        Of the given labels, mean over cells.
    """

    weights: Matrix
    missing_rate: Matrix
    wrong_rate: Matrix
    log_likelihood: float

    @classmethod
    def fit(
        cls,
        content: NDArray[np.floating],
        added: NDArray[np.floating],
        labels: LabelMatrix,
        sample_weight: Matrix | None = None,
    ) -> Self:
        """Find the weights and rates under which the given labels are most probable.

        Parameters
        ----------
        content, added
            Out-of-fold content log-odds, and what the given other labels add, ``(n_documents,
            n_labels)``.
        labels : LabelMatrix
            What the corpus says; unknown cells and constant labels take no part.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.
        """
        cells = _chosen_cells(content, added, labels, sample_weight)
        positive, known = labels.counts(sample_weight)
        odds = (positive + 0.5) / (known - positive + 0.5)
        return _maximise(cls, cells, positive, odds)

    def truth(self, features: Matrix) -> Matrix:
        """Return the log-odds of the true label given :func:`features_of` cells."""
        return features @ self.weights

    def error_log_odds(
        self, content: Matrix, added: Matrix, n_others: Matrix, given: NDArray[np.bool_]
    ) -> Matrix:
        """Return the log-odds that what the corpus says of each cell is wrong."""
        b, w, v, none, many, constant = self.weights
        count = np.log1p(n_others)
        z = b * content + (w + v * count) * added + none * (n_others == 0) + many * count + constant
        missing, wrong = self.offsets()
        return np.where(given, wrong - z, z + missing)

    def offsets(self) -> tuple[Matrix, Matrix]:
        """Return what the rates add to the log-odds of an error, missing and wrong."""
        lost, false = np.log(self.missing_rate), np.log(self.wrong_rate)
        return lost - np.log1p(-self.wrong_rate), false - np.log1p(-self.missing_rate)


def features_of(content: Matrix, added: Matrix, n_others: Matrix) -> Matrix:
    """Return :data:`FEATURES` of cells, ``(n_cells, 6)``."""
    count = np.log1p(n_others)
    return np.column_stack(
        [content, added, added * count, n_others == 0, count, np.ones(len(content))]
    )


def _chosen_cells(
    content: NDArray[np.floating],
    added: NDArray[np.floating],
    labels: LabelMatrix,
    sample_weight: Matrix | None,
) -> Cells:
    """Return all cells, or those in question and, on some documents, the others.

    Of ten million cells almost all are 0 and clearly so. Given labels and as many times four of
    the others, those that are most probable, are looked at everywhere; the rest on every s-th
    document, where it counts s times.
    """
    n_documents, n_labels = labels.shape
    weight = read_weight(sample_weight, n_documents)
    n_others = np.diff(labels.positive.indptr)
    audited = ~labels.constant(sample_weight)
    stride = max(1, n_documents * n_labels // _CELLS)
    bound = _bound(content, added, labels) if stride > 1 else -np.inf
    parts = []
    for rows in blocks(np.arange(n_documents), n_labels):
        given = labels.positive[rows].toarray() > 0
        c, e = content[rows].astype(np.float64), added[rows].astype(np.float64)
        in_question = given | (c + e >= bound)
        sampled = (rows % stride == 0)[:, None]
        taken = (in_question | sampled) & audited & (weight[rows] > 0)[:, None]
        if labels.unknown is not None:
            taken &= labels.unknown[rows].toarray() == 0
        i, j = np.nonzero(taken)
        times = np.where(in_question[i, j], 1.0, stride) * weight[rows][i]
        others = n_others[rows][i] - given[i, j]
        parts.append((features_of(c[i, j], e[i, j], others), j, given[i, j], times))
    return Cells(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _bound(
    content: NDArray[np.floating], added: NDArray[np.floating], labels: LabelMatrix
) -> float:
    """Return the sum of evidence above which four times as many cells lie as are given."""
    total = np.asarray(content, dtype=np.float32) + added
    place = max(0, total.size - 1 - 5 * labels.positive.nnz)
    return float(np.partition(total.ravel(), place)[place])


def _maximise(cls: type[NoiseModel], cells: Cells, positive: Matrix, odds: Matrix) -> NoiseModel:
    """EM: how probable each true label is, then the weights and rates that suit these best."""
    features, label, given, times = cells
    n_labels, total = len(odds), float(positive.sum())
    weights = _EQUATION_2.copy()
    missing, share = np.full(n_labels, _RATE), _RATE
    wrong = np.minimum(share * odds, _MOST)
    before = -np.inf
    for _ in range(_STEPS):
        p = expit(features @ weights)
        m, f = missing[label], wrong[label]
        likelihood = np.where(given, p * (1 - m) + (1 - p) * f, p * m + (1 - p) * (1 - f))
        likelihood = np.maximum(likelihood, np.finfo(np.float64).tiny)
        now = float(times @ np.log(likelihood))
        truth = p * np.where(given, 1 - m, m) / likelihood
        weights = weights + _newton_step(features, times, truth, p, weights)
        lost = np.bincount(label, np.where(given, 0.0, truth) * times, n_labels)
        true = np.bincount(label, truth * times, n_labels)
        rate = (lost.sum() + _RATE * _RATE_COUNT) / (true.sum() + _RATE_COUNT)
        missing = np.minimum((lost + rate * _LABEL_COUNT) / (true + _LABEL_COUNT), _MOST)
        false = float(np.where(given, 1 - truth, 0.0) @ times)
        share = (false + _RATE * _RATE_COUNT) / (total + _RATE_COUNT)
        wrong = np.minimum(share * odds, _MOST)
        if now - before <= _TOL * abs(now) / len(times) ** 0.5:
            break
        before = now
    return cls(weights, missing, wrong, now / max(float(times.sum()), 1.0))


def _newton_step(
    features: Matrix, times: Matrix, truth: Matrix, p: Matrix, weights: Matrix
) -> Matrix:
    """Return a step that makes the expected true labels more probable; halved until it does."""

    def loss(w: Matrix) -> float:
        z = features @ w
        prior = _PRECISION / 2 * float(((w - _EQUATION_2) ** 2).sum())
        return float(times @ (np.logaddexp(0.0, z) - truth * z)) + prior

    gradient = features.T @ (times * (truth - p)) - _PRECISION * (weights - _EQUATION_2)
    curved = (features * (times * p * (1 - p))[:, None]).T @ features
    step = np.linalg.solve(curved + _PRECISION * np.eye(len(weights)), gradient)
    here = loss(weights)
    for _ in range(_HALVINGS):
        if loss(weights + step) <= here:
            return step
        step /= 2
    return np.zeros_like(step)
