"""What work will take in memory, said before it is begun; and freed memory that is used again."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

#: What glibc calls its settings: how much freed memory is kept; how much is kept by a thread other
#: than the main one, where Dask's tasks are; and from which size on an array has pages of its own,
#: which are never kept.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
#: What they are while somebody works; 32 MB is the most that glibc takes for the last.
_WORKING = {_TRIM_THRESHOLD: 2**28, _TOP_PAD: 2**28, _MMAP_THRESHOLD: 2**25}
#: What glibc has for those of which the environment says nothing.
_DEFAULT = str(2**17)
#: Seconds without work after which freed memory is handed back; to Dask it is recent for thirty.
_IDLE = 20.0


def memory_of_machine() -> int | None:
    """Return the bytes of memory this machine has; ``None`` where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def check_memory(n_bytes: float, what: str, way_out: str) -> None:
    """Raise before work that takes more memory than there is.

    Parameters
    ----------
    n_bytes
        What it will take, by what is known of it.
    what
        The work and its size, for the message.
    way_out
        What to do instead.

    Raises
    ------
    MemoryError
        With the forecast, what there is, and the way out.

    Examples
    --------
    >>> check_memory(1e3, "weights of 10 × 10 labels", "Use fewer labels.")
    """
    there = memory_of_machine()
    if there is not None and n_bytes > there:
        raise MemoryError(
            f"{what} will take about {_in_words(n_bytes)} of memory, and this machine has "
            f"{_in_words(there)}. {way_out}"
        )


def _in_words(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"


@contextmanager
def reused_memory() -> Iterator[None]:
    """Have memory that is freed in this context used again, and handed back soon after.

    Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_``: what is freed goes back to the system
    at once, and every larger array is made of new pages, which can take as long as the work itself.
    Here it stays as long as block follows block, and goes back some seconds after the last. Where
    the variable is not set, or not understood, nothing is done: glibc keeps memory by itself.
    """
    settings = _settings_of_worker()
    if settings is None:
        yield
        return
    with _working.lock:
        _working.many += 1
        if _working.many == 1:
            _set(_WORKING)
    try:
        yield
    finally:
        with _working.lock:
            _working.many -= 1
            _working.last = time.monotonic()
            if not _working.is_watched:
                _working.is_watched = True
                _look_again(_IDLE, settings)


class _Working:
    """How many work here, in this and other threads, when the last has ended, and who sees it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.many = 0
        self.last = 0.0
        self.is_watched = False


_working = _Working()


@cache
def _settings_of_worker() -> dict[int, int] | None:
    """Return what the environment says of freed memory; ``None``: nothing that can be changed."""
    try:
        trim = int(os.environ["MALLOC_TRIM_THRESHOLD_"])
        pad = int(os.environ.get("MALLOC_TOP_PAD_", _DEFAULT))
        own_pages = int(os.environ.get("MALLOC_MMAP_THRESHOLD_", _DEFAULT))
        _ = _glibc().mallopt, _glibc().malloc_trim
    except (KeyError, ValueError, OSError, AttributeError):
        return None
    return {_TRIM_THRESHOLD: trim, _TOP_PAD: pad, _MMAP_THRESHOLD: own_pages}


def _look_again(seconds: float, settings: dict[int, int]) -> None:
    timer = threading.Timer(seconds, _hand_back, [settings])
    timer.daemon = True
    timer.start()


def _hand_back(settings: dict[int, int]) -> None:
    """Hand freed memory back, if nobody has worked for a while; else look again later."""
    with _working.lock:
        left = _IDLE if _working.many else _working.last + _IDLE - time.monotonic()
        if left > 0:
            _look_again(left, settings)
            return
        _working.is_watched = False
        _set(settings)
        _glibc().malloc_trim(0)


def _set(settings: dict[int, int]) -> None:
    for name, value in settings.items():
        _glibc().mallopt(name, value)


@cache
def _glibc() -> Any:
    return ctypes.CDLL(None)
