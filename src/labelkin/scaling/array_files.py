"""Arrays and sparse matrices in the files of NumPy and SciPy, checked before they are used."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from labelkin.files import MOST_UNSEEN, check_declared, check_unpacked
from labelkin.validation import validate_sparse


@contextmanager
def _naming_the_file(path: Path, what: str) -> Iterator[None]:
    """Turn any error of NumPy and SciPy into one: a file can be damaged in any way."""
    try:
        yield
    except (MemoryError, OSError):
        raise
    except Exception as error:
        raise ValueError(
            f"{path.name}: it must be {what} writes it, got: {error}. Write it again."
        ) from None


def read_archive(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file by name."""
    what = "an archive of arrays as numpy.savez or scipy.sparse.save_npz"
    with _naming_the_file(path, what), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        check_unpacked(path, sum(member.file_size for member in members), 2**28)
        return {
            member.filename.removesuffix(".npy"): _read_member(archive, member)
            for member in members
        }


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array whose header declares as many bytes as there are."""
    with archive.open(member) as file:
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, _, dtype = read_header[npy.read_magic(file)](file)
        n_bytes, n_there = math.prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if (
            dtype.kind not in "biufSU"
            or not dtype.itemsize
            or n_bytes != n_there
            or (0 in shape and max(shape) > MOST_UNSEEN)
        ):
            raise ValueError(
                f"{member.filename} declares {shape} of dtype {dtype}, {n_bytes:,} bytes, and has "
                f"{n_there:,}"
            )
    with archive.open(member) as file:
        array = np.asarray(npy.read_array(file, allow_pickle=False))
    # NumPy has a look at characters only when it makes texts of them.
    return np.array(array.tolist(), dtype) if dtype.kind == "U" else array


def is_sparse(arrays: dict[str, NDArray[Any]]) -> bool:
    """Return whether the arrays of an archive are a sparse matrix as SciPy saves it."""
    return {"format", "shape", "data"} <= set(arrays)


def read_sparse(path: Path, arrays: dict[str, NDArray[Any]] | None = None) -> sparse.csr_array:
    """Return a sparse matrix as SciPy saves it, whose parts fit each other, as CSR.

    Parameters
    ----------
    path : Path
        The ``.npz`` file.
    arrays : dict, optional
        Its arrays, if they have been read.
    """
    arrays = read_archive(path) if arrays is None else arrays
    with _naming_the_file(path, "a sparse matrix as scipy.sparse.save_npz"):
        for declared in arrays["shape"].tolist():
            check_declared(path, declared, "rows or columns")
        matrix = sparse.load_npz(path)
    return sparse.csr_array(validate_sparse(matrix, path.name))
