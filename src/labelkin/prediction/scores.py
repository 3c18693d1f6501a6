"""Score matrices and label sets in files: NumPy, SciPy, CSV, TSV, JSON lines, label:score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin import corpora
from labelkin.corpora.corpus import labels_of
from labelkin.corpora.lines import decoded_lines, json_objects, table_rows
from labelkin.corpora.tables import find_delimiter, find_name
from labelkin.corpora.vectors import format_scores, read_score_text
from labelkin.evaluation.metrics import Evaluation, evaluate
from labelkin.files import csv_text, plain_cell
from labelkin.label_matrix import Cells, LabelMatrix, read_labels
from labelkin.models.rescorer import LabelRescorer
from labelkin.prediction.in_blocks import labels_in_order, rescore_blocks
from labelkin.scaling.blocks import Engine, is_sparse, read_archive, read_sparse, row_blocks

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Endings of files of scores.
_ENDINGS = (".npy", ".npz", ".csv", ".tsv", ".jsonl", ".txt")
#: Keys of the scores in a JSON line; the last is that of labelkin predict --all-scores.
_KEYS = ("scores", "probabilities")
_BEFORE_SCORES = ("id", "labels", "names")


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
    """Read a score matrix; the ending of the file is its format.

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
        scores = _read_array(path)
    elif suffix == ".npz":
        scores = _read_archive(path)
    elif suffix == ".txt":
        scores = ScoreMatrix(read_score_text(path, None if names is None else len(names)))
    elif suffix in _DELIMITERS:
        scores = _read_table(path)
    else:
        scores = _read_lines(path, names or [], missing)
    if scores.values.ndim != 2 or not all(scores.values.shape):
        raise ValueError(
            f"{path.name}: scores must be documents × labels, got shape {scores.values.shape}."
        )
    return scores


def _read_array(path: Path) -> ScoreMatrix:
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, EOFError, OverflowError) as error:
        raise ValueError(f"{path.name}: it must be an array of numbers, got: {error}.") from None
    return ScoreMatrix(_numbers(stored, path))


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


def _read_table(path: Path) -> ScoreMatrix:
    rows = list(_rows(path))
    header: list[str] = rows[0][1] if rows else []
    labels, n_first = None, 0
    try:
        _floats(header, "")
    except ValueError:  # labelkin predict --all-scores writes labels and names before the scores
        if header[0] == "id":
            n_first = sum(1 for _ in takewhile(_BEFORE_SCORES.__contains__, header))
        labels = [plain_cell(name) for name in header[n_first:]]
        rows = rows[1:]
    values = np.array([_floats(row[n_first:], place) for place, row in rows], dtype=np.float64)
    return ScoreMatrix(values, labels, [plain_cell(r[0]) for _, r in rows] if n_first else None)


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


def _read_lines(path: Path, names: list[str], missing: float | None) -> ScoreMatrix:
    ids, rows = [], []
    for number, (place, record) in enumerate(json_objects(decoded_lines(path), path.name), start=1):
        key = next((key for key in _KEYS if key in record), None)
        if key is None:
            raise ValueError(
                f"{place}: a line must be an object with 'scores', got {str(record)[:60]!r}."
            )
        ids.append(record.get("id", number))
        rows.append(record[key])
    kinds = {type(row) for row in rows}
    if len(kinds) > 1 or not kinds <= {list, dict}:
        raise ValueError(
            f"{path.name}: scores must be lists in all lines, or objects in all lines."
        )
    if dict in kinds:
        return ScoreMatrix(_numbers(_in_order(rows, path, names, missing), path), names, ids)
    return ScoreMatrix(_numbers(rows, path), None, ids)


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


def write_scores(file: IO[bytes], scores: ScoreMatrix, kind: str) -> None:
    """Write a score matrix; ``kind`` is the ending of the file."""
    if kind not in _ENDINGS:
        raise ValueError(f"Scores can be written as {', '.join(_ENDINGS)}, got {kind!r}.")
    values = scores.values
    if kind == ".npz":
        _write_archive(file, scores)
    elif kind == ".npy":
        np.save(file, scores.dense())
    elif kind == ".txt":
        is_dense = not sparse.issparse(values)
        candidates = Cells.full(values.shape).matrix(values.ravel()) if is_dense else values
        file.write(format_scores(candidates).encode())
    elif kind == ".jsonl":
        file.write(_json_lines(scores).encode())
    else:
        rows = [[*scores.names]] if scores.names else []
        rows += scores.dense().tolist()
        if scores.ids is not None:
            first = ["id"] if scores.names else []
            rows = [[name, *row] for name, row in zip([*first, *scores.ids], rows, strict=True)]
        file.write(csv_text(rows, _DELIMITERS[kind]).encode())


def _json_lines(scores: ScoreMatrix) -> str:
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
    ids = scores.ids or range(1, n_documents + 1)
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


class DocumentLabels(NamedTuple):
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


def rescore_matrix(
    scores: ScoreMatrix, rescorer: LabelRescorer, engine: Engine | None = None
) -> ScoreMatrix:
    """Return rescored scores, computed here or on a cluster."""
    blocks = list(rescore_blocks(rescorer, row_blocks(scores.values), engine=engine))
    stack: Any = sparse.vstack if sparse.issparse(blocks[0]) else np.concatenate
    absent = 0.0 if rescorer.scale == "probability" else float("-inf")
    return replace(scores, values=stack(blocks) if blocks[1:] else blocks[0], absent=absent)


def known_rows(
    scores: ScoreMatrix, known: DocumentLabels, by_order: bool
) -> tuple[list[int], LabelMatrix] | None:
    """Return the rows of scores whose labels are known, and these labels.

    Documents are matched by their ids; if no id is known, and ``by_order``, by their order.
    """
    labels, n_documents = known.labels, scores.values.shape[0]
    place = {name: i for i, name in enumerate(known.ids or ())}
    rows = [i for i, name in enumerate(scores.ids or ()) if str(name) in place]
    if not rows and not by_order:
        return None
    # Columns that are numbers are matched by their order.
    if scores.names is not None and labels.names.dtype.kind not in "iu":
        labels = labels_in_order(labels, scores.names, "Scores and known labels")
    if rows:
        return rows, labels.rows(np.array([place[str((scores.ids or ())[i])] for i in rows]))
    if labels.shape[0] != n_documents:
        raise ValueError(
            f"--truth must have the scored documents, by id or {n_documents:,} of them in their "
            f"order, got {labels.shape[0]:,} others."
        )
    return list(range(n_documents)), labels


def evaluate_scores(
    scores: ScoreMatrix, scale: str, rows: list[int], labels: LabelMatrix
) -> Evaluation:
    """Evaluate some rows of scores by their labels."""
    key = "probabilities" if scale == "probability" else "log_odds"
    return evaluate(labels, **{key: scores.values[rows]})


def columns_like(scores: ScoreMatrix, names: Sequence[str] | None) -> Any:
    """Return the values of out-of-fold scores with their columns in the order of names."""
    if scores.names is None or names is None:
        return scores.values
    place = {name: j for j, name in enumerate(scores.names)}
    missing = [name for name in names if name not in place]
    if missing:
        raise ValueError(f"--out-of-fold must have all labels of the scores, lacks {missing[:5]}.")
    return scores.values[:, [place[name] for name in names]]
