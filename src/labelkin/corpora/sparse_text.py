"""Multilabel files of LIBSVM: ``LABEL,LABEL INDEX:VALUE …``, a document per line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, kind_of_features
from labelkin.corpora.documents import in_blocks
from labelkin.corpora.lines import bad_line, decoded_lines, line_blocks, stem_of
from labelkin.label_matrix import LabelMatrix, read_labels

_Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def read_libsvm(
    train: _Paths, test: _Paths = (), *, n_features: int | None = None, name: str | None = None
) -> Corpus:
    """Read multilabel files of LIBSVM, maybe compressed, such as ``rcv1_topics_train.svm.bz2``.

    Labels are those of all documents, in the order of their numbers (or of the alphabet); their
    names are strings. Index 1 is column 0. The documents are CSR.

    Parameters
    ----------
    train, test
        A file, or several that are read one after the other.
    n_features
        Number of columns; ``None``: the highest index.
    name
        Of the corpus; ``None``: the first file's.
    """
    parts = [_as_paths(train), _as_paths(test)]
    blocks = [list(_iter_blocks(part, n_features or MOST_FEATURES)) for part in parts]
    vectors = [X for part in blocks for X, _ in part]
    label_sets = [labels for part in blocks for _, sets in part for labels in sets]
    if not vectors:
        shown = ", ".join(path.name for path in parts[0])
        raise ValueError(f"The training files must have documents, and {shown} have none.")
    X = _stack(vectors, n_features)
    n_train = sum(X.shape[0] for X, _ in blocks[0])
    names = _in_order({label for labels in label_sets for label in labels})
    return Corpus(
        name=name or parts[0][0].name.split(".")[0],
        documents=X,
        features=kind_of_features(X),
        Y=read_labels(label_sets, names=names),
        train=np.arange(n_train),
        test=np.arange(n_train, len(label_sets)),
        source=f"{parts[0][0].name}, in the format of LIBSVM, "
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multilabel.html",
        licence="not stated with the data: see the source",
    )


def iter_libsvm(
    paths: _Paths, names: Sequence[str], *, n_features: int, block: int = 10_000
) -> Iterator[tuple[sparse.csr_array, LabelMatrix]]:
    """Yield vectors and labels of at most ``block`` documents at a time.

    ``names`` are the labels, in the order of the columns; a label that is not among them is an
    error that names the line.
    """
    known = set(names)
    for path in _as_paths(paths):
        for rows in iter_rows(path, split_at_space, n_features=n_features, block=block):
            label_sets = list(_label_sets(rows))
            _check_known(path, rows.lines, label_sets, known)
            yield rows.X, read_labels(label_sets, names=names)


def _as_paths(paths: _Paths) -> list[Path]:
    several = [paths] if isinstance(paths, str | PathLike) else paths
    return [Path(path) for path in several]


def _iter_blocks(
    paths: Iterable[Path], n_features: int
) -> Iterator[tuple[sparse.csr_array, list[frozenset[str]]]]:
    for path in paths:
        for rows in iter_rows(path, split_at_space, n_features=n_features, block=10_000):
            yield rows.X, list(_label_sets(rows))


def _label_sets(rows: Rows) -> Iterator[frozenset[str]]:
    for head in rows.heads:
        yield frozenset(head.decode("utf-8").split(",")) - {""}


def _check_known(
    path: Path, lines: Sequence[int], label_sets: Sequence[frozenset[str]], known: set[str]
) -> None:
    for number, labels in zip(lines, label_sets, strict=True):
        if labels - known:
            raise bad_line(
                path,
                number,
                f"labels must be among the {len(known)} names given, got "
                f"{', '.join(map(repr, sorted(labels - known)))}.",
            )


def _stack(vectors: Sequence[sparse.csr_array], n_features: int | None) -> sparse.csr_array:
    X = sparse.csr_array(sparse.vstack(vectors))
    width = n_features or int(X.indices.max(initial=-1)) + 1
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _in_order(labels: set[str]) -> list[str]:
    """Numbers by size, everything else by the alphabet."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


HEADER = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s*", re.ASCII)
LINE = re.compile(
    r"(?P<labels>\d+(?:,\s*\d+)*(?![\d:]))?(?P<features>(?:(?:\s+|^)\d+:[-+.\deE]+)*)\s*", re.ASCII
)


class Block(NamedTuple):
    """Documents in file order: vectors ``(n, n_features)`` and label sets ``(n, n_labels)``."""

    documents: sparse.csr_array
    Y: LabelMatrix


class Header(NamedTuple):
    """What the first line promises."""

    n_documents: int
    n_features: int
    n_labels: int


def iter_extreme(path: str | os.PathLike[str], *, block: int = 10_000) -> Iterator[Block]:
    """Read vectors and label sets, a block of documents at a time, however large the file is.

    The end of the file is an error if there were fewer documents than its first line promised, more
    documents are one too; the labels are named by their numbers. Gzip is unpacked.
    """
    path = Path(path)
    lines = decoded_lines(path)
    header = read_header(path, next(lines, ""))
    n_read = 0
    for some in in_blocks(lines, block):
        kept = _without_trailing_blanks(some, header.n_documents - n_read)
        if n_read + len(kept) > header.n_documents:
            raise ValueError(
                f"{path.name}, line {header.n_documents + 2}: the file must end after the "
                f"{header.n_documents} documents of its first line, got more."
            )
        if kept:
            yield _parse(kept, header, path, first_line=n_read + 2)
        n_read += len(kept)
    if n_read < header.n_documents:
        raise ValueError(
            f"{path.name}, line {n_read + 2}: the file must hold the {header.n_documents} documents"
            f" of its first line, got {n_read}. Is it cut off?"
        )


def read_extreme(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
) -> Corpus:
    r"""Read a corpus: training documents and, from a file of their own, test documents.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tiny_train.txt"
    >>> _ = file.write_text("2 3 4\n0,3 1:0.5 2:1\n 0:2\n")
    >>> corpus = read_extreme(file)
    >>> corpus.documents.toarray().tolist(), corpus.Y.label_sets()
    ([[0.0, 0.5, 1.0], [2.0, 0.0, 0.0]], [(0, 3), ()])
    >>> folder.cleanup()
    """
    paths = [Path(train)] if test is None else [Path(train), Path(test)]
    blocks = [list(iter_extreme(path)) for path in paths]
    for path, part in zip(paths, blocks, strict=True):
        if not part:
            raise ValueError(f"{path.name}: a corpus must have documents, got none.")
    _check_same_width(paths, blocks)
    X = sparse.vstack([block.documents for part in blocks for block in part], format="csr")
    Y = sparse.vstack([block.Y.positive for part in blocks for block in part], format="csr")
    n_train = sum(block.Y.shape[0] for block in blocks[0])
    return Corpus(
        name=name or stem_of(paths[0]),
        documents=X,
        features=kind_of_features(X),
        Y=read_labels(Y),
        train=np.arange(n_train),
        test=np.arange(n_train, X.shape[0]),
        source=" and ".join(str(path) for path in paths),
        licence="not stated in the file",
    )


def is_extreme(path: Path) -> bool:
    """Return whether a file begins as those of the extreme-classification repository do."""
    return HEADER.fullmatch(next(decoded_lines(path, "latin-1"), "")) is not None


def read_extreme_folder(folder: Path, **options: Any) -> Corpus:
    """Read the training file and maybe the test file of a folder, which are called so."""
    files = [path for path in sorted(folder.glob("*.txt*")) if is_extreme(path)]
    train = [path for path in files if re.search("train|trn", path.name.lower())]
    test = [path for path in files if re.search("test|tst", path.name.lower())]
    if len(train) != 1 or len(test) > 1:
        raise ValueError(
            f"{folder.name} must have one file of training documents and at most one of test "
            f"documents, called so, got {', '.join(path.name for path in files)}. Name them: "
            "labelkin.corpora.sparse_text.read_extreme(train, test)."
        )
    return read_extreme(train[0], *test, **{"name": folder.name, **options})


def read_header(path: Path, line: str) -> Header:
    """Read ``n d p``."""
    match = HEADER.fullmatch(line)
    if not match:
        raise ValueError(
            f"{path.name}, line 1: the first line must be the numbers of documents, features and "
            f"labels, e.g. '15539 5000 3993', got {line.strip()[:60]!r}."
        )
    return Header(*(int(number) for number in match.groups()))


def _without_trailing_blanks(lines: list[str], most: int) -> list[str]:
    """Drop blank lines after the last document; before it they are documents of nothing."""
    end = len(lines)
    while end > most and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _parse(lines: Sequence[str], header: Header, path: Path, *, first_line: int) -> Block:
    matches = [LINE.fullmatch(line) for line in lines]
    labels, features = [], []
    for number, (match, line) in enumerate(zip(matches, lines, strict=True), start=first_line):
        if match is None:
            raise _wrong_line(path, number, line)
        labels.append(match["labels"] or "")
        features.append(match["features"])
    columns, label_counts = _label_numbers(labels)
    pairs, pair_counts = _feature_values(features, path, first_line)
    _check_range(columns, label_counts, header.n_labels, "labels", path, first_line)
    _check_range(pairs[:, 0], pair_counts, header.n_features, "features", path, first_line)
    X = _rows(pairs[:, 1], pairs[:, 0], pair_counts, header.n_features)
    Y = _rows(np.ones(len(columns)), columns, label_counts, header.n_labels)
    _refuse_repeated(X, path, first_line)
    Y.sum_duplicates()
    Y.data[:] = 1.0
    return Block(X, read_labels(Y))


def _label_numbers(labels: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts = np.array([text.count(",") + 1 if text else 0 for text in labels])
    numbers = [int(number) for text in labels if text for number in text.split(",")]
    return np.array(numbers, dtype=np.int64), counts


def _feature_values(
    features: Sequence[str], path: Path, first_line: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return feature and value of every pair, ``(n_pairs, 2)``, and the number per document."""
    counts = np.array([text.count(":") for text in features])
    numbers = _numbers(" ".join(features))
    if numbers is None:
        wrong = next(i for i, text in enumerate(features) if _numbers(text) is None)
        raise _wrong_line(path, first_line + wrong, features[wrong])
    return numbers.reshape(-1, 2), counts


def _numbers(text: str) -> NDArray[np.float64] | None:
    """Return the numbers of pairs one after the other, or nothing if one is no finite number."""
    try:
        numbers = np.array(text.replace(":", " ").split(), dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _check_range(
    found: NDArray[Any],
    counts: NDArray[np.int64],
    most: int,
    what: str,
    path: Path,
    first_line: int,
) -> None:
    wrong = np.flatnonzero(found >= most)
    if len(wrong):
        line = first_line + int(np.searchsorted(np.cumsum(counts), wrong[0], side="right"))
        raise ValueError(
            f"{path.name}, line {line}: {what} must be numbers below the {most} {what} of the first"
            f" line, got {int(found[wrong[0]])}. They count from 0."
        )


def _rows(
    values: NDArray[np.float64], columns: NDArray[Any], counts: NDArray[np.int64], width: int
) -> sparse.csr_array:
    starts = np.concatenate([[0], np.cumsum(counts)])
    matrix = sparse.csr_array(
        (values, columns.astype(np.int64), starts), shape=(len(counts), width)
    )
    matrix.sort_indices()
    return matrix


def _refuse_repeated(X: sparse.csr_array, path: Path, first_line: int) -> None:
    again = np.flatnonzero(X.indices[1:] == X.indices[:-1]) + 1
    again = again[~np.isin(again, X.indptr)]
    if len(again):
        line = first_line + int(np.searchsorted(X.indptr, again[0], side="right")) - 1
        raise ValueError(
            f"{path.name}, line {line}: a document must name a feature once, got "
            f"{X.indices[again[0]]} again."
        )


def _check_same_width(paths: Sequence[Path], blocks: Sequence[Sequence[Block]]) -> None:
    shapes = [(part[0].documents.shape[1], part[0].Y.shape[1]) for part in blocks]
    if len(set(shapes)) > 1:
        raise ValueError(
            f"{paths[0].name} and {paths[1].name} must have the same numbers of features and "
            f"labels in their first lines, got {shapes[0]} and {shapes[1]}."
        )


def _wrong_line(path: Path, number: int, line: str) -> ValueError:
    return ValueError(
        f"{path.name}, line {number}: a line must be labels with commas between, then "
        f"feature:value with blanks between, got {line.strip()[:60]!r}."
    )


#: As many features as a matrix can have.
MOST_FEATURES = int(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class Rows:
    """Some lines of a file.

    Attributes
    ----------
    lines
        Their numbers, from 1.
    heads
        What stands before the vectors.
    X
        The vectors, ``(n_lines, n_features)``; term 1 is column 0.
    """

    lines: Sequence[int]
    heads: Sequence[bytes]
    X: sparse.csr_array


def iter_rows(
    path: Path, split: Callable[[bytes], tuple[bytes, bytes]], *, n_features: int, block: int
) -> Iterator[Rows]:
    """Yield the lines of a file, at most ``block`` at a time; ``split`` parts head and vector."""
    if block < 1:
        raise ValueError(f"block must be at least 1 document, got {block!r}.")
    for numbers, lines in line_blocks(path, block):
        heads, vectors = zip(*map(split, lines), strict=True)
        yield Rows(numbers, heads, _read_vectors(path, numbers, vectors, n_features))


def split_at_space(line: bytes) -> tuple[bytes, bytes]:
    """Return the first word and the rest; a line that starts with a term has no first word."""
    head, _, vector = line.partition(b" ")
    return (b"", line) if b":" in head else (head, vector)


def _read_vectors(
    path: Path, numbers: Sequence[int], vectors: Sequence[bytes], n_features: int
) -> sparse.csr_array:
    from sklearn.datasets import load_svmlight_file

    # The reader of scikit-learn wants a label in front.
    text = b"".join(b"0 %b\n" % vector for vector in vectors)
    try:
        X, _ = load_svmlight_file(BytesIO(text), n_features=n_features, zero_based=False)
    except ValueError as error:
        raise _explain(path, numbers, vectors, n_features, str(error)) from None
    if not np.isfinite(X.data).all():
        raise _explain(path, numbers, vectors, n_features, "weights must be finite")
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape)


def _explain(
    path: Path, numbers: Sequence[int], vectors: Sequence[bytes], n_features: int, reason: str
) -> ValueError:
    """Return the error that names the first line at fault."""
    for number, vector in zip(numbers, vectors, strict=True):
        if wrong := _wrong_entry(vector, n_features):
            return bad_line(
                path,
                number,
                f"a vector must be TERM:WEIGHT …, terms ascending from 1 to {n_features}, got "
                f"{wrong}. Is the file cut off?",
            )
    return bad_line(path, numbers[0], f"the vectors from here on must be readable: {reason}.")


def _wrong_entry(vector: bytes, n_features: int) -> str:
    """Return the first entry at fault and the term before it; nothing if there is none."""
    before = 0
    for entry in vector.split():
        term = _term(entry)
        if not before < term <= n_features:
            return f"{entry.decode(errors='replace')!r} after term {before}"
        before = term
    return ""


def _term(entry: bytes) -> int:
    """Return the term of an entry, 0 if it is none."""
    term, colon, weight = entry.partition(b":")
    try:
        return int(term) if colon and isfinite(float(weight)) else 0
    except ValueError:
        return 0
