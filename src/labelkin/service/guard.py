"""Checks of every request: host, origin, token, size and time; headers of every answer."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
from collections.abc import Iterable
from time import perf_counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelkin.service.messages import ProblemError, problem_response
from labelkin.service.running_service import Telemetry
from labelkin.service.serving import LOCAL_HOSTS, Limits

#: Addresses that stand for all addresses of a machine, under any name.
EVERY_ADDRESS = frozenset({"0.0.0.0", "::", ""})
#: Paths that need no token: the page, which asks for it, and health. Everything else is data.
_OPEN_PATHS = frozenset({"/", "/review", "/docs", "/health", "/ready", "/openapi.json"})
_OPEN_FOLDER = "/page/"
#: The route of requests without a route in the metrics: clients cannot create series.
_NO_ROUTE = "none"
_POLICY = (
    b"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    b"frame-ancestors 'none'"
)
_SECURITY_HEADERS = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

_log = logging.getLogger(__name__)


class Guard:
    """Middleware that checks, bounds and counts requests.

    A page of any site can send requests to a service on this machine. Its ``Origin`` is that of the
    site; and if a host name of the site resolves to this machine, ``Host`` has that name.

    Parameters
    ----------
    app : ASGI application
        The application.
    hosts : iterable of str
        Names and addresses of the service; one of ``EVERY_ADDRESS`` allows all.
    token : str or None
        Required in ``Authorization: Bearer …``; ``None``: no token.
    limits : Limits
        Limits of body sizes and time.
    telemetry : Telemetry
        Counts and times the requests.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        token: str | None,
        limits: Limits,
        telemetry: Telemetry,
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts} | LOCAL_HOSTS
        self._token = None if token is None else token.encode()
        self._limits = limits
        self._telemetry = telemetry
        self._n_bytes = 0  # of the requests that are not yet answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, or answer with a problem; errors are logged."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = perf_counter(), 0
        headers, path = Headers(scope=scope), scope["path"]
        is_data = path not in _OPEN_PATHS and not path.startswith(_OPEN_FOLDER)
        # Files of the page change with the version: browsers ask each time.
        cache = (b"cache-control", b"no-store" if is_data else b"no-cache")

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_SECURITY_HEADERS, cache]
            await send(message)

        try:
            self._check(headers, is_data)
            await self._bounded(scope, receive, sending, headers)
        except ProblemError as problem:
            if status:
                raise
            await problem_response(problem)(scope, receive, sending)
        except Exception:
            if status:
                raise
            _log.exception("%s %r failed", scope["method"], scope["path"])
            fault = ProblemError(500, "fault", "The service has a fault, which is in its log.")
            await problem_response(fault)(scope, receive, sending)
        finally:
            route = str(getattr(scope.get("route"), "path", _NO_ROUTE))
            is_routed = route != _NO_ROUTE and status != 405
            method = scope["method"] if is_routed else "any"
            seconds = perf_counter() - start
            self._telemetry.requests.labels(method, route, str(status or 500)).inc()
            self._telemetry.seconds.labels(method, route).observe(seconds)

    def _check(self, headers: Headers, is_data: bool) -> None:
        host = headers.get("host", "")
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name.lower() not in self._hosts and self._hosts.isdisjoint(EVERY_ADDRESS):
            raise ProblemError(
                421,
                "foreign-host",
                f"This service answers to {', '.join(sorted(self._hosts))}, got Host {host!r:.100}."
                " If that name is ours, start it with --allow-host.",
            )
        for origin in headers.getlist("origin"):
            _check_origin(origin, host)
        if not is_data:
            return
        # Pictures and scripts of another page have no Origin. A link is allowed.
        is_foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
        if is_foreign and headers.get("sec-fetch-mode", "") != "navigate":
            raise _foreign("a request of another page")
        if self._token is not None:
            _check_token(headers.get("authorization", ""), self._token)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        """Let the application answer within the limits."""
        limits, n_bytes, is_whole = self._limits, 0, False
        size = headers.get("content-length", "0")
        if size.isdecimal() and int(size[:20]) > limits.body_bytes:
            raise self._too_large(f"{size[:20]} bytes")

        async def receiving() -> Message:
            nonlocal n_bytes, is_whole
            message = await receive()
            n_new = len(message.get("body", b""))
            n_bytes += n_new
            self._n_bytes += n_new
            if n_bytes > limits.body_bytes:
                raise self._too_large("more")
            if self._n_bytes > limits.bodies_bytes:
                raise ProblemError(
                    503,
                    "busy",
                    f"Bodies of all requests may have {limits.bodies_bytes} bytes together, got "
                    "more. Send the request again in a second.",
                    {"Retry-After": "1", "Connection": "close"},
                )
            is_whole = not message.get("more_body", False)
            return message

        try:
            async with asyncio.timeout(limits.seconds):
                await self._app(scope, receiving, send)
        except TimeoutError:
            rule = f"A request must arrive and be answered within {limits.seconds:g} s"
            if not is_whole and scope["method"] != "GET":
                raise ProblemError(408, "body-too-slow", f"{rule}; the body is missing.") from None
            detail = f"{rule}. Send less at a time; documents may have been saved."
            raise ProblemError(504, "too-slow", detail) from None
        finally:
            self._n_bytes -= n_bytes

    def _too_large(self, received: str) -> ProblemError:
        return ProblemError(
            413,
            "body-too-large",
            f"A body may have {self._limits.body_bytes} bytes, got {received}. "
            "Send fewer or shorter texts at a time.",
            {"Connection": "close"},
        )


def _check_token(authorization: str, token: bytes) -> None:
    """Raise unless the token is there, as bearer or as the password of Basic authentication."""
    scheme, _, credentials = authorization.partition(" ")
    given = credentials.strip().encode()
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            given = b""
    is_right = hmac.compare_digest(given, token)
    if scheme.lower() not in ("bearer", "basic") or not is_right:
        raise ProblemError(
            401,
            "token-needed",
            "Every request must have the token of the service, got "
            f"{'another one' if authorization else 'none'}. Send it in the header Authorization: "
            "Bearer …",
            {"WWW-Authenticate": "Bearer"},
        )


def _check_origin(origin: str, host: str) -> None:
    """Raise for requests of another site's page; programs send no ``Origin``."""
    try:
        url = urlsplit(origin)
        is_same = url.scheme.lower() in ("http", "https") and url.netloc.lower() == host.lower()
    except ValueError:
        is_same = False
    if not is_same or not host:
        raise _foreign(f"Origin {origin!r:.100}")


def _foreign(received: str) -> ProblemError:
    rule = "Only the service's own page may ask from a browser"
    return ProblemError(403, "foreign-origin", f"{rule}, got {received}.")
