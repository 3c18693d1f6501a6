"""Cross-validated log-odds for every kind of ``Y``, also those scikit-learn's tools do not take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.label_matrix import read_labels
from labelkin.method.content.all_labels import as_content
from labelkin.method.out_of_fold import out_of_fold_log_odds


def cross_val_log_odds(
    estimator: Any, X: Any, Y: Any, *, cv: int = 5, random_state: Any = None
) -> NDArray[np.float64]:
    """Return the log-odds of each document from a model that has not seen it.

    What ``cross_val_predict(method="predict_proba")`` is for dense 0/1 arrays, for label sets,
    sparse matrices and unknown cells too; the folds are stratified over all labels.

    Parameters
    ----------
    estimator
        One of labelkin's classifiers, or any with ``predict_proba``.
    X, Y
        Documents and their labels.
    cv
        Number of folds.
    random_state
        Of the folds.

    Examples
    --------
    >>> from labelkin import NaiveBayes
    >>> X = [[2, 0], [3, 1], [0, 2], [1, 3]]
    >>> (cross_val_log_odds(NaiveBayes(), X, [["a"], ["a"], ["b"], ["b"]], cv=2) > 0).tolist()
    [[True, False], [True, False], [False, True], [False, True]]
    """
    X = np.asarray(X) if isinstance(X, list) and X and not isinstance(X[0], str) else X
    return out_of_fold_log_odds(
        as_content(estimator), X, read_labels(Y), cv=cv, random_state=random_state
    )
