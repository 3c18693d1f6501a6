"""The page of related methods: from stored runs, with ranks, pictures, and our losses."""

import json

import numpy as np
import pytest
from docs.make.ranks import Comparison
from docs.make.related import count_wins, write_page

from labelkin.research.experiments import parse_experiment, run_experiment
from labelkin.research.experiments import run as running
from labelkin.research.experiments.subprocess_runner import run_here

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


def test_the_page_shows_scores_ranks_tests_pictures_and_costs(results, tmp_path):
    (page, *pictures) = write_page([results], tmp_path / "related-methods.md")
    text = page.read_text(encoding="utf-8")
    for title in ("Micro F1", "Macro F1", "Hamming loss", "Subset 0/1 loss", "One-error", "Cost"):
        assert f"## {title}" in text
    assert "Friedman's test over 3 systems on 2 corpora" in text
    assert "By Holm at 0.05" in text
    assert len(pictures) == 5
    for picture in pictures:
        svg = picture.read_text(encoding="utf-8")
        assert 'xmlns="http://www.w3.org/2000/svg"' in svg
        assert "critical difference" in svg and f"({picture.name})" in text


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


def test_folders_without_related_methods_are_an_error(tmp_path, results):
    plain = TEXT.partition("[related.BR]")[0]
    run_experiment(parse_experiment(plain, folder=results.parent), tmp_path / "plain")
    with pytest.raises(ValueError, match="must hold runs of related methods"):
        write_page([tmp_path / "plain"], tmp_path / "page.md")
