"""Logistic regression of every label on its neighbours: hundreds of thousands of labels.

With all other labels as inputs there are p² weights, and from a thousand labels on most of them are
learned from nothing. A label's *neighbours* are those that occur with it clearly more often or more
rarely than by chance: z = |n_jk − e| / √(e + ¼) of at least 2, e = n_j n_k / n, at most 32 of them.
Each has a weight of its own, and the number of all other labels has one together, the *rest*:
"this document has other labels already". The objective is that of
:mod:`labelkin.solvers.logistic`, with the prior of a regression on so many inputs.

To one label most documents are alike: the same neighbours, as many other labels. They are merged
into one row, with how many documents it stands for and how many of them have the label; those
without any neighbour are not even looked at, but counted by what is left of the sizes of all sets.
A label costs the documents of its neighbours, and Newton's method a few hundred rows.

Two engines give the same numbers: compiled (numba), and NumPy. An unknown cell leaves its document
out for that label, and counts as absent for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse

from labelkin.odds import count_log_odds
from labelkin.scaling.blocks import Local
from labelkin.scaling.distributed import engine_in_use
from labelkin.scaling.progress import track
from labelkin.solvers.logistic import HALVINGS, NEWTON_STEPS, ROUNDING, LinearTerm

Array = NDArray[Any]
Engine = Literal["compiled", "numpy"]

#: A pattern of neighbours is 32 bits.
MOST = 32
#: Deviation from chance, in its standard deviations, of which a neighbour has at least this.
LEAST = 2.0
_PARTS = 64  # of the labels: what one thread does at a time


class Sets(NamedTuple):
    """Counted label sets by set and by label: positions in int32 or int64, all of one kind."""

    set_ends: Array
    set_labels: Array
    label_ends: Array
    label_sets: Array
    unknown_ends: Array  # by label: the sets in which it is unknown
    unknown_sets: Array
    times: Array  # how often each set occurs
    by_size: Array  # documents by the number of their labels

    @classmethod
    def of(cls, positive: sparse.csr_array, unknown: sparse.csr_array | None, count: Array) -> Sets:
        """Lay out label sets for all labels."""
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


class Labels(NamedTuple):
    """What is known of every label before: ``(n_labels,)`` each."""

    frequency: Array  # documents with it
    by_frequency: Array  # labels, the most frequent first
    spread: Array  # 1 + mean number of other labels
    start: Array  # log-odds of its prior


class Settings(NamedTuple):
    """How neighbours are chosen and fitted."""

    most: int
    least: float
    rest: bool
    tol: float


class Found(NamedTuple):
    """What is found, by label: neighbours and their weights ``(n_labels, most)``, and the rest."""

    neighbours: Array
    weights: Array
    n: Array
    rest: Array
    bias: Array
    steps: Array

    @classmethod
    def nothing(cls, n_labels: int, most: int) -> Found:
        """Return room for what will be found."""
        places, numbers = np.zeros((n_labels, most), np.int64), np.zeros((n_labels, most))
        whole, real = (np.zeros((2, n_labels), kind) for kind in (np.int64, np.float64))
        return cls(places, numbers, whole[0], real[0], real[1], whole[1])


def fit_neighbourhoods(
    positive: sparse.csr_array,
    count: Array,
    spread: Array,
    *,
    unknown: sparse.csr_array | None = None,
    most: int = MOST,
    rest: bool = True,
    tol: float = 1e-9,
    n_jobs: int | None = None,
    engine: Engine | None = None,
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
        1 where nobody knows, ``(n_sets, n_labels)``.
    most
        Neighbours of a label, 1 to 32.
    rest
        Whether all labels that are no neighbours have a weight together.
    tol
        Share of the objective at which a label's last step is done.
    n_jobs
        Threads; the result does not depend on it.
    engine
        ``"compiled"`` (needs numba), ``"numpy"``, or ``None``: the first where it can be had.

    Returns
    -------
    LinearTerm
        With CSC weights, the diagonal empty, and the rest, ``None`` without.

    Examples
    --------
    >>> sets = sparse.csr_array(np.array([[1.0, 1, 0], [0, 0, 1], [1, 1, 1]]))
    >>> term = fit_neighbourhoods(sets, np.array([50.0, 60, 4]), np.full(3, 1.8))
    >>> term.weights.nnz, bool(term.at(np.eye(3))[0, 1] > 0)
    (6, True)
    """
    frequency = positive.T @ count
    total = np.full(len(frequency), count.sum())
    known = total if unknown is None else np.maximum(total - unknown.T @ count, frequency)
    labels = Labels(
        frequency,
        np.argsort(-frequency, kind="stable"),
        spread,
        count_log_odds(frequency, known),
    )
    sets = Sets.of(positive, unknown, count)
    n_labels = len(frequency)
    found = Found.nothing(n_labels, most)
    fit = pick_engine(engine, fit_labels, "neighbourhood_kernel")
    settings = Settings(most, LEAST, rest, tol)
    elsewhere = engine_in_use()
    if isinstance(elsewhere, Local):
        Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(fit)(part, sets, labels, settings, found)
            for part in track(list(label_parts(n_labels)), "labels and their neighbours")
        )
    else:
        shared = {"engine": engine, "sets": sets, "labels": labels, "settings": settings}
        parts = list(label_parts(n_labels))
        for part, some in zip(parts, elsewhere.map(_fit_part, parts, **shared), strict=True):
            for whole, rows in zip(found, some, strict=True):
                whole[part] = rows
    return _as_term(found, rest)


def _fit_part(
    part: Array, engine: Engine | None, sets: Sets, labels: Labels, settings: Settings
) -> Found:
    """Return what is found of some labels, in a process that does not share our memory."""
    found = Found.nothing(len(labels.frequency), settings.most)
    pick_engine(engine, fit_labels, "neighbourhood_kernel")(part, sets, labels, settings, found)
    return Found(*(values[part] for values in found))


def label_parts(n_labels: int) -> Iterator[Array]:
    """Yield labels for one thread at a time."""
    step = max(64, -(-n_labels // _PARTS))
    yield from (np.arange(i, min(i + step, n_labels)) for i in range(0, max(n_labels, 1), step))


def pick_engine(
    engine: Engine | None, numpy: Callable[..., Any], kernel: str, name: str = "fit_labels"
) -> Any:
    """Return the way of doing it that is asked for: compiled, where it can be had."""
    if engine not in (None, "compiled", "numpy"):
        raise ValueError(f"engine must be 'compiled', 'numpy' or None, got {engine!r}.")
    if engine == "numpy":
        return numpy
    try:
        return getattr(import_module(f"labelkin.solvers.{kernel}"), name)
    except (ImportError, RuntimeError) as reason:  # RuntimeError: numba has no folder for its cache
        if engine is None:
            return numpy
        raise ImportError(
            f"engine='compiled' needs numba: pip install \"labelkin[fast]\" ({reason})."
        ) from reason


def _as_term(found: Found, rest: bool) -> LinearTerm:
    n_labels, most = found.neighbours.shape
    is_there = np.arange(most) < found.n[:, None]
    weights = sparse.csc_array(
        (
            found.weights[is_there],
            found.neighbours[is_there],
            np.concatenate(([0], np.cumsum(found.n))).astype(np.int32),
        ),
        shape=(n_labels, n_labels),
    )
    return LinearTerm(weights, found.bias, found.rest if rest else None)


def fit_labels(chosen: Array, sets: Sets, labels: Labels, settings: Settings, found: Found) -> None:
    """Fit the labels that are chosen, with NumPy; fill in what is found of them."""
    n_labels = len(labels.frequency)
    rows = sparse.csr_array(
        (np.ones(len(sets.set_labels)), sets.set_labels, sets.set_ends),
        shape=(len(sets.times), n_labels),
    )
    columns = sparse.csc_array(
        (np.ones(len(sets.label_sets)), sets.label_sets, sets.label_ends), shape=rows.shape
    )
    sizes, total = np.diff(sets.set_ends), sets.times.sum()
    for j in chosen.tolist():
        mine = sets.label_sets[sets.label_ends[j] : sets.label_ends[j + 1]]
        together = rows[mine].T @ sets.times[mine]
        neighbours = _neighbours(j, together, labels, settings, total)
        side = np.zeros(len(sizes))
        side[mine] = 1.0
        is_known = np.ones(len(sizes), dtype=np.bool_)
        is_known[sets.unknown_sets[sets.unknown_ends[j] : sets.unknown_ends[j + 1]]] = False
        has = columns[:, neighbours].tocoo()
        mask = np.zeros(len(sizes), dtype=np.int64)
        np.bitwise_or.at(mask, has.row, np.int64(1) << has.col.astype(np.int64))
        others = np.zeros(len(sizes), dtype=np.int64)
        if settings.rest:
            others = sizes - np.bincount(has.row, minlength=len(sizes)) - side.astype(np.int64)
        key, merged = np.unique((others[is_known] << 32) | mask[is_known], return_inverse=True)
        documents = np.bincount(merged, sets.times[is_known], len(key))
        positives = np.bincount(merged, (sets.times * side)[is_known], len(key))
        n = len(neighbours)
        inputs = [(key[:, None] >> np.arange(n)) & 1, np.ones((len(key), 1))]
        inputs.insert(1, (key >> 32)[:, None][:, : int(settings.rest)])
        A = np.hstack(inputs).astype(np.float64)
        penalty = 2 * labels.spread[j] / (n + 2)
        start = np.zeros(A.shape[1])
        start[-1] = labels.start[j]
        w, found.steps[j] = newton(A, documents, positives, penalty, start, settings.tol)
        found.n[j], found.rest[j], found.bias[j] = n, w[n] if settings.rest else 0.0, w[-1]
        found.neighbours[j, :n], found.weights[j, :n] = neighbours, w[:n] - found.rest[j]


def _neighbours(j: int, together: Array, labels: Labels, settings: Settings, total: float) -> Array:
    """Return the labels that deviate most from chance, ascending; of equal ones the lower."""
    expected = labels.frequency[j] * labels.frequency / total
    z = np.abs(together - expected) / np.sqrt(expected + 0.25)
    # Who is never seen with this label can only be missed where one was expected.
    is_one = (z >= settings.least) & ((together > 0) | (expected >= 1))
    is_one[j] = False
    candidates = np.flatnonzero(is_one)
    best = np.lexsort((candidates, -z[candidates]))[: settings.most]
    return np.sort(candidates[best])


def newton(
    A: Array,
    documents: Array,
    positives: Array,
    penalty: float,
    start: Array,
    tol: float,
    offset: Any = 0.0,
) -> tuple[Array, int]:
    """Return the weights of one logistic regression, and the steps taken to find them.

    Parameters
    ----------
    A, documents, positives
        Inputs ``(n_rows, n_inputs)``, how many documents each row stands for, and how many of them
        have the label.
    penalty
        Precision of the prior of every weight, around 0.
    start
        Weights to start from.
    tol
        Share of the objective that a last step may promise.
    offset
        A given part of the log-odds, ``(n_rows,)``.
    """
    w, ridge = start, penalty * np.eye(A.shape[1])

    def objective(w: Array) -> tuple[float, Array]:
        m = A @ w + offset
        loss = documents @ np.logaddexp(0, m) - positives @ m
        return float(loss + penalty / 2 * (w @ w)), m

    f, m = objective(w)
    for step in range(1, NEWTON_STEPS + 1):
        e = np.exp(-np.abs(m))
        p = np.where(m >= 0, 1.0, e) / (1 + e)
        gradient = A.T @ (documents * p - positives) + penalty * w
        hessian = (A.T * (documents * e / (1 + e) ** 2)) @ A + ridge
        direction = np.linalg.solve(hessian, gradient)
        promised = gradient @ direction
        t = 1.0
        for _ in range(HALVINGS):
            moved = w - t * direction
            new, m_new = objective(moved)
            if new <= f - 1e-4 * t * promised + ROUNDING * abs(f):
                break
            t /= 2
        is_last = promised <= 2 * max(tol, ROUNDING) * abs(f)
        w, f, m = moved, new, m_new
        if is_last:
            return w, step
    return w, NEWTON_STEPS
