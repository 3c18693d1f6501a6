"""Rivals in experiments: in a process of their own, limited, resumed, compared."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from labelkin import PlattSVM, corpora
from labelkin.corpora.corpus import labels_of
from labelkin.registry import names
from labelkin.research import related
from labelkin.research.experiments import (
    find_experiment,
    parse_experiment,
    read_results,
    run_experiment,
    shipped_experiments,
)
from labelkin.research.experiments import run as running
from labelkin.research.experiments.apart import Job, do_job, train_apart
from labelkin.research.reports.documents import report_results
from labelkin.research.reports.ranks import compare, describe_test
from labelkin.research.reports.results import read_outcomes
from labelkin.text import TermWeights, WordCounts

TEXT = """
name = "rivals"
additions = []
[[corpus]]
name = "newsroom"
options = { n_documents = 240, seed = 1 }
[words]
min_documents = 2
[content.SVM]
classifier = "svm"
weights = "tfidf"
[rivals.BR]
classifier = "binary_relevance"
estimator = "SVM"
[rivals.Stacking]
classifier = "stacked_relevance"
estimator = "SVM"
[rivals.LP]
classifier = "label_powerset"
estimator = "SVM"
[rivals.MLkNN]
classifier = "mlknn"
n_neighbors = 7
metric = "cosine"
weights = "tfidf"
[rivals.labelkin]
classifier = "label_dependence"
estimator = "SVM"
[thresholds.GlobalCut]
rule = "global_cut"
metric = "micro_f1"
"""
SLOW = """
[rivals.slow]
classifier = "rakel"
estimator = "SVM"
time_limit = 0.01
"""


@pytest.fixture
def here(monkeypatch):
    """Train in this process: a process of one's own takes seconds to start."""
    done = []
    monkeypatch.setattr(running, "train_apart", lambda job, limit: done.append(job) or do_job(job))
    return done


@pytest.fixture(scope="module")
def by_hand():
    corpus = corpora.newsroom(240, seed=1)
    counter = WordCounts(min_documents=2).fit(corpus.documents[corpus.train])
    counts = [counter.transform(corpus.documents[part]) for part in (corpus.train, corpus.test)]
    weights = TermWeights("tfidf").fit(counts[0])
    return *map(weights.transform, counts), labels_of(corpus).rows(corpus.train)


def test_runs_are_what_the_public_classes_give(here, by_hand, tmp_path):
    X, test, Y = by_hand
    (results,) = run_experiment(parse_experiment(TEXT), tmp_path).corpora
    base = PlattSVM(random_state=0)
    models = {
        "BR": base,
        "Stacking": related.StackedRelevance(base, random_state=0),
        "LP": related.LabelPowerset(base, random_state=0),
        "MLkNN": related.MLkNN(7, metric="cosine"),
    }
    for name, model in models.items():
        run = results.run(name)
        model.fit(X, Y)
        np.testing.assert_allclose(run.log_odds(), model.log_odds(test), atol=1e-9)
        np.testing.assert_array_equal(run.decisions(), model.predict(test) == 1)
        assert run.memory > 2**20
        assert {"learning_cpu", "predicting_cpu", "cpu", "wall"} <= set(run.seconds)


def test_the_evidence_of_binary_relevance_is_shared(here, tmp_path):
    results = run_experiment(parse_experiment(TEXT), tmp_path)
    (stacking,) = [job for job in here if isinstance(job.model, related.StackedRelevance)]
    content = results.corpora[0].run("SVM").log_odds()
    np.testing.assert_array_equal(stacking.content, content)
    assert stacking.unseen.shape == (len(stacking.labels.positive.indptr) - 1, content.shape[1])
    assert all(job.unseen is None for job in here if job is not stacking)


def test_what_is_there_is_not_trained_again(here, tmp_path):
    first = run_experiment(parse_experiment(TEXT), tmp_path)
    n_trained = len(here)
    assert n_trained == 5
    again = run_experiment(parse_experiment(TEXT), tmp_path)
    assert len(here) == n_trained
    assert [run.system for run in again.runs] == [run.system for run in first.runs]
    text = TEXT.replace("n_neighbors = 7", "n_neighbors = 8")
    with pytest.raises(ValueError, match=r"rival\.parameters\.n_neighbors was 7 and is 8"):
        run_experiment(parse_experiment(text), tmp_path)


def test_an_interrupted_experiment_goes_on(here, tmp_path, monkeypatch):
    trained = running.train_apart

    def interrupted(job, limit):
        if isinstance(job.model, related.LabelPowerset):
            raise KeyboardInterrupt
        return trained(job, limit)

    monkeypatch.setattr(running, "train_apart", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(parse_experiment(TEXT), tmp_path)
    there = read_results(tmp_path, partial=True)
    assert [run.system for run in there.runs] == ["SVM", "BR", "Stacking"]
    monkeypatch.setattr(running, "train_apart", trained)
    n_trained = len(here)
    run_experiment(parse_experiment(TEXT), tmp_path)
    assert len(here) - n_trained == 3


def test_what_takes_too_long_is_given_up_and_tried_again_under_a_longer_limit(tmp_path):
    short = TEXT.partition("[rivals.BR]")[0] + SLOW
    (results,) = run_experiment(parse_experiment(short), tmp_path).corpora
    assert [(run.system, run.out_of_time) for run in results.given_up] == [("slow", 0.01)]
    assert [run.system for run in results.runs] == ["SVM"]
    record = json.loads((tmp_path / "newsroom/runs/slow@seed0/run.json").read_bytes())
    assert record["out_of_time"] == 0.01
    (again,) = run_experiment(parse_experiment(short), tmp_path).corpora
    assert len(again.given_up) == 1
    report_results(tmp_path)
    assert "over 0.01" in (tmp_path / "ranks.md").read_text()
    longer = short.replace("time_limit = 0.01", "time_limit = 500")
    (finished,) = run_experiment(parse_experiment(longer), tmp_path).corpora
    assert [run.system for run in finished.runs] == ["SVM", "slow"]
    assert finished.given_up == ()


def test_a_process_of_its_own_gives_the_same_answer_and_repeats_what_went_wrong(by_hand):
    X, test, Y = by_hand
    job = Job(related.MLkNN(5, metric="cosine"), X, Y, test)
    answer = train_apart(job)
    np.testing.assert_array_equal(answer.log_odds, do_job(job).log_odds)
    assert answer.memory > 2**20 and answer.warnings == []
    with pytest.raises(RuntimeError, match=r"(?s)MLkNN ended with 1\..*n_neighbors must be"):
        train_apart(job._replace(model=related.MLkNN(0)))


SLEEPER = """
import os, sys, time
from labelkin.research.experiments import apart
apart.do_job = lambda job: time.sleep(600)
apart.joblib.load = lambda path: None
print(os.getpid(), flush=True)
apart.main(".", sys.argv[1])
"""
STARTER = """
import os, subprocess, sys
subprocess.Popen([sys.executable, '-c', sys.argv[1], str(os.getpid())]).wait()
"""


def test_a_process_ends_when_the_experiment_is_killed():
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, SLEEPER], stdout=subprocess.PIPE, text=True
    )
    child = int(starter.stdout.readline())
    os.kill(child, 0)
    starter.kill()
    starter.wait()
    starter.stdout.read()  # ends when the child, which writes there too, has ended
    starter.stdout.close()


def test_the_report_ranks_rivals_and_rules(here, tmp_path):
    run_experiment(parse_experiment(TEXT), tmp_path)
    outcome = read_outcomes(tmp_path, rules=True)[0]
    other = replace(outcome, corpus="second")
    compared = compare([outcome, other])
    assert compared.systems == ("BR", "Stacking", "LP", "MLkNN", "labelkin", "BR | GlobalCut")
    test = compared.tests["micro_f1"]
    values = [compared.value("micro_f1", name, "newsroom") for name in test.names]
    assert test.names[int(np.argmax(values))] == test.names[int(np.argmin(test.mean_ranks))]
    assert "labelkin has mean rank" in describe_test(test)
    assert "BR | GlobalCut" not in compared.tests["one_error"].names  # it has no log-odds
    files = {path.name for path in report_results(tmp_path)}
    assert "ranks.md" in files


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('estimator = "SVM"', 'estimator = "NB"', r"estimator must be one of 'SVM', got 'NB'"),
        ('classifier = "mlknn"', 'classifier = "ml"', r"classifier must be one of 'classifier_ch"),
        ("n_neighbors = 7", "n_neighbours = 7", r"\[rivals.MLkNN\]: unknown key 'n_neighbours'"),
        ("n_neighbors = 7", "time_limit = 0", r"time_limit must be a number of seconds above 0"),
        ("[rivals.LP]", "[rivals.SVM]", r"content classifiers and rivals must differ in name"),
        ("[rivals.LP]", "[rivals.br]", r"rivals must differ in more than upper and lower case"),
    ],
)
def test_mistakes_in_the_file_are_named(old, new, message):
    with pytest.raises(ValueError, match=message):
        parse_experiment(TEXT.replace(old, new))


@pytest.mark.parametrize("name", [n for n in shipped_experiments() if n.startswith("rivals-")])
def test_packaged_experiments_try_every_rival_once(name):
    experiment = find_experiment(name)
    for corpus in experiment.corpora:
        kinds = {rival.classifier for rival in corpus.rivals.values()}
        mixtures = {"mixture_model", "parametric_mixture"}
        assert set(names("rivals")) - kinds <= (
            mixtures if name in ("rivals-numbers", "rivals-rcv1-sample") else set()
        )
        assert all(rival.time_limit for rival in corpus.rivals.values())
        asked = {rival.estimator.name for rival in corpus.rivals.values() if rival.estimator}
        assert asked == {"SVM"}
    assert set(experiment.thresholds) == {"SCut", "SCutFBR", "GlobalCut"}


def test_packaged_experiments_are_on_nine_corpora():
    found = [find_experiment(n) for n in shipped_experiments() if n.startswith("rivals-")]
    assert sorted(c.name for experiment in found for c in experiment.corpora) == [
        "bibtex", "emotions", "enron", "medical", "ohsumed23", "rcv1-sample", "reuters21578",
        "scene", "yeast",
    ]  # fmt: skip
