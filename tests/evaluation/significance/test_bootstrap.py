"""The paired bootstrap against scikit-learn, normal theory and drawing row by row."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import norm
from significance_worlds import MIRROR, two_systems, worlds
from sklearn import metrics as sklearn_metrics

from labelkin.evaluation import metrics
from labelkin.evaluation.metrics.inputs import greater_is_better
from labelkin.evaluation.significance import (
    SUMMED_METRICS,
    SummedMetric,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)

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


@pytest.mark.parametrize("name", SUMMED_METRICS)
def test_summed_metrics_are_those_of_the_function_of_their_name(name):
    Y, log_odds, (D, _) = two_systems(40, 5)
    system = log_odds[0] if name == "one_error" else D
    assert SUMMED_METRICS[name](Y, system) == pytest.approx(getattr(metrics, name)(Y, system))
    hidden = Y.astype(float)
    hidden[::3], hidden[:, 2] = np.nan, np.nan  # of label 2 nothing is known
    if name in ("micro_f1", "macro_f1", "hamming_loss"):
        expected = getattr(metrics, name)(hidden, system)
        assert SUMMED_METRICS[name](hidden, system) == pytest.approx(expected)


def test_one_error_gives_ties_to_the_lowest_column_and_leaves_out_empty_label_sets():
    Y = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0]]
    log_odds = [[2.0, 1.0, 0.0], [3.0, 3.0, 1.0], [-np.inf, np.inf, 0.0], [0.0, 0.0, 0.0]]
    assert SUMMED_METRICS["one_error"](Y, log_odds) == pytest.approx(1 / 3)


def test_cell_wise_summed_metrics_skip_unknown_cells_and_set_wise_ones_raise():
    Y, log_odds, (D, _) = two_systems(30, 4)
    hidden = Y.astype(float)
    hidden[20:] = np.nan
    for name in ("micro_f1", "macro_f1", "hamming_loss"):
        assert SUMMED_METRICS[name](hidden, D) == SUMMED_METRICS[name](Y[:20], D[:20])
    with pytest.raises(ValueError, match=r"subset_loss needs every label .* got 40 unknown"):
        SUMMED_METRICS["subset_loss"](hidden, D)
    with pytest.raises(ValueError, match=r"one_error needs every label .* got 40 unknown"):
        SUMMED_METRICS["one_error"](hidden, log_odds[0])


@pytest.mark.parametrize("name", SKLEARN)
def test_sums_and_weights_score_the_same_draws(name):
    Y, _, (B, P) = two_systems(60, 4)
    settings = {"n_draws": 20, "random_state": 3, "greater_is_better": name.endswith("f1")}
    records = [
        paired_bootstrap(Y, B, P, metric, **settings)
        for metric in (SUMMED_METRICS[name], SKLEARN[name])
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
        baseline,
        baseline,
        proposal,
        mean,
        n_draws=2000,
        confidence=0.9,
        random_state=0,
        greater_is_better=True,
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


def test_stated_direction_decides_which_system_is_better():
    def loss(Y, D, sample_weight):
        return np.average((Y != D).mean(axis=1), weights=sample_weight)

    Y, _, decisions = two_systems(150, 5)
    run = partial(paired_bootstrap, Y, *decisions, loss, n_draws=200, random_state=0)
    signs = run(greater_is_better=True).sign, run(greater_is_better=False).sign
    assert signs == ("≫", "≪")


def test_equal_systems_show_nothing():
    Y, _, (B, _) = two_systems(20, 3)
    result = paired_bootstrap(Y, B, B, "micro_f1", n_draws=50, random_state=0)
    assert (result.k, result.p_value, result.sign, result.better) == (0, 1.0, "~", None)
    assert (result.difference, result.low, result.high) == (0.0, 0.0, 0.0)


def test_a_difference_by_rounding_alone_is_none():
    def sum_of_tenths(_, order, sample_weight):
        first, second, third = np.array([0.1, 0.2, 0.3])[order[0]]
        return first + second + third  # from Python 3.12 on, sum() hardly rounds

    one, other = np.array([[0, 1, 2]]), np.array([[2, 1, 0]])
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    result = paired_bootstrap(one, one, other, sum_of_tenths, n_draws=5, greater_is_better=True)
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
    monkeypatch.setattr("labelkin.evaluation.significance._BLOCK_CELLS", 500)
    assert run() == at_once


def test_a_metric_of_ones_own_can_be_summed():
    def top_is_right(Y, log_odds):
        right = Y[np.arange(len(Y)), log_odds.argmax(axis=1)]
        return np.column_stack([right, Y.any(axis=1)])

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


def metric_of_nan(Y, D, sample_weight):
    return np.nan


def test_what_cannot_be_bootstrapped_is_an_error():
    Y = np.eye(3)
    with pytest.raises(ValueError, match=r"metric must be one of .*'hamming_loss', .*got 'auc'"):
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
        paired_bootstrap(
            Y, Y, Y, lambda Y, D, sample_weight: np.nan, n_draws=5, greater_is_better=True
        )
    with pytest.raises(ValueError, match=r"got shape \(3, 2\) and Y of shape \(3, 3\)"):
        paired_bootstrap(Y, Y[:, :2], Y, "micro_f1")
    with pytest.raises(
        ValueError, match=r"log_odds must be numbers, got NaN at .* \(9 such cells\)"
    ):
        paired_bootstrap(Y, Y * np.nan, Y, "one_error")


@pytest.mark.parametrize(
    "metric",
    [
        metrics.hamming_loss,
        metrics.subset_loss,
        sklearn_metrics.hamming_loss,
        sklearn_metrics.zero_one_loss,
        metrics.micro_f1,
        partial(sklearn_metrics.f1_score, average="micro", zero_division=0),
        "hamming_loss",
        "zero_one_loss",
        "f1_micro",
        "f1_macro",
    ],
)
def test_direction_of_known_metrics_needs_no_argument(metric):
    Y = np.eye(6, dtype=int)
    result = paired_bootstrap(Y, np.zeros_like(Y), Y, metric, n_draws=20, random_state=0)
    assert result.better == "proposal"


def test_unknown_callable_must_state_its_direction():
    Y = np.eye(3, dtype=int)

    def cost(Y, D, sample_weight=None):
        return float(np.sum(Y != D))

    with pytest.raises(
        ValueError, match=r"direction of the metric 'cost' is unknown. Pass greater"
    ):
        paired_bootstrap(Y, 1 - Y, Y, cost, n_draws=5)
    found = paired_bootstrap(Y, 1 - Y, Y, cost, n_draws=5, greater_is_better=False)
    assert found.better == "proposal"


def test_deviance_of_scikit_learn_is_a_loss():
    assert not greater_is_better(sklearn_metrics.mean_poisson_deviance)


def test_direction_of_every_exported_metric_is_the_one_of_a_better_system():
    """Perfect scores against inverted ones: every metric function must favour the first."""
    Y = np.tile(np.eye(4, dtype=int), (3, 1))
    perfect = 4.0 * (2 * Y - 1)
    for name in ("one_error", "coverage", "ranking_loss", "log_loss", "brier_score",
                 "label_ranking_average_precision", "expected_calibration_error"):  # fmt: skip
        metric = getattr(metrics, name)
        better = metric(Y, perfect) > metric(Y, -perfect)
        assert greater_is_better(metric) == better, name
