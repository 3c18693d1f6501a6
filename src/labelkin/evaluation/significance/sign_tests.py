"""The paper's sign tests: s-test on decisions (micro), S-test on labels (macro)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.evaluation.metrics.decisions import count_decisions
from labelkin.evaluation.metrics.inputs import read_inputs
from labelkin.label_matrix import read_labels
from labelkin.records import short_repr

Sign = Literal["≪", "<", "~", ">", "≫"]
Counts = NDArray[np.int64]


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
        Units on which the systems differ: decisions that exactly one system got right (s-test),
        labels whose F1 differs (S-test).
    k : int
        Those in favour of the system with the better F1. Equal F1: the larger of the two numbers.
    p_value : float
        P that a fair coin shows heads at least k times in n throws; 1 for n = 0 and for equal F1.
    sign : "≪", "<", "~", ">" or "≫"
        ``≪ <``: the baseline is worse; ``≫ >``: it is better; ``~``: nothing shown.
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
        What the record calls the two systems.

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
    # F1 = 2 tp / size; cross-multiplied integers tell equal from nearly equal.
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
        What the record calls the two systems.

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
    lead = _sum_of_f1(tp[1], size[1]) - _sum_of_f1(tp[0], size[0])
    return _sign_test("S-test", names, won, lead)


def sign_test_p_value(n: int, k: int) -> float:
    """Return P that Bin(n, ½) is at least k: exact for n ≤ 12, by the normal above (the paper's).

    Parameters
    ----------
    n : int
        How often the two systems differ.
    k : int
        How often the one that is asked about wins.

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
        raise ValueError(
            f"k must be from 0 to n, got n={n!r}, k={k!r}. k counts some of the n units."
        )
    if n <= 12:
        return sum(math.comb(n, i) for i in range(k, n + 1)) / 2**n
    z = (k - n / 2) / (math.sqrt(n) / 2)
    return math.erfc(z / math.sqrt(2)) / 2


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Raise for anything but two different names."""
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise ValueError(
            f"names must be two different names, baseline first, got {names!r}. "
            'Write names=("SVM", "SVM + labels").'
        )
    return names[0], names[1]


def sign_of(p_value: float, lead: float | Fraction) -> Sign:
    """Return the paper's sign; ``lead`` > 0: the proposal is better, 0: neither is."""
    if lead == 0 or p_value >= 0.05:
        return "~"
    if p_value < 0.01:
        return "≪" if lead > 0 else "≫"
    return "<" if lead > 0 else ">"


class _PairCounts(NamedTuple):
    """Counts over the known cells, ``(2, n_labels)`` each: baseline first, then proposal."""

    true_positives: Counts
    sizes: Counts  # documents that have the label + documents that were given it
    won: Counts  # decisions that only this system got right


def _count_pair(Y: Any, baseline: Any, proposal: Any) -> _PairCounts:
    labels = read_labels(Y)
    blocks = [read_inputs(labels, decisions=system).block() for system in (baseline, proposal)]
    truth, systems = blocks[0][0], [decided for _, _, decided in blocks]
    counts = [count_decisions(truth, decided) for decided in systems]
    tp, given = _whole([c.hits for c in counts]), _whole([c.decided for c in counts])
    both = _whole(count_decisions(truth, systems[0] * systems[1]).decided)
    # Alone in being right: true positives the other lacks, and false positives only the other has.
    won = (tp - tp[::-1]) + (given[::-1] - both)
    return _PairCounts(tp, given + _whole(counts[0].true), won)


def _whole(counts: Any) -> Counts:
    return np.rint(counts).astype(np.int64)


def _sum_of_f1(tp: Counts, size: Counts) -> Fraction:
    """Exact sum over labels; labels of equal size share a denominator, so there are few of them."""
    sizes, place = np.unique(size, return_inverse=True)
    numerators = np.bincount(place, weights=2.0 * tp, minlength=len(sizes))
    parts = (Fraction(int(a), int(b)) for a, b in zip(numerators, sizes, strict=True) if b)
    return sum(parts, Fraction(0))


def _sign_test(
    test: Literal["s-test", "S-test"], names: tuple[str, str], won: Counts, lead: int | Fraction
) -> SignTest:
    baseline, proposal = check_names(names)
    lost, gained = won.tolist()
    n = lost + gained
    if lead == 0:
        k, p_value, leader = max(lost, gained), 1.0, None
    else:
        k, leader = (gained, proposal) if lead > 0 else (lost, baseline)
        p_value = sign_test_p_value(n, k)
    better = leader if 2 * k > n else None
    sign = sign_of(p_value, lead)
    return SignTest(baseline, proposal, test, n, k, p_value, sign, better, lost, gained)
