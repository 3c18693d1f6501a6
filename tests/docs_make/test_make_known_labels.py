"""The page on known labels: its numbers are those of the stored runs."""

import numpy as np
import pytest
from docs.make.known_labels import Row, page, read_rows

from labelkin.research.experiments import parse_experiment, run_experiment

EXPERIMENT = """
name = "small"
variants = ["M2"]
evidence_weights = ["auto"]
corpus = { name = "newsroom", options = { n_documents = 300 } }
content.NB = { classifier = "naive_bayes" }
labels.BLR = { classifier = "logistic" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("known")
    run_experiment(parse_experiment(EXPERIMENT), folder)
    return folder


def row(predicted, known, error=0.01, metric="micro_f1"):
    scores = {"alone": {metric: 0.5}, "predicted": {metric: predicted}, "known": {metric: known}}
    return Row("c", "NB", {"revealed": "true 1", **scores, "standard_errors": {metric: error}})


def test_counts_of_the_page_are_those_of_the_runs(folder):
    rows = read_rows([folder])
    assert all(row.record["with_more"] >= 20 for row in rows)
    text = page(rows)
    asked = [
        r for r in rows if not r.revealed.startswith("further") and "updated" not in r.revealed
    ]
    gains = [r.gain(m) for r in asked for m in r.record["known"] if not np.isnan(r.gain(m))]
    counts = [sum(g > 0 for g in gains), sum(g == 0 for g in gains), sum(g < 0 for g in gains)]
    assert f"against nothing known **{' / '.join(map(str, counts))}**" in text
    harmed = [
        r for r in rows if "updated" not in r.revealed for m in r.record["known"] if r.clear(m) < -2
    ]
    table = text.partition("## Where known labels do harm")[2].partition("## Cell by cell")[0]
    assert table.count("\n| newsroom NB |") == len(harmed)
    for record in (r.record for r in asked if r.revealed == "true 1"):
        assert f"{record['known']['micro_f1']:.4f}" in text
