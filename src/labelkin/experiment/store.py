"""Run folders: written in one piece, checked when read, one writer at a time.

A run is written under another name, ``NB@seed0.part``, and renamed when it is complete, so that
whatever bears its name is whole, even after a kill. ``run.json`` holds the checksums of the arrays.
Locks are advisory (``flock``); the system lets go of them when a process ends, however it ends.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import dtype_to_descr, write_array_header_1_0
from numpy.typing import NDArray

if sys.platform != "win32":
    import fcntl

LOG_ODDS, DECISIONS, RECORD = "log_odds.npy", "decisions.npy", "run.json"
_CHUNK = 2**20


class DamagedRun(ValueError):  # noqa: N818
    """A run folder that does not hold what its ``run.json`` says; the message names it."""


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock file ``path``; yield whether we got it (always, if we wait)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        yield _lock(file, wait)  # closing the file lets go


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it; the caller holds a lock."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        _to_disk(file)
    part.replace(path)
    _directory_to_disk(path.parent)


@contextmanager
def new_run(folder: Path) -> Iterator[Path]:
    """Yield a folder to write a run in, which gets its name at the end; the caller holds a lock.

    What a killed process left half done is cleared away before, and after an error.
    """
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        part.rename(folder)
        _directory_to_disk(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_arrays(
    folder: Path, blocks: Iterable[NDArray[np.float64]], shape: tuple[int, int], cut: float
) -> dict[str, str]:
    """Write log-odds and decisions of a run; return their checksums.

    Parameters
    ----------
    folder
        Where they go.
    blocks
        The log-odds, some documents at a time.
    shape
        All documents × labels.
    cut
        Log-odds above it are decisions for the label.
    """
    with (
        _ArrayFile(folder / LOG_ODDS, np.dtype(np.float64), shape) as log_odds,
        _ArrayFile(folder / DECISIONS, np.dtype(np.bool_), shape) as decisions,
    ):
        for block in blocks:
            _check_numbers(block, folder, log_odds.n_rows)
            log_odds.append(block)
            decisions.append(block > cut)
        return {LOG_ODDS: log_odds.finish(), DECISIONS: decisions.finish()}


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    """Write what a run is; it holds the arrays' ``shape`` and their checksums, ``sha256``."""
    write_whole(folder / RECORD, f"{json.dumps(record, indent=1, sort_keys=True)}\n".encode())


def read_record(folder: Path) -> dict[str, Any]:
    """Return what ``run.json`` of a run says, after checking that the arrays are those it names."""
    try:
        record = json.loads((folder / RECORD).read_bytes())
        checksums, shape = dict(record["sha256"]), tuple(record["shape"])
        missing = {"configuration", "versions", "seconds"} - set(record)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"{RECORD} cannot be read ({error!r})") from None
    if missing:
        raise _damaged(folder, f"{RECORD} does not say {', '.join(sorted(missing))}")
    for name in (LOG_ODDS, DECISIONS):
        path = folder / name
        if not path.is_file():
            raise _damaged(folder, f"{name} is missing")
        found = _sha256(path)
        if found != checksums.get(name):
            raise _damaged(folder, f"{name} has the checksum {found}, and {RECORD} says "
                           f"{checksums.get(name)}")  # fmt: skip
    _check_shapes(folder, shape)
    return dict(record)


def read_array(path: Path) -> NDArray[Any]:
    """Return an array that stays on disk, read only."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


class _ArrayFile:
    """An ``.npy`` file that is written row by row, its checksum with it; memory holds one block."""

    def __init__(self, path: Path, dtype: np.dtype[Any], shape: tuple[int, int]) -> None:
        self.path, self.dtype, self.shape = path, dtype, shape
        self.n_rows = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> _ArrayFile:
        self._file = self.path.open("wb")
        header = io.BytesIO()
        description = {"descr": dtype_to_descr(self.dtype), "fortran_order": False}
        write_array_header_1_0(header, {**description, "shape": self.shape})
        self._write(header.getvalue())
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, rows: NDArray[Any]) -> None:
        self._write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.n_rows += len(rows)

    def finish(self) -> str:
        """Put everything on disk; return the checksum."""
        if self.n_rows != self.shape[0]:
            raise ValueError(f"{self.path}: got {self.n_rows} of {self.shape[0]} documents.")
        _to_disk(self._file)
        return self._digest.hexdigest()

    def _write(self, data: Any) -> None:
        self._file.write(data)
        self._digest.update(data)


def _check_numbers(block: NDArray[np.float64], folder: Path, n_before: int) -> None:
    if np.isnan(block).any():
        i, j = np.argwhere(np.isnan(block))[0]
        raise ValueError(
            f"{folder.name.removesuffix('.part')}: log-odds must be numbers, got NaN at test "
            f"document {n_before + i}, label {j} ({int(np.isnan(block).sum())} such cells here)."
        )


def _check_shapes(folder: Path, shape: tuple[int, ...]) -> None:
    for name, dtype in ((LOG_ODDS, np.float64), (DECISIONS, np.bool_)):
        array = read_array(folder / name)
        if array.shape != shape or array.dtype != dtype:
            raise _damaged(folder, f"{name} is {array.dtype} of shape {array.shape}, not {shape}")


def _damaged(folder: Path, why: str) -> DamagedRun:
    return DamagedRun(
        f"The run {folder} is damaged: {why}. Delete the folder and run the experiment again: "
        "it makes what is missing."
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _lock(file: Any, wait: bool) -> bool:
    if sys.platform == "win32":  # no flock there: one process at a time
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _directory_to_disk(folder: Path) -> None:
    """Make names last through a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
