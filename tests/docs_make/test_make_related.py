"""The page of related methods: from stored runs, with ranks, pictures, and our losses."""

import json
import re

import numpy as np
import pytest
from docs.make.ranks import Comparison, compare
from docs.make.related import count_wins, write_related

from labelkin.research.experiments import parse_experiment, run_experiment
from labelkin.research.experiments import runs as running
from labelkin.research.experiments.subprocess_runner import run_here
from labelkin.research.reports.results import read_outcomes

TEXT = """
name = "related"
additions = []
[[corpus]]
path = "first.jsonl"
[[corpus]]
path = "second.jsonl"
[words]
min_documents = 1
stem = false
[content.SVM]
classifier = "svm"
weights = "tfidf"
[related.BR]
classifier = "binary_relevance"
estimator = "SVM"
[related.CC]
classifier = "classifier_chain"
estimator = "SVM"
[related.labelkin]
classifier = "label_dependence"
estimator = "SVM"
"""


def write_corpus(path, seed):
    rng = np.random.default_rng(seed)
    words = np.array(["corn", "wheat", "ship", "harbour", "gold", "silver"])
    rows = []
    for i in range(80):
        labels = rng.random(3) < 0.4
        drawn = [*words[np.repeat(labels, 2)], str(rng.choice(words))]
        part = "test" if i % 4 == 0 else "train"
        names = [name for name, has in zip("abc", labels, strict=True) if has]
        rows.append({"id": i, "text": " ".join(drawn), "labels": names, "split": part})
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "run_in_subprocess", lambda job, limit: run_here(job))
    for seed, name in enumerate(("first", "second")):
        write_corpus(tmp_path / f"{name}.jsonl", seed)
    run_experiment(parse_experiment(TEXT, folder=tmp_path), tmp_path / "results")
    return tmp_path / "results"


def test_the_page_shows_scores_mean_ranks_and_costs(results, tmp_path):
    text = write_related([results], tmp_path / "related-methods.md").read_text(encoding="utf-8")
    for title in ("Micro F1", "Macro F1", "Hamming loss", "Subset 0/1 loss", "One-error", "Cost"):
        assert f"## {title}" in text
    comparison = compare(read_outcomes(results, partial=False, rules=True))
    for system, rank in comparison.mean_ranks("micro_f1").items():
        assert re.search(rf"\| {system} \| .* \| {rank:.2f} \|", text)


def test_losses_are_counted_as_wins_are():
    values = {
        ("micro_f1", "labelkin", "tea"): 0.5,
        ("micro_f1", "CC", "tea"): 0.7,
        ("hamming_loss", "labelkin", "tea"): 0.1,
        ("hamming_loss", "CC", "tea"): 0.3,
        ("one_error", "labelkin", "tea"): 0.2,
        ("one_error", "CC", "tea"): 0.2,
    }
    text = count_wins(Comparison(("tea",), ("labelkin", "CC"), values, {}))
    assert text.splitlines()[-1] == "| CC | 1 | 1 | 1 |"
