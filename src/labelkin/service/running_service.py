"""State shared by all requests: models, saved work, learning, review, metrics, worker threads."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from labelkin.label_matrix.record import some_of
from labelkin.service.health import Telemetry
from labelkin.service.journal import Journal, default_journal
from labelkin.service.journal_rows import Entry, Withdrawal
from labelkin.service.messages import JournalState, LabelCount, ProblemError, ReviewState
from labelkin.service.models import Learner, ServedModel
from labelkin.service.review import Review, read_issues
from labelkin.service.serving import Limits
from labelkin.service.work import WorkerPool, in_time

#: Unknown labels of the journal that are listed, most common first.
_MOST_UNKNOWN = 1_000


class RunningService:
    """Models that answer and learn, journals that are written, and the threads that work.

    Parameters
    ----------
    paths : sequence of Path
        Model files.
    models : mapping of str to ServedModel
        The models of the files, in their order.
    journal : Path or None
        One journal for all models; ``None``: each has its own, beside its file.
    limits : Limits
        The bounds.
    review : Path or None, default None
        Issues of an audit to review. The answers go to the journal of the first model, or beside
        the file of issues if there is no model.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        models: Mapping[str, ServedModel],
        journal: Path | None,
        limits: Limits,
        review: Path | None = None,
    ) -> None:
        self.models = models
        self.limits = limits
        self.telemetry = Telemetry()
        self.workers = WorkerPool(limits)
        issues = None if review is None else read_issues(review, limits)
        beside = [review] if review is not None and not paths else paths
        places = [journal or default_journal(path) for path in beside]
        self._review: Review | None = None
        self._files: dict[Path, Journal] = {}
        self._learners: list[Learner] = []
        try:
            for place in dict.fromkeys(places):
                self._files[place] = Journal(place, limits.journal_bytes)
            named = zip(models, map(self._files.__getitem__, places), strict=False)
            self._journals = dict(named)
            if issues is not None and review is not None:
                self._review = Review(review.name, issues, self._files[places[0]])
            self._learners.extend(map(self._start_learning, models.values()))
        except BaseException:
            self.close()
            raise

    @property
    def review(self) -> Review:
        """The review; without one, a problem is raised."""
        if self._review is None:
            detail = "There is nothing to review. Start the service with --review issues.jsonl."
            raise ProblemError(404, "no-review", detail)
        return self._review

    def model(self, name: str) -> ServedModel:
        """Return a model by its id."""
        if name not in self.models:
            detail = f"There is no model {name!r:.100}. There is {some_of(list(self.models))}."
            raise ProblemError(404, "no-such-model", detail)
        return self.models[name]

    async def write(self, entries: Sequence[Entry | Withdrawal]) -> list[int]:
        """Write documents to the journal of their model; return their ids once they are durable."""
        if not entries:
            return []
        journal = self._journals[entries[0].model]
        return await self._durable(journal, journal.append(entries))

    async def check_journals(self) -> None:
        """Raise a problem if a journal can no longer be written."""
        tried = [self._durable(journal, journal.append(())) for journal in self._files.values()]
        await asyncio.gather(*tried)

    async def answer(self, number: int, answer: str | None) -> ReviewState:
        """Write the answer to an issue, ``None`` to withdraw it; it is durable on return."""
        await self._durable(self.review.journal, self.review.answer(number, answer))
        return self.review.state()

    def review_state(self) -> ReviewState:
        """Return how far the review is."""
        return ReviewState() if self._review is None else self._review.state()

    def journal_state(self, model: ServedModel) -> JournalState:
        """Return how many documents of a model are saved and learned, and unknown labels."""
        unknown = model.unknown.most_common(_MOST_UNKNOWN)
        return JournalState(
            documents=self._journals[model.id].n_documents[model.id],
            learned=model.snapshot.learned,
            unknown=[LabelCount(label=name, documents=count) for name, count in unknown],
        )

    def metrics(self) -> bytes:
        """Return what was counted and timed, for Prometheus."""
        self.telemetry.taken.set(self.workers.taken)
        for place, journal in self._files.items():
            self.telemetry.journal_documents.labels(place.name).set(journal.n_documents.total())
            self.telemetry.journal_bytes.labels(place.name).set(journal.bytes_on_disk())
        return self.telemetry.text()

    def close(self) -> None:
        """Finish what was taken, write what waits, and end the threads."""
        self.workers.close()
        for journal in self._files.values():
            journal.close()
        for learner in self._learners:
            learner.close()

    def _start_learning(self, model: ServedModel) -> Learner:
        """Learn what the journal has, then every further document."""
        journal = self._journals[model.id]

        def replay() -> list[Entry]:
            return journal.replay(model.id, after=model.mark, texts=False)

        learner = Learner(model, self.telemetry, replay)
        if entries := replay():
            learner.learn(entries)
        journal.listen(learner.hear, learner.hear_anew)
        return learner

    async def _durable(self, journal: Journal, written: Future[list[int]]) -> list[int]:
        """Wait until entries are on the disk; that they cannot be is a problem with the name."""
        hint = "It may have been saved all the same; the journal shows it."
        try:
            return await in_time(written, self.limits.seconds, hint)
        except (sqlite3.Error, OSError) as error:
            raise ProblemError(
                503,
                "journal-not-writable",
                f"The journal {journal.path.name} must be written before anything is saved, and "
                f"cannot be: {getattr(error, 'strerror', None) or error}. Nothing was saved.",
                {"Retry-After": "10"},
            ) from error


async def _service_of(request: Request) -> RunningService:
    service: RunningService = request.app.state.service
    return service


#: The dependency by which a route gets the service.
Service = Annotated[RunningService, Depends(_service_of)]
