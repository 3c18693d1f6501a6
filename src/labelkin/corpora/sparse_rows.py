"""Sparse vectors written as ``TERM:WEIGHT TERM:WEIGHT …``, a document per line, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from labelkin.corpora.text_files import bad_line, line_blocks

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
