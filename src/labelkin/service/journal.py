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
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

from labelkin.curation.corrections import Decision
from labelkin.service.journal_file import JournalFile, identity, reading
from labelkin.service.journal_rows import (
    Entry,
    Withdrawal,
    entry_of,
    insert,
    last_document,
    last_words,
    now,
    read_rows,
    replaced,
)

#: Documents that one commit may hold: so many waiting writers share the disk's delay.
_MOST_AT_ONCE = 1_000
#: After a commit the journal counts as writable for so long.
_FRESH_SECONDS = 1.0
#: Characters that a question whether it can be written writes at most.
_MOST_PROBED = 2**20

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
        self._file = JournalFile(path)
        self._database, self.n_documents = self._file.database, self._file.n_documents
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
        return self._file.size

    def close(self) -> None:
        """Write what waits, then close the file."""
        self._writer.shutdown(wait=True)
        with self._lock:
            self._file.close()

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
                self._file.check_names()
                before, gone = last_document(self._database), self._replaced_by(batches)
                ids = self._commit(batches) if n_entries else self._probe(len(batches))
                newly_gone = self._replaced_by(batches) - gone
                self._file.check_names()
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
