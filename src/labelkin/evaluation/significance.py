"""Sign tests and a paired bootstrap of two systems on the same documents.

:func:`micro_sign_test` and :func:`macro_sign_test` are the paper's s-test and S-test, on decisions.
:func:`paired_bootstrap` returns an interval and a P value for the difference in any metric, on
decisions or log-odds. Each returns a record with the names of both systems and a sign as in the
paper: ``≪`` and ``<`` mean that the baseline is worse than the proposal, ``≫`` and ``>`` that it is
better (P < 0.01 and P < 0.05), ``~`` that no difference was shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from labelkin.evaluation.metrics.decisions import (
    DecisionCounts,
    count_by_document,
    count_decisions,
)
from labelkin.evaluation.metrics.inputs import metric_name, read_inputs
from labelkin.evaluation.metrics.rankings import first_errors
from labelkin.label_matrix import read_labels
from labelkin.records import short_repr

__all__ = [
    "SUMMED_METRICS",
    "Bootstrap",
    "SignTest",
    "SummedMetric",
    "macro_sign_test",
    "micro_sign_test",
    "paired_bootstrap",
    "sign_test_p_value",
]

Sign = Literal["≪", "<", "~", ">", "≫"]
_Floats = NDArray[np.float64]
_Counts = NDArray[np.int64]

#: Weights, or sums, computed together for summed metrics: 32 MB.
_BLOCK_CELLS = 2**22
#: Scores that differ by less than this share are equal.
_ROUNDING = 1e-12


@short_repr
@dataclass(frozen=True)
class SignTest:
    """Result of a sign test between two systems.

    Attributes
    ----------
    baseline, proposal : str
        The names of the systems.
    test : "s-test" or "S-test"
        Micro or macro.
    n : int
        Units on which the systems differ: decisions that are right in one system only (s-test),
        labels whose F1 differs (S-test).
    k : int
        Those in favour of the system with the better F1. Equal F1: the larger of the two numbers.
    p_value : float
        P of at least k heads in n throws of a fair coin; 1 for n = 0 and for equal F1.
    sign : "≪", "<", "~", ">" or "≫"
        ``≪ <``: the baseline is worse; ``≫ >``: it is better; ``~``: no difference shown.
    better : str or None
        The name of the system with the better F1 (micro or macro), if it also wins more units;
        otherwise ``None``.
    baseline_wins, proposal_wins : int
        Units in favour of each system; they add up to ``n``.

    Examples
    --------
    >>> import numpy as np
    >>> from labelkin.evaluation.significance import micro_sign_test
    >>> Y = np.eye(7)
    >>> test = micro_sign_test(Y, np.zeros((7, 7)), Y, names=("nothing", "truth"))
    >>> test.test, test.n, test.k, test.p_value
    ('s-test', 7, 7, 0.0078125)
    >>> test.baseline, test.sign, test.proposal, test.better
    ('nothing', '≪', 'truth', 'truth')
    >>> test.baseline_wins, test.proposal_wins
    (0, 7)
    """

    baseline: str
    proposal: str
    test: Literal["s-test", "S-test"]
    n: int
    k: int
    p_value: float
    sign: Sign
    better: str | None
    baseline_wins: int
    proposal_wins: int


def micro_sign_test(
    Y: Any, baseline: Any, proposal: Any, names: tuple[str, str] = ("baseline", "proposal")
) -> SignTest:
    """Compare two systems decision by decision: the s-test.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The truth, as :class:`labelkin.LabelDependenceClassifier` takes it; unknown cells (NaN) are
        skipped.
    baseline, proposal : label matrix, label sets or classes
        Decisions of the two systems, 0/1 in any form ``Y`` may have.
    names : tuple of two str, default ("baseline", "proposal")
        Names of the two systems in the record.

    Returns
    -------
    SignTest

    Examples
    --------
    >>> Y = np.eye(4)
    >>> result = micro_sign_test(Y, np.zeros((4, 4)), Y)
    >>> result.n, result.k, result.p_value, result.sign
    (4, 4, 0.0625, '~')
    """
    pair = _count_pair(Y, baseline, proposal)
    tp, size = pair.true_positives.sum(axis=1), pair.sizes.sum(axis=1)
    # F1 = 2 tp / size, cross-multiplied: integers are exact.
    lead = int(tp[1]) * int(size[0]) - int(tp[0]) * int(size[1])
    return _sign_test("s-test", names, pair.won.sum(axis=1), lead)


def macro_sign_test(
    Y: Any, baseline: Any, proposal: Any, names: tuple[str, str] = ("baseline", "proposal")
) -> SignTest:
    """Compare two systems label by label: the S-test.

    The F1 of a label that no document has and no system predicts is 0. Parameters as in
    :func:`micro_sign_test`.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The truth; unknown cells (NaN) are skipped.
    baseline, proposal : label matrix, label sets or classes
        Decisions of the two systems, 0/1 in any form ``Y`` may have.
    names : tuple of two str, default ("baseline", "proposal")
        Names of the two systems in the record.

    Returns
    -------
    SignTest

    Examples
    --------
    >>> Y = np.eye(7)
    >>> result = macro_sign_test(Y, np.zeros((7, 7)), Y, names=("nothing", "truth"))
    >>> result.n, result.k, result.p_value, result.sign, result.better
    (7, 7, 0.0078125, '≪', 'truth')
    """
    pair = _count_pair(Y, baseline, proposal)
    tp, size = pair.true_positives, pair.sizes
    label_lead = tp[1] * size[0] - tp[0] * size[1]
    won = np.array([(label_lead < 0).sum(), (label_lead > 0).sum()])
    f1 = np.divide(2 * tp, size, out=np.zeros(size.shape), where=size > 0).sum(axis=1)
    lead = 0.0 if math.isclose(*f1, rel_tol=_ROUNDING) else float(f1[1] - f1[0])
    return _sign_test("S-test", names, won, lead)


def sign_test_p_value(n: int, k: int) -> float:
    """Return P that Bin(n, ½) is at least k: exact for n ≤ 12, by the normal above (the paper's).

    Parameters
    ----------
    n : int
        Number of units on which the systems differ.
    k : int
        Number of them in favour of one system.

    Returns
    -------
    float

    Examples
    --------
    >>> sign_test_p_value(10, 8)
    0.0546875
    >>> round(sign_test_p_value(13, 10), 9)
    0.026101818
    """
    if not 0 <= k <= n:
        raise ValueError(f"k must be from 0 to n, got n={n!r}, k={k!r}.")
    if n <= 12:
        return sum(math.comb(n, i) for i in range(k, n + 1)) / 2**n
    z = (k - n / 2) / (math.sqrt(n) / 2)
    return math.erfc(z / math.sqrt(2)) / 2


def _check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Raise unless there are two different names."""
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise ValueError(
            f"names must be two different names, baseline first, got {names!r}. "
            'Write names=("SVM", "SVM + labels").'
        )
    return names[0], names[1]


def _sign_of(p_value: float, lead: float) -> Sign:
    """Return the paper's sign; ``lead`` > 0: the proposal is better, 0: equal."""
    if lead == 0 or p_value >= 0.05:
        return "~"
    if p_value < 0.01:
        return "≪" if lead > 0 else "≫"
    return "<" if lead > 0 else ">"


class _PairCounts(NamedTuple):
    """_Counts over the known cells, ``(2, n_labels)`` each: baseline first, then proposal."""

    true_positives: _Counts
    sizes: _Counts  # documents with the label + documents for which it is decided
    won: _Counts  # decisions that are right in this system only


def _count_pair(Y: Any, baseline: Any, proposal: Any) -> _PairCounts:
    labels = read_labels(Y)
    blocks = [read_inputs(labels, decisions=system).block() for system in (baseline, proposal)]
    truth, systems = blocks[0][0], [decided for _, _, decided in blocks]
    counts = [count_decisions(truth, decided) for decided in systems]
    tp, given = _whole([c.hits for c in counts]), _whole([c.decided for c in counts])
    both = _whole(count_decisions(truth, systems[0] * systems[1]).decided)
    # Right in one system only: its true positives and the false positives of the other.
    won = (tp - tp[::-1]) + (given[::-1] - both)
    return _PairCounts(tp, given + _whole(counts[0].true), won)


def _whole(counts: Any) -> _Counts:
    return np.rint(counts).astype(np.int64)


def _sign_test(
    test: Literal["s-test", "S-test"], names: tuple[str, str], won: _Counts, lead: float
) -> SignTest:
    baseline, proposal = _check_names(names)
    lost, gained = won.tolist()
    n = lost + gained
    if lead == 0:
        k, p_value, leader = max(lost, gained), 1.0, None
    else:
        k, leader = (gained, proposal) if lead > 0 else (lost, baseline)
        p_value = sign_test_p_value(n, k)
    better = leader if 2 * k > n else None
    sign = _sign_of(p_value, lead)
    return SignTest(baseline, proposal, test, n, k, p_value, sign, better, lost, gained)


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
        Score of the proposal less score of the baseline, on all documents; 0 if it is within
        rounding (1e-12 of the scores), also on the draws.
    low, high : float
        Percentile interval of the difference: 95 % of the draws.
    p_value : float
        (draws on which the better system is not strictly better + 1) / (n_draws + 1), one-sided; 1
        for equal scores. Never 0: the documents as they are count as one draw.
    sign : "≪", "<", "~", ">" or "≫"
        ``≪ <``: the baseline is worse; ``≫ >``: it is better; ``~``: no difference shown.
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
    p_value: float
    sign: Sign
    better: str | None


def paired_bootstrap(
    Y: Any,
    baseline: Any,
    proposal: Any,
    metric: str | SummedMetric,
    *,
    n_draws: int = 1000,
    random_state: Any = None,
    names: tuple[str, str] = ("baseline", "proposal"),
) -> Bootstrap:
    """Return an interval and a P value for the difference of two systems in a metric.

    Documents are drawn with replacement, the same for both systems. Labels and systems are fixed:
    the result is about other documents, not about training again.

    Parameters
    ----------
    Y : label matrix, label sets or classes
        The truth, in any form the metric takes.
    baseline, proposal : array, sparse matrix, DataFrame or sequence
        Log-odds or decisions, as the metric needs them, one row per document.
    metric : str or SummedMetric
        A name in ``SUMMED_METRICS``, or a :class:`SummedMetric`.
    n_draws : int, default 1000
        Number of draws. ``≪`` needs at least 100.
    random_state : int, RandomState or None, default None
        As in scikit-learn: a seed gives the same draws for every metric.
    names : tuple of two str, default ("baseline", "proposal")
        Names of the two systems in the record.

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
    baseline_name, proposal_name = _check_names(names)
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws!r}. 1000 is usual.")
    if isinstance(metric, str):
        metric = SUMMED_METRICS[metric_name(metric, SUMMED_METRICS)]
    n = _common_length(Y, baseline, proposal)
    draws = _draw(n, n_draws, check_random_state(random_state))
    difference = _differences(_score_draws(metric, Y, (baseline, proposal), draws))
    gain = difference if metric.greater_is_better else -difference
    k, p_value = _count_better(gain)
    low, high = np.quantile(difference[1:], [0.025, 0.975])
    return Bootstrap(
        baseline=baseline_name,
        proposal=proposal_name,
        metric=metric.name,
        n=n,
        n_draws=n_draws,
        k=k,
        difference=float(difference[0]),
        low=float(low),
        high=float(high),
        p_value=p_value,
        sign=_sign_of(p_value, gain[0]),
        better={0.0: None, 1.0: proposal_name, -1.0: baseline_name}[float(np.sign(gain[0]))],
    )


@dataclass(frozen=True)
class SummedMetric:
    """A metric computed from sums over documents.

    Attributes
    ----------
    name : str
        Its name in records.
    document_sums : callable
        ``(Y, system)`` → the summands of each document, ``(n_documents, m)``, dense or sparse.
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
    score: Callable[[_Floats], _Floats]
    greater_is_better: bool = True

    def __call__(self, Y: Any, system: Any) -> float:
        """Return the score on all documents."""
        sums = self.document_sums(Y, system)
        total = np.asarray(sums.sum(axis=0), dtype=np.float64)
        return float(self.score(total.reshape(1, -1))[0])


def _common_length(Y: Any, baseline: Any, proposal: Any) -> int:
    lengths = [x.shape[0] if hasattr(x, "shape") else len(x) for x in (Y, baseline, proposal)]
    if len(set(lengths)) > 1 or lengths[0] == 0:
        raise ValueError(
            "Y, baseline and proposal must have the same documents, at least one, got "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]} rows. Pair them row by row."
        )
    return int(lengths[0])


def _draw(n: int, n_draws: int, rng: np.random.RandomState) -> Iterator[NDArray[np.int64]]:
    """Yield all documents once, then the draws."""
    yield np.arange(n)
    for _ in range(n_draws):
        yield rng.randint(n, size=n)


def _score_draws(
    metric: SummedMetric, Y: Any, systems: tuple[Any, Any], draws: Iterator[NDArray[np.int64]]
) -> _Floats:
    sums = [metric.document_sums(Y, system) for system in systems]
    n = sums[0].shape[0]
    at_once = max(1, _BLOCK_CELLS // max(sums[0].shape))
    scores = []
    while block := [np.bincount(draw, minlength=n) for draw in islice(draws, at_once)]:
        weights = np.array(block, dtype=np.float64)
        scores.append(np.column_stack([metric.score((s.T @ weights.T).T) for s in sums]))
    return np.concatenate(scores)


def _differences(scores: _Floats) -> _Floats:
    """Return proposal less baseline on every draw; differences within rounding are 0."""
    n_wrong = int((~np.isfinite(scores)).any(axis=1).sum())
    if n_wrong:
        raise ValueError(
            f"A metric must give a finite number for every draw of documents, got NaN or infinity "
            f"in {n_wrong} of {len(scores)}. Define 0/0 in the metric."
        )
    difference = scores[:, 1] - scores[:, 0]
    rounding = _ROUNDING * np.abs(scores).max(axis=1)
    return np.where(np.abs(difference) <= rounding, 0.0, difference)


def _count_better(gain: _Floats) -> tuple[int, float]:
    """Return k and P from the gain of the proposal on all documents and on the draws."""
    won = [int((gain[1:] < 0).sum()), int((gain[1:] > 0).sum())]
    if gain[0] == 0:
        return max(won), 1.0
    k = won[1] if gain[0] > 0 else won[0]
    return k, (len(gain) - k) / len(gain)


def _decision_sums(Y: Any, decisions: Any) -> _Floats:
    """Return numbers of known, true, decided and hit cells of each document."""
    truth, _, decided = read_inputs(Y, decisions=decisions).block()
    counts = count_by_document(truth, decided)
    return np.column_stack([counts.known, counts.true, counts.decided, counts.hits])


def _label_sums(Y: Any, decisions: Any) -> sparse.csr_array:
    """Return true, decided and hit cells of each document, for labels with known cells."""
    truth, _, decided = read_inputs(Y, decisions=decisions).block()
    cells = [truth.positive, decided, truth.positive * decided]
    if truth.unknown is not None:
        cells[1] = decided - decided * truth.unknown
        is_known = truth.unknown.sum(axis=0) < truth.unknown.shape[0]
        cells = [sparse.csr_array(part)[:, is_known] for part in cells]
    return sparse.csr_array(sparse.hstack(cells, format="csr"))


def _macro_f1(sums: _Floats) -> _Floats:
    counts = DecisionCounts(np.ones((len(sums), sums.shape[1] // 3)), *np.hsplit(sums, 3))
    return np.asarray(counts.average("f1", "macro"))


def _label_set_sums(Y: Any, decisions: Any) -> _Floats:
    truth, _, decided = read_inputs(Y, decisions=decisions).need_whole_sets("subset_loss").block()
    wrong = count_by_document(truth, decided).wrong > 0
    return np.column_stack([wrong, np.ones(len(wrong))])


def _first_place_sums(Y: Any, log_odds: Any) -> _Floats:
    truth, scores, _ = read_inputs(Y, log_odds=log_odds).need_whole_sets("one_error").block()
    is_labelled = np.diff(truth.positive.indptr) > 0
    return np.column_stack([first_errors(truth, scores) & is_labelled, is_labelled])


def _share(sums: _Floats) -> _Floats:
    return sums[:, 0] / sums[:, 1]


def _counts(sums: _Floats) -> DecisionCounts:
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
