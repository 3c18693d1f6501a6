"""A result folder → the report's files: the paper's tables in every form, and all scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from labelkin.report.documents import (
    csv_table,
    latex_document,
    markdown_document,
    paper_tables,
    scores_csv,
)
from labelkin.report.files import write_text
from labelkin.report.outcome import Outcome, read_outcomes
from labelkin.report.paper_page import paper_page


def report_results(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> tuple[Path, ...]:
    """Write the report on a result folder, finished or not; return the files.

    ``tables.md``, ``tables.tex`` and ``tables.html`` hold the paper's tables with its figures
    beside ours, ``<corpus>-<table>.csv`` each table alone, and ``scores.csv`` every score. Nothing
    is trained, and no file is ever there by halves.

    Parameters
    ----------
    folder
        Where :func:`labelkin.experiment.run_experiment` put its runs.
    out
        Where the files go, made if need be; ``None``: into ``folder``.
    """
    documents = report_documents(read_outcomes(folder))
    place = Path(folder if out is None else out)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        write_text(place / name, text)
    return tuple(place / name for name in documents)


def report_documents(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the text of every file of the report by its name."""
    scores = [score for outcome in outcomes for score in outcome.scores]
    return {
        "tables.md": markdown_document(outcomes),
        "tables.tex": latex_document(outcomes),
        "tables.html": paper_page(outcomes),
        **{
            f"{outcome.corpus}-{table.key}.csv": csv_table(table.table)
            for outcome in outcomes
            for table in paper_tables(outcome)
        },
        "scores.csv": scores_csv(scores),
    }
