"""Run an experiment: train the systems whose runs are missing, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from scipy import sparse
from threadpoolctl import threadpool_limits

from labelkin.files import csv_text, write_atomic
from labelkin.label_matrix import LabelMatrix
from labelkin.research.experiments import run_folder as store
from labelkin.research.experiments.plan import (
    Control,
    CorpusChoice,
    Experiment,
    PlannedRun,
    RelatedMethod,
    Thresholds,
)
from labelkin.research.experiments.prepared_corpus import PreparedCorpus, fit_features, prepare
from labelkin.research.experiments.run_folder import Results, Run
from labelkin.research.experiments.subprocess_runner import Job, run_in_subprocess
from labelkin.research.experiments.train import (
    Stopwatch,
    Trained,
    make_related,
    make_rule,
    train_addition,
    train_content,
    train_control,
)
from labelkin.thresholds import LabelCut, fit_rule

#: Called with the number of finished items, the number of all, and the next item.
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
    """Train all systems of an experiment whose runs are missing in its folder.

    After an interruption or a kill the next call resumes; only the run in progress is repeated. An
    experiment may grow (systems, seeds, corpora); an experiment that would change finished runs is
    an error. One process at a time works in a folder.

    Parameters
    ----------
    experiment : Experiment
        An experiment of :func:`labelkin.research.experiments.read_experiment`.
    folder : path
        The result folder; created if missing.
    paths : mapping, optional
        The paths of corpora by name; by default those of the experiment or in ``$LABELKIN_DATA``.
    n_jobs : int, optional
        Number of threads, as in joblib; the results do not depend on it.
    progress : callable, optional
        Called with the number of finished runs, of all runs, and the next run.
    run_progress : callable, optional
        Called with the number of finished test documents in the present run, of all, and the
        present step.

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
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    jobs: Any = nullcontext() if n_jobs is None else parallel_config(n_jobs=n_jobs)
    # One thread for linear algebra: the number of threads could change the last digits.
    with store.locked(folder), threadpool_limits(1, "blas"), jobs:
        return _run_missing(experiment, folder, paths or {}, progress, run_progress)


def _run_missing(
    experiment: Experiment,
    folder: Path,
    paths: Mapping[str, Any],
    progress: Progress | None,
    run_progress: Progress | None,
) -> Results:
    report = progress or (lambda done, total, text: None)
    planned = experiment.runs() + experiment.threshold_runs()
    done = {
        run.place: found
        for run in planned
        if store.is_complete(folder / run.place, run)
        for found in [store.read_run(folder, run)]
        if not _has_more_time(run, found)
    }
    write_atomic(folder / store.EXPERIMENT, experiment.text)
    for choice in experiment.corpora:  # one corpus at a time is in memory
        path, place = paths.get(choice.name), folder / choice.name
        work = _CorpusWork(experiment, choice, place, path, run_progress, done)
        if not all((place / name).exists() for name in (store.TRUTH, store.FACTS)):
            _ = work.corpus  # writes them
        for run in planned:
            if run.corpus == choice.name and run.place not in done:
                report(len(done), len(planned), f"{run.name} on {run.corpus}")
                work.make(run)
                done[run.place] = store.read_run(folder, run)
    report(len(done), len(planned), "done")
    runs = [done[run.place] for run in planned]
    corpora = tuple(store.corpus_results(folder, one.name, runs) for one in experiment.corpora)
    return Results(experiment, corpora, folder)


def _has_more_time(run: PlannedRun, found: Run) -> bool:
    """Return whether a related method that was stopped now has a longer time limit."""
    limit = run.related.time_limit if run.related else None
    return found.out_of_time is not None and (limit is None or limit > found.out_of_time)


@dataclass
class _CorpusWork:
    """The corpus and the fitted rescorers that runs on one corpus share.

    If all content evidence is stored, the corpus is not loaded.

    Attributes
    ----------
    experiment, choice
        The experiment, and one of its corpora.
    place
        The folder of the corpus in the result folder.
    path
        The path of the corpus; ``None``: that of the experiment.
    progress
        Called at every block of test documents.
    done
        The finished runs by their place.
    fixed
        By name additions that learn nothing from content: they serve all contents and seeds.
    """

    experiment: Experiment
    choice: CorpusChoice
    place: Path
    path: str | os.PathLike[str] | None
    progress: Progress | None
    done: dict[str, Run]
    fixed: dict[str, Trained] = field(default_factory=dict)

    def make(self, run: PlannedRun) -> None:
        """Train a system and write its run."""
        start = self.done[run.start.place] if run.start else None
        if run.related is not None:
            self._make_related(run, run.related)
        elif run.thresholds and start:
            self._make_decisions(run, start, run.thresholds)
        else:
            self._make_log_odds(run, start)

    @cached_property
    def corpus(self) -> PreparedCorpus:
        """The corpus; its label sets are written, or compared with those of the stored runs."""
        if self.progress is not None:
            self.progress(0, 1, f"reading {self.choice.name}")
        corpus = prepare(self.choice, self.experiment.words, self.path)
        self.place.mkdir(parents=True, exist_ok=True)
        if any(self.place.glob("runs/*@seed*/run.json")) and (self.place / store.FACTS).exists():
            old = store.read_facts(self.place).get("sha256")
            changed = store.first_difference(old, corpus.facts["sha256"])
            if changed:
                raise ValueError(
                    f"The runs in {self.place} were made on other data: the checksum of "
                    f"{changed}. Use another folder (--out), or delete these."
                )
        store.write_truth(self.place, corpus.Y_train, corpus.Y_test, corpus.ids)
        store.write_json(self.place / store.FACTS, corpus.facts)
        return corpus

    @cached_property
    def _labels(self) -> LabelMatrix:
        return store.read_truth(self.place)[0]

    def _make_log_odds(self, run: PlannedRun, start: Run | None) -> None:
        shape = self.corpus.Y_test.shape if start is None else start.log_odds().shape
        self._report(run, 0, shape[0], "learning")
        trained = self._train(run, start)
        self._report(run, 0, shape[0], "documents")
        if start is None:
            documents = self.corpus.test_blocks(self.choice.content[run.content].weights)
        else:
            documents = store.blocks_of(start.log_odds())
        blocks = self._counted(map(trained.log_odds, documents), run, shape[0])
        record = {**run.record(), "learned": trained.learned}
        with store.new_run(self.place / "runs" / run.name, record) as part:
            store.write_log_odds(part, blocks, shape)
            if trained.out_of_fold is not None:
                unseen = trained.out_of_fold
                store.write_array(part / store.OUT_OF_FOLD, [unseen], np.float64, unseen.shape)
            record["seconds"] = trained.seconds

    def _train(self, run: PlannedRun, start: Run | None) -> Trained:
        addition, out_of_fold = run.addition, run.keeps_out_of_fold
        if addition is None or start is None:
            content = self.choice.content[run.content]
            return train_content(content, run.seed, self.corpus, out_of_fold=out_of_fold)
        if isinstance(addition, Control):
            return train_control(addition, self._labels, np.array(start.out_of_fold()))
        if out_of_fold or addition.learns_from_content:
            unseen = np.array(start.out_of_fold())
            return train_addition(addition, self._labels, unseen, out_of_fold=out_of_fold)
        if addition.name not in self.fixed:
            self.fixed[addition.name] = train_addition(addition, self._labels, None)
        return self.fixed[addition.name]

    def _make_decisions(self, run: PlannedRun, scored: Run, thresholds: Thresholds) -> None:
        """Tune a threshold rule out of fold, and decide on another run's log-odds."""
        rule, scores = make_rule(thresholds), scored.log_odds()
        self._report(run, 0, len(scores), "learning")
        watch = Stopwatch()
        fit_rule(rule, scored.out_of_fold(), self._labels)
        seconds = watch.seconds("learning_")
        # A rule that decides on all documents together gets them all.
        whole = [np.array(scores)] if rule.needs_batch else store.blocks_of(scores)
        blocks = self._counted(map(rule.decide, whole), run, len(scores))
        record = {**run.record(), "seconds": seconds}
        with store.new_run(self.place / "runs" / run.name, record) as part:
            store.write_array(part / store.DECISIONS, blocks, np.bool_, scores.shape)
            write_atomic(part / store.CUTS, csv_text([LabelCut._fields, *rule.table()]))

    def _make_related(self, run: PlannedRun, related: RelatedMethod) -> None:
        """Train a related method in a separate process; note if it reaches its time limit."""
        shape = self.corpus.Y_test.shape
        self._report(run, 0, shape[0], "learning")
        features, X = fit_features(related, self.corpus)
        tests = [features.transform(block) for block in self.corpus.test_blocks()]
        stack = sparse.vstack if sparse.issparse(tests[0]) else np.vstack
        job = Job(make_related(related, run.seed), X, self.corpus.Y_train, stack(tests))
        answer = run_in_subprocess(job, related.time_limit)
        record = {**run.record(), "seconds": {}}
        with store.new_run(self.place / "runs" / run.name, record) as part:
            if answer is None:
                record["out_of_time"] = related.time_limit
                return
            store.write_array(part / store.LOG_ODDS, [answer.log_odds], np.float64, shape)
            store.write_array(part / store.DECISIONS, [answer.decisions], np.bool_, shape)
            record["seconds"] = answer.seconds
            record |= {"memory": answer.memory, "warnings": answer.warnings}

    def _counted(self, blocks: Iterable[Any], run: PlannedRun, n_documents: int) -> Iterator[Any]:
        """Yield blocks, and report the number of documents in them."""
        n_done = 0
        for block in blocks:
            yield block
            n_done += block.shape[0]
            self._report(run, n_done, n_documents, "documents")

    def _report(self, run: PlannedRun, n_done: int, n_documents: int, what: str) -> None:
        if self.progress is not None:
            self.progress(n_done, n_documents, f"{run.name}: {what}")
