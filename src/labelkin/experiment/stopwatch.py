"""How long something takes: on the clock, and of the processor."""

from __future__ import annotations

import time


class Stopwatch:
    """Runs from the moment it is made.

    Examples
    --------
    >>> sorted(Stopwatch().seconds("learning_"))
    ['learning_cpu', 'learning_wall']
    """

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def seconds(self, prefix: str = "") -> dict[str, float]:
        """Return the seconds since, ``"wall"`` and ``"cpu"``, of all threads together."""
        return {
            f"{prefix}wall": time.perf_counter() - self._wall,
            f"{prefix}cpu": time.process_time() - self._cpu,
        }
