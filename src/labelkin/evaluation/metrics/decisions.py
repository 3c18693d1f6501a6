"""Decisions against true label sets: counted cell by cell and document by document.

In all functions ``Y`` is as :class:`labelkin.LabelDependenceClassifier` takes it, ``decisions``
are 0/1 in any of its forms and of its shape, and ``sample_weight`` ``(n_documents,)`` counts a
document of weight 2 like one given twice. Without documents or labels every score is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from labelkin.evaluation.metrics.inputs import (
    DocumentScores,
    DocumentSums,
    FloatArray,
    Places,
    Sums,
    Truth,
    Weights,
    ratio,
    read_inputs,
    weighted_sum,
)
from labelkin.validation import check_choice

DecisionMetric = Literal["precision", "recall", "f1", "jaccard"]
Average = Literal["micro", "macro", "weighted"]
AnyAverage = Literal["micro", "macro", "weighted", "document"] | None


def hamming_loss(Y: Any, decisions: Any, *, sample_weight: Weights = None) -> float:
    """Return the share of wrong decisions among the known cells; lower is better.

    Unknown cells (NaN in ``Y``) are skipped; 0/0 (no known cell) is NaN.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return float(_counts(Y, decisions, sample_weight).hamming_loss)


def subset_loss(Y: Any, decisions: Any, *, sample_weight: Weights = None) -> float:
    """Return the share of documents whose decided label set is not exactly the true one.

    Lower is better. A document without labels is right when none is decided. Unknown cells are an
    error. 0/0 (no documents) is NaN.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> subset_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return _of_documents("subset_loss", Y, decisions, sample_weight)


def precision(
    Y: Any, decisions: Any, *, average: AnyAverage = "micro", sample_weight: Weights = None
) -> Any:
    """Return the share of the decided labels that are true; higher is better.

    0/0 (nothing decided) is 0. See :func:`f1` for ``average`` and unknown cells.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    average : "micro", "macro", "weighted", "document" or None, default "micro"
        As in :func:`f1`.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float, or array of shape (n_labels,)

    Examples
    --------
    >>> round(precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]]), 3)
    0.667
    """
    return _average("precision", Y, decisions, average, sample_weight)


def recall(
    Y: Any, decisions: Any, *, average: AnyAverage = "micro", sample_weight: Weights = None
) -> Any:
    """Return the share of the true labels that are decided; higher is better.

    0/0 (nothing true) is 0. See :func:`f1` for ``average`` and unknown cells.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    average : "micro", "macro", "weighted", "document" or None, default "micro"
        As in :func:`f1`.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float, or array of shape (n_labels,)

    Examples
    --------
    >>> round(recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]]), 3)
    0.667
    """
    return _average("recall", Y, decisions, average, sample_weight)


def f1(
    Y: Any, decisions: Any, *, average: AnyAverage = "micro", sample_weight: Weights = None
) -> Any:
    """Return F1, 2 · both / (true + decided): the harmonic mean of precision and recall.

    Higher is better. 0/0 is 0: F1 of a label with no true and no decided document, and with
    ``"document"`` F1 of a document with no true and no decided label, as scikit-learn's default has
    it.

    Parameters
    ----------
    Y, decisions : label matrix, label sets or classes
        The true labels and the decisions.
    average : "micro", "macro", "weighted", "document" or None, default "micro"
        ``"micro"``: counts are added over labels first. ``"macro"``: mean over labels.
        ``"weighted"``: mean over labels, weighted by their numbers of documents; 0 without
        positive cells. ``"document"``: mean over documents (scikit-learn: "samples"); unknown cells
        are an error, and are skipped by the others (a label without known cells is left out of the
        mean). ``None``: the F1 of every label, NaN without known cells.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float, or array of shape (n_labels,)

    Examples
    --------
    >>> round(f1([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="macro"), 3)
    0.833
    """
    return _average("f1", Y, decisions, average, sample_weight)


def jaccard(
    Y: Any, decisions: Any, *, average: AnyAverage = "micro", sample_weight: Weights = None
) -> Any:
    """Return the share of labels both true and decided among those that are either.

    Higher is better. 0/0 (neither true nor decided) is 0, as scikit-learn's default has it, for a
    label and for a document. See :func:`f1` for ``average`` and unknown cells.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    average : "micro", "macro", "weighted", "document" or None, default "micro"
        As in :func:`f1`.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float, or array of shape (n_labels,)

    Examples
    --------
    >>> jaccard([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]])
    0.5
    """
    return _average("jaccard", Y, decisions, average, sample_weight)


def micro_f1(Y: Any, decisions: Any, *, sample_weight: Weights = None) -> float:
    """Return F1 of all known cells together; 0/0 (nothing true, nothing decided) is 0.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> micro_f1([["tea"], ["sugar", "tea"]], [["tea"], ["sugar"]])
    0.8
    """
    return float(f1(Y, decisions, average="micro", sample_weight=sample_weight))


def macro_f1(Y: Any, decisions: Any, *, sample_weight: Weights = None) -> float:
    """Return the mean F1 of the labels; a label with no true and no decided document scores 0.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The true labels.
    decisions : label matrix, label sets or classes
        The decisions, 0/1, of the shape of ``Y``.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight of each document.

    Returns
    -------
    float

    Examples
    --------
    >>> round(macro_f1([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]]), 3)
    0.556
    """
    return float(f1(Y, decisions, average="macro", sample_weight=sample_weight))


@dataclass(frozen=True, eq=False)
class DecisionCounts(Sums):
    """Weighted numbers of known cells, of one shape; unknown cells are skipped.

    By label, ``(n_labels,)``, or ``(n_draws, n_labels)``, where averages are ``(n_draws,)``. By
    document, ``(n_documents,)``, for :meth:`per_label`, which computes each entry separately.

    Attributes
    ----------
    known
        Cells of which it is known whether the document carries the label.
    true, decided
        Those where it does; those where the decision is yes.
    hits
        Those where it does and the decision is yes.
    """

    known: FloatArray
    true: FloatArray
    decided: FloatArray
    hits: FloatArray

    @property
    def wrong(self) -> FloatArray:
        """Wrong decisions, of the shape of the counts."""
        return self.true + self.decided - 2 * self.hits

    @property
    def hamming_loss(self) -> Any:
        """Share of wrong decisions among the known cells; without known cells NaN."""
        return ratio(self.wrong.sum(axis=-1), self.known.sum(axis=-1), nothing=np.nan)

    def per_label(self, metric: DecisionMetric) -> FloatArray:
        """Return the metric of every label, of the shape of the counts.

        0/0 is 0: the precision of a label that is never decided, the recall of one that no document
        carries, F1 and Jaccard of one with neither. A label without any known cell is NaN.
        """
        return np.where(self.known > 0, ratio(*self._parts(metric)), np.nan)

    def average(self, metric: DecisionMetric, average: Average) -> Any:
        """Return one number for all labels; NaN when no cell is known.

        ``"micro"``: counts are added over labels first. ``"macro"``: mean over the labels with
        known cells. ``"weighted"``: mean weighted by the number of documents that carry the label;
        0 when no document carries any. 0/0 is 0, as in :meth:`per_label`.
        """
        above, below = self._parts(metric)
        check_choice("average", average, Average)
        if average != "micro":
            weight = self.true if average == "weighted" else (self.known > 0).astype(np.float64)
            above, below = weight * ratio(above, below), weight
        score = ratio(above.sum(axis=-1), below.sum(axis=-1))
        return np.where(self.known.any(axis=-1), score, np.nan)[()]

    def scores(self) -> dict[str, float]:
        """Return Hamming loss and all averages by name."""
        averages = {
            f"{average}_{metric}": float(self.average(metric, average))
            for average in get_args(Average)
            for metric in get_args(DecisionMetric)
        }
        return {"hamming_loss": float(self.hamming_loss)} | averages

    def _parts(self, metric: DecisionMetric) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator of the metric."""
        check_choice("metric", metric, DecisionMetric)
        if metric == "precision":
            return self.hits, self.decided
        if metric == "recall":
            return self.hits, self.true
        if metric == "f1":
            return 2 * self.hits, self.true + self.decided
        return self.hits, self.true + self.decided - self.hits


def count_decisions(truth: Truth, decided: Any) -> DecisionCounts:
    """Count decisions label by label.

    Parameters
    ----------
    truth : Truth
        The true labels, and how often each document counts.
    decided : bool array or CSR array of shape (n_documents, n_labels)
        Where the decision is yes.

    Returns
    -------
    DecisionCounts
        With fields ``(n_labels,)``.
    """

    def total(cells: Any) -> FloatArray:
        if sparse.issparse(cells):
            return cells.T @ truth.weight
        if truth.counts_once:
            return cells.sum(axis=0, dtype=np.float64)
        return weighted_sum(truth.weight, cells)

    known = np.full(decided.shape[1], truth.weight.sum())
    given = total(decided)
    if truth.unknown is not None:
        known = known - total(truth.unknown)
        known[truth.unknown.sum(axis=0) == decided.shape[0]] = 0.0  # not by rounding
        given = given - total(_among(truth.unknown, truth.unknown_cells, decided))
    hits = total(_among(truth.positive, truth.cells, decided))
    return DecisionCounts(known, total(truth.positive), given, hits)


def count_by_document(truth: Truth, decided: Any) -> DecisionCounts:
    """Count decisions document by document: fields ``(n_documents,)``, without weights.

    The known labels of a document are right where it has none that is ``wrong``.
    """
    known = np.full(decided.shape[0], float(decided.shape[1]))
    given = decided.sum(axis=1, dtype=np.float64)
    if truth.unknown is not None:
        known = known - truth.unknown.sum(axis=1)
        given = given - _among(truth.unknown, truth.unknown_cells, decided).sum(axis=1)
    hits = _among(truth.positive, truth.cells, decided).sum(axis=1)
    return DecisionCounts(known, truth.positive.sum(axis=1), given, hits)


def sum_label_sets(truth: Truth, decided: Any) -> DocumentSums:
    """Judge the label set of every document: is it right, and how much of it.

    0/0 is 0, as scikit-learn's default has it: the precision of a document with no decided label,
    the recall of one with no true label, F1 and Jaccard of one with neither (although its label set
    is right).
    """
    counts = count_by_document(truth, decided)
    values: DocumentScores = {"subset_loss": counts.wrong > 0}
    values |= {
        f"document_{metric}": counts.per_label(metric) for metric in get_args(DecisionMetric)
    }
    return DocumentSums.of(truth, values)


def _among(matrix: sparse.csr_array, cells: Places, decided: Any) -> sparse.csr_array:
    """Return those of a matrix's cells that are decided, 0/1."""
    if sparse.issparse(decided):
        return matrix * decided
    values = decided[cells].astype(np.float64)
    return sparse.csr_array((values, matrix.indices, matrix.indptr), matrix.shape)


def _counts(Y: Any, decisions: Any, sample_weight: Weights) -> DecisionCounts:
    inputs = read_inputs(Y, decisions=decisions, sample_weight=sample_weight)
    return inputs.add_up(lambda truth, _, decided: count_decisions(truth, decided))


def _of_documents(name: str, Y: Any, decisions: Any, sample_weight: Weights) -> float:
    inputs = read_inputs(Y, decisions=decisions, sample_weight=sample_weight).need_whole_sets(name)
    sums = inputs.add_up(lambda truth, _, decided: sum_label_sets(truth, decided))
    return sums.scores()[name]


def _average(
    metric: DecisionMetric, Y: Any, decisions: Any, average: AnyAverage, sample_weight: Weights
) -> Any:
    if average == "document":
        return _of_documents(f"document_{metric}", Y, decisions, sample_weight)
    counts = _counts(Y, decisions, sample_weight)
    if average is None:
        return counts.per_label(metric)
    return float(counts.average(metric, average))
