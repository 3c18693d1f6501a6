"""``labelkin corpus``: which corpora there are, what is in one, and how to get it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from labelkin import corpora
from labelkin.cli.interrupts import resumable
from labelkin.corpora import Corpus

app = typer.Typer(help="Corpora: list, look at, and fetch them.", no_args_is_help=True)


@app.command("list")
def list_corpora() -> None:
    """List the corpora known by name, and where they are.

    Example:  labelkin corpus list
    """
    table = Table("name", "what it is", "where", box=None, pad_edge=False)
    for name, known in corpora.KNOWN.items():
        place = corpora.find(name) if known.folder else "made"
        table.add_row(name, known.title, str(place or "not here"))
    Console(soft_wrap=True).print(table)


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="A known corpus, or the path of one.")],
    path: Annotated[Path | None, typer.Option(help="Where a known corpus is.")] = None,
) -> None:
    """Read a corpus and tell its sizes, source and licence.

    Example:  labelkin corpus info newsroom
    """
    for title, value in describe(corpora.load(name, path)):
        typer.echo(f"{title:<12} {value}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A known corpus.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where it goes; by default where it is looked for.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Download a corpus from its official home; a download that broke off goes on.

    Example:  labelkin corpus fetch reuters21578
    """
    bars = _bars(quiet)
    tasks: dict[str, object] = {}

    def show(file: str, done: int, total: int | None) -> None:
        task = tasks.setdefault(file, bars.add_task(file, total=total))
        bars.update(task, completed=done, total=total)  # type: ignore[arg-type]

    with resumable(), bars:
        fetched = corpora.fetch(name, folder, progress=show)
    typer.echo(fetched.folder)
    if fetched.by_hand:
        typer.echo(fetched.by_hand, err=True)


def describe(corpus: Corpus) -> list[tuple[str, str]]:
    """Return what a person wants to know of a corpus, line by line."""
    n_documents, n_labels = corpus.Y.shape
    sizes = corpus.Y.positive.sum(axis=1)
    return [
        ("name", corpus.name),
        (
            "documents",
            f"{n_documents:,}: {len(corpus.train):,} to train, {len(corpus.test):,} to test",
        ),
        ("labels", f"{n_labels:,}"),
        (
            "per document",
            f"{sizes.mean():.3f} on average, {int((sizes == 0).sum()):,} documents have none",
        ),
        ("features", _features(corpus)),
        ("source", corpus.source),
        ("licence", corpus.licence),
    ]


def _features(corpus: Corpus) -> str:
    if corpus.features == "text":
        return "text"
    return f"{corpus.documents.shape[1]:,} {corpus.features}"


def _bars(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=Console(stderr=True),
        disable=quiet,
    )
