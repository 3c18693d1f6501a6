"""Vectors written as ``TERM:WEIGHT TERM:WEIGHT …``, a document per line, after its labels.

LIBSVM's multilabel files, ``LABEL,LABEL TERM:WEIGHT …``, count terms from 1, ascending.

The extreme-classification repository's (http://manikvarma.org/downloads/XC/XMLRepository.html)
count labels and terms from 0, in any order; their first line holds the numbers of documents,
features and labels, ``n d p``. A line that begins with a blank has no labels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, kind_of_features, label_fields
from labelkin.corpora.lines import decoded_lines, in_blocks, line_blocks, line_of, stem_of
from labelkin.files import MOST_LABELS, check_declared
from labelkin.label_matrix import read_labels

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: As many features as a matrix can have.
_MOST_FEATURES = int(np.iinfo(np.int32).max)
# Possessive: a wrong entry is not tried in other ways, and it takes half the time.
_VECTOR = re.compile(rb"\s*(?:[0-9]++:[-+.0-9eE]++(?:\s++|$))*+")
_SIZES = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s*", re.ASCII)
_LINE = re.compile(
    r"(?P<labels>\d+(?:,\s*\d+)*(?![\d:]))?(?P<vector>(?:(?:\s+|^)\d+:[-+.\deE]+)*)\s*", re.ASCII
)


def read_libsvm(
    train: _Paths, test: _Paths = (), *, n_features: int | None = None, name: str | None = None
) -> Corpus:
    """Read multilabel files of LIBSVM, maybe packed, such as ``rcv1_topics_train.svm.bz2``.

    Labels are those of all documents, in the order of their numbers (or of the alphabet); their
    names are strings. Index 1 is column 0. The documents are CSR.

    Parameters
    ----------
    train, test : path or sequence of paths
        A file, or several that are read one after the other.
    n_features : int, optional
        Number of columns; ``None``: the highest index.
    name : str, optional
        Of the corpus; ``None``: the first file's.
    """
    parts = [_as_paths(train), _as_paths(test)]
    width = n_features or _MOST_FEATURES
    blocks = [[rows for path in part for rows in iter_rows(path, width)] for part in parts]
    everything = [rows for part in blocks for rows in part]
    if not everything:
        shown = ", ".join(path.name for path in parts[0])
        raise ValueError(f"The training files must have documents, and {shown} have none.")
    X = sparse.csr_array(sparse.vstack([rows.X for rows in everything]))
    width = n_features or int(X.indices.max(initial=-1)) + 1
    if n_features is None:
        largest = max((*parts[0], *parts[1]), key=lambda path: path.stat().st_size)
        check_declared(largest, width, "features")
    X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    label_sets = [labels for rows in everything for labels in rows.label_sets()]
    n_train = sum(len(rows.lines) for rows in blocks[0])
    return Corpus(
        name=name or parts[0][0].name.split(".")[0],
        documents=X,
        features=kind_of_features(X),
        **label_fields(read_labels(label_sets, names=_in_order(set().union(*label_sets)))),
        train=np.arange(n_train),
        test=np.arange(n_train, len(label_sets)),
        source=f"{parts[0][0].name}, in the format of LIBSVM, "
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multilabel.html",
        licence="not stated with the data: see the source",
    )


def _as_paths(paths: _Paths) -> list[Path]:
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [Path(path) for path in several]


def _in_order(labels: set[str]) -> list[str]:
    """Numbers by size, everything else by the alphabet."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


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

    def label_sets(self) -> list[frozenset[str]]:
        """Return the labels in the heads, which have commas between."""
        return [frozenset(head.decode("utf-8").split(",")) - {""} for head in self.heads]


def split_at_space(line: bytes) -> tuple[bytes, bytes]:
    """Return the first word and the rest; a line that starts with a term has no first word."""
    head, _, vector = line.partition(b" ")
    return (b"", line) if b":" in head else (head, vector)


def iter_rows(
    path: Path,
    n_features: int,
    *,
    split: Callable[[bytes], tuple[bytes, bytes]] = split_at_space,
    block: int = 10_000,
) -> Iterator[Rows]:
    """Yield the lines of a file, at most ``block`` at a time; ``split`` parts head and vector.

    What follows a ``#`` is a comment.
    """
    if block < 1:
        raise ValueError(f"block must be at least 1 document, got {block!r}.")
    for numbers, lines in line_blocks(path, block):
        heads, rest = zip(*map(split, lines), strict=True)
        vectors = [text.partition(b"#")[0] for text in rest]
        pairs = _read_pairs(vectors) if all(map(_VECTOR.fullmatch, vectors)) else None
        if pairs is None or not _ascend(pairs[0], pairs[2], n_features):
            raise _wrong_vector(path, numbers, vectors, n_features)
        terms, weights, indptr = pairs
        shape = (len(vectors), n_features)
        arrays = (weights, (terms - 1).astype(np.int32), indptr.astype(np.int32))
        yield Rows(numbers, heads, sparse.csr_array(arrays, shape=shape))


def _read_pairs(
    vectors: Sequence[bytes],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]] | None:
    """Return terms, weights and where each vector begins; nothing if a number is none."""
    indptr = np.cumsum([0, *(vector.count(b":") for vector in vectors)])
    try:
        numbers = np.array(b" ".join(vectors).replace(b":", b" ").split(), dtype=np.float64)
    except ValueError:
        return None
    return (numbers[::2], numbers[1::2], indptr) if np.isfinite(numbers).all() else None


def _ascend(terms: NDArray[np.float64], indptr: NDArray[np.int64], most: int) -> bool:
    """Return whether the terms of every vector ascend from 1 to at most ``most``."""
    rises = np.diff(terms, prepend=0.0) > 0
    rises[indptr[:-1][np.diff(indptr) > 0]] = True
    return bool(rises.all() and terms.min(initial=1) >= 1 and terms.max(initial=1) <= most)


def _wrong_vector(
    path: Path, numbers: Sequence[int], vectors: Sequence[bytes], n_features: int
) -> ValueError:
    """Return the error that names the first entry at fault."""
    for number, vector in zip(numbers, vectors, strict=True):
        before = 0
        for entry in vector.split():
            term = _term(entry)
            if not before < term <= n_features:
                return ValueError(
                    f"{line_of(path, number)}: a vector must be TERM:WEIGHT …, terms ascending "
                    f"from 1 to {n_features}, got {entry[:60].decode(errors='replace')!r} after "
                    f"term {before}. Is the file cut off?"
                )
            before = term
    return ValueError(
        f"{line_of(path, numbers[0])}: the vectors from here on must be TERM:WEIGHT …."
    )


def _term(entry: bytes) -> int:
    """Return the term of an entry, 0 if it is none."""
    term, colon, weight = entry.partition(b":")
    try:
        return int(term) if colon and isfinite(float(weight)) else 0
    except ValueError:
        return 0


class Block(NamedTuple):
    """Documents in file order: vectors ``(n, n_features)`` and label sets ``(n, n_labels)``."""

    documents: sparse.csr_array
    Y: sparse.csr_array


def read_extreme(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
) -> Corpus:
    r"""Read files of the extreme-classification repository, maybe packed.

    Parameters
    ----------
    train, test : path
        The training documents and, from a file of their own, the test documents.
    name : str, optional
        Of the corpus; ``None``: that of the first file, without its ending.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tiny_train.txt"
    >>> _ = file.write_text("2 3 4\n0,3 1:0.5 2:1\n 0:2\n")
    >>> corpus = read_extreme(file)
    >>> corpus.documents.toarray().tolist(), corpus.label_sets()
    ([[0.0, 0.5, 1.0], [2.0, 0.0, 0.0]], [(0, 3), ()])
    >>> folder.cleanup()
    """
    paths = [Path(train)] if test is None else [Path(train), Path(test)]
    blocks = [list(iter_extreme(path)) for path in paths]
    for path, part in zip(paths, blocks, strict=True):
        if not part:
            raise ValueError(f"{path.name}: a corpus must have documents, got none.")
    shapes = [(part[0].documents.shape[1], part[0].Y.shape[1]) for part in blocks]
    if len(set(shapes)) > 1:
        raise ValueError(
            f"{paths[0].name} and {paths[1].name} must have the same numbers of features and "
            f"labels in their first lines, got {shapes[0]} and {shapes[1]}."
        )
    X = sparse.vstack([block.documents for part in blocks for block in part], format="csr")
    Y = sparse.vstack([block.Y for part in blocks for block in part], format="csr")
    n_train = sum(block.Y.shape[0] for block in blocks[0])
    return Corpus(
        name=name or stem_of(paths[0]),
        documents=X,
        features=kind_of_features(X),
        **label_fields(read_labels(Y)),
        train=np.arange(n_train),
        test=np.arange(n_train, X.shape[0]),
        source=" and ".join(str(path) for path in paths),
        licence="not stated in the file",
    )


def read_extreme_folder(folder: Path, **options: Any) -> Corpus:
    """Read the training file and maybe the test file of a folder, which are called so."""
    files = [path for path in sorted(folder.glob("*.txt*")) if is_extreme(path)]
    train = [path for path in files if re.search("train|trn", path.name.lower())]
    test = [path for path in files if re.search("test|tst", path.name.lower())]
    if len(train) != 1 or len(test) > 1:
        raise ValueError(
            f"{folder.name} must have one file of training documents and at most one of test "
            f"documents, called so, got {', '.join(path.name for path in files)}. Name them: "
            "labelkin.corpora.vectors.read_extreme(train, test)."
        )
    return read_extreme(train[0], *test, **{"name": folder.name, **options})


def is_extreme(path: Path) -> bool:
    """Return whether a file begins as those of the extreme-classification repository do."""
    return _SIZES.fullmatch(next(decoded_lines(path, "latin-1"), "")) is not None


def iter_extreme(path: str | os.PathLike[str], *, block: int = 10_000) -> Iterator[Block]:
    """Read vectors and label sets, a block of documents at a time, however large the file is.

    The end of the file is an error if there were fewer documents than its first line promised, more
    documents are one too; the labels are named by their numbers.
    """
    path = Path(path)
    lines = decoded_lines(path)
    first = next(lines, "")
    sizes = _SIZES.fullmatch(first)
    if not sizes:
        raise ValueError(
            f"{line_of(path, 1)}: the first line must be the numbers of documents, features and "
            f"labels, e.g. '15539 5000 3993', got {first.strip()[:60]!r}."
        )
    n_documents, n_features, n_labels = map(int, sizes.groups())
    check_declared(path, n_features, "features")
    check_declared(path, n_labels, "labels", MOST_LABELS)
    n_read = 0
    for some in in_blocks(lines, block):
        # Blank lines after the last document are none; before it they are documents of nothing.
        while n_read + len(some) > n_documents and some and not some[-1].strip():
            some.pop()
        if n_read + len(some) > n_documents:
            raise ValueError(
                f"{line_of(path, n_documents + 2)}: the file must end after the {n_documents} "
                "documents of its first line, got more."
            )
        if some:
            yield _parse(path, n_read + 2, some, n_features, n_labels)
        n_read += len(some)
    if n_read < n_documents:
        raise ValueError(
            f"{line_of(path, n_read + 2)}: the file must hold the {n_documents} documents of its "
            f"first line, got {n_read}. Is it cut off?"
        )


def _parse(
    path: Path, first_line: int, lines: Sequence[str], n_features: int, n_labels: int
) -> Block:
    labels, vectors = [], []
    for number, line in enumerate(lines, start=first_line):
        match = _LINE.fullmatch(line)
        if match is None:
            raise _wrong_line(path, number, line)
        labels.append(match["labels"].split(",") if match["labels"] else [])
        vectors.append(match["vector"].encode())
    pairs = _read_pairs(vectors)
    if pairs is None:
        wrong = next(i for i, vector in enumerate(vectors) if _read_pairs([vector]) is None)
        raise _wrong_line(path, first_line + wrong, vectors[wrong].decode())
    columns = np.array([int(label) for row in labels for label in row], dtype=np.int64)
    starts = np.cumsum([0, *map(len, labels)])
    _check_below(path, first_line, columns, starts, n_labels, "labels")
    _check_below(path, first_line, pairs[0], pairs[2], n_features, "features")
    X = sparse.csr_array(
        (pairs[1], pairs[0].astype(np.int64), pairs[2]), shape=(len(lines), n_features)
    )
    X.sort_indices()
    again = np.flatnonzero(X.indices[1:] == X.indices[:-1]) + 1
    again = again[~np.isin(again, X.indptr)]
    if len(again):
        row = int(np.searchsorted(X.indptr, again[0], side="right")) - 1
        raise ValueError(
            f"{line_of(path, first_line + row)}: a document must name a feature once, got "
            f"{X.indices[again[0]]} again."
        )
    Y = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(lines), n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1.0
    return Block(X, Y)


def _check_below(
    path: Path,
    first_line: int,
    found: NDArray[Any],
    starts: NDArray[np.int64],
    most: int,
    what: str,
) -> None:
    wrong = np.flatnonzero(found >= most)
    if len(wrong):
        row = int(np.searchsorted(starts, wrong[0], side="right")) - 1
        raise ValueError(
            f"{line_of(path, first_line + row)}: {what} must be numbers below the {most} {what} of "
            f"the first line, got {int(found[wrong[0]])}. They count from 0."
        )


def _wrong_line(path: Path, number: int, line: str) -> ValueError:
    return ValueError(
        f"{line_of(path, number)}: a line must be labels with commas between, then feature:value "
        f"with blanks between, got {line.strip()[:60]!r}."
    )
