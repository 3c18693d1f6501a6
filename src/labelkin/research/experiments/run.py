"""Do the runs of an experiment that are not there yet; stop and go on at any moment.

A run is done by whoever holds its lock. Who finds it taken goes on with others and comes back, so
several processes on one folder share the work, and each of them ends when all is done.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from scipy import sparse
from threadpoolctl import threadpool_limits

from labelkin.files import csv_text, write_atomic
from labelkin.odds import log_odds_of
from labelkin.research.experiments import run_folder as store
from labelkin.research.experiments.apart import Job, train_apart
from labelkin.research.experiments.plan import Control, CorpusChoice, Experiment, PlannedRun, Rival
from labelkin.research.experiments.prepared_corpus import PreparedCorpus, fit_features, prepare
from labelkin.research.experiments.reveal import reveal
from labelkin.research.experiments.run_folder import Results, Run
from labelkin.research.experiments.train import (
    Stopwatch,
    Trained,
    make_rival,
    make_rule,
    train_addition,
    train_content,
    train_control,
)
from labelkin.thresholds import LabelCut, ThresholdRule, fit_rule

#: Called with how much is done, of how much, and what comes next.
Progress = Callable[[int, int, str], None]


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
    corpora); one that would change runs that are there is an error.

    Parameters
    ----------
    experiment : Experiment
        What :func:`labelkin.research.experiments.read_experiment` returns.
    folder : path
        Where the runs go; made if need be.
    paths : mapping, optional
        Where corpora are, by name, if not where the experiment or ``$LABELKIN_DATA`` says.
    n_jobs : int, optional
        Threads, as joblib has it; what comes out is the same.
    progress : callable, optional
        Called with the number of runs that are done, of all runs, and the one that comes next.
    run_progress : callable, optional
        Called with the number of test documents that are done in the present run, of all, and what
        is being done.

    Returns
    -------
    Results

    Examples
    --------
    >>> from labelkin.research.experiments import find_experiment, run_experiment
    >>> results = run_experiment(find_experiment("demo"), "results")  # doctest: +SKIP
    >>> [run.system for run in results.runs][:2]  # doctest: +SKIP
    ['NB', 'NB+BLR+M1']
    """
    work = _Work(
        experiment, Path(folder), paths or {}, progress or _silent, run_progress or _silent
    )
    jobs: AbstractContextManager[Any] = nullcontext()
    if n_jobs is not None:
        jobs = parallel_config(n_jobs=n_jobs)
    # One thread for linear algebra: how many there are could show in the last digits.
    with threadpool_limits(1, "blas"), jobs:
        work.claim()
        work.do_what_is_missing()
    return work.results()


@dataclass
class _Work:
    """One process' part in an experiment, and what it knows to be done."""

    experiment: Experiment
    folder: Path
    paths: Mapping[str, Any]
    progress: Progress
    run_progress: Progress
    done: dict[tuple[str, str], Run] = field(default_factory=dict)
    corpus_work: _CorpusWork | None = None

    @cached_property
    def planned(self) -> tuple[PlannedRun, ...]:
        """All runs; one that starts from another comes after it."""
        return self.experiment.runs() + self.experiment.threshold_runs()

    def claim(self) -> None:
        """Check the runs that are there; only then say whose folder this is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with store.locked(self.folder / store.LOCKS / "experiment.lock", wait=True):
            for run in self.planned:
                self._look(run)
            write_atomic(self.folder / store.EXPERIMENT, self.experiment.text)

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
                self._report(f"waiting for {left[0].name} on {left[0].corpus}, which is being made")
                self._do(left[0], wait=True)
            missing = self._missing(left)
        self._report("done")

    def results(self) -> Results:
        """Return all runs in order."""
        names = [choice.name for choice in self.experiment.corpora]
        runs = [self.done[_key(run)] for run in self.planned]
        corpora = tuple(store.corpus_results(self.folder, name, runs) for name in names)
        return Results(self.experiment, corpora, self.folder)

    def _do(self, run: PlannedRun, *, wait: bool) -> None:
        """Do a run that is not there; if somebody else is at it, wait for them or let it be."""
        start = self.done.get(_key(run.start)) if run.start else None
        if run.start and start is None:
            return  # somebody is at it
        with store.locked(
            self.folder / run.corpus / store.LOCKS / f"{run.name}.lock", wait=wait
        ) as ours:
            if not ours or self._look(run):
                return
            self._report(f"{run.name} on {run.corpus}")
            self._work_on(run.corpus).make(run, start)
            self._look(run)

    def _work_on(self, corpus: str) -> _CorpusWork:
        """Return the work on a corpus; only the last one stays in memory."""
        if self.corpus_work is None or self.corpus_work.choice.name != corpus:
            choice = next(choice for choice in self.experiment.corpora if choice.name == corpus)
            place, path = self.folder / corpus, self.paths.get(corpus)
            self.corpus_work = _CorpusWork(self.experiment, choice, place, path, self.run_progress)
        return self.corpus_work

    def _look(self, run: PlannedRun) -> bool:
        """Return whether a run is there; the first time, check and remember it.

        A rival that was given up is there, unless it may now take longer.
        """
        if _key(run) not in self.done and store.folder_of(self.folder, run).exists():
            found = store.read_run(self.folder, run)
            limit = run.rival.time_limit if run.rival else None
            if found.out_of_time is None or (limit is not None and limit <= found.out_of_time):
                self.done[_key(run)] = found
        return _key(run) in self.done

    def _missing(self, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
        return [run for run in runs if _key(run) not in self.done]

    def _report(self, text: str) -> None:
        self.progress(len(self.done), len(self.planned), text)


@dataclass
class _CorpusWork:
    """What runs on one corpus share while they are made: the corpus, and fitted rescorers.

    Both are made when they are first needed: a corpus whose content evidence is there already is
    not even loaded.

    Attributes
    ----------
    experiment, choice
        What is made, and on which of its corpora.
    folder
        Of the corpus, in that of the experiment.
    path
        Where the corpus is; ``None``: where the experiment says.
    progress
        Called at every block of test documents.
    fixed
        By name additions that learn nothing from content: they serve all contents and seeds.
    checked
        Runs whose out-of-fold log-odds are known to be whole.
    """

    experiment: Experiment
    choice: CorpusChoice
    folder: Path
    path: str | os.PathLike[str] | None
    progress: Progress
    fixed: dict[str, Trained] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)

    def make(self, run: PlannedRun, start: Run | None) -> None:
        """Train a system and write its run; ``start`` is the run that it starts from."""
        if run.rival is not None:
            self._make_rival(run, run.rival, start)
        elif run.start and start and run.system.thresholds:
            self._make_decisions(run, run.start, start, make_rule(run.system.thresholds))
        else:
            self._make_log_odds(run, start)

    def restore(self) -> None:
        """Make what runs need besides themselves, if somebody has deleted it."""
        if not ((self.folder / store.TRUTH).exists() and (self.folder / store.FACTS).exists()):
            _ = self.corpus

    @cached_property
    def corpus(self) -> PreparedCorpus:
        """The corpus; its label sets are written down, or found to be those that are."""
        self.progress(0, 1, f"reading {self.choice.name}")
        corpus = prepare(self.choice, self.experiment.words, self.path)
        with store.locked(self.folder / store.LOCKS / "corpus.lock", wait=True):
            has_runs = any(self.folder.glob(f"{store.RUNS}/*@seed*/run.json"))
            if has_runs and (self.folder / store.FACTS).exists():
                self._check_same(corpus)
            store.write_truth(self.folder, corpus.Y_train, corpus.Y_test, corpus.ids)
            store.write_json(self.folder / store.FACTS, corpus.facts)
        return corpus

    def _check_same(self, corpus: PreparedCorpus) -> None:
        old = store.read_facts(self.folder).get("sha256")
        changed = store.first_difference(old, corpus.facts["sha256"])
        if changed:
            raise ValueError(
                f"The runs in {self.folder} were made on other data: the checksum of {changed}. "
                "Give them another folder (--out), or delete these."
            )

    def _make_log_odds(self, run: PlannedRun, start: Run | None) -> None:
        watch = Stopwatch()
        shape = self.corpus.Y_test.shape if start is None else start.log_odds().shape

        def report(what: str) -> None:
            self.progress(0, shape[0], f"{run.name}: {what}")

        trained = self._train(run, run.keeps_out_of_fold, report)
        if run.keeps_out_of_fold:
            self._keep_out_of_fold(run, lambda: trained)
        report("documents")
        documents: Iterator[Any]
        if start is None:
            weights = self.choice.content[run.system.content].weights
            documents = self.corpus.test_blocks(weights)
        else:
            documents = store.blocks_of(start.log_odds())
        blocks = self._counted(map(trained.log_odds, documents), run, shape[0])
        record = {**run.record(), "shape": shape, "learned": trained.learned}
        with store.new_run(self.folder / store.RUNS / run.name, record) as part:
            store.write_log_odds(part, blocks, shape, float(log_odds_of(self.experiment.threshold)))
            record["seconds"] = {**watch.seconds(), **trained.seconds}
            if start is not None and run.configuration.get("reveal"):
                report("known labels")
                truth = store.read_truth(self.folder)[1]
                record["revealed"] = reveal(trained.log_odds, np.array(start.log_odds()), truth)

    def _make_decisions(
        self, run: PlannedRun, scored: PlannedRun, start: Run, rule: ThresholdRule
    ) -> None:
        """Tune a threshold rule out of fold, and decide on another run's log-odds."""
        watch = Stopwatch()
        scores = start.log_odds()
        self.progress(0, scores.shape[0], f"{run.name}: learning")
        unseen = self._out_of_fold(scored)
        learning = Stopwatch()
        fit_rule(rule, unseen, self._labels)
        learned = learning.seconds("learning_")
        # A rule that looks at all documents together gets them all.
        whole = [store.in_memory(scores)] if rule.needs_batch else store.blocks_of(scores)
        blocks = self._counted(map(rule.decide, whole), run, scores.shape[0])
        record = {**run.record(), "shape": scores.shape, "log_odds_of": scored.name}
        with store.new_run(self.folder / store.RUNS / run.name, record) as part:
            store.write_array(part / store.DECISIONS, blocks, np.bool_, scores.shape)
            write_atomic(part / store.CUTS, csv_text([LabelCut._fields, *rule.table()]))
            record["seconds"] = {**watch.seconds(), **learned}

    def _make_rival(self, run: PlannedRun, rival: Rival, start: Run | None) -> None:
        """Train a rival in a process of its own; one that takes too long leaves a note."""
        watch, shape = Stopwatch(), self.corpus.Y_test.shape
        self.progress(0, shape[0], f"{run.name}: learning")
        features, X = fit_features(rival, self.corpus)
        tests = [features.transform(block) for block in self.corpus.test_blocks()]
        stack = sparse.vstack if sparse.issparse(tests[0]) else np.vstack
        job = Job(make_rival(rival, run.seed), X, self.corpus.Y_train, stack(tests))
        if start is not None and run.start is not None:
            unseen, content = np.array(self._out_of_fold(run.start)), np.array(start.log_odds())
            job = job._replace(unseen=unseen, content=content)
        answer = train_apart(job, rival.time_limit)
        record = {**run.record(), "shape": shape, "seconds": watch.seconds()}
        place = self.folder / store.RUNS / run.name
        shutil.rmtree(place, ignore_errors=True)  # given up under a shorter limit
        with store.new_run(place, record) as part:
            if answer is None:
                record["out_of_time"] = rival.time_limit
                return
            store.write_array(part / store.LOG_ODDS, [answer.log_odds], np.float64, shape)
            store.write_array(part / store.DECISIONS, [answer.decisions], np.bool_, shape)
            record["seconds"] |= {**answer.seconds, "cpu": sum_of_cpu(answer.seconds)}
            record |= {"memory": answer.memory, "warnings": answer.warnings}

    def _train(self, run: PlannedRun, out_of_fold: bool, report: Callable[[str], None]) -> Trained:
        addition = run.system.addition
        if addition is None or run.start is None:
            content = self.choice.content[run.system.content]
            return train_content(content, run.seed, self.corpus, report, out_of_fold=out_of_fold)
        report("learning")
        if isinstance(addition, Control):
            return train_control(addition, self._labels, np.array(self._out_of_fold(run.start)))
        if out_of_fold or addition.learns_from_content:
            unseen = store.in_memory(self._out_of_fold(run.start))
            return train_addition(addition, self._labels, unseen, out_of_fold=out_of_fold)
        if addition.name not in self.fixed:
            self.fixed[addition.name] = train_addition(addition, self._labels, None)
        return self.fixed[addition.name]

    @cached_property
    def _labels(self) -> Any:
        return store.read_truth(self.folder)[0]

    def _out_of_fold(self, run: PlannedRun) -> Any:
        """Return a run's log-odds of the training documents as if unseen, ``(n_train, n_labels)``.

        They are made when the run itself is, if others will need them, and kept in a folder of
        their own: an experiment that grows can make them later without touching the run.
        """
        place = self.folder / store.UNSEEN / run.name
        if run.name not in self.checked:
            self._keep_out_of_fold(run, lambda: self._train(run, True, lambda text: None))
            store.read_record(place, run, {store.OUT_OF_FOLD: np.float64})
            self.checked.add(run.name)
        return store.read_array(place / store.OUT_OF_FOLD)

    def _keep_out_of_fold(self, run: PlannedRun, train: Callable[[], Trained]) -> None:
        """Write out-of-fold log-odds, unless they are there."""
        place = self.folder / store.UNSEEN / run.name
        lock = self.folder / store.LOCKS / f"{run.name}.{store.UNSEEN}.lock"
        with store.locked(lock, wait=True):
            if place.exists():
                return
            trained = train()
            unseen = trained.out_of_fold
            if unseen is None:
                raise TypeError(f"{run.name} was trained without its out-of-fold log-odds.")
            record = {**run.record(), "seconds": trained.seconds, "shape": unseen.shape}
            with store.new_run(place, record) as part:
                store.write_array(part / store.OUT_OF_FOLD, [unseen], np.float64, unseen.shape)

    def _counted(self, blocks: Iterable[Any], run: PlannedRun, n_documents: int) -> Iterator[Any]:
        """Hand blocks on, and report how many documents they have been."""
        n_done = 0
        for block in blocks:
            yield block
            n_done += block.shape[0]
            self.progress(n_done, n_documents, f"{run.name}: documents")


def sum_of_cpu(seconds: Mapping[str, float]) -> float:
    """Return the processor's seconds of learning and predicting together."""
    return sum(value for key, value in seconds.items() if key.endswith("_cpu"))


def _key(run: PlannedRun) -> tuple[str, str]:
    return run.corpus, run.name


def _silent(done: int, total: int, text: str) -> None:
    pass
