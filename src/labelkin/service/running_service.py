"""State shared by all requests: models, saved work, learning, review and metrics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple, ParamSpec, TypeVar

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from labelkin.curation.saved_work import Entry, SavedWork, Withdrawal, saved_work_path
from labelkin.service.messages import ProblemError, ReviewState
from labelkin.service.models import Learner, ServedModel, read_models
from labelkin.service.review import Review, read_issues
from labelkin.service.serving import Limits
from labelkin.service.telemetry import Telemetry
from labelkin.validation import abbreviate

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: Characters of a text and labels of a model, together, up to which an answer needs no thread.
_SMALL = 20_000

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
        issues = None if review is None else read_issues(review, limits)
        places = [saved_work or saved_work_path(path) for path in paths or filter(None, [review])]
        self._review: Review | None = None
        self._files: dict[Path, SavedWork] = {}
        self._learners: dict[str, Learner] = {}
        try:
            for place in dict.fromkeys(places):
                self._files[place] = SavedWork(place, limits.saved_work_bytes)
            self._saved_work = {
                name: self._files[place] for name, place in zip(self.models, places, strict=False)
            }
            if issues is not None and review is not None:
                self._review = Review(review.name, issues, self._files[places[0]])
            for name, model in self.models.items():
                self._learners[name] = Learner(model, self._saved_work[name], self.telemetry)
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

    def review_state(self) -> ReviewState:
        """Return the state of the review."""
        return ReviewState() if self._review is None else self._review.state()

    def model(self, name: str) -> ServedModel:
        """Return a model by its id."""
        if name not in self.models:
            detail = f"There is no model {name!r:.100}. There is {abbreviate(list(self.models))}."
            raise ProblemError(404, "no-such-model", detail)
        return self.models[name]

    async def compute(
        self,
        model: ServedModel,
        text: str,
        function: Callable[_P, _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Return the result of a function, for a long text or many labels from a worker thread.

        For a short text the way to a thread and back would cost as much as the answer.
        """
        if len(text) + len(model.names) <= _SMALL:
            return function(*args, **kwargs)
        return await run_in_threadpool(function, *args, **kwargs)

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
        return self.telemetry.text()

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
    return Asked(service, service.model(model_id))


#: The dependency of a route on the service, and on the service and the model in the address.
Service = Annotated[RunningService, Depends(_service_of)]
OfModel = Annotated[Asked, Depends(_model_of)]
