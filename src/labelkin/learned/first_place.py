"""Who comes first: the one question that compares labels.

Label evidence judges every label by itself: does this document have it, yes or no. Which label is
the most probable of all compares them, and nothing in that judgement was fitted to compare. Two
things make it unfair at the top. A sure label adds to its kin with its full weight and receives
only what they are worth, so that the kin can overtake it. And where several labels are near
certain, the fit has no data left to tell them apart. Whether predicted labels may overtake is
therefore asked of out-of-fold documents: a share of their evidence decides the first place, and 0
leaves the content's first label first.

Of labels that tie, the one in the lowest column is first, as in
:func:`labelkin.metrics.one_error`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.label_matrix import Cells, LabelMatrix
from labelkin.metrics.judged import Truth
from labelkin.metrics.rankings import first_errors

Matrix = NDArray[np.float64]

#: Shares that are tried; 1 lets the posterior decide.
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
#: How far above the rest the first label is put, relative to them: enough to be seen in
#: probabilities, too little to be mistaken for evidence.
_MARGIN = 1e-9
#: Documents whose candidates compete at a time.
_ROWS = 8192


def keep_first(
    posterior: Matrix, contest: Matrix, takes_part: NDArray[np.bool_] | None = None
) -> None:
    """Put the winner of the contest first in the posterior of every document, in place.

    Labels that tie stay tied. Where ``takes_part`` is given (``(n_documents, n_labels)``, or one
    row for all), only its labels compete: those that are known have their place.
    """
    if not posterior.size:
        return
    if takes_part is not None:
        takes_part = np.broadcast_to(takes_part, posterior.shape)
        contest = np.where(takes_part, contest, -np.inf)
    rivals = posterior if takes_part is None else np.where(takes_part, posterior, -np.inf)
    # Where the same label wins both, which is nearly everywhere, nobody has been overtaken.
    rows = np.flatnonzero(contest.argmax(axis=1) != rivals.argmax(axis=1))
    contest, rivals = contest[rows], rivals[rows]
    highest = rivals.max(axis=1, keepdims=True)
    best = contest.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # -inf − -inf where nobody takes part
        winner = contest >= best - _MARGIN * np.maximum(1, np.abs(best))
        target = highest + _MARGIN * np.maximum(1, np.abs(highest))
    beaten = (rivals < highest) & np.isfinite(highest)
    overtaken = (winner & beaten).any(axis=1) & ~(winner & ~beaten).any(axis=1)
    winner &= overtaken[:, None]
    posterior[rows] = np.where(winner, target, posterior[rows])


def keep_first_of_cells(
    cells: Cells, posterior: Matrix, contest: Matrix, takes_part: NDArray[np.bool_]
) -> None:
    """Put the winner of the contest first among each document's candidates, in place.

    As :func:`keep_first`; ``takes_part`` is given for every cell. Some documents at a time: what
    lies between is many times their size.
    """
    for start in range(0, cells.shape[0], _ROWS):
        part, places = cells.rows(start, min(start + _ROWS, cells.shape[0]))
        _keep_first_of_some(part, posterior[places], contest[places], takes_part[places])


def _keep_first_of_some(
    cells: Cells, posterior: Matrix, contest: Matrix, takes_part: NDArray[np.bool_]
) -> None:
    competing = np.flatnonzero(takes_part)
    rows, of = np.unique(cells.document[competing], return_inverse=True)
    if not len(rows):
        return
    rivals, hopes = posterior[competing], contest[competing]
    starts = np.searchsorted(of, np.arange(len(rows)))
    highest, best = (np.maximum.reduceat(values, starts)[of] for values in (rivals, hopes))
    with np.errstate(invalid="ignore"):
        winner = hopes >= best - _MARGIN * np.maximum(1, np.abs(best))
        target = highest + _MARGIN * np.maximum(1, np.abs(highest))
    beaten = (rivals < highest) & np.isfinite(highest)
    any_beaten = np.bincount(of, winner & beaten) > 0
    any_unbeaten = np.bincount(of, winner & ~beaten) > 0
    moves = winner & (any_beaten & ~any_unbeaten)[of]
    posterior[competing[moves]] = target[moves]


def choose_first_place(
    content: Matrix,
    evidence: Matrix,
    labels: LabelMatrix,
    weight: Matrix | None = None,
    as_scores: Callable[[Matrix], Any] = lambda log_odds: log_odds,
) -> float:
    """Return the share of the evidence under which most documents have a true label in front.

    More than 0 only where the gain over the content alone is beyond one standard deviation of
    chance: among documents where exactly one of the two is right, wins − losses > √(wins + losses).

    Parameters
    ----------
    content, evidence
        Out-of-fold content log-odds, and what predicted labels add, ``(n_documents, n_labels)``;
        the evidence comes from layers that have not seen the document's labels.
    labels
        The true labels. An unknown cell in front counts as wrong for everybody.
    weight
        How often each document counts; none: once.
    as_scores
        Turns log-odds of candidates, ``(n_cells,)``, into a CSR array, where there are only those.
    """
    truth = Truth.of(labels, weight)
    times = truth.weight
    alone = ~first_errors(truth, as_scores(content))
    best, most = 0.0, float(times @ alone)
    for share in SHARES:
        right = ~first_errors(truth, as_scores(content + share * evidence))
        wins, losses = times @ (right & ~alone), times @ (alone & ~right)
        if wins - losses > np.sqrt(wins + losses) and times @ right > most:
            best, most = share, float(times @ right)
    return best
