"""The overhead of a cluster: ``python -m benchmarks.cluster`` (needs the extra dask).

The same blocks of synthetic documents are predicted, rescored and evaluated here and on two worker
processes of this machine, in turn. Costs are CPU seconds of all processes, less what an idle
cluster takes in the same time. What starting the cluster takes is printed, and not among them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.scale import made_labels
from labelkin import LabelRescorer, LogisticLabels, NaiveBayes
from labelkin.prediction import evaluate_model_blocks, predict_blocks, rescore_blocks
from labelkin.scaling.blocks import Local, row_blocks
from labelkin.scaling.distributed import OnDask


def made_documents(Y: sparse.csr_array, n_terms: int = 20_000, seed: int = 2) -> sparse.csr_array:
    """Return term counts: every label has 30 own words, and a document 60 of any."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, n_terms, (Y.shape[1], 30))
    cells = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    ours = words[np.repeat(Y.indices, 8), rng.integers(0, 30, 8 * Y.nnz)]
    others = rng.integers(0, n_terms, 60 * Y.shape[0])
    rows = np.concatenate([np.repeat(cells, 8), np.repeat(np.arange(Y.shape[0]), 60)])
    ones = np.ones(len(rows))
    return sparse.csr_array((ones, (rows, np.concatenate([ours, others]))), (Y.shape[0], n_terms))


class Overhead(NamedTuple):
    """The cost of a task here and on a cluster: CPU seconds of all processes, and wall time.

    Medians of the ratios of the rounds.
    """

    task: str
    here: float
    there: float
    wall_here: float
    wall_there: float
    ratios: list[float]

    @property
    def ratio(self) -> float:
        """How many times the CPU time of this process the cluster takes."""
        return self.there / self.here


def overheads(
    n_documents: int = 160_000,
    n_labels: int = 300,
    block: int = 10_000,
    rounds: int = 3,
    say: Callable[[str], None] = print,
) -> Iterator[Overhead]:
    """Measure every task here and on two worker processes, in turn; the medians of the rounds."""
    import psutil
    from distributed import Client, LocalCluster

    Y = made_labels(n_documents, n_labels)
    X = made_documents(Y)
    model = NaiveBayes(top=50).fit(X[:20_000], Y[:20_000])
    rescorer = LabelRescorer(
        LogisticLabels(neighbours=16), evidence_weight=0.5, scale="log_odds"
    ).fit(Y[:20_000])

    def cpu() -> float:
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        return sum(sum(process.cpu_times()[:2]) for process in processes)

    def spent(work: Callable[[], Any], idle: float = 0.0) -> tuple[float, float]:
        start, before = time.perf_counter(), cpu()
        work()
        wall = time.perf_counter() - start
        return cpu() - before - idle * wall, wall

    with TemporaryDirectory() as folder:
        tasks = _tasks(folder, model, rescorer, _saved(Path(folder), X, Y, model, block))
        say(f"{n_documents:,} documents in blocks of {block:,}, {n_labels} labels")
        start, before = time.perf_counter(), cpu()
        with (
            LocalCluster(
                2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            engines = {"here": Local(), "cluster": OnDask(client)}
            _ = [task(engines["cluster"], 4) for task in tasks.values()]  # both workers import
            took = f"{cpu() - before:.1f} s CPU, {time.perf_counter() - start:.1f} s"
            say(f"start of the cluster, imports and compiled code: {took}; not counted below")
            _ = [task(engines["here"], 1) for task in tasks.values()]
            idle = spent(lambda: time.sleep(10))[0] / 10  # heartbeats, per second
            say(f"an idle cluster takes {idle:.3f} s CPU per second; taken off below")
            for name, task in tasks.items():
                found = [
                    {where: spent(partial(task, e), idle) for where, e in engines.items()}
                    for _ in range(rounds)
                ]
                (here, wall_here), (there, wall_there) = (
                    [median(one[where][k] for one in found) for k in range(2)] for where in engines
                )
                ratios = [one["cluster"][0] / one["here"][0] for one in found]
                yield Overhead(name, here, there, wall_here, wall_there, ratios)


def _tasks(
    folder: str, model: Any, rescorer: LabelRescorer, files: dict[str, list[Any]]
) -> dict[str, Callable[..., Any]]:
    """Return what is measured: functions of an engine and of how many blocks, all if not said."""
    return {
        "predict": lambda e, n=None: _consumed(
            predict_blocks(model, files["X"][:n], "log_odds", folder=f"{folder}/p", engine=e)
        ),
        "rescore candidates": lambda e, n=None: _consumed(
            rescore_blocks(rescorer, files["scores"][:n], folder=f"{folder}/r", engine=e)
        ),
        "evaluate": lambda e, n=None: evaluate_model_blocks(model, files["both"][:n], engine=e),
        "count naive Bayes": lambda e, n=None: NaiveBayes().fit_blocks(files["both"][:n], engine=e),
    }


def main() -> None:
    """Print a table of CPU seconds here and on the cluster."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=160_000)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--block", type=int, default=10_000, help="documents of a block")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for one in overheads(asked.documents, asked.labels, asked.block, asked.rounds):
        print(
            f"{one.task:20} CPU: here {one.here:6.2f} s  cluster {one.there:6.2f} s  "
            f"× {one.ratio:.2f} ({min(one.ratios):.2f}–{max(one.ratios):.2f})   "
            f"wall: {one.wall_here:6.2f} s  {one.wall_there:6.2f} s",
            flush=True,
        )


def _saved(folder: Path, X: Any, Y: Any, model: Any, size: int) -> dict[str, list[Any]]:
    """Write blocks into a folder, from which both read them."""
    found: dict[str, list[Any]] = {"X": [], "both": [], "scores": []}
    for number, (some, labels) in enumerate(row_blocks(X, Y, size=size)):
        parts = {"x": some, "y": labels, "s": model.log_odds(some)}
        for name, part in parts.items():
            sparse.save_npz(folder / f"{name}{number:04}.npz", part, compressed=False)
        paths = [folder / f"{name}{number:04}.npz" for name in parts]
        found["X"].append(paths[0])
        found["both"].append((paths[0], paths[1]))
        found["scores"].append(paths[2])
    return found


def _consumed(answers: Any) -> int:
    return sum(1 for _ in answers)


if __name__ == "__main__":
    main()
