"""Probabilities evaluated cell by cell: squared error, log loss, and a table of reliability.

In all functions ``Y`` is as :class:`labelkin.LabelDependenceClassifier` takes it (unknown cells
are skipped), ``log_odds`` are dense, ``(n_documents, n_labels)``, ±inf included, and
``sample_weight`` ``(n_documents,)`` counts a document of weight 2 like one given twice.
Probabilities from elsewhere become log-odds by :func:`labelkin.evaluation.metrics.to_log_odds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import expit

from labelkin.evaluation.metrics.inputs import (
    ABSENT,
    FloatArray,
    Sums,
    Truth,
    Weights,
    ratio,
    read_inputs,
)
from labelkin.label_matrix import Cells
from labelkin.records import short_repr
from labelkin.validation import check_whole_number


def log_loss(Y: Any, log_odds: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the mean over documents of Σ over labels of −log P(what is true); lower is better.

    Computed from the log-odds, so no certainty is rounded away: infinite log-odds cost 0 when right
    and inf when wrong. Unknown cells are left out of the sum; 0/0 (no known cell) is NaN.
    scikit-learn's ``log_loss`` is for one label; ``evaluate(...).per_label()`` returns those.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> round(log_loss([[1, 0], [1, 1]], [[0.0, 0.0], [800.0, 0.0]]), 4)  # three cells of log 2
    1.0397
    """
    return _sums(Y, log_odds, sample_weight).scores()["log_loss"]


def brier_score(Y: Any, log_odds: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the mean over the known cells of (P − Y)²; lower is better; 0/0 (none) is NaN.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> brier_score([[1, 0]], [[0.0, 0.0]])
    0.25
    """
    return _sums(Y, log_odds, sample_weight).scores()["brier_score"]


def expected_calibration_error(
    Y: Any, log_odds: ArrayLike, *, n_bins: int = 15, sample_weight: Weights = None
) -> float:
    """Return how far probabilities lie from what happens; lower is better.

    All known cells are pooled and put into ``n_bins`` equally wide bins of probability (lower edge
    included, 1 in the last); the distance of a bin is ``|mean probability − share positive|``, and
    the mean is over cells. An empty bin counts nothing; 0/0 (no known cell) is NaN.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    n_bins : int, default 15
        Number of equally wide bins of probability.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    Four cells that promise ½, of which three happen:

    >>> expected_calibration_error([[1, 1], [1, 0]], [[0.0, 0.0], [0.0, 0.0]])
    0.25
    """
    return _sums(Y, log_odds, sample_weight, n_bins).scores()["expected_calibration_error"]


def reliability(
    Y: Any, log_odds: ArrayLike, *, n_bins: int = 15, sample_weight: Weights = None
) -> Reliability:
    """Return the table behind :func:`expected_calibration_error`, for plots; empty bins are NaN.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    log_odds : array or DataFrame of shape (n_documents, n_labels)
        Of every label; ±inf for known labels, no NaN.
    n_bins : int, default 15
        Number of equally wide bins of probability.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> table = reliability([[1, 0], [1, 1]], [[2.0, 2.0], [2.0, -2.0]], n_bins=2)
    >>> table.share_positive.round(2).tolist()
    [1.0, 0.67]
    """
    return _sums(Y, log_odds, sample_weight, n_bins).reliability


@short_repr
@dataclass(frozen=True)
class Reliability:
    """What probabilities promise and what happens, bin by bin, ``(n_bins,)`` each.

    Attributes
    ----------
    lower, upper
        Edges of the bins: lower ≤ probability < upper; the last bin holds 1 too.
    count
        Weighted number of cells.
    mean_probability, share_positive
        Mean probability of those cells and the share that carries the label; empty bins: NaN.

    Examples
    --------
    >>> from labelkin.evaluation.metrics import reliability
    >>> table = reliability([[1, 0], [1, 1]], [[2.0, 2.0], [2.0, -2.0]], n_bins=2)
    >>> table.lower.tolist(), table.upper.tolist(), table.count.tolist()
    ([0.0, 0.5], [0.5, 1.0], [1.0, 3.0])
    >>> table.mean_probability.round(2).tolist(), table.share_positive.round(2).tolist()
    ([0.12, 0.88], [1.0, 0.67])
    """

    lower: FloatArray
    upper: FloatArray
    count: FloatArray
    mean_probability: FloatArray
    share_positive: FloatArray


@dataclass(frozen=True, eq=False)
class ProbabilitySums(Sums):
    """Weighted sums over the known cells, by label ``(n_labels,)`` or by bin ``(n_bins,)``.

    Attributes
    ----------
    n_documents
        Sum of the weights of the documents.
    known, squared_error, log_loss
        By label: number of known cells, Σ (P − Y)², and Σ −log of the probability of what is true.
    bin_count, bin_probability, bin_positive
        By bin of probability: number of cells, Σ P, number of cells that carry their label.
    """

    n_documents: float
    known: FloatArray
    squared_error: FloatArray
    log_loss: FloatArray
    bin_count: FloatArray
    bin_probability: FloatArray
    bin_positive: FloatArray

    def scores(self) -> dict[str, float]:
        """Return Brier score, log loss and calibration error by name; without known cells NaN."""
        n_known = self.known.sum()
        gap = np.abs(self.bin_probability - self.bin_positive).sum()
        return {
            "brier_score": ratio(self.squared_error.sum(), n_known, nothing=np.nan),
            "log_loss": float(self.log_loss.sum() / self.n_documents) if n_known else np.nan,
            "expected_calibration_error": ratio(gap, n_known, nothing=np.nan),
        }

    def per_label(self) -> dict[str, FloatArray]:
        """Return each label's Brier score and log loss by name; NaN where it is known nowhere."""
        sums = {"brier_score": self.squared_error, "log_loss": self.log_loss}
        return {name: ratio(total, self.known, nothing=np.nan) for name, total in sums.items()}

    @property
    def reliability(self) -> Reliability:
        """The table behind the calibration error, for plots."""
        edges = np.linspace(0, 1, len(self.bin_count) + 1)
        mean_probability = ratio(self.bin_probability, self.bin_count, nothing=np.nan)
        share_positive = ratio(self.bin_positive, self.bin_count, nothing=np.nan)
        return Reliability(edges[:-1], edges[1:], self.bin_count, mean_probability, share_positive)


def squared_errors(truth: Truth, log_odds: FloatArray) -> FloatArray:
    """Return (P − Y)² of every cell, 0 where unknown, ``(n_documents, n_labels)``."""
    errors = expit(log_odds)
    errors[truth.cells] -= 1.0
    errors[truth.unknown_cells] = 0.0
    return errors * errors


def sum_probabilities(truth: Truth, log_odds: Any, n_bins: int) -> ProbabilitySums:
    """Add up errors and bins cell by cell; labels outside the candidates have probability 0."""
    n_labels = log_odds.shape[1]
    known = np.full(n_labels, truth.weight.sum())
    if truth.unknown is not None:
        known = np.maximum(known - truth.unknown.T @ truth.weight, 0.0)
    if sparse.issparse(log_odds):
        cells, z = Cells.of(log_odds), log_odds.data
        times, is_true = truth.weight[cells.document], cells.at(truth.positive)
        if truth.unknown is not None:
            times = times * (1 - cells.at(truth.unknown))
    else:
        cells, z = Cells.full(log_odds.shape), log_odds.ravel()
        times, is_true = np.repeat(truth.weight, n_labels), truth.positive.toarray().ravel()
        if truth.unknown is not None:
            times = times * (1 - truth.unknown.toarray().ravel())
    probability = expit(z)
    missed = np.maximum(truth.positive.T @ truth.weight - cells.sums_by_label(is_true * times), 0.0)
    place = np.minimum((probability * n_bins).astype(np.intp), n_bins - 1)

    def by_bin(weights: FloatArray, absent: float) -> FloatArray:
        sums = np.bincount(place, weights, n_bins).astype(np.float64, copy=False)
        sums[0] += absent
        return sums

    error, loss = (probability - is_true) ** 2, _softplus(np.where(is_true > 0, -z, z))
    return ProbabilitySums(
        float(truth.weight.sum()),
        known,
        bin_count=by_bin(times, float(known.sum() - times.sum())),
        bin_probability=by_bin(times * probability, 0.0),
        bin_positive=by_bin(times * is_true, float(missed.sum())),
        squared_error=cells.sums_by_label(times * error) + missed,
        log_loss=cells.sums_by_label(times * np.where(times > 0, loss, 0.0))
        - missed * np.log(ABSENT),
    )


def _softplus(values: FloatArray) -> FloatArray:
    """Return log(1 + e^x) for x of any size, ±inf included."""
    return np.asarray(np.log1p(np.exp(-np.abs(values))) + np.maximum(values, 0.0))


def _sums(Y: Any, log_odds: ArrayLike, sample_weight: Weights, n_bins: int = 1) -> ProbabilitySums:
    inputs = read_inputs(Y, log_odds=log_odds, sample_weight=sample_weight)
    check_whole_number("n_bins", n_bins)
    return inputs.add_up(lambda truth, z, _: sum_probabilities(truth, z, n_bins))
