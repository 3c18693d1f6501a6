"""The rows of a journal: documents, answers and origins, each with a checksum."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from sys import intern
from typing import NamedTuple, cast

from labelkin.curation.corrections import Answer, Decision

#: Tables of entries and their columns, all of them text. A further kind of entry is one more line:
#: its table is made, checked, copied and saved like the others.
TABLES: dict[str, tuple[str, ...]] = {
    "documents": ("written", "model", "accepted", "rejected", "text"),
    "answers": ("written", "document", "label", "given", "answer", "fingerprint"),
    "origins": ("written", "origin", "document"),
}


class Entry(NamedTuple):
    """A document as a person has labelled it.

    Attributes
    ----------
    model : str
        The model that was asked.
    text : str
        The document.
    accepted, rejected : tuple of str
        The labels it has, and those the person has looked at and rejected.
    origin : str, default ""
        What it is called in the program that it comes from; empty: it is nobody's but ours.
    is_first : bool, default False
        Its origin says that it was just made: whatever is there of that origin came later, or is
        the same message come twice, and stays.
    """

    model: str
    text: str
    accepted: tuple[str, ...]
    rejected: tuple[str, ...] = ()
    origin: str = ""
    is_first: bool = False


class Withdrawal(NamedTuple):
    """A document that its origin has no more; it counts as if it had never come."""

    model: str
    origin: str


def make_tables(database: sqlite3.Connection) -> None:
    """Make the tables that are not there yet."""
    for table, columns in TABLES.items():
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY AUTOINCREMENT, "
            f"{''.join(f'{name} TEXT NOT NULL, ' for name in columns)}checksum TEXT NOT NULL)"
        )
    database.execute("CREATE INDEX IF NOT EXISTS by_origin ON origins (origin, id)")


def insert(
    database: sqlite3.Connection, entries: Sequence[Entry | Withdrawal | Decision]
) -> list[int]:
    """Add documents and answers; return their ids, of what is there already the one it has.

    What is withdrawn has the id of the document that is gone, or 0 where there was none.
    """
    written, names = now(), partial(json.dumps, ensure_ascii=False)
    ids: list[int] = []
    for one in entries:
        if isinstance(one, Entry):
            row = (written, one.model, names(one.accepted), names(one.rejected), one.text)
            ids.append(_insert_document(database, row, one.origin, one.is_first))
        elif isinstance(one, Withdrawal):
            last = _last_of(database, one.origin) or 0
            if last:
                insert_row(database, "origins", (written, one.origin, ""))
            ids.append(last)
        else:
            given = str(int(one.given))
            answer = (written, one.document, one.label, given, one.answer, one.fingerprint)
            ids.append(insert_row(database, "answers", answer))
    return ids


def _insert_document(
    database: sqlite3.Connection, row: Sequence[str], origin: str, is_first: bool
) -> int:
    """Add a document, unless its origin has sent it already; one that is gone has the id 0."""
    last = _last_of(database, origin) if origin else None
    if last is not None and is_first:
        return last
    if last:
        columns = ", ".join(TABLES["documents"])
        ask = f"SELECT {columns} FROM documents WHERE id = ?"
        found = database.execute(ask, (last,)).fetchone()
        if tuple(found[1:]) == tuple(row[1:]):  # but for the time
            return last
    number = insert_row(database, "documents", row)
    if origin:
        insert_row(database, "origins", (row[0], origin, str(number)))
    return number


def insert_row(
    database: sqlite3.Connection, table: str, values: Sequence[str], number: int | None = None
) -> int:
    """Add a row with its checksum, in a transaction that is begun; return its id."""
    if number is None:
        found = database.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        number = (found.fetchone() or (0,))[0] + 1
    row = (number, *values, checksum(number, values))
    database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return number


def read_rows(
    path: Path, database: sqlite3.Connection, table: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows and their ids, oldest first; one that is not as it was written is an error."""
    columns = ", ".join(TABLES[table])
    is_there = database.execute(f"PRAGMA table_info({table})").fetchall()
    if not is_there and table != "documents":
        return  # of a version that did not write such entries
    for number, *values, given in database.execute(
        f"SELECT id, {columns}, checksum FROM {table} ORDER BY id"
    ):
        if not is_sound(number, values, given):
            raise damaged(path, f"entry {number} of {table} is not as it was written")
        yield number, values


def is_sound(number: int, values: Sequence[object], given: object) -> bool:
    """Return whether a row is as it was written."""
    texts = [value for value in values if isinstance(value, str)]
    return len(texts) == len(values) and checksum(number, texts) == given


def checksum(number: int, values: Sequence[str]) -> str:
    """Return what must stand in the last column of a row."""
    raw = "\0".join((str(number), *values)).encode("utf-8", "surrogateescape")
    return blake2b(raw, digest_size=8).hexdigest()


def damaged(path: Path, what: str) -> ValueError:
    """Return the error of a journal that cannot be read as it was written."""
    return ValueError(
        f"The journal {path} is damaged: {' '.join(what.split())}. See what is lost by: "
        f"labelkin journal check {path} – and save what can be read by: "
        f"labelkin journal recover {path} NEW"
    )


def replaced(database: sqlite3.Connection, origins: Collection[str] | None = None) -> set[int]:
    """Return the documents in whose place others of the same origin stand, or none.

    Of some origins only, or of all.
    """
    if not database.execute("PRAGMA table_info(origins)").fetchall():
        return set()  # of a version that did not write such entries
    if origins is None:
        rows = database.execute(
            "SELECT document FROM origins WHERE document != '' AND id NOT IN "
            "(SELECT max(id) FROM origins GROUP BY origin)"
        ).fetchall()
    else:
        ask = (
            "SELECT document FROM origins WHERE origin = ?1 AND document != '' AND id < "
            "(SELECT max(id) FROM origins WHERE origin = ?1)"
        )
        rows = [row for one in origins for row in database.execute(ask, (one,))]
    return {int(document) for (document,) in rows}


def _last_of(database: sqlite3.Connection, origin: str) -> int | None:
    """Return the document that an origin has sent last; 0: it was withdrawn; None: none."""
    ask = "SELECT document FROM origins WHERE origin = ? ORDER BY id DESC LIMIT 1"
    found = database.execute(ask, (origin,)).fetchone()
    return None if found is None else int(found[0] or 0)


def last_document(database: sqlite3.Connection) -> int:
    """Return the number of the last document."""
    found = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
    return int(found[0]) if found else 0


def last_words(rows: Iterable[Sequence[str]]) -> list[Decision]:
    """Return of every cell the last answer, unless it was taken back."""
    last: dict[tuple[str, str], Decision] = {}
    for _, document, label, given, answer, fingerprint in rows:
        last.pop((document, label), None)
        if answer:
            said = cast("Answer", answer)
            last[document, label] = Decision(
                document, label, given == "1", said, fingerprint=fingerprint
            )
    return list(last.values())


def entry_of(row: Sequence[str]) -> Entry:
    """Return the document in a row."""
    _, model, accepted, rejected, text = row
    return Entry(intern(model), text, _names(accepted), _names(rejected))


@lru_cache(4096)
def _names(written: str) -> tuple[str, ...]:
    """Return the labels of a cell; documents have the same few label sets again and again."""
    return tuple(map(intern, json.loads(written)))


def now() -> str:
    """Return the time as rows have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
