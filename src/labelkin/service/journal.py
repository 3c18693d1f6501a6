"""The journal: what people say of documents in an SQLite file, on the disk before the answer.

It holds documents that people have labelled, and what they have said of labels that an audit
suspects. Others may read the file while a service writes it. :func:`read_journal` and
:func:`read_answers` need nothing of the web.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from uuid import uuid4

from labelkin.corpora.corrections import Decision
from labelkin.files import names_to_disk

#: "lkin" in ASCII, in the header of every journal: what sets it apart from other SQLite files.
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
    rejected TEXT NOT NULL
);
CREATE TABLE answers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    written TEXT NOT NULL,
    document TEXT NOT NULL,
    label TEXT NOT NULL,
    given INTEGER NOT NULL,
    answer TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
"""
#: Documents that one commit may hold: so many waiting writers share the disk's delay.
_MOST_AT_ONCE = 1_000


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
    """

    model: str
    text: str
    accepted: tuple[str, ...]
    rejected: tuple[str, ...] = ()


class Mark(NamedTuple):
    """Up to where a journal has been read: which journal, and the last document."""

    journal: str
    last: int


class JournalDocuments(NamedTuple):
    """The documents of a journal, oldest first.

    Attributes
    ----------
    documents : list of str
        The texts.
    label_sets : list of tuples of str
        The accepted labels of each.
    mark : Mark
        For the ``summary`` of a model that is trained on them, as ``{"journal": mark}``: the
        service then replays only what came later.
    """

    documents: list[str]
    label_sets: list[tuple[str, ...]]
    mark: Mark


def default_journal(model: Path) -> Path:
    """Return where the journal of a model is: ``news.labelkin`` → ``news.journal.sqlite``."""
    return model.with_suffix(".journal.sqlite")


def read_journal(path: str | os.PathLike[str], model: str | None = None) -> JournalDocuments:
    """Return the documents of a journal with their accepted labels, to train on.

    A service may be writing it at the same time.

    Parameters
    ----------
    path : path
        The file.
    model : str or None, default None
        Only documents that were labelled with this model's help; ``None``: all.

    Returns
    -------
    JournalDocuments
    """
    with _reading(Path(path)) as database:
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        entries = _entries(database, model)
        mark = Mark(_identity(database), last)
    texts = [entry.text for entry in entries]
    return JournalDocuments(texts, [entry.accepted for entry in entries], mark)


def read_answers(path: str | os.PathLike[str]) -> list[Decision]:
    """Return what people have said of the issues of an audit, of every cell their last word.

    Parameters
    ----------
    path : path
        The file; a service may be writing it at the same time.

    Returns
    -------
    list of Decision
        In the order of the answers; those that were taken back are left out.
    """
    with _reading(Path(path)) as database:
        return _answers(database)


class Journal:
    """A journal that is open for writing: one connection, one lock, one thread that writes.

    All documents that wait for the thread go into one transaction, and whoever brought them gets
    an answer when they are on the disk (WAL, ``synchronous=FULL``).

    Parameters
    ----------
    path : Path
        The file; made where there is none.

    Attributes
    ----------
    n_documents : Counter
        How many it has, by model.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = _open_for_writing(path)
        self._lock = Lock()  # whoever holds it has the connection
        self._waiting: deque[_Batch] = deque()
        self._listeners: list[Callable[[Sequence[Entry]], None]] = []
        counts = self._database.execute("SELECT model, count(*) FROM documents GROUP BY model")
        self.n_documents: Counter[str] = Counter(dict(counts.fetchall()))
        self._writer = ThreadPoolExecutor(1, thread_name_prefix=f"journal {path.name}")

    def listen(self, listener: Callable[[Sequence[Entry]], None]) -> None:
        """Have a function called with documents that have reached the disk, in their order."""
        self._listeners.append(listener)

    def append(self, entries: Sequence[Entry | Decision]) -> Future[list[int]]:
        """Write documents or answers; their ids come when all are on the disk, or none.

        No entries at all: a question whether the journal can be written.
        """
        batch = _Batch(tuple(entries), Future())
        self._waiting.append(batch)
        try:
            self._writer.submit(self._write)
        except RuntimeError:  # it is closed
            with suppress(ValueError):  # the last commit has taken the batch along
                self._waiting.remove(batch)
                batch.future.set_exception(sqlite3.ProgrammingError("the journal is closed"))
        return batch.future

    def replay(self, model: str, after: Mark | None = None) -> list[Entry]:
        """Return what is in the journal for a model, later than the mark if it is this one's."""
        with self._lock:
            is_ours = after is not None and after.journal == _identity(self._database)
            return _entries(self._database, model, after.last if after and is_ours else 0)

    def answers(self) -> list[Decision]:
        """Return what people have said of issues, as :func:`read_answers` does."""
        with self._lock:
            return _answers(self._database)

    def bytes_on_disk(self) -> int:
        """Return the size of the journal's files."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Write what waits, then close the file."""
        self._writer.shutdown(wait=True)
        with self._lock:
            self._database.close()

    def _write(self) -> None:
        """Write what waits, together; there is nothing where an earlier call has written it."""
        batches: list[_Batch] = []
        n_documents = 0
        while self._waiting and n_documents < _MOST_AT_ONCE:
            batch = self._waiting.popleft()
            if batch.future.set_running_or_notify_cancel():  # someone still waits for it
                batches.append(batch)
                n_documents += len(batch.entries)
        if not batches:
            return
        try:
            with self._lock, self._database:
                self._database.execute("BEGIN IMMEDIATE")
                ids = [insert(self._database, batch.entries) for batch in batches]
        except Exception as error:  # whatever it is, who waits must hear of it
            for batch in batches:
                batch.future.set_exception(error)
            return
        written = [e for batch in batches for e in batch.entries if isinstance(e, Entry)]
        self.n_documents.update(entry.model for entry in written)
        for listener in self._listeners:
            listener(written)
        for batch, numbers in zip(batches, ids, strict=True):
            batch.future.set_result(numbers)


class _Batch(NamedTuple):
    """What is written together, and who waits for it."""

    entries: tuple[Entry | Decision, ...]
    future: Future[list[int]]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a journal to read; all that is read is of one moment."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no journal at {path}. A service writes it.")
    with closing(_connect(path, "rw" if os.access(path, os.W_OK) else "ro")) as database:
        database.execute("PRAGMA query_only=1")
        _check(path, database)
        database.execute("BEGIN")
        yield database


def _open_for_writing(path: Path) -> sqlite3.Connection:
    """Open a journal, made where there is none; what is committed is on the disk."""
    is_new = not path.exists() or not path.stat().st_size
    database = _connect(path, "rwc")
    try:
        if is_new:
            with database:
                database.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                database.execute("INSERT INTO about VALUES ('journal', ?)", (uuid4().hex,))
                database.execute(f"PRAGMA application_id={_APPLICATION}")
                database.execute(f"PRAGMA user_version={_FORMAT}")
            names_to_disk(path.parent)
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


def insert(database: sqlite3.Connection, entries: Sequence[Entry | Decision]) -> list[int]:
    """Add documents and answers; return their ids."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    names = partial(json.dumps, ensure_ascii=False)
    ids: list[int] = []
    for one in entries:
        if isinstance(one, Entry):
            cursor = database.execute(
                "INSERT INTO documents (written, model, text, accepted, rejected) "
                "VALUES (?, ?, ?, ?, ?)",
                (now, one.model, one.text, names(one.accepted), names(one.rejected)),
            )
        else:
            cursor = database.execute(
                "INSERT INTO answers (written, document, label, given, answer, fingerprint) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (now, one.document, one.label, one.given, one.answer, one.fingerprint),
            )
        ids.append(int(cursor.lastrowid or 0))
    return ids


def _answers(database: sqlite3.Connection) -> list[Decision]:
    rows = database.execute(
        "SELECT document, label, given, answer, fingerprint FROM answers "
        "WHERE id IN (SELECT max(id) FROM answers GROUP BY document, label) "
        "AND answer != '' ORDER BY id"
    )
    return [
        Decision(document, label, bool(given), answer, fingerprint=fingerprint)
        for document, label, given, answer, fingerprint in rows
    ]


def _entries(database: sqlite3.Connection, model: str | None, last: int = 0) -> list[Entry]:
    """Return documents, oldest first, those after the last one that was read before."""
    rows = database.execute(
        "SELECT model, text, accepted, rejected FROM documents "
        "WHERE id > ? AND (?2 IS NULL OR model = ?2) ORDER BY id",
        (last, model),
    )
    return [
        Entry(of, text, tuple(json.loads(accepted)), tuple(json.loads(rejected)))
        for of, text, accepted, rejected in rows
    ]


def _identity(database: sqlite3.Connection) -> str:
    """Return what sets this journal apart from all others."""
    (name,) = database.execute("SELECT value FROM about WHERE name = 'journal'").fetchone()
    return str(name)
