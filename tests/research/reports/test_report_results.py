"""Result folder → records: numbers against scikit-learn, means over seeds, missing runs."""

import math
import zlib

import numpy as np
import pytest
from evaluated import evaluate_all, find, system_of
from scipy import stats
from sklearn.metrics import f1_score, hamming_loss, zero_one_loss
from stored_results import experiment_text, store_results

from labelkin.models.rescorer import LabelRescorer
from labelkin.research.reports.results import Outcome, evaluate_system, read_outcomes
from labelkin.research.reports.scores import paper_scores

SEEDS = (3, 7)
LEFT_OUT = ("kNN@seed3", "SVM+SMO+M2@seed3", "SVM+SMO+M2@seed7", "NB+BLR+M1@seed7")


def make_labels():
    Y = (np.random.default_rng(1).random((60, 8)) < np.linspace(0.1, 0.5, 8)).astype(int)
    Y[Y.sum(axis=1) == 0, 7] = 1
    return Y


Y = make_labels()


def log_odds(system, seed):
    noise = np.random.default_rng([zlib.crc32(system.encode()), seed]).normal(0, 2.5, Y.shape)
    return 2.0 * (2 * Y - 1) + noise


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    text = experiment_text(extra=f"seeds = {list(SEEDS)}")
    folder = store_results(tmp_path_factory.mktemp("seeds"), text, Y, log_odds)
    return read_outcomes(folder)[0]


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    text = experiment_text(extra=f"seeds = {list(SEEDS)}")
    folder = store_results(tmp_path_factory.mktemp("part"), text, Y, log_odds, left_out=LEFT_OUT)
    return read_outcomes(folder)[0]


def sklearn_scores(system, seed):
    values = log_odds(system, seed)
    decided = (values > 0).astype(int)
    top = values.argmax(axis=1)
    return {
        "micro_f1": f1_score(Y, decided, average="micro"),
        "macro_f1": f1_score(Y, decided, average="macro", zero_division=0),
        "hamming_loss": hamming_loss(Y, decided),
        "subset_loss": zero_one_loss(Y, decided),
        "one_error": 1 - Y[np.arange(len(Y)), top].mean(),
    }


@pytest.mark.parametrize("system", ["NB", "kNN+BLR+M2", "SVM+SMO+M1"])
def test_scores_are_the_means_over_seeds_of_scikit_learns(stored, system):
    expected = [sklearn_scores(system, seed) for seed in SEEDS]
    for metric in expected[0]:
        mean = np.mean([scores[metric] for scores in expected])
        assert find(stored, system, metric).value == pytest.approx(mean, abs=1e-12)


def test_the_change_is_that_of_the_means(stored):
    added, alone = (
        np.mean([sklearn_scores(system, seed)["macro_f1"] for seed in SEEDS])
        for system in ("kNN+BLR+M1", "kNN")
    )
    score = find(stored, "kNN+BLR+M1", "macro_f1")
    assert score.change == pytest.approx(100 * (added / alone - 1))
    assert score.lead == pytest.approx(added - alone)


def test_the_difference_is_from_the_papers_figure(stored):
    score = find(stored, "NB+SMO+M2", "one_error")
    printed = 0.83107
    assert score.paper.value == pytest.approx(1 - printed)
    assert score.difference == pytest.approx(score.value - (1 - printed))
    assert score.paper == paper_scores("reuters21578")["NB+SMO+M2", "one_error"]


def test_the_note_has_the_p_value_of_every_seed(stored):
    note = find(stored, "NB+BLR+M2", "micro_f1").note
    for seed in SEEDS:
        alone, added = ((log_odds(s, seed) > 0) == (Y == 1) for s in ("NB", "NB+BLR+M2"))
        n = int((alone != added).sum())
        scores = [sklearn_scores(s, seed)["micro_f1"] for s in ("NB", "NB+BLR+M2")]
        wins = int((added & ~alone).sum()), int((alone & ~added).sum())
        k = wins[0] if scores[1] > scores[0] else wins[1]
        p_value = stats.norm.sf((k - n / 2) / (math.sqrt(n) / 2))
        counts = f"{wins[0]} for NB+BLR+M2, {wins[1]} for NB"
        assert f"seed {seed}, s-test: {counts}, P = {p_value:.4f}" in note


def test_systems_stand_in_the_order_of_the_paper(stored):
    groups = [[scores["micro_f1"].system for scores in group] for group in stored.groups()]
    additions = ["", "+BLR+M1", "+BLR+M2", "+SMO+M1", "+SMO+M2"]
    assert groups == [[c + addition for addition in additions] for c in ("NB", "kNN", "SVM")]


def test_missing_runs_are_named_and_their_scores_are_no_numbers(unfinished):
    expected = [f"{run.replace('@', ' (').replace('seed', 'seed ')})" for run in LEFT_OUT]
    assert sorted(unfinished.missing) == sorted(expected)
    assert math.isnan(find(unfinished, "SVM+SMO+M2", "micro_f1").value)
    assert find(unfinished, "SVM+SMO+M2", "micro_f1").sign == ""


def test_a_system_of_one_seed_is_compared_with_its_baseline_of_that_seed(unfinished):
    score = find(unfinished, "NB+BLR+M1", "micro_f1")
    assert score.value == pytest.approx(sklearn_scores("NB+BLR+M1", 3)["micro_f1"])
    assert score.baseline == pytest.approx(sklearn_scores("NB", 3)["micro_f1"])


def test_without_its_baseline_a_system_has_a_score_and_no_change(tmp_path):
    folder = store_results(tmp_path, experiment_text(), Y, log_odds, left_out=("SVM@seed0",))
    score = find(read_outcomes(folder)[0], "SVM+BLR+M2", "macro_f1")
    assert score.value == pytest.approx(sklearn_scores("SVM+BLR+M2", 0)["macro_f1"])
    assert math.isnan(score.change) and score.sign == "" and score.mark == ""


def test_each_corpus_of_an_experiment_has_its_own_outcome(tmp_path):
    text = experiment_text("reuters21578 yeast", title="Two", contents=("NB",))
    first, second = read_outcomes(store_results(tmp_path, text, Y, log_odds))
    assert (first.title, first.paper) == ("Two: reuters21578", "reuters21578")
    assert (second.title, second.paper) == ("Two: yeast", None)
    assert all(score.paper is None for score in second.scores)


def test_an_evidence_weight_makes_a_system_that_the_paper_does_not_have(tmp_path):
    text = experiment_text(contents=("NB",), extra="evidence_weights = [1.0, 0.35]")
    outcome = read_outcomes(store_results(tmp_path, text, Y, log_odds))[0]
    assert find(outcome, "NB+BLR+M2 w=0.35", "micro_f1").paper is None
    assert find(outcome, "NB+BLR+M2", "micro_f1").paper is not None


def test_facts_say_what_was_used(stored):
    assert stored.facts["Seeds"] == "3, 7"
    assert stored.facts["Source"] == "made"
    assert stored.classifiers["kNN"] == "nearest_neighbours (n_neighbors = 30) on tfidf"


def test_a_damaged_run_is_named(tmp_path):
    folder = store_results(tmp_path, experiment_text(contents=("NB",)), Y, log_odds)
    with (folder / "reuters21578/runs/NB+BLR+M1@seed0/log_odds.npy").open("r+b") as file:
        file.seek(200)
        file.write(b"\xff\xff\xff\xff")
    with pytest.raises(ValueError, match=r"NB\+BLR\+M1@seed0"):
        read_outcomes(folder)


def test_systems_are_named_as_in_the_paper_and_stand_by_content(outcome):
    names = [[scores["micro_f1"].system for scores in group] for group in outcome.groups()]
    assert names == [["NB", "NB+BLR+M1", "NB+BLR+M2"], ["kNN", "kNN+BLR+M1", "kNN+BLR+M2"]]
    pairs = [(alone.name, added.name) for alone, added in outcome.pairs()]
    assert pairs == [(group[0], name) for group in names for name in group[1:]]


def test_scores_and_change_are_those_of_the_rescored_content(toy, outcome):
    labels, content, additions = toy
    truth = labels.dense().astype(int)
    before = f1_score(truth, content["NB"] > 0, average="micro")
    after = f1_score(truth, additions["BLR+M1"].rescore(content["NB"]) > 0, average="micro")
    score = find(outcome, "NB+BLR+M1", "micro_f1")
    assert find(outcome, "NB", "micro_f1").value == pytest.approx(before, abs=1e-12)
    assert score.value == pytest.approx(after, abs=1e-12)
    assert score.change == pytest.approx(100 * (after / before - 1))


def test_the_sign_test_is_between_the_system_and_its_own_baseline(toy, outcome):
    labels, content, additions = toy
    truth = labels.dense().astype(bool)
    alone = (content["kNN"] > 0) == truth
    added = (additions["BLR+M2"].rescore(content["kNN"]) > 0) == truth
    won, lost = int((added & ~alone).sum()), int((alone & ~added).sum())
    test = system_of(outcome, "kNN+BLR+M2").micro
    assert (test.baseline, test.proposal) == ("kNN", "kNN+BLR+M2")
    assert (test.n, test.k) == (won + lost, won if test.better == "kNN+BLR+M2" else lost)
    assert test.n > 12
    z = (test.k - test.n / 2) / (math.sqrt(test.n) / 2)
    assert test.p_value == pytest.approx(stats.norm.sf(z))
    assert find(outcome, "kNN+BLR+M2", "micro_f1").sign == test.sign


def test_baselines_have_no_test_and_no_change(outcome):
    alone = system_of(outcome, "NB")
    assert alone.micro is None and alone.macro is None
    score = find(outcome, "NB", "micro_f1")
    assert math.isnan(score.baseline) and math.isnan(score.change) and score.sign == ""


def test_a_change_on_nothing_is_no_number():
    Y = np.eye(3, dtype=int)[[0, 0, 1, 1, 2, 2]]
    additions = {"BLR+M2": LabelRescorer(evidence_weight=1, scale="log_odds").fit(Y)}
    outcome = Outcome(
        "toy", "toy", list(evaluate_all({"NB": np.full(Y.shape, -9.0)}, additions, Y))
    )
    assert find(outcome, "NB", "micro_f1").value == 0
    assert math.isnan(find(outcome, "NB+BLR+M2", "micro_f1").change)


def test_content_evidence_is_not_changed(toy):
    labels, content, _ = toy
    before = content["NB"].copy()
    evaluate_system(labels, content["NB"], content="NB")
    np.testing.assert_array_equal(content["NB"], before)


def test_a_rule_is_compared_with_the_same_rule_on_the_content_alone(toy):
    labels, content, additions = toy
    systems = []
    for addition, log_odds in (
        ("", content["NB"]),
        ("M", additions["BLR+M2"].rescore(content["NB"])),
    ):
        for rule, cut in (("", 0.0), ("low", -1.0)):
            given = {"content": "NB", "addition": addition, "rule": rule}
            systems.append(
                evaluate_system(labels, None if rule else log_odds, log_odds > cut, **given)
            )
    outcome = Outcome("toy", "toy", systems, labels=labels)
    low = {s.addition: s for s in outcome.scores if (s.rule, s.metric) == ("low", "micro_f1")}
    assert low["M"].baseline == low[""].value != find(outcome, "NB", "micro_f1").value
    assert len(outcome.groups()[0]) == 2 and len(outcome.pairs()) == 1
    assert not any(s.metric == "one_error" and s.rule for s in outcome.scores)


def test_the_learned_weight_is_looked_at_where_it_is_there(toy, outcome):
    labels, content, additions = toy
    assert outcome.addition == "BLR+M2"
    learned = {**additions, "BLR+M2 w=auto": additions["BLR+M2"]}
    systems = list(evaluate_all(content, learned, labels))
    assert Outcome("toy", "toy", systems).addition == "BLR+M2 w=auto"
    alone = [system for system in systems if not system.addition]
    assert Outcome("toy", "toy", alone).addition == ""
