"""The figures of docs/explanation/learned-rule.md and the tables of docs/findings/learned-rule.md.

``python -m docs.make.learned_rule`` in the root of the repository. The figures show the steps of
the rule on the synthetic news corpus, and their numbers are written to
``docs/experiments/learned_rule_figures.csv``. The tables compare the scores that
``docs.experiments.learned_rule`` wrote to ``docs/experiments/learned_rule_*.csv``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docs.experiments.evidence import HELD_BACK, SYNTHETIC
from docs.experiments.learned_rule import (
    ALL_MEASURES,
    LEARNED,
    Line,
    Steps,
    compare,
    comparison_row,
    read_lines,
    rescore,
)
from docs.make.method_pictures import COLOURS, GREY, write_figures
from matplotlib.figure import Figure
from scipy.special import expit
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from labelkin import LogisticLabels, NaiveBayes, PlattSVM, corpora
from labelkin.files import write_atomic
from labelkin.label_matrix import read_labels
from labelkin.learned.calibration import CalibratedLabels, fit_calibration
from labelkin.learned.terms import PaperEvidence

FOLDER = Path(__file__).parent.parent / "explanation"
PAGE = FOLDER.parent / "findings" / "learned-rule.md"
SCORES = Path(__file__).parent.parent / "experiments"
NUMBERS = SCORES / "learned_rule_figures.csv"
#: Training documents of the figures.
_N_TRAIN = 1000
_BINS = np.array([0, 0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.98, 1])
BLUE, ORANGE = COLOURS.values()


#: Table → file of scores and label classifiers.
TABLES = {
    "steps": ("learned_rule_steps.csv", ["logistic"]),
    "test": ("learned_rule_test.csv", ["logistic"]),
    "ensembles": ("learned_rule_ensembles.csv", ["logistic"]),
    "label classifiers": ("learned_rule_label_classifiers.csv", ["tree", "forest", "k-NN"]),
}
#: Columns of the table of candidates → corpora.
CANDIDATES = {
    "bibtex, mediamill-small": ["bibtex", "mediamill-small"],
    "delicious": ["delicious"],
    "synthetic": list(SYNTHETIC),
}
#: System → first cell of its row.
_NAMES = {
    "content": "content alone",
    "paper": "the paper, weight 1",
    "inputs not calibrated": "without step 1: inputs not calibrated",
    "weight 0": "without step 2: weight 0",
    "no correction": "without step 3: no correction",
    "square roots": "correction by square roots of the labels",
    "neighbours only": "correction by neighbours only",
    "0.1.0 learned": "the rule of 0.1.0",
}
_COUNTS = "better / equal / worse"
_HEADS = ("compared with", _COUNTS, "micro / macro F1 at ½", "micro / macro F1, tuned")


def table(name: str) -> str:
    """Return a table of the page: the learned rule against every other system."""
    if name == "candidates":
        return candidate_table()
    file, label_classifiers = TABLES[name]
    lines = [
        line
        for line in read_lines(SCORES / file)
        if line.label_classifier in label_classifiers
        and (name != "test" or line.corpus in HELD_BACK)
    ]
    rows = [
        comparison_row(lines, system, name=_NAMES.get(system, system)) for system in _others(lines)
    ]
    return "\n".join([f"| {' | '.join(_HEADS)} |", "| --- | --: | --: | --: |", *rows])


def candidate_table() -> str:
    """Return the table of candidates: counts for every group of corpora."""
    lines = read_lines(SCORES / "learned_rule_candidates.csv")
    rows = []
    for system in _others(lines):
        counts = []
        for names in CANDIDATES.values():
            some = [line for line in lines if line.corpus in names]
            counts.append(" / ".join(map(str, compare(some, system, "learned", ALL_MEASURES)[:3])))
        rows.append(f"| {_NAMES.get(system, system)} | {' | '.join(counts)} |")
    return "\n".join(
        [f"| compared with | {' | '.join(CANDIDATES)} |", "| --- | --: | --: | --: |", *rows]
    )


def _others(lines: Sequence[Line]) -> list[str]:
    return [name for name in dict.fromkeys(line.system for line in lines) if name != "learned"]


class Numbers(NamedTuple):
    """Numbers of the figures.

    Attributes
    ----------
    predicted, observed
        For each way of predicting labels, the mean predicted probability and the share of labels
        that documents have, by bin.
    brier
        Content classifier → Brier score of each weight 0, 0.1, …, 1, times 1,000.
    log_loss
        Label → log loss of new documents without and with the correction.
    """

    predicted: dict[str, list[float]]
    observed: dict[str, list[float]]
    brier: dict[str, list[float]]
    log_loss: dict[str, tuple[float, float]]


def compute_numbers() -> Numbers:
    """Compute the numbers of the figures on the synthetic news corpus."""
    news = corpora.newsroom()
    train, test = news.train[:_N_TRAIN], news.test
    labels = read_labels(news.Y[train])
    paper = PaperEvidence.fit(LogisticLabels(), labels)
    truth, evidence = labels.dense(), {}
    for name, words, classifier in [
        ("naive Bayes", CountVectorizer(), NaiveBayes()),
        ("SVM", TfidfVectorizer(), PlattSVM(random_state=0)),
    ]:
        X = words.fit_transform(news.documents[train])
        unseen = classifier.fit_out_of_fold(X, news.Y[train])
        evidence[name] = unseen, classifier.log_odds(words.transform(news.documents[test]))
    content, new = evidence["naive Bayes"]
    filled = CalibratedLabels(fit_calibration(content, labels, monotone=False))(content)
    ways = {"content probabilities": expit(content), "calibrated": filled}
    shares = {name: _reliability(values, truth) for name, values in ways.items()}
    log_losses = []
    for steps in (Steps(shrinkage=np.inf), LEARNED):
        posterior = rescore(steps.fit(paper, content, labels), new)
        signs = 2 * np.asarray(news.Y[test]) - 1
        log_losses.append(np.logaddexp(0, -signs * posterior).mean(axis=0))
    return Numbers(
        {name: share[0] for name, share in shares.items()},
        {name: share[1] for name, share in shares.items()},
        {name: _brier(paper, unseen, truth) for name, (unseen, _) in evidence.items()},
        dict(
            zip(
                map(str, news.label_names),
                zip(*np.array(log_losses).tolist(), strict=True),
                strict=True,
            )
        ),
    )


def _reliability(values: Any, truth: Any) -> tuple[list[float], list[float]]:
    """Return the mean of values and of truth in each bin that has values."""
    place = np.clip(np.digitize(values, _BINS) - 1, 0, len(_BINS) - 2)
    bins = [place == k for k in range(len(_BINS) - 1) if (place == k).any()]
    means = [[float(matrix[cells].mean()) for cells in bins] for matrix in (values, truth)]
    return means[0], means[1]


def _brier(paper: PaperEvidence, content: Any, truth: Any) -> list[float]:
    """Return 1,000 times the Brier score of out-of-fold documents, by weight."""
    filled = CalibratedLabels(fit_calibration(content, read_labels(truth), monotone=False))(content)
    evidence = paper.at(filled)
    scores = [((expit(content + w * evidence) - truth) ** 2).mean() for w in np.arange(11) / 10]
    return [1000 * float(score) for score in scores]


def draw_calibration(numbers: Numbers) -> Figure:
    """Draw step 1: the reliability of predicted labels before and after calibration."""
    figure, axes = _figure()
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    for (name, x), colour in zip(numbers.predicted.items(), (BLUE, ORANGE), strict=True):
        axes.plot(x, numbers.observed[name], "o-", color=colour, markersize=4, label=name)
    return _finish(figure, "predicted probability of a label", "share that has the label")


def draw_weight(numbers: Numbers) -> Figure:
    """Draw step 2: the Brier score of each weight; the smallest is marked."""
    figure, axes = _figure()
    weights = np.arange(11) / 10
    for (name, scores), colour in zip(numbers.brier.items(), (BLUE, ORANGE), strict=True):
        axes.plot(weights, np.array(scores) / scores[0], "-", color=colour, label=name)
        best = int(np.argmin(scores))
        axes.plot(weights[best], scores[best] / scores[0], "D", color=colour, markersize=6)
    return _finish(
        figure, "weight w of the paper's label evidence", "Brier score, relative to w = 0"
    )


def draw_correction(numbers: Numbers) -> Figure:
    """Draw step 3: the change of the log loss of each label by the correction."""
    figure, axes = _figure(height=4.6)
    gains = {name: 100 * (1 - after / before) for name, (before, after) in numbers.log_loss.items()}
    names = sorted(gains, key=gains.__getitem__)
    values = [gains[name] for name in names]
    colours = [BLUE if value > 0 else ORANGE for value in values]
    axes.barh(range(len(names)), values, 0.7, color=colours)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.axvline(0, color=GREY, linewidth=0.8)
    return _finish(figure, "reduction of the log loss of new documents, %", "")


def _figure(height: float = 2.6) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5.2, height), layout="constrained")
    return figure, figure.subplots()


def _finish(figure: Figure, x: str, y: str) -> Figure:
    axes = figure.axes[0]
    axes.set_xlabel(x, color=GREY)
    axes.set_ylabel(y, color=GREY)
    axes.tick_params(colors=GREY)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, labelcolor=GREY)
    return figure


def write_numbers(numbers: Numbers, path: Path = NUMBERS) -> None:
    """Write the numbers of the figures as CSV."""
    rows = [
        ("figure", "series", "x", "y"),
        *(
            ("calibration", name, f"{x:.6f}", f"{y:.6f}")
            for name, values in numbers.predicted.items()
            for x, y in zip(values, numbers.observed[name], strict=True)
        ),
        *(
            ("weight", name, f"{k / 10:g}", f"{score:.6f}")
            for name, scores in numbers.brier.items()
            for k, score in enumerate(scores)
        ),
        *(
            ("correction", name, f"{before:.6f}", f"{after:.6f}")
            for name, (before, after) in numbers.log_loss.items()
        ),
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_tables() -> None:
    """Replace the tables of the page, each after a line that names it."""
    text = PAGE.read_text(encoding="utf-8")
    for name in [*TABLES, "candidates"]:
        begin, end = f"<!-- table: {name} -->\n", "<!-- end of the table -->"
        before, found, rest = text.partition(begin)
        if not found or end not in rest:
            raise ValueError(f"{PAGE} must contain the line {begin!r} and after it {end!r}.")
        text = f"{before}{begin}\n{table(name)}\n\n{rest[rest.index(end) :]}"
    write_atomic(PAGE, text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write figures, their numbers and the tables, and print the paths of the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="default: docs/explanation")
    parser.add_argument("--numbers", type=Path, default=NUMBERS)
    options = parser.parse_args(arguments)
    numbers = compute_numbers()
    write_numbers(numbers, options.numbers)
    figures = {
        "learned-rule-calibration": draw_calibration(numbers),
        "learned-rule-weight": draw_weight(numbers),
        "learned-rule-correction": draw_correction(numbers),
    }
    print(*write_figures(figures, options.out), sep="\n")
    if options.out == FOLDER:
        write_tables()


if __name__ == "__main__":
    main()
