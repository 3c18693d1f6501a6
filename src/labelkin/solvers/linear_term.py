"""A part of log-odds that is linear in its inputs.

The weights that labels have on each other, the correction of predicted labels and whatever else is
learned by :func:`labelkin.solvers.logistic.fit_logistic_layer` are terms of this kind.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


class LinearTerm(NamedTuple):
    """A part of the log-odds that is linear in some inputs: ``inputs @ weights + bias``.

    ``weights[k, j]`` is what input k adds to label j, ``(n_inputs, n_labels)``; ``bias`` is what
    there is when all inputs are 0, ``(n_labels,)``.
    """

    weights: Matrix
    bias: Matrix

    def at(self, inputs: Any) -> Matrix:
        """Return the term for some inputs, ``(n_documents, n_labels)``."""
        values: Matrix = inputs @ self.weights
        values += self.bias
        return values

    def scaled(self, factor: Any) -> LinearTerm:
        """Return the term times a number, or times one for each label."""
        return LinearTerm(self.weights * factor, self.bias * factor)

    def plus(self, other: LinearTerm | None) -> LinearTerm:
        """Return the sum of two terms."""
        if other is None:
            return self
        return LinearTerm(self.weights + other.weights, self.bias + other.bias)
