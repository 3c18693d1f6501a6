"""Detection of in-sample scores."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells, LabelMatrix

#: Fewest labels of one document, and share of perfect ones that is suspicious.
_SINGLE_LABELS, _SINGLE_SHARE = 3, 0.8
#: Fewest documents of a common label, fewest such labels, and the share that is suspicious.
_COMMON, _COMMON_LABELS, _COMMON_SHARE = 10, 5, 0.95
#: With fewer documents labels of one document are perfect by chance.
_FEWEST = 20


def warn_if_in_sample(labels: LabelMatrix, log_odds: Any, stacklevel: int = 3) -> None:
    """Warn if scores of training documents are better than out-of-fold scores can be.

    A label is *perfect* if all its documents score higher than all others. Out of fold, the only
    document of a label is scored by a model without an example of the label, so that such a label
    is perfect by chance alone.

    Parameters
    ----------
    labels : LabelMatrix
        Labels of the training documents.
    log_odds : array or CSR array of shape (n_documents, n_labels)
        Their scores; labels that are not stored score lowest.
    stacklevel : int, default 3
        As in :func:`warnings.warn`.
    """
    n_documents, count = labels.shape[0], labels.counts()[0]
    single, common = count == 1, (count >= _COMMON) & (count <= n_documents - _COMMON)
    single &= n_documents >= _FEWEST
    for group, fewest, share, size in (
        (single, _SINGLE_LABELS, _SINGLE_SHARE, "1 document"),
        (common, _COMMON_LABELS, _COMMON_SHARE, f"{_COMMON} documents or more"),
    ):
        perfect = perfect_labels(labels, log_odds)[group] if group.sum() >= fewest else group[:0]
        if len(perfect) and perfect.mean() >= share:
            warnings.warn(
                "scores must come from a classifier that was not trained on these documents, got "
                f"scores that separate {perfect.sum()} of {len(perfect)} labels with {size} "
                "perfectly, as in-sample scores do. Use RescoredClassifier, "
                "labelkin.content.cross_val_log_odds or scikit-learn's cross_val_predict.",
                stacklevel=stacklevel,
            )
            return


def perfect_labels(labels: LabelMatrix, log_odds: Any) -> NDArray[np.bool_]:
    """Return the labels whose documents all score higher than all other documents.

    Examples
    --------
    >>> from labelkin.label_matrix import read_labels
    >>> perfect_labels(read_labels([[1, 0], [0, 1]]), np.array([[2.0, 1.0], [-1.0, 1.0]]))
    array([ True, False])
    """
    lowest, highest = np.full(labels.shape[1], np.inf), np.full(labels.shape[1], -np.inf)
    row, column = labels.positive.nonzero()
    if sparse.issparse(log_odds):
        cells = Cells.of(log_odds)
        place, found = cells.find(Cells.of(labels.positive))
        own = np.where(found, log_odds.data[place], -np.inf) if cells.n else highest[column]
        others = log_odds.data.copy()
        others[place[found]] = -np.inf
        np.maximum.at(highest, cells.label, others)
    else:
        own, others = log_odds[row, column], log_odds.copy()
        others[row, column] = -np.inf
        highest = others.max(axis=0)
    np.minimum.at(lowest, column, own)
    return np.asarray(lowest > highest)
