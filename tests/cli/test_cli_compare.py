"""``labelkin compare``: two stored runs, judged as the significance package judges them."""

import json

import pytest
from in_process import call

from labelkin.cli.experiment import verdict
from labelkin.evaluation.significance import (
    SignTest,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)
from labelkin.research.experiments import parse_experiment, run_experiment

EXPERIMENT = """
name = "small"
corpus = {name = "newsroom", options = {n_documents = 200}}
content.NB = {classifier = "naive_bayes"}
labels.BLR = {classifier = "logistic"}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "small"
    return run_experiment(parse_experiment(EXPERIMENT), folder)


@pytest.fixture(scope="module")
def pair(results):
    corpus = results.corpora[0]
    return corpus.run("NB"), corpus.run("NB+BLR+M2")


def test_scores_tests_and_intervals_are_those_of_the_library(results, pair):
    one, other = pair
    arguments = ["experiment", "compare", one.folder, other.folder, "--n-draws", 200]
    told = json.loads(call(*arguments, "--json").done())
    truth = results.corpora[0].Y
    decisions = (one.decisions(), other.decisions())
    names = (told["baseline"], told["proposal"])
    assert names == ("NB (seed 0)", "NB+BLR+M2 (seed 0)")
    tests = [micro_sign_test(truth, *decisions, names), macro_sign_test(truth, *decisions, names)]
    assert told["tests"] == [vars(test) for test in tests]
    (found,) = [b for b in told["bootstraps"] if b["metric"] == "macro_f1"]
    expected = paired_bootstrap(
        truth, *decisions, "macro_f1", n_draws=200, random_state=0, names=names
    )
    assert found == vars(expected)
    assert "one_error" in {b["metric"] for b in told["bootstraps"]}
    printed = call(*arguments).done()
    for number in told["scores"]["micro_f1"]:
        assert f"{number:.5f}" in printed
    assert "S-test" in printed
    signs = {b["metric"]: b["sign"] for b in told["bootstraps"]}
    better = {"≪": names[1], "<": names[1], "≫": names[0], ">": names[0], "~": "none shown"}
    (line,) = [x for x in printed.split("bootstrap")[1].splitlines() if x.startswith("macro_f1")]
    assert line.endswith(better[signs["macro_f1"]])


@pytest.mark.parametrize(
    ("sign", "better"),
    [("≪", "new"), ("<", "new"), ("≫", "old"), (">", "old"), ("~", "none shown")],
)
def test_a_sign_names_the_run_that_is_better(sign, better):
    test = SignTest("old", "new", "s-test", 9, 7, 0.1, sign, "old" if sign in "≫>" else "new", 7, 2)
    assert verdict(test) == ("0.1", sign, better)


def test_wrong_calls(pair, results, tmp_path):
    assert (
        "folder with run.json" in call("experiment", "compare", tmp_path, pair[0].folder).refused()
    )
    told = call("experiment", "compare", pair[0].folder, pair[0].folder).refused()
    assert "Two different runs" in told
    assert "Missing argument" in call("experiment", "compare", pair[0].folder).refused()
    system = pair[0].folder.with_name(pair[0].folder.name.partition("@")[0])
    told = call("experiment", "compare", system, pair[1].folder).refused()
    assert f"Name one seed: {pair[0].folder}" in told
    other = parse_experiment(EXPERIMENT.replace("200", "150"))
    foreign = run_experiment(other, tmp_path / "other").runs[0]
    told = call("experiment", "compare", pair[0].folder, foreign.folder).refused()
    assert "on the same documents and labels" in told
