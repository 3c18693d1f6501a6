"""How likely a relevant label is to have been noticed: what makes rare hits count more."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from labelkin.metrics.sums import Floats


def propensities(
    label_counts: ArrayLike, n_documents: int, *, a: float = 0.55, b: float = 1.5
) -> Floats:
    """Return the propensity of every label, ``(n_labels,)``, from the training documents.

    Jain, Prabhu & Varma (2016): 1/p_l = 1 + C (N_l + b)^−a with C = (log n − 1)(b + 1)^a. With
    fewer than e documents C would be negative; it is 0 then, and every propensity 1.

    Parameters
    ----------
    label_counts
        N_l, the number of *training* documents that carry the label, ``(n_labels,)``.
    n_documents
        n, the number of training documents.
    a, b
        The paper's values for text; it uses 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> counts, _ = read_labels([["tea"], ["tea", "sugar"], ["tea"], ["tea"]]).counts()
    >>> propensities(counts, 4).round(3)
    array([0.721, 0.8  ])
    """
    counts = np.asarray(label_counts, dtype=np.float64)
    if counts.ndim != 1:
        raise ValueError(f"label_counts must have shape (n_labels,), got shape {counts.shape}.")
    wrong = np.flatnonzero(~((counts >= 0) & (counts <= n_documents)))
    if len(wrong):
        raise ValueError(
            f"label_counts must lie between 0 and n_documents = {n_documents}, got "
            f"{counts[wrong[0]]} at label {wrong[0]} ({len(wrong)} such labels). "
            "Both are counted on the training documents."
        )
    c = max(math.log(max(n_documents, 1)) - 1, 0) * (b + 1) ** a
    return 1 / (1 + c * (counts + b) ** -a)
