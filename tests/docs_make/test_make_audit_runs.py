"""Audits of damaged labels: the configurations of docs/make/audits, runs that resume."""

import json

import numpy as np
import pytest
from docs.make.audit_runs import average_precision, find_audits, parse_audits, run_audits
from sklearn.metrics import average_precision_score

SMALL = """
name = "small"
corpus = [{name = "newsroom", weights = "tfidf", options = {n_documents = 150}}]
noise = [{recipe = "random", rates = [[0.1, 0.05]], seeds = [0, 1]}]
"""


@pytest.mark.parametrize("name", ["reuters", "ohsumed", "rcv1-sample", "mulan"])
def test_shipped_audits_are_read(name):
    plan = find_audits(f"audit-{name}")
    assert plan.name == f"audit-{name}"
    assert {one.recipe for one in plan.noise} == {"random", "label", "document"}


def test_runs_are_kept_and_not_run_again(tmp_path):
    plan = parse_audits(SMALL)
    suspicious = []

    def peer(labels, probabilities):
        suspicious.append(labels.shape)
        return np.abs(labels.positive.toarray() - probabilities)

    runs = run_audits(plan, tmp_path, peer)
    assert len(runs) == len(suspicious) == 2
    assert runs[0]["scores"]["cleanlab"]["joint"] == pytest.approx(
        runs[0]["scores"]["content"]["joint"], abs=0.02
    )
    assert set(runs[0]["test"]) == {"damaged", "cleaned", "right"}
    file = sorted(tmp_path.iterdir())[0]
    file.write_text(json.dumps({**runs[0], "seed": 99}))
    assert [run["seed"] for run in run_audits(plan, tmp_path, peer)] == [99, 1]
    assert len(suspicious) == 2


def test_average_precision_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    wrong, suspicion = rng.random(200) < 0.1, rng.random(200)
    assert average_precision(suspicion, wrong) == pytest.approx(
        average_precision_score(wrong, suspicion)
    )
