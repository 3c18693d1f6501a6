"""Work off the event loop: a few threads, a bounded queue, and a time by which it must be done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import ParamSpec, TypeVar

from labelkin.service.limits import Limits
from labelkin.service.problems import ProblemError

P = ParamSpec("P")
T = TypeVar("T")


class Workshop:
    """Threads that do the work of requests; who comes when all is taken is sent away at once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="labelkin-work")
        self._lock = Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many requests are being worked on or wait for it."""
        return self._taken

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the work returns, or tell that there is no room or no time for it.

        Work that has begun cannot be stopped: it keeps its place until it ends, also when nobody
        waits for it any more.
        """
        self._take()
        try:
            future = self._pool.submit(work, *args, **kwargs)
        except RuntimeError:
            self._release()
            raise ProblemError(503, "closing", "The service is shutting down.") from None
        future.add_done_callback(self._release)
        return await in_time(future, self._limits.seconds)

    def close(self) -> None:
        """Finish what was taken, and take nothing more."""
        self._pool.shutdown(wait=True)

    def _take(self) -> None:
        most = self._limits.workers + self._limits.waiting
        with self._lock:
            if self._taken >= most:
                raise ProblemError(
                    503,
                    "busy",
                    f"At most {most} requests can be taken at a time, and there are as many. "
                    "Ask again in a second.",
                    {"Retry-After": "1"},
                )
            self._taken += 1

    def _release(self, future: Future[T] | None = None) -> None:
        with self._lock:
            self._taken -= 1


async def in_time(future: Future[T], seconds: float, otherwise: str = "Send less at a time.") -> T:
    """Wait for a result for so many seconds; ``otherwise`` tells the way out."""
    waiting = asyncio.wrap_future(future)
    done, _ = await asyncio.wait([waiting], timeout=seconds)
    if not done:
        waiting.cancel()
        raise ProblemError(
            504,
            "too-slow",
            f"A request must be answered within {seconds:g} s, and this one was not. {otherwise}",
        )
    return waiting.result()
