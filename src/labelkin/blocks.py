"""Work on blocks of documents, here or elsewhere: each by itself, or counted and added up.

Whatever is larger than memory, or than one machine, comes in blocks. Two verbs are enough for all
of it: ``map`` answers block after block, ``fold`` counts every block and adds the counts up in a
fixed binary tree over the numbers of the blocks. Sums of floating-point numbers depend on the order
in which they are added; the tree is the same wherever the blocks are counted, so that the sums are,
to the last bit.

A block is anything: some rows, a slice of a memory-mapped file, a path. Functions that are to run
in other processes are named at the top of a module and take what they need as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

Count = TypeVar("Count")


class Engine(Protocol):
    """Where the work is done; :class:`Local` is this process."""

    def map(
        self, function: Callable[..., Any], blocks: Iterable[Any], **shared: Any
    ) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order."""

    def fold(
        self,
        count: Callable[..., Any],
        add: Callable[[Any, Any], Any],
        blocks: Iterable[Any],
        **shared: Any,
    ) -> Any:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree."""


class Local:
    """In this process, one block after the other: memory holds one block and a few sums."""

    def map(
        self, function: Callable[..., Any], blocks: Iterable[Any], **shared: Any
    ) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order."""
        return (function(block, **shared) for block in blocks)

    def fold(
        self,
        count: Callable[..., Count],
        add: Callable[[Count, Count], Count],
        blocks: Iterable[Any],
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
