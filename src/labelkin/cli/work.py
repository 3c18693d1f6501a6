"""``labelkin work``: check, back up and export the work that ``labelkin serve`` has saved."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.printing import echo

work = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Saved work: check, back up, export."
)

SavedWorkFile = Annotated[Path, argument("File of labelkin serve: *.saved.sqlite.", metavar="FILE")]


@work.command("check")
def check_work(path: SavedWorkFile) -> None:
    """Check the whole file; a damaged file is an error.

    Example:  labelkin work check news.saved.sqlite
    """
    from labelkin.curation.saved_work import check_saved_work

    echo(f"{check_saved_work(path):,} documents and answers, no damage")


@work.command("backup")
def back_up_work(
    path: SavedWorkFile, new: Annotated[Path, argument("A new file.", metavar="NEW")]
) -> None:
    """Copy saved work to one new file while a service may write it, and check the copy.

    Other ways to copy lose the entries that are still in FILE-wal.

    Example:  labelkin work backup news.saved.sqlite /backup/news-monday.sqlite
    """
    from labelkin.curation.saved_work import back_up

    echo(f"{back_up(path, new):,} documents and answers in {new}")


@work.command("export")
def export_work(
    path: SavedWorkFile,
    out: Annotated[Path | None, option("A new file. [default: stdout]", "--out", "-o")] = None,
) -> None:
    """Write the saved documents as JSON lines, as labelkin train reads them.

    Example:  labelkin work export news.saved.sqlite --out saved.jsonl
    """
    from labelkin.curation.saved_work import export_documents
    from labelkin.files import atomic_replace

    lines = (
        f"{json.dumps(document, ensure_ascii=False)}\n".encode()
        for document in export_documents(path)
    )
    if out is None:
        for line in lines:
            sys.stdout.buffer.write(line)
        return
    options.check_out(out, path)
    with atomic_replace(out, mode=0o600) as file:
        file.writelines(lines)
