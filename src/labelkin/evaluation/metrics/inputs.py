"""The inputs of metrics: true label sets, log-odds and decisions, read once and in blocks.

Metrics are computed from sums over documents, which add up block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from labelkin.odds import to_log_odds
from labelkin.scaling.blocks import Local
from labelkin.validation import check_cells, check_choice

FloatArray = NDArray[np.float64]
Places = tuple[NDArray[np.intp], NDArray[np.intp]]
Weights = ArrayLike | None  # weight of each document; None: 1
DocumentScores = dict[str, NDArray[Any]]  # name → scores of documents, (n_documents,)
S = TypeVar("S")

_CELLS_PER_BLOCK = 1 << 20  # 8 MB per dense array of a block
#: Probability of a true label outside the candidates in log loss.
ABSENT = 1e-6
_FEW = 6  # fewer log-odds may all lie in [0, 1] by chance


@dataclass(frozen=True, eq=False)
class MetricInputs:
    """The true label sets of documents, and log-odds or decisions of a classifier."""

    truth: LabelMatrix
    weight: FloatArray
    log_odds: NDArray[Any] | sparse.csr_array | None = None
    decisions: LabelMatrix | None = None

    def add_up(self, count: Callable[[Truth, Any, Any], S]) -> S:
        """Return the total over blocks of ``count(truth, log_odds, decided)``, which adds up.

        ``log_odds`` and ``decided`` are ``None`` if they were not given.
        """
        return Local().fold(lambda block: count(*block), add, self.blocks())

    def blocks(self) -> Iterator[tuple[Truth, Any, Any]]:
        """Yield the documents in blocks of bounded size; without documents, one empty block."""
        n_documents = self.truth.shape[0]
        step = max(1, min(4096, _CELLS_PER_BLOCK // max(self._widest, 1)))
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
        """The largest number of labels of a document."""
        scores: Any = self.log_odds
        if not sparse.issparse(scores):
            return self.truth.shape[1]
        return int(np.diff(scores.indptr).max(initial=0))

    def need_whole_sets(self, metric: str) -> MetricInputs:
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
    """True labels of some documents, in the form that counting needs.

    ``log_odds`` are a dense float64 array ``(n_documents, n_labels)`` or a CSR array of candidates,
    ``decided`` is a bool array or a 0/1 CSR array of that shape. Labels outside the candidates are
    a "no": they tie below every candidate, are never among the first k, and have probability 0
    (:data:`ABSENT` in log loss if they are true, instead of an infinite loss).

    Attributes
    ----------
    positive : CSR array of shape (n_documents, n_labels)
        1.0 where the document carries the label.
    unknown : CSR array of shape (n_documents, n_labels), or None
        1.0 in unknown cells; ``None``: all are known.
    weight : array of shape (n_documents,)
        Weight of each document.
    """

    positive: sparse.csr_array
    unknown: sparse.csr_array | None
    weight: FloatArray

    @classmethod
    def of(cls, labels: LabelMatrix, weight: FloatArray | None = None) -> Truth:
        """Return the truth of labels; the default weight is 1."""
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

    Sums over no document are zero; a NaN (unknown cells that the metric cannot skip) stays NaN in
    every total.
    """

    def __add__(self, other: Self) -> Self:
        """Return the sums over the documents of both."""
        totals = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)]
        return type(self)(*totals)


@dataclass(frozen=True, eq=False)
class DocumentSums:
    """Weighted sums over documents of the scores of each document; they add up.

    Attributes
    ----------
    n_documents : float
        Sum of the weights.
    totals : dict
        Name of the score → its sum over the documents. NaN if a label set has unknown cells, or
        there are no labels.
    best : dict
        For scores that are not a mean over documents: the largest possible total.
    """

    n_documents: float
    totals: dict[str, float]
    best: dict[str, float]

    @classmethod
    def of(
        cls, truth: Truth, values: DocumentScores, best: DocumentScores | None = None
    ) -> DocumentSums:
        """Add up the scores of documents."""
        # Also if the unknown cells are those of documents that are left out here.
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


def weighted_sum(weight: FloatArray, values: NDArray[Any]) -> Any:
    """Return Σ weight · value over axis 0; not by BLAS, so the same with any number of threads.

    Examples
    --------
    >>> weighted_sum(np.array([1.0, 2.0]), np.array([[1, 0], [1, 5]])).tolist()
    [3.0, 10.0]
    """
    return (weight * values.T).sum(axis=-1)


def read_inputs(
    Y: Any,
    *,
    log_odds: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    decisions: Any = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: Weights = None,
) -> MetricInputs:
    """Read and check the inputs of metrics; an error shows both shapes."""
    truth = read_labels(Y, names=labels)
    if truth.kind == "binary" and len(truth.classes) != 2:
        raise ValueError(
            f"A 1-d Y must show which two classes there are, got {truth.classes.tolist()!r} only. "
            "Name both: labels=[other class, class of the log-odds]."
        )
    weight = read_weight(sample_weight, truth.shape[0])
    scores = None
    if log_odds is not None:
        scores = _read_log_odds(log_odds, truth)
    elif probabilities is not None:
        scores = _read_probabilities(probabilities, truth)
    return MetricInputs(
        truth, weight, scores, None if decisions is None else _read_decisions(decisions, truth)
    )


def read_ks(ks: Sequence[int]) -> tuple[int, ...]:
    """Check the k of metrics at k: distinct whole numbers of at least 1."""
    wrong = [k for k in ks if not isinstance(k, int | np.integer) or k < 1]
    if wrong or len(set(ks)) < len(ks):
        raise ValueError(f"k must be whole numbers of at least 1, each once, got {tuple(ks)!r}.")
    return tuple(int(k) for k in ks)


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
        return to_log_odds(read_scores(given, truth.names, **settings))
    cells, stored = read_candidates(given, truth.names, **settings)
    return cells.matrix(to_log_odds(stored))


def _check_not_probabilities(values: NDArray[Any]) -> None:
    if values.size >= _FEW and values.min() >= 0 and 0 < values.max() <= 1:
        raise ValueError(
            f"log_odds must not all lie in [0, 1], got {values.min():.3g} to {values.max():.3g}: "
            "these look like probabilities. Hand them over as evaluate(Y, probabilities=...), or "
            "turn them into log-odds by to_log_odds(...); yes/no answers go in as decisions."
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
        hint = "Only Y may leave labels unknown."
        check_cells("decisions must be 0 or 1", cells[0] * np.nan, cells, hint)
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


#: Metrics of which a lower value is better; all others improve upwards.
LOWER_IS_BETTER = frozenset(
    (
        *("hamming_loss", "subset_loss", "one_error", "coverage", "ranking_loss"),
        *("log_loss", "brier_score", "expected_calibration_error"),
    )
)
#: The names in :meth:`labelkin.evaluation.metrics.Evaluation.scores` of decisions and log-odds.
SCORE_NAMES = (
    *("hamming_loss", "subset_loss", "one_error", "coverage", "ranking_loss"),
    "label_ranking_average_precision",
    *(
        f"{average}_{metric}"
        for average in ("micro", "macro", "weighted", "document")
        for metric in ("precision", "recall", "f1", "jaccard")
    ),
    *(f"{metric}@{k}" for metric in ("precision", "recall", "ndcg") for k in (1, 3, 5)),
    *("brier_score", "log_loss", "expected_calibration_error"),
)
_AVERAGES = {"micro": "micro", "macro": "macro", "weighted": "weighted", "samples": "document"}
#: scikit-learn's name → ours, for metrics that are the same.
SCIKIT_LEARN_NAMES = {
    "zero_one_loss": "subset_loss",
    "coverage_error": "coverage",
    "label_ranking_loss": "ranking_loss",
    "label_ranking_average_precision_score": "label_ranking_average_precision",
} | {
    f"{metric}_{theirs}": f"{ours}_{metric}"
    for metric in ("f1", "precision", "recall", "jaccard")
    for theirs, ours in _AVERAGES.items()
}


def metric_name(name: Any, choices: Iterable[str], what: str = "metric") -> str:
    """Return our name of a metric that is one of the choices, given by our or scikit-learn's name.

    Examples
    --------
    >>> metric_name("f1_micro", ["micro_f1", "hamming_loss"])
    'micro_f1'
    """
    ours = SCIKIT_LEARN_NAMES.get(name, name) if isinstance(name, str) else name
    choices = tuple(choices)
    check_choice(what, ours if ours in choices else name, choices)
    return str(ours)
