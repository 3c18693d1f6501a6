"""The page on several content classifiers: its numbers are those of the stored runs."""

import numpy as np
import pytest
from docs.make.ensemble import compare, main, scores_of

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
