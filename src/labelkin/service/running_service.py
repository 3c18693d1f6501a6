"""State shared by all requests: models, saved work, learning, review and metrics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Annotated, Any, NamedTuple, TypeVar, cast

from fastapi import Depends, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from labelkin.corpora.lines import decoded_lines, json_objects
from labelkin.curation.corrections import ANSWERS, Decision
from labelkin.curation.saved_work import Entry, SavedWork, Withdrawal, saved_work_path
from labelkin.service.messages import IssueRecord, ProblemError, ReviewState
from labelkin.service.models import ServedModel, read_models
from labelkin.service.serving import Limits
from labelkin.validation import abbreviate

_T = TypeVar("_T")

#: Characters of a text and labels of a model, together, up to which an answer needs no thread.
_SMALL = 20_000
#: Seconds in which saved documents are gathered before a refit, and at most if refits are slow.
_GATHER_SECONDS, _MOST_GATHER_SECONDS = 0.15, 10.0
#: Upper bounds of the histogram of answer times.
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)

_log = logging.getLogger(__name__)


class RunningService:
    """Models that answer and learn, and the files of saved work.

    Parameters
    ----------
    paths : sequence of Path
        Model files.
    saved_work : Path or None
        One file for all models; ``None``: each model has its own, beside its file.
    limits : Limits
        The limits.
    review : Path or None, default None
        Issues of an audit to review. The answers go to the saved work of the first model, or beside
        the file of issues if there is no model.
    trusted : names, default ()
        Types that model files may contain on request.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        saved_work: Path | None,
        limits: Limits,
        review: Path | None = None,
        trusted: Sequence[str] = (),
    ) -> None:
        self.models = {} if review and not paths else read_models(paths, trusted)
        self.limits = limits
        self.telemetry = Telemetry()
        issues = [] if review is None else read_issues(review, limits)
        places = [saved_work or saved_work_path(path) for path in paths or filter(None, [review])]
        self._files: dict[Path, SavedWork] = {}
        self._learners: dict[str, Learner] = {}
        #: Texts and their results, of :meth:`compute_together`.
        self._waiting: dict[Hashable, list[tuple[str, asyncio.Future[Any]]]] = {}
        try:
            for place in dict.fromkeys(places):
                self._files[place] = SavedWork(place, limits.saved_work_bytes)
            self._saved_work = {
                name: self._files[place] for name, place in zip(self.models, places, strict=False)
            }
            name = "" if review is None else review.name
            self.review = Review(name, issues, next(iter(self._files.values())))
            for name, model in self.models.items():
                self._learners[name] = Learner(model, self._saved_work[name], self.telemetry)
        except BaseException:
            self.close()
            raise

    async def compute(self, model: ServedModel, text: str, function: Callable[[], _T]) -> _T:
        """Return the result of a function, for a long text or many labels from a worker thread.

        For a short text the way to a thread and back would cost as much as the answer.
        """
        if len(text) + len(model.names) <= _SMALL:
            return function()
        return await run_in_threadpool(function)

    async def compute_together(
        self,
        model: ServedModel,
        text: str,
        settings: Hashable,
        function: Callable[[list[str]], Sequence[_T]],
    ) -> _T:
        """Return the result of a function of texts for one text.

        Short texts of requests with equal settings share a call if they arrive in the same turn of
        the event loop.
        """
        if len(text) + len(model.names) > _SMALL:
            return (await run_in_threadpool(function, [text]))[0]
        loop, key = asyncio.get_running_loop(), (model.id, settings)
        waiting = self._waiting.setdefault(key, [])
        if not waiting:
            loop.call_soon(self._compute_waiting, key, function)
        result: asyncio.Future[_T] = loop.create_future()
        waiting.append((text, result))
        return await result

    def _compute_waiting(self, key: Hashable, function: Callable[[list[str]], Any]) -> None:
        waiting = [one for one in self._waiting.pop(key) if not one[1].done()]
        try:
            found = function([text for text, _ in waiting])
        except Exception as error:
            for _, result in waiting:
                result.set_exception(error)
        else:
            for (_, result), one in zip(waiting, found, strict=True):
                result.set_result(one)

    def save(self, model: ServedModel, entries: Sequence[Entry | Withdrawal]) -> list[int]:
        """Save documents of a model; they are on the disk on return, and learned soon."""
        with _problem_if_not_saved():
            numbers = self._saved_work[model.id].save(entries) if entries else []
        self._learners[model.id].notify()
        return numbers

    def save_answer(self, number: int, answer: str | None) -> ReviewState:
        """Save the answer to an issue, ``None`` to withdraw it; it is on the disk on return."""
        with _problem_if_not_saved():
            return self.review.answer(number, answer)

    def count_saved(self, model: ServedModel) -> int:
        """Return the number of saved documents of a model."""
        return self._saved_work[model.id].count(model.id)

    def check_ready(self) -> None:
        """Raise a problem if a file of saved work cannot be written."""
        with _problem_if_not_saved():
            for saved_work in self._files.values():
                saved_work.check_writable()

    def metrics(self) -> bytes:
        """Return the metrics in the format of Prometheus."""
        for place, saved_work in self._files.items():
            self.telemetry.saved_documents.labels(place.name).set(saved_work.count())
            self.telemetry.saved_bytes.labels(place.name).set(saved_work.bytes_on_disk())
        return generate_latest(self.telemetry.registry)

    def close(self) -> None:
        """End the learning threads and close the files."""
        for learner in self._learners.values():
            learner.close()
        for saved_work in self._files.values():
            saved_work.close()


@contextmanager
def _problem_if_not_saved() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _log.error("saved work cannot be written: %s", error)
        name = Path(str(error.filename)).name
        raise ProblemError(
            503,
            "saved-work-not-writable",
            f"Documents and answers must be written to {name} before they are acknowledged, and it "
            f"cannot be written: {error.strerror}. Nothing was saved.",
            {"Retry-After": "10"},
        ) from error


class Asked(NamedTuple):
    """The service, and the model that a request is about."""

    service: RunningService
    model: ServedModel


async def _service_of(request: Request) -> RunningService:
    service: RunningService = request.app.state.service
    return service


async def _model_of(model_id: str, request: Request) -> Asked:
    service: RunningService = request.app.state.service
    if model_id not in service.models:
        detail = (
            f"There is no model {model_id!r:.100}. There is {abbreviate(list(service.models))}."
        )
        raise ProblemError(404, "no-such-model", detail)
    return Asked(service, service.models[model_id])


#: The dependency of a route on the service, and on the service and the model in the address.
Service = Annotated[RunningService, Depends(_service_of)]
OfModel = Annotated[Asked, Depends(_model_of)]


class Learner:
    """A thread in which a model learns from its saved work.

    The documents that are saved while it gathers or learns are learned together, in one refit.

    Parameters
    ----------
    model : ServedModel
        The model that learns.
    saved_work : SavedWork
        The file that has its documents.
    telemetry : Telemetry
        Counts the refits.
    """

    def __init__(self, model: ServedModel, saved_work: SavedWork, telemetry: Telemetry) -> None:
        self._model = model
        self._saved_work = saved_work
        self._telemetry = telemetry
        self._first = self._last = saved_work.first_after(model.mark)
        self._n_replaced = saved_work.n_replaced
        self._is_wanted, self._closing = Event(), Event()
        self._learn()
        self._thread = Thread(target=self._run, name=f"learning {model.id}", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Note that documents were saved."""
        self._is_wanted.set()

    def close(self) -> None:
        """End the thread; the next start learns the documents that were not learned yet."""
        self._closing.set()
        self._is_wanted.set()
        self._thread.join()

    def _run(self) -> None:
        gather_seconds = _GATHER_SECONDS
        while self._is_wanted.wait() and not self._closing.wait(gather_seconds):
            self._is_wanted.clear()
            start = perf_counter()
            self._learn()
            seconds = perf_counter() - start  # slow refits leave as much time for answers
            gather_seconds = min(max(_GATHER_SECONDS, seconds), _MOST_GATHER_SECONDS)

    def _learn(self) -> None:
        """Learn the documents that are new; after a failure the model keeps what it has learned.

        If documents were replaced, all are learned again, as counts cannot be taken back.
        """
        model, n_replaced = self._model, self._saved_work.n_replaced
        from_start = n_replaced != self._n_replaced
        entries, last = self._saved_work.entries(
            model.id, self._first if from_start else self._last
        )
        if not entries and not from_start:
            return
        outcome = "done"
        try:
            model.learn(entries, from_start)
        except Exception:
            outcome = "failed"
            _log.exception("model %s could not learn %d documents", model.id, len(entries))
        self._last, self._n_replaced = last, n_replaced
        self._telemetry.refits.labels(model.id, outcome).inc()


def read_issues(path: Path, limits: Limits) -> list[IssueRecord]:
    """Read the issues that ``labelkin audit --out issues.jsonl`` writes, within the limits."""
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file of issues {path}. labelkin audit CORPUS --out {path.name} writes it."
        )
    if path.suffix.lower() in (".csv", ".tsv"):
        raise ValueError(
            f"A review needs issues as JSON lines, which contain the texts, and {path.name} is a "
            "table. Write them with: labelkin audit CORPUS --out issues.jsonl."
        )
    issues: list[IssueRecord] = []
    for place, record in json_objects(decoded_lines(path), path.name):
        if len(issues) == limits.review_issues:
            raise ValueError(
                f"A review may have {limits.review_issues:,} issues, and {path.name} has more. "
                "Audit with a smaller --top."
            )
        try:
            issue = IssueRecord.model_validate(record)
        except ValidationError as error:
            fault = error.errors()[0]
            raise ValueError(
                f"{place}: an issue must be as labelkin audit writes it; "
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}."
            ) from None
        issues.append(issue.model_copy(update={"text": issue.text[: limits.text_characters]}))
    if not issues:
        raise ValueError(f"{path.name}: a review must have issues, and has none.")
    return issues


class Review:
    """Issues in their order, and the answers in the saved work.

    Parameters
    ----------
    name : str
        Name of the file of issues.
    issues : list of IssueRecord
        The issues; empty if there is no review.
    saved_work : SavedWork
        The file of the answers.
    """

    def __init__(self, name: str, issues: list[IssueRecord], saved_work: SavedWork) -> None:
        self.name = name
        self._issues = issues
        self._saved_work = saved_work
        self._lock = Lock()
        number = {(x.document, x.label, x.given): n for n, x in enumerate(issues, start=1)}
        #: Number → answer, in the order of the answers.
        self._answers: dict[int, Any] = {}
        for one in saved_work.answers():
            found = number.get((one.document, one.label, one.given))
            if found is not None:
                self._answers[found] = one.answer

    def issue(self, number: int) -> IssueRecord:
        """Return an issue with its number and its answer."""
        answer = self._answers.get(number)
        return self._issue(number).model_copy(update={"number": number, "answer": answer})

    def answer(self, number: int, answer: str | None) -> ReviewState:
        """Save an answer, ``None`` to withdraw it; return the new state."""
        issue = self._issue(number)
        given = cast(Any, answer or "")
        cell = issue.document, issue.label, issue.given
        with self._lock:
            self._saved_work.save([Decision(*cell, given, fingerprint=issue.fingerprint)])
            self._answers.pop(number, None)
            if answer is not None:
                self._answers[number] = answer
            return self.state()

    def state(self) -> ReviewState:
        """Return how many issues were answered, the next one and the last one."""
        given = list(self._answers.values())
        counts = {answer.replace(" ", "_"): given.count(answer) for answer in ANSWERS}
        numbers = range(1, len(self._issues) + 1)
        return ReviewState(
            name=self.name,
            total=len(self._issues),
            next=next((number for number in numbers if number not in self._answers), None),
            last=next(reversed(self._answers), None),
            **counts,
        )

    def _issue(self, number: int) -> IssueRecord:
        if not self._issues:
            detail = "There is nothing to review. Start the service with --review issues.jsonl."
            raise ProblemError(404, "no-review", detail)
        if number > len(self._issues):
            detail = f"There are {len(self._issues)} issues, and there is no number {number}."
            raise ProblemError(404, "no-such-issue", detail)
        return self._issues[number - 1]


class Telemetry:
    """Counters, times and sizes of one service, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        by_route, to = ["method", "route"], self.registry
        by_status, by_outcome = [*by_route, "status"], ["model", "outcome"]
        self.requests = Counter("labelkin_requests", "Answered requests.", by_status, registry=to)
        self.seconds = Histogram(
            "labelkin_request_seconds",
            "From request to answer.",
            by_route,
            registry=to,
            buckets=_SECONDS,
        )
        self.saved_documents = Gauge("labelkin_saved_documents", "In it.", ["file"], registry=to)
        self.saved_bytes = Gauge("labelkin_saved_bytes", "Of the file.", ["file"], registry=to)
        self.refits = Counter("labelkin_refits", "Of label evidence.", by_outcome, registry=to)
