"""Two processes that ask each other, over a pair of sockets that nobody else can reach."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any

_log = logging.getLogger(__name__)


class Channel:
    """One end: asks, and answers what the other end asks.

    What is sent is pickled: both ends are processes of one service, and the sockets have no name.

    Parameters
    ----------
    connection : Connection
        This end.
    answers : callable
        Called with what the other end asks for and its arguments, in a thread of the channel;
        returns the answer, or a future of it.
    ended : callable
        Called once when the other end is gone.
    """

    def __init__(
        self,
        connection: Connection,
        answers: Callable[..., Any],
        ended: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._answers = answers
        self._ended = ended
        self._numbers = count()
        self._asked: dict[int, Future[Any]] = {}
        self._is_open = True
        self._outgoing: SimpleQueue[tuple[int, str | None, Any] | None] = SimpleQueue()
        self._threads = [Thread(target=work, daemon=True) for work in (self._send, self._receive)]

    def start(self) -> None:
        """Begin to send and to receive."""
        for thread in self._threads:
            thread.start()

    def ask(self, what: str, *args: Any) -> Future[Any]:
        """Ask the other end; where it is gone, that is a ``ConnectionError``."""
        number, future = next(self._numbers), Future[Any]()
        self._asked[number] = future
        self._outgoing.put((number, what, args))
        if not self._is_open:
            self._give_up()
        return future

    def close(self) -> None:
        """Send what waits, then let go of the other end."""
        self._outgoing.put(None)
        self._threads[0].join(timeout=10)

    def _send(self) -> None:
        """Send one message after the other; whoever asks need not wait for a slow other end."""
        while (message := self._outgoing.get()) is not None:
            try:
                self._connection.send(message)
            except OSError:  # the other end is gone, which the receiver notices
                return
            except Exception as error:  # it cannot be pickled
                _log.exception("an answer could not be sent to another process")
                if message[1] is None:
                    fault = RuntimeError(f"cannot be sent to another process: {error}")
                    self._connection.send((message[0], None, (False, fault)))
        self._connection.close()

    def _receive(self) -> None:
        try:
            while True:
                number, what, content = self._connection.recv()
                if what is None:
                    self._hear(number, *content)
                else:
                    self._answer(number, what, content)
        except (EOFError, OSError, TypeError):  # TypeError: closed by us while it was being read
            pass
        finally:
            self._is_open = False
            self._give_up()
            self._ended()

    def _hear(self, number: int, is_right: bool, content: Any) -> None:
        future = self._asked.pop(number, None)
        if future is None or not future.set_running_or_notify_cancel():
            return  # nobody waits for it any more
        if is_right:
            future.set_result(content)
        else:
            future.set_exception(content)

    def _answer(self, number: int, what: str, args: tuple[Any, ...]) -> None:
        def send(future: Future[Any]) -> None:
            error = future.exception()
            content = (True, future.result()) if error is None else (False, error)
            self._outgoing.put((number, None, content))

        try:
            found = self._answers(what, *args)
        except Exception as error:  # whatever it is, who asked must hear of it
            found = Future[Any]()
            found.set_exception(error)
        if isinstance(found, Future):
            found.add_done_callback(send)
        else:
            self._outgoing.put((number, None, (True, found)))

    def _give_up(self) -> None:
        while self._asked:
            _, future = self._asked.popitem()
            if future.set_running_or_notify_cancel():
                future.set_exception(ConnectionError("the other process has ended"))
