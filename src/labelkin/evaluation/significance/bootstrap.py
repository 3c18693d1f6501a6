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

from labelkin.evaluation.metrics.decisions import DecisionCounts, count_by_document
from labelkin.evaluation.metrics.inputs import greater_is_better as direction_of
from labelkin.evaluation.metrics.inputs import metric_name, read_inputs
from labelkin.evaluation.metrics.rankings import first_errors
from labelkin.evaluation.significance.sign_tests import Sign, check_names, sign_of
from labelkin.label_matrix import LabelMatrix
from labelkin.records import short_repr

Floats = NDArray[np.float64]
Draws = Iterator[NDArray[np.int64]]

BLOCK_CELLS = 2**22  # weights, or sums, held at once for summed metrics: 32 MB


@short_repr
@dataclass(frozen=True)
class Bootstrap:
    """Result of a paired bootstrap between two systems.

    Attributes
    ----------
    baseline, proposal : str
        The names of the systems.
    metric : str
        The name of the metric.
    n, n_draws : int
        Number of documents, and of draws of n documents.
    k : int
        Draws on which the better system scores strictly better. Equal scores on all documents: the
        larger of the two numbers.
    difference : float
        Score of the proposal less score of the baseline, on all documents; 0 where it is within
        rounding (1e-12 of the scores), on the draws as well.
    low, high, confidence : float
        Percentile interval of the difference over the draws, and the share of them it covers.
    p_value : float
        (draws on which the better system is not strictly better + 1) / (n_draws + 1), one-sided; 1
        for equal scores. Never 0: the documents as they are count as one draw.
    sign : "≪", "<", "~", ">" or "≫"
        ``≪ <``: the baseline is worse; ``≫ >``: it is better; ``~``: nothing shown.
    better : str or None
        The name of the system with the better score, ``None`` when equal.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin.evaluation.significance import paired_bootstrap
    >>> Y = np.eye(50)
    >>> result = paired_bootstrap(Y, np.zeros((50, 50)), Y, "hamming_loss", random_state=0)
    >>> result.better, result.n, result.k == result.n_draws, result.sign
    ('proposal', 50, True, '≪')
    >>> round(result.low, 3), round(result.difference, 3), round(result.high, 3)
    (-0.02, -0.02, -0.02)
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
    Y : label matrix, label sets or classes
        The truth, in any form the metric takes.
    baseline, proposal : array, sparse matrix, DataFrame or sequence
        What the metric judges: log-odds or decisions, one row per document.
    metric : str, SummedMetric or callable
        Fastest first: a name in ``SUMMED_METRICS`` or a :class:`SummedMetric`; a function
        ``metric(Y, system, sample_weight=w)``, called with the number of times each document was
        drawn (``labelkin.evaluation.metrics`` and scikit-learn); any other ``metric(Y, system)``,
        called with the rows drawn.
    n_draws : int, default 1000
        Number of draws. ``≪`` needs at least 100.
    confidence : float, default 0.95
        Share of the draws that the interval ``low … high`` covers, between 0 and 1.
    greater_is_better : bool or None, default None
        Whether a greater score is better. ``None``: known for names, a :class:`SummedMetric` and
        the functions of ``labelkin.evaluation.metrics`` and ``sklearn.metrics``; any other function
        must state it.
    random_state : int, RandomState or None, default None
        As in scikit-learn: a seed gives the same draws again, whatever the kind of metric.
    names : tuple of two str, default ("baseline", "proposal")
        What the record calls the two systems.

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> Y = np.eye(50)
    >>> result = paired_bootstrap(Y, np.zeros((50, 50)), Y, "hamming_loss", random_state=0)
    >>> round(result.difference, 3), round(result.high, 3), result.sign
    (-0.02, -0.02, '≪')
    """
    baseline_name, proposal_name = check_names(names)
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws!r}. 1000 is usual.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}. 0.95 is usual.")
    metric = _look_up(metric)
    if greater_is_better is None:
        greater_is_better = direction_of(metric)
    n = _common_length(Y, baseline, proposal)
    draws = _draw(n, n_draws, check_random_state(random_state))
    scores = _scorer(metric)(metric, Y, (baseline, proposal), draws)
    difference = _differences(scores)
    gain = difference if greater_is_better else -difference
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


@dataclass(frozen=True)
class SummedMetric:
    """A metric computed from sums over documents.

    Attributes
    ----------
    name : str
        What a record calls the metric.
    document_sums : callable
        ``(Y, system)`` → what each document adds, ``(n_documents, m)``, dense or sparse.
    score : callable
        Sums ``(n_draws, m)`` → scores ``(n_draws,)``.
    greater_is_better : bool, default True
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


def _look_up(metric: Any) -> Any:
    if not isinstance(metric, str):
        return metric
    return SUMMED_METRICS[metric_name(metric, SUMMED_METRICS)]


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


def _decision_sums(Y: Any, decisions: Any) -> Floats:
    """Known, true, decided and both, of each document."""
    truth, _, decided = read_inputs(Y, decisions=decisions).block()
    counts = count_by_document(truth, decided)
    return np.column_stack([counts.known, counts.true, counts.decided, counts.hits])


def _label_sums(Y: Any, decisions: Any) -> sparse.csr_array:
    """Cells that are true, decided, and both, of each document and label known somewhere."""
    truth, _, decided = read_inputs(Y, decisions=decisions).block()
    cells = [truth.positive, decided, truth.positive * decided]
    if truth.unknown is not None:
        cells[1] = decided - decided * truth.unknown
        is_known = truth.unknown.sum(axis=0) < truth.unknown.shape[0]
        cells = [sparse.csr_array(part)[:, is_known] for part in cells]
    return sparse.csr_array(sparse.hstack(cells, format="csr"))


def _macro_f1(sums: Floats) -> Floats:
    counts = DecisionCounts(np.ones((len(sums), sums.shape[1] // 3)), *np.hsplit(sums, 3))
    return np.asarray(counts.average("f1", "macro"))


def _label_set_sums(Y: Any, decisions: Any) -> Floats:
    truth, _, decided = read_inputs(Y, decisions=decisions).need_whole_sets("subset_loss").block()
    wrong = count_by_document(truth, decided).wrong > 0
    return np.column_stack([wrong, np.ones(len(wrong))])


def _first_place_sums(Y: Any, log_odds: Any) -> Floats:
    truth, scores, _ = read_inputs(Y, log_odds=log_odds).need_whole_sets("one_error").block()
    is_labelled = np.diff(truth.positive.indptr) > 0  # others have no first place to be right
    return np.column_stack([first_errors(truth, scores) & is_labelled, is_labelled])


def _share(sums: Floats) -> Floats:
    return sums[:, 0] / sums[:, 1]


def _counts(sums: Floats) -> DecisionCounts:
    return DecisionCounts(*np.hsplit(sums, 4))


SUMMED_METRICS: dict[str, SummedMetric] = {
    metric.name: metric
    for metric in (
        SummedMetric("micro_f1", _decision_sums, lambda sums: _counts(sums).average("f1", "micro")),
        SummedMetric("macro_f1", _label_sums, _macro_f1),
        SummedMetric(
            "hamming_loss", _decision_sums, lambda sums: _counts(sums).hamming_loss, False
        ),
        SummedMetric("subset_loss", _label_set_sums, _share, False),
        SummedMetric("one_error", _first_place_sums, _share, False),
    )
}
