"""The learned rule: tables are those of the scores, figures those of the numbers."""

import csv

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is in the extra plot")

from docs.experiments.learned_rule import ALL_MEASURES, compare, read_lines
from docs.make.learned_rule import (
    NUMBERS,
    PAGE,
    SCORES,
    TABLES,
    compute_numbers,
    draw_calibration,
    draw_correction,
    draw_weight,
    table,
    write_numbers,
)


@pytest.fixture(scope="module")
def numbers():
    return compute_numbers()


@pytest.mark.parametrize("name", [*TABLES, "candidates"])
def test_the_page_has_the_table_of_the_scores(name):
    text = f"<!-- table: {name} -->\n\n{table(name)}\n\n<!-- end of the table -->\n"
    assert text in PAGE.read_text(encoding="utf-8")


def test_the_page_counts_the_corpora_on_which_ensembles_prefer_a_smaller_shrinkage():
    lines = read_lines(SCORES / "learned_rule_ensembles.csv")
    ahead = []
    for corpus in {line.corpus for line in lines}:
        some = [line for line in lines if line.corpus == corpus]
        found = compare(some, "learned", "shrinkage 10", ALL_MEASURES)
        ahead.append(np.sign(found.better - found.worse))
    text = f"is ahead in {ahead.count(1)} corpora and behind in {ahead.count(-1)}."
    assert text in PAGE.read_text(encoding="utf-8")


def test_the_numbers_of_the_figures_are_computed_again(numbers, tmp_path):
    write_numbers(numbers, tmp_path / "numbers.csv")
    stored, again = (
        list(csv.reader(path.open(encoding="utf-8")))
        for path in (NUMBERS, tmp_path / "numbers.csv")
    )
    assert [row[:2] for row in again] == [row[:2] for row in stored]
    values = [np.array([row[2:] for row in rows[1:]], dtype=float) for rows in (again, stored)]
    np.testing.assert_allclose(values[0], values[1], atol=2e-4)


def test_the_figures_have_the_numbers_of_the_page(numbers):
    predicted, observed = (
        np.array(part["content probabilities"]) for part in (numbers.predicted, numbers.observed)
    )
    assert (predicted[1:] > observed[1:]).sum() >= 7  # naive Bayes is overconfident
    calibrated = [np.array(part["calibrated"]) for part in (numbers.predicted, numbers.observed)]
    assert np.abs(calibrated[0] - calibrated[1]).max() < 0.1
    best = {name: int(np.argmin(scores)) for name, scores in numbers.brier.items()}
    assert best["naive Bayes"] == 10 and 0 < best["SVM"] < 10
    assert np.mean([after < before for before, after in numbers.log_loss.values()]) > 0.9
    assert len(draw_weight(numbers).axes[0].lines) == 4
    assert len(draw_calibration(numbers).axes[0].lines) == 3
    assert len(draw_correction(numbers).axes[0].patches) == len(numbers.log_loss)
