"""Related methods in experiments: separate process, time limit, resume."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from labelkin import PlattSVM, corpora
from labelkin.corpora.corpus import labels_of
from labelkin.research import related
from labelkin.research.experiments import (
    parse_experiment,
    run_experiment,
)
from labelkin.research.experiments import runs as running
from labelkin.research.experiments.subprocess_runner import Job, run_here, run_in_subprocess
from labelkin.text import TermWeights, WordCounts

TEXT = """
name = "related"
additions = []
[[corpus]]
name = "newsroom"
options = { n_documents = 240, seed = 1 }
[words]
min_documents = 2
[content.SVM]
classifier = "svm"
weights = "tfidf"
[related.BR]
classifier = "binary_relevance"
estimator = "SVM"
[related.Stacking]
classifier = "stacked_relevance"
estimator = "SVM"
[related.LP]
classifier = "label_powerset"
estimator = "SVM"
[related.MLkNN]
classifier = "mlknn"
n_neighbors = 7
metric = "cosine"
weights = "tfidf"
[related.labelkin]
classifier = "label_dependence"
estimator = "SVM"
[thresholds.GlobalCut]
rule = "global_cut"
metric = "micro_f1"
"""
SLOW = """
[related.slow]
classifier = "rakel"
estimator = "SVM"
time_limit = 0.01
"""


@pytest.fixture
def here(monkeypatch):
    """Train in this process: a process of one's own takes seconds to start."""
    done = []
    monkeypatch.setattr(
        running, "run_in_subprocess", lambda job, limit: done.append(job) or run_here(job)
    )
    return done


@pytest.fixture(scope="module")
def by_hand():
    corpus = corpora.newsroom(240, seed=1)
    counter = WordCounts(min_documents=2).fit(corpus.documents[corpus.train])
    counts = [counter.transform(corpus.documents[part]) for part in (corpus.train, corpus.test)]
    weights = TermWeights("tfidf").fit(counts[0])
    return *map(weights.transform, counts), labels_of(corpus).rows(corpus.train)


def test_runs_equal_the_public_classes(here, by_hand, tmp_path):
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
        assert {"learning_cpu", "learning_wall", "predicting_cpu"} <= set(run.seconds)


def test_the_time_limit_stops_training_and_a_longer_limit_repeats_it(tmp_path):
    short = TEXT.partition("[related.BR]")[0] + SLOW
    (results,) = run_experiment(parse_experiment(short), tmp_path).corpora
    assert [(run.system, run.out_of_time) for run in results.given_up] == [("slow", 0.01)]
    assert [run.system for run in results.runs] == ["SVM"]
    record = json.loads((tmp_path / "newsroom/runs/slow@seed0/run.json").read_bytes())
    assert record["out_of_time"] == 0.01
    (again,) = run_experiment(parse_experiment(short), tmp_path).corpora
    assert len(again.given_up) == 1
    longer = short.replace("time_limit = 0.01", "time_limit = 500")
    (finished,) = run_experiment(parse_experiment(longer), tmp_path).corpora
    assert [run.system for run in finished.runs] == ["SVM", "slow"]
    assert finished.given_up == ()


def test_a_subprocess_has_the_same_result_and_its_error_has_stderr(by_hand):
    X, test, Y = by_hand
    job = Job(related.MLkNN(5, metric="cosine"), X, Y, test)
    answer = run_in_subprocess(job)
    np.testing.assert_array_equal(answer.log_odds, run_here(job).log_odds)
    assert answer.memory > 2**20 and answer.warnings == []
    with pytest.raises(RuntimeError, match=r"(?s)MLkNN ended with 1 .*n_neighbors must be"):
        run_in_subprocess(job._replace(model=related.MLkNN(0)))


SLEEPER = """
import os, sys, time
from labelkin.research.experiments import subprocess_runner
subprocess_runner.run_here = lambda job: time.sleep(600)
subprocess_runner.joblib.load = lambda path: None
print(os.getpid(), flush=True)
subprocess_runner.run_job_file(".", sys.argv[1])
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
