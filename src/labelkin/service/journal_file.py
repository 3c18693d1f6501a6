"""The file of a journal: an SQLite database of ours, which one process writes and others may read.

It is made for the eyes of its owner only. What is wrong with it, or with its place, is an error
that names the file and the way out.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from stat import S_ISREG
from uuid import uuid4

from labelkin.files import names_to_disk, try_lock
from labelkin.service.journal_rows import TABLES, damaged, make_tables, now, read_rows, replaced

#: "lkin" in ASCII, in the header of every journal: what sets it apart from other SQLite files.
_APPLICATION = 0x6C6B696E
_FORMAT = 2
#: Journals that this process writes, by device and inode. They are not opened a second time: to
#: close a file lets go of all locks that SQLite has on it in this process.
_being_written: set[tuple[int, int]] = set()


class JournalFile:
    """The file of a journal, open for writing; nobody else can write it until it is closed.

    Parameters
    ----------
    path : Path
        The file; made where there is none. One that is damaged, or that is being written already,
        is a ``ValueError``.

    Attributes
    ----------
    database : sqlite3.Connection
        In autocommit mode. What is committed is on the disk (WAL, ``synchronous=FULL``).
    n_documents : Counter
        How many it has, by model.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = _take(path)
        self._inode = _inode(os.fstat(self._descriptor))
        _being_written.add(self._inode)
        try:
            self.database, self.n_documents = _open_for_writing(path)
            # Until the last connection is closed, SQLite goes on with the files it has opened.
            self._files = {file: _inode(file.stat()) for file in (path, _wal(path))}
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """How many bytes it has on the disk."""
        return sum(file.stat().st_size for file in self._files if file.exists())

    def check_names(self) -> None:
        """Raise where the files have other names now, or their names are other files."""
        for file, inode in self._files.items():
            try:
                is_ours = _inode(file.stat()) == inode
            except FileNotFoundError:
                is_ours = False
            if not is_ours:
                raise OSError(
                    errno.ENOENT,
                    "the file was moved, deleted or replaced while the service runs; put it back, "
                    "or start the service again",
                    str(file),
                )

    def close(self) -> None:
        """Let go of the file."""
        if hasattr(self, "database"):
            self.database.close()
        if self._inode in _being_written:
            _being_written.discard(self._inode)
            os.close(self._descriptor)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a journal to read it; what is wrong with it is a ``ValueError`` that names the file."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no journal at {path}. A service writes it.")
    with (
        explained(path),
        closing(_connect(path, "rw" if os.access(path, os.W_OK) else "ro")) as database,
    ):
        database.execute("PRAGMA query_only=1")
        _check_kind(path, database)
        yield database


def is_being_written(path: Path) -> bool:
    """Return whether a service has the journal open, here or in another process."""
    try:
        if _inode(path.stat()) in _being_written:
            return True
        with path.open("rb") as file:
            return not try_lock(file.fileno())
    except OSError:
        return False


def _take(path: Path) -> int:
    """Return a descriptor of the file, which no other writer has; it is made where there is none.

    It must be closed after SQLite has closed the file, not before.
    """
    twice = ValueError(
        f"One service writes a journal, and {path} is being written by another. Stop that one, or "
        "name another journal."
    )
    try:
        if path.exists() and _inode(path.stat()) in _being_written:
            raise twice
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o600)
    except OSError as error:
        raise ValueError(
            f"The journal {path} cannot be opened: {error.strerror}. Its folder must exist and be "
            "ours, and the file be ours to write."
        ) from None
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"A journal is an ordinary file, got {path}, which is none.")
    if not try_lock(descriptor):
        os.close(descriptor)
        raise twice
    return descriptor


def _open_for_writing(path: Path) -> tuple[sqlite3.Connection, Counter[str]]:
    """Open a journal, made where there is none; return also how many documents a model has.

    What is committed is on the disk. Nothing is written before every page and row was looked at.
    """
    is_new = not path.stat().st_size
    database = _connect(path, "rw")
    try:
        with explained(path):
            if is_new:
                make_empty(database, uuid4().hex)
                names_to_disk(path.parent)
            _check_kind(path, database)
            if problems := page_problems(database):
                raise damaged(path, problems[0])
            for table in TABLES.keys() - {"documents"}:
                deque(read_rows(path, database, table), maxlen=0)
            rows = read_rows(path, database, "documents")
            gone = replaced(database)
            counts = Counter(row[1] for number, row in rows if number not in gone)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=FULL")
            with database:  # the file of the log is there from now on
                database.execute("BEGIN IMMEDIATE")
                make_tables(database)
                database.execute("REPLACE INTO about VALUES ('opened', ?)", (now(),))
    except BaseException:
        database.close()
        raise
    return database, counts


def make_empty(database: sqlite3.Connection, name: str) -> None:
    """Make the tables of a journal in an empty file; ``name`` sets it apart from all others."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        make_tables(database)
        database.execute("INSERT INTO about VALUES ('journal', ?)", (name,))
        database.execute(f"PRAGMA application_id={_APPLICATION}")
        database.execute(f"PRAGMA user_version={_FORMAT}")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open in autocommit mode: transactions begin and end where the code says so."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        database = sqlite3.connect(
            address, uri=True, timeout=5, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise ValueError(
            f"The journal {path} cannot be opened: {error}. Its folder must exist and be ours."
        ) from None
    # A byte that is no character is damage of one row, which its checksum shows.
    database.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    database.execute("PRAGMA cell_size_check=1")
    return database


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a file into an error that names it and the way out."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "readonly" in str(error):
            rule = f"The journal {path} must be ours to write, and so must its folder"
            raise ValueError(f"{rule}: {error}.") from None
        if "locked" in str(error):
            rule = f"The journal {path} is locked by another program"
            raise ValueError(f"{rule}: {error}. End that one, or wait.") from None
        if "full" in str(error) or "disk I/O" in str(error):
            raise OSError(errno.ENOSPC, f"cannot be written: {error}", str(path)) from None
        raise damaged(path, str(error)) from None


def page_problems(database: sqlite3.Connection) -> list[str]:
    """Return what SQLite finds wrong with the pages of a file."""
    found = [str(line) for (line,) in database.execute("PRAGMA quick_check(10)")]
    return [] if found == ["ok"] else found


def _check_kind(path: Path, database: sqlite3.Connection) -> None:
    try:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise ValueError(f"{path} is no journal of labelkin: {error}.") from None
    if application != _APPLICATION:
        raise ValueError(f"{path} is an SQLite file, but no journal of labelkin. Name another.")
    if version != _FORMAT:
        way_out = "Install a newer labelkin."
        if version < _FORMAT:
            way_out = f"labelkin journal recover {path} NEW writes it anew."
        raise ValueError(
            f"The journal {path} has format {version}, and this version knows {_FORMAT}. {way_out}"
        )


def identity(database: sqlite3.Connection) -> str:
    """Return what sets this journal apart from all others."""
    (name,) = database.execute("SELECT value FROM about WHERE name = 'journal'").fetchone()
    return str(name)


def _wal(path: Path) -> Path:
    """Return the file of SQLite's log, in which the latest documents are."""
    return path.with_name(f"{path.name}-wal")


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
