"""All that requests share: models, the keeper of journals and counts, the threads that work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from labelkin.label_matrix.record import some_of
from labelkin.service.journal_rows import Entry, Withdrawal
from labelkin.service.keeper import Keeper
from labelkin.service.messages import JournalState, ProblemError, ReviewedIssue, ReviewState
from labelkin.service.models import ServedModel
from labelkin.service.serving import Limits
from labelkin.service.work import WorkerPool, in_time

T = TypeVar("T")


class RunningService:
    """Models that answer, threads that work, and a keeper of what there is once.

    Parameters
    ----------
    models : mapping of str to ServedModel
        The models by their ids.
    keeper : Keeper
        Who writes the journals.
    limits : Limits
        The bounds.
    """

    def __init__(self, models: Mapping[str, ServedModel], keeper: Keeper, limits: Limits) -> None:
        self.models = models
        self.keeper = keeper
        self.limits = limits
        self.workers = WorkerPool(limits)

    def model(self, name: str) -> ServedModel:
        """Return a model by its id."""
        if name not in self.models:
            detail = f"There is no model {name!r:.100}. There is {some_of(list(self.models))}."
            raise ProblemError(404, "no-such-model", detail)
        return self.models[name]

    async def write(self, entries: Sequence[Entry | Withdrawal]) -> list[int]:
        """Write documents to the journal of their model; return their ids once they are durable."""
        return await self._kept(self.keeper.write(entries)) if entries else []

    async def check_journals(self) -> None:
        """Raise a problem if a journal can no longer be written."""
        await self._kept(self.keeper.check_journals())

    async def journal_state(self, model: ServedModel) -> JournalState:
        """Return what the journal holds for a model."""
        return await self._kept(self.keeper.journal_state(model.id))

    async def review_state(self) -> ReviewState:
        """Return how far the review is."""
        return await self._kept(self.keeper.review_state())

    async def issue(self, number: int) -> ReviewedIssue:
        """Return an issue and what was said of it."""
        return await self._kept(self.keeper.issue(number))

    async def answer(self, number: int, answer: str | None) -> ReviewState:
        """Write what a person says of an issue, ``None``: nothing any more; it is durable then."""
        return await self._kept(self.keeper.answer(number, answer))

    async def metrics(self) -> bytes:
        """Return what was counted and timed, for Prometheus."""
        return await self._kept(self.keeper.metrics(self.workers.taken))

    def close(self) -> None:
        """Finish what was taken, write what waits, and end the threads."""
        self.workers.close()
        self.keeper.close()

    async def _kept(self, future: Future[T]) -> T:
        all_the_same = "It may have been saved all the same; the journal shows it."
        try:
            return await in_time(future, self.limits.seconds, all_the_same)
        except ConnectionError:
            detail = f"The service is shutting down. {all_the_same}"
            raise ProblemError(503, "closing", detail) from None


async def _service_of(request: Request) -> RunningService:
    service: RunningService = request.app.state.service
    return service


#: What a route declares to have the service.
Service = Annotated[RunningService, Depends(_service_of)]
