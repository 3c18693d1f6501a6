"""The commands, what they are called, and how a call is run."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from labelkin.files import printable


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
        "work": LazyCommand("work", "Saved work: check, back up, export."),
        "corpus": LazyCommand("experiments", "Corpora: list, describe, download and export."),
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


class ReadableHelp(TyperCommand):
    """A command whose help has words for people in place of types, and many options in groups."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        context = {**(settings.pop("context_settings", None) or {}), "max_content_width": 110}
        super().__init__(*arguments, context_settings=context, **settings)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the command's name, ``MODEL INPUT...``."""
        return [_readable(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, and options by what they are about, the general ones first."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        shown = [
            (one, record) for one in self.get_params(ctx) if (record := one.get_help_record(ctx))
        ]
        for parameter, (name, about) in shown:
            titles = [title for title, names in _GROUPS.items() if parameter.name in names]
            title = titles[0] if titles and len(shown) > _MANY_OPTIONS else "Options"
            if name.startswith("-"):
                sections.setdefault(title, []).append((_readable(name), about))
            else:
                sections["Arguments"].append((_readable(name.partition(" ")[0]), about))
        for title in ("Arguments", "Options", *_GROUPS):
            if sections.get(title):
                with formatter.section(title):
                    formatter.write_dl(sections[title])


#: From how many options on they are in groups, and these.
_MANY_OPTIONS = 14
_GROUPS = {
    "What is learned": {
        *("content", "labels", "variant", "evidence_weight", "rules", "saved_work", "all"),
        *("calibrate", "random_state"),
    },
    "Which labels are given": {
        *("top", "threshold", "thresholds", "at_least", "at_most", "limit", "include", "exclude"),
        "all_scores",
    },
    "Names of labels": {"vocab", "label_language"},
    "Words of the texts": {"stem", "language", "stop_words", "min_documents"},
    "How files are read": {
        *("columns", "separator", "delimiter", "encoding", "unlabelled", "path", "input_format"),
        "merge_spellings",
    },
}
#: What stands for a value, by its type.
_VALUES = {
    r" ?<list\[[^>]*\]>": "",
    r"<int(?: range)?>": "N",
    r"<float(?: range)?>": "NUMBER",
    r"<path>": "PATH",
    r"<str>": "TEXT",
    r"<([\w|]+)>": r"\1",
    r"\{([^{}|]*?)(?:\.\.\.)?\}(\.\.\.)?": r"\1\2",
}


def _readable(text: str) -> str:
    for pattern, wanted in _VALUES.items():
        text = re.sub(pattern, wanted, text)
    return text


def load_command(name: str, module: str) -> Any:
    """Import a command's module and return what typer makes of it; its help is plain text."""
    command = getattr(import_module(f"labelkin.cli.{module}"), name)
    if isinstance(command, typer.Typer):
        command.rich_markup_mode = None
        for registered in command.registered_commands:
            registered.cls = ReadableHelp
        return get_group(command)
    single = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    single.command(name, cls=ReadableHelp)(command)
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
        typer.echo(printable(error.format_message()), err=True)
    else:
        message = " ".join(error.format_message().split())
        stop = "" if message.endswith((".", "?")) else "."
        typer.echo(printable(f"{path}: {message}{stop} See {path} --help."), err=True)
    return int(error.exit_code)


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    sys.stderr.write(printable(f"labelkin: Note: {' '.join(str(message).split())}\n"))
