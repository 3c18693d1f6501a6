"""Sign tests and the bootstrap against SciPy, scikit-learn, enumeration and normal theory."""

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import binom, norm
from sklearn import metrics as sklearn_metrics

from labelkin.label_matrix import read_labels
from labelkin.significance import (
    SUMMED_METRICS,
    SummedMetric,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
    sign_test_p_value,
)

MIRROR = {"≪": "≫", "<": ">", "~": "~", ">": "<", "≫": "≪"}
SIGN_TESTS = {"s-test": micro_sign_test, "S-test": macro_sign_test}

worlds = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(*[arrays(np.int8, shape, elements=st.integers(0, 1))] * 3)
)


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


def two_systems(n, p, seed=0, gain=0.3):
    """Truth, log-odds of two systems (the second a little better), and their decisions."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(int)
    noise = rng.normal(size=(n, p))
    log_odds = [noise + s * (2 * Y - 1) for s in (0.7, 0.7 + gain)]
    return Y, log_odds, [(scores > 0).astype(int) for scores in log_odds]


@pytest.mark.parametrize("n", range(13))
def test_up_to_twelve_units_p_is_the_exact_binomial_tail(n):
    for k in range(n + 1):
        assert sign_test_p_value(n, k) == pytest.approx(binom.sf(k - 1, n, 0.5), rel=1e-12)


@pytest.mark.parametrize("n", [13, 14, 50, 1000, 10**6])
def test_above_twelve_units_p_is_the_normal_tail(n):
    for k in (0, n // 3, n // 2, n // 2 + 3, n):
        expected = norm.sf((k - n / 2) / (np.sqrt(n) / 2))
        assert sign_test_p_value(n, k) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "k", "p_value"),
    [
        (10, 8, 0.0546875),
        (12, 10, 0.019287109375),
        (13, 10, 0.026101818),
        (90, 60, 0.000782701),
        (0, 0, 1.0),
    ],
)
def test_check_values_of_the_sign_test(n, k, p_value):
    assert sign_test_p_value(n, k) == pytest.approx(p_value, abs=5e-10)


@pytest.mark.parametrize(("n", "k"), [(3, 4), (3, -1), (-1, 0)])
def test_impossible_counts_are_refused(n, k):
    with pytest.raises(ValueError, match=f"k must be from 0 to n, got n={n}, k={k}"):
        sign_test_p_value(n, k)


@pytest.mark.parametrize("test", SIGN_TESTS)
@given(world=worlds)
@settings(max_examples=40, deadline=None)
def test_sign_tests_count_what_enumeration_counts(test, world):
    result = SIGN_TESTS[test](*world)
    n, k, better = expected_record(test, *world)
    assert (result.test, result.n, result.k, result.better) == (test, n, k, better)
    assert result.p_value == (1.0 if better is None else sign_test_p_value(n, k))


@pytest.mark.parametrize("test", SIGN_TESTS)
@given(world=worlds)
@settings(max_examples=40, deadline=None)
def test_swapping_the_systems_mirrors_the_sign_and_nothing_else(test, world):
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
@pytest.mark.parametrize(("n_labels", "sign"), [(1, "~"), (5, "<"), (7, "≪")])
def test_a_useless_baseline_gets_the_sign_that_says_it_is_worse(test, n_labels, sign):
    """Four documents; the baseline gives nothing, the proposal the one true document per label."""
    Y = np.zeros((4, n_labels))
    Y[0] = 1
    result = SIGN_TESTS[test](Y, np.zeros_like(Y), Y, names=("nothing", "truth"))
    assert (result.baseline, result.proposal, result.better) == ("nothing", "truth", "truth")
    assert (result.n, result.k, result.sign) == (n_labels, n_labels, sign)
    assert result.p_value == 0.5**n_labels


@pytest.mark.parametrize("test", SIGN_TESTS)
@pytest.mark.parametrize(
    ("n", "k", "sign"),
    [(10, 8, "~"), (12, 10, "<"), (13, 10, "<"), (50, 30, "~"), (50, 31, "<"), (90, 60, "≪")],
)
def test_signs_change_at_one_and_five_percent(test, n, k, sign):
    """One document with n labels: the proposal finds k of them, the baseline the others."""
    Y = np.ones((1, n))
    proposal = (np.arange(n) < k)[np.newaxis].astype(int)
    result = SIGN_TESTS[test](Y, 1 - proposal, proposal)
    assert (result.n, result.k, result.sign) == (n, k, sign)


def test_the_better_f1_gives_the_direction_even_where_it_wins_fewer_decisions():
    """The s-test counts true negatives, F1 does not."""
    Y = np.array([[1, 0, 0, 0, 0]] * 4)
    nothing = np.zeros((4, 5))
    eager = np.ones((4, 5))
    result = micro_sign_test(Y, nothing, eager)
    assert (result.n, result.k, result.better, result.sign) == (20, 4, "proposal", "~")
    assert result.p_value > 0.99


def test_equal_f1_shows_nothing():
    Y = np.array([[1, 1], [1, 1], [0, 0], [0, 0]])
    left, right = Y * [1, 0], Y * [0, 1]
    for test in SIGN_TESTS.values():
        result = test(Y, left, right)
        assert (result.sign, result.better, result.p_value) == ("~", None, 1.0)


def test_macro_f1_that_is_equal_only_as_fractions_is_equal():
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
def test_unknown_cells_are_skipped(test):
    Y, _, (B, P) = two_systems(40, 4)
    hidden = Y.astype(float)
    hidden[30:] = np.nan
    assert SIGN_TESTS[test](hidden, B, P) == SIGN_TESTS[test](Y[:30], B[:30], P[:30])


@pytest.mark.parametrize("test", SIGN_TESTS)
def test_any_form_of_labels_gives_the_same_record(test):
    Y, _, (B, P) = two_systems(30, 4)
    names = np.array(["a", "b", "c", "d"])
    expected = SIGN_TESTS[test](Y, B, P)
    label_sets = [[names[row == 1].tolist() for row in D] for D in (Y, B, P)]
    assert SIGN_TESTS[test](*label_sets) == expected
    assert SIGN_TESTS[test](*map(sparse.csc_array, (Y, B, P))) == expected
    assert SIGN_TESTS[test](label_sets[0], B.astype(bool), sparse.csr_array(P)) == expected


def test_sign_tests_take_one_dimensional_classes():
    y = np.array(["a", "b", "c", "b"])
    result = micro_sign_test(y, np.array(["a", "a", "a", "a"]), y)
    assert (result.n, result.k, result.better) == (6, 6, "proposal")


def test_decisions_that_do_not_fit_are_refused():
    Y = np.eye(4)
    with pytest.raises(ValueError, match=r"shape of Y, \(4, 4\), got \(3, 4\)"):
        micro_sign_test(Y, Y, Y[:3])
    with pytest.raises(ValueError, match=r"must be 0 or 1, got 1 NaN"):
        micro_sign_test(Y, Y, np.where(np.arange(16).reshape(4, 4) == 5, np.nan, Y))
    with pytest.raises(ValueError, match=r"two different names, baseline first, got \('a', 'a'\)"):
        micro_sign_test(Y, Y, Y, names=("a", "a"))


SKLEARN = {
    "micro_f1": partial(sklearn_metrics.f1_score, average="micro", zero_division=0),
    "macro_f1": partial(sklearn_metrics.f1_score, average="macro", zero_division=0),
    "hamming_loss": sklearn_metrics.hamming_loss,
    "subset_loss": sklearn_metrics.zero_one_loss,
}


@pytest.mark.parametrize("name", SKLEARN)
@given(world=worlds.filter(lambda world: world[0].shape[1] > 1))
@settings(max_examples=25, deadline=None)
def test_summed_metrics_equal_scikit_learn(name, world):
    Y, D, _ = world
    assert SUMMED_METRICS[name](Y, D) == pytest.approx(SKLEARN[name](Y, D), abs=1e-12)


def test_one_error_gives_ties_to_the_lowest_column_and_counts_empty_label_sets_as_errors():
    Y = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0]]
    log_odds = [[2.0, 1.0, 0.0], [3.0, 3.0, 1.0], [-np.inf, np.inf, 0.0], [0.0, 0.0, 0.0]]
    assert SUMMED_METRICS["one_error"](Y, log_odds) == 0.5


def test_cell_wise_summed_metrics_skip_unknown_cells_and_set_wise_ones_refuse_them():
    Y, log_odds, (D, _) = two_systems(30, 4)
    hidden = Y.astype(float)
    hidden[20:] = np.nan
    for name in ("micro_f1", "macro_f1", "hamming_loss"):
        assert SUMMED_METRICS[name](hidden, D) == SUMMED_METRICS[name](Y[:20], D[:20])
    with pytest.raises(ValueError, match=r"subset_loss needs whole label sets, got 40 unknown"):
        SUMMED_METRICS["subset_loss"](hidden, D)
    with pytest.raises(ValueError, match=r"one_error needs whole label sets, got 40 unknown"):
        SUMMED_METRICS["one_error"](hidden, log_odds[0])


@pytest.mark.parametrize("name", SKLEARN)
def test_sums_weights_and_rows_score_the_same_draws(name):
    Y, _, (B, P) = two_systems(60, 4)

    def by_rows(Y, D):
        return SKLEARN[name](Y, D)

    settings = {"n_draws": 20, "random_state": 3, "greater_is_better": name.endswith("f1")}
    records = [
        paired_bootstrap(Y, B, P, metric, **settings)
        for metric in (SUMMED_METRICS[name], SKLEARN[name], by_rows)
    ]
    for record in records[1:]:
        assert (record.k, record.sign) == (records[0].k, records[0].sign)
        values = [(r.difference, r.low, r.high) for r in (record, records[0])]
        np.testing.assert_allclose(*values, atol=1e-12)


def test_the_interval_of_a_mean_is_that_of_normal_theory():
    n = 2000
    _, log_odds, _ = two_systems(n, 1, gain=0.0)
    baseline = log_odds[0]
    proposal = baseline + np.random.default_rng(1).exponential(0.1, size=(n, 1)) - 0.097
    shift = (proposal - baseline).ravel()

    def mean(_, scores, sample_weight):
        return float(np.average(scores.ravel(), weights=sample_weight))

    result = paired_bootstrap(
        baseline, baseline, proposal, mean, n_draws=2000, confidence=0.9, random_state=0
    )
    error = shift.std() / np.sqrt(n)
    assert result.difference == pytest.approx(shift.mean())
    assert result.low == pytest.approx(shift.mean() - norm.ppf(0.95) * error, abs=0.15 * error)
    assert result.high == pytest.approx(shift.mean() + norm.ppf(0.95) * error, abs=0.15 * error)
    expected = norm.sf(abs(shift.mean()) / error)
    assert result.p_value == pytest.approx(expected, abs=0.03)


def test_p_counts_the_draws_that_are_not_better_plus_one():
    """Two documents, the proposal wins one and ties on one: a quarter of the draws show nothing."""
    Y, nothing = np.eye(2), np.zeros((2, 2))
    proposal = np.array([[1, 0], [0, 0]])
    result = paired_bootstrap(Y, nothing, proposal, "subset_loss", n_draws=4000, random_state=0)
    assert result.p_value == (4000 - result.k + 1) / 4001
    assert result.k / 4000 == pytest.approx(0.75, abs=0.03)
    assert (result.difference, result.low, result.high) == (-0.5, -1.0, 0.0)
    assert (result.n, result.n_draws, result.better, result.sign) == (2, 4000, "proposal", "~")


@pytest.mark.parametrize("name", SUMMED_METRICS)
def test_swapping_the_systems_mirrors_the_bootstrap(name):
    Y, log_odds, decisions = two_systems(150, 5)
    systems = log_odds if name == "one_error" else decisions
    settings = {"n_draws": 200, "random_state": 0}
    one = paired_bootstrap(Y, *systems, name, names=("b", "p"), **settings)
    other = paired_bootstrap(Y, *systems[::-1], name, names=("p", "b"), **settings)
    assert one.sign in "≪<"
    assert other.sign == MIRROR[one.sign]
    assert (other.k, other.p_value, other.better) == (one.k, one.p_value, "p")
    mirrored = (-one.difference, -one.high, -one.low)
    np.testing.assert_allclose((other.difference, other.low, other.high), mirrored)


def test_a_loss_given_as_a_function_needs_to_be_called_one():
    def loss(Y, D, sample_weight):
        return np.average((Y != D).mean(axis=1), weights=sample_weight)

    Y, _, decisions = two_systems(150, 5)
    run = partial(paired_bootstrap, Y, *decisions, loss, n_draws=200, random_state=0)
    assert (run().sign, run(greater_is_better=False).sign) == ("≫", "≪")


def test_equal_systems_show_nothing():
    Y, _, (B, _) = two_systems(20, 3)
    result = paired_bootstrap(Y, B, B, "micro_f1", n_draws=50, random_state=0)
    assert (result.k, result.p_value, result.sign, result.better) == (0, 1.0, "~", None)
    assert (result.difference, result.low, result.high) == (0.0, 0.0, 0.0)


def test_a_difference_by_rounding_alone_is_none():
    def sum_of_tenths(_, order):
        return sum(np.array([0.1, 0.2, 0.3])[order[0]])

    one, other = np.array([[0, 1, 2]]), np.array([[2, 1, 0]])
    assert sum([0.1, 0.2, 0.3]) != sum([0.3, 0.2, 0.1])
    result = paired_bootstrap(one, one, other, sum_of_tenths, n_draws=5)
    assert (result.difference, result.k, result.better) == (0.0, 0, None)


def test_the_same_seed_gives_the_same_record_and_another_seed_another():
    Y, _, decisions = two_systems(80, 4)
    run = partial(paired_bootstrap, Y, *decisions, "micro_f1", n_draws=100)
    assert run(random_state=5) == run(random_state=5)
    assert run(random_state=5) != run(random_state=6)


def test_the_interval_of_a_single_draw_is_that_draw():
    Y, _, decisions = two_systems(80, 4)
    result = paired_bootstrap(Y, *decisions, "micro_f1", n_draws=1, random_state=0)
    assert result.low == result.high != result.difference


def test_draws_in_blocks_are_the_draws_at_once(monkeypatch):
    Y, _, decisions = two_systems(80, 4)
    run = partial(paired_bootstrap, Y, *decisions, "macro_f1", n_draws=50, random_state=0)
    at_once = run()
    monkeypatch.setattr("labelkin.significance.bootstrap.BLOCK_CELLS", 500)
    assert run() == at_once


@pytest.mark.parametrize(
    "form",
    [sparse.coo_array, pd.DataFrame, pl.DataFrame, np.ndarray.tolist, read_labels],
    ids=["sparse", "pandas", "polars", "lists", "label matrix"],
)
def test_rows_of_any_form_are_drawn(form):
    Y, _, (B, P) = two_systems(25, 3)

    def micro_f1(Y, D):
        return SUMMED_METRICS["micro_f1"](Y, D)

    run = partial(paired_bootstrap, metric=micro_f1, n_draws=20, random_state=0)
    assert run(form(Y), form(B), form(P)) == run(Y, B, P)


def test_a_metric_of_ones_own_can_be_summed():
    def top_is_right(Y, log_odds):
        right = Y[np.arange(len(Y)), log_odds.argmax(axis=1)]
        return np.column_stack([right, np.ones(len(Y))])

    Y, log_odds, _ = two_systems(100, 4)
    precision = SummedMetric("precision at 1", top_is_right, lambda sums: sums[:, 0] / sums[:, 1])
    run = partial(paired_bootstrap, Y, *log_odds, n_draws=100, random_state=0)
    own, ready = run(precision), run("one_error")
    assert own.difference == pytest.approx(-ready.difference)
    assert (own.metric, own.k, own.sign, own.better) == (
        "precision at 1",
        ready.k,
        ready.sign,
        ready.better,
    )


def test_inputs_are_not_modified():
    Y, _, (B, P) = two_systems(20, 3)
    before = [x.copy() for x in (Y, B, P)]
    micro_sign_test(Y, B, P)
    macro_sign_test(Y, B, P)
    paired_bootstrap(Y, B, P, "macro_f1", n_draws=5)
    for x, y in zip((Y, B, P), before, strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_cannot_be_bootstrapped_is_refused():
    Y = np.eye(3)
    with pytest.raises(ValueError, match=r"one of \['hamming_loss', .*got 'auc'"):
        paired_bootstrap(Y, Y, Y, "auc")
    with pytest.raises(ValueError, match=r"same documents, at least one, got 3, 3 and 2 rows"):
        paired_bootstrap(Y, Y, Y[:2], "micro_f1")
    with pytest.raises(ValueError, match=r"at least one, got 0, 0 and 0 rows"):
        paired_bootstrap(Y[:0], Y[:0], Y[:0], "micro_f1")
    with pytest.raises(ValueError, match=r"n_draws must be at least 1, got 0"):
        paired_bootstrap(Y, Y, Y, "micro_f1", n_draws=0)
    with pytest.raises(ValueError, match=r"confidence must lie between 0 and 1, got 95"):
        paired_bootstrap(Y, Y, Y, "micro_f1", confidence=95)
    with pytest.raises(ValueError, match=r"finite number for every draw.*infinity in 6 of 6"):
        paired_bootstrap(Y, Y, Y, lambda Y, D: np.nan, n_draws=5)
    with pytest.raises(ValueError, match=r"shape of Y, \(3, 3\), got \(3, 2\)"):
        paired_bootstrap(Y, Y[:, :2], Y, "micro_f1")
    with pytest.raises(ValueError, match=r"Log-odds must be numbers or ±inf, got 9 NaN"):
        paired_bootstrap(Y, Y * np.nan, Y, "one_error")
