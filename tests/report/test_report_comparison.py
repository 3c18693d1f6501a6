"""What systems score, and how they stand to their baselines."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from labelkin.method.rescorer import LabelRescorer
from labelkin.report.comparison import Comparison, System, compare


def test_systems_are_named_as_in_the_paper_and_stand_by_content(comparison):
    names = [[system.name for system in group] for group in comparison.groups()]
    assert names == [["NB", "NB+BLR+M1", "NB+BLR+M2"], ["kNN", "kNN+BLR+M1", "kNN+BLR+M2"]]
    assert [s.name for s in comparison.proposals] == [n for g in names for n in g[1:]]


def test_scores_and_gain_are_those_of_the_rescored_content(toy, comparison):
    labels, content, additions = toy
    truth = labels.dense().astype(int)
    before = f1_score(truth, content["NB"] > 0, average="micro")
    after = f1_score(truth, additions["BLR+M1"].rescore(content["NB"]) > 0, average="micro")
    system = comparison["NB+BLR+M1"]
    assert comparison["NB"].evaluation["micro_f1"] == pytest.approx(before, abs=1e-12)
    assert system.evaluation["micro_f1"] == pytest.approx(after, abs=1e-12)
    assert comparison.gain(system, "micro_f1") == pytest.approx(100 * (after / before - 1))


def test_the_sign_test_is_between_the_system_and_its_own_baseline(toy, comparison):
    labels, content, additions = toy
    truth = labels.dense().astype(bool)
    alone = (content["kNN"] > 0) == truth
    added = (additions["BLR+M2"].rescore(content["kNN"]) > 0) == truth
    won, lost = int((added & ~alone).sum()), int((alone & ~added).sum())
    test = comparison["kNN+BLR+M2"].micro
    assert (test.baseline, test.proposal) == ("kNN", "kNN+BLR+M2")
    assert (test.n, test.k) == (won + lost, won if test.better == "kNN+BLR+M2" else lost)
    assert test.n > 12
    z = (test.k - test.n / 2) / (math.sqrt(test.n) / 2)
    assert test.p_value == pytest.approx(stats.norm.sf(z))


def test_baselines_have_no_test_and_no_gain(comparison):
    assert comparison["NB"].micro is None and comparison["NB"].macro is None
    assert comparison.gain(comparison["NB"], "micro_f1") == 0


def test_a_gain_on_nothing_is_no_number():
    Y = np.eye(3, dtype=int)[[0, 0, 1, 1, 2, 2]]
    additions = {"BLR+M2": LabelRescorer(scale="log_odds").fit(Y)}
    systems = tuple(compare("NB", np.full(Y.shape, -9.0), additions, Y))
    comparison = Comparison("toy", systems)
    assert comparison["NB"].evaluation["micro_f1"] == 0
    assert math.isnan(comparison.gain(systems[1], "micro_f1"))


def test_names_are_announced_before_the_system_is_computed(toy):
    labels, content, additions = toy
    told = []
    systems = compare("NB", content["NB"], additions, labels, told.append)
    assert [(next(systems).name, list(told)) for _ in range(2)] == [
        ("NB", []),
        ("NB+BLR+M1", ["NB+BLR+M1"]),
    ]


def test_content_evidence_is_not_changed(toy):
    labels, content, additions = toy
    before = content["NB"].copy()
    list(compare("NB", content["NB"], additions, labels))
    np.testing.assert_array_equal(content["NB"], before)


def test_an_unknown_system_is_refused_with_the_names_there_are(comparison):
    with pytest.raises(KeyError, match=r"No system is named 'SVM'; there are NB, NB\+BLR\+M1"):
        comparison["SVM"]


def test_a_system_without_addition_is_named_by_its_content(comparison):
    assert System("NB", "", comparison["NB"].evaluation).name == "NB"
