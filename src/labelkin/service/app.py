"""The application: the routes, behind the guard, counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

from labelkin.service import annif, own_routes, upkeep_routes
from labelkin.service.guard import Guard
from labelkin.service.limits import Limits
from labelkin.service.problems import Problem, tell_problems
from labelkin.service.running_service import RunningService
from labelkin.service.telemetry import Counted


def build_app(
    models: Sequence[Path],
    *,
    hosts: Sequence[str] = (),
    token: str | None = None,
    journal: Path | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """Load the models and put the application together; it ends its threads when it is closed."""
    bounds = limits or Limits()
    service = RunningService(models, journal, bounds)
    app = FastAPI(
        title="labelkin",
        version=version("labelkin"),
        description="Labels for texts, with reasons, that react to what a person says.",
        lifespan=_lifespan,
        docs_url=None,  # their pages load scripts from other hosts
        redoc_url=None,
    )
    app.state.service = service
    tell_problems(app)
    for routes in (own_routes, annif, upkeep_routes):
        app.include_router(routes.router)
    if upkeep_routes.PAGE.is_dir():
        app.mount("/page", _Page(directory=upkeep_routes.PAGE))
    app.add_middleware(Guard, hosts=hosts, token=token, limits=bounds)
    app.add_middleware(Counted, telemetry=service.telemetry)
    _describe_problems(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(app.state.service.close)


class _Page(StaticFiles):
    """The page's files, asked for anew each time: they change with the version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers.setdefault("Cache-Control", "no-cache")
        return answer


def _describe_problems(app: FastAPI) -> None:
    """Add what problems look like to OpenAPI; no route answers one, so none brings it along."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        description = made()
        schemas = description.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = Problem.model_json_schema()
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for path in description["paths"].values():
            for operation in path.values():
                _without_default_fault(operation["responses"])
        return description

    app.openapi = openapi  # type: ignore[method-assign]


def _without_default_fault(responses: dict[str, Any]) -> None:
    """Take out what FastAPI adds by itself: requests that do not fit get 400 here."""
    if "application/json" in responses.get("422", {}).get("content", {}):
        del responses["422"]
