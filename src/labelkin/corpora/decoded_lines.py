"""Text files of any encoding line by line, plain or gzip; a byte that does not fit is located.

Files are read in blocks, so a file may be larger than memory.
"""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from labelkin.corpora.text_files import bad_line

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
