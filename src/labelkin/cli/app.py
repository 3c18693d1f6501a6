"""The commands of ``labelkin``, loaded when they are called."""

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

from labelkin.files import printable

_MODELS, _SUBJECTS = "Train and evaluate", "Assign and correct labels"
_MORE = "Corpora, experiments, saved work"


class LazyCommand(NamedTuple):
    """A command that is not loaded yet.

    Attributes
    ----------
    module
        Module in ``labelkin.cli``, with a function of the command's name, or a ``typer.Typer`` for
        a group of commands.
    panel
        Title of its group in the help.
    about
        One short sentence.
    """

    module: str
    panel: str
    about: str


class Commands(TyperGroup):
    """All commands by name; a module is loaded when its command is called."""

    table: ClassVar[dict[str, LazyCommand]] = {
        "train": LazyCommand("train", _MODELS, "Train a model on a corpus."),
        "evaluate": LazyCommand("evaluate", _MODELS, "Evaluate a model on a corpus."),
        "optimize": LazyCommand("evaluate", _MODELS, "Find the best limit and threshold."),
        "inspect": LazyCommand("inspect", _MODELS, "Show the contents of a model file."),
        "suggest": LazyCommand("suggest", _SUBJECTS, "Suggest labels for one text."),
        "predict": LazyCommand("predict", _SUBJECTS, "Assign labels to many documents."),
        "serve": LazyCommand("serve", _SUBJECTS, "Serve models to browsers and programs."),
        "audit": LazyCommand("audit", _SUBJECTS, "Find wrong and missing labels."),
        "correct": LazyCommand("audit", _SUBJECTS, "Write a corpus with corrected labels."),
        "next": LazyCommand("next", _SUBJECTS, "List the documents to label next."),
        "rescore": LazyCommand("rescore", _SUBJECTS, "Improve another classifier's scores."),
        "demo": LazyCommand("experiment", _MORE, "Compare systems on a synthetic corpus."),
        "corpus": LazyCommand("corpus", _MORE, "List, describe, download, export."),
        "experiment": LazyCommand("experiment", _MORE, "List, create, run, report, compare."),
        "work": LazyCommand("work", _MORE, "Saved work: check, back up, export."),
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in self.table.items():
            self.add_command(TyperCommand(name, help=entry.about, rich_help_panel=entry.panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, and replace its placeholder by the command."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            command = load_command(name)
        return name, command, rest


def load_command(name: str) -> Any:
    """Import the module of a command and return the command."""
    command = getattr(import_module(f"labelkin.cli.{Commands.table[name].module}"), name)
    if isinstance(command, typer.Typer):
        return get_group(command)
    single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    single.command(name)(command)
    return get_command(single)


app = typer.Typer(
    name="labelkin",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.callback(invoke_without_command=True)
def start(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Multilabel classification with evidence from the other labels.

    Start with `labelkin demo`, or `labelkin train news.csv -o news.labelkin`.
    """
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"labelkin {version_of('labelkin')}")
        raise typer.Exit


def invoke(arguments: Sequence[str] | None) -> int:
    """Run one call and return its exit code; wrong usage is one line on stderr."""
    warnings.showwarning = _print_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters outside the encoding are escaped
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
    """Print a wrong call in one line; a call without a command prints its help."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "labelkin"
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(printable(error.format_message()), err=True)
    else:
        message = " ".join(error.format_message().split())
        stop = "" if message.endswith((".", "?")) else "."
        typer.echo(printable(f"{path}: {message}{stop} See {path} --help."), err=True)
    return int(error.exit_code)


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    sys.stderr.write(printable(f"labelkin: Note: {' '.join(str(message).split())}\n"))
