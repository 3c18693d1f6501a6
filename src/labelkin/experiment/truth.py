"""The label sets of a corpus on disk, and what the corpus is: reports need no documents."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.experiment.store import write_whole
from labelkin.label_matrix import LabelMatrix, read_labels

TRUTH, FACTS = "truth.npz", "corpus.json"


@dataclass(frozen=True)
class Truth:
    """The label sets of one corpus.

    Attributes
    ----------
    train, test
        Of the training and of the test documents.
    ids
        The test documents' own names, ``(n_test,)``, where they have any.
    """

    train: LabelMatrix
    test: LabelMatrix
    ids: NDArray[Any] | None


def write_truth(path: Path, truth: Truth) -> None:
    """Write label sets as plain arrays."""
    arrays = {"names": _plain(truth.test.names)}
    if truth.ids is not None:
        arrays["ids"] = _plain(truth.ids)
    for part, labels in (("train", truth.train), ("test", truth.test)):
        stored = sparse.csr_array(labels.positive)
        if labels.unknown is not None:
            stored = sparse.csr_array(stored + labels.unknown * np.nan)
        for name in ("data", "indices", "indptr"):
            arrays[f"{part}_{name}"] = getattr(stored, name)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    write_whole(path, file.getvalue())


def read_truth(path: Path) -> Truth:
    """Read label sets that :func:`write_truth` wrote."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            names = stored["names"].tolist()
            ids = stored.get("ids")
            train, test = (_read_part(stored, part, names) for part in ("train", "test"))
    except (OSError, ValueError, KeyError, BadZipFile, zlib.error) as error:
        raise _damaged(path, error) from None
    return Truth(train, test, ids)


def write_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Write what a corpus is."""
    write_whole(path, f"{json.dumps(dict(facts), indent=1, sort_keys=True)}\n".encode())


def read_facts(path: Path) -> dict[str, Any]:
    """Read what a corpus is."""
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"{path} is damaged: {error!r}. Delete it and run the experiment again: it makes what is "
        "missing."
    )


def _read_part(stored: Any, part: str, names: list[Any]) -> LabelMatrix:
    data, indices, indptr = (stored[f"{part}_{name}"] for name in ("data", "indices", "indptr"))
    shape = (len(indptr) - 1, len(names))
    return read_labels(sparse.csr_array((data, indices, indptr), shape=shape), names=names)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as texts where they are objects, which only pickle could store."""
    return values.astype(np.str_) if values.dtype == object else values
