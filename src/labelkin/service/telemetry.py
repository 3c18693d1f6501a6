"""What the service counts and times, for Prometheus."""

from __future__ import annotations

from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
#: The route of requests that have none: addresses that do not exist make no series of their own.
_NO_ROUTE = "none"


class Telemetry:
    """The metrics of one service, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "labelkin_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "labelkin_request_seconds",
            "From a request to its answer.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.taken = Gauge(
            "labelkin_requests_in_work", "Requests worked on or waiting.", registry=self.registry
        )
        self.journal_documents = Gauge(
            "labelkin_journal_documents", "In the file.", ("journal",), registry=self.registry
        )
        self.journal_bytes = Gauge(
            "labelkin_journal_bytes", "Of the file.", ("journal",), registry=self.registry
        )
        self.learned = Gauge(
            "labelkin_learned_documents",
            "Documents of the journal that answers have learnt from.",
            ("model",),
            registry=self.registry,
        )
        self.refits = Counter(
            "labelkin_refits",
            "Label evidence learnt anew.",
            ("model", "outcome"),
            registry=self.registry,
        )
        self.refit_seconds = Histogram(
            "labelkin_refit_seconds", "A refit.", ("model",), registry=self.registry
        )

    def text(self) -> bytes:
        """Return everything in Prometheus' own format."""
        return generate_latest(self.registry)


class Counted:
    """Middleware that counts and times requests by route and status."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

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
        self._telemetry.requests.labels(method, route, str(status)).inc()
        self._telemetry.seconds.labels(method, route).observe(seconds)
