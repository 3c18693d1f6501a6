"""Work off the event loop, or on it where it is quick; a bounded number may wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock
from time import thread_time
from typing import Any, ParamSpec, TypeVar

from labelkin.service.messages import ProblemError
from labelkin.service.serving import Limits

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Hashable)
Q = TypeVar("Q")

#: Texts up to so many characters count as short, …
_SHORT = 10_000
#: … and where they take less than so many seconds on average, threads would cost more than they do.
_QUICK = 0.003
#: So many of them are answered in one go; others have their turn then.
_TOGETHER = 64
#: How much of the average is the last one.
_LAST_COUNTS = 0.1


class Cost:
    """What it costs on average to answer for a short text, in CPU seconds; unknown at first."""

    def __init__(self) -> None:
        self._seconds = float("inf")

    def is_quick(self, size: int) -> bool:
        """Return whether work on a text of so many characters is done in no time."""
        return size <= _SHORT and self._seconds < _QUICK

    def timed(self, size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work, and note what it took."""
        start = thread_time()
        done = work(*args, **kwargs)
        if size <= _SHORT:
            self._note(thread_time() - start)
        return done

    def timed_together(
        self, work: Callable[[M, Sequence[Q]], Sequence[T]], about: M, questions: Sequence[Q]
    ) -> Sequence[T]:
        """Answer some questions about short texts, and note what one took."""
        start = thread_time()
        done = work(about, questions)
        self._note((thread_time() - start) / len(questions))
        return done

    def _note(self, took: float) -> None:
        is_first = self._seconds == float("inf")
        self._seconds = (
            took if is_first else (1 - _LAST_COUNTS) * self._seconds + _LAST_COUNTS * took
        )


class WorkerPool:
    """Threads that do the work of requests, off the event loop; a bounded number may wait for them.

    Parameters
    ----------
    limits : Limits
        How many work, how many wait, and the time by which a request must be answered.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="labelkin-work")
        self._lock = Lock()
        self._taken = 0
        self._is_closed = False
        self._gathered: dict[Hashable, list[tuple[Any, asyncio.Future[Any]]]] = {}

    @property
    def taken(self) -> int:
        """How many requests are being worked on or wait for it."""
        return self._taken

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the work returns; that there is no room or no time for it is a problem.

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
        return await in_time(future, self._limits.seconds, "Send less at a time.")

    async def do_sized(
        self, cost: Cost, size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do the same, but at once where work of this size is known to be quick.

        Threads take turns at the interpreter: to hand the work of a millisecond to one of them
        takes half as long again, and several of them slow the event loop down.
        """
        if self._is_closed or not cost.is_quick(size):
            return await self.do(partial(cost.timed, size, work, *args, **kwargs))
        return cost.timed(size, work, *args, **kwargs)

    async def do_together(
        self,
        cost: Cost,
        size: int,
        work: Callable[[M, Sequence[Q]], Sequence[T]],
        about: M,
        question: Q,
    ) -> T:
        """Do the same for one of several questions: those of a moment are answered in one go.

        Whatever has arrived while others were answered is of one moment; nobody waits for more. A
        model takes hardly longer over ten short texts than over one.
        """
        if self._is_closed or not cost.is_quick(size):
            timed = partial(cost.timed, size, work, about, [question])
            (answer,) = await self.do(timed)
            return answer
        loop = asyncio.get_running_loop()
        key = loop, cost, work, about
        if key not in self._gathered:
            self._gathered[key] = []
            loop.call_soon(self._answer_gathered, key)
        future: asyncio.Future[T] = loop.create_future()
        self._gathered[key].append((question, future))
        return await future

    def _answer_gathered(self, key: tuple[asyncio.AbstractEventLoop, Cost, Any, Any]) -> None:
        loop, cost, work, about = key
        gathered = self._gathered.pop(key)
        if len(gathered) > _TOGETHER:
            self._gathered[key] = gathered[_TOGETHER:]
            loop.call_soon(self._answer_gathered, key)
        wanted = [pair for pair in gathered[:_TOGETHER] if not pair[1].done()]
        _answer(partial(cost.timed_together, work, about), wanted)

    def close(self) -> None:
        """Finish what was taken, and take nothing more."""
        self._is_closed = True
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


def _answer(
    work: Callable[[Sequence[Q]], Sequence[T]], asked: Sequence[tuple[Q, asyncio.Future[T]]]
) -> None:
    """Answer in one go; where that fails, one by one, so that each has its own error."""
    if not asked:
        return
    try:
        answers = work([question for question, _ in asked])
    except Exception as error:
        if len(asked) == 1:
            asked[0][1].set_exception(error)
        else:
            for one in asked:
                _answer(work, [one])
        return
    for (_, future), answer in zip(asked, answers, strict=True):
        future.set_result(answer)


async def in_time(future: Future[T], seconds: float, way_out: str) -> T:
    """Wait for a result for so many seconds."""
    waiting = asyncio.wrap_future(future)
    done, _ = await asyncio.wait([waiting], timeout=seconds)
    if not done:
        waiting.cancel()
        rule = f"A request must be answered within {seconds:g} s, and this one was not."
        raise ProblemError(504, "too-slow", f"{rule} {way_out}")
    return waiting.result()
