"""Run folders: written in one piece, one writer at a time.

A run is written under another name, ``NB@seed0.part``, and renamed when it is complete, so that
whatever bears its name is whole, even after a kill. ``run.json`` holds the checksums of the files.
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
OUT_OF_FOLD, CUTS = "out_of_fold.npy", "cuts.csv"
#: Where lock files are, in every folder that has some.
LOCKS = ".locks"


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


def write_array(
    path: Path, blocks: Iterable[NDArray[Any]], dtype: Any, shape: tuple[int, int]
) -> str:
    """Write one array, some rows at a time; return its checksum."""
    with _ArrayFile(path, np.dtype(dtype), shape) as array:
        for block in blocks:
            array.append(block)
        return array.finish()


def write_file(path: Path, data: bytes) -> str:
    """Write a file that is no array; return its checksum."""
    write_whole(path, data)
    return hashlib.sha256(data).hexdigest()


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    """Write what a run is; it holds the arrays' ``shape`` and the files' checksums, ``sha256``."""
    write_whole(folder / RECORD, f"{json.dumps(record, indent=1, sort_keys=True)}\n".encode())


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
