"""All metrics at once, in one record that adds up over blocks of documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelkin.evaluation.metrics.decisions import (
    DecisionCounts,
    DecisionMetric,
    count_decisions,
    sum_label_sets,
)
from labelkin.evaluation.metrics.inputs import (
    DocumentSums,
    FloatArray,
    Truth,
    Weights,
    read_inputs,
    read_ks,
)
from labelkin.evaluation.metrics.probabilities import (
    ProbabilitySums,
    Reliability,
    sum_probabilities,
)
from labelkin.evaluation.metrics.rankings import sum_rankings
from labelkin.records import short
from labelkin.scaling.blocks import Engine, read_parts
from labelkin.scaling.distributed import using
from labelkin.validation import check_whole_number

#: The scores in the short representation of an evaluation.
_SHOWN = (
    *("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error", "log_loss"),
    "candidate_recall",
)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Counts and sums of all metrics; :meth:`Evaluation.scores` reads the metrics from them.

    Evaluations of different documents add up (``a + b``, ``sum(evaluations)``): the sum is the
    evaluation of all of them, exactly for counts, to rounding for sums.

    Attributes
    ----------
    labels : array of shape (n_labels,)
        The labels.
    ks : tuple of int
        The k of the metrics "at k".
    n_documents : float
        Sum of the documents' weights.
    decisions : DecisionCounts
        What the decisions score, label by label.
    documents : DocumentSums
        What the decisions score, document by document.
    ranking : DocumentSums or None
        What the log-odds score as rankings; ``None`` without log-odds.
    probability : ProbabilitySums or None
        What the log-odds score as probabilities; ``None`` without log-odds.

    Examples
    --------
    >>> evaluate([["tea"], ["sugar", "tea"]], decisions=[["tea"], ["tea"]])
    <Evaluation of 2 documents, 2 labels: micro_f1 0.800, macro_f1 0.500, hamming_loss 0.250, \
subset_loss 0.500>
    """

    labels: NDArray[Any]
    ks: tuple[int, ...]
    n_documents: float
    decisions: DecisionCounts
    documents: DocumentSums
    ranking: DocumentSums | None
    probability: ProbabilitySums | None

    def __add__(self, other: Evaluation) -> Evaluation:
        """Return the evaluation of the documents of both."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        _check_alike(self, other)
        added = ("n_documents", "decisions", "documents", "ranking", "probability")
        pairs = ((name, getattr(self, name), getattr(other, name)) for name in added)
        totals: dict[str, Any] = {n: None if one is None else one + two for n, one, two in pairs}
        return replace(self, **totals)

    def __radd__(self, other: object) -> Evaluation:
        """Let ``sum(evaluations)`` start at 0."""
        return self if other == 0 else NotImplemented

    def __getitem__(self, name: str) -> float:
        """Return one score by name."""
        scores = self.scores()
        if name not in scores:
            raise KeyError(f"No score is named {name!r}; there are {', '.join(scores)}.")
        return scores[name]

    def scores(self) -> dict[str, float]:
        """Return every score by name.

        Each is what the function of its name defines: ``"macro_recall"`` is ``recall`` with that
        ``average``, and ``"ndcg@5"`` is ``ndcg_at_k``.

        Scores of log-odds are absent without log-odds.
        Those that need whole label sets are NaN when a cell is unknown, all are NaN without
        documents or without labels.
        """
        scores = self.decisions.scores() | self.documents.scores()
        if self.ranking is not None:
            scores |= self.ranking.scores()
        if self.probability is not None:
            scores |= self.probability.scores()
        return scores

    def per_label(self) -> dict[str, FloatArray]:
        """Return by name what every label scores, ``(n_labels,)`` each, as ``labels`` has them."""
        counts = self.decisions
        columns = {"known": counts.known, "true": counts.true, "decided": counts.decided}
        columns |= {metric: counts.per_label(metric) for metric in get_args(DecisionMetric)}
        if self.probability is not None:
            columns |= self.probability.per_label()
        return columns

    @property
    def reliability(self) -> Reliability | None:
        """Promised and observed shares by bin of probability; ``None`` without log-odds."""
        return None if self.probability is None else self.probability.reliability

    def __repr__(self) -> str:
        """Return one line with a few scores; ``print`` shows them all."""
        scores = self.scores()
        shown = ", ".join(f"{name} {scores[name]:.3f}" for name in _SHOWN if name in scores)
        return f"<Evaluation of {self._size()}: {shown}>"

    def __str__(self) -> str:
        """Return a table of all scores."""
        scores = self.scores()
        width = max(map(len, scores))
        lines = [f"{name:<{width}}  {value:10.5f}" for name, value in scores.items()]
        return "\n".join([self._size(), *lines])

    @property
    def n_bins(self) -> int | None:
        """Number of bins of the calibration error; ``None`` without log-odds."""
        return None if self.probability is None else len(self.probability.bin_count)

    @property
    def n_ranked(self) -> float | None:
        """Documents that have a label: those that ranking metrics count; ``None``: no log-odds."""
        return None if self.ranking is None else self.ranking.n_documents

    def _size(self) -> str:
        ranked = self.n_ranked
        some = "" if ranked in (None, self.n_documents) else f" ({ranked:g} with labels: ranked)"
        return f"{self.n_documents:g} documents{some}, {len(self.labels)} labels"


def evaluate(
    Y: Any,
    log_odds: ArrayLike | None = None,
    decisions: Any = None,
    *,
    probabilities: ArrayLike | None = None,
    sample_weight: Weights = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    ks: Sequence[int] = (1, 3, 5),
    n_bins: int = 15,
) -> Evaluation:
    """Evaluate log-odds, or probabilities, and decisions by every metric at once.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        What is true, as :class:`labelkin.LabelDependenceClassifier` takes it. NaN = unknown:
        metrics that count cells skip it, those that need whole label sets become NaN.
    log_odds : array, sparse matrix or DataFrame of shape (n_documents, n_labels), or None
        Or ``(n_documents,)`` for one label; ±inf for what is sure, no NaN. Left out: nothing that
        needs them. A matrix that lies in [0, 1] is an error: it holds probabilities. Of a sparse
        matrix the stored labels are candidates, the others a "no" below all of them, and
        ``"candidate_recall"`` is the share of true labels among the candidates.
    decisions : label matrix, label sets or classes, or None, default None
        0/1 like ``Y``, in any of its forms. Left out: log-odds > 0.
    probabilities : array, sparse matrix or DataFrame of shape (n_documents, n_labels), or None
        In the place of log-odds, in [0, 1]; 0 and 1 are sure, and cost an infinite log loss where
        they are wrong. Log-odds are better where there are any: probabilities tie at the top.
    sample_weight : array of shape (n_documents,), or None, default None
        Weight 2 counts like the document given twice, weight 0 like a document not given.
    labels : sequence or None, default None
        The labels in column order, where label sets in ``Y`` need not show them all (for a 1-d
        ``Y`` its classes).
    ks : sequence of int, default (1, 3, 5)
        The k of precision, recall and nDCG at k.
    n_bins : int, default 15
        Number of equally wide bins of probability for the calibration error.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> Y = [["tea"], ["sugar", "tea"], ["sugar"]]
    >>> first = evaluate(Y, [[-2.0, 1.5], [0.5, 3.0], [-0.5, -1.0]])
    >>> round(first["micro_f1"], 3), round(first["log_loss"], 3)
    (0.857, 0.713)
    >>> evaluate(Y, probabilities=[[0.1, 0.8], [0.6, 0.9], [0.4, 0.3]])["one_error"]
    0.0
    >>> both = first + evaluate([["tea"]], [[1.0, 2.0]], labels=["sugar", "tea"])
    >>> both.n_documents, both["subset_loss"], both["one_error"]
    (4.0, 0.5, 0.0)
    """
    if log_odds is None and probabilities is None and decisions is None:
        raise ValueError("evaluate needs log_odds, probabilities or decisions, got neither.")
    if log_odds is not None and probabilities is not None:
        raise ValueError("evaluate takes log_odds or probabilities, got both. Give the log-odds.")
    inputs = read_inputs(
        Y,
        log_odds=log_odds,
        probabilities=probabilities,
        decisions=decisions,
        labels=labels,
        sample_weight=sample_weight,
    )
    names = inputs.truth.names
    chosen = read_ks(ks)
    check_whole_number("n_bins", n_bins)

    def evaluate_block(truth: Truth, z: Any, decided: Any) -> Evaluation:
        return Evaluation(
            names,
            chosen,
            float(truth.weight.sum()),
            count_decisions(truth, decided),
            sum_label_sets(truth, decided),
            None if z is None else sum_rankings(truth, z, chosen),
            None if z is None else sum_probabilities(truth, z, n_bins),
        )

    return inputs.add_up(evaluate_block)


def evaluate_blocks(
    blocks: Iterable[Any], *, engine: Engine | None = None, **settings: Any
) -> Evaluation:
    """Evaluate documents that come in blocks; memory holds one.

    Parameters
    ----------
    blocks : iterable of tuples
        ``(Y, log_odds)`` or ``(Y, log_odds, decisions)``, as :func:`evaluate` takes them, or paths
        of files (:func:`labelkin.scaling.blocks.read_block`).
    engine : Engine, optional
        Where blocks are evaluated; ``None``: here, or on the engine in use
        (:func:`labelkin.scaling.distributed.using`).
    **settings
        ``labels``, ``ks`` and ``n_bins`` of :func:`evaluate`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from labelkin.scaling.blocks import row_blocks
    >>> Y, log_odds = np.eye(4), 9 * np.eye(4) - 3
    >>> evaluate_blocks(row_blocks(Y, log_odds, size=3))["micro_f1"]
    1.0
    """
    with using(engine) as worker:
        return worker.fold(_evaluate_block, add, blocks, settings=settings)


def _evaluate_block(block: Any, settings: dict[str, Any]) -> Evaluation:
    parts = read_parts(block, "Y and log-odds, or Y, log-odds and decisions", many=(2, 3))
    return evaluate(*parts, **settings)


def _check_alike(one: Evaluation, other: Evaluation) -> None:
    """Raise unless both evaluations have the same labels and settings."""
    for what in ("labels", "ks", "n_bins"):
        mine, theirs = getattr(one, what), getattr(other, what)
        if not (mine is theirs or np.array_equal(mine, theirs)):
            shown = [short(np.asarray(value).tolist()) for value in (mine, theirs)]
            raise ValueError(
                f"Evaluations add up only when their {what} agree, got {' and '.join(shown)}. "
                "Evaluate both in the same way; labels=... names the labels."
            )
