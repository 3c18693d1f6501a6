r"""Save a fitted model to one file, load it, or read its header.

=========  =========================================================================================
bytes      content
=========  =========================================================================================
0–12       ``\x89LABELKIN\r\n\x1a\n``: like PNG's, it shows when a transfer has changed line ends
16–19      version of the format
20–39      version of labelkin that wrote the file, ASCII; a later format keeps it here
40–63      lengths of the three parts that follow, in bytes
64–        description (JSON), model (JSON), arrays
last 32    SHA-256 of everything before
=========  =========================================================================================

Numbers are little-endian. Only the first 64 bytes are interpreted before the checksum is verified,
and memory is bounded by the size of the file. The checksum detects damage; it is not a signature.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
import struct
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelkin.files import atomic_replace

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAGIC = b"\x89LABELKIN\r\n\x1a\n"
#: Files of another version are rejected: nothing converts them.
FORMAT = 3

_FIXED = struct.Struct("<13s3xI20s3Q")
_CHECKSUM = 32
_CHUNK = 2**20
_ALIGNED = 64  # of an address, for vector instructions and cache lines

Bytes = NDArray[np.uint8]

#: First bytes of other files, and their kind.
_OTHER_KINDS = {
    b"\x80": "a pickle, as joblib files are; it could run code and is not opened",
    b"\x89LABELKIN": "a model file whose line ends a transfer has changed: copy it as binary",
    b"": "another kind of data",
}


@dataclass(frozen=True)
class ModelFile:
    """The header of a model file.

    Attributes
    ----------
    path : Path
        The file.
    format_version : int
        Version of the file format.
    versions : dict of str to str
        Of labelkin, Python and the libraries that the model was saved with, by name.
    created : datetime
        When it was saved, UTC.
    model : str
        The model's class.
    class_names : tuple of str
        All classes that occur in it, by their names in model files, sorted.
    labels : tuple
        The names of the labels in column order, as text where they are neither text nor numbers;
        empty for a model without labels, such as a vectoriser.
    summary : dict or None
        Facts about the training, as given to :func:`save`.
    file_bytes : int
        Size of the file.
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


def save(
    model: BaseEstimator, path: str | os.PathLike[str], *, summary: dict[str, Any] | None = None
) -> Path:
    """Write a fitted model to one file, which contains no code.

    Until the new file is complete and on disk, an older one stays unchanged. Metadata requests
    (``set_fit_request``) are not stored.

    Parameters
    ----------
    model : estimator
        A fitted estimator: one of labelkin's, or a pipeline of them and the scikit-learn classes
        that ``labelkin.storage.trusted`` lists. Others raise an error that names their place.
    path : str or path-like
        The file to write; ``.labelkin`` is the usual ending.
    summary : dict, default=None
        Facts about the training, for :func:`labelkin.storage.read_header`: any values of JSON.

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
    if not (summary is None or isinstance(summary, dict)):
        raise TypeError(f"summary must be a dict, got a {type(summary).__name__}.")
    from labelkin.storage.codec import encode_model, label_names

    labels = label_names(model)
    described, arrays, class_names = encode_model(model)
    versions = {name: version(name) for name in ("labelkin", "numpy", "scikit-learn", "scipy")}
    description = {
        "versions": {**versions, "python": platform.python_version()},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": type(model).__name__,
        "classes": class_names,
        "labels": labels,
        "summary": summary,
    }
    try:
        about = _json(description)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"summary must contain values of JSON (text, finite numbers, lists, dicts): {error}. "
            "Convert NumPy numbers by .item(), arrays by .tolist()."
        ) from None
    written = _json(described)
    writer = versions["labelkin"].encode("ascii", "replace")[:20]
    lengths = len(about), len(written), sum(map(stored_size, arrays))
    data = chain.from_iterable(map(array_bytes, arrays))
    digest = hashlib.sha256()
    with atomic_replace(path) as file:
        for piece in chain((_FIXED.pack(MAGIC, FORMAT, writer, *lengths), about, written), data):
            file.write(piece)
            digest.update(piece)
        file.write(digest.digest())
    return path


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = ()) -> Any:
    """Return the model of a file; its predictions equal those of the saved one to the last bit.

    The file contains no code, and is not interpreted before its checksum is verified. A file that
    is damaged, forged or not a model file raises a ``ValueError`` with the reason.

    Parameters
    ----------
    path : str or path-like
        A model file.
    trusted : names, default ()
        Parts that compiled code of other projects reads: ``"omikuji"``, the files of a
        model of ``labelkin-omikuji``. Other files with such a part raise an error.

    Returns
    -------
    estimator
        The model, fitted.

    Examples
    --------
    >>> import tempfile
    >>> from labelkin import NaiveBayes, load, save
    >>> model = NaiveBayes().fit([[3, 0], [2, 1], [0, 4]], [["sea"], ["sea", "town"], ["town"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(save(model, f"{folder}/news.labelkin"))
    >>> again.predict_labels([[5, 0]])
    [('sea',)]
    """
    from labelkin.storage.codec import decode_model
    from labelkin.storage.trusted import check_trusted

    path = Path(path)
    header, model, data = _read_file(path)
    check_trusted(trusted, header.class_names, path)
    try:
        built = decode_model(_parsed(model), data, header)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no sound model file: {error}.") from None
    now, then = version("scikit-learn"), header.versions.get("scikit-learn", "?")
    if now != then and any(name.startswith("sklearn.") for name in header.class_names):
        warnings.warn(
            f"{path.name} was saved with scikit-learn {then}, and this is {now}: the model may "
            "fail or its results may differ. Train it again, or install that version.",
            stacklevel=2,
        )
    return built


def read_header(path: str | os.PathLike[str]) -> ModelFile:
    """Return the header of a file; its checksum is verified, its model is not built.

    Parameters
    ----------
    path : str or path-like
        A model file.

    Returns
    -------
    ModelFile
        Versions, classes, labels, sizes, and the summary that was saved with the model.
    """
    return _read_file(Path(path), whole=False)[0]


def _check_model(model: Any) -> None:
    from sklearn.base import BaseEstimator
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"model must be a fitted estimator, got {model!r:.80}. "
            "Save data by the means of its library."
        )
    if not isinstance(model, HashingVectorizer):  # it has nothing to fit; scikit-learn 1.6 asks
        check_is_fitted(model)


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")  # half a character is legal in a Python text


def _parsed(data: bytes) -> Any:
    return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _read_file(path: Path, *, whole: bool = True) -> tuple[ModelFile, bytes, NDArray[np.uint8]]:
    """Read and verify a file: description, model and arrays; these two only if ``whole``."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no model file {path} (from the folder {Path.cwd()}). "
            "labelkin.save(model, path) writes one."
        )
    if not path.is_file():  # reading a pipe would wait
        raise ValueError(f"A model must be an ordinary file, got {path}.")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        fixed = file.read(_FIXED.size)
        n_about, n_model, n_data = _checked_lengths(path, fixed, size)
        digest = hashlib.sha256(fixed)
        about = _read(file, n_about, digest).tobytes()
        model = _read(file, n_model, digest, keep=whole).tobytes()
        data = _read(file, n_data, digest, keep=whole)
        if file.read(_CHECKSUM + 1) != digest.digest():
            raise ValueError(
                f"{path} is damaged: its checksum is not that of its contents. Copy it again, or "
                "save the model again."
            )
    return _header(path, about, size), model, data


def _checked_lengths(path: Path, fixed: bytes, size: int) -> list[int]:
    """Return the lengths of the three parts, if the first 64 bytes are those of a model file."""
    if not fixed.startswith(MAGIC):
        kind = next(kind for start, kind in _OTHER_KINDS.items() if fixed.startswith(start))
        raise ValueError(
            f"{path} is not a labelkin model file: it looks like {kind}. "
            "labelkin train and labelkin.save write model files."
        )
    if len(fixed) < _FIXED.size:
        raise ValueError(f"{path} is cut off: it has {size} bytes, and a header alone has 64.")
    _, number, writer, *lengths = _FIXED.unpack(fixed)
    if number != FORMAT:
        hint = "Train the model again" if number < FORMAT else "Update labelkin"
        raise ValueError(
            f"{path} has format version {number}, written by labelkin "
            f"{writer.rstrip(bytes(1)).decode('ascii', 'replace')!r}, and this labelkin reads "
            f"version {FORMAT}. {hint}."
        )
    expected = _FIXED.size + sum(lengths) + _CHECKSUM
    if size != expected:
        what = "is cut off" if size < expected else "is damaged"
        raise ValueError(
            f"{path} {what}: by its header it has {expected} bytes, and it has {size}. "
            "Copy it again, or save the model again."
        )
    return lengths


def _read(file: BufferedReader, n_bytes: int, digest: Any, *, keep: bool = True) -> Bytes:
    """Read bytes to an address that suits vector instructions; without ``keep`` only their hash."""
    try:
        raw = np.empty((n_bytes if keep else min(n_bytes, _CHUNK)) + _ALIGNED, dtype=np.uint8)
    except MemoryError:
        raise ValueError(
            f"{file.name} has a part of {n_bytes:,} bytes, and there is no memory to load it. Copy "
            "the file again if it is larger than it was, or use a larger machine."
        ) from None
    data = raw[-raw.ctypes.data % _ALIGNED :][: len(raw) - _ALIGNED]
    for begin in range(0, n_bytes, _CHUNK):
        chunk = data[begin if keep else 0 :][: min(_CHUNK, n_bytes - begin)].data
        file.readinto(chunk)
        digest.update(chunk)  # while it is in the cache
    return data


def _header(path: Path, about: bytes, n_file: int) -> ModelFile:
    try:
        said = _parsed(about)
        return ModelFile(
            path=path,
            format_version=FORMAT,
            versions={str(name): str(value) for name, value in said["versions"].items()},
            created=datetime.fromisoformat(said["created"]),
            model=str(said["model"]),
            class_names=tuple(map(str, said["classes"])),
            labels=tuple(said["labels"]),
            summary=None if said["summary"] is None else dict(said["summary"]),
            file_bytes=n_file,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} is no sound model file: its description fails ({error!r})."
        ) from None


_MOST_DIMENSIONS = 32
_LAST_CHARACTER = 0x10FFFF
#: Largest dimension without bytes in the file: of an empty array, or columns of a sparse matrix.
MOST_UNUSED = 2**24
#: Booleans, integers, floats (no long doubles: they differ between machines), text, byte strings.
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|(?:<U|\|S)[1-9][0-9]{0,7}")


def array_bytes(array: NDArray[Any]) -> Iterator[Any]:
    """Yield the bytes of an array and those up to the next one."""
    plain = np.asarray(array, dtype=little_endian(array.dtype))
    if plain.nbytes:
        rows = np.ascontiguousarray(plain.T if _by_column(array) else plain)
        yield rows.reshape(-1).view(np.uint8).data
    yield bytes(stored_size(array) - array.nbytes)


def stored_size(array: NDArray[Any]) -> int:
    """Return how many bytes an array takes, those up to the next array included."""
    return -(-array.nbytes // _ALIGNED) * _ALIGNED


def is_storable(dtype: np.dtype[Any]) -> bool:
    """Return whether arrays of a dtype are bytes that mean the same everywhere."""
    return dtype.fields is None and bool(_DTYPE.fullmatch(little_endian(dtype).str))


def describe(array: NDArray[Any]) -> list[Any]:
    """Return dtype, shape and order of an array as JSON."""
    return [little_endian(array.dtype).str, list(array.shape), "F" if _by_column(array) else "C"]


def read_arrays(descriptions: Any, data: Bytes) -> list[NDArray[Any]]:
    """Return the arrays in ``data``, as views; they must fill it exactly."""
    if not isinstance(descriptions, list):
        raise ValueError(f"its list of arrays is a {type(descriptions).__name__}")
    arrays, end = [], 0
    for description in descriptions:
        array = view(description, data, end)
        end += stored_size(array)
        arrays.append(array)
    if end != len(data):
        raise ValueError(f"its {len(arrays)} arrays take {end} bytes, and {len(data)} are there")
    return arrays


def view(description: Any, data: Bytes, start: int) -> NDArray[Any]:
    """Return an array in ``data``; values that NumPy would not check are checked."""
    if not isinstance(description, list) or len(description) != 3:
        raise ValueError(f"an array is described as {str(description)[:80]}")
    dtype, shape, order = read_dtype(description[0]), read_shape(description[1]), description[2]
    if order not in ("C", "F"):
        raise ValueError(f"an array lies in the order {order!r}")
    n_bytes = math.prod(shape) * dtype.itemsize
    if start + n_bytes > len(data):
        raise ValueError(
            f"an array of shape {shape} and dtype {dtype.str} needs {n_bytes} bytes, and "
            f"{len(data) - start} are there"
        )
    array: NDArray[Any] = np.ndarray(shape, dtype, data, start if n_bytes else 0, order=order)
    raw = data[start : start + n_bytes]
    if dtype.kind == "b" and raw.max(initial=0) > 1:
        raise ValueError(f"an array of booleans holds {raw.max()}")
    if dtype.kind == "U" and raw.view("<u4").max(initial=0) > _LAST_CHARACTER:
        raise ValueError("an array of text contains numbers that are not characters")
    return array


def read_dtype(name: Any) -> np.dtype[Any]:
    """Return the dtype of a name, if it is one of those that are stored."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ValueError(f"an array has the dtype {shown(name)}, which is never stored")
    return np.dtype(name)


def read_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape from JSON."""
    if (
        not isinstance(shape, list)
        or len(shape) > _MOST_DIMENSIONS
        or not all(type(n) is int and 0 <= n < 2**63 for n in shape)
        or (0 in shape and max(shape) > MOST_UNUSED)
    ):
        raise ValueError(f"{shown(shape)} is no shape")
    return tuple(shape)


def shown(value: Any) -> str:
    """Return a value from a file for a message; containers and objects by their type."""
    if value is None or type(value) in (str, int, float, bool):
        return repr(value)[:80]
    return f"a {type(value).__name__}"


def little_endian(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype as it is stored."""
    return dtype.newbyteorder("<")


def _by_column(array: NDArray[Any]) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)
