"""Score matrices and training labels in files: NumPy, SciPy, CSV, TSV, JSON lines, label:score.

Arrays (``.npy``), tables and JSON lines are read and written block by block, so that memory holds
some documents at a time. Candidates (``.npz``, ``.txt``) are read and written whole.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise, takewhile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin import corpora
from labelkin.corpora.corpus import labels_of
from labelkin.corpora.lines import decoded_lines, in_blocks, json_objects, table_rows
from labelkin.corpora.tables import find_delimiter, find_name
from labelkin.corpora.vectors import read_score_text, score_text
from labelkin.files import csv_text, plain_cell
from labelkin.label_matrix import Cells, LabelMatrix, read_labels
from labelkin.scaling.array_files import is_sparse, read_archive, read_sparse
from labelkin.scaling.blocks import DOCUMENTS, row_blocks

DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Keys of a JSON line that hold scores; the last is that of labelkin predict --all-scores.
KEYS = ("scores", "probabilities")
_BEFORE_SCORES = ("id", "labels", "names")
#: Documents × labels of a block: 2²² numbers are 32 MB.
_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Scores:
    """A score matrix.

    Attributes
    ----------
    values
        Dense, or a CSR array of candidates, ``(n_documents, n_labels)``.
    names
        The labels of its columns; ``None`` where the file has no names.
    ids
        The documents' own names; ``None`` where the file has none.
    absent
        The score of a label that is no candidate, in files that hold all labels.
    """

    values: Any
    names: list[str] | None = None
    ids: list[Any] | None = None
    absent: float = 0.0

    def dense(self) -> NDArray[np.float64]:
        """Return the scores of all labels."""
        if not sparse.issparse(self.values):
            return np.asarray(self.values)
        return Cells.of(self.values).dense(self.values.data, self.absent)


def read_scores(path: Path, names: list[str] | None = None, missing: float | None = None) -> Scores:
    """Read a whole score matrix; the parameters are those of :func:`score_blocks`."""
    return _joined(list(score_blocks(path, names, missing)))


def score_blocks(
    path: Path, names: list[str] | None = None, missing: float | None = None
) -> Iterator[Scores]:
    """Read a score matrix, some documents at a time; the ending of its name says what it is.

    Parameters
    ----------
    path
        ``.npy``, ``.npz`` (``scores`` and maybe ``labels``; or candidates, a sparse matrix as SciPy
        and PECOS save it), ``.txt`` (candidates, ``label:score``, as Omikuji and napkinXC print
        them),
        ``.csv`` and ``.tsv`` (a header names the labels, and maybe a column ``id``; or numbers
        only), ``.jsonl`` (objects with ``scores``: numbers by label, or in a list).
    names
        The labels wanted, in this order, where lines name them.
    missing
        The score of a label that a line does not name; ``None``: it must name them all.
    """
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        listed = ", ".join(WRITERS)
        raise ValueError(f"A score matrix must be a file {listed}, got {path.name!r}.")
    if suffix == ".npy":
        blocks = _array_blocks(path)
    elif suffix == ".npz":
        blocks = iter([_read_archive(path)])
    elif suffix == ".txt":
        blocks = iter([Scores(read_score_text(path, None if names is None else len(names)))])
    elif suffix in DELIMITERS:
        blocks = _table_blocks(path)
    else:
        blocks = _line_blocks(path, names, missing)
    return _checked(blocks, path)


def _checked(blocks: Iterator[Scores], path: Path) -> Iterator[Scores]:
    for scores in blocks:
        if scores.values.ndim != 2 or not all(scores.values.shape):
            raise ValueError(
                f"{path.name}: scores must be documents × labels, got shape {scores.values.shape}."
            )
        yield scores


def _joined(blocks: list[Scores]) -> Scores:
    """Return blocks of documents as one matrix."""
    if len(blocks) == 1:
        return blocks[0]
    values = [block.values for block in blocks]
    stack: Any = sparse.vstack if sparse.issparse(values[0]) else np.concatenate
    ids = None if blocks[0].ids is None else [name for block in blocks for name in block.ids or ()]
    return replace(blocks[0], values=stack(values), ids=ids)


def _size(n_labels: int) -> int:
    """Return how many documents a block has."""
    return max(1, min(DOCUMENTS, _CELLS // max(n_labels, 1)))


def _array_blocks(path: Path) -> Iterator[Scores]:
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, EOFError, OverflowError) as error:
        raise ValueError(f"{path.name}: it must be an array of numbers, got: {error}.") from None
    if stored.ndim != 2 or not len(stored):
        yield Scores(_numbers(stored, path))
        return
    for rows in row_blocks(stored, size=_size(stored.shape[1])):
        yield Scores(_numbers(rows, path))


def _numbers(values: Any, path: Path) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{path.name}: scores must be numbers, got {values!r:.60}.") from None


def _read_archive(path: Path) -> Scores:
    stored = read_archive(path)
    names = [str(name) for name in stored["labels"]] if "labels" in stored else None
    if is_sparse(stored):
        matrix = read_sparse(path, stored)
        matrix.sum_duplicates()
        return Scores(matrix.astype(np.float64), names)
    key = "scores" if "scores" in stored else next(iter(stored)) if len(stored) == 1 else None
    if key is None:
        raise ValueError(
            f"{path.name}: the array must be called 'scores', got {', '.join(stored)}."
        )
    return Scores(_numbers(stored[key], path), names)


def _table_blocks(path: Path) -> Iterator[Scores]:
    rows = _rows(path)
    first = next(rows, ("", []))
    header = first[1]
    try:
        _floats(header, "")
        names = None
    except ValueError:
        names = header
    has_ids = names is not None and header[0] == "id"
    # labelkin predict --all-scores has labels, and maybe their names, before the scores.
    n_first = sum(1 for _ in takewhile(_BEFORE_SCORES.__contains__, header)) if has_ids else 0
    labels = None if names is None else [plain_cell(name) for name in names[n_first:]]
    blocks = in_blocks(rows if names is not None else chain([first], rows), _size(len(header)))
    for body in chain([next(blocks, [])], blocks):  # a header alone is one empty block
        values = [_floats(row[n_first:], place) for place, row in body]
        ids = [plain_cell(row[0]) for _, row in body] if has_ids else None
        yield Scores(np.array(values, dtype=np.float64), labels, ids)


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table, all as long as the first, after their places."""
    header = next(decoded_lines(path, None), "")
    delimiter = find_delimiter(header, DELIMITERS[path.suffix.lower()], [], ["labels"])
    rows = table_rows(decoded_lines(path, None), path.name, delimiter)
    width = None
    for place, row in rows:
        width = width or len(row)
        if len(row) != width:
            raise ValueError(f"{place}: a row must have {width} cells, got {len(row)}.")
        yield place, row


def _floats(cells: list[str], place: str) -> list[float]:
    numbers = []
    for cell in cells:
        try:
            numbers.append(float(cell))
        except ValueError:
            raise ValueError(f"{place}: a score must be a number, got {cell!r}.") from None
    return numbers


def _line_blocks(path: Path, names: list[str] | None, missing: float | None) -> Iterator[Scores]:
    lines = enumerate(json_objects(decoded_lines(path), path.name), start=1)
    if names is None:  # which labels there are, only the last line says
        yield _read_lines(lines, path, names, missing)
        return
    blocks = in_blocks(lines, _size(len(names)))
    kinds = set()
    for some in chain([next(blocks, [])], blocks):
        scores = _read_lines(some, path, names, missing)
        kinds.add(scores.names is None)
        if len(kinds) > 1:
            raise ValueError(_ONE_KIND.format(path.name))
        yield scores


_ONE_KIND = "{}: scores must be lists in all lines, or objects in all."


def _read_lines(
    lines: Iterable[tuple[int, tuple[str, dict[str, Any]]]],
    path: Path,
    names: list[str] | None,
    missing: float | None,
) -> Scores:
    ids: list[Any] = []
    rows: list[Any] = []
    for number, (place, record) in lines:
        key = next((key for key in KEYS if key in record), None)
        if key is None:
            raise ValueError(
                f"{place}: a line must be an object with 'scores', got {str(record)[:60]!r}."
            )
        ids.append(record.get("id", number))
        rows.append(record[key])
    if all(isinstance(row, list) for row in rows):
        return Scores(_numbers(rows, path), None, ids)
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(_ONE_KIND.format(path.name))
    found = dict.fromkeys(name for row in rows for name in row)
    columns = list(found) if names is None else names
    known = set(columns)
    strange = [name for name in found if name not in known]
    if strange:
        raise ValueError(
            f"{path.name}: scores must be of labels in training, got {strange[0]!r} "
            f"({len(strange)} such labels)."
        )
    if missing is None and any(len(row) < len(columns) for row in rows):
        raise ValueError(
            f"{path.name}: every line must have a log-odds for each of the {len(columns)} labels. "
            "Only probabilities may be left out, and are 0."
        )
    values = [[row.get(name, missing) for name in columns] for row in rows]
    return Scores(_numbers(values, path), columns, ids)


def write_scores(scores: Scores, kind: str) -> bytes:
    """Return a score matrix as the bytes of a file; ``kind`` is its ending, ``".csv"``."""
    if kind not in WRITERS:
        raise ValueError(f"Scores can be written as {', '.join(WRITERS)}, got {kind!r}.")
    return WRITERS[kind](scores)


def write_blocks(file: IO[bytes], blocks: Iterable[Scores], kind: str) -> tuple[int, int]:
    """Write scores that come in blocks: the bytes of :func:`write_scores`; return their shape."""
    if kind not in WRITERS:
        raise ValueError(f"Scores can be written as {', '.join(WRITERS)}, got {kind!r}.")
    if kind in (".npz", ".txt"):
        scores = _joined(list(blocks))
        file.write(WRITERS[kind](scores))
        return scores.values.shape
    n_documents = n_labels = 0
    for block in blocks:
        if kind == ".npy":
            if not n_documents:
                _write_shape(file, (0, block.values.shape[1]))
            file.write(np.ascontiguousarray(block.dense()).tobytes())
        elif kind == ".jsonl":
            n, ids = block.values.shape[0], block.ids
            numbers = list(range(n_documents + 1, n_documents + n + 1))
            file.write(_write_lines(replace(block, ids=numbers if ids is None else ids)))
        else:  # the names are in the first line alone
            names = None if n_documents else block.names
            file.write(WRITERS[kind](replace(block, names=names)))
        n_documents, n_labels = n_documents + block.values.shape[0], block.values.shape[1]
    if kind == ".npy":
        file.seek(0)
        _write_shape(file, (n_documents, n_labels))
        file.seek(0, io.SEEK_END)
    return n_documents, n_labels


def _write_shape(file: IO[bytes], shape: tuple[int, int]) -> None:
    """Write how an array begins: as long whatever the number of rows, so that it can be mended."""
    kind = np.lib.format.dtype_to_descr(np.dtype(np.float64))
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _write_table(scores: Scores, delimiter: str) -> bytes:
    rows = scores.dense().tolist()
    header = [] if scores.names is None else [scores.names]
    if scores.ids is not None:
        rows = [[name, *row] for name, row in zip(scores.ids, rows, strict=True)]
        header = [["id", *names] for names in header]
    return csv_text([*header, *rows], delimiter).encode()


def _write_lines(scores: Scores) -> bytes:
    lines = []
    names = scores.names
    if names is None and sparse.issparse(scores.values):
        names = [str(j) for j in range(scores.values.shape[1])]
    for i, (columns, row) in enumerate(_stored_rows(scores)):
        named = row
        if names is not None:
            named = {names[j]: value for j, value in zip(columns, row, strict=True)}
        record = {"id": i + 1 if scores.ids is None else scores.ids[i], "scores": named}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def _stored_rows(scores: Scores) -> Iterator[tuple[list[int], Any]]:
    """Yield the columns and the scores of every document: all labels, or its candidates."""
    if not sparse.issparse(scores.values):
        columns = list(range(scores.values.shape[1]))
        yield from ((columns, row) for row in scores.values.tolist())
        return
    matrix = scores.values
    for start, stop in pairwise(matrix.indptr.tolist()):
        yield matrix.indices[start:stop].tolist(), matrix.data[start:stop].tolist()


def _write_array(scores: Scores) -> bytes:
    file = io.BytesIO()
    np.save(file, scores.dense())
    return file.getvalue()


def _write_archive(scores: Scores) -> bytes:
    file = io.BytesIO()
    arrays: dict[str, Any] = {"scores": scores.values}
    if sparse.issparse(scores.values):  # as SciPy saves it, and reads it, with names beside it
        matrix = scores.values
        arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
        arrays |= {"format": np.array(b"csr"), "_is_array": np.array(True)}
    if scores.names is not None:
        arrays["labels"] = np.array(scores.names, dtype=str)
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _candidates(scores: Scores) -> sparse.csr_array:
    if sparse.issparse(scores.values):
        return scores.values
    return Cells.full(scores.values.shape).matrix(scores.values.ravel())


WRITERS: dict[str, Callable[[Scores], bytes]] = {
    ".npy": _write_array,
    ".npz": _write_archive,
    ".csv": lambda scores: _write_table(scores, ","),
    ".tsv": lambda scores: _write_table(scores, "\t"),
    ".jsonl": _write_lines,
    ".txt": lambda scores: score_text(_candidates(scores)).encode(),
}
"""Writers by the ending of a file's name; what can be written can be read."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """The label sets of documents.

    Attributes
    ----------
    labels
        Of all documents.
    ids
        Their own names; ``None`` where they have none.
    train
        Which of them are for training, ``(n_train,)``.
    reading
        How they were read, for a message; empty for a matrix.
    """

    labels: LabelMatrix
    ids: list[str] | None
    train: NDArray[Any]
    reading: str = ""

    def of(self, scores: Scores) -> tuple[list[int], LabelMatrix] | None:
        """Return which scored documents are here, by their ids, and their labels."""
        rows = [i for i, name in enumerate(scores.ids or ()) if str(name) in self._place]
        if not rows or scores.ids is None:
            return None
        return rows, self.labels.rows(np.array([self._place[str(scores.ids[i])] for i in rows]))

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.ids or ())}


def read_labelled(name: str, **reading: Any) -> Labelled:
    """Return the label sets of documents.

    Parameters
    ----------
    name
        A 0/1 matrix (``.npy``, ``.npz``; ``.csv`` and ``.tsv`` whose header names labels); label
        sets, in JSON lines or in a table with a column of labels; or any corpus that
        :func:`labelkin.corpora.load` takes. Where there is no split all are for training.
    **reading
        How texts are read, as :func:`labelkin.corpora.load` takes it.
    """
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in (*WRITERS, ".ndjson") or not path.exists():
        corpus = corpora.load(name, **reading)
        ids = None if corpus.ids is None else corpus.names()
        return Labelled(labels_of(corpus), ids, corpus.train, corpus.understood)
    if suffix == ".npz":
        stored = read_archive(path)
        if is_sparse(stored):
            return _all_train(read_labels(read_sparse(path, stored)))
    has_labels = suffix in (".jsonl", ".ndjson") or "labels" in reading.get("columns", ())
    header = next(_rows(path), ("", []))[1] if suffix in DELIMITERS else []
    if has_labels or find_name("labels", header):
        source = corpora.Documents(path, needed=["labels"], optional=["split", "id"], **reading)
        documents = list(source)
        train = np.flatnonzero([document.split != "test" for document in documents])
        labels = read_labels([set(document.labels or ()) for document in documents])
        has_ids = all(document.id is not None for document in documents)
        ids = [str(document.id) for document in documents] if has_ids else None
        return Labelled(labels, ids, train, str(source.understood))
    scores = read_scores(path)
    ids = None if scores.ids is None else [str(one) for one in scores.ids]
    return _all_train(read_labels(scores.values, names=scores.names), ids)


def _all_train(labels: LabelMatrix, ids: list[str] | None = None) -> Labelled:
    return Labelled(labels, ids, np.arange(labels.shape[0]))


def labels_in_order(labels: LabelMatrix, names: Sequence[Any], what: str) -> LabelMatrix:
    """Return labels in the order of some names, matched as texts; the others are left out.

    Parameters
    ----------
    labels
        Of any names.
    names
        Of the columns wanted; one that ``labels`` has not is a label that no document has.
    what
        What messages call the two sides.
    """
    wanted = [str(name) for name in names]
    needed = set(wanted)
    columns = np.flatnonzero([str(name) in needed for name in labels.names.tolist()])
    if not len(columns):
        ours = [str(name) for name in labels.names[:3]]
        raise ValueError(
            f"{what} must have labels in common, and have none in common: got {wanted[:3]} … and "
            f"{ours} …."
        )
    kept = labels.columns(columns)
    texts = np.array([str(name) for name in kept.names.tolist()], dtype=object)
    return read_labels(replace(kept, names=texts, classes=texts), names=wanted)
