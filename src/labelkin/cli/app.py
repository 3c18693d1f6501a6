"""The commands and what they are called."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated

import typer

from labelkin.cli import corpus_commands, experiment_commands

app = typer.Typer(
    name="labelkin",
    help="Multilabel classification that listens to the other labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(corpus_commands.app, name="corpus")
app.add_typer(experiment_commands.app, name="experiment")
app.command("report")(experiment_commands.report)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"labelkin {installed_version('labelkin')}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Multilabel classification that listens to the other labels.

    Start with:  labelkin demo
    """


@app.command()
def demo(
    documents: Annotated[int, typer.Option(help="How many documents to make.")] = 3000,
    seed: Annotated[int, typer.Option(help="Of the corpus and the folds.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("labelkin-demo"),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Train and compare the paper's fifteen systems on the built-in corpus.

    Example:  labelkin demo --documents 1000
    """
    from labelkin.demo import main

    options = ["--documents", str(documents), "--seed", str(seed), "--out", str(out)]
    raise typer.Exit(main([*options, "--quiet"] if quiet else options))
