"""Calibrated probabilities, of a posterior and of predicted labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from labelkin.label_matrix import Cells, LabelMatrix, read_weight
from labelkin.odds import count_log_odds, to_probability
from labelkin.records import short_repr
from labelkin.solvers.grouped_logistic import Prior, fit_sigmoid

Matrix = NDArray[np.float64]

#: Precision of the prior of a label's slope and shift, around those of all labels together.
_SLOPE_PRECISION, _SHIFT_PRECISION = 10.0, 1.0
#: Gradient at which a calibration stops: the error of its slope is then below 1e-3.
_TOL = 1e-3
#: Maximum number of cells for the calibration of all labels together.
_ENOUGH_CELLS = 100_000
#: Maximum number of Newton's steps on candidates, and of halvings of a step.
_CELL_STEPS, _CELL_HALVINGS = 30, 20


@short_repr
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
        """Return the probabilities of all labels or of some columns; 1 or 0 for ±inf (known)."""
        is_known = np.isinf(log_odds)
        finite = np.where(is_known, 0.0, log_odds)
        calibrated = finite * self.slope[columns] + self.shift[columns]
        return to_probability(np.where(is_known, log_odds, calibrated))


@dataclass(frozen=True)
class CalibratedLabels:
    """Fill in the other labels with calibrated probabilities (M2 for overconfident content)."""

    calibration: Calibration

    def __call__(self, content: Matrix) -> Matrix:
        """Return the calibrated probabilities, ``(n_documents, n_labels)``."""
        values = content * self.calibration.slope
        values += self.calibration.shift
        return np.asarray(expit(values, out=values))

    def at_cells(self, cells: Cells, content: Matrix) -> Matrix:
        """Return the calibrated probabilities of candidates, ``(n_cells,)``."""
        values = content * self.calibration.slope[cells.label]
        values += self.calibration.shift[cells.label]
        return np.asarray(expit(values, out=values))


def fit_calibration(
    log_odds: Any, labels: LabelMatrix, weight: Matrix | None = None, *, monotone: bool = True
) -> Calibration:
    """Calibrate every label, with a prior around the calibration of all labels together.

    Parameters
    ----------
    log_odds : array or CSR array of shape (n_documents, n_labels)
        Finite out-of-fold log-odds of the documents, of all labels or of candidates. A label
        without candidates has the calibration of all labels together.
    labels : LabelMatrix
        Their true labels.
    weight : array of shape (n_documents,), optional
        Weights of the documents.
    monotone : bool, default True
        Whether a label with a negative slope has its prior instead; not for candidates.
    """
    if sparse.issparse(log_odds):
        return _fit_cells(Cells.of(log_odds), np.asarray(log_odds.data), labels, weight)
    pooled = fit_sigmoid(*_in_one_column(log_odds, labels, weight), smooth=False, tol=_TOL)
    prior = Prior(np.concatenate(pooled), np.array([_SLOPE_PRECISION, _SHIFT_PRECISION]))
    slope, shift = fit_sigmoid(log_odds, labels, weight, smooth=False, prior=prior, tol=_TOL)
    if not monotone:
        return Calibration(slope, shift)
    rises = slope > 0
    prior_log_odds = count_log_odds(*labels.counts(weight))
    return Calibration(np.where(rises, slope, 0.0), np.where(rises, shift, prior_log_odds))


def _fit_cells(
    cells: Cells, log_odds: Matrix, labels: LabelMatrix, weight: Matrix | None
) -> Calibration:
    """Calibrate every label on its candidates by Newton's method, with sums over its cells."""
    truth, times = cells.at(labels.positive), cell_weights(cells, labels, weight)
    some = np.flatnonzero(np.arange(cells.n) % (1 + cells.n // _ENOUGH_CELLS) == 0)
    pooled = fit_sigmoid(
        log_odds[some, None], truth[some, None], times[some], smooth=False, tol=_TOL
    )
    centre = np.concatenate(pooled)
    precision = np.array([_SLOPE_PRECISION, _SHIFT_PRECISION])
    both = np.tile(centre[:, None], cells.shape[1])

    def loss(both: Matrix) -> tuple[Matrix, Matrix]:
        m = both[0][cells.label] * log_odds + both[1][cells.label]
        away = both - centre[:, None]
        cell_loss = times * (np.logaddexp(0, m) - truth * m)
        return cells.sums_by_label(cell_loss) + precision @ away**2 / 2, m

    f, m = loss(both)
    for _ in range(_CELL_STEPS):
        p = expit(m)
        error, bend = times * (p - truth), times * p * (1 - p)
        by_slope = cells.sums_by_label(error * log_odds) + precision[0] * (both[0] - centre[0])
        by_shift = cells.sums_by_label(error) + precision[1] * (both[1] - centre[1])
        aa = cells.sums_by_label(bend * log_odds**2) + precision[0]
        ab = cells.sums_by_label(bend * log_odds)
        bb = cells.sums_by_label(bend) + precision[1]
        if max(np.abs(by_slope).max(), np.abs(by_shift).max()) < _TOL:
            break
        step = np.array([bb * by_slope - ab * by_shift, aa * by_shift - ab * by_slope])
        step /= aa * bb - ab**2
        length = np.ones(cells.shape[1])
        for _ in range(_CELL_HALVINGS):
            tried, m_tried = loss(both - length * step)
            worse = tried > f + 1e-12 * np.abs(f)
            if not worse.any():
                break
            length[worse] /= 2
        both, f, m = both - length * step, tried, m_tried
    return Calibration(both[0], both[1])


def cell_weights(cells: Cells, labels: LabelMatrix, weight: Matrix | None) -> Matrix:
    """Return the weight of every cell, 0 where the label is unknown, ``(n_cells,)``."""
    times = read_weight(weight, cells.shape[0])[cells.document]
    return times if labels.unknown is None else times * (1 - cells.at(labels.unknown))


def check_can_calibrate(labels: LabelMatrix, rules: object) -> None:
    """Raise if ``calibrate=True`` is not possible."""
    if labels.kind != "multilabel":
        raise ValueError(
            "calibrate=True calibrates each label separately and requires a label matrix, got a "
            f"1-d y of {len(labels.classes)} classes. Leave it out, or use CalibratedClassifierCV."
        )
    if rules is not None:
        raise ValueError(
            "calibrate=True changes the probability of each label and would break the rules "
            "between labels. Use calibrate or rules, not both."
        )


def _in_one_column(
    log_odds: Matrix, labels: LabelMatrix, weight: Matrix | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return the cells as documents of one label; of very many rows every k-th."""
    rows = np.arange(0, len(log_odds), 1 + log_odds.size // _ENOUGH_CELLS)
    times = None if weight is None else np.repeat(weight[rows], log_odds.shape[1])
    return log_odds[rows].reshape(-1, 1), labels.rows(rows).dense().reshape(-1, 1), times
