"""Whether a posterior is clearly worse than its content, by what users measure.

The evidence weight is chosen by one criterion. A gain by that criterion can hide a loss by another:
a classifier that gives too few labels can gain F1 and lose Hamming loss. Whether it does is seen
out of fold, and how sure that is, by leaving out one group of documents after the other (the
delete-a-group jackknife).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.method.criteria import Truth, f1_of

Matrix = NDArray[np.float64]

#: Groups of documents that are left out in turn.
_GROUPS = 20
#: Standard errors beyond which a loss is clear.
_CLEAR = 3.0


def does_clear_harm(content: Matrix, posterior: Matrix, truth: Truth) -> bool:
    """Tell whether micro F1, macro F1, Hamming or subset 0/1 loss is clearly worse than without.

    Parameters
    ----------
    content, posterior
        Out-of-fold log-odds without and with what the labels add, ``(n_documents, n_labels)``.
    truth
        The true labels of the documents.
    """
    return bool((loss_in_standard_errors(content, posterior, truth) > _CLEAR).any())


def loss_in_standard_errors(content: Matrix, posterior: Matrix, truth: Truth) -> Matrix:
    """Return how much is lost by micro F1, macro F1, Hamming and subset 0/1 loss, ``(4,)``.

    In standard errors of the difference; below 0 is a gain.
    """
    without, with_labels = _count(content, truth), _count(posterior, truth)
    difference = _losses(*map(_all, with_labels)) - _losses(*map(_all, without))
    left_out = np.array(
        [
            _losses(*(_all(part) - part[g] for part in with_labels))
            - _losses(*(_all(part) - part[g] for part in without))
            for g in range(len(without.hits))
        ]
    )
    n_groups = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0) * (n_groups - 1) / n_groups
    error = np.sqrt(spread)
    # A loss that every group has in the same measure is beyond doubt.
    sure = np.where(difference == 0, 0.0, np.copysign(np.inf, difference))
    return np.divide(difference, error, out=sure, where=error > 0)


class _Counts(NamedTuple):
    """Per group of documents: right and wrong decisions by label, wrong label sets, documents."""

    hits: Matrix
    wrong: Matrix
    wrong_sets: Matrix
    documents: Matrix


def _count(log_odds: Matrix, truth: Truth) -> _Counts:
    given = log_odds > 0
    wrong = truth.only_known(given != truth.positive)
    hits = given & truth.positive
    groups = [slice(g, None, _GROUPS) for g in range(min(_GROUPS, len(given)))]
    return _Counts(
        np.array([truth.times[g] @ hits[g] for g in groups]),
        np.array([truth.times[g] @ wrong[g] for g in groups]),
        np.array([[truth.times[g] @ wrong[g].any(axis=1)] for g in groups]),
        np.array([[truth.times[g].sum()] for g in groups]),
    )


def _all(part: Matrix) -> Matrix:
    return np.asarray(part.sum(axis=0))


def _losses(hits: Matrix, wrong: Matrix, wrong_sets: Matrix, documents: Matrix) -> Matrix:
    n_documents = max(float(documents[0]), 1e-12)
    return np.array(
        [
            1 - float(f1_of(hits.sum(keepdims=True), wrong.sum(keepdims=True))[0]),
            1 - float(f1_of(hits, wrong).mean()),
            wrong.sum() / n_documents,
            float(wrong_sets[0]) / n_documents,
        ]
    )
