"""Blocks of documents: computed one by one, or counted and added up; and the files of blocks.

Data larger than memory, or than one machine, are processed in blocks. An engine has two methods:
``map`` computes block after block, ``fold`` counts every block and adds the counts up in a fixed
binary tree over the numbers of the blocks. Sums of floating-point numbers depend on the order of
addition; the tree is the same on every engine, so that the sums are equal to the last bit.

A block is some rows, a slice of a memory-mapped file, the path of a file of rows, or a tuple of
these. Functions that run in other processes are defined at the top of a module and take their data
as arguments.

:class:`Local` works in this process, :class:`labelkin.scaling.distributed.OnDask` on a cluster.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from labelkin.files import MOST_UNSEEN, check_declared, check_unpacked
from labelkin.validation import validate_sparse

Function = Callable[..., Any]

#: Documents of a block; with fewer, messages take a large part of a cluster's time.
DOCUMENTS = 10_000


class Engine(Protocol):
    """A place where blocks are computed; :class:`Local` is this process."""

    def map(self, function: Function, blocks: Iterable[Any], /, **shared: Any) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order."""

    def fold(self, count: Function, add: Function, blocks: Iterable[Any], /, **shared: Any) -> Any:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree."""


class Local:
    """In this process, one block after the other: memory holds one block and a few sums."""

    def map(self, function: Function, blocks: Iterable[Any], /, **shared: Any) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order."""
        return (function(block, **shared) for block in blocks)

    def fold(self, count: Function, add: Function, blocks: Iterable[Any], /, **shared: Any) -> Any:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree.

        Neighbours are added first, then neighbouring sums, and so on; a sum without neighbour waits
        for the next round. Blocks may be an iterator: of n blocks, log₂ n sums are alive.

        Raises
        ------
        ValueError
            If there is no block.

        Examples
        --------
        >>> Local().fold(str, "({}{})".format, range(5))
        '(((01)(23))4)'
        """
        waiting: list[tuple[int, Any]] = []  # rounds won, sum; fewer rounds to the right
        for block in blocks:
            rounds, total = 0, count(block, **shared)
            while waiting and waiting[-1][0] == rounds:
                rounds, total = rounds + 1, add(waiting.pop()[1], total)
            waiting.append((rounds, total))
        if not waiting:
            raise ValueError("There must be at least one block to count, got none.")
        total = waiting.pop()[1]
        while waiting:
            total = add(waiting.pop()[1], total)
        return total


def row_blocks(*matrices: Any, size: int = DOCUMENTS) -> Iterator[Any]:
    """Cut matrices with the same rows into blocks; those of a memory-mapped file are read in turn.

    Parameters
    ----------
    *matrices : array, sparse matrix, LabelMatrix or sequence
        With one row per document.
    size : int, default 10,000
        Documents of a block.

    Yields
    ------
    rows of the matrix, or of several matrices in a tuple

    Examples
    --------
    >>> [block.tolist() for block in row_blocks(np.arange(5), size=2)]
    [[0, 1], [2, 3], [4]]
    """
    if size < 1:
        raise ValueError(f"size must be at least 1 document, got {size!r}.")
    sizes = [m.shape[0] if hasattr(m, "shape") else len(m) for m in matrices]
    if len(set(sizes)) != 1:
        raise ValueError(f"Matrices must have the same rows, got {sizes} of them.")
    whole = [sparse.csr_array(m) if sparse.issparse(m) else m for m in matrices]
    for start in range(0, sizes[0], size):
        rows = slice(start, start + size)
        block = tuple(_rows_of(matrix, rows) for matrix in whole)
        yield block if len(block) > 1 else block[0]


def _rows_of(matrix: Any, rows: slice) -> Any:
    if hasattr(matrix, "iloc"):
        return matrix.iloc[rows]
    return matrix.rows(rows) if hasattr(matrix, "rows") else matrix[rows]


def read_block(block: Any) -> Any:
    """Return the rows of a block: a path is read, and each part of a tuple.

    Parameters
    ----------
    block : rows, path of a file, or tuple of these
        ``.npy`` (mapped into memory) or ``.npz`` (a sparse matrix as SciPy saves it).
    """
    if isinstance(block, tuple):
        return tuple(map(read_block, block))
    if hasattr(block, "__dask_graph__"):
        raise TypeError(
            "Parts of a Dask collection must be computed on a cluster, got one in this process. "
            "Use engine=labelkin.scaling.distributed.OnDask(client)."
        )
    if not isinstance(block, Path):
        return block
    if block.suffix not in (".npy", ".npz"):
        raise ValueError(
            "A block in a file must be an array (.npy) or a sparse matrix (.npz), got "
            f"{block.name!r}. Read other files yourself: blocks may be an iterator of rows."
        )
    if block.suffix == ".npz":
        return read_sparse(block)
    with _file_errors(block, "an array as numpy.save"):
        return np.load(block, mmap_mode="r", allow_pickle=False)


def read_parts(block: Any, what: str, many: Sequence[int] = (2,)) -> tuple[Any, ...]:
    """Return the rows of a block of several parts.

    Parameters
    ----------
    block : tuple of rows or of paths of files
        As :func:`read_block` takes them.
    what
        Names of the parts, for the message.
    many
        Possible numbers of parts.

    Raises
    ------
    ValueError
        If it is not such a tuple: rows of one matrix would be taken for parts.

    Examples
    --------
    >>> read_parts(([[1, 0]], [["sea"]]), "documents and their labels")
    ([[1, 0]], [['sea']])
    """
    is_several = isinstance(block, tuple | list)
    if not is_several or len(block) not in many:
        came = type(block).__name__ + (f" of {len(block)}" if is_several else "")
        raise ValueError(
            f"A block must be a tuple of {what}, got {came}. Use "
            "labelkin.scaling.blocks.row_blocks for matrices, pathlib.Path for files."
        )
    return tuple(map(read_block, block))


@contextmanager
def _file_errors(path: Path, what: str) -> Iterator[None]:
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
    with _file_errors(path, what), zipfile.ZipFile(path) as archive:
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
    # NumPy checks characters only when it converts them to texts.
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
    with _file_errors(path, "a sparse matrix as scipy.sparse.save_npz"):
        for declared in arrays["shape"].tolist():
            check_declared(path, declared, "rows or columns")
        matrix = sparse.load_npz(path)
    return sparse.csr_array(validate_sparse(matrix, path.name))
