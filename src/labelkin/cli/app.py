"""The commands, what they are called, and how a call is run."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from labelkin.cli.lazy_commands import LazyCommand, LazyCommands


class Commands(LazyCommands):
    """All commands."""

    table = {  # noqa: RUF012
        "demo": LazyCommand("demo_command", "Train and compare systems on a made corpus."),
        "train": LazyCommand("train", "Train a model on a corpus."),
        "inspect": LazyCommand("models", "Show what a model file holds."),
        "suggest": LazyCommand("suggest_command", "Suggest labels for one text."),
        "predict": LazyCommand("predict", "Label many documents."),
        "evaluate": LazyCommand("evaluate_command", "Score a model on a corpus."),
        "rescore": LazyCommand("rescore", "Improve another classifier's scores."),
        "serve": LazyCommand("serve", "Serve models to browsers and programs."),
        "corpus": LazyCommand("corpus_commands", "Corpora: list, look at, and fetch them."),
        "experiment": LazyCommand("experiment_commands", "Experiments: the paper's tables."),
        "report": LazyCommand("experiment_commands", "Write tables from stored runs."),
        "compare": LazyCommand("compare", "Compare two runs of experiments."),
    }


app = typer.Typer(
    name="labelkin",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"labelkin {version('labelkin')}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Multilabel classification that listens to the other labels.

    Start with:  labelkin demo

    Or with your own documents:  labelkin train news.jsonl -o news.labelkin
    """


def run(arguments: Sequence[str] | None) -> int:
    """Run one call and return its exit code; wrong usage is told in one line."""
    warnings.showwarning = _tell_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a sign it cannot show becomes its number
            stream.reconfigure(errors="backslashreplace")
    try:
        code = get_command(app).main(arguments, prog_name="labelkin", standalone_mode=False)
    except typer.Abort:
        return 1
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _tell_usage(error)
    return code if isinstance(code, int) else 0


def _tell_usage(error: Any) -> int:
    """Tell a wrong call; a call without anything gets the help it needs."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "labelkin"
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message(), err=True)
    else:
        message = " ".join(error.format_message().split())
        stop = "" if message.endswith((".", "?")) else "."
        typer.echo(f"{path}: {message}{stop} See {path} --help.", err=True)
    return int(error.exit_code)


def _tell_warning(message: Any, *_: Any, **__: Any) -> None:
    sys.stderr.write(f"labelkin: Note: {' '.join(str(message).split())}\n")
