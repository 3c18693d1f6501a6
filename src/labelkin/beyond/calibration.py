"""Calibrated probabilities: of a posterior, and of content that overstates what it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.label_matrix import LabelMatrix
from labelkin.odds import count_log_odds, probability_of
from labelkin.solvers.sigmoid import SigmoidPrior, fit_sigmoid

Matrix = NDArray[np.float64]

#: How far one label's calibration may stray from that of all labels: precision of slope and shift.
_SLOPE_PRECISION, _SHIFT_PRECISION = 10.0, 1.0
#: Gradient at which a calibration is good enough: its slope is then off by less than 1e-3.
_TOL = 1e-3
#: Cells that are enough to find the two numbers that fit all labels together.
_ENOUGH_CELLS = 100_000


@dataclass(frozen=True)
class Calibration:
    """Calibrated log-odds: ``slope * log_odds + shift``.

    Attributes
    ----------
    slope, shift
        Of every label, ``(n_labels,)`` each.
    """

    slope: Matrix
    shift: Matrix

    def probabilities(self, log_odds: Matrix, columns: Any = slice(None)) -> Matrix:
        """Return the probabilities of all labels, or of some columns; ±inf, known, is 1 or 0."""
        is_known = np.isinf(log_odds)
        finite = np.where(is_known, 0.0, log_odds)
        calibrated = finite * self.slope[columns] + self.shift[columns]
        return probability_of(np.where(is_known, log_odds, calibrated))


@dataclass(frozen=True)
class CalibratedLabels:
    """Fill in the other labels with calibrated probabilities: M2 for content that overstates.

    Naive Bayes is nearly always sure. Its 0.999 for a label that half of such documents have is a
    poor thing to draw conclusions from.
    """

    calibration: Calibration

    def __call__(self, content: Matrix) -> Matrix:
        """Return the calibrated probabilities."""
        values = content * self.calibration.slope
        values += self.calibration.shift
        return np.asarray(expit(values, out=values))


def fit_calibration(
    log_odds: Matrix, labels: LabelMatrix, weight: Matrix | None = None, *, monotone: bool = True
) -> Calibration:
    """Calibrate every label, held near what fits all labels together.

    Parameters
    ----------
    log_odds : array of shape (n_documents, n_labels)
        Out-of-fold log-odds of the documents, finite.
    labels : LabelMatrix
        Their true labels.
    weight : array of shape (n_documents,), optional
        How often each document counts.
    monotone : bool, default True
        Whether no label's probabilities may run against its log-odds: a label whose log-odds say
        nothing, or the contrary, has its prior.
    """
    pooled = fit_sigmoid(*_in_one_column(log_odds, labels, weight), smooth=False, tol=_TOL)
    prior = SigmoidPrior(
        float(pooled.slope[0]), float(pooled.intercept[0]), _SLOPE_PRECISION, _SHIFT_PRECISION
    )
    each = fit_sigmoid(log_odds, labels, weight, smooth=False, prior=prior, tol=_TOL)
    slope, shift = -each.slope, -each.intercept
    if not monotone:
        return Calibration(slope, shift)
    rises = slope > 0
    prior_log_odds = count_log_odds(*labels.counts(weight))
    return Calibration(np.where(rises, slope, 0.0), np.where(rises, shift, prior_log_odds))


def check_can_calibrate(labels: LabelMatrix, rules: object) -> None:
    """Raise where calibrating label by label makes no sense."""
    if labels.kind != "multilabel":
        raise ValueError(
            "calibrate=True calibrates label by label, for a label matrix; got a 1-d y of "
            f"{len(labels.classes)} classes. Leave it out, or use CalibratedClassifierCV."
        )
    if rules is not None:
        raise ValueError(
            "calibrate=True changes probabilities label by label and would break the rules "
            "between them. Use calibrate or rules, not both."
        )


def _in_one_column(
    log_odds: Matrix, labels: LabelMatrix, weight: Matrix | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return the cells as if they were documents of one label; of very many, every k-th row's."""
    rows = np.arange(0, len(log_odds), 1 + log_odds.size // _ENOUGH_CELLS)
    times = None if weight is None else np.repeat(weight[rows], log_odds.shape[1])
    return log_odds[rows].reshape(-1, 1), labels.rows(rows).dense().reshape(-1, 1), times
