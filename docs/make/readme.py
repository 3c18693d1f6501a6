"""Result folders → the table of results in README.md, between its two marks.

``python -m docs.make.readme RESULTS…`` in the root of the repository, where RESULTS are the folders
of finished runs of the experiments ``beyond-…``. The table shows Reuters-21578 and the sample of
RCV1; the sentence on where the learned weight does not help counts all folders given. The paper's
method, weight 1, and the learned weight, a rule of this library, have columns of their own.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from docs.make.cells import LearnedCell, count_gains, gains_over, learned_gains, read_cells

from labelkin.files import write_whole
from labelkin.report.scores import F1_METRICS, METRICS, WORDS
from labelkin.report.tables import Cell, Table, markdown_table, markdown_text, score_text

README = Path(__file__).parent.parent.parent / "README.md"
BEGIN, END = "<!-- results: python -m docs.make.readme RESULTS… -->", "<!-- end of results -->"

#: The corpora of the table, as README writes them.
CORPORA = {"reuters21578": "Reuters-21578", "rcv1-sample": "RCV1, a sample"}
#: The paper's second method: soft labels, logistic regression, weight 1.
PAPER = "BLR+M2"
_OPENING = """\
Scores on test documents, the best of each three bold. *The paper* is its M2 with Bayesian logistic
regression, where label evidence has weight 1. The *learned weight*, the default, is a rule of this
library: [how it was found](docs/findings/beyond.md), with intervals, controls and tuned
thresholds."""


def write_results(
    folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str] = README
) -> Path:
    """Write the table between the marks of a Markdown file; the rest of the file stays."""
    path = Path(out)
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(
            f"{path} must hold the line {BEGIN!r} once and the line {END!r} once after it: the "
            "table goes between them."
        )
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    block = results_block(read_cells(folders))
    write_whole(path, f"{before}{BEGIN}\n\n{block}\n\n{after}")
    return path


def results_block(cells: Sequence[LearnedCell]) -> str:
    """Return the table, and what it shows and does not, as Markdown."""
    shown = [cell for cell in cells if cell.corpus in CORPORA and cell.has(PAPER)]
    missing = set(CORPORA) - {cell.corpus for cell in shown}
    if missing:
        raise ValueError(
            f"The table needs runs of {PAPER} and of the learned weight on {', '.join(CORPORA)}; "
            f"the folders have none on {', '.join(sorted(missing))}."
        )
    table = markdown_table(results_table(shown))
    return "\n\n".join(["## Results", _OPENING, table, _count_helped(shown, cells)])


def results_table(cells: Sequence[LearnedCell]) -> Table:
    """Return content alone, the paper's M2 at weight 1 and the learned weight; the best is bold."""
    rows = []
    for cell in cells:
        texts = [Cell(f"{CORPORA[cell.corpus]}, {cell.content}")]
        for metric in F1_METRICS:
            values = [cell.value(metric, addition) for addition in ("", PAPER, cell.learned)]
            texts += [Cell(score_text(v, 3), best=v == max(values)) for v in values]
        rows.append(texts)
    names = ("content alone", "the paper, weight 1", "learned weight")
    heads = [("", f"{WORDS[m]}: {name}") for m in F1_METRICS for name in names]
    return Table([("", "corpus, content classifier"), *heads], [rows])


def _count_helped(shown: Sequence[LearnedCell], cells: Sequence[LearnedCell]) -> str:
    """Say how often either helps, and where the learned weight does not."""
    paper, learned = count_gains(gains_over(shown, PAPER)), count_gains(learned_gains(shown))
    every = count_gains(learned_gains(cells))
    losses = sorted(
        (value, f"{markdown_text(cell.name)} ({WORDS[metric]})")
        for cell in cells
        for metric in METRICS
        for value in learned_gains([cell], [metric])
        if value < 0
    )
    worst = f" It loses most on {_join([name for _, name in losses[:3]])}." if losses else ""
    return (
        "Over these rows and five measures (F1 twice, Hamming and subset loss, one-error), better "
        f"/ equal / worse than content alone: the paper {paper}, the learned weight {learned}. "
        f"Over all {len(cells)} pairs of corpus and content classifier that were run, the learned "
        f"weight {every}.{worst}"
    )


def _join(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table from the command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.make.readme", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="RESULTS")
    parser.add_argument("--out", type=Path, default=README, help="default: README.md")
    options = parser.parse_args(arguments)
    print(write_results(options.folders, options.out))


if __name__ == "__main__":
    main()
