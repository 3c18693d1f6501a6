"""The application: routes, page and plugins, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Literal

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from labelkin.service import annif, api
from labelkin.service.guard import Guard
from labelkin.service.messages import PROBLEMS, answer_problem
from labelkin.service.running_service import RunningService, Service

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
        api.api_router,
        api.review_router,
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


class Health(BaseModel):
    """State of the service."""

    status: Literal["alive", "ready"]


operators_router = APIRouter(tags=["operators"])


@operators_router.get("/health")
async def alive() -> Health:
    """Answer that the service is alive."""
    return Health(status="alive")


@operators_router.get("/ready")
def ready(service: Service) -> Health:
    """Answer that the models are loaded and work can be saved; 503 if not."""
    service.check_ready()
    return Health(status="ready")


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
