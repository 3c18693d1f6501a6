"""All metrics at once, in one record that adds up over blocks of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelkin.metrics.decisions import (
    DecisionCounts,
    DocumentSums,
    Metric,
    count_decisions,
    sum_documents,
)
from labelkin.metrics.judged import (
    Block,
    Floats,
    Sums,
    judge,
    read_ks,
    read_n_bins,
    read_propensity,
)
from labelkin.metrics.probabilities import ProbabilitySums, Reliability, sum_probabilities
from labelkin.metrics.rankings import RankingSums, sum_rankings

S = TypeVar("S", bound=Sums)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Counts and sums of all metrics; :meth:`scores` reads the metrics from them.

    Evaluations of different documents add up (``a + b``, ``sum(evaluations)``): the sum is the
    evaluation of all of them, exactly for counts, to rounding for sums.

    Attributes
    ----------
    labels
        The labels, ``(n_labels,)``.
    ks
        The k of the metrics "at k".
    propensity
        Propensities of the labels, ``(n_labels,)``, or ``None``.
    n_documents
        Sum of the documents' weights.
    decisions, documents
        What the decisions score, label by label and document by document.
    ranking, probability
        What the log-odds score, as rankings and as probabilities; ``None`` without log-odds.
    """

    labels: NDArray[Any]
    ks: tuple[int, ...]
    propensity: Floats | None
    n_documents: float
    decisions: DecisionCounts
    documents: DocumentSums
    ranking: RankingSums | None
    probability: ProbabilitySums | None

    def __add__(self, other: Evaluation) -> Evaluation:
        """Return the evaluation of the documents of both."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        _check_alike(self, other)
        return Evaluation(
            self.labels,
            self.ks,
            self.propensity,
            self.n_documents + other.n_documents,
            self.decisions + other.decisions,
            self.documents + other.documents,
            _add(self.ranking, other.ranking),
            _add(self.probability, other.probability),
        )

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
        ``average``, ``"ndcg@5"`` is ``ndcg_at_k``, and ``"psp@5"`` is
        ``propensity_scored_precision_at_k``.

        Scores of log-odds are absent without log-odds, propensity-scored ones without propensities.
        Those that need whole label sets are NaN when a cell is unknown, all are NaN without
        documents or without labels.
        """
        scores = self.decisions.scores() | self.documents.scores()
        if self.ranking is not None:
            scores |= self.ranking.scores(self.ks, has_propensity=self.propensity is not None)
        if self.probability is not None:
            scores |= self.probability.scores()
        return scores

    def per_label(self) -> dict[str, Floats]:
        """Return by name what every label scores, ``(n_labels,)`` each, as ``labels`` has them."""
        counts = self.decisions
        columns = {"known": counts.known, "true": counts.true, "decided": counts.decided}
        columns |= {metric: counts.per_label(metric) for metric in get_args(Metric)}
        if self.probability is not None:
            columns["brier_score"] = self.probability.brier_score_per_label
            columns["log_loss"] = self.probability.log_loss_per_label
        return columns

    @property
    def reliability(self) -> Reliability | None:
        """Promised and observed shares by bin of probability; ``None`` without log-odds."""
        return None if self.probability is None else self.probability.reliability

    def __str__(self) -> str:
        """Return a table of all scores."""
        scores = self.scores()
        width = max(map(len, scores))
        lines = [f"{name:<{width}}  {value:10.5f}" for name, value in scores.items()]
        return "\n".join([f"{self.n_documents:g} documents, {len(self.labels)} labels", *lines])


def evaluate(
    Y: Any,
    log_odds: ArrayLike | None = None,
    decisions: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    ks: Sequence[int] = (1, 3, 5),
    propensity: ArrayLike | None = None,
    n_bins: int = 15,
) -> Evaluation:
    """Evaluate log-odds and decisions by every metric at once.

    Parameters
    ----------
    Y
        True label sets: anything :func:`labelkin.label_matrix.read_labels` takes. NaN = unknown:
        metrics that count cells skip it, those that need whole label sets become NaN.
    log_odds
        ``(n_documents, n_labels)``, or ``(n_documents,)`` for one label; dense; ±inf for what is
        sure, no NaN. Probabilities pass :func:`log_odds_of` first. Left out: nothing that needs
        them.
    decisions
        0/1 like ``Y``, in any of its forms. Left out: log-odds > 0.
    sample_weight
        One weight per document, ``(n_documents,)``; weight 2 counts like the document given twice,
        weight 0 like a document not given.
    labels
        The labels in column order, where label sets in ``Y`` need not show them all (for a 1-d
        ``Y`` its classes).
    ks
        The k of precision, recall, nDCG and propensity-scored precision at k.
    propensity
        Of the labels, ``(n_labels,)``, in (0, 1]: see :func:`propensities`.
    n_bins
        Number of equally wide bins of probability for the calibration error.

    Examples
    --------
    >>> Y = [["tea"], ["sugar", "tea"], ["sugar"]]
    >>> first = evaluate(Y, [[-2.0, 1.5], [0.5, 3.0], [-0.5, -1.0]])
    >>> round(first["micro_f1"], 3), round(first["log_loss"], 3)
    (0.857, 0.713)
    >>> both = first + evaluate([["tea"]], [[1.0, 2.0]], labels=["sugar", "tea"])
    >>> both.n_documents, both["subset_loss"], both["one_error"]
    (4.0, 0.5, 0.0)
    """
    if log_odds is None and decisions is None:
        raise ValueError("evaluate needs log_odds or decisions, got neither.")
    judged = judge(
        Y, log_odds=log_odds, decisions=decisions, labels=labels, sample_weight=sample_weight
    )
    names = judged.truth.names
    chosen, gains, bins = read_ks(ks), read_propensity(propensity, len(names)), read_n_bins(n_bins)

    def evaluate_block(block: Block) -> Evaluation:
        has_log_odds = block.log_odds is not None
        return Evaluation(
            names,
            chosen,
            gains,
            float(block.weight.sum()),
            count_decisions(block),
            sum_documents(block),
            sum_rankings(block, chosen, gains) if has_log_odds else None,
            sum_probabilities(block, bins) if has_log_odds else None,
        )

    return judged.add_up(evaluate_block)


def _check_alike(one: Evaluation, other: Evaluation) -> None:
    """Only what was evaluated in the same way can be added."""
    others = _settings(other)
    for what, mine in _settings(one).items():
        theirs = others[what]
        if not (mine is theirs or np.array_equal(mine, theirs)):
            raise ValueError(
                f"Evaluations add up only when their {what} agree, got {_short(mine)} and "
                f"{_short(theirs)}. Evaluate both in the same way; labels=... names the labels."
            )


def _settings(evaluation: Evaluation) -> dict[str, Any]:
    probability = evaluation.probability
    return {
        "labels": evaluation.labels,
        "ks": evaluation.ks,
        "propensity": evaluation.propensity,
        "use of log_odds": probability is not None,
        "n_bins": None if probability is None else len(probability.bin_count),
    }


def _short(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    dots = ", …" if len(value) > 4 else ""
    return f"{len(value)} ({', '.join(map(str, value[:4].tolist()))}{dots})"


def _add(one: S | None, other: S | None) -> S | None:
    return None if one is None or other is None else one + other
