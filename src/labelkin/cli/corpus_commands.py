"""``labelkin corpus``: which corpora there are, what is in one, and how to get it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelkin.cli.options import CorpusName, Quiet, Reading, reads_corpus
from labelkin.cli.printing import listed, print_table, resumable

if TYPE_CHECKING:
    from labelkin.corpora import Corpus

app = typer.Typer(
    help="Corpora: list, look at, and fetch them.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_corpora() -> None:
    """List the corpora known by name, and where they are.

    Example:  labelkin corpus list
    """
    from labelkin import corpora

    places = {
        name: corpora.find(name) if known.folder else "made"
        for name, known in corpora.KNOWN.items()
    }
    print_table(
        ("name", "what it is", "where"),
        [(name, corpora.KNOWN[name].title, str(places[name] or "not here")) for name in places],
        left=(0, 1, 2),
    )


@app.command()
@reads_corpus
def info(name: CorpusName, reading: Reading) -> None:
    """Read a corpus and print its sizes, source and licence.

    Example:  labelkin corpus info newsroom
    """
    corpus = reading.corpus(name)
    for title, value in describe(corpus):
        typer.echo(f"{title:<12} {value}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A known corpus.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where it goes; by default where it is looked for.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Download a corpus from its official home; a download that broke off goes on.

    Example:  labelkin corpus fetch reuters21578
    """
    from labelkin import corpora

    bars = _bars(quiet)
    tasks: dict[str, object] = {}

    def show(file: str, done: int, total: int | None) -> None:
        task = tasks.setdefault(file, bars.add_task(file, total=total))
        bars.update(task, completed=done, total=total)

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
        ("labels", f"{n_labels:,}: {listed(corpus.Y.names)}"),
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


def _bars(quiet: bool) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=Console(stderr=True),
        disable=quiet or not sys.stderr.isatty(),
    )
