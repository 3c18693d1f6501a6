"""Evaluation with known labels: some labels of test documents are revealed, the others are scored.

Strategies of revealing:

- ``true 1``, ``true 2``, ``true 3``: 1, 2 or 3 true labels, drawn at random, of documents that
  have as many; ``true half``: half of them, rounded up.
- ``wrong 1``, ``wrong 2``, ``wrong 3``: the highest wrong suggestions are rejected, and right ones
  passed over; at most a third of the labels.
- ``walk 1``, ``walk 2``, ``walk 3``, ``walk 5``: the first suggestions are answered one after the
  other, in the order of nothing known; at most half of the labels. ``walk 3 updated``: the same,
  but every answer updates the order, as on the page.
- ``half``: any cell with probability ½. ``all others``: each cell, with all others known; of very
  many cells, those of every k-th document.
- ``further 1``, …: as ``true 1``, …, of the documents that have a further label, and only those.

All systems are scored on the same open cells: content alone, the posterior when nothing is known,
the posterior that knows. One-error asks the documents that have a true label left; ``all others``
has no label sets and no order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.evaluation.metrics.decisions import DecisionCounts, count_by_document, count_decisions
from labelkin.evaluation.metrics.inputs import Truth
from labelkin.evaluation.metrics.probabilities import squared_errors
from labelkin.evaluation.metrics.rankings import first_errors
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.research.experiments import CorpusResults, Experiment
from labelkin.research.experiments.train import train_addition

Matrix = NDArray[np.float64]
Bools = NDArray[np.bool_]
Record = dict[str, Any]

#: By name, what is scored; F1 as it is, all others are losses.
METRICS = (
    *("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error", "log_loss"),
    "brier_score",
)
#: The compared systems.
SYSTEMS = ("alone", "predicted", "known")
#: Groups of documents that are left out in turn, for standard errors.
_GROUPS = 20
#: Answers after which a walk by the updated order is scored.
_UPDATED = (3, 5)
#: Cells that are enough to ask, one after the other, with all others known.
_ENOUGH_CELLS = 100_000


def evaluate_runs(corpus: CorpusResults, experiment: Experiment) -> list[tuple[str, str, Record]]:
    """Evaluate the additions of a finished experiment on one corpus with known labels.

    Label evidence is fitted again, from the stored evidence of the training documents.

    Returns
    -------
    list of tuple
        The content classifier, the addition, and a record of :func:`evaluate_known_labels`.
    """
    labels, truth = (read_labels(Y, names=corpus.label_names) for Y in (corpus.Y_train, corpus.Y))
    additions = {addition.name: addition for addition in experiment.additions}
    found = []
    for run in corpus.runs:
        if run.addition not in additions:
            continue
        alone, addition = corpus.run(run.content, run.seed), additions[run.addition]
        unseen = np.array(alone.out_of_fold()) if addition.learns_from_content else None
        posterior = train_addition(addition, labels, unseen).log_odds
        records = evaluate_known_labels(posterior, np.array(alone.log_odds()), truth)
        found += [(run.content, run.addition, record) for record in records]
    return found


def evaluate_known_labels(
    log_odds: Callable[..., Matrix], content: Matrix, labels: LabelMatrix, seed: int = 0
) -> list[dict[str, Any]]:
    """Score the labels that remain when some are known.

    Parameters
    ----------
    log_odds
        Returns the posterior log-odds, given content log-odds and known labels.
    content
        Content log-odds of the documents, ``(n_documents, n_labels)``.
    labels
        Their true labels; unknown cells are neither revealed nor scored.
    seed
        Draws the labels that are revealed at random.

    Returns
    -------
    list of dict
        For every strategy: ``"revealed"``, its name; ``"documents"``, how many were given
        a known label, and ``"with_more"``, those that have a true label left; ``"accepted"``, true
        labels revealed; by system, the scores; ``"standard_errors"``, those of known less predicted
        (jackknife over 20 groups of documents).
    """
    truth = labels.dense()
    predicted = log_odds(content)
    found = []
    for strategy in reveal_strategies(truth, predicted, log_odds, content, seed):
        rows, known = strategy.rows, strategy.known
        if not len(rows):
            continue
        if known is None:  # all other cells: each answer moves the cells that it does not name
            rest, told = truth[rows], _all_others(log_odds, content[rows], truth[rows])
        else:
            rest = np.where(np.isnan(known), truth[rows], np.nan)
            told = np.where(np.isnan(known), log_odds(content[rows], known), 0.0)
        systems = dict(zip(SYSTEMS, (content[rows], predicted[rows], told), strict=True))
        scores = {name: _scores(system, rest, known is None) for name, system in systems.items()}
        found.append(
            {
                "revealed": strategy.name,
                "documents": len(rows),
                "with_more": int((rest == 1).any(axis=1).sum()),
                "accepted": None if known is None else int((known == 1).sum()),
                **{name: _numbers(values[0]) for name, values in scores.items()},
                "standard_errors": _numbers(_standard_error(scores["known"] - scores["predicted"])),
            }
        )
    return found


class RevealStrategy(NamedTuple):
    """Documents, and what becomes known of them; ``None``: of each cell all others."""

    name: str
    rows: NDArray[np.intp]
    known: Matrix | None


def reveal_strategies(
    truth: Matrix, predicted: Matrix, log_odds: Callable[..., Matrix], content: Matrix, seed: int
) -> Iterator[RevealStrategy]:
    """Yield the strategies, each with its documents and their known labels."""
    random = np.random.default_rng(seed)
    n_own, n_labels = (truth == 1).sum(axis=1), truth.shape[1]
    drawn = _places(np.where(truth == 1, random.random(truth.shape), np.inf))
    is_known = ~np.isnan(truth)
    every = np.arange(len(truth))

    def strategy(name: str, cells: Bools, rows: Any = every) -> RevealStrategy:
        return RevealStrategy(name, rows, np.where(cells & is_known, truth, np.nan)[rows])

    half = np.ceil(n_own / 2)[:, None]
    for n in (1, 2, 3):
        yield strategy(f"true {n}", drawn < n, np.flatnonzero(n_own >= n))
    yield strategy("true half", drawn < half, np.flatnonzero(n_own >= 1))
    wrong = _places(np.where(truth == 0, -predicted, np.inf))
    for n in (n for n in (1, 2, 3) if n <= n_labels / 3):
        yield strategy(f"wrong {n}", (wrong < n) & (truth == 0))
    place = _places(np.where(is_known, -predicted, np.inf))
    lengths = [n for n in (1, 2, 3, 5) if n <= n_labels / 2]
    for n in lengths:
        yield strategy(f"walk {n}", place < n)
    yield strategy("half", random.random(truth.shape) < 0.5)
    yield RevealStrategy("all others", every[:: 1 + truth.size // _ENOUGH_CELLS], None)
    for n in (1, 2, 3):
        yield strategy(f"further {n}", drawn < n, np.flatnonzero(n_own > n))
    yield strategy("further half", drawn < half, np.flatnonzero(n_own > half[:, 0]))
    walked = np.full(truth.shape, np.nan)
    for n in range(1, max((n for n in _UPDATED if n in lengths), default=0) + 1):
        now = log_odds(content, walked)
        now[~is_known | ~np.isnan(walked)] = -np.inf
        first = now.argmax(axis=1)
        walked[every, first] = truth[every, first]
        if n in _UPDATED:
            yield RevealStrategy(f"walk {n} updated", every, walked.copy())


def _all_others(log_odds: Callable[..., Matrix], content: Matrix, truth: Matrix) -> Matrix:
    """Return the posterior of every cell given all others: label by label."""
    told = np.empty(content.shape)
    for j in range(content.shape[1]):
        known = truth.copy()
        known[:, j] = np.nan
        told[:, j] = log_odds(content, known)[:, j]
    return told


def _scores(log_odds: Matrix, rest: Matrix, only_cells: bool) -> Matrix:
    """Return the scores of all documents, and of all but each group, ``(1 + n_groups, 7)``."""
    truth = Truth.of(read_labels(rest))
    document = np.arange(len(rest))
    shape = (min(_GROUPS, len(rest)), len(rest))
    groups = sparse.csr_array((np.ones(len(rest)), (document % _GROUPS, document)), shape)

    def summed(values: Any) -> Matrix:
        return _with_left_out(np.asarray(groups @ values, dtype=np.float64))

    decided = log_odds > 0
    by_group = [
        count_decisions(Truth.of(read_labels(rest[rows])), decided[rows])
        for rows in (document % _GROUPS == group for group in range(shape[0]))
    ]
    fields = zip(*(vars(counts).values() for counts in by_group), strict=True)
    counts = DecisionCounts(*(_with_left_out(np.array(field)) for field in fields))
    n_documents, n_cells = summed(np.ones(len(rest))), counts.known.sum(axis=1)
    has_more = (rest == 1).any(axis=1)
    losses = np.logaddexp(0, np.where(rest == 1, -log_odds, log_odds))
    first = first_errors(truth, np.where(np.isnan(rest), -np.inf, log_odds)) & has_more
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = [
            counts.average("f1", "micro"),
            counts.average("f1", "macro"),
            counts.hamming_loss,
            summed(count_by_document(truth, decided).wrong > 0) / n_documents,
            summed(first) / summed(has_more),
            summed(np.where(np.isnan(rest), 0.0, losses).sum(axis=1)) / n_documents,
            summed(squared_errors(truth, log_odds).sum(axis=1)) / n_cells,
        ]
    scores = np.column_stack(columns)
    if only_cells:
        scores[:, 3:5] = np.nan
    return scores


def _with_left_out(sums: Matrix) -> Matrix:
    """Return the sum over all groups, and over all but each."""
    total = sums.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - sums])


def _standard_error(differences: Matrix) -> Matrix:
    """Return the jackknife's standard error of scores, given those without each group."""
    left_out = differences[1:]
    n_groups = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(spread * (n_groups - 1) / n_groups))


def _numbers(row: Matrix) -> dict[str, float]:
    """Return numbers by metric, for JSON, without NaN."""
    return {name: float(x) for name, x in zip(METRICS, row, strict=True) if np.isfinite(x)}


def _places(keys: Matrix) -> NDArray[np.int64]:
    """Return the place of each cell in its row, smallest first."""
    order = np.argsort(keys, axis=1, kind="stable")
    places = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(places, order, np.arange(order.shape[1])[None, :], axis=1)
    return places
