"""The results of README.md are those of the tables in docs/findings/beyond.md."""

import doctest
import importlib
import re

import pytest
from docs.make import readme
from docs.make.readme import (
    BEGIN,
    END,
    FINDINGS,
    README,
    read_scores,
    results_block,
    results_table,
    write_results,
)

COLUMNS = ["cell"] + [
    f"{metric}: {side}, {cut}"
    for metric in ("micro F1", "macro F1")
    for side in ("content", "learned")
    for cut in ("½", "GlobalCut")
]
ROWS = [
    ["emotions NB", "0.1", "0.5000", "0.9", "**0.5001**", "0.1", "0.4000", "0.9", "0.3999"],
    ["yeast NB", "0.1", "0.6000", "0.9", "0.8000", "0.1", "0.4000", "0.9", "0.4000"],
    ["emotions kNN", "0.1", "0.5000", "0.9", "0.4000", "0.1", "0.4000", "0.9", "0.5000"],
    ["emotions SVM", "0.1", "0.7000", "0.9", "0.7100", "0.1", "0.4000", "0.9", "0.5000"],
]
PAGE = (
    "# Findings\n\n## The paper's corpora\n\n### Scores\n\n| cell |\n| --- |\n| x NB |\n\n"
    "## Other sets\n\n### Scores\n\n"
    + "\n".join(f"| {' | '.join(row)} |" for row in (COLUMNS, ["---"] * len(COLUMNS), *ROWS))
    + "\n"
)


def test_a_row_has_means_with_the_tuned_threshold_and_counts():
    rows = [[cell.text for cell in row] for row in results_table(read_scores(PAGE)).rows]
    assert rows[0] == [
        *("naive Bayes", "0.550", "0.650", "2 / 0 / 0", "0.400", "0.400", "0 / 1 / 1"),
    ]
    assert rows[1][:4] == ["nearest neighbours", "0.500", "0.400", "0 / 0 / 1"]


def test_the_summary_counts_gains_and_names_losses():
    block = results_block(read_scores(PAGE))
    assert "2 corpora (emotions, yeast)" in block
    assert "Of 4 pairs" in block and "raises micro F1 in 3 and macro F1 in 2." in block
    assert "+0.100 with naive Bayes" in block
    assert "micro F1 is lower on emotions (nearest neighbours) and macro F1 is lower on emotions (naive Bayes)." in block  # fmt: skip  # noqa: E501


def test_the_readme_has_the_results_of_the_page():
    block = results_block(read_scores(FINDINGS.read_text(encoding="utf-8")))
    assert f"{BEGIN}\n\n{block}\n\n{END}\n" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("pattern", "page"),
    [
        (r"better in \**(\d+ of \d+)\** comparisons", "known-labels.md"),
        (r"([\d.]+ to [\d.]+)(?: times|\** times)", "audit.md"),
    ],
)
def test_the_readme_has_the_numbers_of_the_findings(pattern, page):
    said = re.findall(pattern, README.read_text(encoding="utf-8"))
    assert said == re.findall(pattern, (FINDINGS.parent / page).read_text(encoding="utf-8"))[:1]


def test_only_the_text_between_the_marks_is_written(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"# A\n\n{BEGIN}\nstale text\n{END}\n\nB\n", encoding="utf-8")
    readme.main(["--out", str(path)])
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# A\n\n{BEGIN}\n\n## Results\n") and "stale" not in text
    assert text.endswith(f"\n\n{END}\n\nB\n")
    write_results(out=path)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["", f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}{END}{END}"])
def test_a_file_without_the_marks_is_an_error_and_stays(text, tmp_path):
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="must contain the line '<!-- results"):
        write_results(out=path)
    assert path.read_text(encoding="utf-8") == text


def test_a_page_without_the_table_is_an_error():
    with pytest.raises(ValueError, match="under 'Other sets'"):
        read_scores("# Findings\n")


@pytest.mark.parametrize("name", ["cells", "beyond", "beyond_tables", "reproduction", "readme"])
def test_the_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(f"docs.make.{name}")).failed == 0
