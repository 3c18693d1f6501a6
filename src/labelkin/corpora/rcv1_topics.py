"""RCV1-v2: which topics a document has, the tree of topics, and the LYRL2004 split."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.text_files import bad_line, line_blocks, text_lines
from labelkin.label_matrix import LabelMatrix, names_to_columns, read_labels

#: First and last document of the training part; all later ones are for testing.
FIRST_TRAIN, LAST_TRAIN = 2286, 26150


@dataclass(frozen=True)
class Rcv1Topics:
    """The topics of documents, found by the documents' numbers.

    Attributes
    ----------
    ids
        The documents, ascending, ``(n_documents,)``.
    Y
        Their topics, ``(n_documents, n_labels)``.
    """

    ids: NDArray[np.int64]
    Y: LabelMatrix

    def positions(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of some documents; −1 where there is none."""
        place = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[place] == ids, place, -1)

    def keep(self, names: Sequence[str]) -> Rcv1Topics:
        """Return the same documents with some topics only, in this order."""
        return replace(self, Y=self.Y.columns(names_to_columns(names, self.Y.names)))


def read_rcv1_topics(path: str | PathLike[str]) -> Rcv1Topics:
    """Read ``rcv1-v2.topics.qrels``, maybe compressed: a line ``TOPIC DOCID 1`` per assignment.

    Topics are in alphabetical order.
    """
    path = Path(path)
    code: dict[bytes, int] = {}
    topics, documents = [], []
    for numbers, lines in line_blocks(path, 100_000):
        words = b"\n".join(lines).split()
        _check_qrels(path, numbers, lines, words)
        codes = [code.setdefault(topic, len(code)) for topic in words[::3]]
        topics.append(np.array(codes, dtype=np.int32))
        documents.append(np.array(list(map(int, words[1::3])), dtype=np.int64))
    if not code:
        raise ValueError(f"{path.name}: there must be lines such as 'GCAT 2286 1', got none.")
    names = sorted(code)
    column = np.argsort(np.argsort([*code]))[np.concatenate(topics)]
    ids, row = np.unique(np.concatenate(documents), return_inverse=True)
    shape = (len(ids), len(names))
    stored = sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape)
    # A line given twice is still one assignment.
    positive = (sparse.csr_array(stored) > 0).astype(np.float64)
    return Rcv1Topics(ids, read_labels(positive, names=[name.decode() for name in names]))


def read_rcv1_taxonomy(path: str | PathLike[str]) -> dict[str, str]:
    """Return the parent of every topic; the four at the top have the parent ``"Root"``.

    Both forms of the file are read: a line per parent, ``CCAT C11 C12 …`` (``rcv1.taxonomy``), and
    a line per child, ``parent: CCAT child: C11 …`` (``rcv1.topics.hier.orig``).
    """
    path = Path(path)
    parents: dict[str, str] = {}
    for number, line in text_lines(path):
        parent, children = _read_branch(path, number, line)
        for child in children:
            if child in parents:
                raise bad_line(
                    path,
                    number,
                    f"a topic must have one parent, got {parent!r} and {parents[child]!r} for "
                    f"{child!r}.",
                )
            parents[child] = parent
    if not parents:
        raise ValueError(f"{path.name}: there must be lines such as 'Root CCAT ECAT', got none.")
    return parents


def lyrl2004_split(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the training (2286 to 26150) and of the test documents.

    Examples
    --------
    >>> lyrl2004_split(np.array([2286, 26150, 26151]))
    (array([0, 1]), array([2]))
    """
    is_train = (ids >= FIRST_TRAIN) & (ids <= LAST_TRAIN)
    return np.flatnonzero(is_train), np.flatnonzero(~is_train)


_ASSIGNMENT = re.compile(rb"\s*\S+\s+[0-9]+\s+1\s*")
_CHILD = re.compile(r"parent:\s*(\S+)\s+child:\s*(\S+)")


def _check_qrels(
    path: Path, numbers: Sequence[int], lines: Sequence[bytes], words: Sequence[bytes]
) -> None:
    if (
        len(words) == 3 * len(lines)
        and set(words[2::3]) == {b"1"}
        and all(map(bytes.isdigit, words[1::3]))
    ):
        return
    for number, line in zip(numbers, lines, strict=True):
        if not _ASSIGNMENT.fullmatch(line):
            raise bad_line(
                path,
                number,
                f"a line must be TOPIC DOCID 1, got {line[:60].decode(errors='replace')!r}. "
                "Is the file cut off?",
            )


def _read_branch(path: Path, number: int, line: str) -> tuple[str, list[str]]:
    if "child:" in line:
        found = _CHILD.search(line)
        if found:
            return found[1], [] if found[1] == "None" else [found[2]]
    parent, *children = line.split() or [""]
    if (not children and parent) or "child:" in line:
        raise bad_line(path, number, f"a line must name a parent and a child, got {line[:60]!r}.")
    return parent, children
