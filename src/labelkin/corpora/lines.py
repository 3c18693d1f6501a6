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
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from labelkin.files import check_unpacked

Item = TypeVar("Item")

#: Bytes at the beginning that are searched for zero bytes.
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

#: First bytes of files that are not texts.
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
#: Bytes without a character in Windows-1252, and control characters.
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
    skipped. Memory contains a line of the file at a time.

    Parameters
    ----------
    source : path or binary stream
        A file, plain or packed by gzip, bzip2 or xz; or a stream such as ``sys.stdin.buffer``,
        whose lines are yielded as soon as they are available.
    encoding : str or None, default "utf-8"
        Other bytes are an error that names their line and their offset (in the unpacked file).
        ``None``: UTF-8, the encoding of a byte order mark, or Windows-1252 if the first character
        outside ASCII and most that follow are not UTF-8.
    name : str, optional
        Name of the source in messages; by default the name of the file.
    found : callable, optional
        Called with the detected encoding if it is not UTF-8.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    name = name or (path.name if path else "the stream")
    position, is_ascii = 0, True
    with _unpacked(source, name) as (file, kind):
        try:
            beginning = _peek(file)
        except _BROKEN as error:
            raise _not_whole(name, 1, kind, error) from None
        marked = next((one for one, mark in _MARKS.items() if mark.match(beginning)), None)
        if encoding is None and marked is not None and found is not None:
            found(marked)
        now = encoding or marked or "utf-8"
        if encoding is None and "\0" in beginning[:_START].decode(now, errors="replace"):
            raise ValueError(f"{name} must be a text file, and has zero bytes: it is binary.")
        try:
            codec = codecs.lookup(now).name
        except LookupError:
            raise ValueError(f"encoding must be one that Python knows, got {now!r}.") from None
        if codec.startswith(("utf-16", "utf-32")):
            yield from _wide_lines(file, now, kind, path, name)
            return
        codec = codec.removesuffix("-sig")  # which would remove a mark from every line
        for number, raw in _numbered(file, kind, path, name):
            is_first = number == 1 and codec == "utf-8"
            line = raw.removeprefix(codecs.BOM_UTF8) if is_first else raw
            try:
                text = line.decode(codec)
            except UnicodeDecodeError as error:
                is_open = encoding is None and marked is None and is_ascii
                if not is_open or not _is_windows(line[error.start :] + _peek(file)):
                    raise _wrong_bytes(name, number, position, now, error) from None
                codec = "cp1252"
                text = line.decode(codec)
                if found is not None:
                    found(codec)
            is_ascii = is_ascii and line.isascii()
            position += len(raw)
            yield text


def byte_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, unpacked if it is packed, after their numbers from 1."""
    with _unpacked(path, path.name) as (file, kind):
        yield from _numbered(file, kind, path, path.name)


def _numbered(
    file: BinaryIO, kind: str, path: Path | None, name: str
) -> Iterator[tuple[int, bytes]]:
    number, n_bytes = 0, 0
    try:
        while line := file.readline(LONGEST_LINE + 1):
            number, n_bytes = number + 1, n_bytes + len(line)
            if len(line) > LONGEST_LINE:
                raise _too_long(name, number)
            if kind and path is not None:
                check_unpacked(path, n_bytes)
            yield number, line
    except _BROKEN as error:
        raise _not_whole(name, number + 1, kind, error) from None


def _wide_lines(
    file: BinaryIO, encoding: str, kind: str, path: Path | None, name: str
) -> Iterator[str]:
    """Yield the lines of UTF-16 and UTF-32, in which a line feed has several bytes."""
    number, n_bytes = 0, 0
    text = TextIOWrapper(file, encoding, newline="\n")
    try:
        while line := text.readline(LONGEST_LINE + 1):
            number, n_bytes = number + 1, n_bytes + 2 * len(line)
            if len(line) > LONGEST_LINE:
                raise _too_long(name, number)
            if kind and path is not None:
                check_unpacked(path, n_bytes)
            yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        rule = f"the text must be {encoding}, got {error}"
        raise ValueError(f"{line_of(name, number + 1)}: {rule}.") from None
    except _BROKEN as error:
        raise _not_whole(name, number + 1, kind, error) from None
    finally:
        text.detach()


def _peek(file: BinaryIO) -> bytes:
    """Return the next bytes without reading them: as many as the buffer has."""
    if isinstance(file, BytesIO):
        return file.getvalue()[file.tell() :]
    return file.peek(1) if hasattr(file, "peek") else b""


def _is_windows(rest: bytes) -> bool:
    """Whether bytes that are not UTF-8 are Windows-1252, and not damaged UTF-8."""
    n_groups = len(re.findall(rb"[\x80-\xff]+", rest))
    n_utf8 = len(re.findall(rb"[\xc2-\xf4][\x80-\xbf]+", rest))
    return 2 * n_utf8 < n_groups and not _NOT_WINDOWS.search(rest)


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
    return ReadingError(
        f"{line_of(name, line)}: the text must be {encoding}, got 0x{error.object[error.start]:02X}"
        f" at byte {position + error.start} ({error.reason}). It may be in another encoding.",
        encoding="latin-1",
    )


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
        yield place, check_object(found, place)


def check_object(found: Any, place: str) -> dict[str, Any]:
    """Return a JSON object; another value is an error."""
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise ValueError(f"{place}: a document must be a JSON object, got {kind} {found!r:.60}.")
    return found


def table_rows(
    lines: Iterable[str], name: str, delimiter: str = ",", *, quoted: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """Yield every row that is not blank after the place where it begins: name and line."""
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
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
        Path(source).open("rb", 1 << 20)
        if isinstance(source, str | os.PathLike)
        else nullcontext(source) as file
    ):
        beginning = _peek(file)
        for kind, start in _NO_TEXTS.items():
            if start.match(beginning):
                raise ValueError(f"{name} must be a text file, and is {kind}. {_SAVE_AS}")
        for kind, (magic, unpack) in _PACKED.items():
            if magic.match(beginning):
                with unpack(file) as text:
                    yield text, kind
                return
        yield file, ""
