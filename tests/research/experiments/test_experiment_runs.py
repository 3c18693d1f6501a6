"""An experiment end to end on a small synthetic corpus."""

import json

import numpy as np
import pytest

from labelkin.research.experiments import (
    parse_experiment,
    read_results,
    run_experiment,
    train,
)

FIFTEEN = """
name = "fifteen"
seeds = [3]
[corpus]
name = "newsroom"
options = { n_documents = 400, seed = 1 }
[words]
min_documents = 2
[content.NB]
classifier = "naive_bayes"
[content.kNN]
classifier = "nearest_neighbours"
n_neighbors = 9
weights = "tfidf"
terms = { criterion = "chi2", combine = "max", k = 150 }
[content.SVM]
classifier = "svm"
free_bias = true
weights = "ltc"
[labels.BLR]
classifier = "logistic"
[labels.SMO]
classifier = "svm"
"""
SMALL = """
name = "small"
variants = ["M2"]
[corpus]
name = "newsroom"
options = { n_documents = 90 }
[content.NB]
classifier = "naive_bayes"
[labels.BLR]
classifier = "logistic"
"""


@pytest.fixture(scope="module")
def fifteen(tmp_path_factory):
    return run_experiment(parse_experiment(FIFTEEN), tmp_path_factory.mktemp("fifteen"))


@pytest.fixture
def small(tmp_path):
    return run_experiment(parse_experiment(SMALL), tmp_path / "small")


def arrays(results):
    return {
        (run.corpus, run.folder.name): (run.log_odds().tobytes(), run.decisions().tobytes())
        for run in results.runs
    }


def test_bytes_do_not_depend_on_n_jobs(fifteen, tmp_path):
    again = run_experiment(fifteen.experiment, tmp_path, n_jobs=2)
    assert arrays(again) == arrays(fifteen)


def test_blocks_of_any_size_give_the_same(fifteen, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "_BLOCK_DOCUMENTS", 7)
    blocked = run_experiment(fifteen.experiment, tmp_path)
    for ours, theirs in zip(blocked.runs, fifteen.runs, strict=True):
        np.testing.assert_allclose(ours.log_odds(), theirs.log_odds(), rtol=1e-10, atol=1e-10)


def test_complete_runs_need_no_training_and_no_corpus(small, monkeypatch):
    monkeypatch.setattr(train, "load", None)
    reported = []
    again = run_experiment(small.experiment, small.folder, progress=lambda *e: reported.append(e))
    assert reported == [(2, 2, "done")]
    assert again.runs == small.runs


def test_an_experiment_may_grow_and_shares_content_evidence(small, monkeypatch):
    monkeypatch.setattr(train, "load", None)
    grown = SMALL.replace('["M2"]', '["M1", "M2"]\nevidence_weights = [1, 0.5]')
    results = run_experiment(parse_experiment(grown), small.folder)
    assert [run.system for run in results.runs] == [
        "NB", "NB+BLR+M1", "NB+BLR+M1 w=0.5", "NB+BLR+M2", "NB+BLR+M2 w=0.5",
    ]  # fmt: skip
    runs = {run.system: run.log_odds() for run in read_results(small.folder).runs}
    halfway = (runs["NB"] + runs["NB+BLR+M2"]) / 2
    np.testing.assert_allclose(runs["NB+BLR+M2 w=0.5"], halfway, rtol=1e-9, atol=1e-9)


def test_several_corpora_have_a_folder_each(tmp_path):
    text = SMALL.replace("[corpus]", "[[corpus]]").replace(
        "[content.NB]", '[[corpus]]\nname = "mine"\npath = "mine.jsonl"\n[content.NB]'
    )
    lines = [
        {"id": i, "text": text, "labels": labels, "split": "test" if i % 3 == 0 else "train"}
        for i, (text, labels) in enumerate([("tea sugar", ["tea"]), ("corn tea", ["corn"])] * 9)
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    experiment = parse_experiment(text, folder=tmp_path)
    results = run_experiment(experiment, tmp_path / "out")
    assert [(c.name, c.Y.shape) for c in results.corpora] == [
        ("newsroom", (30, 38)),
        ("mine", (6, 2)),
    ]
    assert results.corpora[1].ids.tolist() == ["0", "3", "6", "9", "12", "15"]
    assert arrays(read_results(tmp_path / "out")) == arrays(results)
    assert (tmp_path / "out" / "mine" / "runs" / "NB@seed0" / "log_odds.npy").is_file()


def test_documents_and_labels_can_be_chosen(tmp_path):
    lines = [
        {"id": 1, "text": "tea", "labels": ["tea"], "split": "train"},
        {"id": 2, "text": "tea", "labels": [], "split": "train"},
        {"id": 3, "text": "tea corn", "labels": ["corn"], "split": "train"},
        {"id": 4, "text": "tea", "labels": ["tea", "rare"], "split": "test"},
        {"id": 5, "text": "tea", "labels": ["rare"], "split": "test"},
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    head, tail = SMALL.replace("{ n_documents = 90 }", "{}").split("[content.NB]")
    head = head.replace('"newsroom"', '"mine"\npath = "mine.jsonl"')
    chosen = 'labels = "in_both"\ntest = "labelled"\n'
    text = f"{head}{chosen}[words]\nmin_documents = 1\n[content.NB]{tail}"
    (results,) = run_experiment(parse_experiment(text, folder=tmp_path), tmp_path / "out").corpora
    assert results.label_names.tolist() == ["tea"]
    assert (results.Y_train.shape, results.ids.tolist()) == ((3, 1), ["4"])


def test_a_corpus_without_a_split_gets_one_on_demand(tmp_path):
    lines = [{"id": i, "text": "tea corn", "labels": ["tea"] * (i % 2)} for i in range(20)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    head, tail = SMALL.replace("{ n_documents = 90 }", "{}").split("[content.NB]")
    head = head.replace('"newsroom"', '"mine"\npath = "mine.jsonl"')
    with pytest.raises(ValueError, match=r"mine must have test documents.*test_share = 0\.3"):
        run_experiment(
            parse_experiment(f"{head}[content.NB]{tail}", folder=tmp_path), tmp_path / "a"
        )
    text = f"{head}test_share = 0.3\n[content.NB]{tail}"
    (results,) = run_experiment(parse_experiment(text, folder=tmp_path), tmp_path / "b").corpora
    assert (results.facts["n_train"], results.facts["n_test"]) == (14, 6)
    assert results.Y.sum() == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n_documents = 90", "n_docs = 90", r"\[corpus.options\] must suit the reader of newsroom"),
        (
            '"naive_bayes"',
            '"svm"\nweights = "standardised"',
            r"weights must suit newsroom, counts in a sparse",
        ),
        ("[content.NB]", "test_share = 0.5\n[content.NB]", r"has a split of 60 and 30"),
    ],
)
def test_settings_that_do_not_fit_the_corpus_are_errors(old, new, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run_experiment(parse_experiment(SMALL.replace(old, new)), tmp_path)
    assert not list(tmp_path.glob("newsroom/runs/*"))
