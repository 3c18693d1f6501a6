"""The application: routes of ``/api``, health, page and plugins, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from hashlib import blake2b
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI, Query
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from labelkin.curation.saved_work import Entry, Withdrawal
from labelkin.service import annif, answers, messages
from labelkin.service.guard import Guard
from labelkin.service.messages import PROBLEMS, answer_problem
from labelkin.service.models import ServedModel
from labelkin.service.running_service import OfModel, RunningService, Service
from labelkin.vocabulary.record import LANGUAGE_CODES

#: Group of entry points; each is an ``APIRouter`` of an installed package.
_PLUGINS = "labelkin.service"
_PAGE = Path(__file__).with_name("page")


def build_app(service: RunningService, hosts: Sequence[str], token: str | None) -> FastAPI:
    """Return the application of a service; its lifespan closes the service.

    Parameters
    ----------
    service : RunningService
        Models and saved work.
    hosts, token
        As in :func:`labelkin.service.create_app`.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = service.limits.workers
        yield
        await run_in_threadpool(service.close)

    app = FastAPI(
        title="labelkin",
        version=version("labelkin"),
        description="Labels for texts, with reasons, that respond to accepted and rejected labels.",
        lifespan=lifespan,
        responses=PROBLEMS,
        docs_url=None,  # their pages load scripts from other hosts; /docs is our own
        redoc_url=None,
    )
    app.state.service = service
    for error in (HTTPException, RequestValidationError):
        app.add_exception_handler(error, answer_problem)
    plugins = [plugin.load() for plugin in entry_points(group=_PLUGINS)]
    for router in (
        annif.annif_router,
        api_router,
        review_router,
        *plugins,
        operators_router,
        pages,
    ):
        app.include_router(router)
    app.mount("/page", StaticFiles(directory=_PAGE))
    app.add_middleware(
        Guard, hosts=hosts, token=token, limits=service.limits, telemetry=service.telemetry
    )
    return app


operators_router = APIRouter(tags=["operators"])


@operators_router.get("/health")
async def alive() -> dict[str, str]:
    """Answer that the service is alive."""
    return {"status": "alive"}


@operators_router.get("/ready")
def ready(service: Service) -> dict[str, str]:
    """Answer that the models are loaded and work can be saved; 503 if not."""
    service.check_ready()
    return {"status": "ready"}


@operators_router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(service: Service) -> Response:
    """Return the metrics in the format of Prometheus."""
    return Response(service.metrics(), media_type=CONTENT_TYPE_LATEST)


pages = APIRouter(include_in_schema=False)


@pages.get("/")
async def _show_page(service: Service) -> FileResponse:
    return FileResponse(_PAGE / ("index.html" if service.models else "review.html"))


@pages.get("/review")
async def _show_review() -> FileResponse:
    return FileResponse(_PAGE / "review.html")


@pages.get("/docs")
async def _show_docs() -> FileResponse:
    return FileResponse(_PAGE / "docs.html")


_Listed = Annotated[int, Query(ge=1, le=messages.MOST_LISTED)]
_Edges = Annotated[int, Query(ge=0, le=messages.MOST_EDGES)]


#: Routes of ``/api``.
api_router = APIRouter(prefix="/api/models", tags=["labelkin"])


@api_router.post("/{model_id}/suggest", response_model=messages.Suggestions)
async def suggest_labels(request: messages.SuggestRequest, asked: OfModel) -> Response:
    """Rank the open labels of a text, given those that are accepted and rejected."""
    service, model = asked
    request.check(service.limits)
    suggest = partial(answers.suggest_open_labels, model, request)
    return JSONResponse(await service.compute(model, request.text, suggest))


@api_router.get("")
async def list_models(service: Service) -> messages.ModelList:
    """List the models that are served."""
    models = [_info(model) for model in service.models.values()]
    return messages.ModelList.model_validate({"models": models, "limits": service.limits})


@api_router.post("/{model_id}/explain", response_model_exclude_defaults=True)
def explain_label(request: messages.ExplainRequest, asked: OfModel) -> messages.Explained:
    """Explain which words and which other labels are evidence for and against a label."""
    request.check(asked.service.limits)
    return answers.explain(asked.model, request)


@api_router.get("/{model_id}/labels", response_model_exclude_defaults=True)
def list_labels(
    asked: OfModel,
    q: str = "",
    limit: _Listed = 20,
    offset: Annotated[int, Query(ge=0)] = 0,
    language: messages.Language = None,
) -> messages.LabelList:
    """Search the labels by a part of their names, in any case; those that begin with it come first.

    If no name contains it, the result has the labels that are spelled similarly.
    Labels of a vocabulary are also found by alternative labels and notations.
    """
    return answers.search_labels(asked.model, q, limit, offset, language)


@api_router.get("/{model_id}/related", response_model_exclude_defaults=True)
def list_related(
    asked: OfModel, label: str, limit: _Listed = 10, language: messages.Language = None
) -> messages.RelatedLabels:
    """List the labels that are the strongest evidence for or against a label."""
    return answers.related_labels(asked.model, label, limit, language)


@api_router.get("/{model_id}/graph", response_model_exclude_defaults=True)
def draw_graph(
    asked: OfModel,
    attractions: _Edges = 20,
    repulsions: _Edges = 10,
    label: str | None = None,
    language: messages.Language = None,
) -> messages.LabelMap:
    """Draw the labels that attract and repel each other most; or one label and its neighbours."""
    return answers.label_map(asked.model, attractions, repulsions, label, language)


@api_router.post("/{model_id}/documents", status_code=201)
def save_document(request: messages.DocumentToSave, asked: OfModel) -> messages.Saved:
    """Save a labelled document before the answer; the same text or record is replaced."""
    service, model = asked
    request.check(service.limits)
    record = blake2b(request.text.encode(), digest_size=16).hexdigest()
    old = {request.record or record} - {record}
    withdrawn = [Withdrawal(model.id, f"record {model.id} {one}") for one in old]
    labels = tuple(request.accepted), tuple(request.rejected)
    entry = Entry(model.id, request.text, *labels, origin=f"record {model.id} {record}")
    *_, number = service.save(model, [*withdrawn, entry])
    unknown = sorted({name for name in request.accepted if name not in model.column})
    return messages.Saved(id=number, record=record, learned=model.snapshot.learned, unknown=unknown)


@api_router.get("/{model_id}/saved")
def show_saved_work(asked: OfModel) -> dict[str, int]:
    """Return how many documents are saved, and how many of them are learned."""
    service, model = asked
    return {"documents": service.count_saved(model), "learned": model.snapshot.learned}


review_router = APIRouter(prefix="/api/review", tags=["review"])


@review_router.get("")
async def show_review(service: Service) -> messages.ReviewState:
    """Return the number of issues of an audit, and how many are answered."""
    return service.review.state()


@review_router.get("/issues/{number}")
async def show_issue(
    service: Service, number: Annotated[int, PathParameter(ge=1, le=messages.MOST_NUMBER)]
) -> messages.IssueRecord:
    """Return an issue with its text, its reasons and its answer; the first is 1."""
    return service.review.issue(number)


@review_router.post("/answers")
def answer_issue(request: messages.ReviewAnswer, service: Service) -> messages.ReviewState:
    """Save the answer to an issue: change, keep or cannot say; null withdraws the answer."""
    return service.save_answer(request.number, request.answer)


def _info(model: ServedModel) -> messages.ModelInfo:
    rescorer, vocabulary = model.classifier.rescorer_, model.shown.vocabulary
    return messages.ModelInfo(
        id=model.id,
        name=model.title,
        n_labels=len(model.names),
        n_documents=rescorer.label_sets_.n_documents,
        created=model.header.created,
        content=type(model.classifier.content_).__name__,
        evidence_weight=rescorer.evidence_weight_,
        summary=model.header.summary,
        vocabulary=None if vocabulary is None else vocabulary.name,
        languages=[] if vocabulary is None else list(vocabulary.languages),
        language=None if vocabulary is None else vocabulary.language,
        text_language=LANGUAGE_CODES.get(model.language),
    )
