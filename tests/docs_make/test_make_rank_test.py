"""Friedman, Nemenyi and Holm against Demšar's worked example and tables."""

import numpy as np
import pytest
from docs.make.rank_test import rank_test
from scipy import stats

# Demšar (2006), table 6: AUC of C4.5 and three variants on 14 data sets.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def test_demsars_worked_example():
    test = rank_test(AUC, NAMES)
    np.testing.assert_allclose(test.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=0.0005)
    assert test.statistic == pytest.approx(3.69, abs=0.01)  # F_F
    assert test.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    raw = 2 * stats.norm.sf(abs(3.143 - 1.964) / np.sqrt(4 * 5 / (6 * 14)))
    holm = test.holm("C4.5+m+cf")
    assert holm["C4.5"] == pytest.approx(3 * raw, abs=1e-3)
    assert holm["C4.5+m"] >= holm["C4.5+cf"] >= holm["C4.5"]


def test_the_statistic_is_made_of_friedmans_by_scipy_where_nothing_ties():
    scores = np.random.default_rng(0).random((9, 5))
    found = rank_test(scores, list("abcde"))
    chi_square = stats.friedmanchisquare(*scores.T).statistic
    assert found.statistic == pytest.approx(8 * chi_square / (9 * 4 - chi_square))


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_values_are_those_of_demsars_table(k, q):
    test = rank_test(np.random.default_rng(0).random((12, k)), [f"s{i}" for i in range(k)])
    assert test.critical_difference / np.sqrt(k * (k + 1) / 72) == pytest.approx(q, abs=1e-3)


def test_losses_are_ranked_the_other_way_and_equal_scores_share_ranks():
    losses = [[0.1, 0.2, 0.1 + 1e-15], [0.3, 0.2, 0.4]]
    test = rank_test(losses, ["a", "b", "c"], greater_is_better=False)
    assert test.ranks.tolist() == [[1.5, 3.0, 1.5], [2.0, 1.0, 3.0]]


def test_systems_that_are_the_same_everywhere_do_not_differ():
    test = rank_test(np.ones((5, 3)), ["a", "b", "c"])
    assert (test.statistic, test.p_value) == (0.0, 1.0)
    assert test.groups() == [("a", "b", "c")]


def test_groups_are_the_largest_that_do_not_differ():
    scores = np.arange(10.0)[None, :] + np.zeros((40, 1))
    test = rank_test(scores, [f"s{i}" for i in range(10)])
    groups = test.groups()
    width = int(np.ceil(test.critical_difference))
    assert all(len(group) == width for group in groups)
    assert groups[0][0] == "s9" and groups[-1][-1] == "s0"


@pytest.mark.parametrize(
    ("scores", "names", "message"),
    [
        ([[1.0, np.nan], [1.0, 2.0]], ["a", "b"], "got NaN for b on corpus 0"),
        ([[1.0, 2.0]], ["a", "b"], "at least two of each"),
        ([[1.0, 2.0], [1.0, 2.0]], ["a"], "and 1 names"),
    ],
)
def test_blocks_must_be_complete(scores, names, message):
    with pytest.raises(ValueError, match=message):
        rank_test(scores, names)


def test_the_control_must_be_one_of_the_systems():
    with pytest.raises(ValueError, match=r"control must be one of .C4\.5."):
        rank_test(AUC, NAMES).holm("ID3")
