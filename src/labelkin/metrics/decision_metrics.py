"""One number from true label sets and decisions; views of the counts ``evaluate`` adds up.

In all of them ``Y`` is anything :func:`labelkin.label_matrix.read_labels` takes, ``decisions`` are
0/1 in any of its forms and of its shape, and ``sample_weight`` ``(n_documents,)`` counts a document
of weight 2 like one given twice. Without documents or labels every score is NaN.
"""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from labelkin.metrics.decision_counts import DecisionCounts, Metric, count_decisions
from labelkin.metrics.document_sums import DocumentSums, sum_documents
from labelkin.metrics.reading import judge
from labelkin.metrics.sums import Floats

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
