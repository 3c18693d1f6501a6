"""Worker threads for requests; the number of waiting requests is bounded."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from labelkin.service.messages import ProblemError
from labelkin.service.serving import Limits

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Hashable)
Q = TypeVar("Q")
Asked = list[tuple[Q, Future[T]]]

_CLOSING, _LESS = "The service is shutting down.", "Send less at a time."


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
        self._asked: dict[Any, Asked[Any, Any]] = {}
        self._turns: defaultdict[Any, Lock] = defaultdict(Lock)

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
            raise ProblemError(503, "closing", _CLOSING) from None
        future.add_done_callback(self._release)
        return await in_time(future, self._limits.seconds, _LESS)

    async def do_together(
        self, work: Callable[[M, Sequence[Q]], Sequence[T]], about: M, question: Q
    ) -> T:
        """Return the answer to one question; those that wait for the same work share one call.

        A model takes hardly longer for ten texts than for one. A call begins when the one before
        it has ended, with all questions that have arrived by then.
        """
        self._take()
        answer: Future[T] = Future()
        answer.add_done_callback(self._release)
        with self._lock:
            asked = self._asked.setdefault((work, about), [])
            asked.append((question, answer))
            is_first = len(asked) == 1
        if is_first:
            try:
                self._pool.submit(self._answer_asked, work, about)
            except RuntimeError:
                for _, one in self._asked.pop((work, about)):
                    one.set_exception(ProblemError(503, "closing", _CLOSING))
        return await in_time(answer, self._limits.seconds, _LESS)

    def _answer_asked(self, work: Callable[[M, Sequence[Q]], Sequence[T]], about: M) -> None:
        with self._turns[work, about]:
            with self._lock:
                asked = self._asked.pop((work, about))
            # What nobody waits for any more was cancelled.
            _answer(work, about, [one for one in asked if one[1].set_running_or_notify_cancel()])

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


def _answer(work: Callable[[M, Sequence[Q]], Sequence[T]], about: M, asked: Asked[Q, T]) -> None:
    """Answer in one call; if that fails, one by one, so that each question has its own error."""
    try:
        answers = work(about, [question for question, _ in asked])
    except Exception as error:
        if len(asked) == 1:
            asked[0][1].set_exception(error)
        else:
            for one in asked:
                _answer(work, about, [one])
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
