"""Controls: the content repaired without asking any other label.

They stand beside learnt label evidence, so that nobody takes a repaired content classifier for what
other labels say. Both are fitted on out-of-fold content evidence of the training documents.

================  ==================================================================================
``"offset"``      a number per label is added, under the same prior as the learnt correction
``"calibration"`` a slope and a shift per label, as learnt guesses are calibrated
================  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.beyond.guesses import fit_calibrated_labels
from labelkin.beyond.learned_weight import LearnedWeight
from labelkin.label_matrix import LabelMatrix
from labelkin.method.label_sets import count_label_sets
from labelkin.solvers.logistic import fit_logistic_layer, prior_scale

Matrix = NDArray[np.float64]

#: To learn from, log-odds beyond this are this, as for the learnt weight.
_SURE = 500.0


class Repaired(NamedTuple):
    """``slope * content + shift``, ``(n_labels,)`` each."""

    slope: Matrix
    shift: Matrix

    def posterior(self, content: Matrix) -> Matrix:
        """Return the repaired log-odds, ``(n_documents, n_labels)``."""
        return content * self.slope + self.shift


def fit_offset(content: Matrix, labels: LabelMatrix) -> Repaired:
    """Fit what is to be added to every label's out-of-fold log-odds; 0 for one-sided labels."""
    positive, known = labels.counts()
    layer = fit_logistic_layer(
        np.empty((labels.shape[0], 0)),
        labels.positive,
        np.ones(labels.shape[0]),
        LearnedWeight().shrinkage * 2 / prior_scale(count_label_sets(labels)),
        unknown=labels.unknown,
        offset=np.clip(content, -_SURE, _SURE),
        own_column_zero=False,
    )
    speaks = (positive > 0) & (positive < known)
    return Repaired(np.ones(labels.shape[1]), layer.bias * speaks)


def fit_calibration(content: Matrix, labels: LabelMatrix) -> Repaired:
    """Fit slope and shift of every label's out-of-fold log-odds."""
    fitted = fit_calibrated_labels(np.clip(content, -_SURE, _SURE), labels)
    return Repaired(fitted.slope, fitted.shift)


#: Controls by name.
CONTROLS: dict[str, Callable[[Matrix, LabelMatrix], Repaired]] = {
    "offset": fit_offset,
    "calibration": fit_calibration,
}
