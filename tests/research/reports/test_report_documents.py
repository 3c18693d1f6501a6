"""The files of a report: CSV that reads back, LaTeX that holds together, HTML that is safe."""

import csv
import io
import re
import threading

import numpy as np
import pytest
from reader import Reader
from stored_results import experiment_text, store_results

from labelkin.files import write_atomic
from labelkin.research.reports import documents as page_module
from labelkin.research.reports.documents import (
    html_page,
    latex_document,
    report_results,
    scores_csv,
)
from labelkin.research.reports.results import read_outcomes
from labelkin.research.reports.tables import Cell, Table, latex_table, latex_text

TITLE = r"50 % of <b>R&D</b> \input{x} #1 $_2 ~ ^ [a|b] *"
LABELS = ["<script>", "a&b", "$x$", "two\nlines", 'say "hi"', "#1a5fb4"]
SPECIAL = set("\\{}$&#%_^~")


def make_labels():
    Y = (np.random.default_rng(0).random((40, 6)) < 0.4).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    return Y


Y = make_labels()


def log_odds(system, seed):
    rng = np.random.default_rng([len(system), ord(system[0]), ord(system[-1]), seed])
    return 2.0 * (2 * Y - 1) + rng.normal(0, 2.5, Y.shape)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    text = experiment_text(title=TITLE, contents=("NB", "kNN"))
    left_out = ("kNN+SMO+M2@seed0",)
    place = tmp_path_factory.mktemp("hostile")
    return store_results(place, text, Y, log_odds, names=LABELS, left_out=left_out)


@pytest.fixture(scope="module")
def outcomes(folder):
    return read_outcomes(folder)


@pytest.fixture(scope="module")
def page(outcomes):
    return html_page(outcomes)


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    return report_results(folder, tmp_path_factory.mktemp("report") / "new" / "out")


def test_the_report_is_four_files_and_nothing_else(written):
    names = {"tables.md", "tables.tex", "tables.html", "scores.csv"}
    assert {path.name for path in written} == names
    assert {path.name for path in written[0].parent.iterdir()} == names


def test_the_same_results_give_the_same_bytes(folder, written, tmp_path):
    again = report_results(folder, tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


def test_what_is_no_result_folder_is_an_error_and_nothing_is_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no experiment\.toml"):
        report_results(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def shown(outcome):
    return [score for score in outcome.scores if score.metric in outcome.metrics]


def test_scores_csv_has_the_papers_figure_and_the_difference(outcomes):
    rows = list(csv.DictReader(io.StringIO(scores_csv(shown(outcomes[0])))))
    assert list(rows[0]) == ["corpus", "system", "metric", "value", "paper", "difference"]
    assert len(rows) == 9 * 5  # ten systems, one is missing
    for row in rows:
        value, paper, difference = (float(row[key]) for key in ("value", "paper", "difference"))
        assert difference == value - paper
    found = {(row["system"], row["metric"]): row for row in rows}
    assert found["kNN+BLR+M2", "micro_f1"]["paper"] == "0.78022"
    assert float(found["kNN", "one_error"]["paper"]) == pytest.approx(1 - 0.86651)
    exact = {(s.system, s.metric): s.value for s in outcomes[0].scores}
    assert all(float(row["value"]) == exact[key] for key, row in found.items())


def test_scores_csv_is_empty_where_the_paper_has_no_figure(tmp_path):
    text = experiment_text("yeast", contents=("NB",))
    outcome = read_outcomes(store_results(tmp_path, text, Y, log_odds))[0]
    rows = list(csv.DictReader(io.StringIO(scores_csv(shown(outcome)))))
    assert {(row["paper"], row["difference"]) for row in rows} == {("", "")}
    assert {row["corpus"] for row in rows} == {"yeast"}


def test_latex_environments_close_in_their_turn_and_braces_match(outcomes):
    text = without_comments(latex_document(outcomes))
    open_ones = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert open_ones == []
    depth, plain = 0, text.replace(r"\\", " ")  # a line's end is no escape
    for brace in re.findall(r"(?<!\\)[{}]", plain):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0 and len(re.findall(r"(?<!\\)\$", plain)) % 2 == 0


def test_latex_rows_have_as_many_cells_as_columns(outcomes):
    text = without_comments(latex_document(outcomes))
    tables = re.findall(r"\\begin\{tabular\}\{(.*?)\}\\hline\n(.*?)\\hline\n\\end", text, re.S)
    assert len(tables) == 4
    for columns, body in tables:
        rows = body.splitlines()
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {columns.count("c")}
        assert all(row.endswith((r"\\", r"\\\hline")) for row in rows)


def test_latex_commands_are_ours_and_labels_differ(outcomes):
    text = without_comments(latex_document(outcomes))
    known = {
        "begin", "end", "hline", "caption", "label", "shortstack", "tiny", "scriptsize", "par",
        "ll", "gg", "sim", "bullet", "circ", "Delta", "mu", "textbackslash", "textasciicircum",
    }  # fmt: skip
    assert set(re.findall(r"\\([A-Za-z]+)", text.replace(r"\\hline", r"\hline"))) <= known
    assert not re.search(r"(?<!\\)[%#]", text)
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels)) == 4
    assert labels[0] == "table:reuters21578-label-based"


def without_comments(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


def test_latex_sets_groups_apart_and_the_papers_figure_below_ours():
    table = Table(
        (("", "Model"), ("", "μF₁")),
        (((Cell("a_b"), Cell("0.5", beside=("0.4", "+0.1"))),), ((Cell("c"), Cell("≪")),)),
        caption="C & D",
        columns=(1, 1),
        notes=("N",),
    )
    lines = latex_table(table, "x_y").splitlines()
    assert lines[3:11] == [
        r"\begin{tabular}{|c|c|}\hline",
        r"Model & $\mu$F$_1$ \\\hline",
        r"a\_b & \shortstack{0.5\\{\tiny 0.4\,+0.1}} \\",
        r"& \\",
        r"c & $\ll$ \\",
        r"\hline",
        r"\end{tabular}",
        r"\caption{C \& D}",
    ]


def test_latex_text_leaves_no_special_character_alone():
    found = latex_text(TITLE + " {x}")
    stripped = re.sub(r"\\(textbackslash|textasciicircum)\{\}|\\[{}$&#%_]|\$[^$]*\$", "", found)
    assert not SPECIAL & set(stripped.replace("{[}", "").replace("{*}", ""))
    assert latex_text("≪ < ~ > ≫ • ◦ −1") == (r"$\ll$ $<$ $\sim$ $>$ $\gg$ $\bullet$ $\circ$ $-$1")


def test_the_page_is_well_formed_and_names_are_text(page):
    read = Reader(page)
    assert not {"script", "b", "i", "input"} & set(read.tags)
    whole = "".join(read.texts)
    assert TITLE in whole and page.count("<h1>") == 1
    assert {"table", "figure", "img", "small"} <= set(read.tags)


def test_the_page_needs_no_other_host(page):
    assert "http" not in page.lower() and "@import" not in page
    sources = Reader(page).values("src")
    assert sources and all(one.startswith("data:image/svg+xml;base64,") for one in sources)


def test_a_cell_shows_ours_and_small_the_papers_and_the_difference(page, outcomes):
    score = next(s for s in outcomes[0].scores if s.system == "kNN")
    difference = f"{score.difference:+.5f}".replace("-", "−")
    assert f"<td>{score.value:.5f}<small>0.78875 · {difference}</small></td>" in page


def test_the_page_names_what_is_missing(page):
    assert "Missing, not run yet: kNN+SMO+M2 (seed 0)." in page


def test_without_matplotlib_the_page_has_its_tables_and_says_what_to_install(outcomes, monkeypatch):
    monkeypatch.setattr(page_module, "find_spec", lambda name: None)
    page = html_page(outcomes)
    assert "<img" not in page and "<table>" in page
    assert 'pip install "labelkin[plot]"' in "".join(Reader(page).texts)


def test_an_experiment_that_has_only_begun_is_reported(tmp_path):
    text = experiment_text(contents=("NB",), extra="seeds = [0, 1]")
    every = [f"NB{addition}@seed{seed}" for seed in (0, 1)
             for addition in ("", "+BLR+M1", "+BLR+M2", "+SMO+M1", "+SMO+M2")]  # fmt: skip
    folder = store_results(tmp_path / "none", text, Y, log_odds, left_out=every)
    files = {path.name: path.read_text(encoding="utf-8") for path in report_results(folder)}
    assert "– (0.61766)" in files["tables.md"] and "NB+SMO+M2 (seed 1)" in files["tables.html"]
    assert files["scores.csv"] == "corpus,system,metric,value,paper,difference\n"
    folder = store_results(tmp_path / "one", text, Y, log_odds, left_out=every[1:])
    report_results(folder, tmp_path / "out")
    assert len((tmp_path / "out" / "scores.csv").read_text().splitlines()) == 1 + 5


def test_a_file_is_never_seen_by_halves(tmp_path):
    path, whole = tmp_path / "tables.md", {"a" * 200_000, "b" * 200_000}
    write_atomic(path, min(whole))
    writer = threading.Thread(target=lambda: [write_atomic(path, t) for t in sorted(whole) * 20])
    writer.start()
    while writer.is_alive():
        assert path.read_text(encoding="utf-8") in whole
    assert [p.name for p in tmp_path.iterdir()] == ["tables.md"]
