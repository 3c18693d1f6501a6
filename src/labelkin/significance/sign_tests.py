"""The paper's sign tests: s-test on decisions (micro), S-test on labels (macro)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_labels

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class SignTest:
    """Result of a sign test between two systems.

    Attributes
    ----------
    baseline, proposal
        The names of the systems.
    test
        ``"s-test"`` (micro) or ``"S-test"`` (macro).
    n
        Units on which the systems differ: decisions that exactly one system got right (s-test),
        labels whose F1 differs (S-test).
    k
        Those in favour of the better system. Equal F1: the larger of the two numbers.
    p_value
        P that a fair coin shows heads at least k times in n throws; 1 for n = 0 and for equal F1.
    sign
        ``≪ <``: the baseline is worse; ``≫ >``: it is better; ``~``: nothing shown.
    better
        The name of the system with the better F1 (micro or macro), ``None`` when equal.
    """

    baseline: str
    proposal: str
    test: Literal["s-test", "S-test"]
    n: int
    k: int
    p_value: float
    sign: Sign
    better: str | None


def micro_sign_test(
    Y: Any, baseline: Any, proposal: Any, names: tuple[str, str] = ("baseline", "proposal")
) -> SignTest:
    """Compare two systems decision by decision: the s-test.

    Parameters
    ----------
    Y
        The truth, anything :func:`labelkin.label_matrix.read_labels` takes; unknown cells (NaN) are
        skipped.
    baseline, proposal
        Decisions of the two systems, 0/1 in any form ``Y`` may have.
    names
        What the record calls the two systems.

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


@dataclass(frozen=True)
class _PairCounts:
    """Counts over the known cells, ``(2, n_labels)`` each: baseline first, then proposal."""

    true_positives: Counts
    sizes: Counts  # documents that have the label + documents that were given it
    won: Counts  # decisions that only this system got right


def _count_pair(Y: Any, baseline: Any, proposal: Any) -> _PairCounts:
    truth: LabelMatrix = read_labels(Y)
    systems = [read_decisions(system, truth) for system in (baseline, proposal)]
    tp = np.array([_per_label(system.multiply(truth.positive)) for system in systems])
    given = np.array([_per_label(system) for system in systems])
    both = _per_label(systems[0].multiply(systems[1]))
    # Alone in being right: true positives the other lacks, and false positives only the other has.
    won = (tp - tp[::-1]) + (given[::-1] - both)
    return _PairCounts(tp, given + _per_label(truth.positive), won)


def _per_label(cells: Any) -> Counts:
    return np.rint(cells.sum(axis=0)).astype(np.int64)


def _sum_of_f1(tp: Counts, size: Counts) -> Fraction:
    """Exact sum over labels; labels of equal size share a denominator, so there are few of them."""
    sizes, place = np.unique(size, return_inverse=True)
    numerators = np.bincount(place, weights=2.0 * tp, minlength=len(sizes))
    parts = (Fraction(int(a), int(b)) for a, b in zip(numerators, sizes, strict=True) if b)
    return sum(parts, Fraction(0))


def _sign_test(
    test: Literal["s-test", "S-test"],
    names: tuple[str, str],
    won: Counts,
    lead: int | Fraction,
) -> SignTest:
    baseline, proposal = check_names(names)
    n = int(won.sum())
    if lead == 0:
        return SignTest(baseline, proposal, test, n, int(won.max()), 1.0, "~", None)
    k, better = (int(won[1]), proposal) if lead > 0 else (int(won[0]), baseline)
    p_value = sign_test_p_value(n, k)
    sign = sign_of(p_value, 1 if lead > 0 else -1)
    return SignTest(baseline, proposal, test, n, k, p_value, sign, better)


Sign = Literal["≪", "<", "~", ">", "≫"]


def read_decisions(decisions: Any, truth: LabelMatrix) -> sparse.csr_array:
    """Return 0/1 decisions in the columns of ``truth``; where truth is unknown they are 0."""
    if (isinstance(decisions, np.ndarray) or sparse.issparse(decisions)) and decisions.ndim == 2:
        check_shape(decisions.shape, truth)
    matrix = read_labels(decisions, names=truth.classes)
    check_shape(matrix.shape, truth)
    if matrix.unknown is not None:
        raise ValueError(
            f"Decisions must be 0 or 1, got {matrix.unknown.nnz} NaN. Only cells of Y may be "
            "unknown: decide these."
        )
    if truth.unknown is None:
        return matrix.positive
    return sparse.csr_array(matrix.positive - matrix.positive.multiply(truth.unknown))


def read_log_odds(log_odds: Any, truth: LabelMatrix) -> NDArray[np.float64]:
    """Return dense log-odds of the shape of ``truth``; NaN is refused."""
    values = np.asarray(log_odds, dtype=np.float64)
    check_shape(values.shape, truth)
    if np.isnan(values).any():
        raise ValueError(
            f"Log-odds must be numbers or ±inf, got {np.isnan(values).sum()} NaN. Score every cell."
        )
    return values


def check_shape(shape: tuple[int, ...], truth: LabelMatrix) -> None:
    """Refuse a system whose shape is not that of the truth."""
    if tuple(shape) != tuple(truth.shape):
        raise ValueError(
            f"A system must have the shape of Y, {truth.shape}, got {tuple(shape)}. "
            "Give both systems for the same documents and labels."
        )


def check_names(names: tuple[str, str]) -> tuple[str, str]:
    """Refuse anything but two different names."""
    if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
        raise ValueError(
            f"names must be two different names, baseline first, got {names!r}. "
            'Write names=("SVM", "SVM + labels").'
        )
    return names[0], names[1]


def sign_of(p_value: float, lead: float) -> Sign:
    """Return the paper's sign; ``lead`` > 0: the proposal is better, 0: neither is."""
    if lead == 0 or p_value >= 0.05:
        return "~"
    if p_value < 0.01:
        return "≪" if lead > 0 else "≫"
    return "<" if lead > 0 else ">"
