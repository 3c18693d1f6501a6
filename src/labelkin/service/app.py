"""The application: the routes and the page, behind the guard, counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi import Path as PathParameter
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from labelkin.service import annif, answers, health, label_studio, messages
from labelkin.service.guard import Guard
from labelkin.service.journal_rows import Entry, Withdrawal
from labelkin.service.messages import ProblemError, answer_problems, declared, json_answer
from labelkin.service.models import ServedModel, read_models
from labelkin.service.running_service import RunningService, Service
from labelkin.service.serving import Limits
from labelkin.vocabulary.record import LANGUAGE_CODES

_PAGE = Path(__file__).with_name("page")


def build_app(
    models: Sequence[Path],
    hosts: Sequence[str],
    token: str | None,
    journal: Path | None,
    limits: Limits,
    review: Path | None = None,
    trusted: Sequence[str] = (),
) -> FastAPI:
    """Load the models and put the application together; it ends its threads when it is closed.

    The parameters are those of :func:`labelkin.service.create_app`.
    """
    served = read_models(models, trusted) if models or review is None else {}
    service = RunningService(models, served, journal, limits, review)
    app = FastAPI(
        title="labelkin",
        version=version("labelkin"),
        description="Labels for texts, with reasons, that respond to accepted and rejected labels.",
        lifespan=_lifespan,
        docs_url=None,  # their pages load scripts from other hosts; /docs is our own
        redoc_url=None,
    )
    app.state.service = service
    answer_problems(app)
    for part in (annif.router, router, review_router, label_studio.router, health.router):
        app.include_router(part)
    app.add_api_route("/", _show_page, include_in_schema=False)
    app.add_api_route("/review", _show_review, include_in_schema=False)
    app.add_api_route("/docs", _show_docs, include_in_schema=False)
    app.add_api_route("/v1/ui/", _lead_to_docs, include_in_schema=False)
    if _PAGE.is_dir():
        app.mount("/page", _PageFiles(directory=_PAGE))
    app.add_middleware(Guard, hosts=hosts, token=token, limits=limits)
    app.add_middleware(health.Counted, count=service.telemetry.count)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(app.state.service.close)


async def _show_page(service: Service) -> FileResponse:
    return _page_file("index.html" if service.models else "review.html")


async def _show_review() -> FileResponse:
    return _page_file("review.html")


async def _show_docs() -> FileResponse:
    return _page_file("docs.html")


async def _lead_to_docs() -> RedirectResponse:
    """Answer where Annif has its description; relative, as there may be a proxy's path before."""
    return RedirectResponse("../../docs")


def _page_file(name: str) -> FileResponse:
    page = _PAGE / name
    if not page.is_file():
        raise ProblemError(404, "no-page", "This installation has no page. Use /api or /v1.")
    return FileResponse(page, headers={"Cache-Control": "no-cache"})


class _PageFiles(StaticFiles):
    """The page's files, asked for anew each time: they change with the version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers.setdefault("Cache-Control", "no-cache")
        return answer


router = APIRouter(prefix="/api/models", tags=["labelkin"], responses=declared(401, 404, 422, 504))


class _Asked(NamedTuple):
    """The service, and which of its models a request is about."""

    service: RunningService
    model: ServedModel


async def _asked(model_id: str, request: Request) -> _Asked:
    service: RunningService = request.app.state.service
    return _Asked(service, service.model(model_id))


#: One dependency instead of two: FastAPI takes its time over each.
Asked = Annotated[_Asked, Depends(_asked)]
Listed = Annotated[int, Query(ge=1, le=messages.MOST_LISTED)]
Edges = Annotated[int, Query(ge=0, le=messages.MOST_EDGES)]


@router.post("/{model_id}/suggest", response_model=messages.Suggestions)
async def suggest_labels(request: messages.SuggestRequest, asked: Asked) -> Response:
    """Rank the open labels of a text, given those that are accepted and rejected."""
    request.check(asked.service.limits)
    return json_answer(await asked.service.workers.do(answers.suggest, asked.model, request))


@router.get("")
async def list_models(service: Service) -> messages.ModelList:
    """List the models that are served."""
    models = [_info(model) for model in service.models.values()]
    return messages.ModelList.model_validate({"models": models, "limits": service.limits})


@router.post("/{model_id}/explain", responses=declared(409), response_model_exclude_defaults=True)
async def explain_label(request: messages.ExplainRequest, asked: Asked) -> messages.Explained:
    """Explain which words and which other labels speak for a label of a text, and against it."""
    request.check(asked.service.limits)
    return await asked.service.workers.do(answers.explain, asked.model, request)


@router.get("/{model_id}/labels", response_model_exclude_defaults=True)
async def list_labels(
    asked: Asked,
    q: str = "",
    limit: Listed = 20,
    offset: Annotated[int, Query(ge=0)] = 0,
    language: messages.Language = None,
) -> messages.LabelList:
    """Search the labels by a part of their names, in any case; first those that begin with it.

    Where none has it, those that are spelled nearly so.
    Those of a vocabulary are found by alternative labels and notations, too.
    """
    do = asked.service.workers.do
    return await do(answers.search_labels, asked.model, q, limit, offset, language)


@router.get("/{model_id}/related", responses=declared(409), response_model_exclude_defaults=True)
async def list_related(
    asked: Asked, label: str, limit: Listed = 10, language: messages.Language = None
) -> messages.RelatedLabels:
    """List the labels that speak most for a label or against it."""
    do = asked.service.workers.do
    return await do(answers.related_labels, asked.model, label, limit, language)


@router.get("/{model_id}/graph", responses=declared(409), response_model_exclude_defaults=True)
async def draw_graph(
    asked: Asked,
    attractions: Edges = 20,
    repulsions: Edges = 10,
    label: str | None = None,
    language: messages.Language = None,
) -> messages.LabelMap:
    """Draw the labels that attract and repel each other most; or one label and its neighbours."""
    do = asked.service.workers.do
    return await do(answers.label_map, asked.model, attractions, repulsions, label, language)


@router.post("/{model_id}/documents", status_code=201)
async def save_document(request: messages.DocumentToSave, asked: Asked) -> messages.Saved:
    """Save a labelled document before the answer; the same text or record is replaced."""
    service, model = asked
    request.check(service.limits)
    record = blake2b(request.text.encode(), digest_size=16).hexdigest()
    old = {request.record or record} - {record}
    gone = [Withdrawal(model.id, f"record {model.id} {one}") for one in old]
    labels = tuple(request.accepted), tuple(request.rejected)
    entry = Entry(model.id, request.text, *labels, origin=f"record {model.id} {record}")
    *_, number = await service.write([*gone, entry])
    unknown = sorted({name for name in request.accepted if name not in model.column})
    return messages.Saved(id=number, record=record, learned=model.snapshot.learned, unknown=unknown)


@router.get("/{model_id}/journal")
async def show_journal(asked: Asked) -> messages.JournalState:
    """Return what the journal holds, and which labels in it the model does not have."""
    return asked.service.journal_state(asked.model)


review_router = APIRouter(prefix="/api/review", tags=["review"], responses=declared(401, 404, 504))


@review_router.get("")
async def show_review(service: Service) -> messages.ReviewState:
    """Return how many issues of an audit there are to review, and how far the review is."""
    return service.review_state()


@review_router.get("/issues/{number}")
async def show_issue(
    service: Service, number: Annotated[int, PathParameter(ge=1, le=messages.MOST_NUMBER)]
) -> messages.ReviewedIssue:
    """Return an issue with its text and reasons, and what was said of it; the first is 1."""
    return service.review.issue(number)


@review_router.post("/answers")
async def answer_issue(request: messages.ReviewAnswer, service: Service) -> messages.ReviewState:
    """Say that what the corpus says is to be changed or kept, or cannot be said; null: undo."""
    return await service.answer(request.number, request.answer)


def _info(model: ServedModel) -> messages.ModelInfo:
    rescorer, vocabulary = model.classifier.rescorer_, model.shown.vocabulary
    return messages.ModelInfo(
        id=model.id,
        name=model.title,
        n_labels=len(model.names),
        n_documents=rescorer.n_documents_,
        created=model.header.created,
        content=type(model.classifier.content_).__name__,
        evidence_weight=rescorer.evidence_weight_,
        summary=model.header.summary,
        vocabulary=None if vocabulary is None else vocabulary.name,
        languages=[] if vocabulary is None else list(vocabulary.languages),
        language=None if vocabulary is None else vocabulary.language,
        text_language=LANGUAGE_CODES.get(model.language),
    )
