"""Do the runs of an experiment that are not there yet; stop and go on at any moment.

A run is done by whoever holds its lock. Who finds it taken goes on with others and comes back, so
several processes on one folder share the work, and each of them ends when all is done.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from labelkin.experiment.corpus_work import CorpusWork, Progress
from labelkin.experiment.plan import Experiment, PlannedRun
from labelkin.experiment.run_folder import (
    EXPERIMENT,
    Results,
    Run,
    corpus_results,
    read_run,
    run_folder,
)
from labelkin.experiment.store import LOCKS, locked, write_whole


def run_experiment(
    experiment: Experiment,
    folder: str | os.PathLike[str],
    *,
    paths: Mapping[str, str | os.PathLike[str]] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    run_progress: Progress | None = None,
) -> Results:
    """Do all runs of an experiment that its folder does not have yet.

    It can be stopped or killed at any moment, and loses the run in progress at most; the next call
    goes on. Several processes may work on one folder. An experiment may grow (systems, seeds,
    corpora); one that would change runs that are there is refused.

    Parameters
    ----------
    experiment
        What :func:`labelkin.experiment.read_experiment` returns.
    folder
        Where the runs go; made if need be.
    paths
        Where corpora are, by name, if not where the experiment or ``$LABELKIN_DATA`` says.
    n_jobs
        Threads, as joblib has it; what comes out is the same.
    progress
        Called with the number of runs that are done, of all runs, and the one that comes next.
    run_progress
        Called with the number of test documents that are done in the present run, of all, and what
        is being done.
    """
    work = _Work(
        experiment, Path(folder), dict(paths or {}), progress or _silent, run_progress or _silent
    )
    # One thread for linear algebra: how many there are could show in the last digits.
    with threadpool_limits(1, "blas"), _jobs(n_jobs):
        work.claim()
        work.do_what_is_missing()
    return work.results()


class _Work:
    """One process' part in an experiment, and what it knows to be done."""

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        paths: dict[str, Any],
        progress: Progress,
        run_progress: Progress,
    ) -> None:
        self.experiment = experiment
        self.folder = folder
        self.paths = paths
        self.progress = progress
        self.run_progress = run_progress
        self.planned = experiment.runs() + experiment.threshold_runs()
        self.done: dict[tuple[str, str], Run] = {}
        self._corpus_work: CorpusWork | None = None

    def claim(self) -> None:
        """Check the runs that are there; only then say whose folder this is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder / LOCKS / "experiment.lock", wait=True):
            for run in self.planned:
                self._look(run)
            write_whole(self.folder / EXPERIMENT, self.experiment.text.encode())

    def do_what_is_missing(self) -> None:
        """Do run after run; those that others are at are left for later, and waited for at last."""
        for corpus in dict.fromkeys(corpus for corpus, _ in self.done):
            self._work_on(corpus).restore()
        missing = self._missing(self.planned)
        while missing:
            for run in missing:
                self._do(run, wait=False)
            left = self._missing(missing)
            if len(left) == len(missing):
                self._tell(f"waiting for {left[0].name} on {left[0].corpus}, which is being made")
                self._do(left[0], wait=True)
            missing = self._missing(left)
        self._tell("done")

    def results(self) -> Results:
        """Return all runs in order."""
        names = [choice.name for choice in self.experiment.corpora]
        runs = [self.done[_key(run)] for run in self.planned]
        corpora = tuple(corpus_results(self.folder, name, runs) for name in names)
        return Results(self.experiment, corpora, self.folder)

    def _do(self, run: PlannedRun, *, wait: bool) -> None:
        """Do a run that is not there; if somebody else is at it, wait for them or let it be."""
        start = self.done.get(_key(run.start)) if run.start else None
        if run.start and start is None:
            return  # somebody is at it
        with locked(self.folder / run.corpus / LOCKS / f"{run.name}.lock", wait=wait) as ours:
            if not ours or self._look(run):
                return
            self._tell(f"{run.name} on {run.corpus}")
            self._work_on(run.corpus).make(run, start)
            self._look(run)

    def _work_on(self, corpus: str) -> CorpusWork:
        """Return the work on a corpus; only the last one stays in memory."""
        if self._corpus_work is None or self._corpus_work.choice.name != corpus:
            choice = next(choice for choice in self.experiment.corpora if choice.name == corpus)
            self._corpus_work = CorpusWork(
                self.experiment,
                choice,
                self.folder / corpus,
                self.paths.get(corpus),
                self.run_progress,
            )
        return self._corpus_work

    def _look(self, run: PlannedRun) -> bool:
        """Tell whether a run is there; the first time, check and remember it."""
        if _key(run) not in self.done and run_folder(self.folder, run).exists():
            self.done[_key(run)] = read_run(self.folder, run)
        return _key(run) in self.done

    def _missing(self, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
        return [run for run in runs if _key(run) not in self.done]

    def _tell(self, text: str) -> None:
        self.progress(len(self.done), len(self.planned), text)


def _key(run: PlannedRun) -> tuple[str, str]:
    return run.corpus, run.name


def _jobs(n_jobs: int | None) -> AbstractContextManager[Any]:
    return nullcontext() if n_jobs is None else parallel_config(n_jobs=n_jobs)


def _silent(done: int, total: int, text: str) -> None:
    pass
