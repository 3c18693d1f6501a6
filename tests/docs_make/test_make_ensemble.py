"""The page on several content classifiers: its numbers are those of the stored runs."""

import numpy as np
import pytest
from docs.make.ensemble import compare, comparisons_of, main, scores_of, verdict

from labelkin.evaluation.metrics import evaluate
from labelkin.research.experiments import parse_experiment, run_experiment

EXPERIMENT = """
name = "small"
seeds = [0, 1]
variants = ["M2"]
evidence_weights = ["auto"]
controls = ["calibration"]
corpus = { name = "newsroom", options = { n_documents = 240 } }
content.NB = { classifier = "naive_bayes" }
content.SVM = { classifier = "svm", weights = "tfidf" }
content.Strong = { classifier = "views", views = ["text", "lead"], weights = "texts" }
labels.BLR = { classifier = "logistic" }
thresholds.NotEmpty = { rule = "not_empty" }
content.Three = { classifier = "ensemble", members = ["naive_bayes", "svm"], weights = "tfidf" }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_experiment(parse_experiment(EXPERIMENT), tmp_path_factory.mktemp("ensemble"))


def test_the_page_has_the_numbers_of_the_runs(results, tmp_path):
    main([str(results.folder), "--out", str(tmp_path / "page.md")])
    text = (tmp_path / "page.md").read_text()
    (corpus,) = results.corpora
    runs = [corpus.run("Three+BLR+M2 w=auto", seed) for seed in (0, 1)]
    means = np.mean([evaluate(corpus.Y, np.array(r.log_odds())).scores()["micro_f1"] for r in runs])
    assert f"{means:.4f}" in text
    for name in ("Three + label evidence against SVM + label evidence", "calibration (no labels)"):
        assert name in text
    assert "Strong + label evidence, at least one label" in text
    assert "newsroom (2 seeds)" in text


def test_differences_have_the_side_of_the_means(results):
    (corpus,) = results.corpora
    found = compare(corpus, "Three", "NB")
    scores = scores_of(corpus)
    one, other = (scores[name].runs[0] for name in ("Three", "NB"))
    one, other = (evaluate(corpus.Y, np.array(run.log_odds())).scores() for run in (one, other))
    for name in ("micro_f1", "hamming_loss", "one_error"):
        assert found.bootstraps[name].difference == pytest.approx(one[name] - other[name])
    assert found.gain("hamming_loss") == pytest.approx(other["hamming_loss"] - one["hamming_loss"])


def test_what_is_not_there_is_not_compared(results):
    (corpus,) = results.corpora
    assert compare(corpus, "Default", "SVM") is None
    names = [(one.ensemble, one.single) for one in comparisons_of([corpus])]
    assert names == [
        ("Three+BLR+M2 w=auto", "SVM+BLR+M2 w=auto"),
        ("Strong+BLR+M2 w=auto", "SVM+BLR+M2 w=auto"),
    ]
    assert "of 10 pairs" in verdict(list(comparisons_of([corpus])))


def test_members_are_weighed_in_the_record(results):
    run = results.corpora[0].run("Three")
    assert set(run.learned) == {"weight of naive_bayes", "weight of svm"}


def test_test_labels_are_read_by_the_report_only(tmp_path, monkeypatch):
    """With the labels of test documents shuffled, all log-odds of them are the same bytes."""
    from labelkin.research.experiments import prepared_corpus

    experiment = parse_experiment(EXPERIMENT.replace("seeds = [0, 1]", "seeds = [0]"))
    before = run_experiment(experiment, tmp_path / "a").corpora[0]
    prepare = prepared_corpus._choose

    def shuffled(corpus, choice):
        from dataclasses import replace

        found = prepare(corpus, choice)
        rows = np.arange(found.Y.shape[0])
        rows[found.test] = np.random.default_rng(0).permutation(found.test)
        return replace(found, Y=found.Y[rows])

    monkeypatch.setattr(prepared_corpus, "_choose", shuffled)
    after = run_experiment(experiment, tmp_path / "b").corpora[0]
    assert not np.array_equal(before.Y, after.Y)
    for one, other in zip(before.runs, after.runs, strict=True):
        assert np.array(one.log_odds()).tobytes() == np.array(other.log_odds()).tobytes()
    for one, other in zip(before.threshold_runs, after.threshold_runs, strict=True):
        assert np.array_equal(one.decisions(), other.decisions())
