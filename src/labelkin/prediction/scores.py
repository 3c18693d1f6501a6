"""Score matrices and label sets in files: NumPy, SciPy, CSV, TSV, JSON lines, label:score.

Arrays (``.npy``), tables and JSON lines are read and written block by block, so that memory holds
some documents at a time. Candidates (``.npz``, ``.txt``) are read and written whole.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
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
from labelkin.corpora.vectors import format_scores, read_score_text
from labelkin.evaluation.metrics import Evaluation, evaluate
from labelkin.files import csv_text, plain_cell
from labelkin.label_matrix import Cells, LabelMatrix, read_labels
from labelkin.models.rescorer import LabelRescorer
from labelkin.prediction.in_blocks import labels_in_order
from labelkin.scaling.array_files import is_sparse, read_archive, read_sparse
from labelkin.scaling.blocks import DOCUMENTS, row_blocks

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Keys of a JSON line that hold scores; the last is that of labelkin predict --all-scores.
_KEYS = ("scores", "probabilities")
_BEFORE_SCORES = ("id", "labels", "names")
#: Documents × labels of a block: 2²² numbers are 32 MB.
_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
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
        The score of a label outside the candidate set, in files with all labels.
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


def read_score_file(
    path: Path, names: list[str] | None = None, missing: float | None = None
) -> ScoreMatrix:
    """Read a whole score matrix; the parameters are those of :func:`score_blocks`."""
    return _joined(list(score_blocks(path, names, missing)))


def score_blocks(
    path: Path, names: list[str] | None = None, missing: float | None = None
) -> Iterator[ScoreMatrix]:
    """Read a score matrix in blocks; the ending of the file is its format.

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
    if suffix not in _WRITERS:
        listed = ", ".join(_WRITERS)
        raise ValueError(f"A score matrix must be a file {listed}, got {path.name!r}.")
    if suffix == ".npy":
        blocks = _array_blocks(path)
    elif suffix == ".npz":
        blocks = iter([_read_archive(path)])
    elif suffix == ".txt":
        blocks = iter([ScoreMatrix(read_score_text(path, None if names is None else len(names)))])
    elif suffix in _DELIMITERS:
        blocks = _table_blocks(path)
    else:
        blocks = _line_blocks(path, names, missing)
    return _checked(blocks, path)


def _checked(blocks: Iterator[ScoreMatrix], path: Path) -> Iterator[ScoreMatrix]:
    for scores in blocks:
        if scores.values.ndim != 2 or not all(scores.values.shape):
            raise ValueError(
                f"{path.name}: scores must be documents × labels, got shape {scores.values.shape}."
            )
        yield scores


def _joined(blocks: list[ScoreMatrix]) -> ScoreMatrix:
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


def _array_blocks(path: Path) -> Iterator[ScoreMatrix]:
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, EOFError, OverflowError) as error:
        raise ValueError(f"{path.name}: it must be an array of numbers, got: {error}.") from None
    if stored.ndim != 2 or not len(stored):
        yield ScoreMatrix(_numbers(stored, path))
        return
    for rows in row_blocks(stored, size=_size(stored.shape[1])):
        yield ScoreMatrix(_numbers(rows, path))


def _numbers(values: Any, path: Path) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{path.name}: scores must be numbers, got {values!r:.60}.") from None


def _read_archive(path: Path) -> ScoreMatrix:
    stored = read_archive(path)
    names = [str(name) for name in stored["labels"]] if "labels" in stored else None
    if is_sparse(stored):
        matrix = read_sparse(path, stored)
        matrix.sum_duplicates()
        return ScoreMatrix(matrix.astype(np.float64), names)
    key = "scores" if "scores" in stored else next(iter(stored)) if len(stored) == 1 else None
    if key is None:
        raise ValueError(
            f"{path.name}: the array must be called 'scores', got {', '.join(stored)}."
        )
    return ScoreMatrix(_numbers(stored[key], path), names)


def _table_blocks(path: Path) -> Iterator[ScoreMatrix]:
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
        yield ScoreMatrix(np.array(values, dtype=np.float64), labels, ids)


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table, all as long as the first, after their places."""
    header = next(decoded_lines(path, None), "")
    delimiter = find_delimiter(header, _DELIMITERS[path.suffix.lower()], [], ["labels"])
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


def _line_blocks(
    path: Path, names: list[str] | None, missing: float | None
) -> Iterator[ScoreMatrix]:
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
) -> ScoreMatrix:
    ids: list[Any] = []
    rows: list[Any] = []
    for number, (place, record) in lines:
        key = next((key for key in _KEYS if key in record), None)
        if key is None:
            raise ValueError(
                f"{place}: a line must be an object with 'scores', got {str(record)[:60]!r}."
            )
        ids.append(record.get("id", number))
        rows.append(record[key])
    if all(isinstance(row, list) for row in rows):
        return ScoreMatrix(_numbers(rows, path), None, ids)
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
    return ScoreMatrix(_numbers(values, path), columns, ids)


def write_blocks(file: IO[bytes], blocks: Iterable[ScoreMatrix], kind: str) -> tuple[int, int]:
    """Write scores in blocks; ``kind`` is the ending of the file. Returns the shape."""
    if kind not in _WRITERS:
        raise ValueError(f"Scores can be written as {', '.join(_WRITERS)}, got {kind!r}.")
    if kind in (".npz", ".txt"):
        scores = _joined(list(blocks))
        file.write(_WRITERS[kind](scores))
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
            file.write(_WRITERS[kind](replace(block, names=names)))
        n_documents, n_labels = n_documents + block.values.shape[0], block.values.shape[1]
    if kind == ".npy":
        file.seek(0)
        _write_shape(file, (n_documents, n_labels))
        file.seek(0, io.SEEK_END)
    return n_documents, n_labels


def _write_shape(file: IO[bytes], shape: tuple[int, int]) -> None:
    """Write the header of an array; its length does not depend on the number of rows."""
    kind = np.lib.format.dtype_to_descr(np.dtype(np.float64))
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _write_table(scores: ScoreMatrix, delimiter: str) -> bytes:
    rows = scores.dense().tolist()
    header = [] if scores.names is None else [scores.names]
    if scores.ids is not None:
        rows = [[name, *row] for name, row in zip(scores.ids, rows, strict=True)]
        header = [["id", *names] for names in header]
    return csv_text([*header, *rows], delimiter).encode()


def _write_lines(scores: ScoreMatrix) -> bytes:
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


def _stored_rows(scores: ScoreMatrix) -> Iterator[tuple[list[int], Any]]:
    """Yield the columns and the scores of every document: all labels, or its candidates."""
    if not sparse.issparse(scores.values):
        columns = list(range(scores.values.shape[1]))
        yield from ((columns, row) for row in scores.values.tolist())
        return
    matrix = scores.values
    for start, stop in pairwise(matrix.indptr.tolist()):
        yield matrix.indices[start:stop].tolist(), matrix.data[start:stop].tolist()


def _write_array(scores: ScoreMatrix) -> bytes:
    file = io.BytesIO()
    np.save(file, scores.dense())
    return file.getvalue()


def _write_archive(scores: ScoreMatrix) -> bytes:
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


def _candidates(scores: ScoreMatrix) -> sparse.csr_array:
    if sparse.issparse(scores.values):
        return scores.values
    return Cells.full(scores.values.shape).matrix(scores.values.ravel())


_WRITERS: dict[str, Callable[[ScoreMatrix], bytes]] = {
    ".npy": _write_array,
    ".npz": _write_archive,
    ".csv": lambda scores: _write_table(scores, ","),
    ".tsv": lambda scores: _write_table(scores, "\t"),
    ".jsonl": _write_lines,
    ".txt": lambda scores: format_scores(_candidates(scores)).encode(),
}
"""Writers by the ending of a file's name; what can be written can be read."""


@dataclass(frozen=True, eq=False)
class LabelSets:
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

    def of(self, scores: ScoreMatrix) -> tuple[list[int], LabelMatrix] | None:
        """Return which scored documents are here, by their ids, and their labels."""
        rows = [i for i, name in enumerate(scores.ids or ()) if str(name) in self._place]
        if not rows or scores.ids is None:
            return None
        return rows, self.labels.rows(np.array([self._place[str(scores.ids[i])] for i in rows]))

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.ids or ())}


def read_label_sets(name: str, **reading: Any) -> LabelSets:
    """Return the label sets of documents.

    Parameters
    ----------
    name
        A 0/1 matrix (``.npy``, ``.npz``; ``.csv`` and ``.tsv`` whose header names labels); label
        sets, in JSON lines or in a table with a column of labels; or any corpus that
        :func:`labelkin.corpora.load` takes. Without a split, all documents are for training.
    **reading
        How texts are read, as :func:`labelkin.corpora.load` takes it.
    """
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in (*_WRITERS, ".ndjson") or not path.exists():
        corpus = corpora.load(name, **reading)
        ids = None if corpus.ids is None else corpus.names()
        return LabelSets(labels_of(corpus), ids, corpus.train, corpus.understood)
    if suffix == ".npz":
        stored = read_archive(path)
        if is_sparse(stored):
            return _all_train(read_labels(read_sparse(path, stored)))
    has_labels = suffix in (".jsonl", ".ndjson") or "labels" in reading.get("columns", ())
    header = next(_rows(path), ("", []))[1] if suffix in _DELIMITERS else []
    if has_labels or find_name("labels", header):
        source = corpora.Documents(path, needed=["labels"], optional=["split", "id"], **reading)
        documents = list(source)
        train = np.flatnonzero([document.split != "test" for document in documents])
        labels = read_labels([set(document.labels or ()) for document in documents])
        has_ids = all(document.id is not None for document in documents)
        ids = [str(document.id) for document in documents] if has_ids else None
        return LabelSets(labels, ids, train, str(source.understood))
    scores = read_score_file(path)
    ids = None if scores.ids is None else [str(one) for one in scores.ids]
    return _all_train(read_labels(scores.values, names=scores.names), ids)


def _all_train(labels: LabelMatrix, ids: list[str] | None = None) -> LabelSets:
    return LabelSets(labels, ids, np.arange(labels.shape[0]))


class Comparison:
    """Metrics of scores before and after rescoring, for documents with known labels, by block.

    Documents are matched by their ids; if the first block has no known id, and ``by_order``, by
    their order.

    Parameters
    ----------
    known
        Label sets of documents; ``None``: nothing is compared.
    names
        Names of the columns of scores; ``None``: they have none.
    by_order
        Whether documents without a known id are matched by order.
    """

    def __init__(self, known: LabelSets | None, names: list[str] | None, by_order: bool) -> None:
        # Columns that are numbers are matched by their order.
        if known and names is not None and known.labels.names.dtype.kind not in "iu":
            labels = labels_in_order(known.labels, names, "Scores and known labels")
            known = replace(known, labels=labels)
        self._known = known
        self._by_order = by_order
        self._n_seen = 0
        self.totals: tuple[Evaluation, Evaluation] | None = None

    def known_labels(self, scores: ScoreMatrix) -> tuple[Any, LabelMatrix] | None:
        """Return the rows of the next block that have known labels, and these labels."""
        if self._known is None:
            return None
        found = self._known.of(scores)
        if found is not None and self._n_seen == 0:
            self._by_order = False
        start, self._n_seen = self._n_seen, self._n_seen + scores.values.shape[0]
        if not self._by_order:
            return found
        if self._n_seen > self._known.labels.shape[0]:
            return None
        rows = np.arange(start, self._n_seen)
        return slice(None), self._known.labels.rows(rows)

    def add(self, pair: tuple[Evaluation, Evaluation] | None) -> None:
        """Add the metrics of a block, before and after."""
        if pair is not None and self.totals is not None:
            pair = (self.totals[0] + pair[0], self.totals[1] + pair[1])
        self.totals = pair or self.totals

    def check_complete(self) -> None:
        """Raise if documents were matched by order and their numbers differ."""
        n_known = 0 if self._known is None else self._known.labels.shape[0]
        if self._known and self._by_order and self._n_seen != n_known:
            raise ValueError(
                f"--truth must have the scored documents, by id or {self._n_seen:,} of them in "
                f"their order, got {n_known:,} others."
            )


def rescore_block(
    block: tuple[ScoreMatrix, tuple[Any, LabelMatrix] | None], rescorer: LabelRescorer
) -> tuple[ScoreMatrix, tuple[Evaluation, Evaluation] | None]:
    """Return rescored documents, and metrics before and after if labels are known."""
    scores, known = block
    scale = rescorer.scale
    absent = 0.0 if scale == "probability" else float("-inf")  # labels outside the candidate set
    better = replace(scores, values=rescorer.rescore(scores.values), absent=absent)
    if known is None:
        return better, None
    rows, labels = known
    key = "probabilities" if scale == "probability" else "log_odds"
    before, after = (evaluate(labels, **{key: one.values[rows]}) for one in (scores, better))
    return better, (before, after)


def columns_like(scores: ScoreMatrix, like: ScoreMatrix) -> Any:
    """Return the values of scores with their columns in the order of other scores."""
    if scores.names is None or like.names is None or scores.names == like.names:
        return scores.values
    place = {name: j for j, name in enumerate(scores.names)}
    missing = [name for name in like.names if name not in place]
    if missing:
        raise ValueError(
            f"--out-of-fold must have all labels of the scores, and lacks {missing[:5]}."
        )
    return scores.values[:, [place[name] for name in like.names]]
