"""Sign tests against SciPy, enumeration and normal theory."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import binom, norm
from significance_worlds import MIRROR, two_systems, worlds
from sklearn import metrics as sklearn_metrics

from labelkin.evaluation.significance import macro_sign_test, micro_sign_test, sign_test_p_value

SIGN_TESTS = {"s-test": micro_sign_test, "S-test": macro_sign_test}


def f1(truth, decisions):
    """F1 of a list of cells as a fraction; 0/0 is 0."""
    wrong = sum(t != d for t, d in zip(truth, decisions, strict=True))
    right = sum(t == d == 1 for t, d in zip(truth, decisions, strict=True))
    return Fraction(2 * right, 2 * right + wrong) if right + wrong else Fraction(0)


def expected_record(test, Y, B, P):
    """n, k of the better system, which system that is: cell by cell, label by label."""
    if test == "s-test":
        cells = list(zip(Y.ravel(), B.ravel(), P.ravel(), strict=True))
        wins = [sum(b == y != p for y, b, p in cells), sum(p == y != b for y, b, p in cells)]
        scores = f1(Y.ravel(), B.ravel()), f1(Y.ravel(), P.ravel())
    else:
        pairs = [(f1(y, b), f1(y, p)) for y, b, p in zip(Y.T, B.T, P.T, strict=True)]
        wins = [sum(b > p for b, p in pairs), sum(p > b for b, p in pairs)]
        scores = sum(b for b, _ in pairs), sum(p for _, p in pairs)
    if scores[0] == scores[1]:
        return sum(wins), max(wins), None
    best = int(scores[1] > scores[0])
    return sum(wins), wins[best], ("baseline", "proposal")[best]


def test_p_value_of_few_units_is_binomial():
    for k, n in combinations_with_replacement(range(13), 2):
        assert sign_test_p_value(n, k) == pytest.approx(binom.sf(k - 1, n, 0.5), rel=1e-12)


@pytest.mark.parametrize("n", [13, 50, 10**6])
def test_p_value_of_many_units_is_normal(n):
    for k in (0, n // 3, n // 2, n // 2 + 3, n):
        expected = norm.sf((k - n / 2) / (np.sqrt(n) / 2))
        assert sign_test_p_value(n, k) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("test", SIGN_TESTS)
@given(world=worlds)
@settings(max_examples=25, deadline=None)
def test_counts_equal_enumeration(test, world):
    result = SIGN_TESTS[test](*world)
    n, k, better = expected_record(test, *world)
    wins_more = better if 2 * k > n else None
    assert (result.test, result.n, result.k, result.better) == (test, n, k, wins_more)
    assert result.baseline_wins + result.proposal_wins == n
    wins = {"baseline": result.baseline_wins, "proposal": result.proposal_wins}
    assert k == (max(wins.values()) if better is None else wins[better])
    assert result.p_value == (1.0 if better is None else sign_test_p_value(n, k))


@pytest.mark.parametrize("test", SIGN_TESTS)
@given(world=worlds)
@settings(max_examples=10, deadline=None)
def test_swapped_systems_mirror_sign(test, world):
    Y, B, P = world
    one = SIGN_TESTS[test](Y, B, P, names=("b", "p"))
    other = SIGN_TESTS[test](Y, P, B, names=("p", "b"))
    assert other.sign == MIRROR[one.sign]
    assert (other.n, other.k, other.p_value, other.better) == (
        one.n,
        one.k,
        one.p_value,
        one.better,
    )


@pytest.mark.parametrize("test", SIGN_TESTS)
@pytest.mark.parametrize(
    ("n", "k", "sign"),
    [(10, 8, "~"), (12, 10, "<"), (13, 10, "<"), (50, 30, "~"), (50, 31, "<"), (90, 60, "≪")],
)
def test_sign_changes_at_one_and_five_percent(test, n, k, sign):
    """One document with n labels: the proposal finds k of them, the baseline the others."""
    Y = np.ones((1, n))
    proposal = (np.arange(n) < k)[np.newaxis].astype(int)
    result = SIGN_TESTS[test](Y, 1 - proposal, proposal)
    assert (result.n, result.k, result.sign) == (n, k, sign)


def test_better_f1_with_fewer_wins_is_not_better():
    """The s-test counts true negatives, F1 does not."""
    Y = np.array([[1, 0, 0, 0, 0]] * 4)
    nothing = np.zeros((4, 5))
    eager = np.ones((4, 5))
    result = micro_sign_test(Y, nothing, eager)
    assert (result.n, result.k, result.better, result.sign) == (20, 4, None, "~")
    assert (result.baseline_wins, result.proposal_wins) == (16, 4)
    assert result.p_value > 0.99


def test_equal_macro_f1_with_rounding_is_equal():
    """1/5 + 2/5 = 1/3 + 4/15 + 0 in fractions; sums of floats differ in the last place."""
    Y = np.zeros((14, 3), dtype=int)
    baseline, proposal = np.zeros_like(Y), np.zeros_like(Y)
    Y[0], baseline[0], proposal[0] = 1, [1, 1, 0], [1, 1, 0]
    baseline[1:9, 0], baseline[1:4, 1] = 1, 1  # F1 2/10, 2/5, 0
    proposal[1:5, 0] = 1  # 2/6
    Y[1, 1], proposal[:2, 1], proposal[2:13, 1] = 1, 1, 1  # 4/15
    baseline[1, 1], baseline[4:8, 1] = 1, 1  # 4/10
    floats = [
        sklearn_metrics.f1_score(Y, d, average=None, zero_division=0) for d in (baseline, proposal)
    ]
    np.testing.assert_allclose(floats, [[1 / 5, 2 / 5, 0], [1 / 3, 4 / 15, 0]])
    result = macro_sign_test(Y, baseline, proposal)
    assert (result.better, result.sign, result.n, result.k) == (None, "~", 2, 1)


@pytest.mark.parametrize("test", SIGN_TESTS)
def test_unknown_cells_are_ignored(test):
    Y, _, (B, P) = two_systems(40, 4)
    hidden = Y.astype(float)
    hidden[30:] = np.nan
    assert SIGN_TESTS[test](hidden, B, P) == SIGN_TESTS[test](Y[:30], B[:30], P[:30])


def test_invalid_decisions_raise():
    Y = np.eye(4)
    with pytest.raises(ValueError, match=r"got shape \(3, 4\) and Y of shape \(4, 4\)"):
        micro_sign_test(Y, Y, Y[:3])
    with pytest.raises(ValueError, match=r"must be 0 or 1, got NaN at document 1, label 1 \(1 "):
        micro_sign_test(Y, Y, np.where(np.arange(16).reshape(4, 4) == 5, np.nan, Y))
    with pytest.raises(ValueError, match=r"two different names, baseline first, got \('a', 'a'\)"):
        micro_sign_test(Y, Y, Y, names=("a", "a"))
