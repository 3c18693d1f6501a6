"""The paired bootstrap: draw documents with replacement, score both systems on each draw."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.significance.sign_tests import (
    Sign,
    check_names,
    read_decisions,
    read_log_odds,
    sign_of,
)

Floats = NDArray[np.float64]
Draws = Iterator[NDArray[np.int64]]

BLOCK_CELLS = 2**22  # weights, or sums, held at once for summed metrics: 32 MB


@dataclass(frozen=True)
class Bootstrap:
    """Result of a paired bootstrap between two systems.

    Attributes
    ----------
    baseline, proposal
        The names of the systems.
    metric
        The name of the metric.
    n, n_draws
        Number of documents, and of draws of n documents.
    k
        Draws on which the better system scores strictly better. Equal scores on all documents: the
        larger of the two numbers.
    difference
        Score of the proposal less score of the baseline, on all documents; 0 where it is within
        rounding (1e-12 of the scores), on the draws as well.
    low, high, confidence
        Percentile interval of the difference over the draws, and the share of them it covers.
    p_value
        (draws on which the better system is not strictly better + 1) / (n_draws + 1), one-sided; 1
        for equal scores. Never 0: the documents as they are count as one draw.
    sign
        ``≪ <``: the baseline is worse; ``≫ >``: it is better; ``~``: nothing shown.
    better
        The name of the system with the better score, ``None`` when equal.
    """

    baseline: str
    proposal: str
    metric: str
    n: int
    n_draws: int
    k: int
    difference: float
    low: float
    high: float
    confidence: float
    p_value: float
    sign: Sign
    better: str | None


def paired_bootstrap(
    Y: Any,
    baseline: Any,
    proposal: Any,
    metric: str | SummedMetric | Callable[..., float],
    *,
    n_draws: int = 1000,
    confidence: float = 0.95,
    greater_is_better: bool | None = None,
    random_state: Any = None,
    names: tuple[str, str] = ("baseline", "proposal"),
) -> Bootstrap:
    """Say how sure the difference between two systems is, whatever the metric.

    Documents are drawn with replacement, the same for both systems; labels and systems stay as they
    are, so the answer is about other documents, not about training again.

    Parameters
    ----------
    Y
        The truth, in any form the metric takes.
    baseline, proposal
        What the metric judges: log-odds or decisions, one row per document.
    metric
        Fastest first: a name in ``SUMMED_METRICS`` or a :class:`SummedMetric`; a function
        ``metric(Y, system, sample_weight=w)``, called with the number of times each document was
        drawn (``labelkin.metrics`` and scikit-learn; hand over ``read_labels(Y)`` where the metric
        takes it, and Y is read only once); any other ``metric(Y, system)``, called with the rows
        drawn.
    n_draws
        Number of draws. ``≪`` needs at least 100.
    confidence
        Share of the draws that the interval ``low … high`` covers, between 0 and 1.
    greater_is_better
        ``None``: as the :class:`SummedMetric` says, ``True`` for any other function. Losses need
        ``False``.
    random_state
        As in scikit-learn: a seed gives the same draws again, whatever the kind of metric.
    names
        What the record calls the two systems.

    Examples
    --------
    >>> Y = np.eye(50)
    >>> result = paired_bootstrap(Y, np.zeros((50, 50)), Y, "hamming_loss", random_state=0)
    >>> round(result.difference, 3), round(result.high, 3), result.sign
    (-0.02, -0.02, '≪')
    """
    baseline_name, proposal_name = check_names(names)
    _check_settings(n_draws, confidence)
    metric = _look_up(metric)
    n = _common_length(Y, baseline, proposal)
    draws = _draw(n, n_draws, check_random_state(random_state))
    scores = _scorer(metric)(metric, Y, (baseline, proposal), draws)
    difference = _differences(scores)
    gain = difference if _is_gain(metric, greater_is_better) else -difference
    k, p_value = _count_better(gain)
    low, high = np.quantile(difference[1:], [(1 - confidence) / 2, (1 + confidence) / 2])
    return Bootstrap(
        baseline=baseline_name,
        proposal=proposal_name,
        metric=_name(metric),
        n=n,
        n_draws=n_draws,
        k=k,
        difference=float(difference[0]),
        low=float(low),
        high=float(high),
        confidence=confidence,
        p_value=p_value,
        sign=sign_of(p_value, gain[0]),
        better={0.0: None, 1.0: proposal_name, -1.0: baseline_name}[float(np.sign(gain[0]))],
    )


def _check_settings(n_draws: int, confidence: float) -> None:
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws!r}. 1000 is usual.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}. 0.95 is usual.")


def _look_up(metric: Any) -> Any:
    if not isinstance(metric, str):
        return metric
    if metric not in SUMMED_METRICS:
        raise ValueError(
            f"A metric given by name must be one of {sorted(SUMMED_METRICS)}, got {metric!r}. "
            "Hand over a function for any other."
        )
    return SUMMED_METRICS[metric]


def _common_length(Y: Any, baseline: Any, proposal: Any) -> int:
    lengths = [x.shape[0] if hasattr(x, "shape") else len(x) for x in (Y, baseline, proposal)]
    if len(set(lengths)) > 1 or lengths[0] == 0:
        raise ValueError(
            "Y, baseline and proposal must have the same documents, at least one, got "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]} rows. Pair them row by row."
        )
    return int(lengths[0])


def _draw(n: int, n_draws: int, rng: np.random.RandomState) -> Draws:
    """All documents once, then the draws."""
    yield np.arange(n)
    for _ in range(n_draws):
        yield rng.randint(n, size=n)


def _scorer(metric: Any) -> Callable[[Any, Any, tuple[Any, Any], Draws], Floats]:
    """Return the fastest way to score both systems on every draw, ``(1 + n_draws, 2)``."""
    if isinstance(metric, SummedMetric):
        return _score_sums
    try:
        takes_weights = "sample_weight" in inspect.signature(metric).parameters
    except ValueError:  # some callables written in C have no signature
        takes_weights = False
    return _score_weights if takes_weights else _score_rows


def _score_sums(metric: SummedMetric, Y: Any, systems: tuple[Any, Any], draws: Draws) -> Floats:
    sums = [metric.document_sums(Y, system) for system in systems]
    n = sums[0].shape[0]
    at_once = max(1, BLOCK_CELLS // max(sums[0].shape))
    scores = []
    while block := [_times_drawn(draw, n) for draw in islice(draws, at_once)]:
        weights = np.array(block)
        scores.append(np.column_stack([metric.score((s.T @ weights.T).T) for s in sums]))
    return np.concatenate(scores)


def _score_weights(metric: Any, Y: Any, systems: tuple[Any, Any], draws: Draws) -> Floats:
    weights = (_times_drawn(draw, len(draw)) for draw in draws)
    return np.array(
        [[metric(Y, s, sample_weight=w) for s in systems] for w in weights], dtype=float
    )


def _score_rows(metric: Any, Y: Any, systems: tuple[Any, Any], draws: Draws) -> Floats:
    scores = [[metric(_rows(Y, draw), _rows(s, draw)) for s in systems] for draw in draws]
    return np.array(scores, dtype=float)


def _times_drawn(draw: NDArray[np.int64], n: int) -> Floats:
    return np.bincount(draw, minlength=n).astype(np.float64)


def _rows(values: Any, index: NDArray[np.int64]) -> Any:
    if isinstance(values, LabelMatrix):
        return values.rows(index)
    if isinstance(values, list | tuple):
        return [values[i] for i in index.tolist()]
    if hasattr(values, "iloc"):
        return values.iloc[index]
    return values.tocsr()[index] if sparse.issparse(values) else values[index]


def _differences(scores: Floats) -> Floats:
    """Proposal less baseline on every draw; what rounding alone can make is no difference."""
    n_wrong = int((~np.isfinite(scores)).any(axis=1).sum())
    if n_wrong:
        raise ValueError(
            f"A metric must give a finite number for every draw of documents, got NaN or infinity "
            f"in {n_wrong} of {len(scores)}. Say in the metric what 0/0 means."
        )
    difference = scores[:, 1] - scores[:, 0]
    rounding = 1e-12 * np.abs(scores).max(axis=1)
    return np.where(np.abs(difference) <= rounding, 0.0, difference)


def _is_gain(metric: Any, greater_is_better: bool | None) -> bool:
    if greater_is_better is not None:
        return greater_is_better
    return metric.greater_is_better if isinstance(metric, SummedMetric) else True


def _count_better(gain: Floats) -> tuple[int, float]:
    """Return k and P; ``gain`` of the proposal on all documents first, then on the draws."""
    won = [int((gain[1:] < 0).sum()), int((gain[1:] > 0).sum())]
    if gain[0] == 0:
        return max(won), 1.0
    k = won[1] if gain[0] > 0 else won[0]
    return k, (len(gain) - k) / len(gain)


def _name(metric: Any) -> str:
    if isinstance(metric, SummedMetric):
        return metric.name
    if isinstance(metric, functools.partial):
        return _name(metric.func)
    return getattr(metric, "__name__", type(metric).__name__)


@dataclass(frozen=True)
class SummedMetric:
    """A metric computed from sums over documents.

    Attributes
    ----------
    name
        What a record calls the metric.
    document_sums
        ``(Y, system)`` → what each document adds, ``(n_documents, m)``, dense or sparse.
    score
        Sums ``(n_draws, m)`` → scores ``(n_draws,)``.
    greater_is_better
        Whether a greater score is the better one.

    Examples
    --------
    The mean number of labels given to a document:

    >>> def label_count(Y, decisions):
    ...     given = np.asarray(decisions).sum(axis=1)
    ...     return np.column_stack([given, np.ones(len(given))])
    >>> metric = SummedMetric("labels given", label_count, lambda sums: sums[:, 0] / sums[:, 1])
    >>> metric(None, [[1, 0, 1], [1, 0, 0]])
    1.5
    """

    name: str
    document_sums: Callable[[Any, Any], Any]
    score: Callable[[Floats], Floats]
    greater_is_better: bool = True

    def __call__(self, Y: Any, system: Any) -> float:
        """Return the score on all documents."""
        sums = self.document_sums(Y, system)
        total = np.asarray(sums.sum(axis=0), dtype=np.float64)
        return float(self.score(total.reshape(1, -1))[0])


def _true_positives_and_sizes(Y: Any, decisions: Any) -> sparse.csr_array:
    truth = read_labels(Y)
    given = read_decisions(decisions, truth)
    blocks = [given.multiply(truth.positive), given + truth.positive]
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _micro_sums(Y: Any, decisions: Any) -> Floats:
    sums = _true_positives_and_sizes(Y, decisions)
    half = sums.shape[1] // 2
    return np.column_stack([sums[:, :half].sum(axis=1), sums[:, half:].sum(axis=1)])


def _mean_f1(sums: Floats) -> Floats:
    """Mean F1 of the labels, first half true positives, second half sizes; 0/0 is 0."""
    tp, size = np.hsplit(sums, 2)
    return np.divide(2 * tp, size, out=np.zeros_like(tp), where=size > 0).mean(axis=1)


def _hamming_sums(Y: Any, decisions: Any) -> Floats:
    """Wrong cells and known cells of each document."""
    truth = read_labels(Y)
    wrong = abs(read_decisions(decisions, truth) - truth.positive).sum(axis=1)
    known = np.full(truth.shape[0], float(truth.shape[1]))
    if truth.unknown is not None:
        known -= truth.unknown.sum(axis=1)
    return np.column_stack([wrong, known])


def _subset_sums(Y: Any, decisions: Any) -> Floats:
    truth = _fully_known(read_labels(Y), "subset_loss")
    wrong = abs(read_decisions(decisions, truth) - truth.positive).sum(axis=1)
    return _with_count(wrong > 0)


def _one_error_sums(Y: Any, log_odds: Any) -> Floats:
    """1 where the top label is not relevant; ties at the top go to the lowest column."""
    truth = _fully_known(read_labels(Y), "one_error")
    top = read_log_odds(log_odds, truth).argmax(axis=1)
    return _with_count(truth.positive[np.arange(truth.shape[0]), top] == 0)


def _with_count(values: Any) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    return np.column_stack([values, np.ones(len(values))])


def _ratio(sums: Floats) -> Floats:
    return sums[:, 0] / sums[:, 1]


def _fully_known(truth: LabelMatrix, metric: str) -> LabelMatrix:
    if truth.unknown is not None:
        raise ValueError(
            f"{metric} needs whole label sets, got {truth.unknown.nnz} unknown cells (NaN) in Y. "
            "Leave those documents out, or use hamming_loss, micro_f1 or macro_f1."
        )
    return truth


SUMMED_METRICS: dict[str, SummedMetric] = {
    metric.name: metric
    for metric in (
        SummedMetric("micro_f1", _micro_sums, _mean_f1),
        SummedMetric("macro_f1", _true_positives_and_sizes, _mean_f1),
        SummedMetric("hamming_loss", _hamming_sums, _ratio, greater_is_better=False),
        SummedMetric("subset_loss", _subset_sums, _ratio, greater_is_better=False),
        SummedMetric("one_error", _one_error_sums, _ratio, greater_is_better=False),
    )
}
