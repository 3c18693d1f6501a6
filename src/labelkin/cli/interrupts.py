"""What Ctrl-C does to long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def resumable() -> Iterator[None]:
    """End with one line and code 1 when interrupted: the work goes on when it is started again."""
    try:
        yield
    except KeyboardInterrupt:
        kept = "What was finished is kept; the same command goes on from there."
        typer.echo(f"labelkin: Interrupted. {kept}", err=True)
        raise typer.Exit(1) from None
