"""``labelkin work``: check saved work, copy it, export it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from labelkin.cli import options
from labelkin.cli.printing import echo

work = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Saved work of indexers, which labelkin serve writes: check, back up, export.",
)

SavedWork = Annotated[
    Path, typer.Argument(metavar="WORK", help="Saved work, which labelkin serve writes.")
]


@work.command("check")
def check(path: SavedWork) -> None:
    """Check the whole file; damage is an error.

    Example:  labelkin work check news.saved.sqlite
    """
    from labelkin.curation.saved_work import check_saved_work

    echo(f"{check_saved_work(path):,} entries, no damage")


@work.command("backup")
def back_up_work(
    path: SavedWork, new: Annotated[Path, typer.Argument(metavar="NEW", help="A new file.")]
) -> None:
    """Copy saved work to one new file while a service is writing it, and check the copy.

    Other copies lack what is still in the file WORK-wal.

    Example:  labelkin work backup news.saved.sqlite /backup/news-monday.sqlite
    """
    from labelkin.curation.saved_work import back_up

    echo(f"{back_up(path, new):,} entries in {new}")


@work.command("export")
def export_work(
    path: SavedWork,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file. [default: stdout]")
    ] = None,
) -> None:
    """Write the documents as JSON lines, as labelkin train reads them.

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
    options.check_new(out)
    with atomic_replace(out, mode=0o600) as file:
        file.writelines(lines)
