"""Work on blocks of documents, here or elsewhere: each by itself, or counted and added up.

Whatever is larger than memory, or than one machine, comes in blocks. Two verbs are enough for all
of it: ``map`` answers block after block, ``fold`` counts every block and adds the counts up in a
fixed binary tree over the numbers of the blocks. Sums of floating-point numbers depend on the order
in which they are added; the tree is the same wherever the blocks are counted, so that the sums are,
to the last bit.

A block is anything: some rows, a slice of a memory-mapped file, the path of a file of rows, several
of these in a tuple. Functions that are to run in other processes are named at the top of a module
and take what they need as arguments.

:class:`Local` works here; :class:`labelkin.scaling.distributed.OnDask` on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from labelkin.scaling.array_files import read_sparse

Count = TypeVar("Count")

#: Documents of a block: with fewer, a cluster is busy with messages.
DOCUMENTS = 10_000


class Engine(Protocol):
    """Where the work is done; :class:`Local` is this process."""

    def map(
        self, function: Callable[..., Any], blocks: Iterable[Any], /, **shared: Any
    ) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order."""

    def fold(
        self,
        count: Callable[..., Any],
        add: Callable[[Any, Any], Any],
        blocks: Iterable[Any],
        /,
        **shared: Any,
    ) -> Any:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree."""


class Local:
    """In this process, one block after the other: memory holds one block and a few sums."""

    def map(
        self, function: Callable[..., Any], blocks: Iterable[Any], /, **shared: Any
    ) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order."""
        return (function(block, **shared) for block in blocks)

    def fold(
        self,
        count: Callable[..., Count],
        add: Callable[[Count, Count], Count],
        blocks: Iterable[Any],
        /,
        **shared: Any,
    ) -> Count:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree.

        Neighbours are added first, then neighbouring sums, and so on; who has no neighbour waits
        for the next round. Blocks may be an iterator: of n blocks, log₂ n sums are alive.

        Raises
        ------
        ValueError
            When there is no block: nobody says what nothing is.

        Examples
        --------
        >>> Local().fold(str, "({}{})".format, range(5))
        '(((01)(23))4)'
        """
        waiting: list[tuple[int, Count]] = []  # rounds won, sum; fewer rounds to the right
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
    """Return the rows of a block: a path is read, here and now; a tuple, each of its parts.

    Parameters
    ----------
    block : rows, path of a file, or tuple of these
        ``.npy`` (mapped into memory) or ``.npz`` (a sparse matrix as SciPy saves it).
    """
    if isinstance(block, tuple):
        return tuple(map(read_block, block))
    if hasattr(block, "__dask_graph__"):
        raise TypeError(
            "Parts of a Dask collection are worked on by a cluster, got one to work on here. Use "
            "engine=labelkin.scaling.distributed.OnDask(client)."
        )
    if not isinstance(block, Path):
        return block
    if block.suffix not in (".npy", ".npz"):
        raise ValueError(
            "A block in a file must be an array (.npy) or a sparse matrix (.npz), got "
            f"{block.name!r}. Read other files yourself: blocks may be an iterator of rows."
        )
    try:
        if block.suffix == ".npy":
            return np.load(block, mmap_mode="r", allow_pickle=False)
        return read_sparse(block)
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # a file can be damaged in any way, and NumPy does not name it
        raise ValueError(
            f"{block} must be an array as numpy.save, or a sparse matrix as scipy.sparse.save_npz "
            "writes it, and is damaged or something else. Write it again."
        ) from error


def read_parts(block: Any, what: str, many: Sequence[int] = (2,)) -> tuple[Any, ...]:
    """Return the rows of a block of several parts.

    Parameters
    ----------
    block : tuple of rows or of paths of files
        As :func:`read_block` takes them.
    what
        What they are, for the message.
    many
        How many there may be.

    Raises
    ------
    ValueError
        When it is no such tuple: the rows of one matrix would be taken for its parts.

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
