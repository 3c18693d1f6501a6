"""Saved work: labelled documents and the answers of a review, in one SQLite file.

One process writes the file (:class:`SavedWork`); other processes may read it at the same time.
A write is on the disk before it is acknowledged (WAL mode, ``synchronous=FULL``). SQLite checks the
whole file each time it is opened; a damaged file is an error that names it.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from sys import intern
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

from labelkin.curation.corrections import Decision
from labelkin.files import names_to_disk, try_lock

#: "lkin" in ASCII, in the header of the file: it sets saved work apart from other SQLite files.
_APPLICATION = 0x6C6B696E
_FORMAT = 3
#: A document without text was withdrawn; its row stays, so that a late message does not restore it.
_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, written TEXT NOT NULL, model TEXT NOT NULL, text TEXT,
    accepted TEXT NOT NULL CHECK (json_valid(accepted)),
    rejected TEXT NOT NULL CHECK (json_valid(rejected)), origin TEXT UNIQUE
) STRICT;
CREATE INDEX documents_by_model ON documents (model, id) WHERE text IS NOT NULL;
CREATE TABLE answers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, written TEXT NOT NULL, document TEXT NOT NULL,
    label TEXT NOT NULL, given INTEGER NOT NULL, answer TEXT NOT NULL, fingerprint TEXT NOT NULL,
    UNIQUE (document, label)
) STRICT;
INSERT INTO about VALUES ('identity', '{identity}');
PRAGMA application_id = {application};
PRAGMA user_version = {version};
COMMIT;
"""
#: Errors of the system, by the code of SQLite; every other one means that the file is damaged.
_SYSTEM_ERRORS = {
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
}
#: Bytes that a disk must have free for :meth:`SavedWork.check_writable`.
_LEAST_FREE = 2**16


class Entry(NamedTuple):
    """A labelled document.

    Attributes
    ----------
    model : str
        Name of the model that suggested the labels.
    text : str
        The document.
    accepted, rejected : tuple of str
        Labels of the document, and labels that were suggested and rejected.
    origin : str, default ""
        Identifier of the document in the program that sent it. A later entry of the same origin
        replaces the earlier one; an equal one is not written again. Default: no identifier.
    is_new : bool, default False
        Whether the sender has just created the document: if its origin is known, the message is
        late or repeated, and nothing is written.
    """

    model: str
    text: str
    accepted: tuple[str, ...]
    rejected: tuple[str, ...] = ()
    origin: str = ""
    is_new: bool = False


class Withdrawal(NamedTuple):
    """A document that was deleted in the program that sent it."""

    model: str
    origin: str


_Writable = Entry | Withdrawal | Decision


class Mark(NamedTuple):
    """Position in a file of saved work: identity of the file and number of the last document."""

    identity: str
    last: int


class SavedDocuments(NamedTuple):
    """The documents of a file of saved work, oldest first.

    Attributes
    ----------
    documents : list of str
        The texts.
    label_sets : list of tuples of str
        The accepted labels of each document.
    mark : Mark
        For the ``summary`` of a model that is trained on the documents, as
        ``{"saved_work": mark}``: the service then learns only from later documents.
    """

    documents: list[str]
    label_sets: list[tuple[str, ...]]
    mark: Mark


def saved_work_path(model: Path) -> Path:
    """Return the default path for a model: ``news.labelkin`` → ``news.saved.sqlite``."""
    return model.with_suffix(".saved.sqlite")


def read_saved_documents(path: str | os.PathLike[str], model: str | None = None) -> SavedDocuments:
    """Return the saved documents with their accepted labels, to train on.

    Parameters
    ----------
    path : path
        The file; a service may be writing it.
    model : str or None, default None
        Name of a model: only the documents that were labelled with it. ``None``: all documents.

    Returns
    -------
    SavedDocuments
    """
    with _reading(Path(path)) as database:
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        rows = database.execute(
            "SELECT text, accepted FROM documents "
            "WHERE text IS NOT NULL AND ifnull(?, model) = model ORDER BY id",
            (model,),
        ).fetchall()
        mark = Mark(_identity(database), last)
    return SavedDocuments([text for text, _ in rows], [_names(names) for _, names in rows], mark)


def read_answers(path: str | os.PathLike[str]) -> list[Decision]:
    """Return the answers to the issues of an audit, one per cell, in the order of the answers.

    Parameters
    ----------
    path : path
        The file; a service may be writing it.

    Returns
    -------
    list of Decision
    """
    with _reading(Path(path)) as database:
        return _answers(database)


def check_saved_work(path: Path) -> int:
    """Check the whole file; return the number of documents and answers. Damage is an error."""
    with _reading(path) as database:
        ask = "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM answers)"
        return int(database.execute(ask).fetchone()[0])


def back_up(path: Path, new: Path) -> int:
    """Copy saved work to one new file while a service may be writing it, and check the copy.

    Returns the number of documents and answers in the copy.
    """
    if new.exists():
        raise FileExistsError(f"A copy must be a new file, and {new} exists. Name another.")
    if not new.parent.is_dir():
        raise FileNotFoundError(f"The folder {new.parent} must exist to write {new.name} in it.")
    with TemporaryDirectory(prefix=".labelkin-", dir=new.parent) as folder:
        copy = Path(folder) / new.name
        with _reading(path) as database, closing(_connect(copy, "rwc")) as target:
            database.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, wherever it is copied to
        n_entries = check_saved_work(copy)
        copy.chmod(0o600)
        copy.replace(new)
        names_to_disk(new.parent)
    return n_entries


def export_documents(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents as ``labelkin train`` reads them, oldest first."""
    with _reading(path) as database:
        for number, written, model, text, accepted, rejected in database.execute(
            "SELECT id, written, model, text, accepted, rejected FROM documents "
            "WHERE text IS NOT NULL ORDER BY id"
        ):
            yield {
                "id": str(number),
                "text": text,
                "labels": json.loads(accepted),
                "rejected": json.loads(rejected),
                "model": model,
                "written": written,
            }


class SavedWork:
    """A file of saved work that this process writes; several threads may use it.

    Parameters
    ----------
    path : Path
        The file, created if missing, readable for its owner only. A damaged file, and one that
        another process writes, is a ``ValueError``.
    most_bytes : int or None, default None
        Maximum size of the file.

    Attributes
    ----------
    n_replaced : int
        Number of documents that were replaced or withdrawn since the file was opened; at least.
    """

    def __init__(self, path: Path, most_bytes: int | None = None) -> None:
        self.path, self.n_replaced = path, 0
        self._lock = Lock()
        self._waiting: deque[tuple[Sequence[_Writable], Future[list[int]]]] = deque()
        self._lock_file: int | None = _take_lock_file(path)
        try:
            with _explained(path):
                self._database = _open_for_writing(path, most_bytes)
            # Until it is closed, SQLite continues with the files that it has opened.
            self._files = {file: _inode(file) for file in (path, Path(f"{path}-wal"))}
        except BaseException:
            self.close()
            raise

    def save(self, entries: Sequence[_Writable]) -> list[int]:
        """Write entries in one transaction; they are on the disk on return.

        Returns their numbers: that of the document that is there if nothing was written, 0 for the
        withdrawal of an unknown document.

        Raises
        ------
        OSError
            The disk is full or read-only, or the file was deleted or replaced; nothing was
            acknowledged.
        """
        written: Future[list[int]] = Future()
        self._waiting.append((entries, written))
        with self._lock:
            if not written.done():
                self._save_waiting()
        return written.result()

    def count(self, model: str | None = None) -> int:
        """Return the number of documents, of one model or of all."""
        with self._lock, _explained(self.path):
            ask = (
                "SELECT count(*) FROM documents WHERE text IS NOT NULL AND ifnull(?, model) = model"
            )
            return int(self._database.execute(ask, (model,)).fetchone()[0])

    def entries(self, model: str, after: int = 0) -> tuple[list[Entry], int]:
        """Return the entries of a model after a number, without their texts, and the last number.

        Label evidence is learned from the labels alone.
        """
        with self._lock, _explained(self.path):
            rows = self._database.execute(
                "SELECT id, accepted, rejected FROM documents "
                "WHERE text IS NOT NULL AND model = ? AND id > ? ORDER BY id",
                (model, after),
            ).fetchall()
        last = rows[-1][0] if rows else after
        return [Entry(model, "", _names(yes), _names(no)) for _, yes, no in rows], last

    def answers(self) -> list[Decision]:
        """Return the answers to issues, as :func:`read_answers` does."""
        with self._lock, _explained(self.path):
            return _answers(self._database)

    def first_after(self, mark: Mark | None) -> int:
        """Return the number after which a model has not learned; 0 if the mark is of another file.

        A model that was trained on saved work has a mark.
        """
        with self._lock, _explained(self.path):
            return mark.last if mark and mark.identity == _identity(self._database) else 0

    def check_writable(self) -> None:
        """Raise ``OSError`` if the file is not in its place, read-only, or its disk is full."""
        self._check_in_place()
        if not os.access(self.path, os.W_OK):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self.path))
        disk = os.statvfs(self.path) if hasattr(os, "statvfs") else None
        if disk is not None and disk.f_bavail * disk.f_frsize < _LEAST_FREE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def bytes_on_disk(self) -> int:
        """Return the size of the file and of its log."""
        return sum(file.stat().st_size for file in self._files if file.exists())

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._lock:
            if hasattr(self, "_database"):
                self._database.close()
            if self._lock_file is not None:
                os.close(self._lock_file)
                self._lock_file = None

    def _save_waiting(self) -> None:
        """Write the entries of all waiting threads in one transaction: they share its time."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            with _explained(self.path):
                self._check_in_place()
                with self._database:
                    self._database.execute("BEGIN IMMEDIATE")
                    numbers = [list(map(self._write, entries)) for entries, _ in waiting]
                self._check_in_place()
        except Exception as error:
            for _, written in waiting:
                written.set_exception(error)
        else:
            for (_, written), found in zip(waiting, numbers, strict=True):
                written.set_result(found)

    def _write(self, entry: _Writable) -> int:
        if isinstance(entry, Decision):
            return self._write_answer(entry)
        ask = "SELECT id, model, text, accepted, rejected FROM documents WHERE origin = ?"
        found = self._database.execute(ask, (entry.origin,)).fetchone()
        number = 0 if found is None else int(found[0])
        if isinstance(entry, Withdrawal):
            emptied = "text = NULL, accepted = '[]', rejected = '[]'"
            self._database.execute(f"UPDATE documents SET {emptied} WHERE id = ?", (number,))
            self.n_replaced += 1
            return number
        labels = (json.dumps(names, ensure_ascii=False) for names in entry[2:4])
        row = (entry.model, entry.text, *labels)
        if found is not None:
            if entry.is_new or tuple(found[1:]) == row:
                return number
            self._database.execute("DELETE FROM documents WHERE id = ?", (number,))
            self.n_replaced += 1
        return self._insert("documents", *row, entry.origin or None)

    def _write_answer(self, answer: Decision) -> int:
        """Replace the answer to an issue; an empty one withdraws it."""
        cell = answer.document, answer.label
        self._database.execute("DELETE FROM answers WHERE document = ? AND label = ?", cell)
        if not answer.answer:
            return 0
        return self._insert("answers", *cell, answer.given, answer.answer, answer.fingerprint)

    def _insert(self, table: str, *values: Any) -> int:
        row = (datetime.now(UTC).isoformat(timespec="milliseconds"), *values)
        places = ", ".join("?" * len(row))
        done = self._database.execute(f"INSERT INTO {table} VALUES (NULL, {places})", row)
        return int(done.lastrowid or 0)

    def _check_in_place(self) -> None:
        """Raise if a file was moved, deleted or replaced: nothing written to it would be found."""
        if self._lock_file is None:
            raise OSError(errno.EBADF, "the saved work is closed", str(self.path))
        for file, inode in self._files.items():
            if not file.exists() or _inode(file) != inode:
                raise OSError(
                    errno.ENOENT,
                    "the file was moved, deleted or replaced while the service runs; put it back, "
                    "or restart the service",
                    str(file),
                )


def _take_lock_file(path: Path) -> int:
    """Return the descriptor of the lock file, which one process has at a time."""
    if path.exists() and not path.is_file():
        raise ValueError(f"Saved work must be an ordinary file, got {path}.")
    try:
        descriptor = os.open(f"{path.resolve()}-lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        rule = "saved work needs a folder that exists and is writable"
        raise OSError(error.errno, f"{rule}: {error.strerror}", str(path)) from None
    if not try_lock(descriptor):
        os.close(descriptor)
        raise ValueError(
            f"Saved work must have one writer, and another process writes {path}. Stop it, or name "
            "another file."
        )
    return descriptor


def _open_for_writing(path: Path, most_bytes: int | None) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    database = _connect(path, "rw")
    try:
        if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            values = {"application": _APPLICATION, "version": _FORMAT, "identity": uuid4().hex}
            database.executescript(_TABLES.format(**values))
            names_to_disk(path.parent)
        _check_file(path, database)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        if most_bytes is not None:
            (page,) = database.execute("PRAGMA page_size").fetchone()
            database.execute(f"PRAGMA max_page_count={max(most_bytes // page, 1)}")
        database.execute("REPLACE INTO about VALUES ('opened', datetime())")  # makes the log
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open saved work for reading, checked and as it is at one moment."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no saved work at {path}. labelkin serve writes it.")
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    with _explained(path), closing(_connect(path, mode)) as database:
        database.execute("PRAGMA query_only=1")
        database.execute("BEGIN")
        _check_file(path, database)
        yield database


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file in autocommit mode: transactions begin and end where the code does it."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        address, uri=True, timeout=5, isolation_level=None, check_same_thread=False
    )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite into errors that name the file."""
    try:
        yield
    except sqlite3.ProgrammingError:  # it is closed
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _SYSTEM_ERRORS:
            raise OSError(_SYSTEM_ERRORS[code], str(error), str(path)) from error
        if code == sqlite3.SQLITE_NOTADB:
            raise ValueError(f"{path} must be saved work of labelkin, got another file.") from None
        raise _damaged(path, str(error)) from None


def _check_file(path: Path, database: sqlite3.Connection) -> None:
    """Raise for a file of another program or format, and for a damaged one."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if (application, version) != (_APPLICATION, _FORMAT):
        found = f"format {version}" if application == _APPLICATION else "another SQLite file"
        raise ValueError(f"{path} must be saved work of labelkin in format {_FORMAT}, got {found}.")
    (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise _damaged(path, found)


def _damaged(path: Path, problem: str) -> ValueError:
    return ValueError(
        f"The saved work {path} is damaged: {' '.join(problem.split())}. Restore a backup, or "
        f"recover the readable part with SQLite: sqlite3 {path} .recover | sqlite3 NEW"
    )


def _identity(database: sqlite3.Connection) -> str:
    """Return the identifier that the file got when it was created."""
    (value,) = database.execute("SELECT value FROM about WHERE name = 'identity'").fetchone()
    return str(value)


def _answers(database: sqlite3.Connection) -> list[Decision]:
    rows = database.execute(
        "SELECT document, label, given, answer, fingerprint FROM answers ORDER BY id"
    )
    return [
        Decision(document, label, bool(given), answer, fingerprint=fingerprint)
        for document, label, given, answer, fingerprint in rows
    ]


@lru_cache(4096)
def _names(written: str) -> tuple[str, ...]:
    """Return the labels of a cell; many documents have the same few label sets."""
    return tuple(map(intern, json.loads(written)))


def _inode(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
