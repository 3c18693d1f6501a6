"""An experiment end to end on a small made corpus: what is computed, kept and read back."""

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
    SVMLabels,
    corpora,
)
from labelkin.corpora.corpus import labels_of
from labelkin.research.experiments import (
    parse_experiment,
    prepared_corpus,
    read_results,
    run_experiment,
)
from labelkin.research.reports.results import read_outcomes
from labelkin.text import TermSelection, TermWeights, WordCounts

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


@pytest.fixture(scope="module")
def by_hand():
    """Counts, selected tf-idf and ltc of both parts, and the labels, without the experiment."""
    corpus = corpora.newsroom(400, seed=1)
    parts = corpus.train, corpus.test
    counter = WordCounts(min_documents=2).fit(corpus.documents[corpus.train])
    counts = [counter.transform(corpus.documents[part]) for part in parts]
    labels = labels_of(corpus).rows(corpus.train)
    chosen = TermSelection("chi2", combine="max", k=150).fit(counts[0], labels)
    few = [chosen.transform(part) for part in counts]
    seen = {
        "NB": counts,
        "kNN": [TermWeights("tfidf").fit(few[0]).transform(part) for part in few],
        "SVM": [TermWeights("ltc").fit(counts[0]).transform(part) for part in counts],
    }
    return seen, labels, labels_of(corpus).rows(corpus.test)


CLASSIFIERS = {
    "NB": NaiveBayes(),
    "kNN": NearestNeighbours(9),
    "SVM": PlattSVM(free_bias=True, random_state=3),
}


@pytest.mark.parametrize("content", CLASSIFIERS)
@pytest.mark.parametrize("addition", ["", "BLR+M1", "BLR+M2", "SMO+M1", "SMO+M2"])
def test_every_run_is_what_the_classifier_gives_by_hand(fifteen, by_hand, content, addition):
    seen, labels, _ = by_hand
    model = CLASSIFIERS[content]
    if addition:
        model = LabelDependenceClassifier(
            content=model,
            labels=LogisticLabels() if "BLR" in addition else SVMLabels(),
            variant="hard" if "M1" in addition else "soft",
            evidence_weight=1.0,
        )
    expected = model.fit(seen[content][0], labels).log_odds(seen[content][1])
    run = fifteen.corpora[0].run(f"{content}+{addition}" if addition else content)
    np.testing.assert_allclose(run.log_odds(), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(run.decisions(), run.log_odds() > 0)
    assert (run.content, run.addition, run.corpus, run.seed) == (content, addition, "newsroom", 3)


def test_the_results_know_the_truth_and_the_corpus(fifteen, by_hand):
    _, train, test = by_hand
    (results,) = fifteen.corpora
    for ours, theirs in ((results.Y, test), (results.Y_train, train)):
        np.testing.assert_array_equal(ours, theirs.dense())
        assert results.label_names.tolist() == theirs.names.tolist()
    assert results.facts["n_train"] == 267
    assert results.facts["licence"] == "BSD-3-Clause"


def test_results_read_from_disk_are_those_that_were_returned(fifteen):
    again = read_results(fifteen.folder)
    assert again.experiment.runs() == fifteen.experiment.runs()
    assert again.runs == fifteen.runs
    assert arrays(again) == arrays(fifteen)


def test_runs_are_read_only(fifteen):
    with pytest.raises(ValueError, match="read-only"):
        fifteen.runs[0].log_odds()[0, 0] = 1.0


def test_a_run_says_what_it_was_made_of(fifteen):
    run = fifteen.corpora[0].run("kNN+BLR+M2")
    stored = json.loads((run.folder / "run.json").read_text())
    assert stored["configuration"] == run.configuration
    assert run.configuration["content"]["parameters"] == {"n_neighbors": 9}
    assert run.configuration["words"] == {"min_documents": 2}
    assert run.configuration["addition"]["labels"]["classifier"] == "logistic"
    assert {"labelkin", "numpy", "scikit-learn", "python"} <= set(run.versions)
    assert run.seconds["wall"] > 0


def test_same_seed_same_bytes_whatever_n_jobs(fifteen, tmp_path):
    again = run_experiment(fifteen.experiment, tmp_path, n_jobs=2)
    assert arrays(again) == arrays(fifteen)


def test_another_seed_gives_other_svms_and_the_same_naive_bayes(fifteen, tmp_path):
    other = run_experiment(parse_experiment(FIFTEEN.replace("[3]", "[4]")), tmp_path)
    for system, same in (("NB", True), ("kNN+SMO+M1", True), ("SVM", False), ("SVM+BLR+M2", False)):
        pair = [results.corpora[0].run(system).log_odds() for results in (fifteen, other)]
        assert np.array_equal(*pair) == same


def test_blocks_of_any_size_give_the_same(fifteen, tmp_path, monkeypatch):
    monkeypatch.setattr(prepared_corpus, "_BLOCK_DOCUMENTS", 7)
    monkeypatch.setattr("labelkin.research.experiments.run_folder._BLOCK_CELLS", 100)
    reported = []
    blocked = run_experiment(
        fifteen.experiment, tmp_path, run_progress=lambda *event: reported.append(event)
    )
    assert (7, 133, "NB@seed3: documents") in reported
    assert (2, 133, "NB+BLR+M2@seed3: documents") in reported
    for ours, theirs in zip(blocked.runs, fifteen.runs, strict=True):
        np.testing.assert_allclose(ours.log_odds(), theirs.log_odds(), rtol=1e-10, atol=1e-10)


def test_progress_is_reported_for_the_whole_and_for_the_run(tmp_path):
    whole, runs = [], []
    run_experiment(
        parse_experiment(SMALL),
        tmp_path,
        progress=lambda *event: whole.append(event),
        run_progress=lambda *event: runs.append(event),
    )
    assert whole == [
        (0, 2, "NB@seed0 on newsroom"),
        (1, 2, "NB+BLR+M2@seed0 on newsroom"),
        (2, 2, "done"),
    ]
    assert runs[:2] == [(0, 1, "reading newsroom"), (0, 30, "NB@seed0: features")]
    assert runs[-1] == (30, 30, "NB+BLR+M2@seed0: documents")


def test_what_is_there_is_not_done_again_nor_is_the_corpus_loaded(small, monkeypatch):
    monkeypatch.setattr(prepared_corpus, "load", None)
    reported = []
    again = run_experiment(small.experiment, small.folder, progress=lambda *e: reported.append(e))
    assert reported == [(2, 2, "done")]
    assert again.runs == small.runs


def test_an_experiment_may_grow_and_shares_content_evidence(small, monkeypatch):
    monkeypatch.setattr(prepared_corpus, "load", None)
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


def test_measured_features_are_standardised_for_a_gaussian(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(0, [1.0, 100.0, 0.01], size=(60, 3))
    Y = (X / [1.0, 100.0, 0.01] > 0.3).astype(int)
    corpus = corpora.Corpus(
        name="measured",
        documents=X,
        features="numbers",
        Y=Y,
        label_names=np.arange(3),
        train=np.arange(40),
        test=np.arange(40, 60),
        source="here",
        licence="none",
    )
    monkeypatch.setattr(prepared_corpus, "load", lambda *place, **options: corpus)
    text = SMALL.replace('"naive_bayes"', '"gaussian_naive_bayes"\nweights = "standardised"')
    run = run_experiment(
        parse_experiment(text.replace("{ n_documents = 90 }", "{}")), tmp_path
    ).runs[0]
    scale = StandardScaler().fit(X[:40])
    expected = PerLabel(GaussianNB()).fit(scale.transform(X[:40]), Y[:40])
    np.testing.assert_allclose(
        run.log_odds(), expected.log_odds(scale.transform(X[40:])), rtol=1e-9, atol=1e-9
    )


def _names(Y):
    names = np.arange(Y.shape[1])
    return names, "multilabel", names


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
    chosen = 'labels = "in_both"\ndocuments = { train = "all", test = "labelled" }\n'
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
        ('"naive_bayes"', '"svm"\nweights = "standardised"', r"must be given a dense matrix"),
        ("[content.NB]", "test_share = 0.5\n[content.NB]", r"has a split of 60 and 30"),
    ],
)
def test_what_only_the_corpus_shows_is_an_error_too(old, new, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run_experiment(parse_experiment(SMALL.replace(old, new)), tmp_path)
    assert not list(tmp_path.glob("newsroom/runs/*"))


def test_a_vocabulary_of_the_corpus_gives_reports_the_names_of_labels(tmp_path):
    text = SMALL.replace('"newsroom"\n', '"newsroom"\nvocab = "newsroom"\nlabel_language = "de"\n')
    results = run_experiment(parse_experiment(text), tmp_path / "named")
    assert results.corpora[0].facts["label_names"]["wheat"] == "Weizen"
    (outcome,) = read_outcomes(tmp_path / "named")
    assert outcome.names["wheat"] == "Weizen"
    plain = run_experiment(parse_experiment(SMALL), tmp_path / "named")  # the same runs
    assert plain.corpora[0].facts["label_names"]["wheat"] == "Weizen"


def test_a_vocabulary_that_has_no_label_of_the_corpus_is_an_error(tmp_path):
    file = tmp_path / "other.tsv"
    file.write_text("http://example.org/a\tApple\n", encoding="utf-8")
    text = SMALL.replace('"newsroom"\n', '"newsroom"\nvocab = "other.tsv"\n')
    experiment = parse_experiment(text, folder=tmp_path)
    with pytest.raises(ValueError, match=r"none of the \d+ labels .*'http://example.org/a'"):
        run_experiment(experiment, tmp_path / "out")
