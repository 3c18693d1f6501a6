"""What an experiment leaves on disk: written in one piece, checked when it is read.

::

    DIR/experiment.toml                    the experiment
    DIR/<corpus>/corpus.json               what the corpus is
    DIR/<corpus>/truth.npz                 label sets of its training and test documents
    DIR/<corpus>/runs/<system>@seed<k>/    log_odds.npy, decisions.npy, run.json
    DIR/<corpus>/runs/<system>@<rule>@seed<k>/   decisions.npy, cuts.csv, run.json
    DIR/<corpus>/out_of_fold/<system>@seed<k>/   out_of_fold.npy, run.json

A run with a threshold rule decides on the log-odds of the run without it. What is out of fold are
log-odds of the training documents, from which weights and cuts were learned; reports need none. Of
a content classifier that names candidates (``top``), every ``.npy`` is an ``.npz`` that holds the
candidates alone, as SciPy saves a sparse matrix.

A run is written under another name, ``NB@seed0.part``, and renamed when it is complete, so that
whatever bears its name is whole, even after a kill. ``run.json`` holds the checksums of the files.
Locks are advisory (``flock``); the system lets go of them when a process ends, however it ends.
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
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
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
from labelkin.scaling.array_files import read_archive
from labelkin.scaling.blocks import read_block
from labelkin.thresholds.rule import given_cells

EXPERIMENT, TRUTH, FACTS = "experiment.toml", "truth.npz", "corpus.json"
LOG_ODDS, DECISIONS, RECORD = "log_odds.npy", "decisions.npy", "run.json"
OUT_OF_FOLD, CUTS = "out_of_fold.npy", "cuts.csv"
#: Folders in that of a corpus: runs, log-odds of training documents, lock files.
RUNS, UNSEEN, LOCKS = "runs", "out_of_fold", ".locks"

#: Documents × labels in memory at a time: 2²⁰ numbers are 8 MB.
_BLOCK_CELLS = 2**20
_PACKAGES = ("labelkin", "numpy", "scipy", "scikit-learn", "joblib", "numba", "PyStemmer")


class DamagedRun(ValueError):  # noqa: N818
    """A run folder that does not hold what its ``run.json`` says; the message names it."""


@dataclass(frozen=True)
class Run:
    """One trained system: what it was, and what it gives for the test documents.

    Attributes
    ----------
    system
        Its name, ``"NB+BLR+M2"``.
    content, addition
        Its two parts, ``"NB"`` and ``"BLR+M2"``; the addition is empty for the content alone.
    thresholds
        The name of the rule that decided; empty where log-odds were cut at one number.
    corpus, seed
        What it was trained on, and by which seed.
    configuration
        All that decided what came out.
    versions
        Of Python and the packages it was made with.
    seconds
        How long it took: ``"wall"`` and ``"cpu"``, and of these ``"learning_wall"`` and
        ``"learning_cpu"`` to learn from training documents.
    learned
        What was learned: ``"evidence_weight"`` of a learned weight.
    revealed
        What known labels are worth, if the experiment asks: see
        :func:`labelkin.research.experiments.reveal.reveal`.
    folder
        Where it is.
    log_odds_folder
        Where its log-odds are: those of another run where a rule decided.
    memory
        The most memory the process of a rival had, in bytes; ``None`` where it was not measured.
    out_of_time
        The seconds after which a rival was given up; there are no log-odds then. ``None``: it
        was not.
    warnings
        What a rival warned of.
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
    learned: Mapping[str, float]
    revealed: Sequence[Mapping[str, Any]]
    folder: Path
    log_odds_folder: Path
    memory: float | None = None
    out_of_time: float | None = None
    warnings: Sequence[str] = ()

    def log_odds(self) -> Any:
        """Return the log-odds, ``(n_test, n_labels)``, memory-mapped and read only.

        Of candidates a CSR array.
        """
        return read_array(self.log_odds_folder / LOG_ODDS)

    def decisions(self) -> Any:
        """Return the decisions, ``(n_test, n_labels)``, memory-mapped and read only.

        Of candidates a CSR array.
        """
        return read_array(self.folder / DECISIONS)


@dataclass(frozen=True)
class CorpusResults:
    """All runs on one corpus.

    Attributes
    ----------
    name
        Of the corpus.
    facts
        Its source, licence and numbers, and checksums of what went in.
    Y, Y_train
        The labels of test and training documents, in the form of
        :attr:`labelkin.corpora.Corpus.Y`.
    label_names
        The labels, in the order of the columns, ``(n_labels,)``.
    ids
        The test documents' own names, ``(n_test,)``, where they have any.
    runs
        Those that give log-odds, in the order of the paper's tables, seed by seed.
    threshold_runs
        Those that decide by a rule on the log-odds of another run.
    given_up
        Rivals that took too long.
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
        """Return the run of a system; of the first seed if none is named."""
        every = [*self.runs, *self.threshold_runs]
        for run in every:
            if run.system == system and seed in (None, run.seed):
                return run
        there_are = ", ".join(dict.fromkeys(run.system for run in every))
        raise ValueError(
            f"There is no run of {system!r} with seed {seed} on {self.name}. Systems: {there_are}."
        )


@dataclass(frozen=True)
class Results:
    """What an experiment has found so far."""

    experiment: Experiment
    corpora: tuple[CorpusResults, ...]
    folder: Path

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs on all corpora that give log-odds."""
        return tuple(run for corpus in self.corpora for run in corpus.runs)

    @property
    def threshold_runs(self) -> tuple[Run, ...]:
        """The runs on all corpora that decide by a rule on the log-odds of another run."""
        return tuple(run for corpus in self.corpora for run in corpus.threshold_runs)


def read_results(folder: str | os.PathLike[str], *, partial: bool = False) -> Results:
    """Read what an experiment has left in a folder; every array is checked, nothing is trained.

    Parameters
    ----------
    folder : path
        Where :func:`labelkin.research.experiments.run_experiment` has put it.
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
    missing = [run for run in planned if not _is_there(folder, run)]
    if missing and not partial:
        raise FileNotFoundError(
            f"{folder} is unfinished: {len(missing)} of {len(planned)} runs are missing, the first "
            f"is {missing[0].name} on {missing[0].corpus}. Run the experiment again: it makes what "
            "is missing. partial=True reads what is there."
        )
    runs = [read_run(folder, run) for run in planned if run not in missing]
    begun = dict.fromkeys(run.corpus for run in runs)
    return Results(experiment, tuple(corpus_results(folder, c, runs) for c in begun), folder)


def corpus_results(folder: Path, corpus: str, runs: Sequence[Run]) -> CorpusResults:
    """Gather what belongs to one corpus."""
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


def folder_of(folder: Path, run: PlannedRun) -> Path:
    """Return where a run of the experiment in ``folder`` is, or will be."""
    return folder / run.corpus / RUNS / run.name


def _is_there(folder: Path, run: PlannedRun) -> bool:
    """Return whether a run can be read: where a rule decided, also the run it decided on."""
    needed = run.start if run.system.thresholds else None
    return all(folder_of(folder, one).is_dir() for one in (run, needed) if one)


def read_run(folder: Path, planned: PlannedRun) -> Run:
    """Read a run and check it: its arrays, and that it is the run that was planned."""
    place = folder_of(folder, planned)
    decides = planned.system.thresholds is not None
    arrays = {DECISIONS: np.bool_} if decides else {LOG_ODDS: np.float64, DECISIONS: np.bool_}
    if planned.rival is not None and not _stored(place / LOG_ODDS).exists():
        arrays = {}  # it was given up, or the record names what is missing
    record = read_record(place, planned, arrays)
    return Run(
        **planned.record(),
        versions=record["versions"],
        seconds=record["seconds"],
        learned=record.get("learned", {}),
        revealed=record.get("revealed", ()),
        folder=place,
        log_odds_folder=folder_of(folder, planned.start) if decides and planned.start else place,
        memory=record.get("memory"),
        out_of_time=record.get("out_of_time"),
        warnings=record.get("warnings", ()),
    )


def read_record(folder: Path, planned: PlannedRun, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``run.json`` of a run says, after checking that it is true.

    Parameters
    ----------
    folder
        Of the run.
    planned
        The run that it must be: not one that another configuration has made.
    arrays
        The arrays that it must have, by file name, and what they hold.
    """
    try:
        record = json.loads((folder / RECORD).read_bytes())
        checksums, shape = dict(record["sha256"]), tuple(record["shape"])
        missing = {"configuration", "versions", "seconds"} - set(record)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"{RECORD} cannot be read ({error!r})") from None
    if missing:
        raise _damaged(folder, f"{RECORD} does not say {', '.join(sorted(missing))}")
    files_of = [_stored(folder / name).name for name in arrays]
    for name in dict.fromkeys([*files_of, *checksums]):
        if not (folder / name).is_file():
            raise _damaged(folder, f"{name} is missing")
        found, said = _sha256(folder / name), checksums.get(name)
        if found != said:
            raise _damaged(folder, f"{name} has the checksum {found}, and {RECORD} says {said}")
    for name, dtype in arrays.items():
        array = read_array(folder / name)
        if array.shape != shape or array.dtype != dtype:
            raise _damaged(folder, f"{name} is {array.dtype} of shape {array.shape}, not {shape}")
    changed = first_difference(record["configuration"], planned.configuration)
    if changed:
        raise ValueError(
            f"The run {folder} is not of this experiment: {changed}. Give a changed experiment "
            "another folder (--out), or delete the runs that it changes."
        )
    return dict(record)


def read_array(path: Path) -> Any:
    """Return an array that stays on disk, read only; of candidates, a CSR array in memory."""
    return read_block(_stored(path))


def in_memory(array: Any) -> Any:
    """Return an array that may stay on disk as one in memory."""
    return array if sparse.issparse(array) else np.array(array)


def blocks_of(array: Any) -> Iterator[Any]:
    """Yield the rows of an array on disk, or of candidates, some at a time, in memory."""
    n_documents, width = array.shape
    if sparse.issparse(array):
        width = -(-array.nnz // max(n_documents, 1))
    size = max(1, _BLOCK_CELLS // max(width, 1))
    for start in range(0, n_documents, size):
        yield in_memory(array[start : start + size])


def _stored(path: Path) -> Path:
    """Return the file that holds an array: that of candidates where there is one."""
    candidates = path.with_suffix(".npz")
    return candidates if candidates.exists() else path


def first_difference(old: Any, new: Any, place: str = "") -> str:
    """Say where two nested records differ first; empty if they do not.

    Examples
    --------
    >>> first_difference({"words": {"stem": True}}, {"words": {"stem": False}})
    'words.stem was True and is False'
    """
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        said = ["not given" if value is None else repr(value) for value in (old, new)]
        return "" if old == new else f"{place} was {said[0]} and is {said[1]}"
    for key in sorted({*old, *new}):
        where = f"{place}.{key}" if place else key
        found = first_difference(old.get(key), new.get(key), where)
        if found:
            return found
    return ""


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock file ``path``; yield whether we got it (always, if we wait)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        yield files.try_lock(file.fileno(), wait=wait)  # closing the file lets go


@contextmanager
def new_run(folder: Path, record: dict[str, Any]) -> Iterator[Path]:
    """Yield a folder to write a run in, which gets its name at the end; the caller holds a lock.

    What a killed process left half done is cleared away before, and after an error.

    Parameters
    ----------
    folder
        Of the run.
    record
        What ``run.json`` says of it besides versions and checksums; ``shape`` among it. It is read
        at the end, so that the caller can add to it.
    """
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        checksums = {path.name: _sha256(path) for path in part.iterdir()}
        made = {"versions": versions(), **record, "sha256": checksums}
        write_json(part / RECORD, made)
        with files.annotate_os_errors(folder, part):
            part.rename(folder)
            files.names_to_disk(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_log_odds(part: Path, blocks: Iterable[Any], shape: tuple[int, int], cut: float) -> None:
    """Write log-odds that come some documents at a time, and the decisions where they exceed it."""
    write_array(part / LOG_ODDS, _checked(blocks, part), np.float64, shape)
    decided = (_above(block, cut) for block in blocks_of(read_array(part / LOG_ODDS)))
    write_array(part / DECISIONS, decided, np.bool_, shape)


def _above(block: Any, cut: float) -> Any:
    return given_cells(block, block.data > cut) if sparse.issparse(block) else block > cut


def write_array(path: Path, blocks: Iterable[Any], dtype: Any, shape: tuple[int, int]) -> None:
    """Write an ``.npy`` file some rows at a time: memory holds one block.

    Candidates, a small part of all cells, are gathered and written at once, as an ``.npz`` file.
    """
    coming = iter(blocks)
    first = next(coming, np.empty((0, shape[1])))
    if sparse.issparse(first):
        _write_candidates(path.with_suffix(".npz"), [first, *coming], dtype, shape)
        return
    blocks = chain([first], coming)
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


def _write_candidates(
    path: Path, blocks: Sequence[Any], dtype: Any, shape: tuple[int, int]
) -> None:
    whole = sparse.csr_array(sparse.vstack(blocks, format="csr"), dtype=dtype)
    if whole.shape != shape:
        raise ValueError(f"{path}: got {whole.shape[0]} of {shape[0]} documents.")
    file = io.BytesIO()
    sparse.save_npz(file, whole, compressed=False)
    files.write_atomic(path, file.getvalue())


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
        train, test = (_read_labels(stored, part, names) for part in ("train", "test"))
        return train, test, stored.get("ids")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder / TRUTH, repr(error), ValueError) from None


def _read_labels(stored: Any, part: str, names: list[Any]) -> LabelMatrix:
    data, indices, indptr = (stored[f"{part}_{name}"] for name in ("data", "indices", "indptr"))
    shape = (len(indptr) - 1, len(names))
    return read_labels(sparse.csr_array((data, indices, indptr), shape=shape), names=names)


def read_facts(folder: Path) -> dict[str, Any]:
    """Read what a corpus is, from its folder."""
    try:
        return dict(json.loads((folder / FACTS).read_bytes()))
    except (OSError, ValueError) as error:
        raise _damaged(folder / FACTS, repr(error), ValueError) from None


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that have a say in the numbers."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found


def _damaged(place: Path, why: str, kind: type[ValueError] = DamagedRun) -> ValueError:
    which, it = ("The run ", "the folder") if kind is DamagedRun else ("", "it")
    return kind(
        f"{which}{place} is damaged: {why}. Delete {it} and run the experiment again: it makes "
        "what is missing."
    )


def _checked(blocks: Iterable[Any], part: Path) -> Iterator[Any]:
    """Hand blocks of log-odds on, and raise for what is no number."""
    n_before = 0
    for block in blocks:
        if np.isnan(block.data if sparse.issparse(block) else block).any():
            cells = sparse.coo_array(block)
            wrong = np.isnan(cells.data)
            i, j = cells.row[wrong][0], cells.col[wrong][0]
            raise ValueError(
                f"{part.name.removesuffix('.part')}: log-odds must be numbers, got NaN at test "
                f"document {n_before + i}, label {j} ({int(wrong.sum())} such cells here)."
            )
        yield block
        n_before += block.shape[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
