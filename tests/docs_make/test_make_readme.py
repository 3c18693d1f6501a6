"""The table of results in README.md: between its marks, and counted from stored runs."""

import doctest
import importlib
from dataclasses import replace

import numpy as np
import pytest
from docs.make import readme
from docs.make.cells import outcome_cells
from docs.make.readme import BEGIN, END, README, results_block, results_table, write_results
from judged import judge_all

from labelkin.report.results import Outcome

LEARNED = "BLR+M2 w=auto"


class Shifted:
    """An addition that moves every log-odds by one number."""

    def __init__(self, shift):
        self.shift = shift

    def rescore(self, log_odds):
        return log_odds + self.shift


@pytest.fixture(scope="module")
def cells():
    """Content that decides too little; the paper's weight repairs it, the learned one overdoes."""
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 5)) < 0.4).astype(int)
    content = {name: 2.0 * (2 * Y - 1) - 1.0 + rng.normal(0, 2, Y.shape) for name in ("NB", "SVM")}
    additions = {"BLR+M2": Shifted(1.0), LEARNED: Shifted(9.0)}
    systems = list(judge_all(content, additions, Y))
    outcome = Outcome("reuters21578", "R", systems)
    other = replace(outcome, corpus="rcv1-sample")
    third = replace(outcome, corpus="yeast")
    return [cell for one in (outcome, other, third) for cell in outcome_cells(one)]


def test_a_row_has_content_alone_the_papers_weight_and_the_learned_one(cells):
    table = results_table(cells[:4])
    assert [row[0].text for row in table.rows] == [
        "Reuters-21578, NB", "Reuters-21578, SVM", "RCV1, a sample, NB", "RCV1, a sample, SVM",
    ]  # fmt: skip
    values = [cells[1].value("macro_f1", addition) for addition in ("", "BLR+M2", LEARNED)]
    assert [cell.text for cell in table.rows[1][4:]] == [f"{value:.3f}" for value in values]
    assert [cell.best for cell in table.rows[1][4:]] == [v == max(values) for v in values]


def test_the_sentence_counts_where_each_helps_and_names_where_not(cells):
    block = results_block(cells)
    assert block.startswith("## Results") and "yeast" not in block.partition("Over all")[0]
    better = sum(
        (cell.value(m, "BLR+M2") - cell.value(m)) * (1 if m.endswith("f1") else -1) > 1e-12
        for cell in cells[:4]
        for m in ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error")
    )
    assert f"the paper {better} / " in block
    assert "Over all 6 pairs of corpus and content classifier" in block
    assert "It loses most on " in block and "(Hamming loss)" in block


def test_only_what_stands_between_the_marks_is_written(cells, tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "read_cells", lambda folders: cells)
    path = tmp_path / "README.md"
    path.write_text(f"# A\n\n{BEGIN}\nold\n{END}\n\nB\n", encoding="utf-8")
    readme.main(["results", "--out", str(path)])
    text = path.read_text(encoding="utf-8")
    assert text == f"# A\n\n{BEGIN}\n\n{results_block(cells)}\n\n{END}\n\nB\n"
    write_results(["results"], path)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["", f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}{END}{END}"])
def test_a_file_without_the_marks_is_an_error_and_stays(text, cells, tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "read_cells", lambda folders: cells)
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="must hold the line '<!-- results"):
        write_results(["results"], path)
    assert path.read_text(encoding="utf-8") == text


def test_a_corpus_of_the_table_that_is_missing_is_an_error(cells):
    with pytest.raises(ValueError, match="the folders have none on rcv1-sample"):
        results_block([cell for cell in cells if cell.corpus != "rcv1-sample"])


def test_the_readme_has_its_marks():
    text = README.read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1 and text.index(BEGIN) < text.index(END)


@pytest.mark.parametrize("name", ["cells", "beyond", "beyond_tables", "reproduction", "readme"])
def test_the_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(f"docs.make.{name}")).failed == 0
