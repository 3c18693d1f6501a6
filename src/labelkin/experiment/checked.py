"""Run folders read back: whatever is not what ``run.json`` says is found and named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment.store import DECISIONS, LOG_ODDS, RECORD

#: The arrays of a run that gives log-odds.
SCORED: Mapping[str, Any] = {LOG_ODDS: np.float64, DECISIONS: np.bool_}
_CHUNK = 2**20


class DamagedRun(ValueError):  # noqa: N818
    """A run folder that does not hold what its ``run.json`` says; the message names it."""


def read_record(folder: Path, arrays: Mapping[str, Any] = SCORED) -> dict[str, Any]:
    """Return what ``run.json`` of a run says, after checking that the files are those it names.

    Parameters
    ----------
    folder
        Of the run.
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
    for name in dict.fromkeys([*arrays, *checksums]):
        _check_file(folder, name, checksums.get(name))
    _check_shapes(folder, arrays, shape)
    return dict(record)


def read_array(path: Path) -> NDArray[Any]:
    """Return an array that stays on disk, read only."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _check_file(folder: Path, name: str, checksum: str | None) -> None:
    path = folder / name
    if not path.is_file():
        raise _damaged(folder, f"{name} is missing")
    found = _sha256(path)
    if found != checksum:
        raise _damaged(folder, f"{name} has the checksum {found}, and {RECORD} says {checksum}")


def _check_shapes(folder: Path, arrays: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    for name, dtype in arrays.items():
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
