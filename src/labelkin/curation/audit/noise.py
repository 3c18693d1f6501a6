"""Rates of missing and wrong labels, and the probability of an error in a cell.

A cell has an unknown true label t and a given one y. The evidence that does not depend on y says
how probable t is,

    z = logit p(t = 1) = b·content + (w + v·log(1 + k))·label evidence + terms of k + constant,

where k is the number of other labels of the document; equation 2 is b = w = 1 and v = 0. In a
document with many labels, such as a survey, each label makes the others improbable; v reduces that
and is learned. Numbers above those of 99 of 100 documents are cut to that number, and the weight of
label evidence is never negative, so that what was learned from documents with four labels is not
extrapolated to fifteen. t is lost with the rate m = p(y = 0 | t = 1), and a wrong label is given
with f_j = p(y = 1 | t = 0), so that the log-odds of an error are

    missing (y = 0):   z + log m − log(1 − f_j)
    wrong   (y = 1):  −z + log f_j − log(1 − m)

and both kinds have one scale. Weights and rates maximise the likelihood of the given labels:
logistic regression with targets that contain errors. Wrong labels are taken to be drawn as labels
are, f_j ∝ prior odds, so that one share of the given labels is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from labelkin.curation.audit.evidence import blocks
from labelkin.label_matrix import LabelMatrix, read_weight
from labelkin.method.combination import Matrix
from labelkin.records import short_repr

#: The features of the weights, in order.
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
#: The rates' prior is equivalent to this number of given labels, and this share of all, checked by
#: hand: 5 % of them wrong, and 5 % of the true ones lost.
_RATE, _RATE_COUNT, _RATE_SHARE = 0.05, 50.0, 0.1
#: The largest rate of wrong cells of a label.
_MOST = 0.5
#: Number of clear cells that are used; of more, those of every s-th document count s times.
_CELLS = 30_000
#: Number of most probable cells that are all used, per given label.
_IN_QUESTION = 4
_STEPS, _HALVINGS = 50, 20
#: The least increase of the log-likelihood of a step before the last.
_TOL = 1e-3
_TINY = 1e-12
#: The share by which a clearly better log-likelihood is nearer to 0.
_CLEARLY = 0.02


class _TrainingCells(NamedTuple):
    """The cells that the model is fitted on, each with the number of cells it represents."""

    features: Matrix
    label: NDArray[np.intp]
    given: NDArray[np.bool_]
    weight: Matrix


@short_repr
@dataclass(frozen=True)
class NoiseModel:
    """Learned weights of the evidence, and rates of errors.

    Attributes
    ----------
    weights
        Of :data:`FEATURES`, ``(6,)``.
    missing_rate
        p(not given | true), one for all labels.
    wrong_rate
        p(given | not true), ``(n_labels,)``.
    most_others
        The largest number of other labels, k; larger ones are cut to it.
    log_likelihood
        Of the given labels, mean over cells.
    """

    weights: Matrix
    missing_rate: float
    wrong_rate: Matrix
    most_others: float
    log_likelihood: float

    @classmethod
    def fit(
        cls,
        content: NDArray[np.floating],
        added: NDArray[np.floating],
        labels: LabelMatrix,
        sample_weight: Matrix | None = None,
    ) -> NoiseModel:
        """Find the weights and rates under which the given labels are most probable.

        Parameters
        ----------
        content, added
            Out-of-fold content log-odds, and evidence of the given other labels, ``(n_documents,
            n_labels)``.
        labels : LabelMatrix
            The labels of the corpus; unknown cells and constant labels are left out.
        sample_weight : array of shape (n_documents,), optional
            Weight of each document.
        """
        most = max(1.0, float(np.quantile(np.diff(labels.positive.indptr), 0.99)))
        cells = _chosen_cells(content, added, labels, sample_weight, most)
        positive, known = labels.counts(sample_weight)
        odds = (positive + 0.5) / (known - positive + 0.5)
        return _maximise(cells, odds, most)

    def explains_more_than(self, other: NoiseModel) -> bool:
        """Return whether the given labels are clearly more probable than under another model.

        A model that is fitted without suspects is somewhat better in any case.
        """
        return self.log_likelihood > other.log_likelihood * (1 - _CLEARLY)

    def error_log_odds(
        self, content: Matrix, added: Matrix, n_others: Matrix, given: NDArray[np.bool_]
    ) -> Matrix:
        """Return the log-odds of an error in each cell."""
        z = sum(self.parts(content, added, n_others))
        missing, wrong = self.offsets()
        return np.where(given, wrong - z, z + missing)

    def parts(self, content: Any, added: Any, n_others: Any) -> tuple[Any, Any, Any]:
        """Return the parts of z: content, other labels and their number."""
        _, _, _, none, many, constant = self.weights
        count = np.log1p(np.minimum(n_others, self.most_others))
        number = none * (n_others == 0) + many * count + constant
        return self.weights[0] * content, self.label_weight(n_others) * added, number

    def label_weight(self, n_others: Any) -> Any:
        """Return the weight of label evidence for a number of other labels."""
        count = np.log1p(np.minimum(n_others, self.most_others))
        return np.maximum(self.weights[1] + self.weights[2] * count, 0.0)

    def offsets(self) -> tuple[Matrix, Matrix]:
        """Return the parts of the rates in the log-odds of an error, missing and wrong."""
        m, f = self.missing_rate, self.wrong_rate
        return np.log(m) - np.log1p(-f), np.log(f) - np.log1p(-m)


def _chosen_cells(
    content: NDArray[np.floating],
    added: NDArray[np.floating],
    labels: LabelMatrix,
    sample_weight: Matrix | None,
    most: float,
) -> _TrainingCells:
    """Return all cells, or the uncertain cells and, of every s-th document, the others.

    Almost all of ten million cells are clearly 0. Given labels and a few times as many others, the
    most probable ones, are all used.
    """
    n_documents, n_labels = labels.shape
    weight = read_weight(sample_weight, n_documents)
    n_others = np.diff(labels.positive.indptr)
    audited = ~labels.constant(sample_weight)
    clear = n_documents * n_labels - _IN_QUESTION * labels.positive.nnz
    stride = max(1, clear // _CELLS)
    bound = -np.inf
    if stride > 1:
        total = np.asarray(content, dtype=np.float32) + added
        place = max(0, total.size - 1 - _IN_QUESTION * labels.positive.nnz)
        bound = float(np.partition(total.ravel(), place)[place])
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
        others = np.minimum(n_others[rows][i] - given[i, j], most)
        count, content_ij, added_ij = np.log1p(others), c[i, j], e[i, j]
        features = np.column_stack(
            [content_ij, added_ij, added_ij * count, others == 0, count, np.ones(len(count))]
        )
        parts.append((features, j, given[i, j], times))
    return _TrainingCells(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _maximise(cells: _TrainingCells, odds: Matrix, most: float) -> NoiseModel:
    """Maximise the likelihood by Fisher scoring from equation 2."""
    counted = _RATE_COUNT + _RATE_SHARE * float(cells.weight[cells.given].sum())
    start = np.concatenate([_EQUATION_2, logit([_RATE, _RATE])])
    at = _Objective.at(cells, odds, counted, start)
    for _ in range(_STEPS):
        step = np.linalg.solve(at.curvature, at.gradient)
        for _ in range(_HALVINGS):
            further = _Objective.at(cells, odds, counted, at.place + step)
            if further.value >= at.value:
                break
            step /= 2
        else:
            break
        gain, at = further.value - at.value, further
        if gain <= _TOL:
            break
    missing, share = expit(at.place[-2:]).tolist()
    wrong = np.minimum(share * odds, _MOST)
    mean = at.likelihood / max(float(cells.weight.sum()), 1.0)
    return NoiseModel(at.place[:-2], missing, wrong, most, mean)


class _Objective(NamedTuple):
    """The penalised log-likelihood of the given labels, its gradient and its curvature.

    ``place`` holds the weights and the log-odds of two rates, of lost and of wrong labels.
    """

    place: Matrix
    value: float
    likelihood: float
    gradient: Matrix
    curvature: Matrix

    @classmethod
    def at(cls, cells: _TrainingCells, odds: Matrix, counted: float, place: Matrix) -> Self:
        weights, (missing, share) = place[:-2], expit(place[-2:])
        p = expit(cells.features @ weights)
        false = np.minimum(share * odds, _MOST)[cells.label]
        q = np.clip(p * (1 - missing) + (1 - p) * false, _TINY, 1 - _TINY)
        likelihood = float(cells.weight @ np.log(np.where(cells.given, q, 1 - q)))
        away = weights - _EQUATION_2
        # The prior of the rates is a Beta distribution: counts of checked labels.
        seen = _RATE * np.log([missing, share]) + (1 - _RATE) * np.log([1 - missing, 1 - share])
        value = likelihood - _PRECISION / 2 * float(away @ away) + counted * float(seen.sum())
        slopes = np.column_stack(
            [
                cells.features * (p * (1 - p) * (1 - missing - false))[:, None],
                -p * missing * (1 - missing),
                (1 - p) * false * (1 - share),
            ]
        )
        scale = cells.weight / (q * (1 - q))
        rates = np.array([missing, share])
        gradient = slopes.T @ (scale * (cells.given - q))
        gradient[:-2] -= _PRECISION * away
        gradient[-2:] += counted * (_RATE - rates)
        curvature = (slopes * scale[:, None]).T @ slopes
        curvature[np.diag_indices(len(weights))] += _PRECISION
        curvature[[-2, -1], [-2, -1]] += counted * rates * (1 - rates)
        return cls(place, value, likelihood, gradient, curvature)
