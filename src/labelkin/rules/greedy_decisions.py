"""Decisions that break no rule: the best-scored labels first, each with all it implies.

Every exclusive group has one seat. A label that enters takes the seats of its own groups and of
those of its broader labels; where another label sits, it cannot enter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_CELLS = 1 << 23
Decisions = NDArray[np.bool_]


def documents_that_break(
    decided: Decisions, implied: sparse.csr_array, member: sparse.csr_array
) -> NDArray[np.int64]:
    """Return the documents whose decisions break a rule.

    Parameters
    ----------
    decided
        ``(n_documents, n_labels)``.
    implied
        Marks the direct broader labels of each label, ``(n_labels, n_labels)``.
    member
        Marks the labels of each exclusive group, ``(n_labels, n_groups)``.
    """
    stored = sparse.csr_array(decided, dtype=np.int64)
    wanted = sparse.coo_array(stored @ implied)
    lacking = wanted.row[~decided[wanted.row, wanted.col]]
    seats = sparse.coo_array(stored @ member)
    return np.unique(np.concatenate([lacking, seats.row[seats.data > 1]]))


def enter_in_order(
    log_odds: NDArray[np.float64],
    decided: Decisions,
    reach: sparse.csr_array,
    seats: sparse.csr_array,
) -> Decisions:
    """Return decisions without broken rules; each document by itself.

    Parameters
    ----------
    log_odds, decided
        ``(n_documents, n_labels)``; the highest enter first, of equal ones the lowest column. A
        label that is −inf, or that implies one, does not enter.
    reach
        Marks each label's broader labels and itself, ``(n_labels, n_labels)``.
    seats
        1 + the column that takes the seat of a group when a label enters,
        ``(n_labels, n_groups)``.
    """
    block = max(1, _CELLS // (sum(seats.shape) + 1))
    parts = [
        _enter(log_odds[start : start + block], decided[start : start + block], reach, seats)
        for start in range(0, len(decided), block)
    ]
    return np.concatenate(parts) if parts else decided.copy()


def _enter(
    log_odds: NDArray[np.float64],
    decided: Decisions,
    reach: sparse.csr_array,
    seats: sparse.csr_array,
) -> Decisions:
    count = decided.sum(axis=1)
    ranked = _ranked(log_odds, decided, count)
    inside = np.zeros_like(decided)
    seated = np.zeros((len(decided), seats.shape[1]), dtype=np.int64)
    for rank in range(ranked.shape[1]):
        document = np.flatnonzero(count > rank)
        label = ranked[document, rank]
        outside = ~inside[document, label]
        document, label = document[outside], label[outside]
        company, taken = reach[label], seats[label]
        blocked = _meets_refused(log_odds, document, company)
        blocked |= _meets_seated(seated, document, taken)
        _mark(inside, document, company, ~blocked)
        _mark(seated, document, taken, ~blocked)
    return inside


def _ranked(
    log_odds: NDArray[np.float64], decided: Decisions, count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return each document's decided columns by descending log-odds, then anything."""
    row, column = np.nonzero(decided)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    # Narrower than all labels: most documents have few.
    columns = np.zeros((len(decided), count.max(initial=0)), dtype=np.int64)
    falling = np.full(columns.shape, np.inf)
    columns[row, place] = column
    falling[row, place] = -log_odds[row, column]
    return np.take_along_axis(columns, np.argsort(falling, axis=1, kind="stable"), axis=1)


def _meets_refused(
    log_odds: NDArray[np.float64], document: NDArray[np.int64], company: sparse.csr_array
) -> Decisions:
    refused = log_odds[_repeat(document, company), company.indices] == -np.inf
    return _any_in_row(refused, company)


def _meets_seated(
    seated: NDArray[np.int64], document: NDArray[np.int64], taken: sparse.csr_array
) -> Decisions:
    sits = seated[_repeat(document, taken), taken.indices]
    return _any_in_row((sits != 0) & (sits != taken.data), taken)


def _mark(
    table: NDArray[np.generic], document: NDArray[np.int64], rows: sparse.csr_array, keep: Decisions
) -> None:
    """Write the stored values of the rows to keep into the rows of their documents."""
    kept = _repeat(keep, rows)
    table[_repeat(document, rows)[kept], rows.indices[kept]] = rows.data[kept]


def _repeat(values: NDArray[np.generic], rows: sparse.csr_array) -> NDArray[np.generic]:
    """Return the value of each row, once per stored cell."""
    return np.repeat(values, np.diff(rows.indptr))


def _any_in_row(marks: Decisions, rows: sparse.csr_array) -> Decisions:
    place = _repeat(np.arange(rows.shape[0]), rows)
    return np.bincount(place[marks], minlength=rows.shape[0]) > 0
