"""A file of answers that survives being killed: batches go to the disk one by one, in order.

Whatever ends the work, the file holds whole lines and at most one torn one, the last. To go on,
that one is cut off, and the answers that are there are held against the documents they are of.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from labelkin.prediction.documents import Document
from labelkin.prediction.layouts import Layout

_BLOCK = 1 << 16


class Output:
    """Lines that are on the disk before the next ones are computed.

    Parameters
    ----------
    file
        Open for writing bytes.
    durable
        Whether every piece is to reach the disk; not for streams.
    """

    def __init__(self, file: BinaryIO, *, durable: bool) -> None:
        self.file = file
        self.durable = durable

    @classmethod
    def to_file(cls, path: Path, *, resume: bool = False) -> Self:
        """Open a new file; or one that is there, to go on after its last whole line."""
        if resume and path.exists():
            cut_torn_line(path)
            return cls(path.open("ab"), durable=True)
        return cls(path.open("xb"), durable=True)

    def write(self, text: str) -> None:
        """Write, and wait until it is written."""
        self.file.write(text.encode("utf-8", "backslashreplace"))
        self.file.flush()
        if self.durable:
            os.fsync(self.file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.durable:
            self.file.close()


def cut_torn_line(path: Path) -> int:
    """Cut off what follows the last line end; return how many bytes that were."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        file.truncate(end)
        return size - end


def skip_answered(path: Path, layout: Layout, documents: Iterator[Document]) -> int:
    """Pass over the documents that are answered in a file; return how many there are.

    Every answer is held against its document; one that is of another document, or of none, is
    refused: then the file is not of these documents.

    Parameters
    ----------
    path
        Whole lines, as :class:`Output` leaves them.
    layout
        How they were written.
    documents
        All documents from the first on; left at the first that has no answer.
    """
    n_answered = 0
    for number, line in enumerate(_lines(path), start=1):
        if number == 1 and layout.header:
            _check_header(path, line, layout)
            continue
        document = next(documents, None)
        _check_line(path, number, _id_of(path, number, line, layout), document)
        n_answered += 1
    return n_answered


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for line in file:
            yield line.decode("utf-8", "replace")


def _check_header(path: Path, line: str, layout: Layout) -> None:
    if line != layout.header:
        raise ValueError(
            f"{path}, line 1: to go on, the header must be {layout.header.strip()!r:.80}, got "
            f"{line.strip()!r:.80}. Use the format, the labels and --all-scores it was begun with."
        )


def _id_of(path: Path, number: int, line: str, layout: Layout) -> str:
    try:
        return layout.id_of(line)
    except (ValueError, KeyError, TypeError, IndexError):
        raise ValueError(
            f"{path}, line {number}: to go on, it must be an answer in the format that is asked "
            f"for, got {line.strip()!r:.80}. Use the format it was begun with, or begin anew."
        ) from None


def _check_line(path: Path, number: int, answered: str, document: Document | None) -> None:
    if document is None:
        raise ValueError(
            f"{path}, line {number} answers the document {answered!r}, and the input has no more "
            "documents. It is not of this input: begin anew with another file."
        )
    if answered != str(document.id):
        raise ValueError(
            f"{path}, line {number} answers the document {answered!r}, where the input has "
            f"{str(document.id)!r}. It is not of this input: begin anew with another file."
        )
