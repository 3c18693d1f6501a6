"""The results of README.md are those of the scores of the experiment on the learned rule."""

import pytest
from docs.experiments.learned_rule import Line, write_lines
from docs.make import readme
from docs.make.readme import (
    BEGIN,
    END,
    README,
    SCORES,
    read_scores,
    results_block,
    results_table,
    write_results,
)

LINES = [
    ("social", "naive Bayes", (0.5, 0.5001), (0.4, 0.3999)),
    ("society", "naive Bayes", (0.6, 0.8), (0.4, 0.4)),
    ("social", "k-NN", (0.5, 0.4), (0.4, 0.5)),
    ("social", "SVM", (0.7, 0.71), (0.4, 0.5)),
    ("emotions", "SVM", (0.7, 0.9), (0.4, 0.9)),  # settings were chosen on it
]


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    lines = [
        Line(corpus, content, "logistic", system, measure, value)
        for corpus, content, micro, macro in LINES
        for measure, values in (("tuned micro_f1", micro), ("tuned macro_f1", macro))
        for system, value in zip(("content", "learned"), values, strict=True)
    ]
    write_lines(lines, path)
    return read_scores(path)


def test_a_row_has_means_with_tuned_thresholds_and_counts(scores):
    rows = [[cell.text for cell in row] for row in results_table(scores).rows]
    assert rows[0] == [
        *("naive Bayes", "0.550", "0.650", "2 / 0 / 0", "0.400", "0.400", "0 / 1 / 1"),
    ]
    assert rows[1][:4] == ["k-NN", "0.500", "0.400", "0 / 0 / 1"]
    assert len(rows) == 3


def test_the_summary_counts_gains_and_names_losses(scores):
    block = results_block(scores)
    assert "2 corpora (social, society)" in block
    assert "Of 4 pairs" in block and "raises micro F1 in 3 and macro F1 in 2;" in block
    assert "micro F1 is lower on social (k-NN) and macro F1 is lower on social (naive Bayes)." in block  # fmt: skip  # noqa: E501


def test_the_readme_has_the_results_of_the_scores():
    block = results_block(read_scores(SCORES))
    assert f"{BEGIN}\n\n{block}\n\n{END}\n" in README.read_text(encoding="utf-8")


def test_only_the_text_between_the_marks_is_written(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"# A\n\n{BEGIN}\nstale text\n{END}\n\nB\n", encoding="utf-8")
    readme.main(["--out", str(path)])
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# A\n\n{BEGIN}\n\n## Results\n") and "stale" not in text
    assert text.endswith(f"\n\n{END}\n\nB\n")
    write_results(out=path)
    assert path.read_text(encoding="utf-8") == text
