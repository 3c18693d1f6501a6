"""For those who run the service: is it alive, is it ready, what has it done; and the page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse
from prometheus_client import CONTENT_TYPE_LATEST

from labelkin.service.messages import Health
from labelkin.service.problems import ProblemError, declared
from labelkin.service.running_service import Service

PAGE = Path(__file__).with_name("page")

router = APIRouter(tags=["upkeep"], responses=declared())


@router.get("/health")
async def alive() -> Health:
    """Tell that the service is alive."""
    return Health(status="alive")


@router.get("/ready", responses=declared(504))
async def ready(service: Service) -> Health:
    """Tell that the models are loaded and the journal can be written; 503 if not."""
    await service.check_journals()
    return Health(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(service: Service) -> Response:
    """Tell what was counted and timed, for Prometheus."""
    return Response(service.metrics(), media_type=CONTENT_TYPE_LATEST)


@router.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """Show the page."""
    index = PAGE / "index.html"
    if not index.is_file():
        raise ProblemError(404, "no-page", "This installation has no page. Use /api or /v1.")
    return FileResponse(index, headers={"Cache-Control": "no-cache"})
