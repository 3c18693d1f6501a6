"""Experiments by name, and a template for a corpus of one's own that runs as it is written."""

import json
import re
import tomllib

import numpy as np
import pytest
from scipy import sparse

from labelkin import corpora
from labelkin.research.experiments import (
    new_experiment,
    parse_experiment,
    read_experiment,
    run_experiment,
    train,
)
from labelkin.research.reports.tables import report_results

WORDS = ["corn", "wheat", "ship", "harbour", "gold", "silver", "bank", "rate"]
THREE = ["SVM", "SVM+BLR+M2", "SVM+BLR+M2 w=auto"]


def documents(n_documents, *, split=False, seed=0):
    """Return documents whose words and labels go together, as JSON lines have them."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n_documents):
        topic = int(rng.integers(4))
        words = [*WORDS[2 * topic : 2 * topic + 2], str(rng.choice(WORDS))]
        labels = [f"topic {topic}", *(["shared"] if topic < 2 else [])]
        part = {"split": "test" if i % 4 == 0 else "train"} if split else {}
        rows.append({"id": i, "text": " ".join(words), "labels": labels, **part})
    return rows


def write_jsonl(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def write_new(corpus, file, **options):
    file.write_text(new_experiment(corpus, file, **options), encoding="utf-8")
    return read_experiment(file)


def with_all_that_is_ready(text):
    """Take the # away where a line is ready to be used."""
    return re.sub(r"(?m)^#(?=[\[a-z])", "", text)


@pytest.mark.parametrize("split", [False, True])
def test_the_template_compares_content_the_paper_and_the_learned_weight(split, tmp_path):
    corpus = write_jsonl(tmp_path / "mine.jsonl", documents(60, split=split))
    experiment = write_new(corpus, tmp_path / "mine.toml")
    (results,) = run_experiment(experiment, tmp_path / "out").corpora
    assert [run.system for run in results.runs] == THREE
    sizes = (results.facts["n_train"], results.facts["n_test"])
    assert sizes == ((45, 15) if split else (42, 18))
    assert len(report_results(tmp_path / "out")) == 4


@pytest.mark.parametrize(
    "rows",
    [
        documents(2),
        [{"id": i, "text": "tea", "labels": ["same"]} for i in range(6)],
        [{"id": i, "text": "tea" * (i % 2), "labels": [str(i)]} for i in range(7)],
        [{"id": 1, "text": "tea", "labels": ["x"], "split": "train"},
         {"id": 2, "text": "corn", "labels": [], "split": "test"}],
    ],
    ids=["two", "all alike", "every label once", "one and one"],
)  # fmt: skip
def test_the_template_runs_on_tiny_corpora(rows, tmp_path):
    experiment = write_new(write_jsonl(tmp_path / "tiny.jsonl", rows), tmp_path / "tiny.toml")
    results = run_experiment(experiment, tmp_path / "out")
    assert [run.system for run in results.runs] == THREE
    assert all(np.isfinite(run.log_odds()).all() for run in results.runs)
    report_results(tmp_path / "out")


def test_commented_options_of_the_template_run(tmp_path):
    corpus = write_jsonl(tmp_path / "mine.jsonl", documents(60))
    text = with_all_that_is_ready(new_experiment(corpus, tmp_path / "mine.toml"))
    results = run_experiment(parse_experiment(text, folder=tmp_path), tmp_path / "out")
    assert {run.content for run in results.runs} == {"SVM", "NB"}
    assert {run.seed for run in results.runs} == {0, 1, 2}
    assert {"SVM+offset", "NB+BLR+M2 w=auto"} <= {run.system for run in results.runs}
    assert "SVM+BLR+M2 w=auto | GlobalCut" in {run.system for run in results.threshold_runs}
    assert "ndcg@5" in results.experiment.metrics


KINDS = {
    "counts": np.array([[2, 0, 1], [0, 3, 1], [1, 1, 0]]),
    "binary": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]]),
    "weights": np.array([[0.5, 0, 0.1], [0, 0.7, 0.2], [0.3, 0.3, 0]]),
    "numbers": np.array([[-0.5, 40.0, 0.1], [0.2, -70.0, 0.2], [0.3, 30.0, -1.0]]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stored", [np.array, sparse.csr_array])
def test_vectors_of_every_kind_run_with_suitable_weights(kind, stored, tmp_path, monkeypatch):
    corpus = corpora.Corpus(
        name="vectors",
        documents=stored(np.tile(KINDS[kind], (8, 1)).astype(float)),
        features=kind,
        Y=np.tile([[1, 0], [0, 1], [1, 1]], (8, 1)),
        label_names=np.array(["a", "b"]),
        train=np.arange(24),
        test=np.arange(0),
        source="here",
        licence="none",
    )
    file = tmp_path / "vectors.toml"
    text = new_experiment(tmp_path / "vectors.arff", file, corpus=corpus)
    assert "[words]" not in text
    monkeypatch.setattr(train, "load", lambda place: corpus)
    experiment = parse_experiment(with_all_that_is_ready(text), folder=tmp_path)
    results = run_experiment(experiment, tmp_path / "out")
    assert {run.content for run in results.runs} == {"SVM", "NB"}


def test_paths_count_from_the_file_and_names_suit_files(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "plans").mkdir()
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "data" / 'my "news" – 1.jsonl', documents(12))
    experiment = write_new('data/my "news" – 1.jsonl', tmp_path / "plans" / "x.toml")
    assert experiment.name == experiment.corpora[0].name == "my-news-1"
    given = tomllib.loads((tmp_path / "plans" / "x.toml").read_text(encoding="utf-8"))
    assert given["corpus"]["path"] == '../data/my "news" – 1.jsonl'
    assert run_experiment(experiment, tmp_path / "out").corpora[0].facts["n_test"] == 4
