"""One number from true label sets and log-odds as probabilities; views of ``evaluate``'s sums.

In all of them ``Y`` is anything :func:`labelkin.label_matrix.read_labels` takes (unknown cells are
skipped), ``log_odds`` are dense, ``(n_documents, n_labels)``, ±inf included, and ``sample_weight``
``(n_documents,)`` counts a document of weight 2 like one given twice. Probabilities from elsewhere
become log-odds by :func:`labelkin.metrics.log_odds_of`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from labelkin.metrics.probability_sums import ProbabilitySums, Reliability, sum_probabilities
from labelkin.metrics.reading import judge, read_n_bins
from labelkin.metrics.sums import Floats


def log_loss(Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over documents of Σ over labels of −log P(what is true); lower is better.

    Computed from the log-odds, so no certainty is rounded away: infinite log-odds cost 0 when right
    and inf when wrong. Unknown cells are left out of the sum; 0/0 (no known cell) is NaN.
    scikit-learn's ``log_loss`` means one label; see :func:`log_loss_per_label` for those.

    Examples
    --------
    >>> round(log_loss([[1, 0], [1, 1]], [[0.0, 0.0], [800.0, 0.0]]), 4)  # three cells of log 2
    1.0397
    """
    return _sums(Y, log_odds, sample_weight).mean_log_loss


def log_loss_per_label(
    Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Floats:
    """Return each label's mean log loss over the documents where it is known, ``(n_labels,)``.

    0/0 (known nowhere) is NaN.
    """
    return _sums(Y, log_odds, sample_weight).log_loss_per_label


def brier_score(Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over the known cells of (P − Y)²; lower is better; 0/0 (none) is NaN.

    Examples
    --------
    >>> brier_score([[1, 0]], [[0.0, 0.0]])
    0.25
    """
    return _sums(Y, log_odds, sample_weight).brier_score


def brier_score_per_label(
    Y: Any, log_odds: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Floats:
    """Return each label's mean of (P − Y)² over the documents where it is known, ``(n_labels,)``.

    0/0 (known nowhere) is NaN.
    """
    return _sums(Y, log_odds, sample_weight).brier_score_per_label


def expected_calibration_error(
    Y: Any, log_odds: ArrayLike, *, n_bins: int = 15, sample_weight: ArrayLike | None = None
) -> float:
    """Return how far probabilities lie from what happens; lower is better.

    All known cells are pooled and put into ``n_bins`` equally wide bins of probability (lower edge
    included, 1 in the last); the distance of a bin is |mean probability − share positive|, and the
    mean is over cells. An empty bin counts nothing; 0/0 (no known cell) is NaN.

    Examples
    --------
    Four cells that promise ½, of which three happen:

    >>> expected_calibration_error([[1, 1], [1, 0]], [[0.0, 0.0], [0.0, 0.0]])
    0.25
    """
    return _sums(Y, log_odds, sample_weight, n_bins).expected_calibration_error


def reliability(
    Y: Any, log_odds: ArrayLike, *, n_bins: int = 15, sample_weight: ArrayLike | None = None
) -> Reliability:
    """Return the table behind :func:`expected_calibration_error`, for plots; empty bins are NaN."""
    return _sums(Y, log_odds, sample_weight, n_bins).reliability


def _sums(
    Y: Any, log_odds: ArrayLike, sample_weight: ArrayLike | None, n_bins: int = 1
) -> ProbabilitySums:
    judged = judge(Y, log_odds=log_odds, sample_weight=sample_weight)
    bins = read_n_bins(n_bins)
    return judged.add_up(lambda block: sum_probabilities(block, bins))
