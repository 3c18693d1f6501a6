"""Decisions counted cell by cell: how many are true, decided, and both, label by label."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from labelkin.metrics.judged import Block, Floats, Sums, judge, ratio, weighted_sum

Metric = Literal["precision", "recall", "f1", "jaccard"]
Average = Literal["micro", "macro", "weighted"]


@dataclass(frozen=True, eq=False)
class DecisionCounts(Sums):
    """Weighted numbers of documents per label, ``(n_labels,)`` each; unknown cells are skipped.

    Attributes
    ----------
    known
        Documents of which it is known whether they carry the label.
    true, decided
        Those that carry it; those for which the decision is yes.
    hits
        Those that carry it and for which the decision is yes.
    """

    known: Floats
    true: Floats
    decided: Floats
    hits: Floats

    @property
    def hamming_loss(self) -> float:
        """Share of wrong decisions among the known cells; without known cells NaN."""
        wrong = self.true + self.decided - 2 * self.hits
        return float(ratio(wrong.sum(), self.known.sum(), nothing=np.nan))

    def per_label(self, metric: Metric) -> Floats:
        """Return the metric of every label, ``(n_labels,)``.

        0/0 is 0: the precision of a label that is never decided, the recall of one that no document
        carries, F1 and Jaccard of one with neither. A label without any known cell is NaN.
        """
        scores: Floats = ratio(*self._parts(metric))
        return np.where(self.known > 0, scores, np.nan)

    def average(self, metric: Metric, average: Average) -> float:
        """Return one number for all labels; NaN when no cell is known.

        ``"micro"``: counts are added over labels first. ``"macro"``: mean over the labels with
        known cells. ``"weighted"``: mean weighted by the number of documents that carry the label;
        0 when no document carries any. 0/0 is 0, as in :meth:`per_label`.
        """
        if average not in get_args(Average):
            raise ValueError(f"average must be one of {get_args(Average)}, got {average!r}.")
        is_known = self.known > 0
        if not is_known.any():
            return float("nan")
        numerator, denominator = self._parts(metric)
        if average == "micro":
            return float(ratio(numerator.sum(), denominator.sum()))
        scores = self.per_label(metric)[is_known]
        if average == "macro":
            return float(scores.mean())
        support = self.true[is_known]
        return float(ratio(weighted_sum(support, scores), support.sum()))

    def scores(self) -> dict[str, float]:
        """Return Hamming loss and all averages by name."""
        averages = {
            f"{average}_{metric}": self.average(metric, average)
            for average in get_args(Average)
            for metric in get_args(Metric)
        }
        return {"hamming_loss": self.hamming_loss} | averages

    def _parts(self, metric: Metric) -> tuple[Floats, Floats]:
        """Numerator and denominator of the metric, label by label."""
        if metric == "precision":
            return self.hits, self.decided
        if metric == "recall":
            return self.hits, self.true
        if metric == "f1":
            return 2 * self.hits, self.true + self.decided
        if metric == "jaccard":
            return self.hits, self.true + self.decided - self.hits
        raise ValueError(f"metric must be one of {get_args(Metric)}, got {metric!r}.")


def count_decisions(block: Block) -> DecisionCounts:
    """Count the decisions of a block, label by label."""
    weight, decided = block.weight, block.decided
    known = np.full(decided.shape[1], weight.sum())
    if block.unknown is not None:
        known = known - block.unknown.T @ weight
        decided = decided - decided * block.unknown
    hits = block.positive * decided
    return DecisionCounts(known, block.positive.T @ weight, decided.T @ weight, hits.T @ weight)


@dataclass(frozen=True, eq=False)
class DocumentSums(Sums):
    """Weighted sums over documents of what their label sets score.

    All but ``n_documents`` are NaN where a label set is not wholly known, or there are no labels.

    Attributes
    ----------
    n_documents
        Sum of the weights.
    wrong_sets
        Documents whose decided label set is not exactly the true one.
    precision, recall, f1, jaccard
        Sums of the documents' own scores; 0/0 is 0, as scikit-learn's default has it: the precision
        of a document with no decided label, the recall of one with no true label, F1 and Jaccard of
        one with neither (although its label set is right).
    """

    n_documents: float
    wrong_sets: float
    precision: float
    recall: float
    f1: float
    jaccard: float

    def mean(self, name: str) -> float:
        """Return the mean over documents of a field; without documents NaN."""
        return float(ratio(getattr(self, name), self.n_documents, nothing=np.nan))

    def scores(self) -> dict[str, float]:
        """Return subset loss and the averages over documents by name."""
        metrics = ("precision", "recall", "f1", "jaccard")
        averages = {f"document_{metric}": self.mean(metric) for metric in metrics}
        return {"subset_loss": self.mean("wrong_sets")} | averages


def sum_documents(block: Block) -> DocumentSums:
    """Compare the label sets of a block."""
    weight, n_documents = block.weight, float(block.weight.sum())
    if block.unknown is not None or block.positive.shape[1] == 0:
        return DocumentSums(n_documents, *[float("nan")] * (len(fields(DocumentSums)) - 1))
    true, decided = _sizes(block.positive), _sizes(block.decided)
    hits = _sizes(block.positive * block.decided)
    return DocumentSums(
        n_documents,
        float(weight[(hits < true) | (hits < decided)].sum()),
        float(weighted_sum(weight, ratio(hits, decided))),
        float(weighted_sum(weight, ratio(hits, true))),
        float(weighted_sum(weight, ratio(2 * hits, true + decided))),
        float(weighted_sum(weight, ratio(hits, true + decided - hits))),
    )


def _sizes(label_sets: sparse.csr_array) -> Floats:
    return label_sets.sum(axis=1)


AnyAverage = Literal["micro", "macro", "weighted", "document"]


def hamming_loss(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of wrong decisions among the known cells; lower is better.

    Unknown cells (NaN in ``Y``) are skipped; 0/0 (no known cell) is NaN.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return _counts(Y, decisions, sample_weight).hamming_loss


def subset_loss(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of documents whose decided label set is not exactly the true one.

    Lower is better. A document without labels is right when none is decided. Unknown cells are an
    error. 0/0 (no documents) is NaN.

    Examples
    --------
    >>> subset_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return _documents(Y, decisions, sample_weight, "subset_loss").mean("wrong_sets")


def precision(
    Y: Any,
    decisions: Any,
    *,
    average: AnyAverage = "micro",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of the decided labels that are true; higher is better.

    0/0 (nothing decided) is 0. See :func:`f1` for ``average`` and unknown cells.
    """
    return _average("precision", Y, decisions, average, sample_weight)


def recall(
    Y: Any,
    decisions: Any,
    *,
    average: AnyAverage = "micro",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of the true labels that are decided; higher is better.

    0/0 (nothing true) is 0. See :func:`f1` for ``average`` and unknown cells.
    """
    return _average("recall", Y, decisions, average, sample_weight)


def f1(
    Y: Any,
    decisions: Any,
    *,
    average: AnyAverage = "micro",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return F1, 2 · both / (true + decided): the harmonic mean of precision and recall.

    Higher is better. 0/0 is 0: F1 of a label with no true and no decided document, and with
    ``"document"`` F1 of a document with no true and no decided label, as scikit-learn's default has
    it.

    Parameters
    ----------
    Y, decisions, sample_weight
        See the module.
    average
        ``"micro"``: counts are added over labels first. ``"macro"``: mean over labels.
        ``"weighted"``: mean over labels, weighted by the documents that carry them; 0 when none
        carries any. ``"document"``: mean over documents (scikit-learn: "samples"). Unknown cells
        are skipped by the first three (a label with no known cell is left out of the mean) and an
        error in the last.

    Examples
    --------
    >>> round(f1([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="macro"), 3)
    0.833
    """
    return _average("f1", Y, decisions, average, sample_weight)


def jaccard(
    Y: Any,
    decisions: Any,
    *,
    average: AnyAverage = "micro",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the share of labels both true and decided among those that are either.

    Higher is better. 0/0 (neither true nor decided) is 0, as scikit-learn's default has it, for a
    label and for a document. See :func:`f1` for ``average`` and unknown cells.
    """
    return _average("jaccard", Y, decisions, average, sample_weight)


def micro_f1(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Return F1 of all known cells together; 0/0 (nothing true, nothing decided) is 0.

    Examples
    --------
    >>> micro_f1([["tea"], ["sugar", "tea"]], [["tea"], ["sugar"]])
    0.8
    """
    return f1(Y, decisions, average="micro", sample_weight=sample_weight)


def macro_f1(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean F1 of the labels; a label with no true and no decided document scores 0."""
    return f1(Y, decisions, average="macro", sample_weight=sample_weight)


def precision_per_label(
    Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None
) -> Floats:
    """Return the precision of every label, ``(n_labels,)``; 0/0 (never decided) is 0.

    Unknown cells are skipped; a label without known cells is NaN.
    """
    return _counts(Y, decisions, sample_weight).per_label("precision")


def recall_per_label(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> Floats:
    """Return the recall of every label, ``(n_labels,)``; 0/0 (no document carries it) is 0.

    Unknown cells are skipped; a label without known cells is NaN.
    """
    return _counts(Y, decisions, sample_weight).per_label("recall")


def f1_per_label(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> Floats:
    """Return F1 of every label, ``(n_labels,)``; 0/0 (no true and no decided document) is 0.

    Unknown cells are skipped; a label without known cells is NaN.

    Examples
    --------
    >>> f1_per_label([[1, 0, 0], [1, 1, 0]], [[1, 0, 0], [0, 1, 0]]).round(3)
    array([0.667, 1.   , 0.   ])
    """
    return _counts(Y, decisions, sample_weight).per_label("f1")


def jaccard_per_label(Y: Any, decisions: Any, *, sample_weight: ArrayLike | None = None) -> Floats:
    """Return the Jaccard score of every label, ``(n_labels,)``; 0/0 (neither) is 0.

    Unknown cells are skipped; a label without known cells is NaN.
    """
    return _counts(Y, decisions, sample_weight).per_label("jaccard")


def _counts(Y: Any, decisions: Any, sample_weight: ArrayLike | None) -> DecisionCounts:
    return judge(Y, decisions=decisions, sample_weight=sample_weight).add_up(count_decisions)


def _documents(Y: Any, decisions: Any, sample_weight: ArrayLike | None, name: str) -> DocumentSums:
    judged = judge(Y, decisions=decisions, sample_weight=sample_weight)
    return judged.refuse_unknown(name).add_up(sum_documents)


def _average(
    metric: Metric, Y: Any, decisions: Any, average: AnyAverage, sample_weight: ArrayLike | None
) -> float:
    if average == "document":
        return _documents(Y, decisions, sample_weight, f"{average}_{metric}").mean(metric)
    return _counts(Y, decisions, sample_weight).average(metric, average)
