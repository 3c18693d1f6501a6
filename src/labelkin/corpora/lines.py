"""Lines, JSON objects and rows of text files, packed or not, however large.

Errors name the wrong line. The default encoding is detected by the bytes.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import json
import lzma
import os
import re
import shlex
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from labelkin.files import check_unpacked

Item = TypeVar("Item")

_BLOCK = 1 << 20
#: Characters of a block that are searched for zero bytes.
_START = 1 << 12
#: Characters of one line. A small file may unpack to a line without end, and so may a pipe.
LONGEST_LINE = 100_000_000
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
#: First bytes of packed files.
_PACKED: dict[str, tuple[re.Pattern[bytes], Callable[[Any], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), gzip.open),
    "bzip2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.open),
    "xz": (re.compile(rb"\xfd7zXZ\0"), lzma.open),
}

_PACKED_ENDING = re.compile(r"\.(?:gz|bz2|xz)$", re.IGNORECASE)

#: How files begin that people take for tables and texts.
_NO_TEXTS = {
    "a packed document, as .xlsx, .docx, .ods and .odt are": re.compile(rb"PK\x03\x04"),
    "an old document of Office (.xls, .doc)": re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    "a PDF": re.compile(rb"%PDF-"),
    "a picture": re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"),
    "a model of labelkin": re.compile(rb"\x89LABELKIN"),
    "a NumPy array": re.compile(rb"\x93NUMPY"),
    "XML or HTML": re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!doctype html|html)", re.IGNORECASE),
    "a MARC file (ISO 2709)": re.compile(rb"\d{5}[a-z][a-z].{2}[ a]\d\d\d{5}", re.DOTALL),
}

_SAVE_AS = "Save a table as CSV (UTF-8), and a document as plain text."

#: First bytes of files by their encoding; the last two have no mark, but ASCII signs.
_MARKS = {
    "utf-8-sig": re.compile(rb"\xef\xbb\xbf"),
    "utf-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff"),
    "utf-16": re.compile(rb"\xff\xfe|\xfe\xff"),
    "utf-16-le": re.compile(rb"(?:[\x01-\x7f]\0){2}"),
    "utf-16-be": re.compile(rb"(?:\0[\x01-\x7f]){2}"),
}
#: What Windows' Western encoding has no sign for, or no text has.
_NOT_WINDOWS = re.compile(rb"[\0-\x08\x0e-\x1a\x81\x8d\x8f\x90\x9d]")


class ReadingError(ValueError):
    """An error in a file whose hint names parameters in Python, and options in a command.

    Parameters
    ----------
    message : str
        The rule and the value received.
    **parameters
        Parameters of :func:`labelkin.corpora.load` that may help, with their values.

    Examples
    --------
    >>> error = ReadingError("No labels.", columns={"labels": "NAME"})
    >>> print(error, "/", error.on_command_line())
    No labels. Pass columns={'labels': 'NAME'}. / No labels. Use --columns labels=NAME.
    """

    def __init__(self, message: str, **parameters: Any) -> None:
        self.message, self.parameters = message, parameters
        listed = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        super().__init__(f"{message} Pass {listed}.")

    def on_command_line(self) -> str:
        """Return the message with the options of the command line."""
        options = [
            f"--{name} {shlex.quote(one)}"
            for name, value in self.parameters.items()
            if name != "quoted"  # not an option
            for one in ([f"{k}={v}" for k, v in value.items()] if name == "columns" else [value])
        ]
        return f"{self.message} Use {' '.join(options)}." if options else self.message


def line_of(path: Path | str, number: int) -> str:
    """Return what messages call a line, counted from 1.

    Examples
    --------
    >>> line_of(Path("folder/a.dat"), 7)
    'a.dat, line 7'
    """
    return f"{Path(path).name}, line {number}"


def stem_of(path: Path) -> str:
    """Return a file's name without its ending, and without that of a packed file.

    Examples
    --------
    >>> stem_of(Path("corpora/news.csv.gz"))
    'news'
    """
    name = _PACKED_ENDING.sub("", path.name)
    return Path(name).stem or name


def ending_of(path: Path) -> str:
    """Return the ending of a file's name, ``.csv`` of ``news.CSV.gz``."""
    return Path(_PACKED_ENDING.sub("", path.name)).suffix.lower()


def decoded_lines(
    source: str | os.PathLike[str] | BinaryIO,
    encoding: str | None = "utf-8",
    name: str | None = None,
    found: Callable[[str], object] | None = None,
) -> Iterator[str]:
    r"""Yield the lines of a text file with their ends, unpacking it if it is packed.

    Only ``\n`` ends a line: the other line ends of Unicode occur inside texts. A byte order mark is
    skipped. Memory holds a block of the file, never all of it.

    Parameters
    ----------
    source : path or binary stream
        A file, whose first bytes say whether it is gzip, bzip2 or xz; or a stream such as
        ``sys.stdin.buffer``, whose lines are yielded as soon as they are there.
    encoding : str or None, default "utf-8"
        Bytes that are not of it are an error that names their line and their offset (in the
        unpacked file). ``None``: UTF-8, or what a mark at the beginning says, or, if the first
        sign that is not ASCII is not UTF-8 and most others are not, Windows-1252.
    name : str, optional
        What messages call the source; by default the name of the file.
    found : callable, optional
        Is given the encoding where none was named, when it is known.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    name = name or (path.name if path else "the stream")
    decode = _Decoder(encoding, found or str)
    number, position, block = 1, 0, b"more"
    rest: list[str] = []  # pieces of a line that has not ended yet
    with _unpacked(source, name) as (file, kind):
        # A stream must not wait until a whole block is there.
        read = file.read if path else getattr(file, "read1", file.read)
        while block:
            try:
                block = read(_BLOCK)
            except _BROKEN as error:
                raise _not_whole(name, number, kind, error) from None
            position += len(block)
            try:
                text = decode(block)
            except UnicodeDecodeError as error:
                raise _wrong_bytes(name, number, position, encoding or "utf-8", error) from None
            if encoding is None and "\0" in text[:_START]:
                raise ValueError(f"{name} must be a text file, and has zero bytes: it is binary.")
            first, *lines = text.split("\n")
            rest.append(first)
            if lines:
                yield "".join(rest) + "\n"
                rest = [lines.pop()]
                for line in lines:
                    yield line + "\n"
                number += len(lines) + 1
            elif len(rest) * _BLOCK > LONGEST_LINE and sum(map(len, rest)) > LONGEST_LINE:
                raise _too_long(name, number)
    if last := "".join(rest):
        yield last


class _Decoder:
    """Decode block after block; without a given encoding it is detected on the way.

    As long as all is ASCII, UTF-8 and Windows-1252 are the same, so that nothing is read twice.
    """

    def __init__(self, encoding: str | None, found: Callable[[str], object]) -> None:
        self._found = found
        self._is_open, self._is_ascii = encoding is None, True
        self._decoder = None if encoding is None else _incremental(encoding)

    def __call__(self, block: bytes) -> str:
        if self._decoder is None:
            marked = (name for name, mark in _MARKS.items() if mark.match(block))
            encoding = next(marked, "utf-8")
            self._is_open = encoding == "utf-8"
            self._decoder = _incremental(encoding)
            if not self._is_open:
                self._found(encoding)
        try:
            text = self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            if not (self._is_open and self._is_ascii and _is_windows(error)):
                raise
            self._decoder, self._is_open = _incremental("cp1252"), False
            self._found("cp1252")
            return self._decoder.decode(error.object, final=not block)
        self._is_ascii = self._is_ascii and text.isascii()
        return text


def _incremental(encoding: str) -> codecs.IncrementalDecoder:
    utf8 = codecs.lookup(encoding).name == "utf-8"
    return codecs.getincrementaldecoder("utf-8-sig" if utf8 else encoding)()


def _is_windows(error: UnicodeDecodeError) -> bool:
    """Whether bytes that are not UTF-8 are Windows-1252, and no UTF-8 that is damaged."""
    rest = error.object[error.start :]
    n_groups = len(re.findall(rb"[\x80-\xff]+", rest))
    n_utf8 = len(re.findall(rb"[\xc2-\xf4][\x80-\xbf]+", rest))
    is_first = error.object[: error.start].isascii()
    return is_first and 2 * n_utf8 < n_groups and not _NOT_WINDOWS.search(rest)


def byte_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, unpacked if it is packed, after their numbers from 1."""
    number = 0
    with (
        _unpacked(path, path.name) as (file, kind),
        BufferedReader(cast(Any, file), 1 << 16) as buffered,
    ):
        try:
            for number, line in enumerate(
                iter(partial(buffered.readline, LONGEST_LINE + 1), b""), start=1
            ):
                if len(line) > LONGEST_LINE:
                    raise _too_long(path.name, number)
                yield number, line
        except _BROKEN as error:
            raise _not_whole(path.name, number + 1, kind, error) from None


def json_objects(lines: Iterable[str], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON object of every line that is not blank, after its place: name and line."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:  # of syntax, depth, or 5,000 digits
            raise ValueError(
                f"{place}: a line must be one JSON object, got {line.strip()[:60]!r} … ({error}). "
                "Is the file cut off?"
            ) from None
        if not isinstance(found, dict):
            raise ValueError(
                f"{place}: a line must be one JSON object, got {type(found).__name__} "
                f"{line.strip()[:60]!r}."
            )
        yield place, found


def table_rows(
    lines: Iterable[str], name: str, delimiter: str = ",", *, quoted: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """Yield every row that is not blank after the place where it begins: name and line."""
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        place = f"{name}, line {reader.line_num + 1}"
        before = csv.field_size_limit(2**31 - 1)  # a global of csv: a text may be long
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ReadingError(
                f"{place}: a row must be cells in whole quotes or none, got: {error}. Is the file "
                "cut off, or is a quote part of a text?",
                quoted=False,
            ) from None
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        if row:
            yield place, row


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of ``size``, the last one maybe shorter."""
    if size < 1:
        raise ValueError(f"block must be at least 1, got {size!r}.")
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


@contextmanager
def _unpacked(
    source: str | os.PathLike[str] | BinaryIO, name: str
) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file once and unpack it; return also how it was packed. A stream stays open."""
    with (
        Path(source).open("rb")
        if isinstance(source, str | os.PathLike)
        else nullcontext(source) as file
    ):
        beginning = file.peek(16) if hasattr(file, "peek") else b""
        for kind, start in _NO_TEXTS.items():
            if start.match(beginning):
                raise ValueError(f"{name} must be a text file, and is {kind}. {_SAVE_AS}")
        for kind, (magic, unpack) in _PACKED.items():
            if magic.match(beginning):
                with unpack(file) as text:
                    is_file = isinstance(source, str | os.PathLike)
                    bounded = _Bounded(text, Path(str(source))) if is_file else text
                    yield cast(BinaryIO, bounded), kind
                return
        yield file, ""


class _Bounded(RawIOBase):
    """A packed file that raises when it unpacks to far more than its size."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path, self._n_bytes = file, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = int(self._file.readinto(buffer))
        self._n_bytes += n_bytes
        check_unpacked(self._path, self._n_bytes)
        return n_bytes


def _not_whole(name: str, line: int, kind: str, error: Exception) -> ValueError:
    return ValueError(
        f"{line_of(name, line)}: a {kind} file must unpack to its end, and stops here or soon "
        f"after ({error}). Is the file cut off?"
    )


def _too_long(name: str, line: int) -> ValueError:
    return ValueError(
        f"{line_of(name, line)}: a line may have {LONGEST_LINE:,} characters, and this one has "
        "more. Is it text, a document per line?"
    )


def _wrong_bytes(
    name: str, line: int, position: int, encoding: str, error: UnicodeDecodeError
) -> ValueError:
    # The input of the decoder ends at the end of the block.
    offset = position - len(error.object) + error.start
    before = error.object[: error.start].decode(encoding, errors="replace")
    number = line + before.count("\n")
    rule = (
        f"{line_of(name, number)}: the text must be {encoding}, got "
        f"0x{error.object[error.start]:02X} at byte {offset} ({error.reason})."
    )
    if b"\0" in error.object:
        return ValueError(f"{rule} It has zero bytes: it is not a text file.")
    return ReadingError(f"{rule} It may be in another encoding.", encoding="latin-1")
