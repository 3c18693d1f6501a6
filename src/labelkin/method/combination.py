"""Equations 2, 3 and 4 of the paper, in log-odds.

Content evidence is p(label | document), label evidence p(label | other labels). Equation 2 combines
them; equations 3 and 4 fill in the other labels of a new document, whose labels are unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Matrix = NDArray[np.float64]
#: Function from content log-odds to filled-in labels in [0, 1], ``(n_documents, n_labels)``.
FillIn = Callable[[Matrix], Matrix]


def combine(content: Any, label: Any, prior: Any) -> Any:
    """Return the posterior log-odds of equation 2, given log-odds.

    Parameters
    ----------
    content, label, prior : float or array
        Log-odds of content evidence, of label evidence, and of the prior.

    Returns
    -------
    float or array

    Examples
    --------
    Two independent pieces of evidence of 0.9 for a label that half the documents have:

    >>> from scipy.special import expit, logit
    >>> round(float(expit(combine(logit(0.9), logit(0.9), logit(0.5)))), 3)
    0.988
    """
    return content + (label - prior)


def decided_labels(content: Matrix) -> Matrix:
    """Fill in the other labels with the decisions of the content (M1, equation 3); ½ is 1.

    Parameters
    ----------
    content : array of shape (n_documents, n_labels)
        Content evidence in log-odds.

    Returns
    -------
    array of shape (n_documents, n_labels)
        0 or 1.

    Examples
    --------
    >>> decided_labels(np.array([[-2.2, 0.0, 2.2]])).tolist()
    [[0.0, 1.0, 1.0]]
    """
    return (content >= 0).astype(np.float64)


def probable_labels(content: Matrix) -> Matrix:
    """Fill in the other labels with their probabilities (M2, equation 4).

    Parameters
    ----------
    content : array of shape (n_documents, n_labels)
        Content evidence in log-odds.

    Returns
    -------
    array of shape (n_documents, n_labels)
        From 0 to 1.

    Examples
    --------
    >>> probable_labels(np.array([[-2.2, 0.0, 2.2]])).round(1).tolist()
    [[0.1, 0.5, 0.9]]
    """
    return np.asarray(expit(content))


#: The paper's variants M1 and M2.
VARIANTS: dict[str, FillIn] = {"hard": decided_labels, "soft": probable_labels}
