r"""The bytes of a model file: what is where, the checksum, and writing in one piece.

=========  =========================================================================================
bytes      what
=========  =========================================================================================
0–12       ``\x89LABELKIN\r\n\x1a\n``: like PNG's, it shows when a transfer has changed line ends
16–19      version of the format
20–39      version of labelkin that wrote the file, ASCII; a later format keeps it here
40–63      lengths of the three parts that follow, in bytes
64–        description (JSON), model (JSON), arrays
last 32    SHA-256 of everything before
=========  =========================================================================================

Numbers are little-endian. Nothing but the first 64 bytes is looked at before the checksum is right,
and no memory is asked for that the size of the file does not warrant. The checksum finds damage; it
is no signature.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple

from labelkin.storage.arrays import Bytes, room_for

MAGIC = b"\x89LABELKIN\r\n\x1a\n"
FORMAT = 1

_FIXED = struct.Struct("<13s3xI20s3Q")
_CHECKSUM = 32
_CHUNK = 2**20

#: How other files begin, as bytes, and what they are.
_LOOKALIKES = (
    (b"\x80", "a pickle (joblib files are pickles, too); it could run code and is not opened"),
    (b"PK\x03\x04", "a zip archive, as .npz, .skops and .docx files are"),
    (b"\x1f\x8b", "a gzip archive, perhaps a compressed pickle"),
    (b"BZh", "a bzip2 archive, perhaps a compressed pickle"),
    (b"\xfd7zXZ", "an xz archive, perhaps a compressed pickle"),
    (b"x\x01", "zlib data, perhaps a compressed joblib file"),
    (b"x\x5e", "zlib data, perhaps a compressed joblib file"),
    (b"x\x9c", "zlib data, perhaps a compressed joblib file"),
    (b"x\xda", "zlib data, perhaps a compressed joblib file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89LABELKIN", "one of ours whose line ends a transfer has changed: copy it as binary"),
)


class Contents(NamedTuple):
    """The parts of a file whose checksum is right.

    Attributes
    ----------
    format, writer
        Version of the format, and of labelkin that wrote the file.
    about, model
        The description and the model, JSON.
    data
        The arrays.
    sizes
        Bytes of the whole file, and of the arrays.
    """

    format: int
    writer: str
    about: bytes
    model: bytes
    data: Bytes
    sizes: tuple[int, int]


class _Fixed(NamedTuple):
    """The first 64 bytes."""

    format: int
    writer: str
    lengths: tuple[int, int, int]
    raw: bytes


def write_file(
    path: Path, writer: str, about: bytes, model: bytes, data: Iterable[Any], n_data: int
) -> None:
    """Write a model file; until it is whole, ``path`` stays as it was.

    Parameters
    ----------
    path
        Where to.
    writer
        Version of labelkin.
    about, model
        The description and the model, JSON.
    data, n_data
        The bytes of the arrays, piece by piece, and how many there are.
    """
    version = writer.encode("ascii", "replace")[:20]
    fixed = _FIXED.pack(MAGIC, FORMAT, version, len(about), len(model), n_data)
    digest = hashlib.sha256()
    with _replacing(path) as file:
        for piece in (fixed, about, model, *data):
            file.write(piece)
            digest.update(piece)
        file.write(digest.digest())


def read_file(path: Path, *, whole: bool = True) -> Contents:
    """Read and verify a model file; model and arrays stay empty unless the ``whole`` is wanted."""
    _check_kind(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        fixed = _read_fixed(file, path, size)
        digest = hashlib.sha256(fixed.raw)
        n_about, n_model, n_data = fixed.lengths
        about = _read(file, n_about, digest)
        model = _read(file, n_model, digest) if whole else b""
        data = room_for(n_data if whole else 0)
        _fill(file, data, digest)
        if not whole:
            _pass_over(file, n_model + n_data, digest)
        if file.read(_CHECKSUM + 1) != digest.digest():
            raise ValueError(
                f"{path} is damaged: its checksum is not that of its contents. Copy it again, or "
                "save the model again."
            )
    return Contents(fixed.format, fixed.writer, about, model, data, (size, n_data))


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file in the same folder, which takes the place of ``path`` at the end."""
    target = path.resolve()  # where a link leads to, so that it stays a link
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        _name_to_disk(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _name_to_disk(folder: Path) -> None:
    """Make a new name last through a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_kind(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"A model is one file, got the folder {path}. Name a file in it.")
    if not path.exists():
        raise FileNotFoundError(
            f"There is no model file {path} (from the folder {Path.cwd()}). "
            "labelkin.save(model, path) writes one."
        )
    if not path.is_file():  # a pipe would keep us waiting
        raise ValueError(f"A model is an ordinary file, got {path}, which is none.")


def _read_fixed(file: IO[bytes], path: Path, size: int) -> _Fixed:
    raw = file.read(_FIXED.size)
    if not raw.startswith(MAGIC[: len(raw)] if raw else MAGIC):
        raise ValueError(
            f"{path} is not a labelkin model file: it looks like {_looks_like(raw)}. "
            "labelkin.save(model, path) writes model files."
        )
    if len(raw) < _FIXED.size:
        raise ValueError(f"{path} is cut off: it has {size} bytes, and a header alone has 64.")
    _, version, writer_bytes, *lengths = _FIXED.unpack(raw)
    writer = writer_bytes.rstrip(b"\0").decode("ascii", "replace")
    _check_format(path, version, writer)
    expected = _FIXED.size + sum(lengths) + _CHECKSUM
    if size != expected:
        what = "is cut off" if size < expected else "is damaged"
        raise ValueError(
            f"{path} {what}: by its header it has {expected} bytes, and it has {size}. "
            "Copy it again, or save the model again."
        )
    n_about, n_model, n_data = lengths
    return _Fixed(version, writer, (n_about, n_model, n_data), raw)


def _check_format(path: Path, version: int, writer: str) -> None:
    if version > FORMAT:
        raise ValueError(
            f"{path} has format version {version}, written by labelkin {writer!r}, and this "
            f"labelkin reads up to {FORMAT}. Update labelkin, or save the model with this one."
        )
    if version < 1:
        raise ValueError(f"{path} is damaged: format versions begin at 1, got {version}.")


def _looks_like(head: bytes) -> str:
    if not head:
        return "an empty file"
    for start, what in _LOOKALIKES:
        if head.startswith(start):
            return what
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "a web page, perhaps of a failed download"
    if text.startswith((b"{", b"[")):
        return "JSON"
    printable = all(byte >= 32 or byte in b"\t\r\n" for byte in head)
    return "text" if head.isascii() and printable else "some other kind of data"


def _read(file: IO[bytes], n_bytes: int, digest: Any) -> bytes:
    data = file.read(n_bytes)
    digest.update(data)
    return data


def _fill(file: BufferedReader, data: Bytes, digest: Any) -> None:
    """Read into memory that is there, a chunk at a time: it is hashed while the cache has it."""
    for start in range(0, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK].data
        file.readinto(chunk)
        digest.update(chunk)


def _pass_over(file: IO[bytes], n_bytes: int, digest: Any) -> None:
    while n_bytes > 0 and (chunk := file.read(min(n_bytes, _CHUNK))):
        digest.update(chunk)
        n_bytes -= len(chunk)
