"""Linear terms on candidate cells: one logistic regression per label over its candidates.

The rows of a label are the documents in whose candidates it is, with a part of the log-odds given
and a Gaussian prior around 0. Inputs are the values of its neighbours in those documents, 0 where
one is not a candidate.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from labelkin.label_matrix import Cells
from labelkin.solvers.logistic import LinearTerm, newton

_Array = NDArray[Any]


class CandidateValues(NamedTuple):
    """Training data of candidate cells.

    Attributes
    ----------
    cells
        The candidates.
    values, truth, given
        Value of the label as an input of others; 1 where the document has it, 0 where not, -1 where
        that is unknown; the given log-odds: ``(n_cells,)`` each.
    times
        How often each document counts, ``(n_documents,)``.
    """

    cells: Cells
    values: _Array
    truth: _Array
    given: _Array
    times: _Array


class InputChoice(NamedTuple):
    """How more inputs are chosen: the labels from which a label gains most.

    The gain of an input is the gain in log-likelihood that one Newton step on it and the bias
    promises, starting from the given log-odds; of equal ones the lower label. Of a thousand
    unrelated labels some seem to help, so that a gain must be clear.

    Attributes
    ----------
    most
        Maximum number of inputs.
    least
        The gain that each must exceed; an unrelated label gains 1 on average.
    hardly
        A value below this does not count for the choice.
    """

    most: int
    least: float = 0.0
    hardly: float = 0.01


def fit_at_candidates(
    data: CandidateValues,
    neighbours: Any,
    penalty: _Array,
    chosen: _Array,
    *,
    more: InputChoice | None = None,
    tol: float = 1e-7,
) -> LinearTerm:
    """Fit some labels on their neighbours; weights and bias of all others are 0.

    Parameters
    ----------
    data
        The candidates.
    neighbours
        Label weights, ``(n_labels, n_labels)``: a label's neighbours are what a CSC array stores in
        its column, and all other candidates have a weight together; of a dense one, they are all
        other labels.
    penalty
        Precision of the prior of each label's weights, ``(n_labels,)``.
    chosen
        The labels, ``(n_chosen,)``.
    more
        How further inputs are chosen; default none.
    tol
        Share of the objective at which a label's last step is done.
    """
    cells, n_labels, rest = data.cells, data.cells.shape[1], sparse.issparse(neighbours)
    rows = cells.matrix(data.values)
    sums = cells.sums_by_document(data.values)
    by_label = sparse.csc_array(cells.matrix(np.arange(cells.n)))
    weights, bias, rests = {}, np.zeros(n_labels), np.zeros(n_labels)
    # More threads of BLAS would change the last bits, and cost more than they help.
    with threadpool_limits(1, user_api="blas") if len(chosen) else nullcontext():
        for j in chosen.tolist():
            own = slice(by_label.indptr[j], by_label.indptr[j + 1])
            documents, places = by_label.indices[own], by_label.data[own]
            if not len(places):
                continue
            truth, given, X = data.truth[places], data.given[places], rows[documents]
            times = np.where(truth < 0, 0.0, data.times[documents])
            inputs = _neighbours(neighbours, j)
            if more is not None:
                p = expit(given)
                error, bend = times * (truth - p), times * p * (1 - p)
                inputs = np.union1d(inputs, _best_inputs(X, j, error, bend, penalty[j], more))
            n = len(inputs)
            A = np.ones((len(documents), n + rest + 1))
            A[:, :n] = X[:, inputs].toarray()
            if rest:
                A[:, n] = sums[documents] - data.values[places] - A[:, :n].sum(axis=1)
            start = np.zeros(A.shape[1])
            w = newton(A, times, times * truth, penalty[j], start, tol, given)
            rests[j], bias[j] = w[n] if rest else 0.0, w[-1]
            weights[j] = inputs, w[:n] - rests[j]
    return LinearTerm(_as_csc(weights, n_labels), bias, rests if rest else None)


def _neighbours(weights: Any, j: int) -> _Array:
    if sparse.issparse(weights):
        return np.asarray(weights.indices[weights.indptr[j] : weights.indptr[j + 1]])
    return np.delete(np.arange(weights.shape[0]), j)


def _as_csc(columns: dict[int, tuple[_Array, _Array]], n_labels: int) -> sparse.csc_array:
    sizes = [len(columns[j][0]) if j in columns else 0 for j in range(n_labels)]
    parts = [columns[j] for j in sorted(columns)]
    inputs = np.concatenate([np.zeros(0, np.int32), *(inputs for inputs, _ in parts)])
    values = np.concatenate([np.zeros(0), *(values for _, values in parts)])
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return sparse.csc_array((values, inputs, ends), shape=(n_labels, n_labels))


def _best_inputs(
    X: sparse.csr_array, j: int, error: _Array, bend: _Array, penalty: float, how: InputChoice
) -> _Array:
    """Return the other labels with the largest gains."""
    values = X.data * (np.abs(X.data) >= how.hardly)
    counted, squares = (
        sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)
        for data in (values, values * values)
    )
    push, both = (counted.T @ np.column_stack([error, bend])).T
    share = both / (bend.sum() + penalty)
    left = squares.T @ bend - share * both + penalty
    gain = (push - share * error.sum()) ** 2 / left
    gain[j] = 0.0
    clear = np.flatnonzero(gain > how.least)
    return clear[np.lexsort((clear, -gain[clear]))[: how.most]]
