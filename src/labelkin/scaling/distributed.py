"""Blocks on a Dask cluster: blocks of documents or labels become tasks.

:class:`OnDask` has the methods of :class:`labelkin.scaling.blocks.Engine`, and is accepted wherever
there is a parameter ``engine``. In ``with using(OnDask(client)):`` the blocks of labels of
:class:`labelkin.PlattSVM` and of the neighbourhoods of :class:`labelkin.LogisticLabels`, and the
queries of :class:`labelkin.NearestNeighbours` are its tasks; also under
``joblib.parallel_config(backend="dask")``. Results equal those of one machine to the last bit.

Data that all tasks share, a model or all documents, are the result of a task, so that they can be
computed again if a worker dies. Scattered data cannot, and are never used.
"""

from __future__ import annotations

import pickle
import secrets
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from labelkin.files import write_atomic
from labelkin.scaling.blocks import Engine, Function, Local
from labelkin.scaling.progress import track

#: Seconds in which a scheduler, and one of its workers, must answer.
_PATIENCE = 10.0

_in_use: ContextVar[Engine | None] = ContextVar("engine", default=None)


class OnDask:
    """An engine whose blocks are computed by the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        Of any cluster, such as a ``LocalCluster``; its workers have labelkin installed.
    folder : path, optional
        A folder that this process and all workers can read. Data that tasks share are stored in a
        file there; otherwise by the scheduler, which suits some hundred megabytes.
    retries : int, default 3
        How often a block that failed is computed again.

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

    def map(self, function: Function, blocks: Iterable[Any], /, **shared: Any) -> Iterator[Any]:
        """Yield ``function(block, **shared)`` of every block, in their order.

        Parameters
        ----------
        function : callable
            Defined at the top of a module that the workers can import.
        blocks : iterable, or Dask array, bag or dataframe
            Parts of a Dask collection stay on the workers. See :func:`partitions`.
        **shared
            Arguments for all blocks.
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

    def fold(self, count: Function, add: Function, blocks: Iterable[Any], /, **shared: Any) -> Any:
        """Return the sum of ``count(block, **shared)`` over the blocks, in the fixed tree.

        It is the tree of :meth:`labelkin.scaling.blocks.Local.fold`, with futures instead of sums:
        a sum stays on its worker until another task adds to it. Counts are large, so a task counts
        and adds four neighbours of a list.
        """
        if isinstance(blocks, Sequence) and not any(map(_is_delayed, blocks)):
            # A power of two of neighbours each, so that their trees are parts of the same tree.
            blocks = [blocks[i : i + 4] for i in range(0, len(blocks), 4)]
            count = partial(_fold, count, add)
        waiting: deque[Any] = deque()
        ahead = self._ahead()

        def counted(block: Any, common: Any) -> Any:
            if len(waiting) > ahead:
                failed = waiting.popleft().exception()  # waits, and leaves the count on its worker
                if failed is not None:
                    raise failed
            waiting.append(self._submit(count, block, common))
            return waiting[-1]

        with self._sharing(shared) as common:
            total = Local().fold(counted, partial(self._task, add), _parts(blocks), common=common)
            return total.result()

    def _submit(self, function: Function, block: Any, common: Any) -> Any:
        """Submit a block; a part of a collection is computed by the worker of its task."""
        if _is_delayed(block):
            return self._task(_apply, function, self._computed(block), common)
        # Inside the callable Dask does not search thousands of documents for futures.
        return self._task(partial(_apply, function, block), common)

    def _computed(self, block: Any) -> Any:
        if isinstance(block, tuple):
            return tuple(map(self._computed, block))
        return self.client.compute(block, retries=self.retries) if _is_delayed(block) else block

    def _task(self, function: Function, *arguments: Any) -> Any:
        import dask

        named: Any = function
        while isinstance(named, partial):
            named = named.args[0]
        key = f"{getattr(named, '__name__', 'labelkin').strip('_')}-{secrets.token_hex(16)}"
        # Large blocks are meant: no advice to scatter them.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.client.submit(function, *arguments, key=key, retries=self.retries)

    @contextmanager
    def _sharing(self, shared: dict[str, Any]) -> Iterator[Any]:
        """Yield the future of shared data: a task that can be run again at any time."""
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
        """Return how many blocks are submitted before the first result: two per thread."""
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
        If no scheduler with a worker answers at the address.
    ConnectionError
        If the scheduler is lost later, or workers are lost repeatedly.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.comm import CommClosedError
    except ImportError as error:
        raise ImportError('A cluster needs Dask: pip install "labelkin[dask]".') from error
    with ExitStack() as stack:
        try:
            client = Client(address, timeout=_PATIENCE, set_as_default=False)
            stack.enter_context(client).wait_for_workers(1, timeout=_PATIENCE)
        except Exception as error:  # of the address, the network, the version of the scheduler
            raise ValueError(
                f"--dask must be the address of a Dask scheduler with workers, got {address!r}, "
                f"where none answers ({type(error).__name__}). Start one by `dask scheduler` and "
                "workers by `dask worker ADDRESS`, or leave --dask out to work here."
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
    """Use an engine for all blocks in this context, and yield it.

    Parameters
    ----------
    engine : OnDask, Local or None
        ``None``: the engine that is already in use.

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
    """Return the engine for blocks: one in use, joblib's Dask backend, or this process.

    A task of a cluster computes its blocks itself.
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


def map_parts(
    function: Function,
    parts: Sequence[Any],
    what: str,
    n_jobs: int | None,
    **shared: Any,
) -> list[Any]:
    """Return ``function(part, **shared)`` of every part, by threads or by the engine in use.

    Parameters
    ----------
    function, parts, **shared
        As in :meth:`OnDask.map`.
    what
        Name of the parts in progress reports.
    n_jobs
        Number of threads in this process.
    """
    engine = engine_in_use()
    if not isinstance(engine, Local):
        return list(engine.map(function, parts, **shared))
    # The parts must share memory, also with another backend of joblib.
    run = Parallel(n_jobs=n_jobs, require="sharedmem")
    return list(run(delayed(function)(part, **shared) for part in track(parts, what)))


def _on_worker() -> bool:
    worker = sys.modules.get("distributed.worker")  # not loaded: this is no worker
    return worker is not None and hasattr(worker.thread_state, "execution_state")


def _parts(blocks: Any) -> Iterator[Any]:
    return partitions(blocks) if hasattr(blocks, "to_delayed") else iter(blocks)


def _delayed(collection: Any) -> list[Any]:
    parts = collection.to_delayed()
    shape: tuple[int, ...] = getattr(parts, "shape", (len(parts),))
    if len(shape) > 1 and shape[1] > 1:
        raise ValueError(
            f"A block must hold whole documents, got an array with {shape[1]} chunks of columns. "
            "Use rechunk({1: -1})."
        )
    return parts.ravel().tolist() if hasattr(parts, "ravel") else list(parts)


def _is_delayed(block: Any) -> bool:
    """Return whether a block, or a part of it, is a part of a Dask collection."""
    if type(block) is tuple:
        return any(map(_is_delayed, block))
    return hasattr(block, "__dask_graph__")


# Functions of workers.


def _apply(function: Function, block: Any, shared: dict[str, Any]) -> Any:
    return function(block, **shared)


def _fold(count: Function, add: Function, blocks: Any, **shared: Any) -> Any:
    return Local().fold(count, add, blocks, **shared)


def _value(value: Any) -> Any:
    return value


def _load(path: Path) -> Any:
    return pickle.loads(path.read_bytes())
