"""The page on strong content: its numbers are those of the stored runs."""

import numpy as np
import pytest
from docs.make import strong_content
from docs.make.strong_content import compare, read_pages, write_strong_content

from labelkin.evaluation.metrics import evaluate
from labelkin.research.experiments import parse_experiment, run_experiment

EXPERIMENT = """
name = "small"
variants = ["M2"]
evidence_weights = [1.0, "auto"]
controls = ["offset", "calibration"]
corpus = { name = "newsroom", options = { n_documents = 300 } }
content.NB = { classifier = "naive_bayes" }
labels.BLR = { classifier = "logistic" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strong")
    run_experiment(parse_experiment(EXPERIMENT), folder)
    return folder


def scores(seed=0, n=200, p=4):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.4).astype(int)
    return Y, 2.0 * Y - 1 + rng.normal(0, 2, Y.shape)


def test_both_sides_are_those_of_the_metrics():
    Y, before = scores()
    found = compare("c", "s", Y, before, before + 0.5)
    one, other = evaluate(Y, before).scores(), evaluate(Y, before + 0.5).scores()
    for name in found.after:
        assert found.before[name] == pytest.approx(one[name])
        assert found.after[name] == pytest.approx(other[name])
    assert found.gain("hamming_loss") == pytest.approx(one["hamming_loss"] - other["hamming_loss"])
    assert found.gain("micro_f1") == pytest.approx(other["micro_f1"] - one["micro_f1"])


@pytest.mark.parametrize("few", [10, 300], ids=["candidates", "all labels"])
def test_the_page_has_the_numbers_of_the_runs(folder, tmp_path, monkeypatch, few):
    monkeypatch.setattr(strong_content, "_FEW_LABELS", few)
    monkeypatch.setattr(strong_content, "CANDIDATES", 20)
    text = write_strong_content([folder], tmp_path / "page.md").read_text()
    (page,) = read_pages([folder])
    comparison = page.comparisons[page.learned]
    assert f"{comparison.before['macro_f1']:.4f}" in text
    assert f"{comparison.after['macro_f1']:.4f}" in text
    assert ("20 best labels" in text) == (few == 10)
    assert "## Known labels" in text
    assert ("standard errors worse:" in text) == bool(comparison.worse())
