"""The paired bootstrap against scikit-learn, normal theory and drawing row by row."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from significance_worlds import two_systems
from sklearn import metrics as sklearn_metrics

from labelkin.evaluation import metrics
from labelkin.evaluation.significance import (
    SUMMED_METRICS,
    SummedMetric,
    paired_bootstrap,
)

SKLEARN = {
    "micro_f1": partial(sklearn_metrics.f1_score, average="micro", zero_division=0),
    "macro_f1": partial(sklearn_metrics.f1_score, average="macro", zero_division=0),
    "hamming_loss": sklearn_metrics.hamming_loss,
    "subset_loss": sklearn_metrics.zero_one_loss,
}


@pytest.mark.parametrize("name", SUMMED_METRICS)
def test_summed_metrics_equal_metric_functions(name):
    Y, log_odds, (D, _) = two_systems(40, 5)
    system = log_odds[0] if name == "one_error" else D
    assert SUMMED_METRICS[name](Y, system) == pytest.approx(getattr(metrics, name)(Y, system))
    hidden = Y.astype(float)
    hidden[::3], hidden[:, 2] = np.nan, np.nan  # of label 2 nothing is known
    if name in ("micro_f1", "macro_f1", "hamming_loss"):
        expected = getattr(metrics, name)(hidden, system)
        assert SUMMED_METRICS[name](hidden, system) == pytest.approx(expected)


@pytest.mark.parametrize("name", SKLEARN)
def test_bootstrap_equals_scikit_learn_on_drawn_documents(name):
    Y, _, (B, P) = two_systems(60, 4)
    found = paired_bootstrap(Y, B, P, name, n_draws=20, random_state=3)
    draw = np.random.RandomState(3)
    drawn = [draw.randint(60, size=60) for _ in range(20)]
    differences = [SKLEARN[name](Y[i], P[i]) - SKLEARN[name](Y[i], B[i]) for i in drawn]
    low, high = np.quantile(differences, [0.025, 0.975])
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=1e-12)
    sign = 1 if found.better == "proposal" else -1
    gains = np.array(differences) * (1 if name.endswith("f1") else -1) * sign
    assert found.k == (gains > 1e-12).sum()


def of_means(values):
    """Return a metric: the mean over documents of a column of numbers."""
    return SummedMetric(
        "mean",
        lambda _, column: np.column_stack([values(column), np.ones(len(column))]),
        lambda sums: sums[:, 0] / sums[:, 1],
    )


def test_interval_of_mean_equals_normal_theory():
    n = 2000
    _, log_odds, _ = two_systems(n, 1, gain=0.0)
    baseline = log_odds[0]
    proposal = baseline + np.random.default_rng(1).exponential(0.1, size=(n, 1)) - 0.097
    shift = (proposal - baseline).ravel()

    mean = of_means(np.ravel)
    result = paired_bootstrap(baseline, baseline, proposal, mean, n_draws=2000, random_state=0)
    error = shift.std() / np.sqrt(n)
    assert result.difference == pytest.approx(shift.mean())
    assert result.low == pytest.approx(shift.mean() - norm.ppf(0.975) * error, abs=0.15 * error)
    assert result.high == pytest.approx(shift.mean() + norm.ppf(0.975) * error, abs=0.15 * error)
    expected = norm.sf(abs(shift.mean()) / error)
    assert result.p_value == pytest.approx(expected, abs=0.03)


def test_p_value_counts_draws_that_are_not_better():
    """Of two documents the proposal wins one: a quarter of the draws show no difference."""
    Y, nothing = np.eye(2), np.zeros((2, 2))
    proposal = np.array([[1, 0], [0, 0]])
    result = paired_bootstrap(Y, nothing, proposal, "subset_loss", n_draws=4000, random_state=0)
    assert result.p_value == (4000 - result.k + 1) / 4001
    assert result.k / 4000 == pytest.approx(0.75, abs=0.03)
    assert (result.difference, result.low, result.high) == (-0.5, -1.0, 0.0)
    assert (result.n, result.n_draws, result.better, result.sign) == (2, 4000, "proposal", "~")


def test_greater_is_better_decides_sign():
    Y, _, decisions = two_systems(150, 5)
    loss = SUMMED_METRICS["hamming_loss"]
    for metric, sign in ((loss, "≪"), (replace(loss, greater_is_better=True), "≫")):
        found = paired_bootstrap(Y, *decisions, metric, n_draws=200, random_state=0)
        assert found.sign == sign


def test_rounding_is_no_difference():
    one, other = np.array([[0.1, 0.2, 0.3]]), np.array([[0.3, 0.2, 0.1]])
    sum_of_tenths = of_means(lambda rows: rows[:, 0] + rows[:, 1] + rows[:, 2])
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    result = paired_bootstrap(one, one, other, sum_of_tenths, n_draws=5)
    assert (result.difference, result.k, result.better) == (0.0, 0, None)


def test_custom_summed_metric():
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


def test_invalid_input_raises():
    Y = np.eye(3)
    with pytest.raises(ValueError, match=r"metric must be one of .*'hamming_loss', .*got 'auc'"):
        paired_bootstrap(Y, Y, Y, "auc")
    with pytest.raises(ValueError, match=r"same documents, at least one, got 3, 3 and 2 rows"):
        paired_bootstrap(Y, Y, Y[:2], "micro_f1")
    with pytest.raises(ValueError, match=r"at least one, got 0, 0 and 0 rows"):
        paired_bootstrap(Y[:0], Y[:0], Y[:0], "micro_f1")
    with pytest.raises(ValueError, match=r"n_draws must be at least 1, got 0"):
        paired_bootstrap(Y, Y, Y, "micro_f1", n_draws=0)
    with pytest.raises(ValueError, match=r"finite number for every draw.*infinity in 6 of 6"):
        paired_bootstrap(Y, Y, Y, of_means(lambda rows: rows[:, 0] * np.nan), n_draws=5)
    with pytest.raises(ValueError, match=r"got shape \(3, 2\) and Y of shape \(3, 3\)"):
        paired_bootstrap(Y, Y[:, :2], Y, "micro_f1")
    with pytest.raises(
        ValueError, match=r"log_odds must be numbers, got NaN at .* \(9 such cells\)"
    ):
        paired_bootstrap(Y, Y * np.nan, Y, "one_error")
