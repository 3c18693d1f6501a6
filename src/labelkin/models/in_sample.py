"""Detection of in-sample scores."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import Cells, LabelMatrix

#: Most documents of a rare label, fewest such labels, and the share of them that is suspicious.
_RARE, _RARE_LABELS, _RARE_SHARE = 3, 3, 0.8
#: Fewest documents of a common label, fewest such labels, and the share that is suspicious.
_COMMON, _COMMON_LABELS, _COMMON_SHARE = 10, 5, 0.95
#: With fewer documents rare labels are perfect by chance.
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
    rare, single = (count >= 1) & (count <= _RARE), count == 1
    common = (count >= _COMMON) & (count <= n_documents - _COMMON)
    asks_rare = n_documents >= _FEWEST and rare.sum() >= _RARE_LABELS and single.any()
    asks_common = common.sum() >= _COMMON_LABELS
    perfect = perfect_labels(labels, log_odds) if asks_rare or asks_common else single
    if asks_rare and min(perfect[rare].mean(), perfect[single].mean()) >= _RARE_SHARE:
        found, size = rare, f"1 to {_RARE} documents"
    elif asks_common and perfect[common].mean() >= _COMMON_SHARE:
        found, size = common, f"{_COMMON} documents or more"
    else:
        return
    warnings.warn(
        "scores must come from a classifier that was not trained on these documents, got scores "
        f"that separate {perfect[found].sum()} of {found.sum()} labels with {size} perfectly, as "
        "in-sample scores do. Use RescoredClassifier, labelkin.content.cross_val_log_odds or "
        "scikit-learn's cross_val_predict.",
        stacklevel=stacklevel,
    )


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
