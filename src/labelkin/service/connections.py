"""Connections: how many there may be, how long a request's header may take, and how long it may be.

uvicorn does not bound them: a few hundred connections that send a letter now and then would keep
everyone else out, and with httptools a header without end would fill the memory.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from labelkin.service.serving import Limits

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol
else:
    Protocol = AutoHTTPProtocol

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Length: 0\r\n\r\n"
)
#: Bytes of a request that are not its body, and for each byte of the body: in the smallest pieces
#: there are five between two of them.
_MOST_AROUND, _MOST_BETWEEN = 2**16, 8
_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)
_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with bounds.

    Where there are as many connections as there may be, the one that has been without a whole
    request for longest makes room; where all are being answered, the new one is turned away.
    """
    most = _most(limits)
    is_counted = hasattr(Protocol, "on_body")

    class Bounded(Protocol):
        """A connection that must bring whole headers in time."""

        waiting: dict[Bounded, None] = {}  # noqa: RUF012 - one for all connections, oldest first
        n_open = 0
        url = b""
        n_received = n_body = 0  # bytes of a request; h11 does not count, and has bounds of its own
        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            Bounded.n_open += 1
            self.watch()
            if Bounded.n_open > most:
                oldest = next(iter(self.waiting))
                oldest.turn_away(_FULL if oldest is self else _SLOW)

        def connection_lost(self, exc: Exception | None) -> None:
            Bounded.n_open -= 1
            self.stop_watching()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            self.n_received += len(data)
            super().data_received(data)
            if is_counted and self.n_received > _MOST_AROUND + (1 + _MOST_BETWEEN) * self.n_body:
                self.turn_away(_LARGE)
            else:
                self.watch()

        # What httptools calls.

        def on_message_begin(self) -> None:
            self.n_received = self.n_body = 0
            super().on_message_begin()  # type: ignore[misc]

        def on_body(self, body: bytes) -> None:
            self.n_body += len(body)
            super().on_body(body)  # type: ignore[misc]

        def on_headers_complete(self) -> None:
            """Take ``GET http://host`` for ``GET http://host/``."""
            address, mark, query = self.url.partition(b"?")
            if b"://" in address and b"/" not in address.partition(b"://")[2]:
                self.url = address + b"/" + mark + query
            super().on_headers_complete()  # type: ignore[misc]
            self.headers = []  # what comes after a body is none of them

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing():
                self.watch()

        def watch(self) -> None:
            """Give a connection without a request its time; one with a request has another."""
            if self.cycle is not None and not self.cycle.response_complete:
                self.stop_watching()
            elif self.deadline is None:
                self.waiting[self] = None
                self.deadline = self.loop.call_later(limits.header_seconds, self.turn_away, _SLOW)

        def stop_watching(self) -> None:
            self.waiting.pop(self, None)
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

        def turn_away(self, answer: bytes) -> None:
            self.stop_watching()
            if not self.transport.is_closing():
                self.transport.write(answer)
                self.transport.close()

    return Bounded


#: Open files that are no connections: models, journals, logs, what libraries open.
_RESERVED = 64
#: Rounds of the loop that a connection has its file before it counts, and after it was closed.
_ROUNDS = 8
#: More at once would not make the last of them wait for less.
_MOST_AT_ONCE = 128


def most_at_once(limits: Limits) -> int:
    """Return how many connections a round of the loop may take up, so that there are files left."""
    return min((_open_files() - _most(limits)) // _ROUNDS, _MOST_AT_ONCE)


def _most(limits: Limits) -> int:
    """Return how many connections there may be."""
    return min(limits.connections, _open_files() - _RESERVED)


def _open_files() -> int:
    """Return how many files this process may open, after asking for as many as it may ask for."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 2**20
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2**16 if hard == resource.RLIM_INFINITY else min(hard, 2**16)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return 2**20 if soft == resource.RLIM_INFINITY else max(soft, _RESERVED + 8)
