"""The same work on a Dask cluster: blocks of documents or labels become tasks.

:class:`OnDask` has the two verbs of :class:`labelkin.scaling.blocks.Engine`. Whatever takes
``engine=`` takes one. In ``with using(OnDask(client)):`` the blocks of labels of
:class:`labelkin.PlattSVM` and of the neighbourhoods of :class:`labelkin.LogisticLabels`, and the
queries of :class:`labelkin.NearestNeighbours` are its tasks; and so they are under
``joblib.parallel_config(backend="dask")``. The answers are those of one machine, to the last bit.

What all tasks share, a model or all documents, is itself the answer of a task. A worker that dies
takes nothing along that could not be made again: scattered data, which have no recipe, are never
used.
"""

from __future__ import annotations

import pickle
import secrets
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from joblib.parallel import get_active_backend

from labelkin.files import write_atomic
from labelkin.scaling.blocks import Engine, Local

#: Seconds in which a scheduler, and a worker of it, must answer.
_PATIENCE = 10.0

_in_use: ContextVar[Engine | None] = ContextVar("engine", default=None)


class OnDask:
    """On the workers of a Dask cluster, which have labelkin installed.

    Parameters
    ----------
    client : distributed.Client
        Of any cluster: a ``LocalCluster``, or one that a scheduler's address leads to.
    folder : path, optional
        One that this process and all workers see. What tasks share goes through a file in it;
        otherwise the scheduler keeps it, which is fine up to some hundred megabytes.
    retries : int, default 3
        How often a block is tried again that a worker could not do.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     OnDask(client).fold(len, int.__add__, [["a", "b"], ["c"]])
    3
    """

    def __init__(self, client: Any, folder: str | Path | None = None, retries: int = 3) -> None:
        self.client = client
        self.folder = None if folder is None else Path(folder)
        self.retries = retries

    def map(
        self, function: Callable[..., Any], blocks: Iterable[Any], /, **shared: Any
    ) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order.

        Parameters
        ----------
        function : callable
            Named at the top of a module that the workers can import.
        blocks : iterable, or Dask array, bag or dataframe
            Of a Dask collection the parts; they need never come here. See :func:`partitions`.
        **shared
            What all blocks need.
        """
        with self._sharing(shared) as common:
            futures: deque[Any] = deque()
            ahead = self._ahead()
            for block in _parts(blocks):
                futures.append(self._submit(function, block, common))
                if len(futures) > ahead:
                    yield futures.popleft().result()
            while futures:
                yield futures.popleft().result()

    def fold(
        self,
        count: Callable[..., Any],
        add: Callable[[Any, Any], Any],
        blocks: Iterable[Any],
        /,
        **shared: Any,
    ) -> Any:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree.

        It is the tree of :meth:`labelkin.scaling.blocks.Local.fold`, with promises in the place of
        sums: a sum stays on its worker until another task adds to it. Counts are large, so a task
        counts and adds four neighbours.
        """
        waiting: deque[Any] = deque()
        together = _together(blocks)
        ahead = self._ahead()

        def counted(some: list[Any], common: Any) -> Any:
            if len(waiting) > ahead:
                failed = waiting.popleft().exception()  # waits, and leaves the count where it is
                if failed is not None:
                    raise failed
            if together == 1:
                waiting.append(self._submit(count, some[0], common))
            else:
                waiting.append(self._task(partial(_fold, count, add, some), common))
            return waiting[-1]

        def added(one: Any, other: Any) -> Any:
            return self._task(partial(_add, add), one, other)

        with self._sharing(shared) as common:
            # A power of two of neighbours each, so that their trees are parts of the same tree.
            batches = _batches(_parts(blocks), together)
            return Local().fold(counted, added, batches, common=common).result()

    def _submit(self, function: Callable[..., Any], block: Any, common: Any) -> Any:
        """Submit a block; a part of a collection is computed where it is worked on."""
        if _is_promised(block):
            return self._task(_apply, function, self._promise(block), common)
        # Inside the callable Dask does not look for promises among thousands of documents.
        return self._task(partial(_apply, function, block), common)

    def _promise(self, block: Any) -> Any:
        if isinstance(block, tuple):
            return tuple(map(self._promise, block))
        if _is_future(block) or not _is_promised(block):
            return block
        return self.client.compute(block, retries=self.retries)

    def _task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        import dask

        named = function.args[0] if isinstance(function, partial) else function
        key = f"{getattr(named, '__name__', 'labelkin').strip('_')}-{secrets.token_hex(16)}"
        # Large blocks are meant: no advice to scatter them.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.client.submit(function, *arguments, key=key, retries=self.retries)

    @contextmanager
    def _sharing(self, shared: dict[str, Any]) -> Iterator[Any]:
        """Yield the promise of what is shared: a task that can be done again at any time."""
        if self.folder is None or not shared:
            yield self._task(partial(_value, shared))
            return
        path = self.folder.absolute() / f"shared-{secrets.token_hex(16)}.pickle"
        write_atomic(path, pickle.dumps(shared, protocol=5))
        try:
            yield self._task(_load, path)
        finally:
            path.unlink(missing_ok=True)

    def _ahead(self) -> int:
        """Blocks that are promised before the first is waited for: every worker has two."""
        return max(4, 2 * sum(self.client.nthreads().values()))


def partitions(*collections: Any) -> Iterator[Any]:
    """Return the parts of Dask arrays, bags or dataframes with the same parts, as blocks.

    Parameters
    ----------
    *collections : Dask array, bag or dataframe
        An array must have all its columns in one chunk.

    Returns
    -------
    iterator
        Of parts of one collection, or of tuples with a part of each.

    Examples
    --------
    >>> import dask.array as da
    >>> [part.compute().shape for part in partitions(da.ones((5, 2), chunks=(3, 2)))]
    [(3, 2), (2, 2)]
    """
    parts = [_delayed(collection) for collection in collections]
    sizes = [len(some) for some in parts]
    if len(set(sizes)) != 1:
        raise ValueError(
            f"Collections that go together must have as many parts, got {sizes}. Rechunk or "
            "repartition them."
        )
    return iter(parts[0]) if len(parts) == 1 else zip(*parts, strict=True)


@contextmanager
def connected(address: str) -> Iterator[OnDask]:
    """Yield the cluster whose scheduler has this address, ``tcp://host:8786``.

    Raises
    ------
    ValueError
        When no scheduler, or none with a worker, answers there.
    ConnectionError
        When the cluster is lost on the way: its scheduler, or, again and again, its workers.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.comm import CommClosedError
    except ImportError as error:
        raise ImportError('A cluster needs Dask: pip install "labelkin[dask]".') from error
    rule = "--dask must be the address of a Dask scheduler with workers"
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # of the address, the network, the other side's version
        raise ValueError(
            f"{rule}, got {address!r}, where none answers ({type(error).__name__}). Start one by "
            "`dask scheduler` and workers by `dask worker ADDRESS`, or leave --dask out to work "
            "here."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            raise ValueError(
                f"{rule}, got {address!r}, which has no worker. Start some by `dask worker "
                f"{address}`, or leave --dask out to work here."
            ) from None
        try:
            yield OnDask(client)
        except (CancelledError, CommClosedError, KilledWorker) as error:
            raise ConnectionError(
                f"The Dask cluster at {address} must stay until the work is done, and was lost "
                f"({type(error).__name__}). Give its workers more memory, or smaller blocks, and "
                "start again; or leave --dask out to work here."
            ) from error


@contextmanager
def using(engine: Engine | None) -> Iterator[Engine]:
    """Have everything in this context work on an engine, and yield it.

    ``None``: on the one that is in use already.

    Parameters
    ----------
    engine : OnDask, Local or None
        Where the work is done.

    Yields
    ------
    engine

    Examples
    --------
    >>> with using(Local()) as engine:
    ...     list(engine.map(len, ["tea", "sugar"]))
    [3, 5]
    """
    token = _in_use.set(engine_in_use() if engine is None else engine)
    try:
        yield engine_in_use()
    finally:
        _in_use.reset(token)


def engine_in_use() -> Engine:
    """Return where blocks are worked on here: an engine that is used, else this process.

    joblib's Dask backend is one. A task of a cluster does all its work by itself.
    """
    if _on_worker():
        return Local()
    used = _in_use.get()
    if used is not None:
        return used
    backend = get_active_backend()[0]
    if type(backend).__name__ == "DaskDistributedBackend":
        return OnDask(backend.client)
    return Local()


def _on_worker() -> bool:
    worker = sys.modules.get("distributed.worker")  # not loaded: this is no worker
    return worker is not None and hasattr(worker.thread_state, "execution_state")


def _parts(blocks: Any) -> Iterator[Any]:
    return partitions(blocks) if hasattr(blocks, "to_delayed") else iter(blocks)


def _together(blocks: Any) -> int:
    """Return how many neighbours one task counts: 4, or 1 if memory must hold one at a time."""
    return 1 if not isinstance(blocks, Sequence) or any(map(_is_promised, blocks)) else 4


def _batches(blocks: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while some := list(islice(blocks, size)):
        yield some


def _delayed(collection: Any) -> list[Any]:
    parts = collection.to_delayed()
    shape: tuple[int, ...] = getattr(parts, "shape", (len(parts),))
    if len(shape) > 1 and shape[1] > 1:
        raise ValueError(
            f"A block must hold whole documents, got an array with {shape[1]} chunks of columns. "
            "Use rechunk({1: -1})."
        )
    return parts.ravel().tolist() if hasattr(parts, "ravel") else list(parts)


def _is_promised(block: Any) -> bool:
    """Whether a block, or a part of it, is to be had from Dask: a collection's part, a future."""
    if type(block) is tuple:
        return any(map(_is_promised, block))
    return hasattr(block, "__dask_graph__") or _is_future(block)


def _is_future(block: Any) -> bool:
    from distributed import Future

    return isinstance(block, Future)


# What runs on workers.


def _apply(function: Callable[..., Any], block: Any, shared: dict[str, Any]) -> Any:
    return function(block, **shared)


def _fold(
    count: Callable[..., Any], add: Callable[[Any, Any], Any], blocks: Any, shared: dict[str, Any]
) -> Any:
    return Local().fold(count, add, blocks, **shared)


def _add(add: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    return add(one, other)


def _value(value: Any) -> Any:
    return value


def _load(path: Path) -> Any:
    return pickle.loads(path.read_bytes())
