"""How often labels are missing or wrong, and how probable that is of a cell.

A cell has a true label t, which nobody knows, and a given one y. What is known of the cell without
looking at y says how probable t is,

    z = logit p(t = 1) = b·content + (w + v·log(1 + k))·label evidence + terms of k + constant,

where k is the number of other labels that the document has: equation 2 is b = w = 1 and v = 0. A
document with many labels is a survey, of which each label makes the others improbable; how much
less that counts, v, is learned. More labels than 99 of 100 documents have count as these do, and
label evidence never counts less than nothing: what is learned of documents with four labels is not
carried on to one with fifteen. Then t is lost with the rate m = p(y = 0 | t = 1), and a wrong
label is given with f_j = p(y = 1 | t = 0), so that the log-odds of an error are

    missing (y = 0):   z + log m − log(1 − f_j)
    wrong   (y = 1):  −z + log f_j − log(1 − m)

and both kinds stand on one scale. Weights and rates are those under which the given labels are most
probable: logistic regression that knows that its targets are not all right. Wrong labels are
taken to be drawn as labels are, f_j ∝ prior odds, so that what is estimated is a share of the given
labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.curation.audit.evidence import blocks
from labelkin.label_matrix import LabelMatrix, read_weight
from labelkin.method.combination import Matrix
from labelkin.records import short_repr

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
#: The rates' prior is as good as so many given labels, and this share of all, looked at by hand, of
#: which 5 % were wrong, and 5 % of the true ones lost.
_RATE, _RATE_COUNT, _RATE_SHARE = 0.05, 50.0, 0.1
#: No more than this share of a label's cells is taken to be wrong.
_MOST = 0.5
#: Cells that are looked at one by one; of more, the clear ones are counted on some documents.
_CELLS = 30_000
#: Cells in question, for every given label: itself and the most probable others.
_IN_QUESTION = 4
_STEPS, _HALVINGS = 50, 20
#: A step that makes the given labels less than this more probable, in log-odds, is the last.
_TOL = 1e-3
_TINY = 1e-12
#: The share by which a log-likelihood must come nearer to 0 to be clearly better.
_CLEARLY = 0.02


class Cells(NamedTuple):
    """The cells that the model is learned from, each with the number of cells it stands for."""

    features: Matrix
    label: NDArray[np.intp]
    given: NDArray[np.bool_]
    weight: Matrix


@short_repr
@dataclass(frozen=True)
class NoiseModel:
    """What is learned: weights of the evidence, and rates of errors.

    Attributes
    ----------
    weights
        Of :data:`FEATURES`, ``(6,)``.
    missing_rate
        p(not given | true), of all labels alike.
    wrong_rate
        p(given | not true), ``(n_labels,)``.
    most_others
        Other labels of a document, k, beyond which they count as so many.
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
            Out-of-fold content log-odds, and what the given other labels add, ``(n_documents,
            n_labels)``.
        labels : LabelMatrix
            What the corpus says; unknown cells and constant labels take no part.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.
        """
        most = max(1.0, float(np.quantile(np.diff(labels.positive.indptr), 0.99)))
        cells = _chosen_cells(content, added, labels, sample_weight, most)
        positive, known = labels.counts(sample_weight)
        odds = (positive + 0.5) / (known - positive + 0.5)
        return _maximise(cells, odds, most)

    def explains_more_than(self, other: NoiseModel) -> bool:
        """Return whether the given labels are clearly more probable than under another model.

        Evidence that is learned without its suspects repeats what was suspected, and is somewhat
        more probable in any case.
        """
        return self.log_likelihood > other.log_likelihood * (1 - _CLEARLY)

    def error_log_odds(
        self, content: Matrix, added: Matrix, n_others: Matrix, given: NDArray[np.bool_]
    ) -> Matrix:
        """Return the log-odds that what the corpus says of each cell is wrong."""
        from_content, from_labels, from_number = self.parts(content, added, n_others)
        z = from_content + from_labels + from_number
        missing, wrong = self.offsets()
        return np.where(given, wrong - z, z + missing)

    def parts(self, content: Any, added: Any, n_others: Any) -> tuple[Any, Any, Any]:
        """Return what content, other labels and their number add to the log-odds of the truth."""
        _, _, _, none, many, constant = self.weights
        count = np.log1p(np.minimum(n_others, self.most_others))
        number = none * (n_others == 0) + many * count + constant
        return self.weights[0] * content, self.label_weight(n_others) * added, number

    def label_weight(self, n_others: Any) -> Any:
        """Return how much label evidence counts beside so many other labels."""
        count = np.log1p(np.minimum(n_others, self.most_others))
        return np.maximum(self.weights[1] + self.weights[2] * count, 0.0)

    def offsets(self) -> tuple[Matrix, Matrix]:
        """Return what the rates add to the log-odds of an error, missing and wrong."""
        m, f = self.missing_rate, self.wrong_rate
        return np.log(m) - np.log1p(-f), np.log(f) - np.log1p(-m)


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
    most: float,
) -> Cells:
    """Return all cells, or those in question and, on some documents, the others.

    Of ten million cells almost all are 0 and clearly so. Given labels and a few times as many
    others, those that are most probable, are looked at everywhere; the rest on every s-th document,
    where it counts s times.
    """
    n_documents, n_labels = labels.shape
    weight = read_weight(sample_weight, n_documents)
    n_others = np.diff(labels.positive.indptr)
    audited = ~labels.constant(sample_weight)
    clear = n_documents * n_labels - _IN_QUESTION * labels.positive.nnz
    stride = max(1, clear // _CELLS)
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
        others = np.minimum(n_others[rows][i] - given[i, j], most)
        parts.append((features_of(c[i, j], e[i, j], others), j, given[i, j], times))
    return Cells(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _bound(
    content: NDArray[np.floating], added: NDArray[np.floating], labels: LabelMatrix
) -> float:
    """Return the sum of evidence above which four times as many cells lie as are given."""
    total = np.asarray(content, dtype=np.float32) + added
    place = max(0, total.size - 1 - _IN_QUESTION * labels.positive.nnz)
    return float(np.partition(total.ravel(), place)[place])


def _maximise(cells: Cells, odds: Matrix, most: float) -> NoiseModel:
    """Climb from equation 2 by Fisher scoring."""
    counted = _RATE_COUNT + _RATE_SHARE * float(cells.weight[cells.given].sum())
    start = np.concatenate([_EQUATION_2, [_log_odds(_RATE), _log_odds(_RATE)]])
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
    """How probable the given labels are under some weights and rates, and where it goes up.

    ``place`` holds the weights and the log-odds of two rates, of labels that are lost and of given
    labels that are wrong.
    """

    place: Matrix
    value: float
    likelihood: float
    gradient: Matrix
    curvature: Matrix

    @classmethod
    def at(cls, cells: Cells, odds: Matrix, counted: float, place: Matrix) -> Self:
        weights, (missing, share) = place[:-2], expit(place[-2:])
        p = expit(cells.features @ weights)
        false = np.minimum(share * odds, _MOST)[cells.label]
        q = np.clip(p * (1 - missing) + (1 - p) * false, _TINY, 1 - _TINY)
        likelihood = float(cells.weight @ np.log(np.where(cells.given, q, 1 - q)))
        away = weights - _EQUATION_2
        # The rates' prior is a Beta distribution: labels that have been seen to be right or not.
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


def _log_odds(rate: float) -> float:
    return float(np.log(rate / (1 - rate)))
