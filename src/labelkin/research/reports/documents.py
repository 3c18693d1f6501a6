"""The files of a report: tables as Markdown, LaTeX and a page with plots, scores as CSV."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from labelkin.files import csv_text, write_atomic
from labelkin.pages import page_template
from labelkin.research.reports.paper import paper_tables
from labelkin.research.reports.plots import gain_pictures, reliability_pictures
from labelkin.research.reports.results import Outcome, read_outcomes
from labelkin.research.reports.scores import Score
from labelkin.research.reports.tables import (
    Table,
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
)

_LATEX_HEAD = r"% Tables for \input{tables} in a document in UTF-8; they need no package."


def report_results(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> tuple[Path, ...]:
    """Write the report on a result folder, finished or not; return the files.

    ``tables.md``, ``tables.tex`` and ``tables.html`` contain the paper's tables with its figures
    beside ours, ``scores.csv`` every score. Nothing is trained, and files are written atomically.

    Parameters
    ----------
    folder
        The result folder of :func:`labelkin.research.experiments.run_experiment`.
    out : default None
        The folder for the files, created if missing; ``None``: ``folder``.

    Returns
    -------
    The paths of the files.
    """
    outcomes = read_outcomes(folder)
    shown = [s for outcome in outcomes for s in outcome.scores if s.metric in outcome.metrics]
    documents = {
        "tables.md": markdown_document(outcomes),
        "tables.tex": latex_document(outcomes),
        "tables.html": html_page(outcomes),
        "scores.csv": scores_csv(shown),
    }
    place = Path(folder if out is None else out)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        write_atomic(place / name, text)
    return tuple(place / name for name in documents)


def markdown_document(outcomes: Sequence[Outcome]) -> str:
    """Return all tables of all corpora as Markdown, with the settings and versions."""
    parts = []
    for outcome in outcomes:
        parts.append(f"# {markdown_text(outcome.title)}")
        parts += markdown_sections(paper_tables(outcome), 2, set())
        parts += ["## How it was made", markdown_facts(outcome)]
    return "\n\n".join(parts) + "\n"


def markdown_sections(tables: Iterable[Table], level: int, written: set[str]) -> Iterator[str]:
    """Yield tables, each under its title, with its notes below it.

    Notes in ``written`` are left out; new ones are added to it.
    """
    for table in tables:
        yield f"{'#' * level} {markdown_text(table.title)}"
        if not table.caption.startswith(table.title):
            yield markdown_text(f"{table.caption}.")
        yield markdown_table(table)
        yield from (markdown_text(note) for note in table.notes if note not in written)
        written.update(table.notes)


def markdown_facts(outcome: Outcome) -> str:
    """Return the settings and versions as a list."""
    return "\n".join(
        f"- {markdown_text(name)}: {markdown_text(fact)}" for name, fact in outcome.facts.items()
    )


def latex_document(outcomes: Sequence[Outcome]) -> str:
    r"""Return all tables of all corpora as LaTeX for ``\input``."""
    parts = [_LATEX_HEAD]
    for outcome in outcomes:
        parts.append(f"% {latex_text(outcome.title)}")
        parts += [latex_table(table, outcome.corpus) for table in paper_tables(outcome)]
    return "\n\n".join(parts) + "\n"


def scores_csv(scores: Iterable[Score]) -> str:
    """Return the scores of the runs, a line each, with the paper's figure and the difference.

    Values are written in full, so that reading them back gives the same numbers. One-error is
    compared with 1 less the printed figure, as in the tables.
    """
    rows = [["corpus", "system", "metric", "value", "paper", "difference"]]
    for score in scores:
        if not math.isnan(score.value):
            paper = [repr(score.paper.value), repr(score.difference)] if score.paper else ["", ""]
            value = repr(float(score.value))
            rows.append([score.corpus, score.system, score.metric, value, *paper])
    return csv_text(rows)


def html_page(outcomes: Sequence[Outcome], *, introduction: str = "") -> str:
    """Return the page; all text in it is escaped, and the same outcomes give the same page.

    Without matplotlib the page has its tables and a note on the missing plots.

    Parameters
    ----------
    outcomes
        The outcomes on all corpora.
    introduction : str, default ""
        A paragraph on the corpus.
    """
    in_paper = any(outcome.paper for outcome in outcomes)
    can_draw = find_spec("matplotlib") is not None
    sections = [
        {
            "outcome": outcome,
            "tables": paper_tables(outcome),
            "gains": gain_pictures(outcome, addition) if can_draw and addition else [],
            "reliability": reliability_pictures(outcome, addition) if can_draw and addition else [],
        }
        for outcome in outcomes
        for addition in [outcome.addition]
    ]
    return page_template("page.html").render(
        title="The paper’s tables, measured again" if in_paper else "What the other labels add",
        names=", ".join(outcome.corpus for outcome in outcomes),
        introduction=introduction,
        sections=sections,
        has_plots=can_draw,
    )
