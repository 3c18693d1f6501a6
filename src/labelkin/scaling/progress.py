"""How far long work is: loops that take long report it, and whoever watches shows it.

Nobody watches unless asked to: a loop then costs what it costs without. The command line watches
(:func:`labelkin.cli.printing.watching`), and knows from the first blocks how long the rest takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
#: Told what is done, how many parts of it are, and how many there are in all.
Watcher = Callable[[str, int, int], None]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
#: Seconds between reports: whoever draws need not draw more often.
_PAUSE = 0.1


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Have the loops of some work report to a watcher.

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
    """Return the parts of some work as they are; whoever watches hears how many are done.

    Parameters
    ----------
    parts : iterable
        A part that is asked for after another means that the other is done.
    what : str
        What is done.
    total : int, optional
        How many parts there are; ``None``: as many as ``parts`` says. Where nobody knows, nothing
        is reported.
    """
    watcher = _watcher.get()
    if total is None and isinstance(parts, Sized):
        total = len(parts)
    # One part is done when it is done: there is nothing to say on the way.
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
