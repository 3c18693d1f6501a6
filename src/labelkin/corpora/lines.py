"""Lines of text files, packed or not, however large; errors name the line that is wrong."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

_BLOCK = 1 << 20
#: Characters of one line. A small file may unpack to a line without end, and so may a pipe.
LONGEST_LINE = 100_000_000
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
#: How packed files begin, whatever they are called.
_PACKED: dict[str, tuple[re.Pattern[bytes], Callable[[Any], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), gzip.open),
    "bzip2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.open),
    "xz": (re.compile(rb"\xfd7zXZ\0"), lzma.open),
}


def line_of(path: Path | str, number: int) -> str:
    """Return what messages call a line, counted from 1.

    Examples
    --------
    >>> line_of(Path("folder/a.dat"), 7)
    'a.dat, line 7'
    """
    return f"{Path(path).name}, line {number}"


def find_file(folder: Path, name: str) -> Path:
    """Return ``folder/name``, or the same packed as ``.gz``, ``.bz2`` or ``.xz``."""
    for ending in ("", ".gz", ".bz2", ".xz"):
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    raise FileNotFoundError(
        f"{folder} must have the file {name} (or {name}.gz, .bz2, .xz), and has none of them."
    )


def stem_of(path: Path) -> str:
    """Return a file's name without ``.gz`` and what comes before it, ``news`` of ``news.csv.gz``.

    Examples
    --------
    >>> stem_of(Path("corpora/news.csv.gz"))
    'news'
    """
    name = path.name.removesuffix(".gz")
    return Path(name).stem or name


def decoded_lines(
    source: str | os.PathLike[str] | BinaryIO, encoding: str = "utf-8", name: str | None = None
) -> Iterator[str]:
    r"""Yield the lines of a text file with their ends, unpacking it if it is packed.

    Only ``\n`` ends a line: the other line ends of Unicode occur inside texts. A byte order mark is
    skipped. Memory holds a block of the file, never all of it.

    Parameters
    ----------
    source : path or binary stream
        A file, whose first bytes say whether it is gzip, bzip2 or xz; or a stream such as
        ``sys.stdin.buffer``, whose lines are yielded as soon as they are there.
    encoding : str, default "utf-8"
        Bytes that are not of it are an error that names their line and their offset (in the
        unpacked file).
    name : str, optional
        What messages call the source; by default the name of the file.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    name = name or (path.name if path else "the stream")
    utf8 = codecs.lookup(encoding).name == "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8-sig" if utf8 else encoding)()
    number, position, block = 1, 0, b"more"
    rest: list[str] = []  # pieces of a line that has not ended yet
    with _unpacked(source) as (file, kind):
        # A stream must not wait until a whole block is there.
        read = file.read if path else getattr(file, "read1", file.read)
        while block:
            try:
                block = read(_BLOCK)
            except _BROKEN as error:
                raise _not_whole(name, number, kind, error) from None
            position += len(block)
            try:
                first, *lines = decoder.decode(block, final=not block).split("\n")
            except UnicodeDecodeError as error:
                raise _wrong_bytes(name, number, position, encoding, error) from None
            rest.append(first)
            if lines:
                yield "".join(rest) + "\n"
                rest = [lines.pop()]
                for line in lines:
                    yield line + "\n"
                number += len(lines) + 1
            elif len(rest) * _BLOCK > LONGEST_LINE and sum(map(len, rest)) > LONGEST_LINE:
                raise ValueError(
                    f"{line_of(name, number)}: a line may have {LONGEST_LINE:,} characters, and "
                    "this one has more. Is it text, a document per line?"
                )
    if last := "".join(rest):
        yield last


def line_blocks(path: Path, n_lines: int) -> Iterator[tuple[Sequence[int], list[bytes]]]:
    """Yield at most ``n_lines`` lines at a time, without blank ones, and their numbers."""
    first = 1
    with _unpacked(path) as (file, kind), BufferedReader(cast(Any, file), 1 << 16) as buffered:
        while True:
            lines: list[bytes] = []
            try:
                lines.extend(islice(buffered, n_lines))
            except _BROKEN as error:
                raise _not_whole(path.name, first + len(lines), kind, error) from None
            if not lines:
                return
            kept = [k for k, line in enumerate(lines) if not line.isspace()]
            if kept:
                yield [first + k for k in kept], [lines[k].rstrip(b"\r\n") for k in kept]
            first += len(lines)


@contextmanager
def _unpacked(source: str | os.PathLike[str] | BinaryIO) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, once, as what it holds; say how it was packed. A stream stays open."""
    with (
        Path(source).open("rb")
        if isinstance(source, str | os.PathLike)
        else nullcontext(source) as file
    ):
        beginning = file.peek(16) if hasattr(file, "peek") else b""
        for kind, (magic, unpack) in _PACKED.items():
            if magic.match(beginning):
                with unpack(file) as unpacked:
                    yield unpacked, kind
                return
        yield file, ""


def _not_whole(name: str, line: int, kind: str, error: Exception) -> ValueError:
    return ValueError(
        f"{line_of(name, line)}: a {kind} file must unpack to its end, and stops here or soon "
        f"after ({error}). Is the file cut off?"
    )


def _wrong_bytes(
    name: str, line: int, position: int, encoding: str, error: UnicodeDecodeError
) -> ValueError:
    # What the decoder looked at ends where the block ends, wherever it began.
    offset = position - len(error.object) + error.start
    before = error.object[: error.start].decode(encoding, errors="replace")
    number = line + before.count("\n")
    return ValueError(
        f"{line_of(name, number)}: the text must be {encoding}, got "
        f"0x{error.object[error.start]:02X} at byte {offset} ({error.reason}). If it is in another "
        "encoding, name it, e.g. encoding='latin-1'."
    )
