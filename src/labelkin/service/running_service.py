"""All that requests share: models, journals, the threads that work, what is counted."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends, Request

from labelkin.corpora.corrections import Decision
from labelkin.label_matrix.record import some_of
from labelkin.service.health import Telemetry
from labelkin.service.journal import Entry, Journal, default_journal
from labelkin.service.messages import ProblemError
from labelkin.service.models import Learner, ServedModel, read_models
from labelkin.service.review import Review, read_issues
from labelkin.service.serving import Limits

P = ParamSpec("P")
T = TypeVar("T")


class RunningService:
    """Models that answer, journals that are written, and threads that work.

    Parameters
    ----------
    paths : sequence of Path
        Model files.
    journal : Path or None
        One journal for all models; ``None``: each has its own, beside its file.
    limits : Limits
        The bounds.
    review : Path or None, default None
        Issues of an audit that are reviewed; the answers go to the journal of the first model, or
        beside the file where there is no model.
    trusted : names, default ()
        What model files may hold that is asked for by name, as :func:`labelkin.load` takes it.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        journal: Path | None,
        limits: Limits,
        review: Path | None = None,
        trusted: Sequence[str] = (),
    ) -> None:
        self.limits = limits
        issues = None if review is None else read_issues(review, limits)
        self.models = read_models(paths, trusted) if paths or review is None else {}
        self.telemetry = Telemetry()
        self.workers = WorkerPool(limits)
        places = [journal or default_journal(path) for path in paths]
        if review is not None and not paths:
            places = [journal or default_journal(review)]
        self.review: Review | None = None
        self._files: dict[Path, Journal] = {}
        self._learners: list[Learner] = []
        try:
            for place in dict.fromkeys(places):
                self._files[place] = Journal(place, limits.journal_bytes)
            named = zip(self.models, map(self._files.__getitem__, places), strict=False)
            self.journals = dict(named)
            if issues is not None and review is not None:
                self.review = Review(review.name, issues, self._files[places[0]])
            self._learners.extend(map(self._start_learning, self.models.values()))
        except BaseException:
            self.close()
            raise

    def model(self, name: str) -> ServedModel:
        """Return a model by its id."""
        if name not in self.models:
            detail = f"There is no model {name!r:.100}. There is {some_of(list(self.models))}."
            raise ProblemError(404, "no-such-model", detail)
        return self.models[name]

    async def write(self, entries: Sequence[Entry]) -> list[int]:
        """Write documents to the journal of their model; return their ids once they are durable."""
        if not entries:
            return []
        return await self._write(self.journals[entries[0].model], entries)

    async def answer(self, review: Review, number: int, answer: str | None) -> None:
        """Write what a person says of an issue, ``None``: nothing any more; it is durable then."""
        await self._write(review.journal, [review.decision(number, answer)])
        review.heard(number, answer)

    async def check_journals(self) -> None:
        """Raise a problem if a journal can no longer be written."""
        for journal in self._files.values():
            await self._write(journal, ())

    def measure(self) -> None:
        """Bring those figures up to date that nobody counts as they change."""
        self.telemetry.taken.set(self.workers.taken)
        for place, journal in self._files.items():
            self.telemetry.journal_documents.labels(place.name).set(journal.n_documents.total())
            self.telemetry.journal_bytes.labels(place.name).set(journal.bytes_on_disk())

    def close(self) -> None:
        """Finish what was taken, write what waits, and end the threads."""
        self.workers.close()
        for journal in self._files.values():
            journal.close()
        for learner in self._learners:
            learner.close()

    def _start_learning(self, model: ServedModel) -> Learner:
        """Learn what the journal has, then whatever comes."""
        learner, journal = Learner(model, self.telemetry), self.journals[model.id]
        if entries := journal.replay(model.id, after=model.mark, texts=False):
            learner.learn(entries)
        journal.listen(learner.hear)
        return learner

    async def _write(self, journal: Journal, entries: Sequence[Entry | Decision]) -> list[int]:
        try:
            return await _in_time(
                journal.append(entries),
                self.limits.seconds,
                "It may have been saved all the same; the journal shows it.",
            )
        except (sqlite3.Error, OSError) as error:
            raise ProblemError(
                503,
                "journal-not-writable",
                f"The journal {journal.path.name} must be written before anything is saved, and "
                f"cannot be: {getattr(error, 'strerror', None) or error}. Nothing was saved.",
                {"Retry-After": "10"},
            ) from None


async def _service_of(request: Request) -> RunningService:
    service: RunningService = request.app.state.service
    return service


#: What a route declares to have the service.
Service = Annotated[RunningService, Depends(_service_of)]


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
        return await _in_time(future, self._limits.seconds, "Send less at a time.")

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


async def _in_time(future: Future[T], seconds: float, way_out: str) -> T:
    """Wait for a result for so many seconds."""
    waiting = asyncio.wrap_future(future)
    done, _ = await asyncio.wait([waiting], timeout=seconds)
    if not done:
        waiting.cancel()
        rule = f"A request must be answered within {seconds:g} s, and this one was not."
        raise ProblemError(504, "too-slow", f"{rule} {way_out}")
    return waiting.result()
