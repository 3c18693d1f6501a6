"""Systems beyond the paper: a learned weight, learned cut-offs, controls and threshold rules."""

import csv
import json
import shutil

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from labelkin import LabelRescorer, NaiveBayes, PlattSVM, corpora
from labelkin.corpora.corpus import labels_of
from labelkin.label_matrix import read_labels
from labelkin.learned.calibration import fit_calibration
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.research.experiments import (
    DamagedRun,
    parse_experiment,
    prepared_corpus,
    read_results,
    run_experiment,
)
from labelkin.research.experiments.plan import Control
from labelkin.research.experiments.train import fit_offset, train_control
from labelkin.text import TermWeights, WordCounts
from labelkin.thresholds import GlobalCut, LabelLimits, PCut, SCutFBR, rule_for

BEYOND = """
name = "beyond"
seeds = [2]
variants = ["M1", "M2", "M1cut"]
evidence_weights = [1, "auto"]
additions = ["BLR+M2", "BLR+M2 w=auto", "BLR+M1cut", "BLR+M1cut w=auto"]
controls = ["offset", "calibration"]
[corpus]
name = "newsroom"
options = { n_documents = 300, seed = 1 }
[content.NB]
classifier = "naive_bayes"
[content.SVM]
classifier = "svm"
weights = "tfidf"
[labels.BLR]
classifier = "logistic"
[thresholds.Cut]
rule = "global_cut"
metric = "macro_f1"
[thresholds.FBR]
rule = "scut_fbr"
fbr = 0.2
[thresholds.Shares]
rule = "pcut"
[thresholds.Some]
rule = "not_empty"
"""
RULES = {
    "Cut": GlobalCut("macro_f1"),
    "FBR": SCutFBR(fbr=0.2),
    "Shares": PCut(),
    "Some": LabelLimits(at_least=1),
}


@pytest.fixture(scope="module")
def beyond(tmp_path_factory):
    return run_experiment(parse_experiment(BEYOND), tmp_path_factory.mktemp("beyond"))


@pytest.fixture(scope="module")
def by_hand():
    """Out-of-fold and test log-odds of both content classifiers, and the labels."""
    corpus = corpora.newsroom(300, seed=1)
    counter = WordCounts().fit(corpus.documents[corpus.train])
    counts = [counter.transform(corpus.documents[part]) for part in (corpus.train, corpus.test)]
    weights = TermWeights("tfidf").fit(counts[0])
    seen = {"NB": counts, "SVM": [weights.transform(part) for part in counts]}
    labels = labels_of(corpus).rows(corpus.train)
    content = {}
    for name, model in (("NB", NaiveBayes()), ("SVM", PlattSVM(random_state=2))):
        train, test = seen[name]
        content[name] = model.fit_out_of_fold(train, labels), model.log_odds(test)
    return content, labels


def rescored(addition, unseen, content, labels):
    """Return the deployed posterior of out-of-fold content, and of test documents."""
    rescorer = LabelRescorer(
        variant=SCutFBR() if "M1cut" in addition else "soft",
        evidence_weight="auto" if "auto" in addition else 1.0,
        scale="log_odds",
    )
    rescorer.fit(labels, scores=unseen)
    return rescorer.rescore(unseen), rescorer.rescore(content), rescorer


@pytest.mark.parametrize("content", ["NB", "SVM"])
@pytest.mark.parametrize("addition", ["BLR+M2 w=auto", "BLR+M1cut", "BLR+M1cut w=auto"])
def test_what_is_learned_from_content_is_what_the_rescorer_gives_by_hand(
    beyond, by_hand, content, addition
):
    pairs, labels = by_hand
    _, expected, rescorer = rescored(addition, *pairs[content], labels)
    run = beyond.corpora[0].run(f"{content}+{addition}")
    np.testing.assert_allclose(run.log_odds(), expected, rtol=1e-9, atol=1e-9)
    learned = {"evidence_weight": rescorer.evidence_weight_}
    assert run.learned == (learned if "auto" in addition else {})
    assert run.seconds["learning_cpu"] > 0


@pytest.mark.parametrize("content", ["NB", "SVM"])
@pytest.mark.parametrize("addition", ["", "BLR+M2 w=auto"])
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_tuned_on_out_of_fold_content_and_decides_on_the_test_documents(
    beyond, by_hand, content, addition, rule
):
    pairs, labels = by_hand
    unseen, test = pairs[content]
    if addition:
        unseen, test, _ = rescored(addition, unseen, test, labels)
    expected = rule_for(RULES[rule]).fit(unseen, labels)
    system = f"{content}+{addition}" if addition else content
    run = beyond.corpora[0].run(f"{system} | {rule}")
    scored = beyond.corpora[0].run(system)
    np.testing.assert_array_equal(run.log_odds(), scored.log_odds())
    np.testing.assert_array_equal(run.decisions(), expected.decide(scored.log_odds()))
    assert (run.content, run.addition, run.thresholds) == (content, addition, rule)


def test_log_odds_are_stored_once_and_the_run_says_whose_they_are(beyond):
    run = beyond.corpora[0].run("SVM+BLR+M2 w=auto | FBR")
    assert {path.name for path in run.folder.iterdir()} == {"cuts.csv", "decisions.npy", "run.json"}
    stored = json.loads((run.folder / "run.json").read_text())
    assert stored["to_log_odds"] == "SVM+BLR+M2_w=auto@seed2"
    assert stored["configuration"]["thresholds"]["parameters"] == {"fbr": 0.2}


def test_the_cuts_of_a_rule_are_kept_label_by_label(beyond, by_hand):
    pairs, labels = by_hand
    run = beyond.corpora[0].run("NB | FBR")
    lines = list(csv.DictReader((run.folder / "cuts.csv").open()))
    assert [line["label"] for line in lines] == labels.names.tolist()
    expected = rule_for(RULES["FBR"]).fit(pairs["NB"][0], labels)
    np.testing.assert_allclose([float(line["cut"]) for line in lines], expected.cut_)
    np.testing.assert_allclose([float(line["f1"]) for line in lines], expected.f1_)


def test_runs_with_rules_stand_apart_from_those_with_log_odds_of_their_own(beyond):
    again = read_results(beyond.folder)
    assert again.runs == beyond.runs
    assert again.threshold_runs == beyond.threshold_runs
    assert (len(beyond.runs), len(beyond.threshold_runs)) == (14, 24)
    assert not any(run.thresholds for run in beyond.runs)


@pytest.mark.parametrize("content", ["NB", "SVM"])
@pytest.mark.parametrize("control", ["offset", "calibration"])
def test_controls_repair_the_content_by_its_own_out_of_fold_evidence(
    beyond, by_hand, content, control
):
    pairs, labels = by_hand
    unseen, test = pairs[content]
    if control == "offset":
        repaired = fit_offset(unseen, labels)
    else:
        repaired = fit_calibration(unseen, labels, monotone=False)
    run = beyond.corpora[0].run(f"{content}+{control}")
    np.testing.assert_allclose(run.log_odds(), repaired.slope * test + repaired.shift, rtol=1e-9)
    assert (run.content, run.addition) == (content, control)


def test_the_offset_is_the_optimum_of_its_objective_label_by_label():
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 4)) < [0.5, 0.2, 0.05, 0.0]).astype(float)
    Z = 2 * (2 * Y - 1) + rng.normal(1.0, 2.0, Y.shape)
    labels = read_labels(Y)
    penalty = 30 * 2 / prior_scale(count_label_sets(labels))
    offset = fit_offset(Z, labels).shift
    for j in range(3):

        def loss(v, j=j):
            log_odds = Z[:, j] + v
            fit = np.logaddexp(0, log_odds) - Y[:, j] * log_odds
            return fit.sum() + penalty[j] / 2 * v**2

        assert offset[j] == pytest.approx(minimize_scalar(loss, tol=1e-12).x, abs=1e-5)
    assert offset[3] == 0


def test_a_calibrated_content_promises_what_it_keeps_on_average():
    rng = np.random.default_rng(1)
    Z = rng.normal(0, 2, (4000, 2))
    Y = (rng.random(Z.shape) < expit(0.5 * Z - 1)).astype(float)
    repaired = fit_calibration(Z, read_labels(Y), monotone=False)
    np.testing.assert_allclose(repaired.slope, 0.5, atol=0.06)
    np.testing.assert_allclose(repaired.shift, -1, atol=0.12)
    control = train_control(Control("calibration"), read_labels(Y), Z).log_odds(Z)
    np.testing.assert_allclose(control, repaired.slope * Z + repaired.shift)
    np.testing.assert_allclose(expit(control).mean(axis=0), Y.mean(axis=0), atol=0.01)


def outputs(results):
    """Return every byte that a model or a decision is made of."""
    runs = [*results.runs, *results.threshold_runs]
    found = {f"{r.corpus} {r.system}": (r.log_odds(), r.decisions(), r.learned) for r in runs}
    for path in results.folder.rglob("out_of_fold.npy"):
        found[f"{path.parent.name} out of fold"] = (np.load(path), np.load(path), {})
    return {
        name: (scores.tobytes(), decided.tobytes(), dict(learned))
        for name, (scores, decided, learned) in found.items()
    }


@pytest.fixture
def run_shuffled(monkeypatch, tmp_path):
    """Run an experiment whose test documents have each other's labels."""
    load = prepared_corpus.load

    def shuffled(*place, **options):
        corpus = load(*place, **options)
        order = np.arange(len(corpus.documents))
        order[corpus.test] = np.random.default_rng(0).permutation(corpus.test)
        return prepared_corpus.replace(corpus, Y=corpus.Y[order])

    def run(text):
        monkeypatch.setattr(prepared_corpus, "load", shuffled)
        return run_experiment(parse_experiment(text), tmp_path / "shuffled")

    return run


def test_nothing_is_chosen_on_test_data_their_labels_shuffled_change_no_byte(beyond, run_shuffled):
    other = run_shuffled(BEYOND)
    truth = [results.corpora[0].Y for results in (beyond, other)]
    assert not np.array_equal(*truth)
    assert outputs(other) == outputs(beyond)
    assert len(outputs(other)) == 14 + 24 + 6


ENSEMBLES = """
name = "ensembles"
evidence_weights = ["auto"]
variants = ["M2"]
[corpus]
name = "newsroom"
options = { n_documents = 240, seed = 1 }
[content.Three]
classifier = "ensemble"
members = ["naive_bayes", "nearest_neighbours", "svm"]
weights = "tfidf"
[content.Strong]
classifier = "views"
weights = "texts"
[content.Default]
classifier = "by_features"
weights = "tfidf"
[labels.BLR]
classifier = "logistic"
[thresholds.NotEmpty]
rule = "not_empty"
"""


def test_what_members_count_is_not_chosen_on_test_data(tmp_path, run_shuffled):
    before = run_experiment(parse_experiment(ENSEMBLES), tmp_path / "before")
    other = run_shuffled(ENSEMBLES)
    truth = [results.corpora[0].Y for results in (before, other)]
    assert not np.array_equal(*truth)
    assert outputs(other) == outputs(before)
    counted = {key for run in before.runs for key in run.learned}
    assert {"weight of svm", "weight of title", "weight of characters"} <= counted


def test_same_bytes_whatever_n_jobs(beyond, tmp_path):
    again = run_experiment(parse_experiment(BEYOND), tmp_path, n_jobs=2)
    assert outputs(again) == outputs(beyond)


PAPER = (
    BEYOND.split("[thresholds.Cut]", maxsplit=1)[0]
    .replace('controls = ["offset", "calibration"]\n', "")
    .replace('additions = ["BLR+M2", "BLR+M2 w=auto", "BLR+M1cut", "BLR+M1cut w=auto"]', "")
    .replace('evidence_weights = [1, "auto"]', "")
    .replace('["M1", "M2", "M1cut"]', '["M2"]')
)


def test_an_experiment_of_the_paper_grows_beyond_it(beyond, tmp_path):
    before = run_experiment(parse_experiment(PAPER), tmp_path)
    assert not list(tmp_path.rglob("out_of_fold.npy"))
    assert len(before.runs) == 4
    grown = run_experiment(parse_experiment(BEYOND), tmp_path)
    assert outputs(grown) == outputs(beyond)


def test_additions_and_decisions_are_made_from_stored_evidence_alone(beyond, tmp_path, monkeypatch):
    shutil.copytree(beyond.folder, tmp_path / "copy")
    runs = tmp_path / "copy" / "newsroom" / "runs"
    for run in [*beyond.runs, *beyond.threshold_runs]:
        if run.addition or run.thresholds:
            shutil.rmtree(runs / run.folder.name)
    monkeypatch.setattr(prepared_corpus, "load", None)
    assert outputs(run_experiment(beyond.experiment, tmp_path / "copy")) == outputs(beyond)


def test_damaged_out_of_fold_evidence_is_found_before_anything_is_learned_from_it(beyond, tmp_path):
    shutil.copytree(beyond.folder, tmp_path / "copy")
    place = tmp_path / "copy" / "newsroom"
    file = place / "runs" / "NB@seed2" / "out_of_fold.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    shutil.rmtree(place / "runs" / "NB+offset@seed2")
    with pytest.raises(DamagedRun, match=r"NB@seed2 is damaged: out_of_fold.npy has the checksum"):
        run_experiment(beyond.experiment, tmp_path / "copy")
    shutil.rmtree(file.parent)
    assert outputs(run_experiment(beyond.experiment, tmp_path / "copy")) == outputs(beyond)


def test_a_damaged_table_of_cuts_is_found(beyond, tmp_path):
    shutil.copytree(beyond.folder, tmp_path / "copy")
    (tmp_path / "copy" / "newsroom" / "runs" / "NB@FBR@seed2" / "cuts.csv").write_text("label\n")
    with pytest.raises(DamagedRun, match=r"NB@FBR@seed2 is damaged: cuts.csv has the checksum"):
        read_results(tmp_path / "copy")


def test_a_rule_without_the_run_it_decided_on_is_not_read(beyond, tmp_path):
    shutil.copytree(beyond.folder, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "newsroom" / "runs" / "NB@seed2")
    with pytest.raises(FileNotFoundError, match="unfinished: 5 of 38 runs are missing"):
        read_results(tmp_path / "copy")
    left = read_results(tmp_path / "copy", partial=True).threshold_runs
    assert {run.system.partition(" |")[0] for run in left} == {
        "NB+BLR+M1cut w=auto", "NB+BLR+M2 w=auto", "SVM", "SVM+BLR+M1cut w=auto",
        "SVM+BLR+M2 w=auto",
    }  # fmt: skip


def test_a_changed_rule_is_an_error(beyond):
    changed = parse_experiment(BEYOND.replace("fbr = 0.2", "fbr = 0.3"))
    with pytest.raises(ValueError, match=r"thresholds.parameters.fbr was 0.2 and is 0.3"):
        run_experiment(changed, beyond.folder)
