"""How the other labels of a new document are filled in: the paper's variants, and two beyond it.

Each turns content log-odds into numbers in [0, 1], ``(n_documents, n_labels)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelkin.label_matrix import LabelMatrix
from labelkin.solvers.sigmoid import SigmoidPrior, fit_sigmoid

Matrix = NDArray[np.float64]
Guesses = Callable[[Matrix], Matrix]

#: How far one label's calibration may stray from that of all labels: precision of slope and shift.
_SLOPE_PRECISION, _SHIFT_PRECISION = 10.0, 1.0
#: Gradient at which a calibration is good enough: its slope is then off by less than 1e-3.
_TOL = 1e-3
#: Cells that tell the two numbers that fit all labels together.
_ENOUGH_CELLS = 100_000


def decided_labels(content: Matrix) -> Matrix:
    """Fill in the other labels as the content decides them (M1, equation 3); ½ counts as yes."""
    return (content >= 0).astype(np.float64)


def probable_labels(content: Matrix) -> Matrix:
    """Fill in the other labels with their probabilities (M2, equation 4)."""
    return np.asarray(expit(content))


VARIANTS: dict[str, Guesses] = {"hard": decided_labels, "soft": probable_labels}


@dataclass(frozen=True)
class CutLabels:
    """Fill in the other labels as a threshold rule decides them: M1 with learnt cut-offs.

    The paper leaves the cut-offs τ of equation 3 open; a rule fitted on out-of-fold content
    evidence finds them.
    """

    rule: Any

    def __call__(self, content: Matrix) -> Matrix:
        """Return 1 where the rule gives the label."""
        return np.asarray(self.rule.decide(content), dtype=np.float64)


@dataclass(frozen=True)
class CalibratedLabels:
    """Fill in the other labels with calibrated probabilities: M2 for content that overstates.

    Naive Bayes is nearly always sure. Its 0.999 for a label that half of such documents have is a
    poor thing to draw conclusions from.

    Attributes
    ----------
    slope, shift
        The calibrated log-odds are ``slope * content + shift``, ``(n_labels,)`` each.
    """

    slope: Matrix
    shift: Matrix

    def __call__(self, content: Matrix) -> Matrix:
        """Return the calibrated probabilities."""
        values = content * self.slope
        values += self.shift
        return np.asarray(expit(values, out=values))


def fit_calibrated_labels(
    content: Matrix, labels: LabelMatrix, weight: Matrix | None = None
) -> CalibratedLabels:
    """Calibrate every label, held near what fits all labels together.

    Parameters
    ----------
    content
        Out-of-fold content log-odds of the documents, finite, ``(n_documents, n_labels)``.
    labels
        Their true labels.
    weight
        How often each document counts; none: once.
    """
    pooled = fit_sigmoid(*_in_one_column(content, labels, weight), smooth=False, tol=_TOL)
    prior = SigmoidPrior(
        float(pooled.slope[0]), float(pooled.intercept[0]), _SLOPE_PRECISION, _SHIFT_PRECISION
    )
    each = fit_sigmoid(content, labels, weight, smooth=False, prior=prior, tol=_TOL)
    return CalibratedLabels(-each.slope, -each.intercept)


def _in_one_column(
    content: Matrix, labels: LabelMatrix, weight: Matrix | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return the cells as if they were documents of one label; of very many, every k-th row's."""
    rows = np.arange(0, len(content), 1 + content.size // _ENOUGH_CELLS)
    times = None if weight is None else np.repeat(weight[rows], content.shape[1])
    return content[rows].reshape(-1, 1), labels.rows(rows).dense().reshape(-1, 1), times
