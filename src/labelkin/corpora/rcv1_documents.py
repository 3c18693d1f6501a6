"""RCV1-v2's documents, from its vector and token files, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.rcv1_topics import Rcv1Topics
from labelkin.corpora.sparse_rows import Rows, iter_rows, split_at_space
from labelkin.corpora.text_files import bad_line, text_lines
from labelkin.label_matrix import LabelMatrix

#: How many terms the vectors have.
N_TERMS = 47_236


@dataclass(frozen=True)
class Rcv1Block:
    """Some documents: their numbers, vectors and topics, a row each."""

    ids: NDArray[np.int64]
    X: sparse.csr_array
    Y: LabelMatrix


def iter_rcv1_vectors(
    paths: Sequence[str | PathLike[str]],
    topics: Rcv1Topics,
    *,
    n_terms: int = N_TERMS,
    block: int = 10_000,
) -> Iterator[Rcv1Block]:
    """Yield the documents of vector files (``DOCID  TERM:WEIGHT …``), a block at a time.

    Never more than one block is in memory, however long the files are.

    Parameters
    ----------
    paths
        Such as ``lyrl2004_vectors_test_pt0.dat`` to ``…_pt3.dat``, maybe compressed, read in this
        order.
    topics
        What :func:`read_rcv1_topics` returns. A document without topics there is an error, and so
        is one that comes twice.
    n_terms
        Number of columns; term 1 is column 0.
    block
        Documents per block; the last one of a file may be smaller.
    """
    seen = np.zeros(len(topics.ids), dtype=bool)
    for path in map(Path, paths):
        for rows in iter_rows(path, split_at_space, n_features=n_terms, block=block):
            ids = _read_ids(path, rows)
            place = topics.positions(ids)
            _check_new(path, rows.lines, ids, place, seen)
            seen[place] = True
            yield Rcv1Block(ids, rows.X, topics.Y.rows(place))


def iter_rcv1_tokens(paths: Sequence[str | PathLike[str]]) -> Iterator[tuple[int, str]]:
    """Yield number and text of the documents in token files (``.I 2286``, ``.W``, tokens).

    The tokens are stems without stop words, with a space between.
    """
    for path in map(Path, paths):
        for start, lines in _entries(path):
            yield _read_entry(path, start, lines)


def _read_ids(path: Path, rows: Rows) -> NDArray[np.int64]:
    for number, head in zip(rows.lines, rows.heads, strict=True):
        if not head.isdigit():
            raise bad_line(
                path,
                number,
                "a line must begin with the number of a document, got "
                f"{head[:40].decode(errors='replace')!r}.",
            )
    return np.array(list(map(int, rows.heads)), dtype=np.int64)


def _check_new(
    path: Path,
    lines: Sequence[int],
    ids: NDArray[np.int64],
    place: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Refuse documents without topics, and those that came before, in this block or an earlier."""
    for i in np.flatnonzero(place < 0)[:1]:
        raise bad_line(path, lines[i], f"document {ids[i]} must have topics, and has none.")
    is_first = np.zeros(len(ids), dtype=bool)
    is_first[np.unique(ids, return_index=True)[1]] = True
    for i in np.flatnonzero(~is_first | seen[place])[:1]:
        raise bad_line(path, lines[i], f"documents must be unique, got {ids[i]} again.")


def _entries(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that belong to a document, without blank ones, and where they begin."""
    start, entry = 0, list[str]()
    for number, line in text_lines(path, "latin-1"):
        if line.startswith(".I") and entry:
            yield start, entry
            entry = []
        if line.strip():
            start = start if entry else number
            entry.append(line.strip())
    if entry:
        yield start, entry


def _read_entry(path: Path, start: int, lines: Sequence[str]) -> tuple[int, str]:
    begin = re.fullmatch(r"\.I\s+([0-9]+)", lines[0])
    if not begin:
        raise bad_line(path, start, f"a document must begin with .I NUMBER, got {lines[0][:60]!r}.")
    if lines[1:2] != [".W"]:
        got = repr(lines[1][:60]) if len(lines) > 1 else "nothing. Is the file cut off?"
        raise bad_line(path, start, f"document {begin[1]} must go on with .W, got {got}")
    return int(begin[1]), " ".join(lines[2:])
