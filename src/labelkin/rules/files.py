"""Files that state rules: their bytes, and their name in what goes wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def bytes_of(path: Path) -> bytes:
    """Return what a file holds; a missing one is named with the folder that was looked in."""
    if not path.exists():
        raise FileNotFoundError(
            f"{path.name} must be a file, but there is none in {path.absolute().parent}. Check "
            "the path."
        )
    return path.read_bytes()


@contextmanager
def saying_where(path: Path) -> Iterator[None]:
    """Put the name of the file before what is wrong with its rules."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
