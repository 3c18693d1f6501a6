"""The figures of the paper: as printed, and their consistency."""

import csv
import re
from importlib.resources import files

import pytest
from printed_paper import CAPTIONS, printed_tables

from labelkin.research.experiments.plan import F1_METRICS, LOSSES
from labelkin.research.reports.results import (
    PAPER_TITLES,
    paper_scores,
)
from labelkin.research.reports.tables import ONE_ERROR_NOTE


def rows_of(name):
    text = files("labelkin.research.reports").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_the_figures_are_those_of_the_six_printed_tables():
    expected = {}
    for caption, rows in printed_tables():
        corpus = next((CAPTIONS[c] for c in CAPTIONS if re.search(rf"for {c}", caption)), None)
        for system, tokens in rows.items() if corpus else ():
            label_based = caption.startswith("Label-based")
            metrics = F1_METRICS if label_based else LOSSES
            width = len(tokens) // len(metrics)
            for i, metric in enumerate(metrics):
                expected[corpus, system, metric] = tokens[i * width : (i + 1) * width]
    assert len(expected) == 3 * 15 * 5
    given = {
        (row["corpus"], row["system"], row["metric"]): [
            text for text in (row["value"], row["change"], row["sign"]) if text
        ]
        for row in rows_of("paper_figures.csv")
    }
    assert given == expected


def test_printed_changes_follow_from_the_scores_except_two():
    wrong = [
        (corpus, *key)
        for corpus in PAPER_TITLES
        for key, s in paper_scores(corpus).items()
        if key[1] in F1_METRICS
        and "+" in key[0]
        and abs(100 * (s.value - s.baseline) / s.baseline - s.change) > 0.015
    ]
    assert wrong == [("ohsumed23", "NB+SMO+M2", "macro_f1"), ("rcv1", "SVM+SMO+M2", "micro_f1")]


def test_one_error_is_1_minus_the_printed_figure_with_reversed_marks():
    for row in rows_of("paper_figures.csv"):
        if row["metric"] == "one_error":
            score = paper_scores(row["corpus"])[row["system"], "one_error"]
            assert score.value == pytest.approx(1 - float(row["value"]), abs=1e-12)
            if score.lead:
                assert score.mark == {"•": "◦", "◦": "•", "": ""}[row["sign"]]


def test_complemented_one_error_is_at_most_the_subset_loss():
    """As printed, six of nine baselines violate it, which is impossible."""
    pairs = [
        (paper_scores(c)[s, "one_error"].value, paper_scores(c)[s, "subset_loss"].value)
        for c in PAPER_TITLES
        for s in ("NB", "kNN", "SVM")
    ]
    assert all(one_error <= subset for one_error, subset in pairs)
    assert sum(1 - one_error > subset for one_error, subset in pairs) == 6
    assert "6 of the paper's 9 baselines break that" in ONE_ERROR_NOTE
