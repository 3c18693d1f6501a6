"""Metrics of a service, in the format of Prometheus."""

from __future__ import annotations

from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)

M = TypeVar("M", Counter, Gauge, Histogram)


class Telemetry:
    """Counters, times and sizes of one service, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        routed = ("method", "route")
        self.requests = self._made(Counter, "requests", "Answered requests.", *routed, "status")
        self.seconds = self._made(
            Histogram, "request_seconds", "From request to answer.", *routed, buckets=_SECONDS
        )
        self.requests_in_work = self._made(Gauge, "requests_in_work", "Requests not yet answered.")
        self.saved_documents = self._made(Gauge, "saved_documents", "In the file.", "file")
        self.saved_bytes = self._made(Gauge, "saved_bytes", "Of the file.", "file")
        self.learned = self._made(
            Gauge, "learned_documents", "Saved documents that were learned from.", "model"
        )
        self.refits = self._made(Counter, "refits", "Of label evidence.", "model", "outcome")
        self.refit_seconds = self._made(Histogram, "refit_seconds", "A refit.", "model")

    def text(self) -> bytes:
        """Return all metrics in the format of Prometheus."""
        return generate_latest(self.registry)

    def _made(self, kind: type[M], name: str, what: str, *by: str, **options: Any) -> M:
        return kind(f"labelkin_{name}", what, by, registry=self.registry, **options)
