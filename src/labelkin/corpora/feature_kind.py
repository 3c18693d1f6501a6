"""Which kind of numbers the features of a corpus are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from labelkin.corpora.corpus import Features


def kind_of_features(X: Any) -> Features:
    """Return the narrowest kind that fits all values of a dense or sparse ``X``.

    0 and 1 only: ``"binary"``; whole and not negative: ``"counts"``; not negative: ``"weights"``;
    else ``"numbers"``. NaN, where a value is unknown, fits all.

    Examples
    --------
    >>> kind_of_features(np.array([[0.0, 1.0], [2.0, 0.0]]))
    'counts'
    """
    values = X.data if sparse.issparse(X) else np.ravel(X)
    values = values[~np.isnan(values)]
    if (values < 0).any():
        return "numbers"
    if (values != np.floor(values)).any():
        return "weights"
    return "counts" if (values > 1).any() else "binary"
