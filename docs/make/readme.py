"""Write the results of README.md from the scores in docs/experiments/learned_rule_test.csv.

``python -m docs.make.readme`` in the root of the repository. The table shows the corpora on which
nothing was chosen, with tuned thresholds on both sides. The scores are written by ``python -m
docs.experiments.learned_rule docs/experiments/learned_rule_test.csv --test``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from docs.experiments.evidence import HELD_BACK
from docs.experiments.learned_rule import read_lines

from labelkin.files import write_atomic
from labelkin.research.reports.tables import Cell, Table, markdown_table

TOP = Path(__file__).parent.parent.parent
README, SCORES = TOP / "README.md", TOP / "docs" / "experiments" / "learned_rule_test.csv"
BEGIN, END = "<!-- results: python -m docs.make.readme -->", "<!-- end of results -->"

#: Content classifiers, in the order of the rows.
CONTENT = ("naive Bayes", "k-NN", "SVM", "forest", "logistic regression")
#: Columns and the measures of the file.
METRICS = {"micro F1": "tuned micro_f1", "macro F1": "tuned macro_f1"}

#: Corpus and content classifier → metric → (content alone, with label evidence).
Scores = dict[tuple[str, str], dict[str, tuple[float, float]]]


def write_results(
    scores: str | os.PathLike[str] = SCORES, out: str | os.PathLike[str] = README
) -> Path:
    """Write the results between the marks of a Markdown file; the rest of the file stays."""
    path = Path(out)
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(
            f"{path} must contain the line {BEGIN!r} once and the line {END!r} once after it: the "
            "table goes between them."
        )
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    block = results_block(read_scores(scores))
    write_atomic(path, f"{before}{BEGIN}\n\n{block}\n\n{after}")
    return path


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Return the scores with tuned thresholds on the corpora on which nothing was chosen."""
    stored = {
        (line.corpus, line.content, line.system, line.measure): line.value
        for line in read_lines(Path(path))
    }
    pairs = dict.fromkeys(key[:2] for key in stored if key[0] in HELD_BACK)
    return {
        (corpus, content): {
            metric: (
                round(stored[corpus, content, "content", measure], 4),
                round(stored[corpus, content, "learned", measure], 4),
            )
            for metric, measure in METRICS.items()
        }
        for corpus, content in pairs
    }


def results_block(scores: Scores) -> str:
    """Return the table, a sentence that sums it up and the losses, as Markdown."""
    corpora = list(dict.fromkeys(corpus for corpus, _ in scores))
    opening = (
        f"Mean F1 on the test documents of {len(corpora)} corpora ({', '.join(corpora)}), on which "
        "nothing was chosen. Both sides use the same training documents, features and content "
        "classifier, and thresholds tuned on training documents: one for micro F1, one per label "
        "for macro F1."
    )
    gains = {metric: gains_of(scores, metric) for metric in METRICS}
    summary = (
        f"Of {len(scores)} pairs of corpus and content classifier, label evidence raises micro F1 "
        f"in {_better(gains['micro F1'])} and macro F1 in {_better(gains['macro F1'])}; the mean "
        f"gains are {mean(gains['micro F1']):+.3f} and {mean(gains['macro F1']):+.3f}. It does not "
        "always help: "
        + " and ".join(f"{metric} is lower on {_losses(scores, metric)}" for metric in METRICS)
        + "."
    )
    return "\n\n".join(["## Results", opening, markdown_table(results_table(scores)), summary])


def results_table(scores: Scores) -> Table:
    """Return a row per content classifier: means on both sides, and the number of corpora."""
    rows = []
    for content in CONTENT:
        if all(name != content for _, name in scores):
            continue
        cells = [Cell(content)]
        for metric in METRICS:
            sides = zip(*(s[metric] for (_, c), s in scores.items() if c == content), strict=True)
            alone, together = map(mean, sides)
            gains = gains_of(scores, metric, content)
            counts = _better(gains), gains.count(0), sum(gain < 0 for gain in gains)
            cells += [
                Cell(f"{alone:.3f}", best=alone > together),
                Cell(f"{together:.3f}", best=together > alone),
                Cell("{} / {} / {}".format(*counts)),
            ]
        rows.append(cells)
    heads = ("alone", "with label evidence", "better / equal / worse")
    columns = [f"{metric}: {head}" for metric in METRICS for head in heads]
    return Table(["content classifier", *columns], [rows])


def gains_of(scores: Scores, metric: str, content: str | None = None) -> list[float]:
    """Return what label evidence adds to a metric, corpus by corpus, in four digits."""
    return [
        round(values[metric][1] - values[metric][0], 4)
        for (_, name), values in scores.items()
        if content in (None, name)
    ]


def _better(gains: Sequence[float]) -> int:
    return sum(gain > 0 for gain in gains)


def _losses(scores: Scores, metric: str) -> str:
    lost = [
        f"{corpus} ({content})"
        for (corpus, content), values in scores.items()
        if values[metric][1] < values[metric][0]
    ]
    return ", ".join(lost) or "no corpus"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the results from the command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.make.readme", description=__doc__)
    parser.add_argument("--out", type=Path, default=README, help="default: README.md")
    print(write_results(out=parser.parse_args(arguments).out))


if __name__ == "__main__":
    main()
