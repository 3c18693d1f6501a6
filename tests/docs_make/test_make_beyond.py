"""The page on what goes beyond the paper: its numbers are those of the stored runs."""

import re

import numpy as np
import pytest
from docs.make.beyond import write_beyond
from docs.make.cells import count_gains, gain, read_cells

from labelkin.research.experiments import parse_experiment, run_experiment
from labelkin.research.experiments.plan import METRICS

EXPERIMENT = """
name = "beyond"
seeds = [0, 1]
variants = ["M2"]
evidence_weights = [1, "auto"]
controls = ["offset", "calibration"]
corpus = { name = "newsroom", options = { n_documents = 240 } }
content.NB = { classifier = "naive_bayes" }
content.SVM = { classifier = "svm", weights = "tfidf" }
labels.BLR = { classifier = "logistic" }
thresholds.GlobalCut = { rule = "global_cut", metric = "micro_f1" }
thresholds.FBR = { rule = "scut_fbr" }
thresholds.Gap = { rule = "mcut" }
"""
LEARNED = "BLR+M2 w=auto"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_experiment(parse_experiment(EXPERIMENT), tmp_path_factory.mktemp("beyond"))


@pytest.fixture(scope="module")
def cells(results):
    return read_cells([results.folder])


@pytest.mark.parametrize("metric", METRICS)
def test_where_they_differ_the_difference_is_that_of_the_means(cells, metric):
    cell = cells[1]
    first, second = cell.systems["", ""]
    assert first.scores != second.scores
    expected = cell.value(metric, LEARNED) - cell.value(metric)
    found = cell.differences[metric].bootstrap
    assert found.difference == pytest.approx(expected, abs=1e-12)
    assert found.low <= found.difference <= found.high


@pytest.mark.parametrize(
    ("metric", "before", "after", "expected"),
    [
        ("micro_f1", 0.5, 0.6, 20.0),
        ("hamming_loss", 0.5, 0.6, -20.0),
        ("one_error", 0.0, 0.0, 0.0),
        ("one_error", 0.0, 0.1, -np.inf),
        ("macro_f1", 0.3, 0.3 + 1e-15, 0.0),
    ],
)
def test_a_gain_is_a_share_of_the_remaining_loss(metric, before, after, expected):
    assert gain(metric, before, after) == pytest.approx(expected)


def test_gains_are_counted_and_infinite_ones_kept_out_of_the_mean():
    verdict = count_gains([2.0, 4.0, 0.0, -np.inf])
    assert (str(verdict), verdict.mean, verdict.worst) == ("2 / 1 / 1", 2.0, -np.inf)


def test_counts_of_the_page_are_those_of_its_table(results, tmp_path):
    page = write_beyond([results.folder], tmp_path / "docs" / "beyond.md").read_text()
    assert "`python -m docs.make.beyond RESULTS…`" in page
    counted = re.search(r"in 10 pairs of cell and metric: \*\*(\d+) / (\d+) / (\d+)\*\*", page)
    shown = re.findall(r"→ [\d.]+ \(([+−]?)[\d.]+ %\)", page)
    assert len(shown) == 10
    better, equal, worse = (int(n) for n in counted.groups())
    assert better + equal + worse == 10
    rounded_to_0 = shown.count("")  # the table rounds, the sentence does not
    assert 0 <= better - shown.count("+") <= rounded_to_0
    assert 0 <= worse - shown.count("−") <= rounded_to_0
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert not any("nan" in line for line in lines)
