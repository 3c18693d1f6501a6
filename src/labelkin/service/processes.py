"""Several processes answer at one address; this one keeps the journals, learns, and counts.

Each of them has the models. What is saved goes to the keeper through a channel and is acknowledged
when it is on the disk. The keeper alone learns from it: it hands the same snapshot to all of them,
and when all have it, one number in shared memory makes it the current one. So all of them answer
the same from one moment on.
"""

from __future__ import annotations

import logging
import mmap
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from labelkin.helper_process import python_command
from labelkin.service.app import app_of
from labelkin.service.channel import Channel
from labelkin.service.journal_rows import Entry, Withdrawal
from labelkin.service.keeper import OwnKeeper
from labelkin.service.messages import JournalState, ReviewedIssue, ReviewState
from labelkin.service.models import ServedModel, Snapshot, read_models
from labelkin.service.running_service import RunningService
from labelkin.service.serving import Limits, address_of, listen, run_server

#: A process that has ended is begun anew; one that ends so soon after its start is a fault, …
_TOO_SOON = 10.0
#: … and so often in a row is enough.
_MOST_FAULTS = 3
#: How long all processes together may take to have a snapshot, or to say what they have counted.
_PATIENCE = 5.0
#: Requests that a process counts before it hands them on.
_COUNTED = 1_000
_PROGRAM = "from labelkin.service.processes import run_worker; run_worker()"

_log = logging.getLogger(__name__)


class Settings(NamedTuple):
    """What a process is told at its start; by the channel, because others can see commands."""

    models: Sequence[Path]
    hosts: Sequence[str]
    token: str | None
    limits: Limits
    trusted: Sequence[str] = ()


def serve_processes(
    n_processes: int,
    settings: Settings,
    place: tuple[str, int],
    journal: Path | None,
    review: Path | None,
    announce: Callable[[str], None] | None,
) -> None:
    """Serve with so many processes until interrupted or terminated; then they finish first."""
    if os.name != "posix":
        raise ValueError(
            f"Several workers need a system with inherited sockets, got workers={n_processes} on "
            "Windows. Leave workers out, and start one service for each model."
        )
    models = (
        read_models(settings.models, settings.trusted) if settings.models or review is None else {}
    )
    with _Shared(len(models)) as shared, _listening(place, n_processes) as sockets:
        crew = _Crew(settings, models, shared)
        keeper = OwnKeeper(settings.models, models, journal, settings.limits, review, crew.publish)
        try:
            crew.work(keeper, sockets, announce)
        finally:
            keeper.close()


class _Shared:
    """Which snapshot of each model is the current one, in memory of all processes."""

    def __init__(self, n_models: int, descriptor: int | None = None) -> None:
        size = max(8 * n_models, 8)
        if descriptor is None:
            self._file: Any = TemporaryFile()  # noqa: SIM115 - closed by our own exit
            self._file.truncate(size)
        else:
            self._file = os.fdopen(descriptor, "r+b")
        self._memory = mmap.mmap(self._file.fileno(), size)
        self._numbers = memoryview(self._memory).cast("Q")

    def __enter__(self) -> _Shared:
        return self

    def __exit__(self, *_: object) -> None:
        self._numbers.release()
        self._memory.close()
        self._file.close()

    @property
    def descriptor(self) -> int:
        """For a process that inherits it."""
        return int(self._file.fileno())

    def get(self, place: int) -> int:
        """Return the number of the current snapshot."""
        return self._numbers[place]

    def set(self, place: int, number: int) -> None:
        """Make a snapshot the current one, for all processes at once."""
        self._numbers[place] = number


@contextmanager
def _listening(place: tuple[str, int], n: int) -> Iterator[list[socket.socket]]:
    """Listen; on Linux each process has a socket of its own, and the system deals connections out.

    From one socket the process that is woken first would take all that wait. The sockets stay open
    here: what waits for a process that has ended is taken by the one that follows it.
    """
    host, port = place
    sockets = [listen(host, port)]
    try:
        if sys.platform.startswith("linux"):
            port = sockets[0].getsockname()[1]
            sockets.pop().close()  # it has shown that nobody else has the port
            for _ in range(n):
                sockets.append(listen(host, port, shared=True))
        yield sockets * (1 if len(sockets) == n else n)
    finally:
        for one in sockets:
            one.close()


class _Worker:
    """A process that answers, seen from the keeper."""

    def __init__(self, number: int, process: subprocess.Popen[bytes]) -> None:
        self.number = number
        self.process = process
        self.began = monotonic()
        self.is_ready = False
        self.channel: Channel


class _Crew:
    """The processes that answer: begun, begun anew, kept up to date, and ended.

    Parameters
    ----------
    settings : Settings
        What each is told.
    models : dict of str to ServedModel
        The models that learn, here.
    shared : _Shared
        Which snapshots are the current ones.
    """

    def __init__(self, settings: Settings, models: dict[str, ServedModel], shared: _Shared) -> None:
        self._settings = settings
        self._models = models
        self._shared = shared
        self._places = {name: place for place, name in enumerate(models)}
        self._keeper: OwnKeeper
        self._workers: dict[int, _Worker] = {}
        self._lock = Lock()  # whoever holds it says what the current snapshots are
        self._upkeep = ThreadPoolExecutor(1, thread_name_prefix="upkeep")
        #: Workers that are ready or have ended; ``None``: all shall end.
        self._events: SimpleQueue[_Worker | None] = SimpleQueue()

    def publish(self, model: ServedModel) -> None:
        """Hand what a model has learned to all processes; when all have it, it is the current."""
        place = self._places[model.id]
        with self._lock:
            number = self._shared.get(place) + 1
            self._ask_all("prepare", model.id, number, model.snapshot)
            self._shared.set(place, number)

    def work(
        self,
        keeper: OwnKeeper,
        sockets: Sequence[socket.socket],
        announce: Callable[[str], None] | None,
    ) -> None:
        """Have all processes answer until a signal comes, and for as long as they do not fail."""
        self._keeper = keeper
        is_announced, n_faults = False, 0
        with _signals(lambda: self._events.put(None)):
            try:
                for number in range(len(sockets)):
                    self._begin(number, sockets[number])
                while (worker := self._events.get()) is not None:
                    if worker.process.poll() is None:
                        is_new = not is_announced
                        if is_new and all(one.is_ready for one in self._workers.values()):
                            is_announced = True
                            if announce is not None:
                                announce(address_of(sockets[0]))
                        continue
                    n_faults = n_faults + 1 if monotonic() - worker.began < _TOO_SOON else 0
                    if n_faults >= _MOST_FAULTS:
                        raise ChildProcessError(
                            "A process that answers must not end by itself, and has done so "
                            f"{n_faults} times in a row, the last time with status "
                            f"{worker.process.returncode}. Its log says why; what was acknowledged "
                            "is in the journal."
                        )
                    _log.error(
                        "process %d, which answers, has ended with status %d; another is begun",
                        worker.process.pid,
                        worker.process.returncode,
                    )
                    self._begin(worker.number, sockets[worker.number])
            finally:
                self._end()

    def _begin(self, number: int, listening: socket.socket) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            inherited = [listening.fileno(), theirs.fileno(), self._shared.descriptor]
            command, environment = python_command(_PROGRAM, *inherited)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=inherited,
                start_new_session=True,  # Ctrl-C comes to us alone
                env=environment,
            )
        worker = _Worker(number, process)
        connection = Connection(ours.detach())

        def ended() -> None:
            process.wait()
            self._events.put(worker)

        worker.channel = Channel(connection, partial(self._answer, worker), ended)
        with self._lock:
            self._workers[number] = worker
        with suppress(OSError):  # it has ended, which the channel notices
            connection.send(self._settings)
        worker.channel.start()

    def _answer(self, worker: _Worker, what: str, *args: Any) -> Any:
        """Answer what a process asks for."""
        if what == "ready":
            with self._lock:
                for name, place in self._places.items():
                    if number := self._shared.get(place):
                        snapshot = self._models[name].snapshot
                        worker.channel.ask("prepare", name, number, snapshot)
                worker.is_ready = True
            self._events.put(worker)
            return None
        if what == "metrics":
            return self._upkeep.submit(self._metrics)
        if what == "count":
            return self._count(*args)
        if what not in _ASKED:
            raise ValueError(f"there is nothing to ask for that is called {what!r}")
        return getattr(self._keeper, what)(*args)

    def _metrics(self) -> bytes:
        taken = 0
        for counted, now in self._ask_all("counted"):
            self._count(counted)
            taken += now
        return self._keeper.metrics(taken).result()

    def _count(self, counted: Sequence[tuple[str, str, int, float]]) -> None:
        for one in counted:
            self._keeper.count(*one)

    def _ask_all(self, what: str, *args: Any) -> list[Any]:
        """Return what the processes answer, all that do so within a while."""
        ready = [worker for worker in list(self._workers.values()) if worker.is_ready]
        asked = [worker.channel.ask(what, *args) for worker in ready]
        done, _ = wait(asked, timeout=_PATIENCE)
        return [one.result() for one in done if one.exception() is None]

    def _end(self) -> None:
        """Have every process finish what it has taken."""
        until = monotonic() + self._settings.limits.seconds + 15
        for worker in self._workers.values():
            if worker.process.poll() is None:
                worker.process.terminate()
        for worker in self._workers.values():
            try:
                worker.process.wait(timeout=max(0.0, until - monotonic()))
            except subprocess.TimeoutExpired:
                _log.error("process %d does not end, and is killed", worker.process.pid)
                worker.process.kill()
                worker.process.wait()
            worker.channel.close()
        self._upkeep.shutdown(wait=True)


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Have the signals that end a service call a function instead."""
    before = {}
    with suppress(ValueError):  # signals come to the main thread, and this is another
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, lambda *_: stop())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


#: What a process may have the keeper do.
_ASKED = frozenset({"write", "check_journals", "journal_state", "review_state", "issue", "answer"})


class RemoteKeeper:
    """The keeper, seen from a process that answers.

    Parameters
    ----------
    models : dict of str to ServedModel
        The models of this process.
    connection : Connection
        To the keeper.
    """

    def __init__(self, models: dict[str, ServedModel], connection: Connection) -> None:
        self._models = models
        self._counted: list[tuple[str, str, int, float]] = []
        self._taken: Callable[[], int] = lambda: 0
        self._channel = Channel(connection, self._answer, self._orphaned)
        self._is_closed = False
        self._channel.start()

    def begin(self, taken: Callable[[], int]) -> None:
        """Wait for the current snapshots; from now on the keeper may ask how much is taken."""
        self._taken = taken
        self._channel.ask("ready").result()

    def write(self, entries: Sequence[Entry | Withdrawal]) -> Future[list[int]]:
        """Write documents of one model; their ids come once they are durable."""
        return self._channel.ask("write", tuple(entries))

    def check_journals(self) -> Future[None]:
        """Try whether every journal can be written."""
        return self._channel.ask("check_journals")

    def journal_state(self, model: str) -> Future[JournalState]:
        """Return what the journal holds for a model."""
        return self._channel.ask("journal_state", model)

    def review_state(self) -> Future[ReviewState]:
        """Return how far the review is."""
        return self._channel.ask("review_state")

    def issue(self, number: int) -> Future[ReviewedIssue]:
        """Return an issue and what was said of it."""
        return self._channel.ask("issue", number)

    def answer(self, number: int, answer: str | None) -> Future[ReviewState]:
        """Write what a person says of an issue, ``None``: nothing any more."""
        return self._channel.ask("answer", number, answer)

    def metrics(self, taken: int) -> Future[bytes]:
        """Return what all processes have counted."""
        return self._channel.ask("metrics")

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; the keeper hears of many at a time, or when it asks."""
        self._counted.append((method, route, status, seconds))
        if len(self._counted) >= _COUNTED:
            self._channel.ask("count", self._take_counted())

    def close(self) -> None:
        """Hand on what was counted, and let go of the keeper."""
        self._is_closed = True
        self._channel.ask("count", self._take_counted())
        self._channel.close()

    def _answer(self, what: str, *args: Any) -> Any:
        if what == "prepare":
            name, number, snapshot = args
            return self._models[name].prepare(number, Snapshot(*snapshot))
        return self._take_counted(), self._taken()

    def _take_counted(self) -> list[tuple[str, str, int, float]]:
        counted, self._counted = self._counted, []
        return counted

    def _orphaned(self) -> None:
        """Without a keeper nothing can be saved: finish, as if asked to."""
        if not self._is_closed:
            _log.error("the process that keeps the journals has ended, and so does this one")
            os.kill(os.getpid(), signal.SIGTERM)


def run_worker() -> None:
    """Answer requests in this process, which :func:`serve_processes` has begun."""
    listening, channel, shared = map(int, sys.argv[1:])
    connection = Connection(channel)
    settings: Settings = connection.recv()
    models = read_models(settings.models, settings.trusted) if settings.models else {}
    current = _Shared(len(models), shared)
    for place, model in enumerate(models.values()):
        model.follow(partial(current.get, place))
    keeper = RemoteKeeper(models, connection)
    service = RunningService(models, keeper, settings.limits)
    keeper.begin(lambda: service.workers.taken)
    app = app_of(service, settings.hosts, settings.token)
    with socket.socket(fileno=listening) as taken:
        run_server(app, taken, settings.limits, None)
