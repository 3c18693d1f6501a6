"""Who may ask: known hosts, no foreign pages, the bearer of the token, bodies of a bounded size."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelkin.service.messages import ProblemError
from labelkin.service.serving import LOCAL_HOSTS, Limits

#: Addresses that mean all of a machine's, under whatever name it is called.
EVERY_ADDRESS = frozenset({"0.0.0.0", "::", ""})
#: What is asked by programs and by our own page; the page itself and health are for everybody.
_DATA = ("/api", "/v1", "/label-studio", "/metrics")
#: Where it may also come as the password of ``Authorization: Basic …``: Label Studio has no other.
_OR_BASIC = "/label-studio"

#: Parameters of which there may be several.
SEVERAL = ("include", "exclude")
_SCHEMES = ("http", "https")
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_SENT = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

_log = logging.getLogger(__name__)


class Guard:
    """Middleware that lets a request through, or answers why not.

    A page of any site may send requests to a service on this machine. It cannot hide where it comes
    from: its ``Origin`` is not ours; and where it makes a name of its own point to us, ``Host`` is
    not ours.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    hosts : iterable of str
        Names and addresses the service is called by; one of ``EVERY_ADDRESS`` allows all.
    token : str or None
        What ``Authorization: Bearer …`` must hold; ``None``: nothing is asked for.
    limits : Limits
        Of the body's size, and of the time for it to arrive.
    """

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], token: str | None, limits: Limits
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts} | LOCAL_HOSTS
        self._token = None if token is None else token.encode()
        self._limits = limits
        self._held = 0  # bytes of all bodies that are here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, or answer with a problem; a fault of ours is logged."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun, wants_body = False, scope["method"] != "HEAD"
        if not wants_body:  # the answer of GET, without its body
            scope["method"] = "GET"
        held = _Held()

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                given = list(message["headers"])
                names = {name for name, _ in given}
                message["headers"] = given + [pair for pair in _SENT if pair[0] not in names]
            elif not wants_body:
                message = {**message, "body": b""}
            if wants_body:
                await send(message)
                return
            scope["method"] = "HEAD"  # the server counts the bytes of a body, unless it is HEAD
            try:
                await send(message)
            finally:
                scope["method"] = "GET"

        try:
            self._check(scope)
            body = await self._read_body(scope, receive, held)
            await self._app(scope, _again(body, receive), sending)
        except Exception as error:
            problem = error
            if not isinstance(problem, ProblemError):
                _log.exception("%s %r failed", scope["method"], scope["path"])
                fault = "The service has a fault, which is in its log."
                problem = ProblemError(500, "fault", fault)
            if has_begun:
                raise
            await problem.response()(scope, receive, sending)
        finally:
            self._held -= held.bytes

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            raise ProblemError(
                400,
                "two-lengths",
                "A body has a Content-Length or a Transfer-Encoding, got both: a proxy and this "
                "service could disagree about where the request ends.",
                {"Connection": "close"},
            )
        host = _in_origin_form(scope) or headers.get("host", "")
        self._check_host(host)
        for origin in headers.getlist("origin"):
            _check_origin(origin, host)
        if b"&" in scope["query_string"]:
            _check_query(scope["query_string"].decode("latin-1"))
        if not scope["path"].startswith(_DATA):
            return
        _check_site(headers)
        if self._token is not None:
            or_basic = scope["path"].startswith(_OR_BASIC)
            _check_token(headers.get("authorization", ""), self._token, or_basic)

    def _check_host(self, host: str) -> None:
        if name_in(host) not in self._hosts and self._hosts.isdisjoint(EVERY_ADDRESS):
            raise ProblemError(
                421,
                "foreign-host",
                f"This service answers to {', '.join(sorted(self._hosts))}, got Host {host!r:.100}."
                " If that name is ours, start it with --allow-host.",
            )

    async def _read_body(self, scope: Scope, receive: Receive, held: _Held) -> bytes:
        """Read the whole body, as far as it may go."""
        size = Headers(scope=scope).get("content-length", "0")
        if size.isdecimal() and int(size[:20]) > self._limits.body_bytes:
            raise self._too_large(f"{size[:20]} bytes")
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self._limits.seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ProblemError(400, "gone", "The client left before its body arrived.")
                    piece = message.get("body", b"")
                    self._hold(len(piece), held)
                    body += piece
                    if len(body) > self._limits.body_bytes:
                        raise self._too_large("more")
                    more = message.get("more_body", False)
        except TimeoutError:
            detail = f"The body must arrive within {self._limits.seconds:g} s, and did not."
            raise ProblemError(408, "body-too-slow", detail) from None
        return bytes(body)

    def _hold(self, n_bytes: int, held: _Held) -> None:
        """Count bytes that have come, until the request is answered."""
        held.bytes += n_bytes
        self._held += n_bytes
        if self._held > self._limits.bodies_bytes:
            raise ProblemError(
                503,
                "busy",
                f"The bodies of all requests together may have {self._limits.bodies_bytes} bytes, "
                "and there are as many. Ask again in a second.",
                {"Retry-After": "1", "Connection": "close"},
            )

    def _too_large(self, came: str) -> ProblemError:
        return ProblemError(
            413,
            "body-too-large",
            f"A body may have {self._limits.body_bytes} bytes, got {came}. "
            "Send fewer or shorter texts at a time.",
        )


class _Held:
    """How many bytes of a request's body are here."""

    bytes = 0


def _in_origin_form(scope: Scope) -> str:
    """Turn ``GET http://host/path`` into ``GET /path``; return the host, which counts for Host."""
    if scope["path"].startswith("/"):
        return ""
    try:
        url = urlsplit(scope["path"])
        raw = urlsplit(scope.get("raw_path") or scope["path"].encode())
    except ValueError:
        return ""
    if url.scheme.lower() not in _SCHEMES:
        return ""
    scope["path"], scope["raw_path"] = url.path or "/", raw.path or b"/"
    return url.netloc.rpartition("@")[2]


def name_in(host: str) -> str:
    """Return the name or address in a ``Host`` header, without port and brackets.

    Examples
    --------
    >>> name_in("Localhost:8000"), name_in("[::1]:8000"), name_in("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _check_token(authorization: str, token: bytes, or_basic: bool = False) -> None:
    scheme, _, given = authorization.partition(" ")
    came = given.strip().encode()
    if or_basic and scheme.lower() == "basic":
        with suppress(binascii.Error):
            scheme, came = "bearer", base64.b64decode(came, validate=True).partition(b":")[2]
    is_right = hmac.compare_digest(came, token)
    if scheme.lower() != "bearer" or not is_right:
        said = "another one" if authorization else "none"
        raise ProblemError(
            401,
            "token-needed",
            f"The service's token must come with every request, got {said}. "
            "Send it in the header Authorization: Bearer …",
            {"WWW-Authenticate": "Bearer"},
        )


def _check_origin(origin: str, host: str) -> None:
    """Keep out requests that another site's page has sent; programs send no ``Origin``."""
    try:
        url = urlsplit(origin)
        same = url.scheme.lower() in _SCHEMES and url.netloc.lower() == host.lower() != ""
    except ValueError:
        same = False
    if not same:
        rule = "Only the service's own page may ask from a browser"
        raise ProblemError(403, "foreign-origin", f"{rule}, got Origin {origin!r:.100}.")


def _check_site(headers: Headers) -> None:
    """Keep out a foreign page's pictures and scripts, which are asked for without an ``Origin``.

    It could not read the answers, but have them computed. A link that a person follows is welcome.
    """
    is_foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    if is_foreign and headers.get("sec-fetch-mode", "") != "navigate":
        detail = "Only the service's own page may ask from a browser, got a request of another's."
        raise ProblemError(403, "foreign-origin", detail)


def _check_query(query: str) -> None:
    """Keep out a parameter that comes twice: one of them would count, and nobody knows which."""
    pairs = parse_qsl(query, keep_blank_values=True)
    names = Counter(name for name, _ in pairs if name not in SEVERAL)
    name, times = names.most_common(1)[0] if names else ("", 1)
    if times > 1:
        rule = "A parameter of the address must come once"
        raise ProblemError(400, "does-not-fit", f"{rule}, got {name!r:.100} {times} times.")


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the body that was read, then whatever comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def once() -> Message:
        return left.pop() if left else await receive()

    return once
