"""Score matrices and label sets in files: NumPy, SciPy, CSV, TSV, JSON lines, label:score.

Arrays (``.npy``), tables and JSON lines are read and written in blocks of documents. Candidates
(``.npz``, ``.txt``) are read and written whole.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from labelkin.scaling.blocks import DOCUMENTS, is_sparse, read_archive, read_sparse, row_blocks

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Endings of files of scores.
_ENDINGS = (".npy", ".npz", ".csv", ".tsv", ".jsonl", ".txt")
#: Keys of the scores in a JSON line; the last is that of labelkin predict --all-scores.
_KEYS = ("scores", "probabilities")
_BEFORE_SCORES = ("id", "labels", "names")
#: Documents × labels of a block: 2²² numbers are 32 MB.
_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """A score matrix.

    Attributes
    ----------
    values : array or CSR array of candidates, (n_documents, n_labels)
        The scores.
    names : list of str, optional
        Labels of the columns, if the file has names.
    ids : list, optional
        Names of the documents, if the file has any.
    absent : float, default 0.0
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
    path : Path
        ``.npy``, ``.npz`` (``scores`` and optionally ``labels``; or candidates, a sparse matrix as
        SciPy and PECOS save it), ``.txt`` (candidates, ``label:score``, as Omikuji and napkinXC
        print them), ``.csv`` and ``.tsv`` (a header with the labels, optionally after a column
        ``id``; or numbers only), ``.jsonl`` (objects with ``scores``: by label, or in a list).
    names : list of str, optional
        The labels of the result, in this order; needed for JSON lines.
    missing : float, optional
        The score of a label that a JSON line does not contain; by default that is an error.
    """
    suffix = path.suffix.lower()
    if suffix not in _ENDINGS:
        raise ValueError(f"A score matrix must be a file {', '.join(_ENDINGS)}, got {path.name!r}.")
    if suffix == ".npy":
        blocks = _array_blocks(path)
    elif suffix == ".npz":
        blocks = iter([_read_archive(path)])
    elif suffix == ".txt":
        blocks = iter([ScoreMatrix(read_score_text(path, None if names is None else len(names)))])
    elif suffix in _DELIMITERS:
        blocks = _table_blocks(path)
    else:
        blocks = _line_blocks(path, names or [], missing)
    for scores in blocks:
        if scores.values.ndim != 2 or not all(scores.values.shape):
            raise ValueError(
                f"{path.name}: scores must be documents × labels, got shape {scores.values.shape}."
            )
        yield scores


def _joined(blocks: list[ScoreMatrix]) -> ScoreMatrix:
    """Return blocks of documents as one matrix."""
    values = [block.values for block in blocks]
    stack: Any = sparse.vstack if sparse.issparse(values[0]) else np.concatenate
    ids = None if blocks[0].ids is None else [name for block in blocks for name in block.ids or ()]
    return replace(blocks[0], values=stack(values) if values[1:] else values[0], ids=ids)


def _size(n_labels: int) -> int:
    """Return the number of documents in a block."""
    return max(1, min(DOCUMENTS, _CELLS // max(n_labels, 1)))


def _array_blocks(path: Path) -> Iterator[ScoreMatrix]:
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, EOFError, OverflowError) as error:
        raise ValueError(f"{path.name}: it must be an array of numbers, got: {error}.") from None
    is_matrix = stored.ndim == 2 and len(stored)
    for rows in row_blocks(stored, size=_size(stored.shape[1])) if is_matrix else [stored]:
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
    header, labels, n_first = first[1], None, 0
    try:
        _floats(header, "")
        rows = chain([first], rows)
    except ValueError:  # labelkin predict --all-scores writes labels and names before the scores
        if header[0] == "id":
            n_first = sum(1 for _ in takewhile(_BEFORE_SCORES.__contains__, header))
        labels = [plain_cell(name) for name in header[n_first:]]
    blocks = in_blocks(rows, _size(len(header)))
    for body in chain([next(blocks, [])], blocks):  # a header alone is one empty block
        values = [_floats(row[n_first:], place) for place, row in body]
        ids = [plain_cell(row[0]) for _, row in body] if n_first else None
        yield ScoreMatrix(np.array(values, dtype=np.float64), labels, ids)


def _rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table after their places; all must be as long as the first."""
    header = next(decoded_lines(path, None), "")
    delimiter = find_delimiter(header, _DELIMITERS[path.suffix.lower()], [], ["labels"])
    width = None
    for place, row in table_rows(decoded_lines(path, None), path.name, delimiter):
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


def _line_blocks(path: Path, names: list[str], missing: float | None) -> Iterator[ScoreMatrix]:
    lines = enumerate(json_objects(decoded_lines(path), path.name), start=1)
    blocks = in_blocks(lines, _size(len(names)))
    kinds: set[type] = set()
    for some in chain([next(blocks, [])], blocks):
        ids, rows = [], []
        for number, (place, record) in some:
            key = next((key for key in _KEYS if key in record), None)
            if key is None:
                raise ValueError(
                    f"{place}: a line must be an object with 'scores', got {str(record)[:60]!r}."
                )
            ids.append(record.get("id", number))
            rows.append(record[key])
        kinds.update(map(type, rows))
        if len(kinds) > 1 or not kinds <= {list, dict}:
            raise ValueError(
                f"{path.name}: scores must be lists in all lines, or objects in all lines."
            )
        if dict in kinds:
            yield ScoreMatrix(_numbers(_in_order(rows, path, names, missing), path), names, ids)
        else:
            yield ScoreMatrix(_numbers(rows, path), None, ids)


def _in_order(
    rows: list[dict[str, Any]], path: Path, names: list[str], missing: float | None
) -> list[list[Any]]:
    """Return the scores of each line in the order of the labels."""
    unknown = list(dict.fromkeys(name for row in rows for name in row if name not in {*names}))
    if unknown:
        raise ValueError(
            f"{path.name}: scores must be of labels in training, got {unknown[0]!r} "
            f"({len(unknown)} such labels)."
        )
    if missing is None and any(len(row) < len(names) for row in rows):
        raise ValueError(
            f"{path.name}: every line must have a log-odds for each of the {len(names)} labels. "
            "Only probabilities may be left out, and are 0."
        )
    return [[row.get(name, missing) for name in names] for row in rows]


def write_blocks(file: IO[bytes], blocks: Iterable[ScoreMatrix], kind: str) -> tuple[int, int]:
    """Write scores in blocks; ``kind`` is the ending of the file. Return the shape."""
    if kind not in _ENDINGS:
        raise ValueError(f"Scores can be written as {', '.join(_ENDINGS)}, got {kind!r}.")
    if kind in (".npz", ".txt"):
        blocks = [_joined(list(blocks))]
    n_documents = n_labels = 0
    for block in blocks:
        shape = block.values.shape
        if kind == ".npz":
            _write_archive(file, block)
        elif kind == ".txt":
            dense = None if sparse.issparse(block.values) else Cells.full(shape)
            values = block.values if dense is None else dense.matrix(block.values.ravel())
            file.write(format_scores(values).encode())
        elif kind == ".npy":
            if not n_documents:
                _write_shape(file, (0, shape[1]))
            file.write(np.ascontiguousarray(block.dense()).tobytes())
        elif kind == ".jsonl":
            file.write(_json_lines(block, n_documents).encode())
        else:
            rows = block.dense().tolist()
            header = [[*(["id"] if block.ids else []), *block.names]] if block.names else []
            if block.ids is not None:
                rows = [[name, *row] for name, row in zip(block.ids, rows, strict=True)]
            text = csv_text([*([] if n_documents else header), *rows], _DELIMITERS[kind])
            file.write(text.encode())
        n_documents, n_labels = n_documents + shape[0], shape[1]
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


def _json_lines(scores: ScoreMatrix, n_before: int) -> str:
    """Return a line per document: all labels, or its candidates by name or number."""
    values, names = scores.values, scores.names
    n_documents, n_labels = values.shape
    if sparse.issparse(values):
        called = names or [str(j) for j in range(n_labels)]
        stored = [called[j] for j in values.indices.tolist()]
        numbers = values.data.tolist()
        rows = [
            dict(zip(stored[start:stop], numbers[start:stop], strict=True))
            for start, stop in pairwise(values.indptr.tolist())
        ]
    else:
        rows = values.tolist()
        if names is not None:
            rows = [dict(zip(names, row, strict=True)) for row in rows]
    ids = scores.ids or range(n_before + 1, n_before + n_documents + 1)
    lines = ({"id": name, "scores": row} for name, row in zip(ids, rows, strict=True))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _write_archive(file: IO[bytes], scores: ScoreMatrix) -> None:
    arrays: dict[str, Any] = {"scores": scores.values}
    if sparse.issparse(scores.values):  # as SciPy saves it, with names beside it
        matrix = scores.values
        arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
        arrays |= {"format": np.array(b"csr"), "_is_array": np.array(True)}
    if scores.names is not None:
        arrays["labels"] = np.array(scores.names, dtype=str)
    np.savez_compressed(file, **arrays)


@dataclass(frozen=True, eq=False)
class DocumentLabels:
    """The label sets of documents.

    Attributes
    ----------
    labels : LabelMatrix
        Labels of all documents.
    ids : list of str, optional
        Names of the documents.
    train : ndarray of shape (n_train,)
        The training documents.
    reading : str, default ""
        How a file of texts was read, for a message.
    """

    labels: LabelMatrix
    ids: list[str] | None
    train: NDArray[Any]
    reading: str = ""


def read_label_sets(name: str, **reading: Any) -> DocumentLabels:
    """Return the label sets of documents.

    Parameters
    ----------
    name : str
        A 0/1 matrix (``.npy``, ``.npz``; ``.csv`` and ``.tsv`` whose header contains the labels);
        label sets, in JSON lines or in a table with a column of labels; or any corpus that
        :func:`labelkin.corpora.load` reads. Without a split, all documents are for training.
    **reading
        Options of :func:`labelkin.corpora.load` for texts.
    """
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in (*_ENDINGS, ".ndjson") or not path.exists():
        corpus = corpora.load(name, **reading)
        ids = None if corpus.ids is None else corpus.names()
        return DocumentLabels(labels_of(corpus), ids, corpus.train, corpus.understood)
    has_labels = suffix in (".jsonl", ".ndjson") or "labels" in reading.get("columns", ())
    header = next(_rows(path), ("", []))[1] if suffix in _DELIMITERS else []
    if has_labels or find_name("labels", header):
        source = corpora.Documents(path, needed=["labels"], optional=["split", "id"], **reading)
        documents = list(source)
        train = np.flatnonzero([document.split != "test" for document in documents])
        labels = read_labels([set(document.labels or ()) for document in documents])
        has_ids = all(document.id is not None for document in documents)
        ids = [str(document.id) for document in documents] if has_ids else None
        return DocumentLabels(labels, ids, train, str(source.understood))
    scores = read_score_file(path)
    labels = read_labels(scores.values, names=scores.names)
    ids = None if scores.ids is None else [str(one) for one in scores.ids]
    return DocumentLabels(labels, ids, np.arange(labels.shape[0]))


Evaluations = tuple[Evaluation, Evaluation]


class KnownScores:
    """Metrics of scores before and after rescoring, for documents with known labels.

    Documents are matched by their ids; if the first block has no known id, and ``by_order``, by
    their order.

    Parameters
    ----------
    known : DocumentLabels, optional
        Known labels; by default nothing is compared.
    names : list of str, optional
        Labels of the columns of scores.
    by_order : bool
        Whether documents without a known id are matched by order.

    Attributes
    ----------
    totals : tuple of Evaluation, optional
        Metrics before and after.
    """

    def __init__(
        self, known: DocumentLabels | None, names: list[str] | None, by_order: bool
    ) -> None:
        self._labels = None if known is None else known.labels
        # Columns that are numbers are matched by their order.
        if known and names is not None and known.labels.names.dtype.kind not in "iu":
            self._labels = labels_in_order(known.labels, names, "Scores and known labels")
        self._place = {name: i for i, name in enumerate((known and known.ids) or ())}
        self._by_order = by_order and known is not None
        self._n_seen = 0
        self.totals: Evaluations | None = None

    def of(self, scores: ScoreMatrix) -> tuple[Any, LabelMatrix] | None:
        """Return the rows of the next block that have known labels, and these labels."""
        rows = [i for i, name in enumerate(scores.ids or ()) if str(name) in self._place]
        if rows and self._n_seen == 0:
            self._by_order = False
        start, self._n_seen = self._n_seen, self._n_seen + scores.values.shape[0]
        places: Any = [self._place[str((scores.ids or ())[i])] for i in rows]
        if self._by_order:
            rows, places = list(range(scores.values.shape[0])), range(start, self._n_seen)
        if self._labels is None or not rows or max(places) >= self._labels.shape[0]:
            return None
        return rows, self._labels.rows(np.array(places))

    def add(self, done: Iterable[tuple[ScoreMatrix, Evaluations | None]]) -> Iterator[ScoreMatrix]:
        """Yield rescored blocks, and add up their metrics."""
        for scores, pair in done:
            if pair is not None:
                old = self.totals
                self.totals = pair if old is None else (old[0] + pair[0], old[1] + pair[1])
            yield scores
        n_known = self._labels.shape[0] if self._labels is not None else 0
        if self._by_order and self._n_seen != n_known:
            raise ValueError(
                f"--truth must have the scored documents, by id or {self._n_seen:,} of them in "
                f"their order, got {n_known:,} others."
            )


def rescore_block(
    block: tuple[ScoreMatrix, tuple[Any, LabelMatrix] | None], rescorer: LabelRescorer
) -> tuple[ScoreMatrix, Evaluations | None]:
    """Return rescored documents, and metrics before and after if labels are known."""
    scores, known = block
    is_probability = rescorer.scale == "probability"
    absent = 0.0 if is_probability else float("-inf")  # labels outside the candidate set
    better = replace(scores, values=rescorer.rescore(scores.values), absent=absent)
    if known is None:
        return better, None
    rows, labels = known
    key = "probabilities" if is_probability else "log_odds"
    before, after = (evaluate(labels, **{key: one.values[rows]}) for one in (scores, better))
    return better, (before, after)


def columns_like(scores: ScoreMatrix, names: Sequence[str] | None) -> Any:
    """Return the values of out-of-fold scores with their columns in the order of names."""
    if scores.names is None or names is None:
        return scores.values
    place = {name: j for j, name in enumerate(scores.names)}
    missing = [name for name in names if name not in place]
    if missing:
        raise ValueError(f"--out-of-fold must have all labels of the scores, lacks {missing[:5]}.")
    return scores.values[:, [place[name] for name in names]]
