"""Tables of relations between labels, one per line, as editors keep them."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from labelkin.vocabulary.rules.hierarchy import groups_of
from labelkin.vocabulary.rules.record import Rules

DELIMITERS = {".csv": ",", ".tsv": "\t"}
HEADER = ("narrower", "broader", "relation")
RELATIONS = ("broader", "excludes")


def read_relations(path: str | os.PathLike[str]) -> Rules:
    r"""Read rules from a table of two or three columns: narrower, broader and maybe relation.

    Each line has two labels, as text. The relation is ``broader`` (the first implies the second;
    also where the cell is empty or missing) or ``excludes`` (no document has both). Excluding
    pairs are gathered into groups where all their labels exclude each other.

    Parameters
    ----------
    path : str or path
        A ``.csv`` or ``.tsv`` file in UTF-8. A first line of the columns' names is passed over,
        and so are blank lines.

    Returns
    -------
    Rules

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> table = Path(folder.name, "pets.csv")
    >>> _ = table.write_text("narrower,broader,relation\npoodle,dog,broader\ncat,dog,excludes\n")
    >>> read_relations(table)
    Rules(exclusive=[('cat', 'dog')], implies=[('poodle', 'dog')])
    >>> folder.cleanup()
    """
    path = Path(path)
    relations = list(_relations(path))
    with saying_where(path):
        return Rules(
            exclusive=groups_of((a, b) for relation, a, b in relations if relation == "excludes"),
            implies=[(a, b) for relation, a, b in relations if relation == "broader"],
        )


def _relations(path: Path) -> Iterator[tuple[str, str, str]]:
    for number, row in _rows(path):
        place = f"{path.name}, line {number}"
        if len(row) not in (2, 3):
            raise ValueError(
                f"{place}: a row must have 2 or 3 columns (narrower, broader, relation), got "
                f"{len(row)}. Is the delimiter right? Labels that contain it go into quotes."
            )
        first, second = row[:2]
        relation = row[2].lower() if len(row) == 3 and row[2] else "broader"
        if relation not in RELATIONS:
            raise ValueError(
                f"{place}: relation must be 'broader' or 'excludes', got {row[2]!r}. Leave other "
                "relations out."
            )
        if not first or not second or first == second:
            raise ValueError(
                f"{place}: a row must name two different labels, got {first!r} and {second!r}. "
                "Complete it or leave it out."
            )
        yield relation, first, second


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank with the line they begin at, without the header."""
    # Not str.splitlines: the rarer line ends of Unicode may stand inside a label.
    lines = StringIO(_text(path), newline="")
    suffix = path.suffix.lower()
    if suffix not in DELIMITERS:
        raise ValueError(
            f"{path.name}: a table must be called .csv (commas) or .tsv (tabs), got {suffix!r}. "
            "Rename it."
        )
    reader = csv.reader(lines, delimiter=DELIMITERS[suffix], strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ValueError(
                f"{path.name}, line {number}: a row must be cells in whole quotes or none, got: "
                f"{error}. Is the file whole?"
            ) from None
        if cells is None:
            return
        row = [cell.strip() for cell in cells]
        if any(row) and not (number == 1 and _is_header(path, row)):
            yield number, row


def _is_header(path: Path, row: list[str]) -> bool:
    names = [cell.lower() for cell in row]
    if sorted(names) not in (sorted(HEADER), sorted(HEADER[:2])):
        return False
    if names != list(HEADER[: len(names)]):
        raise ValueError(
            f"{path.name}, line 1: the columns must be narrower, broader, relation in this order, "
            f"got {', '.join(names)}. Move the columns."
        )
    return True


def _text(path: Path) -> str:
    raw = bytes_of(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path.name}, line {line}: the text must be UTF-8, got byte 0x{raw[error.start]:02X} "
            f"({error.reason}). Save the table as UTF-8."
        ) from None


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
