"""Learning from the journal while it is written: in the background, many documents at a time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from threading import Condition, Thread
from time import perf_counter

from labelkin.service.journal_file import Entry
from labelkin.service.models import ServedModel
from labelkin.service.telemetry import Telemetry

#: Documents are gathered for so long before a refit: each of them shows within a second, …
_GATHER_SECONDS = 0.15
#: … and where refits are slow, as long as the last one took, so that they leave room to answer.
_LONGEST_GATHERING = 10.0

_log = logging.getLogger(__name__)


class Learner:
    """A thread that has a model learn what the journal tells.

    Whatever arrives while it gathers or learns is learnt together, in one refit.
    """

    def __init__(self, model: ServedModel, telemetry: Telemetry) -> None:
        self._model = model
        self._telemetry = telemetry
        self._waiting: list[Entry] = []
        self._changed = Condition()
        self._closing = False
        self._thread = Thread(target=self._run, name=f"learning {model.id}", daemon=True)
        self._thread.start()

    def hear(self, entries: Sequence[Entry]) -> None:
        """Take note of documents that are in the journal; those of other models are left out."""
        with self._changed:
            self._waiting += [entry for entry in entries if entry.model == self._model.id]
            self._changed.notify()

    def close(self) -> None:
        """End the thread; what was not learnt yet is in the journal, and learnt at the start."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        gather = _GATHER_SECONDS
        while self._wait_for_documents(gather):
            start = perf_counter()
            self._learn()
            gather = max(_GATHER_SECONDS, min(perf_counter() - start, _LONGEST_GATHERING))

    def _wait_for_documents(self, gather: float) -> bool:
        """Wait until there is something to learn, and a moment for more; False: we are closing."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            self._changed.wait_for(lambda: self._closing, timeout=gather)
            return not self._closing

    def _learn(self) -> None:
        with self._changed:
            entries, self._waiting = self._waiting, []
        learn(self._model, entries, self._telemetry)


def learn(model: ServedModel, entries: Sequence[Entry], telemetry: Telemetry) -> None:
    """Have a model learn, and count it; when it cannot, it goes on with what it knew."""
    with telemetry.refit_seconds.labels(model.id).time():
        try:
            model.learn(entries)
        except Exception:
            outcome = "failed"
            _log.exception("model %s could not learn from %d documents", model.id, len(entries))
        else:
            outcome = "done"
    telemetry.refits.labels(model.id, outcome).inc()
    telemetry.learned.labels(model.id).set(model.snapshot.learned)
