"""``labelkin corpus``: list, describe, download and export corpora."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.options import argument, option
from labelkin.cli.printing import counted, echo, listed, print_table, progress_bars, resumable

if TYPE_CHECKING:
    from labelkin.corpora import Corpus

corpus = typer.Typer(
    help="Corpora: list, describe, download and export.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@corpus.command("list")
def list_corpora() -> None:
    """List the known corpora and their folders.

    Example:  labelkin corpus list
    """
    from labelkin import corpora

    print_table(
        ("name", "description", "where"),
        [(name, known.title, place_of(name)) for name, known in corpora.KNOWN.items()],
        left=(0, 1, 2),
    )


@corpus.command()
@options.expand
def info(name: options.CorpusNames, reading: options.Reading) -> None:
    """Read a corpus and print its sizes, source and licence.

    Example:  labelkin corpus info newsroom
    """
    found = reading.corpus(name)
    for title, value in _describe(found).items():
        echo(f"{title:<12} {value}")
    options.print_label_notes(found)


@corpus.command("fetch")
def fetch_corpus(
    name: Annotated[str, argument("A known corpus.")],
    folder: Annotated[
        Path | None, option("Folder of the corpus. [default: the data folder]")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Download a corpus from its official site; files that exist are kept.

    Example:  labelkin corpus fetch reuters21578
    """
    from rich.progress import BarColumn, DownloadColumn, TransferSpeedColumn

    from labelkin import corpora

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars = progress_bars(*columns, shown=not quiet and sys.stderr.isatty(), stay=True)
    tasks: dict[str, Any] = {}

    def show(file: str, done: int, total: int | None) -> None:
        task = tasks.setdefault(file, bars.add_task(file, total=total))
        bars.update(task, completed=done, total=total)

    with resumable(), bars:
        fetched = corpora.fetch(name, folder, progress=show)
    echo(fetched.folder)
    if fetched.by_hand:
        echo(fetched.by_hand, err=True)


@corpus.command()
def export(
    name: Annotated[Literal["newsroom"], argument("The built-in corpus.", metavar="newsroom")],
    out: Annotated[Path, option("The folder for the files; created if missing.")],
    n_documents: Annotated[int, option("Number of documents.", min=2)] = 3000,
) -> None:
    """Write the built-in corpus to files, as examples for the other commands.

    news.csv and news.jsonl contain the training documents with their labels, new.csv and
    texts.jsonl contain the test documents without labels. Existing files are not overwritten.

    Example:  labelkin corpus export newsroom --out news
    """
    names = ("news.csv", "new.csv", "news.jsonl", "texts.jsonl")
    for file in names:
        if (out / file).exists():
            raise ValueError(f"--out must not have {file}, and {out / file} exists: delete it.")
    from labelkin.corpora.published.newsroom import newsroom_files
    from labelkin.files import write_atomic

    out.mkdir(parents=True, exist_ok=True)
    for file, (text, n_rows) in newsroom_files(n_documents).items():
        write_atomic(out / file, text)
        echo(f"{out / file}: {counted(n_rows, 'document')}")


def place_of(name: str) -> str:
    """Return the folder of a known corpus."""
    from labelkin import corpora

    if not corpora.KNOWN[name].folder:
        return "synthetic"
    return str(corpora.find(name) or "not here")


def _describe(found: Corpus) -> dict[str, str]:
    """Return sizes, source and licence of a corpus, by title."""
    from labelkin.corpora.corpus import labels_of

    summary, per_document = found.summary(), labels_of(found).positive.sum(axis=1)
    n_empty = int((per_document == 0).sum())
    return {
        "name": found.name,
        "documents": summary["documents"],
        "labels": f"{found.Y.shape[1]:,}: {listed(found.label_names)}",
        "per document": f"{per_document.mean():.3f} on average, {n_empty:,} documents have none",
        "features": summary["features"],
        **({"understood": found.understood} if found.understood else {}),
        "source": found.source,
        "licence": found.licence,
    }
