"""The page on what goes beyond the paper: its numbers are those of the stored runs."""

import re
from dataclasses import replace

import numpy as np
import pytest
from docs.make.beyond import beyond_page, main, write_beyond
from docs.make.beyond_tables import mean_table, score_table, threshold_table
from docs.make.cells import Difference, count_gains, gain, read_cells
from sklearn.metrics import f1_score, hamming_loss, zero_one_loss

from labelkin.evaluation.significance import (
    Bootstrap,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)
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


def judge(Y, run):
    """Return the five scores without labelkin's metrics."""
    decided, scores = run.decisions().astype(int), run.log_odds()
    return {
        "micro_f1": f1_score(Y, decided, average="micro", zero_division=0),
        "macro_f1": f1_score(Y, decided, average="macro", zero_division=0),
        "hamming_loss": hamming_loss(Y, decided),
        "subset_loss": zero_one_loss(Y, decided),
        "one_error": 1 - Y[np.arange(len(Y)), scores.argmax(axis=1)].mean(),
    }


def mean_scores(results, system):
    (corpus,) = results.corpora
    Y = corpus.Y
    judged = [judge(Y, corpus.run(system, seed)) for seed in (0, 1)]
    return {metric: np.mean([scores[metric] for scores in judged]) for metric in METRICS}


@pytest.mark.parametrize("content", ["NB", "SVM"])
def test_scores_are_means_over_the_seeds_as_scikit_learn_has_them(results, cells, content):
    cell = next(cell for cell in cells if cell.content == content)
    for addition, rule in cell.systems:
        system = f"{content}+{addition}" if addition else content
        expected = mean_scores(results, f"{system} | {rule}" if rule else system)
        for metric in METRICS:
            if not rule or metric != "one_error":
                found = cell.value(metric, addition, rule)
                assert found == pytest.approx(expected[metric], abs=1e-12)
    additions = ("", "BLR+M2", LEARNED, "offset", "calibration")
    rules = ("GlobalCut", "FBR", "Gap")
    decided = {(a, r) for a in ("", LEARNED) for r in rules}
    assert set(cell.systems) == {(a, "") for a in additions} | decided


@pytest.mark.parametrize("metric", METRICS)
def test_where_the_seeds_agree_the_interval_is_that_of_one_seed(results, cells, metric):
    (corpus,) = results.corpora
    runs = [corpus.run(system, 0) for system in ("NB", f"NB+{LEARNED}")]
    pair = [run.log_odds() if metric == "one_error" else run.decisions() * 1 for run in runs]
    expected = paired_bootstrap(corpus.Y, *pair, metric, random_state=0)
    found = cells[0].differences[metric].bootstrap
    for name in ("difference", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_where_they_differ_the_difference_is_that_of_the_means(cells, metric):
    cell = cells[1]
    first, second = cell.systems["", ""]
    assert first.scores != second.scores
    expected = cell.value(metric, LEARNED) - cell.value(metric)
    found = cell.differences[metric].bootstrap
    assert found.difference == pytest.approx(expected, abs=1e-12)
    assert found.low <= found.difference <= found.high


def test_signs_are_those_of_the_sign_tests(results, cells):
    (corpus,) = results.corpora
    pair = [corpus.run(system, 0).decisions() * 1 for system in ("NB", f"NB+{LEARNED}")]
    signs = [test(corpus.Y, *pair).sign for test in (micro_sign_test, macro_sign_test)]
    assert [cells[0].differences[m].sign for m in ("micro_f1", "macro_f1")] == signs


@pytest.mark.parametrize(
    ("metric", "low", "high", "verdict"),
    [
        ("micro_f1", 0.01, 0.02, "better"),
        ("micro_f1", -0.02, -0.01, "worse"),
        ("one_error", 0.01, 0.02, "worse"),
        ("hamming_loss", -0.02, -0.01, "better"),
        ("macro_f1", -0.01, 0.02, ""),
        ("subset_loss", 0.0, 0.0, ""),
    ],
)
def test_an_interval_lies_on_a_side_or_holds_0(metric, low, high, verdict):
    drawn = Bootstrap("a", "b", metric, 9, 9, 9, 0.0, low, high, 0.95, 1.0, "~")
    assert Difference(drawn).verdict == verdict


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


def test_rules_are_compared_with_themselves(cells):
    table = threshold_table(cells)
    assert [row[0].text for row in table.rows] == ["0.5", "GlobalCut", "FBR", "Gap"]
    means = [np.mean([cell.value("micro_f1", a, "FBR") for cell in cells]) for a in ("", LEARNED)]
    assert table.rows[2][1].text == f"{means[0]:.4f} → {means[1]:.4f}"
    assert sum(map(int, table.rows[2][-1].text.split(" / "))) == len(cells) * 4


def test_content_with_a_tuned_threshold_stands_beside_the_default_in_the_first_tables(cells):
    names = ["content, ½", "content, GlobalCut", "learned, ½", "learned, GlobalCut"]
    which = [("", ""), ("", "GlobalCut"), (LEARNED, ""), (LEARNED, "GlobalCut")]
    means = [np.mean([cell.value("micro_f1", *one) for cell in cells]) for one in which]
    rows = mean_table(cells).rows
    assert [row[0].text for row in rows] == names
    assert [row[1].text for row in rows] == [f"{mean:.4f}" for mean in means]
    assert [row[1].best for row in rows] == [mean == max(means) for mean in means]
    assert [row[5].text == "" for row in rows] == [False, True, False, True]  # one-error
    row = score_table(cells).rows[1]
    macro = [cells[1].value("macro_f1", *one) for one in which]
    assert [cell.text for cell in row[5:]] == [f"{value:.4f}" for value in macro]


def test_the_page_says_first_how_the_rule_was_found_then_scores_then_gains(cells):
    page = beyond_page(cells)
    order = ["chosen on folds", "| newsroom | 160 | 80 | 38 |", "### Scores", "### Gains"]
    assert [page.index(text) for text in order] == sorted(page.index(text) for text in order)
    which = [("", ""), (LEARNED, ""), ("", "GlobalCut"), (LEARNED, "GlobalCut")]
    means = [np.mean([cell.value("micro_f1", *one) for cell in cells]) for one in which]
    content, learned, tuned, both = (f"{mean:.3f}" for mean in means)
    sentence = f"content {content}, learned {learned}, GlobalCut on content {tuned}, both {both}."
    more = "more" if means[2] > means[1] else "less"
    assert f"{sentence} By F1 alone the threshold gains {more} than the learned weight" in page


def test_without_that_rule_the_first_tables_have_the_cut_at_one_half_only(cells):
    plain = [_without_rules(cell) for cell in cells]
    assert [row[0].text for row in mean_table(plain).rows] == ["content, ½", "learned, ½"]
    page = beyond_page(plain)
    assert "GlobalCut on content" not in page and "### Thresholds" not in page


def _without_rules(cell):
    systems = [system for system in cell.outcome.systems if not system.rule]
    return replace(cell, outcome=replace(cell.outcome, systems=systems))


def test_the_page_says_how_it_is_made_and_counts_what_its_table_shows(results, tmp_path):
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


def test_corpora_of_the_paper_stand_apart_with_their_caveats(cells):
    named = [_renamed(cells[0], "ohsumed23"), _renamed(cells[1], "reuters21578"), cells[0]]
    page = beyond_page(named)
    assert page.index("## The paper's corpora") < page.index("## Other sets")
    assert "- ohsumed23: 1,002 binary words" in page and "- reuters21578: only documents" in page
    assert "#### reuters21578 SVM" in page
    assert "#### newsroom NB" not in page


def test_cells_are_shown_seed_by_seed_where_the_seeds_differ(cells):
    page = beyond_page(cells)
    assert "### newsroom SVM, seed by seed" in page
    assert "### newsroom NB, seed by seed" not in page
    first = cells[1].systems["", ""][0].scores["micro_f1"]
    assert f"| seed 0 | {first:.4f} →" in page


def _renamed(cell, corpus):
    return replace(cell, outcome=replace(cell.outcome, corpus=corpus))


def test_folders_without_a_learned_weight_are_an_error(tmp_path):
    text = EXPERIMENT.replace('[1, "auto"]', "[1]").replace("[0, 1]", "[0]")
    run_experiment(parse_experiment(text), tmp_path / "plain")
    with pytest.raises(ValueError, match=r"needs runs with a learned weight.*evidence_weights ="):
        write_beyond([tmp_path / "plain"], tmp_path / "beyond.md")


def test_unfinished_folders_are_an_error(results, tmp_path):
    (tmp_path / "experiment.toml").write_bytes((results.folder / "experiment.toml").read_bytes())
    with pytest.raises(FileNotFoundError, match="is unfinished"):
        write_beyond([tmp_path], tmp_path / "beyond.md")


def test_the_command_writes_the_page_and_prints_its_path(results, tmp_path, capsys):
    main([str(results.folder), "--out", str(tmp_path / "beyond.md")])
    assert (tmp_path / "beyond.md").read_text().startswith("# Beyond the paper")
    assert capsys.readouterr().out == f"{tmp_path / 'beyond.md'}\n"
