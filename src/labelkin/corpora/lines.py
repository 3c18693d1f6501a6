"""Text files of any encoding line by line, plain or gzip; a byte that does not fit is located.

Files are read in blocks, so a file may be larger than memory.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

BLOCK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


def decoded_lines(path: str | os.PathLike[str], encoding: str = "utf-8") -> Iterator[str]:
    r"""Yield the lines of a file with their ends, unpacking it if it is gzip.

    Only ``\n`` ends a line: the other line ends of Unicode occur inside texts. A byte order mark is
    skipped.

    Parameters
    ----------
    path
        The file. What tells gzip is its first two bytes, whatever it is called.
    encoding
        Bytes that are not of it are an error that tells their offset (in the unpacked file).
    """
    path = Path(path)
    number, rest = 1, ""
    try:
        for text in _decoded(path, encoding):
            lines = (rest + text).split("\n")
            rest = lines.pop()
            for line in lines:
                yield line + "\n"
            number += len(lines)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise bad_line(
            path,
            number,
            f"a gzip file must unpack to its end, and stops here ({error}). Is the file cut off?",
        ) from None
    if rest:
        yield rest


def _decoded(path: Path, encoding: str) -> Iterator[str]:
    utf8 = codecs.lookup(encoding).name == "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8-sig" if utf8 else encoding)()
    position = 0
    for block in _blocks(path):
        position += len(block)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            # What the decoder looked at ends where the block ends, wherever it began.
            offset = position - len(error.object) + error.start
            raise ValueError(
                f"{path.name}: the text must be {encoding}, got 0x{error.object[error.start]:02X} "
                f"at byte {offset} ({error.reason}). If it is in another encoding, name it, "
                "e.g. encoding='latin-1'."
            ) from None
        yield text


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes, at last an empty block."""
    with _open(path) as file:
        block = b"more"
        while block:
            block = file.read(BLOCK)
            yield block


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]


_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}

_BUFFER = 1 << 16


def bad_line(path: Path, line: int, message: str) -> ValueError:
    """Return the error for a line, counted from 1, that breaks a rule of its format.

    Examples
    --------
    >>> bad_line(Path("folder/a.dat"), 7, "a row must have 3 values, got 2.")
    ValueError('a.dat, line 7: a row must have 3 values, got 2.')
    """
    return ValueError(f"{path.name}, line {line}: {message}")


def find_file(folder: Path, name: str) -> Path:
    """Return ``folder/name``, or the same compressed as ``.gz``, ``.bz2`` or ``.xz``."""
    for ending in ("", *_OPENERS):
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    raise FileNotFoundError(
        f"{folder} must have the file {name} (or {name}.gz, .bz2, .xz), and has none of them."
    )


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number, from 1, and content without the line end, of every line.

    What the file's name ends in (``.gz``, ``.bz2``, ``.xz``) says how to unpack it.
    """
    for first, lines in _line_lists(path, 1_000):
        for number, line in enumerate(lines, start=first):
            yield number, line.rstrip(b"\r\n")


def text_lines(path: Path, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str]]:
    """Yield number, from 1, and text of every line."""
    for number, line in raw_lines(path):
        try:
            yield number, line.decode(encoding)
        except UnicodeDecodeError as error:
            raise bad_line(
                path,
                number,
                f"the text must be {encoding}, got the byte {line[error.start]:#04x} at "
                f"position {error.start}. Name the file's encoding, or convert it.",
            ) from None


def line_blocks(path: Path, n_lines: int) -> Iterator[tuple[Sequence[int], list[bytes]]]:
    """Yield at most ``n_lines`` lines at a time, without blank ones, and their numbers."""
    for first, lines in _line_lists(path, n_lines):
        kept = [k for k, line in enumerate(lines) if not line.isspace()]
        if kept:
            yield [first + k for k in kept], [lines[k].rstrip(b"\r\n") for k in kept]


def _line_lists(path: Path, n_lines: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of the first line, and the lines."""
    first = 1
    with BufferedReader(_OPENERS.get(path.suffix, _open_plain)(path), _BUFFER) as file:
        while lines := _some_lines(path, first, file, n_lines):
            yield first, lines
            first += len(lines)


def _some_lines(path: Path, first: int, file: BufferedReader, n_lines: int) -> list[bytes]:
    lines: list[bytes] = []
    try:
        lines.extend(islice(file, n_lines))
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise bad_line(
            path,
            first + len(lines),
            f"the file must unpack to its end, and breaks off here or soon after ({error}). "
            "Is the file cut off?",
        ) from None
    return lines


def _open_plain(path: Path) -> Any:
    return path.open("rb", buffering=0)
