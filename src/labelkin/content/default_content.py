"""The content classifier of documents of which nothing else is said: a look at their features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from labelkin.content.any_classifier import PerLabel
from labelkin.content.ensemble import ContentEnsemble
from labelkin.content.forest import RandomForest
from labelkin.content.platt_svm import PlattSVM

#: Share of zeros from which a dense matrix is words, most of which a document does not have.
_ZEROS = 0.5
#: Rows that are looked at.
_ROWS = 1000
#: Documents below which nobody knows how much each of several classifiers counts.
_FEW = 30


def default_content(X: Any) -> Any:
    """Return the classifier for documents that are words, or numbers.

    Words: sparse matrices, and dense ones that have no negative values and mostly zeros. They get a
    :class:`~labelkin.PlattSVM`. Other dense numbers of at least 30 documents get a
    :class:`~labelkin.ContentEnsemble` of a random forest, and of a logistic regression of the
    features on one scale, which beats either.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
        The training documents.

    Examples
    --------
    >>> default_content(np.array([[0, 0, 2], [1, 0, 0]] * 20))
    PlattSVM()
    >>> [name for name, *_ in default_content(np.array([[0.5, -1.2], [0.1, 3.0]] * 20)).members]
    ['forest', 'logistic']
    """
    n_documents = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_documents < _FEW or looks_like_words(X):
        return PlattSVM()
    return ContentEnsemble(
        [
            ("forest", RandomForest()),
            ("logistic", StandardScaler(), PerLabel(LogisticRegression(C=0.1, max_iter=1000))),
        ]
    )


def looks_like_words(X: Any) -> bool:
    """Return whether documents are words or marks, not measurements."""
    if sparse.issparse(X):
        return True
    try:
        values = np.asarray(X[:_ROWS], dtype=np.float64)
    except (TypeError, ValueError):  # texts, or a table of other things: as ever
        return True
    if values.ndim != 2 or not values.size or np.isnan(values).any():
        return True
    return bool(values.min() >= 0 and (values == 0).mean() >= _ZEROS)


def described(content: Any) -> str:
    """Return a content classifier in a few words.

    Examples
    --------
    >>> described(PlattSVM()), described(default_content(np.array([[0.5, -1.2]] * 30)))
    ('PlattSVM', 'ContentEnsemble of forest and logistic')
    """
    name = type(content).__name__
    members = getattr(content, "members", None)
    return f"{name} of {' and '.join(one[0] for one in members)}" if members else name
