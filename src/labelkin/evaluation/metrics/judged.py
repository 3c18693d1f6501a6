"""What is judged: true label sets beside log-odds and decisions, read once, in blocks of documents.

Everything the metrics know comes from sums over documents, which add up block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelkin.label_matrix import (
    Cells,
    LabelMatrix,
    read_candidates,
    read_labels,
    read_scores,
    read_weight,
)
from labelkin.label_matrix.record import check_cells
from labelkin.odds import log_odds_of
from labelkin.scaling.blocks import Local

Floats = NDArray[np.float64]
Places = tuple[NDArray[np.intp], NDArray[np.intp]]
Weights = ArrayLike | None  # how often each document counts; None: once
Scores = dict[str, NDArray[Any]]  # by name: what each document scores, (n_documents,)
S = TypeVar("S")

CELLS_PER_BLOCK = 1 << 20  # 8 MB per dense array of a block
#: Probability that log loss takes a true label to have that is no candidate.
ABSENT = 1e-6
_CHANCE = 6  # fewer log-odds than these may all lie in [0, 1]


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents with their true label sets and what a classifier said about them."""

    truth: LabelMatrix
    weight: Floats
    log_odds: NDArray[Any] | sparse.csr_array | None = None
    decisions: LabelMatrix | None = None

    def add_up(self, count: Callable[[Truth, Any, Any], S]) -> S:
        """Return the total over blocks of ``count(truth, log_odds, decided)``, which adds up.

        ``log_odds`` and ``decided`` are ``None`` where they were not given; no metric that needs
        them is asked for then.
        """
        return Local().fold(lambda block: count(*block), add, self.blocks())

    def blocks(self) -> Iterator[tuple[Truth, Any, Any]]:
        """Yield the documents in blocks of bounded size; without documents, one empty block."""
        n_documents = self.truth.shape[0]
        step = max(1, min(4096, CELLS_PER_BLOCK // max(self._widest, 1)))
        for start in range(0, max(n_documents, 1), step):
            rows = np.arange(start, min(start + step, n_documents))
            yield self.block(rows[self.weight[rows] > 0])

    def block(self, rows: Any = slice(None)) -> tuple[Truth, Any, Any]:
        """Return some documents, or all; without decisions, those of log-odds above 0."""
        truth = Truth.of(self.truth.rows(rows), self.weight[rows])
        log_odds = (
            None if self.log_odds is None else self.log_odds[rows].astype(np.float64, copy=False)
        )
        if self.decisions is not None:
            return truth, log_odds, self.decisions.positive[rows]
        return truth, log_odds, None if log_odds is None else above_zero(log_odds)

    @property
    def _widest(self) -> int:
        """How many labels of a document are looked at, at most."""
        scores: Any = self.log_odds
        if not sparse.issparse(scores):
            return self.truth.shape[1]
        return int(np.diff(scores.indptr).max(initial=0))

    def need_whole_sets(self, metric: str) -> Judged:
        """Return itself; unknown cells are an error, for ``metric`` cannot leave them out."""
        if self.truth.unknown is None:
            return self
        row, column = self.truth.unknown.nonzero()
        row, column = row[self.weight[row] > 0], column[self.weight[row] > 0]
        if len(row):
            raise ValueError(
                f"{metric} needs every label of a document to be known, got {len(row)} unknown "
                f"cells (NaN) in {len(np.unique(row))} documents, the first at document {row[0]}, "
                f"label {column[0]}. Leave those documents out, or use a metric that counts cells: "
                "hamming_loss, micro_f1, macro_f1, brier_score, log_loss."
            )
        return self


@dataclass(frozen=True, eq=False)
class Truth:
    """True labels of some documents, laid out as all counting needs them.

    What is judged against them are ``log_odds``, a dense float64 array ``(n_documents, n_labels)``,
    or a CSR array of candidates, and ``decided``, a bool array or a 0/1 CSR array of that shape.
    A label that is no candidate is a "no": it ranks below every candidate, in a tie with all
    others that are none, is never among the first k, and has probability 0. (Where it is true, log
    loss counts it as :data:`ABSENT`: infinity would say nothing of all the rest.)

    Attributes
    ----------
    positive : CSR array of shape (n_documents, n_labels)
        1.0 where the document carries the label.
    unknown : CSR array of shape (n_documents, n_labels), or None
        1.0 where nobody knows; ``None``: all is known.
    weight : array of shape (n_documents,)
        How often each document counts.
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    weight: Floats

    @classmethod
    def of(cls, labels: LabelMatrix, weight: Floats | None = None) -> Truth:
        """Lay out labels; without weights every document counts once."""
        unknown = labels.unknown if labels.unknown is not None and labels.unknown.nnz else None
        times = np.ones(labels.shape[0]) if weight is None else weight
        return cls(labels.positive, unknown, times)

    @cached_property
    def cells(self) -> Places:
        """Rows and columns of the positive cells."""
        return _cells(self.positive)

    @cached_property
    def unknown_cells(self) -> Places:
        """Rows and columns of the unknown cells."""
        nowhere = np.empty(0, dtype=np.intp)
        return (nowhere, nowhere) if self.unknown is None else _cells(self.unknown)

    @cached_property
    def counts_once(self) -> bool:
        """Whether every document has weight 1."""
        return bool((self.weight == 1).all())


@dataclass(frozen=True, eq=False)
class Sums:
    """A record whose every field is a sum over documents: two of them add field by field.

    Sums over no document are zero, so an empty block changes nothing; a NaN (the block holds
    unknown cells that the metric cannot skip) stays NaN in every total.
    """

    def __add__(self, other: Self) -> Self:
        """Return the sums over the documents of both."""
        totals = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)]
        return type(self)(*totals)


@dataclass(frozen=True, eq=False)
class DocumentSums:
    """Weighted sums over documents of what each scores by itself; they add up.

    Attributes
    ----------
    n_documents : float
        Sum of the weights.
    totals : dict
        By name of the score, its sum over the documents. NaN where a label set is not wholly
        known, or there are no labels.
    best : dict
        For scores that are no mean over documents: the largest total there could be.
    """

    n_documents: float
    totals: dict[str, float]
    best: dict[str, float]

    @classmethod
    def of(cls, truth: Truth, values: Scores, best: Scores | None = None) -> DocumentSums:
        """Add up what each document scores."""
        # Unknown cells may be those of documents that are left out here: whether they should be,
        # nobody knows either.
        lost = 0.0 if truth.unknown is None else np.nan
        weight = truth.weight if truth.positive.shape[1] else truth.weight * np.nan
        totals, most = (
            {name: float(weighted_sum(weight, scores)) + lost for name, scores in part.items()}
            for part in (values, best or {})
        )
        return cls(float(truth.weight.sum()), totals, most)

    def __add__(self, other: DocumentSums) -> DocumentSums:
        """Return the sums over the documents of both."""
        return DocumentSums(
            self.n_documents + other.n_documents,
            {name: total + other.totals[name] for name, total in self.totals.items()},
            {name: total + other.best[name] for name, total in self.best.items()},
        )

    def scores(self) -> dict[str, float]:
        """Return every mean over documents, or share of the best, by name; without documents NaN.

        0/0 (no total could be above 0) is 0.
        """
        nothing = 0.0 if self.n_documents else np.nan
        return {
            name: float(ratio(total, self.best.get(name, self.n_documents), nothing=nothing))
            for name, total in self.totals.items()
        }


def ratio(numerator: ArrayLike, denominator: ArrayLike, *, nothing: float = 0.0) -> Any:
    """Return the quotient, elementwise; ``nothing`` where the denominator is 0.

    Examples
    --------
    >>> ratio([1.0, 0.0], [4.0, 0.0]).tolist()
    [0.25, 0.0]
    """
    above, below = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    quotient = np.full(above.shape, nothing)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient if quotient.ndim else float(quotient)


def weighted_sum(weight: Floats, values: NDArray[Any]) -> Any:
    """Return Σ weight · value over axis 0; not by BLAS, so the same with any number of threads.

    Examples
    --------
    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1, 0], [1, 5]])).tolist()
    [3.0, 10.0]
    """
    return (weight * values.T).sum(axis=-1)


def judge(
    Y: Any,
    *,
    log_odds: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    decisions: Any = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: Weights = None,
) -> Judged:
    """Read and check what a metric needs; what does not fit is an error that shows both shapes."""
    truth = read_labels(Y, names=labels)
    if truth.kind == "binary" and len(truth.classes) != 2:
        raise ValueError(
            f"A 1-d Y must show which two classes there are, got {truth.classes.tolist()!r} only. "
            "Name both: labels=[other class, class the log-odds speak for]."
        )
    weight = read_weight(sample_weight, truth.shape[0])
    scores = None
    if log_odds is not None:
        scores = _read_log_odds(log_odds, truth)
    elif probabilities is not None:
        scores = _read_probabilities(probabilities, truth)
    return Judged(
        truth, weight, scores, None if decisions is None else _read_decisions(decisions, truth)
    )


def read_ks(ks: Sequence[int]) -> tuple[int, ...]:
    """Check the k of metrics at k: whole numbers from 1 on, each once."""
    wrong = [k for k in ks if not isinstance(k, int | np.integer) or k < 1]
    if wrong or len(set(ks)) < len(ks):
        raise ValueError(f"k must be a whole number from 1 on, each given once, got {tuple(ks)!r}.")
    return tuple(int(k) for k in ks)


def check_values(
    rule: str, values: Floats, is_right: NDArray[np.bool_], unit: str, way_out: str
) -> None:
    """Raise for the first value that is not right, with its document or label and the number."""
    wrong = np.flatnonzero(~is_right)
    if len(wrong):
        raise ValueError(
            f"{rule}, got {float(values[wrong[0]])!r} at {unit} {wrong[0]} ({len(wrong)} such "
            f"{unit}s). {way_out}"
        )


def above_zero(log_odds: Any) -> Any:
    """Return where log-odds are above 0: a bool array, or a 0/1 CSR array of candidates."""
    if not sparse.issparse(log_odds):
        return log_odds > 0
    return Cells.of(log_odds).matrix((log_odds.data > 0).astype(np.float64))


def _read_log_odds(log_odds: Any, truth: LabelMatrix) -> Any:
    given = _with_shape(log_odds, truth, "log_odds")
    if sparse.issparse(given):
        cells, stored = read_candidates(given, truth.names, what="log_odds")
        _check_not_probabilities(stored)
        return cells.matrix(stored)
    values = read_scores(given, truth.names, what="log_odds", dtype=None)
    _check_not_probabilities(values)
    return values


def _read_probabilities(probabilities: Any, truth: LabelMatrix) -> Any:
    given = _with_shape(probabilities, truth, "probabilities")
    settings: Any = {"scale": "probability", "what": "probabilities"}
    if not sparse.issparse(given):
        return log_odds_of(read_scores(given, truth.names, **settings))
    cells, stored = read_candidates(given, truth.names, **settings)
    return cells.matrix(log_odds_of(stored))


def _check_not_probabilities(values: NDArray[Any]) -> None:
    if values.size >= _CHANCE and values.min() >= 0 and 0 < values.max() <= 1:
        raise ValueError(
            f"log_odds must not all lie in [0, 1], got {values.min():.3g} to {values.max():.3g}: "
            "these look like probabilities. Hand them over as evaluate(Y, probabilities=...), or "
            "turn them into log-odds by log_odds_of(...); yes/no answers go in as decisions."
        )


def _read_decisions(decisions: Any, truth: LabelMatrix) -> LabelMatrix:
    if sparse.issparse(decisions) or (isinstance(decisions, np.ndarray) and decisions.ndim == 2):
        _check_shape("decisions", decisions.shape, truth)
    try:
        matrix = _read_like(decisions, truth)
    except ValueError as error:
        raise ValueError(f"decisions are read as Y is. {error}") from error
    _check_shape("decisions", matrix.shape, truth)
    if matrix.unknown is not None:
        cells = matrix.unknown.nonzero()
        way_out = "Only Y may leave labels unknown."
        check_cells("decisions must be 0 or 1", cells[0] * np.nan, cells, way_out)
    return matrix


def _read_like(decisions: Any, truth: LabelMatrix) -> LabelMatrix:
    """Plain values are classes where Y holds classes, and one label's yes/no where there is one."""
    shape = getattr(decisions, "shape", None)
    is_list = isinstance(decisions, list | tuple) if shape is None else len(shape) == 1
    if not is_list or len(decisions) == 0 or not all(map(np.isscalar, decisions)):
        return read_labels(decisions, names=truth.names)  # rows or label sets
    column = np.asarray(decisions)
    if truth.shape[1] == 1 and (truth.kind == "multilabel" or column.dtype == bool):
        return read_labels(column[:, None], names=truth.names)
    if truth.kind == "multilabel":
        _check_shape("decisions", column.shape, truth)
    return read_labels(column, names=truth.classes)


def _with_shape(scores: Any, truth: LabelMatrix, what: str) -> Any:
    """Return scores of the shape of Y; of one label also as a vector."""
    given = scores if hasattr(scores, "shape") else np.asarray(scores)
    if truth.shape[1] > 1 or len(given.shape) != 1:
        _check_shape(what, given.shape, truth)
    return given


def _check_shape(what: str, shape: tuple[int, ...], truth: LabelMatrix) -> None:
    if tuple(shape) != truth.shape:
        raise ValueError(
            f"{what} must have one row per document and one column per label of Y, got shape "
            f"{shape} and Y of shape {truth.shape}. Labels that no document of Y carries go "
            "into labels=[...]."
        )


def _cells(matrix: sparse.csr_array) -> Places:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices
