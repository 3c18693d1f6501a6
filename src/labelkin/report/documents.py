"""Tables and scores → documents: Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

from labelkin.report.further_tables import further_tables
from labelkin.report.latex import latex_table, latex_text
from labelkin.report.outcome import Outcome
from labelkin.report.paper_tables import PaperTable, example_table, label_table
from labelkin.report.scores import Score
from labelkin.report.summaries import f1_summary, loss_summary
from labelkin.report.tables import Cell, Table, markdown_table, markdown_text

_LATEX_HEAD = (
    "% Tables to be read into a document by \\input{tables}. They need no package; the document is "
    "to be\n% in UTF-8."
)


def paper_tables(outcome: Outcome) -> list[PaperTable]:
    """Return the tables of one corpus: label-based, example-based, the summaries, what is more."""
    tables = [label_table(outcome), example_table(outcome)]
    summaries = [f1_summary([outcome]), loss_summary([outcome])]
    return [*tables, *summaries, *further_tables(outcome)]


def markdown_document(outcomes: Sequence[Outcome]) -> str:
    """Return all tables of all corpora as Markdown, with how they were made."""
    parts = []
    for outcome in outcomes:
        parts.append(f"# {markdown_text(outcome.title)}")
        parts += markdown_sections(paper_tables(outcome), 2, set())
        parts += ["## How it was made", markdown_facts(outcome)]
    return "\n\n".join(parts) + "\n"


def markdown_sections(tables: Iterable[PaperTable], level: int, told: set[str]) -> Iterator[str]:
    """Yield tables, each under its title, with its notes below it.

    Notes among those ``told`` are not told again; new ones are put there.
    """
    for table in tables:
        yield f"{'#' * level} {markdown_text(table.title)}"
        if not table.caption.startswith(table.title):
            yield markdown_text(f"{table.caption}.")
        yield markdown_table(table.table, apart=True)
        yield from (markdown_text(note) for note in table.notes if note not in told)
        told.update(table.notes)


def markdown_facts(outcome: Outcome) -> str:
    """Return how it was made, as a list."""
    return "\n".join(
        f"- {markdown_text(name)}: {markdown_text(fact)}" for name, fact in outcome.facts.items()
    )


def latex_document(outcomes: Sequence[Outcome]) -> str:
    """Return all tables of all corpora as LaTeX, to be read into a document."""
    parts = [_LATEX_HEAD]
    for outcome in outcomes:
        parts.append(f"% {latex_text(outcome.title)}")
        parts += [latex_table(table, outcome.corpus) for table in paper_tables(outcome)]
    return "\n\n".join(parts) + "\n"


def csv_table(table: Table) -> str:
    """Return a table as CSV; the paper's figures and the differences have columns of their own.

    Numbers are written as programs read them, and what is missing is empty.
    """
    widths = [max((len(row[i].beside) for row in table.rows), default=0) for i in _columns(table)]
    heads = [" ".join(filter(None, column)) for column in table.header]
    header = [
        name
        for head, width in zip(heads, widths, strict=True)
        for name in [head, f"{head} paper", f"{head} difference"][: 1 + width]
    ]
    return _csv([header, *(_spread(row, widths) for row in table.rows)])


def scores_csv(scores: Iterable[Score]) -> str:
    """Return every score that is there, a line each, beside it the paper's and the difference.

    Values are written in full, so that reading them back gives the same numbers. One-error is
    compared with 1 less what the paper prints, as in the tables.
    """
    rows = [["corpus", "system", "metric", "value", "paper", "difference"]]
    for score in scores:
        if not math.isnan(score.ours.value):
            paper = "" if score.paper is None else repr(score.paper.value)
            difference = "" if score.paper is None else repr(score.difference)
            value = repr(score.ours.value)
            rows.append([score.corpus, score.system, score.metric, value, paper, difference])
    return _csv(rows)


def _columns(table: Table) -> range:
    return range(len(table.header))


def _spread(row: Sequence[Cell], widths: Sequence[int]) -> list[str]:
    cells = []
    for cell, width in zip(row, widths, strict=True):
        beside = [*cell.beside, *[""] * width][:width]
        cells += [_plain(text) for text in [cell.text, *beside]]
    return cells


def _plain(text: str) -> str:
    """Return a text as programs read it: a plain minus, nothing for a dash."""
    return "" if text == "–" else text.replace("−", "-")


def _csv(rows: Iterable[Sequence[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()
