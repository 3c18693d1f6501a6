"""Progress of long loops: they report finished parts to a watcher.

Without a watcher a loop has no extra cost. The command line has one
(:func:`labelkin.cli.printing.watching`), which estimates the remaining time from the first parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
#: Is called with the name of the work, the number of finished parts, and of all parts.
Watcher = Callable[[str, int, int], None]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
#: Seconds between reports.
_PAUSE = 0.1


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Report the progress of all loops in this context to a watcher.

    Examples
    --------
    >>> with watched(print):
    ...     for block in track([1, 2], "squares"):
    ...         print(block**2)
    squares 0 2
    1
    4
    squares 2 2
    """
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


def track(parts: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """Return the parts of some work unchanged, and report their number to a watcher.

    Parameters
    ----------
    parts : iterable
        A part is finished when the next one is requested.
    what : str
        Name of the work.
    total : int, optional
        Number of parts; default ``len(parts)``. If it is unknown, nothing is reported.
    """
    watcher = _watcher.get()
    if total is None and isinstance(parts, Sized):
        total = len(parts)
    if watcher is None or total is None or total < 2:
        return parts
    return _reported(parts, what, total, watcher)


def _reported(parts: Iterable[T], what: str, total: int, watcher: Watcher) -> Iterator[T]:
    watcher(what, 0, total)
    reported, done = time.monotonic(), 0
    try:
        for done, part in enumerate(parts):
            if done and time.monotonic() - reported > _PAUSE:
                watcher(what, done, total)
                reported = time.monotonic()
            yield part
    finally:
        watcher(what, total, total)
