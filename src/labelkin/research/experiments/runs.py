"""Runs of an experiment: trained if they are missing, stored in a result folder, checked and read.

::

    DIR/experiment.toml                    the experiment
    DIR/<corpus>/corpus.json               sizes, source, licence and checksums of the corpus
    DIR/<corpus>/truth.npz                 label sets of its training and test documents
    DIR/<corpus>/runs/<system>@seed<k>/    log_odds.npy, decisions.npy, run.json
    DIR/<corpus>/runs/<system>@<rule>@seed<k>/   decisions.npy, run.json

A run with a threshold rule decides on the log-odds of the run without it. Weights and cuts are
learned from ``out_of_fold.npy``, log-odds of the training documents, in the folder of a run that
others learn from. Arrays are mapped into memory: those of RCV1 have 79 million cells.

A run is written under another name, ``NB@seed0.part``, and renamed when it is complete: a folder
with the name of a run is complete, also after a kill. ``run.json`` contains the checksums of the
files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.lib.format import dtype_to_descr, write_array_header_1_0
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from labelkin import files
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.research.experiments.configuration import read_experiment
from labelkin.research.experiments.plan import (
    DECISIONS,
    LOG_ODDS,
    OUT_OF_FOLD,
    Control,
    CorpusChoice,
    Experiment,
    RelatedMethod,
    Run,
    Thresholds,
)
from labelkin.research.experiments.subprocess_runner import Job, run_in_subprocess
from labelkin.research.experiments.train import (
    PreparedCorpus,
    Stopwatch,
    Trained,
    block_slices,
    fit_features,
    make_related,
    make_rule,
    prepare,
    train_addition,
    train_content,
    train_control,
)
from labelkin.scaling.blocks import read_archive, read_block
from labelkin.thresholds import fit_rule

EXPERIMENT, TRUTH, FACTS, RECORD = "experiment.toml", "truth.npz", "corpus.json", "run.json"
#: Fields of a run that are results, in its record.
_RESULTS = ("versions", "seconds", "learned", "memory", "out_of_time", "warnings")
_PACKAGES = ("labelkin", "numpy", "scipy", "scikit-learn", "joblib", "numba", "PyStemmer")
#: Called with the number of finished items, the number of all, and the next item.
Progress = Callable[[int, int, str], None]


class DamagedRun(ValueError):  # noqa: N818
    """A run or a record of a corpus that is not what was written; the message names it."""


@dataclass(frozen=True)
class CorpusResults:
    """All runs on one corpus.

    Attributes
    ----------
    name
        Of the corpus.
    facts
        Its source, licence and sizes, and checksums of documents and labels.
    Y, Y_train
        The labels of test and training documents, in the form of
        :attr:`labelkin.corpora.Corpus.Y`.
    label_names
        The labels, in the order of the columns, ``(n_labels,)``.
    ids
        The identifiers of the test documents, ``(n_test,)``, if there are any.
    runs
        Runs with log-odds, in the order of the paper's tables, seed by seed.
    threshold_runs
        Runs with a threshold rule on the log-odds of another run.
    given_up
        Related methods that were stopped at their time limit.
    """

    name: str
    facts: Mapping[str, Any]
    Y: Any
    Y_train: Any
    label_names: NDArray[Any]
    ids: NDArray[Any] | None
    runs: tuple[Run, ...]
    threshold_runs: tuple[Run, ...] = ()
    given_up: tuple[Run, ...] = ()

    def run(self, system: str, seed: int | None = None) -> Run:
        """Return the run of a system, by default of the first seed."""
        every = [*self.runs, *self.threshold_runs]
        for run in every:
            if run.system == system and seed in (None, run.seed):
                return run
        systems = ", ".join(dict.fromkeys(run.system for run in every))
        raise ValueError(
            f"There is no run of {system!r} with seed {seed} on {self.name}. Systems: {systems}."
        )


@dataclass(frozen=True)
class Results:
    """The finished runs of an experiment."""

    experiment: Experiment
    corpora: tuple[CorpusResults, ...]
    folder: Path

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs on all corpora that have log-odds."""
        return tuple(run for corpus in self.corpora for run in corpus.runs)

    @property
    def threshold_runs(self) -> tuple[Run, ...]:
        """The runs on all corpora with a threshold rule on the log-odds of another run."""
        return tuple(run for corpus in self.corpora for run in corpus.threshold_runs)


def run_experiment(
    experiment: Experiment,
    folder: str | os.PathLike[str],
    *,
    paths: Mapping[str, str | os.PathLike[str]] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
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
    report = progress or (lambda done, total, text: None)
    jobs: Any = nullcontext() if n_jobs is None else parallel_config(n_jobs=n_jobs)
    # One thread for linear algebra: the number of threads could change the last digits.
    with _locked(folder), threadpool_limits(1, "blas"), jobs:
        runs, done = experiment.runs(), _stored_runs(folder, experiment)
        files.write_atomic(folder / EXPERIMENT, experiment.text)
        for choice in experiment.corpora:  # one corpus at a time is in memory
            path, place = (paths or {}).get(choice.name), folder / choice.name
            work = _CorpusWork(experiment, choice, place, path, done)
            if not all((place / name).exists() for name in (TRUTH, FACTS)):
                _ = work.corpus  # writes them
            for run in runs:
                if run.corpus == choice.name and run.place not in done:
                    report(len(done), len(runs), f"{run.name} on {run.corpus}")
                    work.make(run)
        report(len(done), len(runs), "done")
        return _results(folder, experiment, done)


def read_results(folder: str | os.PathLike[str], *, partial: bool = False) -> Results:
    """Read the results of an experiment; every array is checked, nothing is trained.

    Parameters
    ----------
    folder : path
        The result folder of :func:`labelkin.research.experiments.run_experiment`.
    partial : bool, default False
        Whether missing runs are left out instead of being an error.

    Returns
    -------
    Results

    Examples
    --------
    >>> from labelkin.research.experiments import read_results
    >>> read_results("results").runs[0].learned  # doctest: +SKIP
    {}
    """
    folder = Path(folder)
    if not (folder / EXPERIMENT).is_file():
        raise FileNotFoundError(
            f"{folder} must be the folder of an experiment, and has no {EXPERIMENT}."
        )
    experiment = read_experiment(folder / EXPERIMENT)
    runs, done = experiment.runs(), _stored_runs(folder, experiment)
    missing = [run for run in runs if run.place not in done]
    if missing and not partial:
        raise FileNotFoundError(
            f"{folder} is unfinished: {len(missing)} of {len(runs)} runs are missing, the first "
            f"is {missing[0].name} on {missing[0].corpus}. Run the experiment again to resume it. "
            "partial=True reads the finished runs."
        )
    return _results(folder, experiment, done)


def _results(folder: Path, experiment: Experiment, done: Mapping[str, Run]) -> Results:
    """Return the results on the corpora that have runs; ``done`` are runs by their place."""
    stored = [done[run.place] for run in experiment.runs() if run.place in done]
    corpora = []
    for corpus in dict.fromkeys(run.corpus for run in stored):
        train, test, ids = read_truth(folder / corpus)
        runs = [run for run in stored if run.corpus == corpus]
        corpora.append(
            CorpusResults(
                name=corpus,
                facts=_read_facts(folder / corpus),
                Y=test.public(),
                Y_train=train.public(),
                label_names=test.names,
                ids=ids,
                runs=tuple(run for run in runs if not run.thresholds and run.out_of_time is None),
                threshold_runs=tuple(run for run in runs if run.thresholds),
                given_up=tuple(run for run in runs if run.out_of_time is not None),
            )
        )
    return Results(experiment, tuple(corpora), folder)


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
    done
        The finished runs by their place.
    fixed
        By name additions that learn nothing from content: they serve all contents and seeds.
    """

    experiment: Experiment
    choice: CorpusChoice
    place: Path
    path: str | os.PathLike[str] | None
    done: dict[str, Run]
    fixed: dict[str, Trained] = field(default_factory=dict)

    @cached_property
    def corpus(self) -> PreparedCorpus:
        """The corpus; its label sets are written, or compared with those of the stored runs."""
        corpus = prepare(self.choice, self.experiment.words, self.path)
        self.place.mkdir(parents=True, exist_ok=True)
        if any(self.place.glob("runs/*@seed*/run.json")) and (self.place / FACTS).exists():
            old = _read_facts(self.place).get("sha256")
            changed = first_difference(old, corpus.facts["sha256"])
            if changed:
                raise ValueError(
                    f"The runs in {self.place} were made on other data: the checksum of "
                    f"{changed}. Use another folder (--out), or delete these."
                )
        ids = corpus.source.ids
        test_ids = None if ids is None else ids[corpus.source.test]
        write_truth(self.place, corpus.Y_train, corpus.Y_test, test_ids)
        write_json(self.place / FACTS, corpus.facts)
        return corpus

    @cached_property
    def _labels(self) -> LabelMatrix:
        return read_truth(self.place)[0]

    def make(self, run: Run) -> None:
        """Train a system and write its run."""
        write: Callable[..., Mapping[str, Any]] = self._write_log_odds
        if isinstance(run.step, RelatedMethod):
            write = self._write_related
        elif isinstance(run.step, Thresholds):
            write = self._write_decisions
        start = self.done[run.start.place] if run.start else None
        root = self.place.parent
        store_run(root, run, lambda part: write(part, run, start))
        self.done[run.place] = _read_run(root, run)

    def _write_log_odds(self, part: Path, run: Run, start: Run | None) -> dict[str, Any]:
        """Train content, an addition or a control, and score the test documents."""
        trained = self._train(run, start)
        if start is None:
            documents = self.corpus.test_blocks(self.choice.content[run.content].weights)
        else:
            documents = _blocks_of(start.log_odds())
        shape = self.corpus.Y_test.shape if start is None else start.log_odds().shape
        write_log_odds(part, map(trained.log_odds, documents), shape)
        if trained.out_of_fold is not None:
            _write_array(part / OUT_OF_FOLD, [trained.out_of_fold], trained.out_of_fold.shape)
        return {"seconds": trained.seconds, "learned": trained.learned}

    def _train(self, run: Run, start: Run | None) -> Trained:
        step: Any = run.step
        out_of_fold = run.keeps_out_of_fold
        if start is None:
            return train_content(step, run.seed, self.corpus, out_of_fold=out_of_fold)
        if isinstance(step, Control):
            return train_control(step, self._labels, np.array(start.out_of_fold()))
        if out_of_fold or step.learns_from_content:
            unseen = np.array(start.out_of_fold())
            return train_addition(step, self._labels, unseen, out_of_fold=out_of_fold)
        if step.name not in self.fixed:
            self.fixed[step.name] = train_addition(step, self._labels, None)
        return self.fixed[step.name]

    def _write_decisions(self, part: Path, run: Run, scored: Any) -> dict[str, Any]:
        """Tune a threshold rule out of fold, and decide on another run's log-odds."""
        step: Any = run.step
        rule, scores, watch = make_rule(step), scored.log_odds(), Stopwatch()
        fit_rule(rule, scored.out_of_fold(), self._labels)
        seconds = watch.seconds("learning_")
        # A rule that decides on all documents together gets them all.
        blocks = [np.array(scores)] if rule.needs_batch else _blocks_of(scores)
        _write_array(part / DECISIONS, map(rule.decide, blocks), scores.shape, np.bool_)
        return {"seconds": seconds}

    def _write_related(self, part: Path, run: Run, _: Any) -> dict[str, Any]:
        """Train a related method in a separate process; note if it reaches its time limit."""
        related: Any = run.step
        features, X = fit_features(related, self.corpus)
        tests = [features.transform(block) for block in self.corpus.test_blocks()]
        stack = sparse.vstack if sparse.issparse(tests[0]) else np.vstack
        job = Job(make_related(related, run.seed), X, self.corpus.Y_train, stack(tests))
        answer = run_in_subprocess(job, related.time_limit)
        if answer is None:
            return {"seconds": {}, "out_of_time": related.time_limit}
        _write_array(part / LOG_ODDS, [answer.log_odds], answer.log_odds.shape)
        _write_array(part / DECISIONS, [answer.decisions], answer.decisions.shape, np.bool_)
        results = ("seconds", "memory", "warnings")
        return {name: getattr(answer, name) for name in results}


# The files of a run


def _stored_runs(folder: Path, experiment: Experiment) -> dict[str, Run]:
    """Read the complete runs of an experiment by their place.

    A complete run has all files that others need. A related method that was stopped is not
    complete if it now has a longer time limit.
    """
    found = {}
    for run in experiment.runs():
        needed = [run.place]
        if run.keeps_out_of_fold:
            needed.append(f"{run.place}/{OUT_OF_FOLD}")
        if run.thresholds and run.start is not None:
            needed.append(run.start.place)
        if all((folder / name).exists() for name in needed):
            stored = _read_run(folder, run)
            limit = getattr(run.step, "time_limit", None) or float("inf")
            if stored.out_of_time is None or limit <= stored.out_of_time:
                found[run.place] = stored
    return found


def _read_run(root: Path, run: Run) -> Run:
    """Return a run with its results, after checking files and configuration."""
    folder = root / run.place
    try:
        record = json.loads((folder / RECORD).read_bytes())
        changed = first_difference(record["configuration"], run.configuration)
        results = {name: record[name] for name in _RESULTS if name in record}
        checksums = dict(record["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"{RECORD} cannot be read ({error!r})") from None
    for name, expected in checksums.items():
        if not (folder / name).is_file():
            raise _damaged(folder, f"{name} is missing")
        if (found := _sha256(folder / name)) != expected:
            raise _damaged(folder, f"{name} has the checksum {found}, and {RECORD} has {expected}")
    if changed:
        raise ValueError(
            f"The run {folder} is not of this experiment: {changed}. Use another folder (--out) "
            "for a changed experiment, or delete the runs that it changes."
        )
    return replace(run, folder=folder, **results)


def store_run(root: Path, run: Run, write: Callable[[Path], Mapping[str, Any]]) -> None:
    """Store a run in a folder that gets its name when it is complete.

    Parameters
    ----------
    root
        The result folder; an incomplete or stopped run there is replaced.
    run
        The run.
    write
        Function that writes the arrays to a folder, and returns the results for ``run.json``.
    """
    folder = root / run.place
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        results = write(part)
        names = ("system", "content", "addition", "thresholds", "corpus", "seed", "configuration")
        record = {name: getattr(run, name) for name in names}
        checksums = {path.name: _sha256(path) for path in part.iterdir()}
        record |= {"versions": _versions(), **results, "sha256": checksums}
        write_json(part / RECORD, record)
        shutil.rmtree(folder, ignore_errors=True)
        with files.annotate_os_errors(folder, part):
            part.rename(folder)
            files.names_to_disk(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_log_odds(part: Path, blocks: Iterable[Any], shape: tuple[int, int]) -> None:
    """Write blocks of log-odds, and the decisions: log-odds above 0."""
    _write_array(part / LOG_ODDS, blocks, shape)
    decided = (block > 0 for block in _blocks_of(read_block(part / LOG_ODDS)))
    _write_array(part / DECISIONS, decided, shape, np.bool_)


def _write_array(
    path: Path, blocks: Iterable[Any], shape: tuple[int, ...], dtype: Any = np.float64
) -> None:
    """Write an ``.npy`` file block by block: memory contains one block; reject NaN."""
    n_rows = 0
    header = {"descr": dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with files.annotate_os_errors(path), path.open("wb") as file:
        write_array_header_1_0(file, header)
        for block in blocks:
            if np.isnan(block).any():
                name = path.parent.name.removesuffix(".part")
                raise ValueError(f"{name}: log-odds must be numbers, got NaN.")
            file.write(np.ascontiguousarray(block, dtype=dtype).data)
            n_rows += len(block)
        files.to_disk(file)
    if n_rows != shape[0]:
        raise ValueError(f"{path}: got {n_rows} of {shape[0]} documents.")


def _blocks_of(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the rows of an array on disk in blocks, in memory."""
    return (np.array(array[rows]) for rows in block_slices(*array.shape))


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record of plain values."""
    files.write_atomic(path, f"{json.dumps(record, indent=1, sort_keys=True)}\n")


def write_truth(
    folder: Path, train: LabelMatrix, test: LabelMatrix, ids: NDArray[Any] | None
) -> None:
    """Write label sets and the test documents' names, in the folder of a corpus.

    Reports need no documents. They are plain arrays: objects become text, which needs no pickle.
    """
    arrays = {"names": test.names} if ids is None else {"names": test.names, "ids": ids}
    arrays = {k: v.astype(np.str_) if v.dtype == object else v for k, v in arrays.items()}
    for part, labels in (("train", train), ("test", test)):
        stored = sparse.csr_array(labels.public())
        for name in ("data", "indices", "indptr"):
            arrays[f"{part}_{name}"] = getattr(stored, name)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    files.write_atomic(folder / TRUTH, file.getvalue())


def read_truth(folder: Path) -> tuple[LabelMatrix, LabelMatrix, NDArray[Any] | None]:
    """Read the labels of training and test documents, and the test documents' names."""
    try:
        stored = read_archive(folder / TRUTH)
        names = stored["names"].tolist()
        parts = []
        for part in ("train", "test"):
            data, indices, indptr = (stored[f"{part}_{n}"] for n in ("data", "indices", "indptr"))
            shape = (len(indptr) - 1, len(names))
            labels = sparse.csr_array((data, indices, indptr), shape=shape)
            parts.append(read_labels(labels, names=names))
        return parts[0], parts[1], stored.get("ids")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder / TRUTH, repr(error)) from None


def _read_facts(folder: Path) -> dict[str, Any]:
    """Read sizes, source and checksums of a corpus from its folder."""
    try:
        return dict(json.loads((folder / FACTS).read_bytes()))
    except (OSError, ValueError) as error:
        raise _damaged(folder / FACTS, repr(error)) from None


def first_difference(old: Any, new: Any, place: str = "") -> str:
    """Return the first difference of two nested records; empty if they are equal.

    Examples
    --------
    >>> first_difference({"words": {"stem": True}}, {"words": {"stem": False}})
    'words.stem was True and is False'
    """
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        before, after = ("not given" if value is None else repr(value) for value in (old, new))
        return "" if old == new else f"{place} was {before} and is {after}"
    for key in sorted({*old, *new}):
        where = f"{place}.{key}" if place else key
        found = first_difference(old.get(key), new.get(key), where)
        if found:
            return found
    return ""


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a result folder; raise if another process holds it."""
    with (folder / ".lock").open("ab") as file:
        if not files.try_lock(file.fileno()):
            raise BlockingIOError(
                f"One process at a time must run an experiment in {folder}, and another one is "
                "running it. Wait for it, or use another folder (--out)."
            )
        yield  # closing the file releases the lock


@cache
def _versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that influence the results."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found


def _damaged(place: Path, why: str) -> DamagedRun:
    return DamagedRun(f"{place} is damaged: {why}. Delete it and run the experiment again.")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
