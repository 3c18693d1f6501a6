"""Tell, on stderr, what is being done and how long it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stage(name: str, verbose: int) -> Iterator[None]:
    """Announce a stage of work and report its duration; silent when ``verbose`` is 0."""
    if not verbose:
        yield
        return
    sys.stderr.write(f"labelkin: {name} …")
    sys.stderr.flush()
    start = time.perf_counter()
    yield
    sys.stderr.write(f" {time.perf_counter() - start:.1f} s\n")
