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
import json
import os
import platform
import secrets
import struct
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelkin.storage.codec import (
    Bytes,
    array_bytes,
    decode_model,
    encode_model,
    room_for,
    stored_size,
)

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


class VersionWarning(InconsistentVersionWarning):
    """A model with scikit-learn parts was saved under another version of scikit-learn."""

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was saved with scikit-learn {self.original_sklearn_version}, "
            f"and this is {self.current_sklearn_version}: the model may fail or answer "
            "differently. Train it again, or install that version."
        )


@dataclass(frozen=True)
class ModelFile:
    """What a model file says of itself.

    Attributes
    ----------
    path
        The file.
    format_version
        Version of the file format.
    versions
        Of labelkin, Python and the libraries that the model was saved with, by name.
    created
        When it was saved, UTC.
    model
        The model's class.
    class_names
        All classes that occur in it, with their modules, sorted.
    labels
        The names of the labels in column order, as text where they are neither text nor numbers;
        empty for a model without labels, such as a vectoriser.
    summary
        What :func:`save` was told about the training; ``None``: nothing.
    file_bytes, array_bytes
        Size of the file, and of the arrays in it.
    """

    path: Path
    format_version: int
    versions: dict[str, str]
    created: datetime
    model: str
    class_names: tuple[str, ...]
    labels: tuple[Any, ...]
    summary: dict[str, Any] | None
    file_bytes: int
    array_bytes: int

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.labels)


def save(
    model: Any, path: str | os.PathLike[str], *, summary: dict[str, Any] | None = None
) -> Path:
    """Write a fitted model to one file, which holds no code.

    The file is complete or not there: until it is on the disk, an older one stays in its place.

    Parameters
    ----------
    model
        A fitted estimator: one of labelkin's, or a pipeline of them and the scikit-learn classes
        that ``labelkin.storage.trusted`` lists. Others are refused with the place where they are.
    path
        Where to; ``.labelkin`` is the usual ending.
    summary
        About the training, for :func:`read_header`: anything JSON can hold.

    Returns
    -------
    Path
        ``path``.

    Examples
    --------
    >>> import tempfile
    >>> from labelkin import NaiveBayes
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, f"{folder}/towns.labelkin", summary={"documents": 3})
    ...     header, again = read_header(path), load(path)
    >>> header.labels, header.summary
    (('sea', 'town'), {'documents': 3})
    >>> (again.predict_proba([[5, 0]]) == model.predict_proba([[5, 0]])).all()
    np.True_
    """
    path = Path(path)
    _check_model(model)
    _check_target(path)
    encoded = encode_model(model)
    about = {
        "versions": _versions(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": type(model).__name__,
        "classes": encoded.class_names,
        "labels": _labels(model),
        "summary": _checked_summary(summary),
    }
    write_file(
        path,
        _versions()["labelkin"],
        _json(about),
        _json(encoded.json),
        chain.from_iterable(map(array_bytes, encoded.arrays)),
        sum(map(stored_size, encoded.arrays)),
    )
    return path


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model of a file; its answers are those of the saved one to the last bit.

    No code comes from the file, and nothing in it is looked at before its checksum is right. A file
    that is damaged, not ours or made to mislead is refused with a ``ValueError`` that says why.

    Parameters
    ----------
    path
        What :func:`save` has written.
    """
    path = Path(path)
    contents = read_file(path)
    header = _header(path, contents)
    try:
        model = decode_model(_parsed(contents.model), contents.data)
    except ValueError as error:
        raise ValueError(f"{path} is no sound model file: {error}.") from None
    _warn_of_versions(header)
    return model


def read_header(path: str | os.PathLike[str]) -> ModelFile:
    """Return what a file says of itself; its checksum is verified, its model is not built."""
    path = Path(path)
    return _header(path, read_file(path, whole=False))


def _check_model(model: Any) -> None:
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise TypeError(
            f"model must be a fitted estimator, got {model!r:.80}. "
            "Save data by the means of its library."
        )
    check_is_fitted(model)


def _check_target(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"A model is one file, got the folder {path}. Name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} must exist to save {path.name} in it.")


@cache
def _versions() -> dict[str, str]:
    return {
        "labelkin": version("labelkin"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "scipy": scipy.__version__,
    }


def _labels(model: Any) -> list[Any]:
    while isinstance(model, Pipeline):
        model = model[-1]
    names = getattr(model, "label_names_", getattr(model, "classes_", ()))
    if not isinstance(names, np.ndarray):
        return []
    return [name if _is_json(name) else str(name) for name in names.tolist()]


def _is_json(name: Any) -> bool:
    return isinstance(name, str | bool | int) or (isinstance(name, float) and np.isfinite(name))


def _checked_summary(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    if not isinstance(summary, dict):
        raise TypeError(f"summary must be a dict, got a {type(summary).__name__}.")
    try:
        _json(summary)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"summary must be what JSON can hold (text, finite numbers, lists, dicts), got "
            f"something else: {error}. Convert NumPy numbers by .item(), arrays by .tolist()."
        ) from None
    return summary


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")  # half a character is legal in a Python text


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _header(path: Path, contents: Contents) -> ModelFile:
    try:
        about = _parsed(contents.about)
        return ModelFile(
            path=path,
            format_version=contents.format,
            versions={str(name): str(value) for name, value in about["versions"].items()},
            created=datetime.fromisoformat(about["created"]),
            model=str(about["model"]),
            class_names=tuple(map(str, about["classes"])),
            labels=tuple(about["labels"]),
            summary=None if about["summary"] is None else dict(about["summary"]),
            file_bytes=contents.sizes[0],
            array_bytes=contents.sizes[1],
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"{path} is no sound model file: its description fails ({error!r})."
        ) from None


def _warn_of_versions(header: ModelFile) -> None:
    now, then = sklearn.__version__, header.versions.get("scikit-learn", "?")
    if now != then and any(name.startswith("sklearn.") for name in header.class_names):
        warnings.warn(
            VersionWarning(
                estimator_name=header.path.name,
                current_sklearn_version=now,
                original_sklearn_version=then,
            ),
            stacklevel=3,
        )
