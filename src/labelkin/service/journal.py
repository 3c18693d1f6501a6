"""The journal, open for writing: documents are on the disk before anyone is told so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from labelkin.service.journal_file import (
    Entry,
    Mark,
    count_by_model,
    entries_of,
    identity_of,
    insert,
    open_for_reading,
    open_for_writing,
    transaction,
)

#: Documents that one commit may hold: so many waiting writers share the disk's delay.
_MOST_AT_ONCE = 1_000

#: Told, in the order of the journal, what has reached the disk.
Listener = Callable[[Sequence[Entry]], None]


class Journal:
    """A journal that is open for writing.

    One thread writes. All documents that wait for it go into one transaction, and whoever brought
    them is answered when the disk has it (WAL, ``synchronous=FULL``).

    Parameters
    ----------
    path
        The file; made where there is none.

    Attributes
    ----------
    n_documents
        How many it has, by model.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = open_for_writing(path)
        self._waiting: SimpleQueue[_Batch | None] = SimpleQueue()
        self._listeners: list[Listener] = []
        self._closed = False
        self.n_documents = count_by_model(self._database)
        self._writer = Thread(target=self._write, name=f"journal {path.name}", daemon=True)
        self._writer.start()

    def listen(self, listener: Listener) -> None:
        """Have someone told what has reached the disk, in the journal's order."""
        self._listeners.append(listener)

    def append(self, entries: Sequence[Entry]) -> Future[list[int]]:
        """Write documents; their ids come when they are on the disk, all of them or none.

        No entries at all: a question whether the journal can be written.
        """
        future: Future[list[int]] = Future()
        if self._closed:
            future.set_exception(sqlite3.ProgrammingError("the journal is closed"))
        else:
            self._waiting.put(_Batch(tuple(entries), future))
        return future

    def replay(self, model: str, after: Mark | None = None) -> Iterator[Entry]:
        """Yield what is in the journal for a model, later than the mark if it is this journal's."""
        with closing(open_for_reading(self.path)) as database:
            last = after.last if after and after.journal == identity_of(database) else 0
            yield from (entry for _, entry in entries_of(database, model, last))

    def bytes_on_disk(self) -> int:
        """Return the size of the journal's files."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Write what waits, then close the file."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
            self._writer.join()

    def _write(self) -> None:
        with closing(self._database):
            while batches := self._next_batches():
                self._commit([batch for batch in batches if batch.begin()])

    def _next_batches(self) -> list[_Batch]:
        """Wait for a batch and take all that are there; nothing: the journal is being closed."""
        batches: list[_Batch] = []
        n_documents = 0
        batch = self._waiting.get()
        while batch is not None:
            batches.append(batch)
            n_documents += len(batch.entries)
            if n_documents >= _MOST_AT_ONCE:
                break
            try:
                batch = self._waiting.get_nowait()
            except Empty:
                break
            if batch is None:
                self._waiting.put(None)  # for the next time
        return batches

    def _commit(self, batches: Sequence[_Batch]) -> None:
        try:
            with transaction(self._database):
                ids = [insert(self._database, batch.entries) for batch in batches]
        except Exception as error:  # whatever it is, who waits must hear of it
            for batch in batches:
                batch.future.set_exception(error)
            return
        written = [entry for batch in batches for entry in batch.entries]
        self.n_documents.update(entry.model for entry in written)
        for listener in self._listeners:
            listener(written)
        for batch, numbers in zip(batches, ids, strict=True):
            batch.future.set_result(numbers)


class _Batch(NamedTuple):
    """Documents that are written together, and who waits for it."""

    entries: tuple[Entry, ...]
    future: Future[list[int]]

    def begin(self) -> bool:
        """Tell whether someone still waits."""
        return self.future.set_running_or_notify_cancel()
