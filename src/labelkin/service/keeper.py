"""What there is once, however many processes answer: journals, what is learned, review, counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

from labelkin.corpora.corrections import Decision
from labelkin.service.health import Telemetry
from labelkin.service.journal import Journal, default_journal
from labelkin.service.journal_rows import Entry, Withdrawal
from labelkin.service.messages import (
    JournalState,
    LabelCount,
    ProblemError,
    ReviewedIssue,
    ReviewState,
)
from labelkin.service.models import Learner, ServedModel
from labelkin.service.review import Review, read_issues, the_review
from labelkin.service.serving import Limits

T = TypeVar("T")

#: Unknown labels of the journal that are listed, most common first.
_MOST_UNKNOWN = 1_000


class Keeper(Protocol):
    """What requests ask for that is not a model's answer; here, or in another process."""

    def write(self, entries: Sequence[Entry | Withdrawal]) -> Future[list[int]]:
        """Write documents of one model; their ids come once they are durable."""

    def check_journals(self) -> Future[None]:
        """Try whether every journal can be written."""

    def journal_state(self, model: str) -> Future[JournalState]:
        """Return what the journal holds for a model."""

    def review_state(self) -> Future[ReviewState]:
        """Return how far the review is."""

    def issue(self, number: int) -> Future[ReviewedIssue]:
        """Return an issue and what was said of it."""

    def answer(self, number: int, answer: str | None) -> Future[ReviewState]:
        """Write what a person says of an issue, ``None``: nothing any more."""

    def metrics(self, taken: int) -> Future[bytes]:
        """Return what was counted, where so many requests are worked on."""

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""

    def close(self) -> None:
        """Finish."""


class OwnKeeper:
    """Journals that are written, models that learn from them, and what is counted, here.

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
        Issues of an audit that are reviewed; the answers go to the journal of the first model, or
        beside the file where there is no model.
    publish : callable or None, default None
        Called with a model that has learned something.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        models: Mapping[str, ServedModel],
        journal: Path | None,
        limits: Limits,
        review: Path | None = None,
        publish: Callable[[ServedModel], None] | None = None,
    ) -> None:
        self._models = models
        self._publish = publish
        issues = None if review is None else read_issues(review, limits)
        places = [journal or default_journal(path) for path in paths]
        if review is not None and not paths:
            places = [journal or default_journal(review)]
        self.telemetry = Telemetry()
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

    def write(self, entries: Sequence[Entry | Withdrawal]) -> Future[list[int]]:
        """Write documents of one model; their ids come once they are durable."""
        return _written(self._journals[entries[0].model], entries)

    def check_journals(self) -> Future[None]:
        """Try whether every journal can be written."""
        asked = [_written(journal, ()) for journal in self._files.values()]
        whole: Future[None] = Future()
        left, lock = len(asked), Lock()

        def note(one: Future[list[int]]) -> None:
            nonlocal left
            with lock:
                left -= 1
                if not whole.done() and (error := one.exception()) is not None:
                    whole.set_exception(error)
                elif not whole.done() and not left:
                    whole.set_result(None)

        for one in asked:
            one.add_done_callback(note)
        return whole

    def journal_state(self, model: str) -> Future[JournalState]:
        """Return what the journal holds for a model."""
        served = self._models[model]
        return _done(
            JournalState(
                documents=self._journals[model].n_documents[model],
                learned=served.snapshot.learned,
                unknown=[
                    LabelCount(label=name, documents=count)
                    for name, count in served.unknown.most_common(_MOST_UNKNOWN)
                ],
            )
        )

    def review_state(self) -> Future[ReviewState]:
        """Return how far the review is."""
        return _done(ReviewState() if self._review is None else self._review.state())

    def issue(self, number: int) -> Future[ReviewedIssue]:
        """Return an issue and what was said of it."""
        review = the_review(self._review)
        return _done(ReviewedIssue(number=number, **review.shown(number)))

    def answer(self, number: int, answer: str | None) -> Future[ReviewState]:
        """Write what a person says of an issue, ``None``: nothing any more."""
        review = the_review(self._review)
        entries: list[Decision] = [review.decision(number, answer)]
        state: Future[ReviewState] = Future()

        def heard(written: Future[list[int]]) -> None:
            if (error := written.exception()) is not None:
                state.set_exception(error)
                return
            review.heard(number, answer)
            state.set_result(review.state())

        _written(review.journal, entries).add_done_callback(heard)
        return state

    def metrics(self, taken: int) -> Future[bytes]:
        """Return what was counted, where so many requests are worked on."""
        self.telemetry.taken.set(taken)
        for place, journal in self._files.items():
            self.telemetry.journal_documents.labels(place.name).set(journal.n_documents.total())
            self.telemetry.journal_bytes.labels(place.name).set(journal.bytes_on_disk())
        return _done(self.telemetry.text())

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.telemetry.count(method, route, status, seconds)

    def close(self) -> None:
        """Write what waits, and end the threads."""
        for journal in self._files.values():
            journal.close()
        for learner in self._learners:
            learner.close()

    def _start_learning(self, model: ServedModel) -> Learner:
        """Learn what the journal has, then whatever comes."""
        journal = self._journals[model.id]

        def replay() -> list[Entry]:
            return journal.replay(model.id, after=model.mark, texts=False)

        learner = Learner(model, self.telemetry, self._publish, replay)
        if entries := replay():
            learner.learn(entries)
        journal.listen(learner.hear, learner.hear_anew)
        return learner


def _written(
    journal: Journal, entries: Sequence[Entry | Withdrawal | Decision]
) -> Future[list[int]]:
    """Write entries; that they cannot be written is a problem that names the journal."""
    ids: Future[list[int]] = Future()

    def pass_on(written: Future[list[int]]) -> None:
        error = written.exception()
        if isinstance(error, sqlite3.Error | OSError):
            error = ProblemError(
                503,
                "journal-not-writable",
                f"The journal {journal.path.name} must be written before anything is saved, and "
                f"cannot be: {getattr(error, 'strerror', None) or error}. Nothing was saved.",
                {"Retry-After": "10"},
            )
        if error is None:
            ids.set_result(written.result())
        else:
            ids.set_exception(error)

    journal.append(entries).add_done_callback(pass_on)
    return ids


def _done(value: T) -> Future[T]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future
