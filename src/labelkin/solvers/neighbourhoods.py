"""Logistic regression of every label on its neighbours: hundreds of thousands of labels.

With all other labels as inputs there are p² weights, and from a thousand labels on most of them are
fitted to no document. A label's *neighbours* are those that occur with it clearly more often or
more rarely than by chance: z = |n_jk − e| / √(e + ¼) of at least 2, e = n_j n_k / n, at most 32 of
them. Each has its own weight, and the number of all other labels has one together, the *rest*. The
objective is that of :mod:`labelkin.solvers.logistic`, with the prior of a regression on that number
of inputs.

To one label most documents are alike: the same neighbours, and the same number of other labels.
They are merged into one row, with the number of its documents and of those that have the label.
With numba, documents without any neighbour are not visited, but counted by what is left of the
sizes of all sets: a label then costs the documents of its neighbours, and Newton's method a few
hundred rows. Without numba every label visits all label sets.

An unknown cell leaves its document out for that label, and counts as absent for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.odds import count_log_odds
from labelkin.scaling.distributed import map_parts
from labelkin.solvers import load_kernels
from labelkin.solvers.logistic import LinearTerm, newton

_Array = NDArray[Any]

#: Neighbours of a label at most: a pattern of neighbours is 32 bits.
MOST = 32
#: Smallest deviation of a neighbour from chance, in standard deviations.
LEAST = 2.0
_PARTS = 64  # of the labels; one thread solves a part at a time


class Sets(NamedTuple):
    """Counted label sets by set and by label: positions in int32 or int64, all of one kind."""

    set_ends: _Array
    set_labels: _Array
    label_ends: _Array
    label_sets: _Array
    unknown_ends: _Array  # by label: the sets in which it is unknown
    unknown_sets: _Array
    times: _Array  # how often each set occurs
    by_size: _Array  # documents by the number of their labels

    @classmethod
    def of(
        cls, positive: sparse.csr_array, unknown: sparse.csr_array | None, count: _Array
    ) -> Sets:
        """Arrange label sets for all labels."""
        empty = sparse.csr_array(positive.shape, dtype=np.int8)
        small = sparse.csr_array(
            (np.ones(positive.nnz, np.int8), positive.indices, positive.indptr), positive.shape
        )
        by_label = sparse.csc_array(small)
        left_out = sparse.csc_array(empty if unknown is None else unknown)
        sizes = np.diff(positive.indptr)
        return cls(
            *(positive.indptr, positive.indices, by_label.indptr, by_label.indices),
            *(left_out.indptr, left_out.indices, count),
            np.bincount(sizes, count, 2 + sizes.max(initial=0)),
        )


class _Problem(NamedTuple):
    """Some labels: neighbours from ``ends[i]`` to ``ends[i + 1]``, the prior, and a first bias."""

    sets: Sets
    labels: _Array
    ends: _Array
    neighbours: _Array
    penalty: _Array
    start: _Array


def fit_neighbourhoods(
    positive: sparse.csr_array,
    count: _Array,
    spread: _Array,
    *,
    unknown: sparse.csr_array | None = None,
    most: int = MOST,
    tol: float = 1e-9,
    n_jobs: int | None = None,
) -> LinearTerm:
    """Fit every label on its neighbours.

    Parameters
    ----------
    positive, count
        Distinct label sets, CSR ``(n_sets, n_labels)`` with sorted indices, and how often each
        occurs.
    spread
        1 + the mean number of other labels of a document, ``(n_labels,)``.
    unknown
        1 where a label is unknown, ``(n_sets, n_labels)``.
    most
        Maximum number of neighbours of a label, 1 to 32.
    tol
        Share of the objective at which a label's last step is done.
    n_jobs
        Threads; the result does not depend on it.

    Returns
    -------
    LinearTerm
        With CSC weights, the diagonal empty, and the rest.

    Examples
    --------
    >>> sets = sparse.csr_array(np.array([[1.0, 1, 0], [0, 0, 1], [1, 1, 1]]))
    >>> term = fit_neighbourhoods(sets, np.array([50.0, 60, 4]), np.full(3, 1.8))
    >>> term.weights.nnz, bool(term.at(np.eye(3))[0, 1] > 0)
    (6, True)
    """
    frequency = positive.T @ count
    n_labels = len(frequency)
    total = np.full(n_labels, count.sum())
    known = total if unknown is None else np.maximum(total - unknown.T @ count, frequency)
    shared = {"sets": Sets.of(positive, unknown, count), "frequency": frequency, "spread": spread}
    shared |= {"start": count_log_odds(frequency, known), "most": most, "tol": tol}
    found = map_parts(
        _fit_part, list(_parts(n_labels)), "labels and their neighbours", n_jobs, **shared
    )
    sizes, neighbours, weights, rests, bias = (
        np.concatenate(arrays) for arrays in zip(*found, strict=True)
    )
    ends = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    matrix = sparse.csc_array((weights, neighbours, ends), shape=(n_labels, n_labels))
    return LinearTerm(matrix, bias, rests)


def _parts(n_labels: int) -> Iterator[_Array]:
    step = max(64, -(-n_labels // _PARTS))
    yield from (np.arange(i, min(i + step, n_labels)) for i in range(0, max(n_labels, 1), step))


def _fit_part(
    part: _Array,
    sets: Sets,
    frequency: _Array,
    spread: _Array,
    start: _Array,
    most: int,
    tol: float,
) -> tuple[_Array, ...]:
    """Return, of some labels, the numbers of neighbours, these and their weights, rest and bias."""
    sizes, neighbours = _choose_neighbours(part, sets, frequency, most)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    problem = _Problem(
        sets, part, ends, neighbours, 2 * spread[part] / (sizes + 2), start[part].astype(float)
    )
    kernels = load_kernels()
    fit = _fit_without_numba if kernels is None else kernels.fit_neighbourhoods
    return sizes, neighbours, *fit(problem, tol)


def _choose_neighbours(
    part: _Array, sets: Sets, frequency: _Array, most: int
) -> tuple[_Array, _Array]:
    """Return the numbers of neighbours of some labels, and these, ascending for each label.

    They are the labels that deviate most from chance; of equal ones the lower.
    """
    n_labels, total = len(frequency), sets.times.sum()
    place, other, together = _pairs(part, sets, frequency)
    expected = frequency[part[place]] * frequency[other] / total
    z = np.abs(together - expected) / np.sqrt(expected + 0.25)
    is_one = (z >= LEAST) & (other != part[place])
    place, other, z = place[is_one], other[is_one], z[is_one]
    order = np.lexsort((other, -z, place))
    rank = np.arange(len(order)) - np.searchsorted(place[order], place[order])
    best = np.sort(place[order][rank < most] * np.int64(n_labels) + other[order][rank < most])
    sizes = np.bincount(best // n_labels, minlength=len(part))
    return sizes, (best % n_labels).astype(np.int32)


def _pairs(part: _Array, sets: Sets, frequency: _Array) -> tuple[_Array, _Array, _Array]:
    """Return pairs of labels that can deviate enough, and the documents they share.

    The first label by its place in ``part``. Labels that are never together can only be neighbours
    if more than ``LEAST``² documents with both are expected.
    """
    n_labels, ends = len(frequency), sets.label_ends
    own = slice(ends[part[0]], ends[part[-1] + 1]) if len(part) else slice(0)
    rows = sparse.csr_array(
        (np.ones(len(sets.set_labels), np.int8), sets.set_labels, sets.set_ends),
        shape=(len(sets.times), n_labels),
    )
    mine = sparse.csr_array(
        (
            sets.times[sets.label_sets[own]],
            sets.label_sets[own],
            ends[part[0] : part[-1] + 2] - ends[part[0]],
        ),
        shape=(len(part), len(sets.times)),
    )
    shared = sparse.csr_array(mine @ rows)
    place = np.repeat(np.arange(len(part)), np.diff(shared.indptr))
    by_frequency = np.argsort(-frequency, kind="stable")
    with np.errstate(divide="ignore"):
        least = LEAST**2 * sets.times.sum() / frequency[part]
    many = np.searchsorted(-frequency[by_frequency], -least, side="right")
    apart = np.repeat(np.arange(len(part)), many)
    rank = np.arange(len(apart)) - np.repeat(np.cumsum(many) - many, many)
    numbers = apart * n_labels + by_frequency[rank]
    numbers = np.setdiff1d(numbers, place * n_labels + shared.indices, assume_unique=True)
    return (
        np.concatenate([place, numbers // n_labels]),
        np.concatenate([shared.indices, numbers % n_labels]),
        np.concatenate([shared.data, np.zeros(len(numbers))]),
    )


def _fit_without_numba(problem: _Problem, tol: float) -> tuple[_Array, _Array, _Array]:
    """Return the weights of the neighbours, and rest and bias of every label of a problem."""
    sets, n_labels = problem.sets, len(problem.labels)
    sizes, stored = np.diff(sets.set_ends), np.ones(len(sets.label_sets))
    by_label = sparse.csc_array(
        (stored, sets.label_sets, sets.label_ends), shape=(len(sizes), len(sets.label_ends) - 1)
    )
    weights, rest, bias = np.empty(len(problem.neighbours)), np.zeros(n_labels), np.empty(n_labels)
    for i, j in enumerate(problem.labels):
        own = slice(problem.ends[i], problem.ends[i + 1])
        X, has = by_label[:, problem.neighbours[own]].toarray(), by_label[:, [j]].toarray().ravel()
        others = sizes - has - X.sum(axis=1)
        times = sets.times.astype(np.float64)
        times[sets.unknown_sets[sets.unknown_ends[j] : sets.unknown_ends[j + 1]]] = 0.0
        # Equal rows are one: bits of neighbours, and the number of other labels above them.
        key = X @ 2.0 ** np.arange(X.shape[1]) + others * 2.0**32
        _, first, row = np.unique(key, return_index=True, return_inverse=True)
        A = np.column_stack([X, others, np.ones(len(sizes))])[first]
        start = np.append(np.zeros(A.shape[1] - 1), problem.start[i])
        merged, positives = (np.bincount(row, n).astype(np.float64) for n in (times, times * has))
        w = newton(A, merged, positives, problem.penalty[i], start, tol)
        weights[own], rest[i], bias[i] = w[:-2] - w[-2], w[-2], w[-1]
    return weights, rest, bias
