"""Evidence for each cell of a labelled corpus, rates of errors, and probabilities of errors.

Evidence for a cell does not depend on the cell itself: content evidence is out of fold, and label
evidence is that of the document's other labels, by label layers fitted without the document.

A cell has an unknown true label t and a given one y. The evidence for t = 1 is

    z = logit p(t = 1) = b·content + (w + v·log(1 + k))·label evidence + terms of k + constant,

where k is the number of other labels of the document; equation 2 is b = w = 1 and v = 0. In a
document with many labels, such as a survey, each label makes the others improbable; v reduces this
effect. k is limited to its 99th percentile, and the weight of label evidence is at least 0, so that
weights learned from documents with four labels are not extrapolated to fifteen. With the rates
m = p(y = 0 | t = 1) and f_j = p(y = 1 | t = 0), the log-odds of an error are

    missing (y = 0):   z + log m − log(1 − f_j)
    wrong   (y = 1):  −z + log f_j − log(1 − m)

Both kinds have one scale. Weights and rates maximise the likelihood of the given labels: logistic
regression with noisy targets. f_j is proportional to the prior odds of the label, so that only the
share of wrong labels is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import LabelMatrix
from labelkin.learned.terms import PaperEvidence
from labelkin.method.combination import Matrix
from labelkin.records import short_repr

#: Cells computed at a time: 16 MB of float64.
_BLOCK_CELLS = 2**21
_EQUATION_2 = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
#: Precision of the Gaussian prior of the weights, whose mean is equation 2.
_PRECISION = 1.0
#: The prior of the rates, 5 %, has the weight of 50 labels and a tenth of all labels.
_RATE, _RATE_COUNT, _RATE_SHARE = 0.05, 50.0, 0.1
#: Maximum rate of wrong cells of a label.
_MOST = 0.5
#: Number of cells to fit on; in a larger corpus, those of every s-th document.
_CELLS = 2**19
_TINY = 1e-12


class GivenEvidence(NamedTuple):
    """Label evidence of the given other labels, by layers fitted without the document.

    Attributes
    ----------
    added
        Label evidence less the prior, in log-odds, ``(n_documents, n_labels)``, float32.
    layers
        The fitted label evidence, one per fold.
    fold
        The fold of each document, ``(n_documents,)``; layer k is fitted on the other folds.
    """

    added: NDArray[np.float32]
    layers: tuple[PaperEvidence, ...]
    fold: NDArray[np.int64]

    @classmethod
    def of(
        cls, classifier: Any, labels: LabelMatrix, learned: LabelMatrix | None = None
    ) -> GivenEvidence:
        """Fit clones of the label classifier on all folds but one, and predict that one.

        Parameters
        ----------
        classifier : label classifier
            Clones of it are fitted.
        labels : LabelMatrix
            The labels of the corpus.
        learned : LabelMatrix, optional
            Labels to fit on, in which the suspects of an earlier round are changed. Evidence is
            always computed from ``labels``: whether a cell is a suspect depends on its own value.
        """
        source = labels if learned is None else learned
        fold = round_robin_folds(labels)
        added = np.zeros(labels.shape, dtype=np.float32)
        layers = []
        for k in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            layers.append(PaperEvidence.fit(classifier, source.rows(train)))
            for rows in blocks(test, labels.shape[1]):
                added[rows] = layers[k].at(_given(labels.rows(rows), layers[k].prior))
        return cls(added, tuple(layers), fold)

    def contributions(self, labels: LabelMatrix, i: int, j: int) -> Matrix | None:
        """Return the contribution of each label to label j of document i; ``None``: not linear."""
        layer = self.layers[int(self.fold[i])]
        if layer.linear is None:
            return None
        given = _given(labels.rows([i]), layer.prior)[0]
        return np.asarray((given - layer.prior) * layer.linear.weights[:, j])


def blocks(rows: NDArray[np.int64], n_labels: int) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of documents whose cells fit into memory."""
    size = max(1, _BLOCK_CELLS // max(n_labels, 1))
    yield from (rows[start : start + size] for start in range(0, len(rows), size))


def _given(labels: LabelMatrix, prior: Matrix) -> Matrix:
    """Return the labels of some documents as 0 and 1; unknown labels have their prior."""
    values = labels.dense()
    return values if labels.unknown is None else np.where(np.isnan(values), prior, values)


class _TrainingCells(NamedTuple):
    """Cells to fit the model on: their features, labels and given values."""

    features: Matrix
    label: NDArray[np.intp]
    given: NDArray[np.bool_]


@short_repr
@dataclass(frozen=True)
class NoiseModel:
    """Learned weights of the evidence, and rates of errors.

    Attributes
    ----------
    weights
        Weights of content, label evidence, label evidence × log(1 + k), "no other label",
        log(1 + k), and the constant, ``(6,)``.
    missing_rate
        p(not given | true), one for all labels.
    wrong_rate
        p(given | not true), ``(n_labels,)``.
    most_others
        The limit of k, the number of other labels.
    """

    weights: Matrix
    missing_rate: float
    wrong_rate: Matrix
    most_others: float

    @classmethod
    def fit(
        cls,
        content: NDArray[np.floating],
        added: NDArray[np.floating],
        labels: LabelMatrix,
    ) -> NoiseModel:
        """Fit weights and rates by maximum likelihood of the given labels.

        Parameters
        ----------
        content, added
            Out-of-fold content log-odds, and evidence of the given other labels, ``(n_documents,
            n_labels)``.
        labels : LabelMatrix
            The labels of the corpus; unknown cells and constant labels are left out.
        """
        most = max(1.0, float(np.quantile(np.diff(labels.positive.indptr), 0.99)))
        cells = _training_cells(content, added, labels, most)
        positive, known = labels.counts()
        odds = (positive + 0.5) / (known - positive + 0.5)
        counted = _RATE_COUNT + _RATE_SHARE * float(cells.given.sum())
        start = np.concatenate([_EQUATION_2, logit([_RATE, _RATE])])
        place = minimize(_objective, start, (cells, odds, counted), method="BFGS", jac=True).x
        missing, share = expit(place[-2:]).tolist()
        return cls(place[:-2], missing, np.minimum(share * odds, _MOST), most)

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
        """Return the terms of the rates in the log-odds of an error, missing and wrong."""
        m, f = self.missing_rate, self.wrong_rate
        return np.log(m) - np.log1p(-f), np.log(f) - np.log1p(-m)


def _training_cells(
    content: NDArray[np.floating],
    added: NDArray[np.floating],
    labels: LabelMatrix,
    most: float,
) -> _TrainingCells:
    """Return the known cells of all documents, or of every s-th document of a large corpus."""
    n_documents, n_labels = labels.shape
    rows = np.arange(0, n_documents, max(1, n_documents * n_labels // _CELLS))
    given = labels.positive[rows].toarray() > 0
    taken = np.broadcast_to(~labels.constant(), given.shape)
    if labels.unknown is not None:
        taken = taken & (labels.unknown[rows].toarray() == 0)
    i, j = np.nonzero(taken)
    n_others = np.diff(labels.positive.indptr)[rows]
    others = np.minimum(n_others[i] - given[i, j], most)
    count, evidence = np.log1p(others), added[rows][i, j].astype(np.float64)
    terms = [content[rows][i, j], evidence, evidence * count, others == 0, count, np.ones(len(i))]
    return _TrainingCells(np.column_stack(terms).astype(np.float64), j, given[i, j])


def _objective(
    place: Matrix, cells: _TrainingCells, odds: Matrix, counted: float
) -> tuple[float, Matrix]:
    """Return the penalised negative log-likelihood, scaled, and its gradient.

    ``place`` contains the weights and the log-odds of the rates of missing and wrong labels.
    """
    weights, rates = place[:-2], expit(place[-2:])
    missing, share = rates
    p = expit(cells.features @ weights)
    false = np.minimum(share * odds, _MOST)[cells.label]
    q = np.clip(p * (1 - missing) + (1 - p) * false, _TINY, 1 - _TINY)
    likelihood = np.log(np.where(cells.given, q, 1 - q)).sum()
    away = weights - _EQUATION_2
    # The prior of the rates is a Beta distribution.
    seen = (_RATE * np.log(rates) + (1 - _RATE) * np.log(1 - rates)).sum()
    value = likelihood - _PRECISION / 2 * (away @ away) + counted * seen
    slope = (cells.given - q) / (q * (1 - q))
    gradient = np.empty_like(place)
    gradient[:-2] = cells.features.T @ (slope * p * (1 - p) * (1 - missing - false))
    gradient[:-2] -= _PRECISION * away
    gradient[-2] = -missing * (1 - missing) * (slope @ p)
    gradient[-1] = (1 - share) * (slope @ ((1 - p) * false * (false < _MOST)))
    gradient[-2:] += counted * (_RATE - rates)
    return -value / counted, -gradient / counted
