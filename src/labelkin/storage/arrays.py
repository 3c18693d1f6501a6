"""Arrays ↔ bytes: little-endian, one after the other, each at a multiple of 64 bytes.

What is written about an array is its dtype, its shape and whether it lies column by column ("F"),
which decides how products with it round. Where it begins follows from those before it: a file can
neither name bytes outside its own nor give two arrays the same ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_ALIGNED = 64  # what vector instructions and cache lines like
_MOST_DIMENSIONS = 32
_LAST_CHARACTER = 0x10FFFF
#: Booleans, integers, floats (no long doubles: they differ between machines), text, byte strings.
_DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U\d{1,8}|\|S\d{1,8}")


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
    """Return the arrays that lie in ``data``, as views; they must fill it exactly."""
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
    """Return an array that lies in ``data``, after a look at values: NumPy itself takes any."""
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
        raise ValueError("an array of text holds what is no character")
    return array


def read_dtype(name: Any) -> np.dtype[Any]:
    """Return the dtype of a name, if it is one of those that are stored."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ValueError(f"an array has the dtype {name!r}, which is never stored")
    return np.dtype(name)


def read_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape from JSON."""
    if (
        not isinstance(shape, list)
        or len(shape) > _MOST_DIMENSIONS
        or not all(type(n) is int and 0 <= n < 2**63 for n in shape)
    ):
        raise ValueError(f"{str(shape)[:80]} is no shape")
    return tuple(shape)


def little_endian(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype as it is stored."""
    return dtype.newbyteorder("<")


def _by_column(array: NDArray[Any]) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)
