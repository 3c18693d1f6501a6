"""The result folder of an experiment: atomic writes, checks on reading.

::

    DIR/experiment.toml                    the experiment
    DIR/<corpus>/corpus.json               sizes, source, licence and checksums of the corpus
    DIR/<corpus>/truth.npz                 label sets of its training and test documents
    DIR/<corpus>/runs/<system>@seed<k>/    log_odds.npy, decisions.npy, run.json
    DIR/<corpus>/runs/<system>@<rule>@seed<k>/   decisions.npy, cuts.csv, run.json

A run with a threshold rule decides on the log-odds of the run without it. Weights and cuts are
learned from ``out_of_fold.npy``, log-odds of the training documents, in the folder of a run that
others learn from.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import dtype_to_descr, write_array_header_1_0
from numpy.typing import NDArray
from scipy import sparse

from labelkin import files
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.research.experiments.configuration import read_experiment
from labelkin.research.experiments.plan import Experiment, PlannedRun
from labelkin.scaling.blocks import read_archive, read_block

EXPERIMENT, TRUTH, FACTS = "experiment.toml", "truth.npz", "corpus.json"
LOG_ODDS, DECISIONS, RECORD = "log_odds.npy", "decisions.npy", "run.json"
OUT_OF_FOLD, CUTS = "out_of_fold.npy", "cuts.csv"

#: Documents × labels in memory at a time: 2²⁰ numbers are 8 MB.
_BLOCK_CELLS = 2**20
_PACKAGES = ("labelkin", "numpy", "scipy", "scikit-learn", "joblib", "numba", "PyStemmer")


class DamagedRun(ValueError):  # noqa: N818
    """A run or a record of a corpus that is not what was written; the message names it."""


@dataclass(frozen=True)
class Run:
    """One trained system: its settings, and its results for the test documents.

    Attributes
    ----------
    system
        Its name, ``"NB+BLR+M2"``.
    content, addition
        Its two parts, ``"NB"`` and ``"BLR+M2"``; the addition is empty for the content alone.
    thresholds
        The name of the threshold rule; empty if log-odds were cut at one number.
    corpus, seed
        The corpus and the seed it was trained with.
    configuration
        All settings that decided the result.
    versions
        Of Python and the packages it was made with.
    seconds
        ``"learning_wall"`` and ``"learning_cpu"`` of learning from training documents; of related
        methods also ``"predicting_wall"`` and ``"predicting_cpu"``.
    learned
        Learned numbers: ``"evidence_weight"`` of a learned weight.
    folder
        The folder of the run.
    log_odds_folder
        The folder of its log-odds: that of another run if a rule decided.
    memory
        The peak memory of the process of a related method, in bytes; ``None``: not measured.
    out_of_time
        The time limit at which a related method was stopped; there are no log-odds then.
    warnings
        Warnings of a related method.
    """

    system: str
    content: str
    addition: str
    thresholds: str
    corpus: str
    seed: int
    configuration: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: Mapping[str, float]
    folder: Path
    log_odds_folder: Path
    learned: Mapping[str, float] = field(default_factory=dict)
    memory: float | None = None
    out_of_time: float | None = None
    warnings: Sequence[str] = ()

    def log_odds(self) -> NDArray[np.float64]:
        """Return the log-odds, ``(n_test, n_labels)``, memory-mapped and read only."""
        return read_block(self.log_odds_folder / LOG_ODDS)

    def decisions(self) -> NDArray[np.bool_]:
        """Return the decisions, ``(n_test, n_labels)``, memory-mapped and read only."""
        return read_block(self.folder / DECISIONS)

    def out_of_fold(self) -> NDArray[np.float64]:
        """Return the out-of-fold log-odds of the training documents, if another run needs them."""
        return read_block(self.folder / OUT_OF_FOLD)


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
    planned = experiment.runs() + experiment.threshold_runs()
    missing = [run for run in planned if not is_complete(folder / run.place, run)]
    if missing and not partial:
        raise FileNotFoundError(
            f"{folder} is unfinished: {len(missing)} of {len(planned)} runs are missing, the first "
            f"is {missing[0].name} on {missing[0].corpus}. Run the experiment again to resume it. "
            "partial=True reads the finished runs."
        )
    runs = [read_run(folder, run) for run in planned if run not in missing]
    corpora = dict.fromkeys(run.corpus for run in runs)
    return Results(experiment, tuple(corpus_results(folder, c, runs) for c in corpora), folder)


def corpus_results(folder: Path, corpus: str, runs: Sequence[Run]) -> CorpusResults:
    """Return the results on one corpus."""
    train, test, ids = read_truth(folder / corpus)
    ours = [run for run in runs if run.corpus == corpus]
    return CorpusResults(
        name=corpus,
        facts=read_facts(folder / corpus),
        Y=test.public(),
        Y_train=train.public(),
        label_names=test.names,
        ids=ids,
        runs=tuple(run for run in ours if not run.thresholds and run.out_of_time is None),
        threshold_runs=tuple(run for run in ours if run.thresholds),
        given_up=tuple(run for run in ours if run.out_of_time is not None),
    )


def is_complete(place: Path, run: PlannedRun) -> bool:
    """Return whether a run is there with all that others need of it, and the run it decides on."""
    if run.keeps_out_of_fold and not (place / OUT_OF_FOLD).exists():
        return False
    scored = run.start if run.thresholds else None
    return place.is_dir() and (scored is None or place.with_name(scored.name).is_dir())


def read_run(folder: Path, planned: PlannedRun) -> Run:
    """Read a run and check its arrays and its configuration."""
    place, scored = folder / planned.place, planned.start if planned.thresholds else None
    record = _read_record(place, planned)
    given = ("versions", "seconds", "learned", "memory", "out_of_time", "warnings")
    return Run(
        **planned.record(),
        **{name: record[name] for name in given if name in record},
        folder=place,
        log_odds_folder=folder / scored.place if scored else place,
    )


def _read_record(folder: Path, planned: PlannedRun) -> dict[str, Any]:
    """Return the contents of ``run.json`` after checking it against the files and the plan."""
    try:
        record = json.loads((folder / RECORD).read_bytes())
        checksums = dict(record["sha256"])
        changed = first_difference(record["configuration"], planned.configuration)
        _ = record["versions"], record["seconds"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"{RECORD} cannot be read ({error!r})") from None
    for name in checksums:
        if not (folder / name).is_file():
            raise _damaged(folder, f"{name} is missing")
        found, expected = _sha256(folder / name), checksums.get(name)
        if found != expected:
            raise _damaged(folder, f"{name} has the checksum {found}, and {RECORD} has {expected}")
    if changed:
        raise ValueError(
            f"The run {folder} is not of this experiment: {changed}. Use another folder (--out) "
            "for a changed experiment, or delete the runs that it changes."
        )
    return dict(record)


def blocks_of(array: Any) -> Iterator[Any]:
    """Yield the rows of an array on disk in blocks, in memory."""
    n_documents, width = array.shape
    size = max(1, _BLOCK_CELLS // max(width, 1))
    for start in range(0, n_documents, size):
        yield np.array(array[start : start + size])


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
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a result folder; raise if another process holds it."""
    with (folder / ".lock").open("ab") as file:
        if not files.try_lock(file.fileno()):
            raise BlockingIOError(
                f"One process at a time must run an experiment in {folder}, and another one is "
                "running it. Wait for it, or use another folder (--out)."
            )
        yield  # closing the file releases the lock


@contextmanager
def new_run(folder: Path, record: dict[str, Any]) -> Iterator[Path]:
    """Yield a folder for the files of a run, which gets its name at the end.

    Parameters
    ----------
    folder
        Of the run; an incomplete or stopped run there is replaced.
    record
        The contents of ``run.json`` besides versions and checksums; read at the end, so that the
        caller can add to it.
    """
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        checksums = {path.name: _sha256(path) for path in part.iterdir()}
        write_json(part / RECORD, {"versions": versions(), **record, "sha256": checksums})
        shutil.rmtree(folder, ignore_errors=True)
        with files.annotate_os_errors(folder, part):
            part.rename(folder)
            files.names_to_disk(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_log_odds(part: Path, blocks: Iterable[Any], shape: tuple[int, int]) -> None:
    """Write blocks of log-odds, and the decisions: log-odds above 0; reject NaN."""
    write_array(part / LOG_ODDS, blocks, np.float64, shape)
    log_odds = read_block(part / LOG_ODDS)
    n_missing = sum(int(np.isnan(block).sum()) for block in blocks_of(log_odds))
    if n_missing:
        name = part.name.removesuffix(".part")
        raise ValueError(f"{name}: log-odds must be numbers, got {n_missing} NaN.")
    write_array(part / DECISIONS, (block > 0 for block in blocks_of(log_odds)), np.bool_, shape)


def write_array(path: Path, blocks: Iterable[Any], dtype: Any, shape: tuple[int, int]) -> None:
    """Write an ``.npy`` file block by block: memory holds one block."""
    n_rows = 0
    header = {"descr": dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with files.annotate_os_errors(path), path.open("wb") as file:
        write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)
            n_rows += len(block)
        files.to_disk(file)
    if n_rows != shape[0]:
        raise ValueError(f"{path}: got {n_rows} of {shape[0]} documents.")


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
        stored = sparse.csr_array(labels.positive)
        if labels.unknown is not None:
            stored = sparse.csr_array(stored + labels.unknown * np.nan)
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


def read_facts(folder: Path) -> dict[str, Any]:
    """Read sizes, source and checksums of a corpus from its folder."""
    try:
        return dict(json.loads((folder / FACTS).read_bytes()))
    except (OSError, ValueError) as error:
        raise _damaged(folder / FACTS, repr(error)) from None


@cache
def versions() -> Mapping[str, str]:
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
