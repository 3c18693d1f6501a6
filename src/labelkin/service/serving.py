"""Serve models on an address, until told to stop."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from labelkin.service.addresses import is_local
from labelkin.service.limits import Limits

#: Connections that may wait to be taken up.
_BACKLOG = 2048


def create_app(
    models: Sequence[Path],
    *,
    hosts: Sequence[str] = (),
    token: str | None = None,
    journal: Path | None = None,
    limits: Limits | None = None,
) -> Any:
    """Return the ASGI application that serves models; its lifespan ends its threads.

    Parameters
    ----------
    models
        Model files, as :func:`labelkin.storage.save` writes them: pipelines from texts to labels.
    hosts
        Names and addresses it is called by, besides those of this machine.
    token
        What every request must bring as ``Authorization: Bearer …``; ``None``: nothing.
    journal
        One file for all models; ``None``: each has ``NAME.journal.sqlite`` beside it.
    limits
        The bounds.
    """
    _check_token(token)
    try:
        from labelkin.service.app import build_app
    except ImportError as error:
        raise _missing_extra(error) from error
    paths = [Path(path) for path in models]
    return build_app(paths, hosts=hosts, token=token, journal=journal, limits=limits)


def serve(
    models: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    insecure: bool = False,
    journal: Path | None = None,
    limits: Limits | None = None,
    hosts: Sequence[str] = (),
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve models until interrupted or terminated; what was taken is finished first.

    Parameters
    ----------
    models, token, journal, limits
        As :func:`create_app` takes them.
    host, port
        Where to listen; port 0 is any that is free.
    insecure
        Whether to listen beyond this machine without a token.
    hosts
        Further names it is called by, such as that of a proxy before it.
    tell
        Called with the address once the service listens.
    """
    if not (is_local(host) or token or insecure):
        raise ValueError(
            f"A service beyond this machine needs a token, got host={host!r} and none. Set a "
            "token, listen on 127.0.0.1, or say insecure where the network is trusted."
        )
    app = create_app(models, hosts=[host, *hosts], token=token, journal=journal, limits=limits)
    try:
        with listen(host, port) as listening:
            _run(app, listening, (limits or Limits()).seconds, tell)
    finally:
        app.state.service.close()


def _check_token(token: str | None) -> None:
    if token is not None and (not token.strip() or not token.isascii() or len(token.split()) > 1):
        raise ValueError(
            "A token must be ASCII without blanks, and not empty. Make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that takes connections; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, connections are recognised by asyncio, which then sends small answers at once.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would let two services share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise OSError(
            error.errno,
            f"The service cannot listen on {host}, port {port}: {error.strerror}. "
            "Choose another port, or 0 for any that is free.",
        ) from None
    return listening


def _run(
    app: Any, listening: socket.socket, seconds: float, tell: Callable[[str], None] | None
) -> None:
    try:
        import uvicorn
    except ImportError as error:
        raise _missing_extra(error) from error

    class Server(uvicorn.Server):
        """Tells its address when it has started."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if tell is not None and self.started:
                tell(_address(listening))

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(seconds) + 5,
        ws="none",
    )
    try:
        Server(config).run(sockets=[listening])
    except KeyboardInterrupt:  # raised again after all has ended in order
        return


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _missing_extra(error: ImportError) -> ImportError:
    return ImportError(
        f'The service needs FastAPI, uvicorn and prometheus-client: pip install "labelkin[serve]" '
        f"({error})."
    )
