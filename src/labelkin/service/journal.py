"""The journal: what people say of documents in an SQLite file, on the disk before the answer.

It holds documents that people have labelled, and what they have said of labels that an audit
suspects. A document that another program keeps has an origin there: what comes from the same origin
later stands in its place, and what comes again changes nothing. One process writes the journal,
others may read it meanwhile. Every row has a checksum, and all of them are looked at when the file
is opened: from a damaged journal nothing is learned, and nothing is written to it.
:func:`read_journal` and :func:`read_answers` need nothing of the web; ``journal_upkeep`` checks,
saves and copies.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from time import monotonic
from typing import NamedTuple
from uuid import uuid4

from labelkin.corpora.corrections import Decision
from labelkin.files import names_to_disk, try_lock
from labelkin.service.journal_rows import (
    TABLES,
    Entry,
    Withdrawal,
    damaged,
    entry_of,
    insert,
    last_document,
    last_words,
    make_tables,
    now,
    read_rows,
    replaced,
)

#: "lkin" in ASCII, in the header of every journal: what sets it apart from other SQLite files.
_APPLICATION = 0x6C6B696E
_FORMAT = 2
#: Documents that one commit may hold: so many waiting writers share the disk's delay.
_MOST_AT_ONCE = 1_000
#: After a commit the journal counts as writable for so long.
_FRESH_SECONDS = 1.0
#: Characters that a question whether it can be written writes at most.
_MOST_PROBED = 2**20
#: Journals that this process writes, by device and inode. They are not opened a second time: to
#: close a file lets go of all locks that SQLite has on it in this process.
_being_written: set[tuple[int, int]] = set()

_log = logging.getLogger(__name__)


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
    path = Path(path)
    with reading(path) as database:
        database.execute("BEGIN")  # the mark and the documents are of one moment
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        gone = replaced(database)
        rows = read_rows(path, database, "documents")
        entries = [
            entry_of(row)
            for number, row in rows
            if number not in gone and (model is None or row[1] == model)
        ]
        mark = Mark(identity(database), last)
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
    path = Path(path)
    with reading(path) as database:
        return last_words(row for _, row in read_rows(path, database, "answers"))


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


class Journal:
    """A journal that is open for writing: one connection, one lock, one thread that writes.

    All documents that wait for the thread go into one transaction, and whoever brought them gets
    an answer when they are on the disk (WAL, ``synchronous=FULL``).

    Parameters
    ----------
    path : Path
        The file; made where there is none, for the eyes of its owner only. One that is damaged, or
        that is being written already, is a ``ValueError``.
    most_bytes : int or None, default None
        Size from which on nothing more is written.

    Attributes
    ----------
    n_documents : Counter
        How many it has, by model.
    """

    def __init__(self, path: Path, most_bytes: int | None = None) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._descriptor = _take(path)
        self._inode = _inode(os.fstat(self._descriptor))
        _being_written.add(self._inode)
        try:
            self._database, self.n_documents = _open_for_writing(path)
            # Until the last connection is closed, SQLite goes on with the files it has opened.
            self._files = {file: _inode(file.stat()) for file in (path, _wal(path))}
        except BaseException:
            self._let_go()
            raise
        self._lock = Lock()  # whoever holds it has the connection
        self._waiting: deque[_Batch] = deque()
        self._listeners: list[tuple[Callable[[Sequence[Entry]], None], Callable[[], None]]] = []
        self._fresh_until = 0.0
        self._failed: int | None = None  # characters of what could not be written last
        self._writer = ThreadPoolExecutor(1, thread_name_prefix=f"journal {path.name}")

    def listen(
        self,
        listener: Callable[[Sequence[Entry]], None],
        replaced: Callable[[], None] = lambda: None,
    ) -> None:
        """Have a function called with documents that have reached the disk, in their order.

        ``replaced`` is called in its place where earlier documents were replaced or withdrawn, so
        that all is to be learned anew; nothing further is written until it returns.
        """
        self._listeners.append((listener, replaced))

    def append(self, entries: Sequence[Entry | Withdrawal | Decision]) -> Future[list[int]]:
        """Write documents or answers; their ids come when all are on the disk, or none.

        A document that its origin has sent already, and just so, is not written again.

        No entries at all: a question whether the journal can be written, which is tried.
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

    def replay(self, model: str, after: Mark | None = None, *, texts: bool = True) -> list[Entry]:
        """Return what is in the journal for a model, later than the mark if it is this one's.

        Without ``texts`` they are left empty: labels are learned without them.
        """
        with self._lock:
            is_ours = after is not None and after.journal == identity(self._database)
            # Every row was looked at when the file was opened, or is our own.
            rows = self._database.execute(
                f"SELECT id, written, model, accepted, rejected, {'text' if texts else repr('')} "
                "FROM documents WHERE id > ? AND model = ? ORDER BY id",
                (after.last if after and is_ours else 0, model),
            )
            gone = replaced(self._database)
            return [entry_of(row) for number, *row in rows if number not in gone]

    def answers(self) -> list[Decision]:
        """Return what people have said of issues, as :func:`read_answers` does."""
        with self._lock:
            rows = read_rows(self.path, self._database, "answers")
            return last_words(row for _, row in rows)

    def bytes_on_disk(self) -> int:
        """Return the size of the journal's files."""
        return sum(file.stat().st_size for file in self._files if file.exists())

    def close(self) -> None:
        """Write what waits, then close the file."""
        self._writer.shutdown(wait=True)
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()
        if self._inode in _being_written:
            _being_written.discard(self._inode)
            os.close(self._descriptor)

    def _write(self) -> None:
        """Write what waits, together; there is nothing where an earlier call has written it."""
        batches: list[_Batch] = []
        n_entries = 0
        while self._waiting and n_entries < _MOST_AT_ONCE:
            batch = self._waiting.popleft()
            if batch.future.set_running_or_notify_cancel():  # someone still waits for it
                batches.append(batch)
                n_entries += len(batch.entries)
        if not batches:
            return
        documents = [e for batch in batches for e in batch.entries if isinstance(e, Entry)]
        try:
            with self._lock:
                self._check_files()
                before, gone = last_document(self._database), self._replaced_by(batches)
                ids = self._commit(batches) if n_entries else self._probe(len(batches))
                newly_gone = self._replaced_by(batches) - gone
                self._check_files()
        except Exception as error:  # whatever it is, who waits must hear of it
            if self._failed is None:
                _log.error("the journal %s cannot be written: %s", self.path, error)
            self._failed = max(self._failed or 0, sum(len(entry.text) for entry in documents))
            self._fresh_until = 0.0
            for batch in batches:
                batch.future.set_exception(error)
            return
        self._failed = None
        self._fresh_until = monotonic() + _FRESH_SECONDS
        new = _new_documents(batches, ids, before)
        self.n_documents.update(entry.model for entry in new.values())
        self.n_documents.subtract(self._models_of(newly_gone))
        # What has come and gone in one commit is learned neither way.
        learned = [entry for number, entry in new.items() if number not in newly_gone]
        is_anew = any(number <= before for number in newly_gone)
        for listener, replaced_ones in self._listeners:
            if is_anew:
                replaced_ones()
            else:
                listener(learned)
        for batch, numbers in zip(batches, ids, strict=True):
            batch.future.set_result(numbers)

    def _commit(self, batches: Sequence[_Batch]) -> list[list[int]]:
        if self._most_bytes is not None and self.bytes_on_disk() >= self._most_bytes:
            rule = f"it may have {self._most_bytes} bytes, and has them; train on it and begin anew"
            raise OSError(errno.EFBIG, rule, str(self.path))
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            return [insert(self._database, batch.entries) for batch in batches]

    def _replaced_by(self, batches: Sequence[_Batch]) -> set[int]:
        """Return what :func:`replaced` does, of the origins of what is written."""
        named = {getattr(one, "origin", "") for batch in batches for one in batch.entries}
        return replaced(self._database, named - {""})

    def _models_of(self, numbers: Iterable[int]) -> list[str]:
        """Return the models of documents."""
        ask = "SELECT model FROM documents WHERE id = ?"
        with self._lock:
            return [str(self._database.execute(ask, (one,)).fetchone()[0]) for one in numbers]

    def _probe(self, n_questions: int) -> list[list[int]]:
        """Write as much as could not be written last, then a line; unless it was just written."""
        if self._failed is not None or monotonic() >= self._fresh_until:
            size = min(self._failed or 0, _MOST_PROBED)
            for value in (["x" * size] if size else []) + [now()]:
                with self._database:
                    self._database.execute("BEGIN IMMEDIATE")
                    insert(self._database, ())
                    self._database.execute("REPLACE INTO about VALUES ('tried', ?)", (value,))
        return [[] for _ in range(n_questions)]

    def _check_files(self) -> None:
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


class _Batch(NamedTuple):
    """What is written together, and who waits for it."""

    entries: tuple[Entry | Withdrawal | Decision, ...]
    future: Future[list[int]]


def _new_documents(
    batches: Sequence[_Batch], ids: Sequence[Sequence[int]], before: int
) -> dict[int, Entry]:
    """Return the documents that were not there before, by their numbers."""
    written = (
        (number, entry)
        for batch, numbers in zip(batches, ids, strict=True)
        for number, entry in zip(numbers, batch.entries, strict=True)
        if isinstance(entry, Entry)
    )
    return {number: entry for number, entry in written if number > before}


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
