"""All that requests share: models, journals, the workshop, what is counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from labelkin.label_matrix.record import some_of
from labelkin.service.journal import Journal
from labelkin.service.journal_file import Entry, default_journal
from labelkin.service.learning import Learner, learn
from labelkin.service.limits import Limits
from labelkin.service.models import ServedModel, read_models
from labelkin.service.problems import ProblemError
from labelkin.service.telemetry import Telemetry
from labelkin.service.workshop import Workshop, in_time


class RunningService:
    """Models that answer, journals that are written, and threads that work.

    Parameters
    ----------
    paths
        Model files.
    journal
        One journal for all models; ``None``: each has its own, beside its file.
    limits
        The bounds.
    """

    def __init__(self, paths: Sequence[Path], journal: Path | None, limits: Limits) -> None:
        self.limits = limits
        self.models = read_models(paths)
        self.telemetry = Telemetry()
        self.workshop = Workshop(limits)
        places = [journal or default_journal(path) for path in paths]
        self._files = {place: Journal(place) for place in dict.fromkeys(places)}
        self.journals = {
            name: self._files[place] for name, place in zip(self.models, places, strict=True)
        }
        self._learners = [self._start_learning(model) for model in self.models.values()]
        self._show_sizes()

    def model(self, name: str) -> ServedModel:
        """Return a model by its id."""
        if name not in self.models:
            raise ProblemError(
                404,
                "no-such-model",
                f"There is no model {name!r:.100}. There is {some_of(list(self.models))}.",
            )
        return self.models[name]

    async def write(self, entries: Sequence[Entry]) -> list[int]:
        """Have documents in the journal of their model; return their ids once they are durable."""
        if not entries:
            return []
        return await self._write(self.journals[entries[0].model], entries)

    async def check_journals(self) -> None:
        """Tell if a journal can no longer be written."""
        for journal in self._files.values():
            await self._write(journal, ())

    def metrics(self) -> bytes:
        """Return what is counted."""
        self.telemetry.taken.set(self.workshop.taken)
        self._show_sizes()
        return self.telemetry.text()

    def close(self) -> None:
        """Finish what was taken, write what waits, and end the threads."""
        self.workshop.close()
        for journal in self._files.values():
            journal.close()
        for learner in self._learners:
            learner.close()

    async def _write(self, journal: Journal, entries: Sequence[Entry]) -> list[int]:
        try:
            return await in_time(
                journal.append(entries),
                self.limits.seconds,
                "It may have been saved all the same; the journal will tell.",
            )
        except (sqlite3.Error, OSError) as error:
            raise ProblemError(
                503,
                "journal-not-writable",
                f"The journal must be written before a document is saved, and cannot be: {error}. "
                "Nothing was saved.",
                {"Retry-After": "10"},
            ) from None

    def _start_learning(self, model: ServedModel) -> Learner:
        journal = self.journals[model.id]
        entries = list(journal.replay(model.id, after=model.mark))
        if entries:
            learn(model, entries, self.telemetry)
        learner = Learner(model, self.telemetry)
        journal.listen(learner.hear)
        return learner

    def _show_sizes(self) -> None:
        for place, journal in self._files.items():
            self.telemetry.journal_documents.labels(place.name).set(journal.n_documents.total())
            self.telemetry.journal_bytes.labels(place.name).set(journal.bytes_on_disk())


async def _service_of(request: Request) -> RunningService:
    service: RunningService = request.app.state.service
    return service


#: What a route declares to have the service.
Service = Annotated[RunningService, Depends(_service_of)]
