"""Write the results of README.md, from the tables of docs/findings/beyond.md.

``python -m docs.make.readme`` in the root of the repository. The table shows the corpora on which
no constant of the learned weight was set, with the same tuned threshold on both sides.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from docs.make.leads import Tables
from docs.make.page_tables import numbers, read_tables

from labelkin.files import write_whole
from labelkin.research.reports.tables import Cell, Table, markdown_table

TOP = Path(__file__).parent.parent.parent
README, FINDINGS = TOP / "README.md", TOP / "docs" / "findings" / "beyond.md"
BEGIN, END = "<!-- results: python -m docs.make.readme -->", "<!-- end of results -->"

#: Content classifiers, as the page of findings and as README name them.
CONTENT = {"NB": "naive Bayes", "kNN": "nearest neighbours", "SVM": "linear SVM"}
METRICS = ("micro F1", "macro F1")

#: Corpus and content classifier → metric → (content alone, with label evidence).
Scores = dict[tuple[str, str], dict[str, tuple[float, float]]]


def write_results(
    findings: str | os.PathLike[str] = FINDINGS, out: str | os.PathLike[str] = README
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
    block = results_block(read_scores(Path(findings).read_text(encoding="utf-8")))
    write_whole(path, f"{before}{BEGIN}\n\n{block}\n\n{after}")
    return path


def read_scores(page: str) -> Scores:
    """Return the scores with a tuned threshold that a page of findings has for the other sets."""
    table = Tables(read_tables(page)).find("Other sets", "Scores", has=["cell"])
    if table is None:
        raise ValueError("The page must have a table of scores by cell under 'Other sets'.")
    found: Scores = {}
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        corpus, content = cells["cell"].rsplit(" ", 1)
        found[corpus, content] = {
            metric: (
                numbers(cells[f"{metric}: content, GlobalCut"])[0],
                numbers(cells[f"{metric}: learned, GlobalCut"])[0],
            )
            for metric in METRICS
        }
    return found


def results_block(scores: Scores) -> str:
    """Return the table, a sentence that sums it up and the losses, as Markdown."""
    corpora = list(dict.fromkeys(corpus for corpus, _ in scores))
    opening = (
        f"Mean F1 on the test documents of {len(corpora)} corpora ({', '.join(corpora)}). No "
        "constant of the rule was set on them; earlier forms of the rule were tried on some of "
        "them. Both sides use the same training documents, features and content classifier, and "
        "one threshold for all labels, tuned for micro F1 on training documents."
    )
    gains = {metric: gains_of(scores, metric) for metric in METRICS}
    by_content = {content: mean(gains_of(scores, "micro F1", content)) for content in CONTENT}
    most, least = (
        max(by_content, key=by_content.__getitem__),
        min(by_content, key=by_content.__getitem__),
    )
    summary = (
        f"Of {len(scores)} pairs of corpus and content classifier, label evidence raises micro F1 "
        f"in {_better(gains['micro F1'])} and macro F1 in {_better(gains['macro F1'])}. The mean "
        f"gain in micro F1 is +{by_content[most]:.3f} with {CONTENT[most]} and "
        f"+{by_content[least]:.3f} with {CONTENT[least]}. It does not always help: "
        + " and ".join(f"{metric} is lower on {_losses(scores, metric)}" for metric in METRICS)
        + "."
    )
    return "\n\n".join(["## Results", opening, markdown_table(results_table(scores)), summary])


def results_table(scores: Scores) -> Table:
    """Return a row per content classifier: means on both sides, and the number of corpora."""
    rows = []
    for content, name in CONTENT.items():
        cells = [Cell(name)]
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
    columns = [("", f"{metric}: {head}") for metric in METRICS for head in heads]
    return Table([("", "content classifier"), *columns], [rows])


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
        f"{corpus} ({CONTENT[content]})"
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
