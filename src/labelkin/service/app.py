"""The application: the routes and the page, behind the guard, counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

from labelkin.service import annif, health, routes
from labelkin.service.guard import Guard
from labelkin.service.problems import ProblemError, answer_problems
from labelkin.service.running_service import RunningService
from labelkin.service.serving import Limits

_PAGE = Path(__file__).with_name("page")


def build_app(
    models: Sequence[Path],
    hosts: Sequence[str],
    token: str | None,
    journal: Path | None,
    limits: Limits,
) -> FastAPI:
    """Load the models and put the application together; it ends its threads when it is closed.

    The parameters are those of :func:`labelkin.service.create_app`.
    """
    service = RunningService(models, journal, limits)
    app = FastAPI(
        title="labelkin",
        version=version("labelkin"),
        description="Labels for texts, with reasons, that respond to accepted and rejected labels.",
        lifespan=_lifespan,
        docs_url=None,  # their pages load scripts from other hosts
        redoc_url=None,
    )
    app.state.service = service
    answer_problems(app)
    for module in (routes, annif, health):
        app.include_router(module.router)
    app.add_api_route("/", _show_page, include_in_schema=False)
    if _PAGE.is_dir():
        app.mount("/page", _PageFiles(directory=_PAGE))
    app.add_middleware(Guard, hosts=hosts, token=token, limits=limits)
    app.add_middleware(health.Counted, telemetry=service.telemetry)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(app.state.service.close)


async def _show_page() -> FileResponse:
    index = _PAGE / "index.html"
    if not index.is_file():
        raise ProblemError(404, "no-page", "This installation has no page. Use /api or /v1.")
    return FileResponse(index, headers={"Cache-Control": "no-cache"})


class _PageFiles(StaticFiles):
    """The page's files, asked for anew each time: they change with the version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers.setdefault("Cache-Control", "no-cache")
        return answer
