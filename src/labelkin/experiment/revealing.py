"""What known labels are worth: tell a model some true labels of a document, score the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.label_matrix import LabelMatrix
from labelkin.metrics import evaluate

Matrix = NDArray[np.float64]
#: (content log-odds, known labels) → posterior log-odds.
Judge = Callable[..., Matrix]

#: How many true labels are told.
REVEALED = (1, 2, 3)


def reveal(
    judge: Judge, content: Matrix, labels: LabelMatrix, seed: int = 0
) -> list[dict[str, Any]]:
    """Score the labels that remain when one, two or three true ones are told.

    On documents that have so many; which labels are told is drawn at random. *alone* is the
    content, *guessed* the posterior when nothing is told, *told* the posterior that knows; all are
    scored on the same open labels. F1 counts documents with no further label, too: nobody tells a
    model that there is one. One-error asks those that have one.

    Parameters
    ----------
    judge
        The posterior log-odds of a combination, given content log-odds and known labels.
    content
        Content log-odds of the documents, ``(n_documents, n_labels)``.
    labels
        Their true labels.
    seed
        Draws the labels that are told.
    """
    random = np.random.default_rng(seed)
    order = random.random(labels.shape)  # the first k true labels in this order are told
    found = []
    for k in REVEALED:
        rows = np.flatnonzero(np.diff(labels.positive.indptr) >= k)
        if len(rows) and len(np.flatnonzero(np.diff(labels.positive.indptr) > k)):
            truth = labels.rows(rows).dense()
            told = _first_true(truth, order[rows], k)
            found.append(_scores(judge, content[rows], truth, told, k))
    return found


def _first_true(truth: Matrix, order: Matrix, k: int) -> NDArray[np.bool_]:
    place = np.argsort(np.argsort(np.where(truth == 1, order, np.inf), axis=1), axis=1)
    return np.asarray(place < k)


def _scores(
    judge: Judge, content: Matrix, truth: Matrix, told: NDArray[np.bool_], k: int
) -> dict[str, Any]:
    known = np.where(told, 1.0, np.nan)
    rest = np.where(told, np.nan, truth)
    systems = {
        "alone": content,
        "guessed": judge(content),
        "told": np.where(told, 0.0, judge(content, known)),
    }
    return {
        "revealed": k,
        "documents": len(truth),
        "with_more": int((rest == 1).any(axis=1).sum()),
        **{name: _score_open(log_odds, rest) for name, log_odds in systems.items()},
    }


def _score_open(log_odds: Matrix, rest: Matrix) -> dict[str, float]:
    first = np.where(np.isnan(rest), -np.inf, log_odds).argmax(axis=1)
    has_more = (rest == 1).any(axis=1)
    wrong = (rest[np.arange(len(rest)), first] == 0)[has_more]
    micro_f1 = evaluate(rest, log_odds)["micro_f1"]
    return {"micro_f1": float(micro_f1), "one_error": float(wrong.mean()) if len(wrong) else 0.0}
