"""Files that nobody ever reads by halves, and the text of tables in them."""

from __future__ import annotations

import csv
import io
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

#: How cells begin that a spreadsheet computes.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file in the same folder, which takes the place of ``path`` at the end.

    Until it is whole and on disk, ``path`` stays as it was, also after an error or a kill; of
    several writers the last wins whole. A link stays a link: what it points to is replaced.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"42")
    >>> path.read_text()
    '42'
    """
    target = path.resolve()
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
            to_disk(file)
        part.replace(target)
        names_to_disk(target.parent)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file in one piece; text as UTF-8."""
    with replacing(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def csv_text(rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    r"""Return rows as the text of a table, a line each; no cell is a formula to a spreadsheet.

    Examples
    --------
    >>> csv_text([["id", "labels"], [7, "tea; sugar"], [8, "=1+1"]], ";")
    'id;labels\n7;"tea; sugar"\n8;\'=1+1\n'
    """
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return file.getvalue()


def safe_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    Such texts begin with ``= + - @``, a tab or a carriage return and are no numbers.
    :func:`plain_cell` takes the apostrophe away again.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("@home"), safe_cell("-1.5"), safe_cell("tea"), safe_cell(-2)
    ("'=1+1", "'@home", '-1.5', 'tea', -2)
    """
    return f"'{value}" if isinstance(value, str) and _is_formula(value.lstrip("'")) else value


def plain_cell(text: str) -> str:
    """Return the text that :func:`safe_cell` was given.

    Examples
    --------
    >>> plain_cell("'=1+1"), plain_cell("'tis"), plain_cell(safe_cell("'=1+1"))
    ('=1+1', "'tis", "'=1+1")
    """
    return text[1:] if text.startswith("'") and _is_formula(text.lstrip("'")) else text


def _is_formula(text: str) -> bool:
    if not text.startswith(_FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return text[0] in "\t\r"


def to_disk(file: IO[bytes]) -> None:
    """Make what has been written last through a power cut."""
    file.flush()
    os.fsync(file.fileno())


def names_to_disk(folder: Path) -> None:
    """Make new names in a folder last through a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
