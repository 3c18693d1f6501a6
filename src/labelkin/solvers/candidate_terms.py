"""Linear terms on candidate cells: what predicted neighbours say, at cells × neighbours.

One logistic regression per label over the documents of which the label is a candidate, with a part
of the log-odds given and a Gaussian prior around 0. Inputs are what the label's neighbours count in
those documents, 0 where one is no candidate. Two engines give the same numbers: compiled (numba),
and NumPy; where every label is an input of every other, NumPy's products are the faster ones.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from threadpoolctl import threadpool_limits

from labelkin.label_matrix import Cells
from labelkin.solvers.logistic import HALVINGS, NEWTON_STEPS, ROUNDING
from labelkin.solvers.neighbourhoods import MOST, Engine, label_parts, pick_engine

Array = NDArray[Any]

#: A step that promises more than this share of the one before takes a new Hessian.
SLOW = 0.5


class ProblemsByLabel(NamedTuple):
    """The cells by label, ``(n_cells,)`` each from ``ends[j]`` to ``ends[j + 1]``; and the inputs.

    Attributes
    ----------
    ends, documents
        The documents of which label j is a candidate.
    values
        What the label counts there as an input of others.
    truth, given
        1 where the document has it, 0 where not, -1 where nobody knows; and the given log-odds.
    input_ends, inputs
        The neighbours of label j: ``inputs[input_ends[j]:input_ends[j + 1]]``, without itself.
    penalty
        Precision of the prior of each label's weights, ``(n_labels,)``.
    times, sums
        How often a document counts, and what all its candidates count together,
        ``(n_documents,)`` each.
    """

    ends: Array
    documents: Array
    values: Array
    truth: Array
    given: Array
    input_ends: Array
    inputs: Array
    penalty: Array
    times: Array
    sums: Array


class Learned(NamedTuple):
    """The weights, one for each of ``inputs``, and bias and rest of each label."""

    weights: Array
    bias: Array
    rest: Array


def problems_by_label(
    cells: Cells,
    values: Array,
    truth: Array,
    given: Array,
    times: Array,
    neighbours: Any,
    penalty: Array,
) -> ProblemsByLabel:
    """Lay out cells label by label.

    Parameters
    ----------
    cells
        The candidates.
    values, truth, given
        Of the cells, ``(n_cells,)`` each: see :class:`ProblemsByLabel`.
    times
        How often each document counts, ``(n_documents,)``.
    neighbours
        Label weights, ``(n_labels, n_labels)``: a label's neighbours are what a CSC array stores in
        its column; of a dense one, all other labels.
    penalty
        Precision of the prior of each label's weights, ``(n_labels,)``.
    """
    n_labels = cells.shape[1]
    if sparse.issparse(neighbours):
        input_ends, inputs = neighbours.indptr, neighbours.indices
    else:
        every = np.broadcast_to(np.arange(n_labels, dtype=np.int32), (n_labels, n_labels))
        inputs = every[~np.eye(n_labels, dtype=np.bool_)]
        input_ends = np.arange(n_labels + 1) * (n_labels - 1)
    by_label = sparse.csc_array(cells.matrix(np.arange(cells.n)))
    order, pattern = by_label.data, (by_label.indptr, by_label.indices)
    of_cells = values[order], truth[order], given[order]
    sums = cells.sums_by_document(values)
    return ProblemsByLabel(*pattern, *of_cells, input_ends, inputs, penalty, times, sums)


def fit_at_candidates(
    problems: ProblemsByLabel,
    chosen: Array,
    *,
    rest: bool = True,
    tol: float = 1e-7,
    n_jobs: int | None = None,
    engine: Engine | None = None,
) -> Learned:
    """Fit some labels on their neighbours; weights and bias of all others are 0.

    Parameters
    ----------
    problems
        The cells by label.
    chosen
        The labels, ``(n_chosen,)``.
    rest
        Whether all candidates that are no neighbours have a weight together.
    tol
        Share of the objective at which a label's last step is done.
    n_jobs
        Threads; the result does not depend on it.
    engine
        ``"compiled"`` (needs numba), ``"numpy"``, or ``None``: the first where it can be had, for
        labels that have few inputs.
    """
    n_labels = len(problems.penalty)
    learned = Learned(
        np.zeros(len(problems.inputs)), np.zeros(n_labels), np.zeros(n_labels if rest else 0)
    )
    chosen = chosen[np.diff(problems.ends)[chosen] > 0]
    # Compiled loops are quicker than BLAS where labels have few inputs, and slower for many.
    are_few = np.diff(problems.input_ends)[chosen] <= 2 * MOST
    for some, by in ((chosen[are_few], engine), (chosen[~are_few], engine or "numpy")):
        fit = pick_engine(by, _fit_labels, "candidate_kernel")
        if engine is None and by == "numpy" and rest:  # with neighbours, it is loaded anyway
            compiled = pick_engine(None, _lay_out, "candidate_kernel", "lay_out")
            fit = partial(_fit_labels, lay_out=compiled)
        # More threads of BLAS would change the last bits, and cost more than they help.
        with threadpool_limits(1, user_api="blas") if len(some) else nullcontext():
            Parallel(n_jobs=n_jobs, require="sharedmem")(
                delayed(fit)(some[part], problems, tol, learned) for part in label_parts(len(some))
            )
    return learned


def _fit_labels(
    chosen: Array, problems: ProblemsByLabel, tol: float, learned: Learned, lay_out: Any = None
) -> None:
    """Fit the labels that are chosen, with NumPy; fill in what is learned of them."""
    lay_out = _lay_out if lay_out is None else lay_out
    row_of = np.full(len(problems.sums), -1, dtype=np.int64)
    ends, has_rest = problems.ends, int(len(learned.rest) > 0)
    for j in chosen.tolist():
        own = slice(ends[j], ends[j + 1])
        stored = slice(problems.input_ends[j], problems.input_ends[j + 1])
        n = stored.stop - stored.start
        A, times = lay_out(j, problems, row_of, has_rest)
        positives = times * problems.truth[own]
        w = _newton(A.T, times, positives, problems.penalty[j], tol, problems.given[own])
        learned.weights[stored], learned.bias[j] = w[:n], w[-1]
        if has_rest:
            learned.weights[stored] -= w[n]
            learned.rest[j] = w[n]


def _lay_out(
    j: int, problems: ProblemsByLabel, row_of: Array, has_rest: int
) -> tuple[Array, Array]:
    """Return the inputs of a label, input by input, and how often each of its documents counts."""
    ends, own = problems.ends, slice(problems.ends[j], problems.ends[j + 1])
    stored = slice(problems.input_ends[j], problems.input_ends[j + 1])
    neighbours, documents = problems.inputs[stored], problems.documents[own]
    n = len(neighbours)
    A = np.zeros((n + has_rest + 1, len(documents)))
    A[-1] = 1.0
    row_of[documents] = np.arange(len(documents))
    lengths = ends[neighbours + 1] - ends[neighbours]
    column = np.repeat(np.arange(n), lengths)
    place = np.arange(len(column)) + np.repeat(
        ends[neighbours] - (np.cumsum(lengths) - lengths), lengths
    )
    row = row_of[problems.documents[place]]
    shared = row >= 0
    A[column[shared], row[shared]] = problems.values[place[shared]]
    row_of[documents] = -1
    if has_rest:
        A[n] = problems.sums[documents] - problems.values[own] - A[:n].sum(axis=0)
    return A, np.where(problems.truth[own] < 0, 0.0, problems.times[documents])


def _newton(
    A: Array, times: Array, positives: Array, penalty: float, tol: float, given: Array
) -> Array:
    """Return the weights of one logistic regression.

    What is given is nearly right: one Hessian serves as long as each step promises far less than
    the one before. It costs more than all else.
    """
    w, ridge = np.zeros(A.shape[1]), penalty * np.eye(A.shape[1])

    def objective(w: Array) -> tuple[float, Array]:
        m = A @ w + given
        loss = times @ np.logaddexp(0, m) - positives @ m
        return float(loss + penalty / 2 * (w @ w)), m

    f, m = objective(w)
    before, is_old = np.inf, True
    for _ in range(NEWTON_STEPS):
        e = np.exp(-np.abs(m))
        p = np.where(m >= 0, 1.0, e) / (1 + e)
        gradient = A.T @ (times * p - positives) + penalty * w
        if is_old:
            bent = A.T * (np.sqrt(times * e) / (1 + e))
            factor = cho_factor(bent @ bent.T + ridge, check_finite=False)  # half the work: AᵀA
        direction = cho_solve(factor, gradient, check_finite=False)
        promised = gradient @ direction
        is_last = promised <= 2 * max(tol, ROUNDING) * abs(f)
        t = 1.0
        for _ in range(HALVINGS):
            moved = w - t * direction
            new, m = objective(moved)
            if new <= f - 1e-4 * t * promised + ROUNDING * abs(f):
                break
            t /= 2
        w, f = moved, new
        if is_last:
            break
        is_old, before = t < 1 or promised > SLOW * before, promised
    return w


def with_best_inputs(
    problems: ProblemsByLabel,
    cells: Cells,
    values: Array,
    chosen: Array,
    *,
    most: int = MOST,
    least: float = 0.0,
    hardly: float = 0.01,
    n_jobs: int | None = None,
    engine: Engine | None = None,
) -> ProblemsByLabel:
    """Return the problems with more inputs: the labels from which each one gains most.

    The gain of an input is what one Newton step on it and the bias promises, starting from what is
    given; of equal ones the lower label. Of a thousand labels that have nothing to say some seem
    to, so that a gain must be clear; and rare labels have their neighbours on true labels, which
    are not chosen from so few documents, as inputs anyway.

    Parameters
    ----------
    problems
        The cells by label, and the inputs that each label has anyway.
    cells, values
        The cells by document, and what they count, ``(n_cells,)``.
    chosen
        The labels that are to have more inputs, ``(n_chosen,)``.
    most
        How many at most.
    least
        The gain that each must exceed. What has nothing to say gains 1 on average.
    hardly
        An input that counts less than this in a document has no say there in who is chosen.
    n_jobs, engine
        As :func:`fit_at_candidates` takes them.
    """
    n_labels = len(problems.penalty)
    inputs, n_inputs = np.zeros((n_labels, most), np.int32), np.zeros(n_labels, np.int64)
    counts = np.abs(values) >= hardly
    ends = np.concatenate(([0], np.cumsum(counts)))[cells.indptr]
    by_document = ends, cells.indices[counts], values[counts]
    choose = pick_engine(engine, _choose_inputs, "candidate_kernel", "choose_inputs")
    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(choose)(chosen[part], problems, by_document, least, inputs, n_inputs)
        for part in label_parts(len(chosen))
    )
    shape, to = (n_labels, n_labels), np.concatenate(([0], np.cumsum(n_inputs)))
    found = inputs[np.arange(most) < n_inputs[:, None]]
    best = sparse.csc_array((np.ones(len(found)), found, to), shape=shape)
    given = np.ones(len(problems.inputs)), problems.inputs, problems.input_ends
    joined = sparse.csc_array(best + sparse.csc_array(given, shape=shape))
    joined.sort_indices()
    return problems._replace(input_ends=joined.indptr, inputs=joined.indices)


def _choose_inputs(
    chosen: Array,
    problems: ProblemsByLabel,
    by_document: Any,
    least: float,
    inputs: Array,
    n_inputs: Array,
) -> None:
    """Choose the inputs of labels, with NumPy."""
    ends, labels, values = by_document
    rows = sparse.csr_array((values, labels, ends), shape=(len(problems.times), len(n_inputs)))
    for j in chosen.tolist():
        own = slice(problems.ends[j], problems.ends[j + 1])
        known = problems.truth[own] >= 0
        documents = problems.documents[own][known]
        times, p = problems.times[documents], expit(problems.given[own][known])
        error, bend = times * (problems.truth[own][known] - p), times * p * (1 - p)
        X, penalty = rows[documents], problems.penalty[j]
        both = X.T @ bend
        share = both / (bend.sum() + penalty)
        left = X.power(2).T @ bend - share * both + penalty
        gain = (X.T @ error - share * error.sum()) ** 2 / left
        gain[j] = 0.0
        best = np.lexsort((np.arange(len(gain)), -gain))[: inputs.shape[1]]
        best = np.sort(best[gain[best] > least])
        n_inputs[j], inputs[j, : len(best)] = len(best), best
