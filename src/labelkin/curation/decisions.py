"""Decisions on the issues of an audit, from several files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labelkin.curation.corrections import Decision, chosen_changes, read_decisions
from labelkin.curation.saved_work import read_answers

_SQLITE = b"SQLite format 3\0"


def read_changes(
    paths: Iterable[Path], at_least: float | None = None
) -> tuple[int, list[Decision]]:
    """Return the number of issues in files or saved work, and the changes to make.

    The last decision on an issue counts. ``at_least`` is that of
    :func:`labelkin.curation.corrections.chosen_changes`.
    """
    changes: dict[tuple[str, str], Decision] = {}
    n_issues = 0
    for path in paths:
        with path.open("rb") as file:
            is_saved_work = file.read(len(_SQLITE)) == _SQLITE
        decisions = read_answers(path) if is_saved_work else read_decisions(path)
        n_issues += len(decisions)
        decided = {(one.document, one.label) for one in decisions if one.answer}
        changes = {cell: one for cell, one in changes.items() if cell not in decided}
        changes |= chosen_changes(decisions, at_least)
    return n_issues, list(changes.values())
