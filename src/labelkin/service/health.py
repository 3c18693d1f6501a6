"""For those who run the service: is it alive, is it ready, what has it done."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fastapi import APIRouter, Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from pydantic import BaseModel
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelkin.service.messages import declared

if TYPE_CHECKING:
    from labelkin.service.running_service import RunningService

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
#: The route of requests that have none: addresses that do not exist make no series of their own.
_NO_ROUTE = "none"

M = TypeVar("M", Counter, Gauge, Histogram)

router = APIRouter(tags=["upkeep"], responses=declared())


class Health(BaseModel):
    """The service is alive, or ready."""

    status: Literal["alive", "ready"]


@router.get("/health")
async def alive() -> Health:
    """Answer that the service is alive."""
    return Health(status="alive")


@router.get("/ready", responses=declared(504))
async def ready(request: Request) -> Health:
    """Answer that the models are loaded and the journal can be written; 503 if not."""
    service: RunningService = request.app.state.service
    await service.check_journals()
    return Health(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    """Return what was counted and timed, for Prometheus."""
    service: RunningService = request.app.state.service
    return Response(service.metrics(), media_type=CONTENT_TYPE_LATEST)


class Telemetry:
    """What one service counts and times, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        routed = ("method", "route")
        self.requests = self._made(Counter, "requests", "Requests answered.", *routed, "status")
        self.seconds = self._made(
            Histogram, "request_seconds", "From request to answer.", *routed, buckets=_SECONDS
        )
        self.taken = self._made(Gauge, "requests_in_work", "Requests worked on or waiting.")
        self.journal_documents = self._made(Gauge, "journal_documents", "In the file.", "journal")
        self.journal_bytes = self._made(Gauge, "journal_bytes", "Of the file.", "journal")
        self.learned = self._made(
            Gauge, "learned_documents", "Documents of the journal that were learned from.", "model"
        )
        self.refits = self._made(Counter, "refits", "Of label evidence.", "model", "outcome")
        self.refit_seconds = self._made(Histogram, "refit_seconds", "A refit.", "model")

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count and time a request that was answered."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus' own format."""
        return generate_latest(self.registry)

    def _made(self, kind: type[M], name: str, what: str, *by: str, **options: Any) -> M:
        return kind(f"labelkin_{name}", what, by, registry=self.registry, **options)


class Counted:
    """Middleware that counts and times requests by route and status.

    Parameters
    ----------
    app : ASGI application
        What is counted.
    count : callable
        Called with method, route, status and seconds of each.
    """

    def __init__(self, app: ASGIApp, count: Callable[[str, str, int, float], None]) -> None:
        self._app = app
        self._count_one = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = 500, perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            self._count(scope, status, perf_counter() - start)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = str(getattr(scope.get("route"), "path", _NO_ROUTE))
        # Anyone can make methods up: only those that a route has make a series.
        method = "any" if route == _NO_ROUTE or status == 405 else scope["method"]
        self._count_one(method, route, status, seconds)
