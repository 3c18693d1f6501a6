"""Honest probabilities of a posterior: calibrated at the door, so that nothing else changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelkin.beyond.guesses import Matrix, fit_calibrated_labels
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import count_log_odds, probability_of


@dataclass(frozen=True)
class Calibration:
    """What turns posterior log-odds into calibrated probabilities.

    Attributes
    ----------
    slope, shift
        The calibrated log-odds are ``slope * log_odds + shift``, ``(n_labels,)`` each.
    """

    slope: Matrix
    shift: Matrix

    def probabilities(self, log_odds: Matrix, columns: Any = slice(None)) -> Matrix:
        """Return the probabilities of all labels, or of some columns; ±inf, known, is 1 or 0."""
        is_known = np.isinf(log_odds)
        finite = np.where(is_known, 0.0, log_odds)
        calibrated = finite * self.slope[columns] + self.shift[columns]
        return probability_of(np.where(is_known, log_odds, calibrated))


def fit_calibration(
    posterior: Matrix, labels: LabelMatrix, weight: Matrix | None = None
) -> Calibration:
    """Calibrate a posterior; no label's probabilities may run against its log-odds.

    A label whose posterior tells nothing, or the contrary, has its prior.

    Parameters
    ----------
    posterior
        Out-of-fold posterior log-odds of the documents, ``(n_documents, n_labels)``.
    labels
        Their true labels.
    weight
        How often each document counts; none: once.
    """
    found = fit_calibrated_labels(posterior, labels, weight)
    tells = found.slope > 0
    prior = count_log_odds(*labels.counts(weight))
    return Calibration(np.where(tells, found.slope, 0.0), np.where(tells, found.shift, prior))
