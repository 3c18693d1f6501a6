"""What a cluster costs beyond the work: ``python -m benchmarks.cluster`` (needs the extra dask).

The same blocks of made documents are predicted, rescored, judged and counted here and on two worker
processes of this machine, in turn. Costs are CPU seconds of all processes, less what an idle
cluster takes in the same time. What starting the cluster takes is printed, and not among them.

Dask has its workers hand freed memory back to the system at once (``MALLOC_TRIM_THRESHOLD_``), so
that every large array is made of new pages; this process keeps them. ``--keep-memory`` starts
workers that do, too: what is left is what distributing costs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.scale import made_labels
from labelkin import LabelRescorer, LogisticLabels, NaiveBayes
from labelkin.blocks import Local, row_blocks
from labelkin.distributed import OnDask
from labelkin.prediction import judge_blocks, predict_blocks, rescore_blocks


def made_documents(Y: sparse.csr_array, n_terms: int = 20_000, seed: int = 2) -> sparse.csr_array:
    """Return term counts: every label has 30 words of its own, and a document 60 of any."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, n_terms, (Y.shape[1], 30))
    cells = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    ours = words[np.repeat(Y.indices, 8), rng.integers(0, 30, 8 * Y.nnz)]
    others = rng.integers(0, n_terms, 60 * Y.shape[0])
    rows = np.concatenate([np.repeat(cells, 8), np.repeat(np.arange(Y.shape[0]), 60)])
    ones = np.ones(len(rows))
    return sparse.csr_array((ones, (rows, np.concatenate([ours, others]))), (Y.shape[0], n_terms))


def main() -> None:
    """Print a table of CPU seconds here and on the cluster."""
    import dask
    import psutil
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--block", type=int, default=10_000, help="documents of a block")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep-memory", action="store_true", help="as this process does")
    asked = parser.parse_args()
    Y = made_labels(asked.documents, asked.labels)
    X = made_documents(Y)
    model = NaiveBayes(top=50).fit(X[:20_000], Y[:20_000])
    rescorer = LabelRescorer(
        LogisticLabels(neighbours=16), evidence_weight=0.5, scale="log_odds"
    ).fit(Y[:20_000])
    with TemporaryDirectory() as folder:
        files = _saved(Path(folder), X, Y, model, asked.block)
        tasks: dict[str, Callable[..., Any]] = {
            "predict": lambda e, n=None: _consumed(
                predict_blocks(model, files["X"][:n], "log_odds", folder=f"{folder}/p", engine=e)
            ),
            "rescore candidates": lambda e, n=None: _consumed(
                rescore_blocks(rescorer, files["scores"][:n], folder=f"{folder}/r", engine=e)
            ),
            "evaluate": lambda e, n=None: judge_blocks(model, files["both"][:n], engine=e),
            "count naive Bayes": lambda e, n=None: NaiveBayes().fit_blocks(
                files["both"][:n], engine=e
            ),
        }

        def cpu() -> float:
            processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
            return sum(sum(process.cpu_times()[:2]) for process in processes)

        def spent(work: Callable[[], Any], idle: float = 0.0) -> tuple[float, float]:
            start, before = time.perf_counter(), cpu()
            work()
            wall = time.perf_counter() - start
            return cpu() - before - idle * wall, wall

        print(f"{asked.documents:,} documents in blocks of {asked.block:,}, {asked.labels} labels")
        start, before = time.perf_counter(), cpu()
        trim = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
        with (
            dask.config.set(trim if asked.keep_memory else {}),
            LocalCluster(
                2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            on_dask = OnDask(client)
            _ = [task(on_dask, 2) for task in tasks.values()]  # both import what they need
            took = f"{cpu() - before:.1f} s CPU, {time.perf_counter() - start:.1f} s"
            print(f"start of the cluster, imports and compiled code: {took}; not counted below")
            _ = [task(Local(), 1) for task in tasks.values()]
            idle = spent(lambda: time.sleep(10))[0] / 10  # heartbeats, per second
            print(f"an idle cluster takes {idle:.3f} s CPU per second; taken off below")
            for name, task in tasks.items():
                engines = {"here": Local(), "cluster": on_dask}
                rounds = [
                    {where: spent(partial(task, e), idle) for where, e in engines.items()}
                    for _ in range(asked.rounds)
                ]
                here, there = (
                    [median(one[where][k] for one in rounds) for k in range(2)] for where in engines
                )
                print(
                    f"{name:20} CPU: here {here[0]:6.2f} s  cluster {there[0]:6.2f} s  "
                    f"× {there[0] / here[0]:.2f}   wall: {here[1]:6.2f} s  {there[1]:6.2f} s",
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
