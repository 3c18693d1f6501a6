"""``labelkin journal``: check what ``serve`` has saved, recover it, copy it, export it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelkin.cli.printing import echo, listed, print_message

if TYPE_CHECKING:
    from labelkin.service.journal_upkeep import Found

journal = typer.Typer(no_args_is_help=True, help="Journals: check, recover, back up, export.")

JournalFile = Annotated[
    Path, typer.Argument(metavar="JOURNAL", help="What labelkin serve writes: *.journal.sqlite.")
]
NewFile = Annotated[Path, typer.Argument(metavar="NEW", help="A new file.")]


@journal.command("check")
def check_journal(path: JournalFile) -> None:
    """Look at every page and every entry; ends with code 1 where something is lost.

    Example:  labelkin journal check news.journal.sqlite
    """
    from labelkin.service import journal_upkeep

    found = journal_upkeep.check(path)
    _report(found)
    if not found.is_whole:
        print_message(f"Save what can be read by: labelkin journal recover {path} NEW")
        raise typer.Exit(1)


@journal.command("recover")
def recover_journal(path: JournalFile, new: NewFile) -> None:
    """Write what can be read of a damaged journal to a new one; the old one stays.

    Example:  labelkin journal recover news.journal.sqlite saved.journal.sqlite
    """
    from labelkin.service import journal_upkeep

    _report(journal_upkeep.recover(path, new))
    print_message(f"Written to {new}. Put it in the place of {path} to go on with it.")


@journal.command("backup")
def back_up_journal(path: JournalFile, new: NewFile) -> None:
    """Copy a journal to one new file while it is written, and read the copy.

    Copying the file by other means loses what is still in JOURNAL-wal.

    Example:  labelkin journal backup news.journal.sqlite /backup/news-monday.sqlite
    """
    from labelkin.service import journal_upkeep

    n_entries = journal_upkeep.back_up(path, new)
    echo(f"{n_entries:,} entries in {new}")


@journal.command("export")
def export_journal(
    path: JournalFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file; stdout if not named.")
    ] = None,
) -> None:
    """Write the documents as JSON lines, as labelkin train reads them.

    Example:  labelkin journal export news.journal.sqlite --out saved.jsonl
    """
    from labelkin.cli import options
    from labelkin.files import atomic_replace
    from labelkin.service import journal_upkeep

    lines = (
        f"{json.dumps(document, ensure_ascii=False)}\n".encode()
        for document in journal_upkeep.exported(path)
    )
    if out is None:
        for line in lines:
            sys.stdout.buffer.write(line)
        return
    options.check_out(out, path)
    options.check_new(out)
    with atomic_replace(out, mode=0o600) as file:
        file.writelines(lines)


def _report(found: Found) -> None:
    echo(f"sound      {found.sound:,}")
    if found.unchecked:
        echo(f"unchecked  {found.unchecked:,} (of a version without checksums)")
    echo(f"damaged    {len(found.damaged):,}")
    if found.damaged:
        echo(f"           {listed(found.damaged)}")
    for problem in found.problems:
        echo(f"SQLite     {' '.join(problem.split())}")
