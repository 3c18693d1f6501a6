"""Score matrices in files: NumPy, SciPy, CSV, TSV and JSON lines, with names if they have some."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.decoded_lines import decoded_lines

DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Keys of a JSON line that hold scores; the last is that of labelkin predict --all-scores.
KEYS = ("scores", "probabilities")


@dataclass(frozen=True, eq=False)
class Scores:
    """A score matrix.

    Attributes
    ----------
    values
        Dense, ``(n_documents, n_labels)``.
    names
        The labels of its columns; ``None`` where the file has no names.
    ids
        The documents' own names; ``None`` where the file has none.
    """

    values: NDArray[np.float64]
    names: list[str] | None = None
    ids: list[Any] | None = None


def read_scores(path: Path, names: list[str] | None = None, missing: float | None = None) -> Scores:
    """Read a score matrix; the ending of its name says what it is.

    Parameters
    ----------
    path
        ``.npy``, ``.npz`` (``scores`` and maybe ``labels``; or a sparse matrix as SciPy saves it),
        ``.csv`` and ``.tsv`` (a header names the labels, and maybe a column ``id``; or numbers
        only), ``.jsonl`` (objects with ``scores``: numbers by label, or in a list).
    names
        The labels wanted, in this order, where lines name them.
    missing
        The score of a label that a line does not name; ``None``: it must name them all.
    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        listed = ", ".join(READERS)
        raise ValueError(f"A score matrix must be a file {listed}, got {path.name!r}.")
    scores = READERS[suffix](path)
    if isinstance(scores, _Lines):
        scores = scores.matrix(names, missing)
    if scores.values.ndim != 2 or not scores.values.size:
        raise ValueError(
            f"{path.name}: scores must be documents × labels, got shape {scores.values.shape}."
        )
    return scores


def write_scores(scores: Scores, kind: str) -> bytes:
    """Return a score matrix as the bytes of a file; ``kind`` is its ending, ``".csv"``."""
    if kind not in WRITERS:
        raise ValueError(f"Scores can be written as {', '.join(WRITERS)}, got {kind!r}.")
    return WRITERS[kind](scores)


def is_text(kind: str) -> bool:
    """Tell files for a terminal from those of arrays."""
    return kind not in (".npy", ".npz")


def _read_npy(path: Path) -> Scores:
    return Scores(_numbers(_loaded(path), path))


def _read_npz(path: Path) -> Scores:
    with _loaded(path) as stored:
        keys = list(stored.keys())
        if {"format", "shape", "data"} <= set(keys):
            return Scores(_numbers(sparse.load_npz(path).toarray(), path))
        key = "scores" if "scores" in keys else keys[0] if len(keys) == 1 else None
        if key is None:
            raise ValueError(
                f"{path.name}: the array must be called 'scores', got {', '.join(keys)}."
            )
        names = [str(name) for name in stored["labels"]] if "labels" in keys else None
        return Scores(_numbers(stored[key], path), names)


def _loaded(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path.name}: it must be an array of numbers, got: {error}.") from None


def _numbers(values: Any, path: Path) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{path.name}: scores must be numbers, got {values!r:.60}.") from None


def _read_table(path: Path) -> Scores:
    reader = csv.reader(decoded_lines(path), delimiter=DELIMITERS[path.suffix.lower()])
    header = next(reader, [])
    named = not all(_is_number(cell) for cell in header)
    has_id = named and header[:1] == ["id"]
    rows = [(reader.line_num, row) for row in reader if row]
    if not named:
        rows = [(1, header), *rows]
    for number, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{path.name}, line {number}: a row must have {len(header)} cells, got {len(row)}."
            )
    values = [[_number(cell, path, n) for cell in row[int(has_id) :]] for n, row in rows]
    return Scores(
        np.array(values, dtype=np.float64),
        header[int(has_id) :] if named else None,
        [row[0] for _, row in rows] if has_id else None,
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, path: Path, line: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(
            f"{path.name}, line {line}: a score must be a number, got {cell!r}."
        ) from None


@dataclass(frozen=True, eq=False)
class _Lines:
    """Scores by the names of labels, line by line."""

    path: Path
    rows: list[dict[str, float]]
    ids: list[Any]

    def matrix(self, names: list[str] | None, missing: float | None) -> Scores:
        """Put them into columns."""
        found = dict.fromkeys(name for row in self.rows for name in row)
        columns = list(found) if names is None else names
        strange = [name for name in found if name not in set(columns)]
        if strange:
            raise ValueError(
                f"{self.path.name}: scores must be of labels in training, got {strange[0]!r} "
                f"({len(strange)} such labels)."
            )
        if missing is None and any(len(row) < len(columns) for row in self.rows):
            raise ValueError(
                f"{self.path.name}: every line must have a log-odds for each of the "
                f"{len(columns)} labels. Only probabilities may be left out, and are 0."
            )
        values = [[row.get(name, missing) for name in columns] for row in self.rows]
        return Scores(_numbers(values, self.path), columns, self.ids)


def _read_json(path: Path) -> Scores | _Lines:
    ids, rows = [], []
    for number, record in _records(path):
        ids.append(record.get("id", number))
        rows.append(next(record[key] for key in KEYS if key in record))
    if all(isinstance(row, list) for row in rows):
        return Scores(_numbers(rows, path), None, ids)
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path.name}: scores must be lists in all lines, or objects in all.")
    return _Lines(path, rows, ids)


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(decoded_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path.name}, line {number}: no JSON object ({error}).") from None
        if not isinstance(record, dict) or not any(key in record for key in KEYS):
            raise ValueError(
                f"{path.name}, line {number}: a line must be an object with 'scores', got "
                f"{line.strip()[:60]!r}."
            )
        yield number, record


def _write_table(scores: Scores, delimiter: str) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    if scores.names is not None:
        writer.writerow([*(["id"] if scores.ids is not None else []), *scores.names])
    for i, row in enumerate(scores.values.tolist()):
        writer.writerow([*([scores.ids[i]] if scores.ids is not None else []), *row])
    return file.getvalue().encode()


def _write_json(scores: Scores) -> bytes:
    lines = []
    for i, row in enumerate(scores.values.tolist()):
        told = row if scores.names is None else dict(zip(scores.names, row, strict=True))
        record = {"id": i + 1 if scores.ids is None else scores.ids[i], "scores": told}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def _write_array(scores: Scores) -> bytes:
    file = io.BytesIO()
    np.save(file, scores.values)
    return file.getvalue()


def _write_archive(scores: Scores) -> bytes:
    file = io.BytesIO()
    if scores.names is None:
        np.savez_compressed(file, scores=scores.values)
    else:
        np.savez_compressed(file, scores=scores.values, labels=np.array(scores.names, dtype=str))
    return file.getvalue()


READERS: dict[str, Callable[[Path], Scores | _Lines]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".jsonl": _read_json,
}
"""Readers by the ending of a file's name."""
WRITERS: dict[str, Callable[[Scores], bytes]] = {
    ".npy": _write_array,
    ".npz": _write_archive,
    ".csv": lambda scores: _write_table(scores, ","),
    ".tsv": lambda scores: _write_table(scores, "\t"),
    ".jsonl": _write_json,
}
"""Writers by the ending of a file's name."""
