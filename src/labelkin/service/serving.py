"""Serve models at an address, until the process is asked to stop."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
#: Connections that may wait to be accepted.
_BACKLOG = 2048


def create_app(
    models: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    hosts: Sequence[str] = (),
    token: str | None = None,
    saved_work: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    review: str | os.PathLike[str] | None = None,
    trusted: Sequence[str] = (),
) -> FastAPI:
    """Return the ASGI application that serves models; its lifespan closes the saved work.

    Parameters
    ----------
    models : sequence of paths
        Model files, as :func:`labelkin.storage.save` writes them: pipelines from texts to labels.
        The list may be empty if there is a review.
    hosts : sequence of str, default ()
        Names and addresses of the service, besides those of this machine.
    token : str or None, default None
        Token of every request, in ``Authorization: Bearer …``; ``None``: no token.
    saved_work : path or None, default None
        One file for all models; ``None``: each model has ``NAME.saved.sqlite`` beside its file.
    limits : Limits or None, default None
        The limits; ``None``: the defaults of :class:`Limits`.
    review : path or None, default None
        Issues of an audit to review on the page, JSON lines as ``labelkin audit --out`` writes
        them. The answers go to the saved work of the first model or, without a model, beside the
        file.
    trusted : sequence of str, default ()
        Types that model files may contain on request, as in :func:`labelkin.load`.

    Returns
    -------
    fastapi.FastAPI

    Examples
    --------
    >>> from labelkin.service import create_app
    >>> app = create_app(["news.labelkin"], token="…")  # doctest: +SKIP
    >>> # uvicorn, hypercorn or another server runs it
    """
    _check_token(token)
    with _extra_installed():
        from labelkin.service.app import build_app
        from labelkin.service.running_service import RunningService
    limits = limits or Limits()
    service = RunningService(
        _model_paths(models),
        None if saved_work is None else Path(saved_work),
        limits,
        None if review is None else Path(review),
        trusted,
    )
    return build_app(service, hosts, token)


def serve(
    models: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    insecure: bool = False,
    saved_work: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    hosts: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
    review: str | os.PathLike[str] | None = None,
    trusted: Sequence[str] = (),
) -> None:
    """Serve models in this process until it is interrupted or terminated.

    Accepted requests are answered first.

    Parameters
    ----------
    models, token, saved_work, limits, review, trusted
        As in :func:`create_app`.
    host : str, default "127.0.0.1"
        Address of the service. An address beyond this machine needs a token.
    port : int, default 8000
        The port; 0 is any that is free.
    insecure : bool, default False
        Whether addresses beyond this machine need no token.
    hosts : sequence of str, default ()
        Further names of the service, such as that of a reverse proxy.
    announce : callable or None, default None
        Called with the address when the service accepts connections.

    Examples
    --------
    >>> from labelkin.service import serve
    >>> serve(["news.labelkin"], announce=print)  # doctest: +SKIP
    http://127.0.0.1:8000/
    """
    if not (is_local(host) or token or insecure):
        raise ValueError(
            f"A service beyond this machine needs a token, got host={host!r} and none. Set "
            "LABELKIN_TOKEN (in Python: token), use host 127.0.0.1, or add --insecure (in Python: "
            "insecure=True) where the network is trusted."
        )
    app = create_app(
        models,
        hosts=[host, *hosts],
        token=token,
        saved_work=saved_work,
        limits=limits,
        review=review,
        trusted=trusted,
    )
    try:
        with listen(host, port) as listening:
            _run_server(app, listening, limits or Limits(), announce)
    finally:
        app.state.service.close()


def _model_paths(models: Any) -> list[Path]:
    """Return the paths of one model file or of several; a model in memory is an error."""
    several = models if isinstance(models, list | tuple) else [models]
    for one in several:
        if not isinstance(one, str | os.PathLike):
            hint = ' Save it first: labelkin.save(model, "news.labelkin").'
            kind = f"{type(one).__name__}.{hint if hasattr(one, 'fit') else ''}"
            raise TypeError(f"models must be the path of a model file or a list, got {kind}")
    return [Path(path) for path in several]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of the service; requests beyond each of them get a separate problem.

    Attributes
    ----------
    body_bytes : int, default 8 MiB
        Size of a request's body.
    bodies_bytes : int, default 128 MiB
        Size of all bodies that are being received or answered.
    text_characters : int, default 1,000,000
        Length of one text.
    batch_documents : int, default 256
        Documents in one ``suggest-batch`` or ``learn``.
    known_labels : int, default 1,000
        Labels accepted, and labels rejected, for one document.
    label_characters : int, default 1,000
        Length of a label's name.
    review_issues : int, default 100,000
        Issues in a file that is reviewed.
    workers : int, default 16
        Threads that compute answers and save.
    seconds : float, default 30
        From a request's header to its answer.
    connections : int, default 512
        Open connections; a request on a further one is answered 503.
    saved_work_bytes : int, default 16 GiB
        Size of a file of saved work.

    Examples
    --------
    >>> Limits(workers=2).workers
    2
    """

    body_bytes: int = 8 * 2**20
    bodies_bytes: int = 128 * 2**20
    text_characters: int = 1_000_000
    batch_documents: int = 256
    known_labels: int = 1_000
    label_characters: int = 1_000
    review_issues: int = 100_000
    workers: int = 16
    seconds: float = 30.0
    connections: int = 512
    saved_work_bytes: int = 16 * 2**30

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name == "seconds" else 1
            if not value >= least:
                raise ValueError(f"{field.name} must be at least {least}, got {value!r}.")


def is_local(host: str) -> bool:
    """Return whether a service bound to a host can be reached from this machine only.

    Examples
    --------
    >>> is_local("localhost"), is_local("127.0.0.2"), is_local("0.0.0.0"), is_local("library.org")
    (True, True, False, False)
    """
    try:
        return host.lower() in LOCAL_HOSTS or ip_address(host).is_loopback
    except ValueError:  # another name
        return False


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that takes connections; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        created = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise OSError(
            error.errno,
            f"The service cannot use {host}, port {port}: {error.strerror}. "
            "Choose another port, or 0 for any that is free.",
        ) from None
    # asyncio sends small answers at once if it knows the protocol: the new object reads it.
    return socket.socket(fileno=created.detach())


def _run_server(
    app: FastAPI, listening: socket.socket, limits: Limits, announce: Callable[[str], None] | None
) -> None:
    """Answer at a socket until a signal comes; then finish the accepted requests."""
    with _extra_installed():
        import uvicorn
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=round(limits.seconds) + 5,
        loop="asyncio",
        ws="none",
    )
    # Models and modules stay: the collector need not visit them, which takes a tenth of a second.
    gc.collect()
    gc.freeze()
    if announce is not None:  # connections wait at the socket until the server starts
        host, port = listening.getsockname()[:2]
        announce(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
    with suppress(KeyboardInterrupt):  # raised again after an orderly end
        uvicorn.Server(config).run(sockets=[listening])


def _check_token(token: str | None) -> None:
    if token is not None and not (token.isascii() and token.split() == [token]):
        raise ValueError(
            "A token must be ASCII without blanks, and not empty. Make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )


@contextmanager
def _extra_installed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ImportError(
            "The service needs FastAPI, uvicorn and prometheus-client: "
            f'pip install "labelkin[serve]" ({error}).'
        ) from error
