"""What Ctrl-C does to long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def resumable(how: str | None = "") -> Iterator[None]:
    """End with one line and code 1 when interrupted: the work goes on when it is started again.

    Parameters
    ----------
    how
        What the same command needs to go on; ``None``: it cannot, and nothing is said here.
    """
    try:
        yield
    except KeyboardInterrupt:
        if how is None:
            raise
        kept = f"What was finished is kept; the same command{how} goes on from there."
        typer.echo(f"labelkin: Interrupted. {kept}", err=True)
        raise typer.Exit(1) from None
