"""Care for journals: look for damage, save what can be read, copy while it is written, export.

A journal is up to three files while a service runs (``-wal`` holds the latest documents): copying
the first alone loses what was acknowledged. :func:`back_up` makes one file that has it all.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import uuid4

from labelkin.files import atomic_replace
from labelkin.service.journal_file import (
    identity,
    is_being_written,
    make_empty,
    page_problems,
    reading,
)
from labelkin.service.journal_rows import TABLES, insert_row, is_sound, read_rows, replaced


class Found(NamedTuple):
    """What a look at a journal has found.

    Attributes
    ----------
    sound : int
        Entries that are as they were written.
    unchecked : int
        Entries of a version that wrote no checksums; they can be read.
    damaged : list of int
        The numbers of entries that are not as they were written, or cannot be read.
    problems : list of str
        What SQLite says of the file; and what is missing in it.
    """

    sound: int
    unchecked: int
    damaged: list[int]
    problems: list[str]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost."""
        return not self.damaged and not self.problems


def check(path: Path) -> Found:
    """Look at every page and every entry of a journal; a service may be writing it."""
    with _as_it_is(path) as database:
        found = Found(0, 0, [], _problems(database))
        for _, number, values, is_checked in _rows(database):
            found = _counted(found, number, values is not None, is_checked)
    return found


def recover(path: Path, new: Path) -> Found:
    """Write what can be read of a damaged journal to a new one; the old one stays as it is.

    Entries keep their numbers, so that the marks of trained models stay right. The new journal is
    whole: it notes which numbers are lost.
    """
    with _as_it_is(path) as old, _new_journal(new) as made:
        try:
            name = identity(old)
        except (sqlite3.DatabaseError, TypeError):
            name = uuid4().hex
        make_empty(made, name)
        found, lost = Found(0, 0, [], _problems(old)), _lost(old)
        with made:
            made.execute("BEGIN")
            for table, number, values, is_checked in _rows(old):
                if values is not None:
                    insert_row(made, table, values, number)
                else:
                    lost.append((table, number))
                found = _counted(found, number, values is not None, is_checked)
            if lost:
                made.execute("INSERT INTO about VALUES ('lost', ?)", (json.dumps(lost),))
    return found


def back_up(path: Path, new: Path) -> int:
    """Copy a journal to one new file, of one moment, while a service may be writing it.

    Returns how many documents are in the copy; all of its entries were read and found sound.
    """
    with reading(path) as database, _new_journal(new) as made:
        database.backup(made)
        made.execute("PRAGMA journal_mode=DELETE")  # one file, wherever it is copied to
        return sum(1 for table in TABLES for _ in read_rows(path, made, table))


def exported(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a journal as ``labelkin train`` reads them, oldest first.

    Those in whose place others stand are left out.
    """
    with reading(path) as database:
        database.execute("BEGIN")
        gone = replaced(database)
        for number, (written, model, accepted, rejected, text) in read_rows(
            path, database, "documents"
        ):
            if number in gone:
                continue
            yield {
                "id": str(number),
                "text": text,
                "labels": json.loads(accepted),
                "rejected": json.loads(rejected),
                "model": model,
                "written": written,
            }


@contextmanager
def _new_journal(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a new SQLite file, which gets its name when it is whole; only its owner may read it."""
    if path.exists():
        raise FileExistsError(f"A copy must be a new file, and {path} exists. Name another.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} must exist to write {path.name} in it.")
    with TemporaryDirectory(prefix=".labelkin-", dir=path.parent) as folder:
        file = Path(folder) / "journal"
        with closing(sqlite3.connect(file, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous=OFF")  # it goes to the disk as a whole
            yield database
        with file.open("rb") as made, atomic_replace(path, mode=0o600) as whole:
            shutil.copyfileobj(made, whole)


@contextmanager
def _as_it_is(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a journal, however damaged; it stays as it is.

    Without a service, a copy is opened: SQLite would tidy up the file itself. With one, SQLite
    shows what is there at one moment, which copies of its files need not be.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no journal at {path}. A service writes it.")
    with TemporaryDirectory(prefix="labelkin-") as folder:
        is_live = is_being_written(path)
        if not is_live:
            for ending in ("", "-wal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{ending}", Path(folder) / f"journal{ending}")
        opened = path if is_live else Path(folder) / "journal"
        address = f"{opened.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as database:
            database.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
            if is_live:
                database.execute("BEGIN")
            yield database


def _problems(database: sqlite3.Connection) -> list[str]:
    try:
        problems = page_problems(database)
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    except (sqlite3.DatabaseError, UnicodeError) as error:
        return [str(error)]
    return problems if "documents" in names else [*problems, "there is no table documents"]


def _lost(database: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return tables and numbers of entries that were lost before the journal was recovered."""
    with suppress(sqlite3.DatabaseError, ValueError, TypeError, RecursionError):
        ask = "SELECT value FROM about WHERE name = 'lost'"
        noted = json.loads(database.execute(ask).fetchone()[0])
        return [(str(table), int(number)) for table, number in noted]
    return []


def _rows(database: sqlite3.Connection) -> Iterator[tuple[str, int, list[str] | None, bool]]:
    """Yield every entry by its number: table, number, values or ``None``, had it a checksum.

    One by one: a page that cannot be read hides those on it, and not those after it.
    """
    known_lost = set(_lost(database))
    for table, columns in TABLES.items():
        try:
            there = {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")}
        except sqlite3.DatabaseError:
            there = set()
        if not there >= {"id", *columns}:
            continue
        is_checked = "checksum" in there
        wanted = [*columns, "checksum"] if is_checked else columns
        for number in range(1, _last(database, table) + 1):
            try:
                row = database.execute(
                    f"SELECT {', '.join(wanted)} FROM {table} WHERE id = ?", (number,)
                ).fetchone()
            except (sqlite3.DatabaseError, UnicodeError):
                row = ()
            if row is None and (table, number) in known_lost:
                continue
            found: list[Any] = list(row or ())  # numbers have no gaps: what is not there was lost
            values = found[: len(columns)]
            is_ours = bool(found) and (
                is_sound(number, values, found[-1])
                if is_checked
                else all(isinstance(value, str) for value in values)
            )
            yield table, number, values if is_ours else None, is_checked


def _last(database: sqlite3.Connection, table: str) -> int:
    """Return the highest number that an entry has had; no more than the file has room for."""
    numbers = [0]
    for question in (
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
        f"SELECT max(id) FROM {table}",
    ):
        with suppress(sqlite3.DatabaseError):
            row = database.execute(question).fetchone()
            if row and type(row[0]) is int:
                numbers.append(row[0])
    try:
        (n_pages,) = database.execute("PRAGMA page_count").fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    except sqlite3.DatabaseError:
        return 0
    return min(max(numbers), n_pages * size // 50)


def _counted(found: Found, number: int, is_sound: bool, is_checked: bool) -> Found:
    if not is_sound:
        found.damaged.append(number)
        return found
    return found._replace(
        sound=found.sound + is_checked, unchecked=found.unchecked + (not is_checked)
    )
