"""Printing: results on stdout, messages and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from labelkin.files import printable

if TYPE_CHECKING:
    from rich.progress import Progress

#: Columns of the tables of scores.
METRIC_WORDS = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset 0/1 loss",
    "one_error": "one-error",
}
#: Wide enough for any table that goes into a file or a pipe; terminals know their own width.
_PIPE_WIDTH = 2000


def echo(text: object = "", err: bool = False) -> None:
    """Print a line, with control characters escaped."""
    typer.echo(printable(text), err=err)


def print_message(message: str, quiet: bool = False) -> None:
    """Print a message on stderr, unless quiet is wanted."""
    if not quiet:
        echo(f"labelkin: {message}", err=True)


@contextmanager
def resumable(how: str | None = "") -> Iterator[None]:
    """Report an interrupt that the same command resumes from, and end with code 1.

    Parameters
    ----------
    how
        The options that the same command needs to resume; ``None``: it cannot resume.
    """
    try:
        yield
    except KeyboardInterrupt:
        if how is None:
            raise
        kept = f"Finished work is kept; the same command{how} resumes it."
        print_message(f"Interrupted. {kept}")
        raise typer.Exit(1) from None


def progress_bars(*columns: Any, shown: bool, stay: bool = False) -> Progress:
    """Return progress bars on stderr; ``stay``: they remain when the work is finished."""
    from rich.console import Console
    from rich.progress import Progress

    # The console is also quiet: before rich 14.3 hidden bars end with an empty line.
    console = Console(stderr=True, quiet=not shown)
    return Progress(*columns, console=console, transient=not stay, disable=not shown)


@contextmanager
def watching(quiet: bool = False) -> Iterator[None]:
    """Show bars with the remaining time on a terminal until the work is finished."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.progress import BarColumn, TaskID, TimeRemainingColumn

    from labelkin.scaling.progress import watched

    columns = ("{task.description}", BarColumn(), "{task.percentage:.0f} %", TimeRemainingColumn())
    with progress_bars(*columns, shown=True) as bars:
        shown: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in shown:
                shown[what] = bars.add_task(what, total=total)
            bars.update(shown[what], completed=done, total=total)
            if done >= total:
                bars.remove_task(shown.pop(what))

        with watched(show):
            yield


def print_json(value: Any) -> None:
    """Print plain values as JSON; NaN and infinity become null."""
    echo(json.dumps(_finite(value), ensure_ascii=False, indent=1, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: Sequence[int] = (0,)
) -> None:
    """Print aligned columns; those outside ``left`` are right-aligned.

    Files and pipes get no colours and no trailing blanks.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for j, name in enumerate(header):
        table.add_column(
            Text(printable(name)), justify="left" if j in left else "right", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    if sys.stdout.isatty():
        Console(highlight=False).print(table)
        return
    console = Console(highlight=False, width=_PIPE_WIDTH, no_color=True, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        echo(line.rstrip())


def print_scores(
    scores: dict[str, dict[str, float | None]], title: str = "cross-validated"
) -> None:
    """Print a table of scores of the content alone and of the model."""
    systems = {"content": "content alone", "model": "with other labels"}
    words = dict(METRIC_WORDS)
    if any("candidate_recall" in found for found in scores.values()):
        words["candidate_recall"] = "candidate recall"
    rows = [
        [
            systems.get(system, system),
            *(
                "–" if (x := found.get(name)) is None or math.isnan(x) else f"{x:.4f}"
                for name in words
            ),
        ]
        for system, found in scores.items()
    ]
    print_table([title, *words.values()], rows)


def print_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print a line per pair, name and value."""
    for name, value in pairs:
        echo(f"{name:<18} {value}".rstrip())


def listed(names: Iterable[Any], most: int = 8) -> str:
    """Return the first names in quotes.

    Examples
    --------
    >>> listed(["tea", "milk;sugar", "corn"], most=2)
    "'tea', 'milk;sugar' …"
    """
    texts = [repr(str(name)) for name in names]
    return ", ".join(texts[:most]) + (" …" if len(texts) > most else "")


def counted(number: float, what: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "label"), counted(2500, "document")
    ('1 label', '2,500 documents')
    """
    return f"{number:,.0f} {what}{'' if number == 1 else 's'}"
