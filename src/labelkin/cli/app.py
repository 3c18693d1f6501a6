"""The commands, what they are called, and how a call is run."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


class LazyCommand(NamedTuple):
    """Where a command is, and what a list says of it.

    Attributes
    ----------
    module
        In ``labelkin.cli``. It has a function named as the command, or, for a command with commands
        of its own, a ``typer.Typer``.
    about
        One short sentence.
    """

    module: str
    about: str


class Commands(TyperGroup):
    """All commands by name; a module is loaded when its command is called, not listed."""

    table: ClassVar[dict[str, LazyCommand]] = {
        "demo": LazyCommand("experiments", "Train and compare systems on a made corpus."),
        "train": LazyCommand("train", "Train a model on a corpus."),
        "inspect": LazyCommand("models", "Show what a model file holds."),
        "suggest": LazyCommand("models", "Suggest labels for one text."),
        "predict": LazyCommand("predict", "Label many documents."),
        "evaluate": LazyCommand("models", "Score a model on a corpus."),
        "optimize": LazyCommand("optimize", "Find how many labels to give, from which score on."),
        "audit": LazyCommand("audit", "Find wrong and missing labels in a corpus."),
        "next": LazyCommand("active", "Name the documents that are worth labelling next."),
        "rescore": LazyCommand("rescore", "Improve another classifier's scores."),
        "serve": LazyCommand("serve", "Serve models to browsers and programs."),
        "journal": LazyCommand("journal", "Journals: check, recover, back up, export."),
        "corpus": LazyCommand("experiments", "Corpora: list, look at, and fetch them."),
        "experiment": LazyCommand("experiments", "Experiments: the paper's tables, your corpus."),
        "report": LazyCommand("experiments", "Write tables from stored runs."),
        "compare": LazyCommand("compare", "Compare two runs of experiments."),
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in self.table.items():
            self.add_command(TyperCommand(name, help=entry.about))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command as always, then put the real one in its place."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            command = load_command(name, self.table[name].module)
        return name, command, rest


def load_command(name: str, module: str) -> Any:
    """Import a command's module and return what typer makes of it; its help is plain text."""
    command = getattr(import_module(f"labelkin.cli.{module}"), name)
    if isinstance(command, typer.Typer):
        command.rich_markup_mode = None
        return get_group(command)
    single = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    single.command(name)(command)
    return get_command(single)


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
    """Run one call and return its exit code; wrong usage is one line on stderr."""
    warnings.showwarning = _print_warning
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
        return _print_usage(error)
    return code if isinstance(code, int) else 0


def _print_usage(error: Any) -> int:
    """Print what is wrong with a call; a call without anything gets the help it needs."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "labelkin"
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message(), err=True)
    else:
        message = " ".join(error.format_message().split())
        stop = "" if message.endswith((".", "?")) else "."
        typer.echo(f"{path}: {message}{stop} See {path} --help.", err=True)
    return int(error.exit_code)


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    sys.stderr.write(f"labelkin: Note: {' '.join(str(message).split())}\n")
