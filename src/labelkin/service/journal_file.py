"""The journal's file: labelled documents in SQLite, which others may read while it is written."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

#: "lkin" in ASCII, in the header of every journal: what tells it from other SQLite files.
_APPLICATION = 0x6C6B696E
_FORMAT = 1
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    written TEXT NOT NULL,
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    accepted TEXT NOT NULL,
    refused TEXT NOT NULL
);
"""


def default_journal(model: Path) -> Path:
    """Return where the journal of a model is: ``news.labelkin`` → ``news.journal.sqlite``."""
    return model.with_suffix(".journal.sqlite")


class Entry(NamedTuple):
    """A document as a person has labelled it.

    Attributes
    ----------
    model
        The model that was asked.
    text
        The document.
    accepted, refused
        The labels it has, and those the person has looked at and refused.
    """

    model: str
    text: str
    accepted: tuple[str, ...]
    refused: tuple[str, ...] = ()


class Mark(NamedTuple):
    """Up to where a journal has been read: which journal, and the last document."""

    journal: str
    last: int


class JournalDocuments(NamedTuple):
    """The documents of a journal, oldest first.

    Attributes
    ----------
    documents
        The texts.
    label_sets
        The accepted labels of each.
    mark
        For the ``summary`` of a model that is trained on them, as ``{"journal": mark}``: the
        service then replays only what came later.
    """

    documents: list[str]
    label_sets: list[tuple[str, ...]]
    mark: Mark


def read_journal(path: str | os.PathLike[str], model: str | None = None) -> JournalDocuments:
    """Return the documents of a journal with their accepted labels, to train on.

    A service may be writing it at the same time.

    Parameters
    ----------
    path
        The file.
    model
        Only documents that were labelled with this model's help.
    """
    with closing(open_for_reading(Path(path))) as database:
        database.execute("BEGIN")  # the mark and the documents are of one moment
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        entries = [entry for _, entry in entries_of(database, model)]
        mark = Mark(identity_of(database), last)
    texts = [entry.text for entry in entries]
    return JournalDocuments(texts, [entry.accepted for entry in entries], mark)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open a journal, made where there is none; what is committed is on the disk."""
    is_new = not path.exists()
    database = _connect(path, "rwc")
    try:
        if is_new or not path.stat().st_size:
            _create(database)
            _to_disk(path.parent)
        _check(path, database)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error as error:
        database.close()
        raise ValueError(
            f"{path} cannot be written as a journal: {error}. Name another file."
        ) from None
    except BaseException:
        database.close()
        raise
    return database


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a journal that is there."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no journal at {path}. A service writes it.")
    database = _connect(path, "rw" if os.access(path, os.W_OK) else "ro")
    try:
        database.execute("PRAGMA query_only=1")
        _check(path, database)
    except BaseException:
        database.close()
        raise
    return database


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open in autocommit mode: transactions begin and end where the code says so."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        return sqlite3.connect(
            address, uri=True, timeout=10, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise ValueError(
            f"The journal {path} cannot be opened: {error}. Its folder must exist and be ours."
        ) from None


def _create(database: sqlite3.Connection) -> None:
    with transaction(database):
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        database.execute("INSERT INTO about VALUES ('journal', ?)", (uuid4().hex,))
        database.execute(f"PRAGMA application_id={_APPLICATION}")
        database.execute(f"PRAGMA user_version={_FORMAT}")


def _check(path: Path, database: sqlite3.Connection) -> None:
    try:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is no journal of labelkin: {error}.") from None
    if application != _APPLICATION:
        raise ValueError(f"{path} is an SQLite file, but no journal of labelkin. Name another.")
    if version != _FORMAT:
        raise ValueError(
            f"The journal {path} has format {version}, and this version knows {_FORMAT}. "
            "Install a newer labelkin."
        )


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Have everything written, or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def insert(database: sqlite3.Connection, entries: Sequence[Entry]) -> list[int]:
    """Add documents; return their ids."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    ids: list[int] = []
    for model, text, accepted, refused in entries:
        row = (now, model, text, _names(accepted), _names(refused))
        cursor = database.execute(
            "INSERT INTO documents (written, model, text, accepted, refused) "
            "VALUES (?, ?, ?, ?, ?)",
            row,
        )
        ids.append(int(cursor.lastrowid or 0))
    return ids


def _names(labels: Sequence[str]) -> str:
    return json.dumps(labels, ensure_ascii=False)


def entries_of(
    database: sqlite3.Connection, model: str | None, last: int = 0
) -> Iterator[tuple[int, Entry]]:
    """Yield documents with their ids, oldest first, those after the last one that is known."""
    rows: Any = database.execute(
        "SELECT id, model, text, accepted, refused FROM documents "
        "WHERE id > ? AND (?2 IS NULL OR model = ?2) ORDER BY id",
        (last, model),
    )
    for number, of, text, accepted, refused in rows:
        yield number, Entry(of, text, tuple(json.loads(accepted)), tuple(json.loads(refused)))


def count_by_model(database: sqlite3.Connection) -> Counter[str]:
    """Return how many documents each model has."""
    rows: Any = database.execute("SELECT model, count(*) FROM documents GROUP BY model")
    return Counter(dict(rows))


def identity_of(database: sqlite3.Connection) -> str:
    """Return what tells this journal from all others."""
    (name,) = database.execute("SELECT value FROM about WHERE name = 'journal'").fetchone()
    return str(name)


def _to_disk(folder: Path) -> None:
    """Have the folder remember the new file; Windows does so by itself."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
