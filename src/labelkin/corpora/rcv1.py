"""RCV1-v2: the LYRL2004 split of its published vectors or tokens, and a sample of 30,000."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.rcv1_documents import (
    N_TERMS,
    Rcv1Block,
    iter_rcv1_tokens,
    iter_rcv1_vectors,
)
from labelkin.corpora.rcv1_topics import (
    Rcv1Topics,
    lyrl2004_split,
    read_rcv1_taxonomy,
    read_rcv1_topics,
)
from labelkin.corpora.sparse_rows import iter_rows
from labelkin.corpora.text_files import bad_line, find_file
from labelkin.label_matrix import read_labels

__all__ = [
    "Rcv1Block",
    "Rcv1Topics",
    "iter_rcv1_tokens",
    "iter_rcv1_vectors",
    "lyrl2004_split",
    "rcv1_files",
    "read_rcv1",
    "read_rcv1_sample",
    "read_rcv1_taxonomy",
    "read_rcv1_topics",
]

Form = Literal["vectors", "tokens"]

#: The file that says which topics a document has.
QRELS = "rcv1-v2.topics.qrels"
SOURCE = (
    "RCV1-v2, LYRL2004, "
    "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"
)
LICENCE = "derived from texts that are copyright of Reuters, for research use only"


def read_rcv1(folder: str | PathLike[str], *, form: Form = "vectors") -> Corpus:
    """Read all 804,414 documents of RCV1-v2, with the LYRL2004 split.

    Training documents come first; ``ids`` are their numbers. Labels are the topics that occur in
    both parts (101 of 103), in alphabetical order. For less memory than all of them need (about
    2 GB), see :func:`iter_rcv1_vectors`.

    Parameters
    ----------
    folder
        Where ``rcv1-v2.topics.qrels`` and ``lyrl2004_vectors_train.dat``,
        ``lyrl2004_vectors_test_pt0.dat`` to ``…_pt3.dat`` are, maybe compressed.
    form
        ``"vectors"``: cosine-normalised log tf-idf, 47,236 terms, CSR. ``"tokens"``: texts of stems
        without stop words, from ``lyrl2004_tokens_….dat``.
    """
    folder = Path(folder)
    topics = read_rcv1_topics(find_file(folder, QRELS))
    paths = rcv1_files(folder, form)
    ids, documents = _read_vectors(paths, topics) if form == "vectors" else _read_tokens(paths)
    _check_complete(folder, ids, topics)
    train, test = lyrl2004_split(ids)
    Y = topics.Y.rows(topics.positions(ids))
    in_both = np.flatnonzero(Y.rows(train).counts()[0] * Y.rows(test).counts()[0])
    return Corpus(
        name="rcv1",
        documents=documents,
        features="weights" if form == "vectors" else "text",
        Y=Y.columns(in_both),
        train=train,
        test=test,
        ids=ids,
        source=SOURCE,
        licence=LICENCE,
    )


def rcv1_files(folder: str | PathLike[str], form: Form = "vectors") -> list[Path]:
    """Return the training file and the four test files, compressed or not."""
    if form not in ("vectors", "tokens"):
        raise ValueError(f"form must be 'vectors' or 'tokens', got {form!r}.")
    parts = ["train", *(f"test_pt{k}" for k in range(4))]
    return [find_file(Path(folder), f"lyrl2004_{form}_{part}.dat") for part in parts]


def read_rcv1_sample(path: str | PathLike[str]) -> Corpus:
    """Read ``rcv1-sample-30000.svm.gz``: per line, tab separated, subset, half, topics, vector.

    All 30,000 documents are in the corpus, with all 102 topics. Subsets 1 and 2 are for training
    (12,000 documents), 4 and 5 for testing, without the documents that have the same terms as one
    of them (11,009 are left); the others are in neither part.
    """
    path = Path(path)
    subsets: list[int] = []
    label_sets: list[frozenset[str]] = []
    blocks: list[sparse.csr_array] = []
    for rows in iter_rows(path, _split_at_last_tab, n_features=N_TERMS, block=10_000):
        for number, head in zip(rows.lines, rows.heads, strict=True):
            subset, topics = _read_head(path, number, head)
            subsets.append(subset)
            label_sets.append(topics)
        blocks.append(rows.X)
    if not blocks:
        raise ValueError(f"{path.name}: there must be a document per line, got none.")
    X = sparse.csr_array(sparse.vstack(blocks))
    train, test = _split_sample(np.array(subsets), X)
    return Corpus(
        name="rcv1-sample",
        documents=X,
        features="weights",
        Y=read_labels(label_sets),
        train=train,
        test=test,
        source=f"{SOURCE}; 30,000 documents by way of mldr.datasets, their topics repaired",
        licence=LICENCE,
    )


def _read_vectors(
    paths: Sequence[Path], topics: Rcv1Topics
) -> tuple[NDArray[np.int64], sparse.csr_array]:
    none = np.empty(0, dtype=np.int64), sparse.csr_array((0, N_TERMS))
    blocks = [none, *((block.ids, block.X) for block in iter_rcv1_vectors(paths, topics))]
    X = sparse.csr_array(sparse.vstack([X for _, X in blocks]))
    return np.concatenate([ids for ids, _ in blocks]), X


def _read_tokens(paths: Sequence[Path]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    found = list(iter_rcv1_tokens(paths))
    texts = np.empty(len(found), dtype=object)
    texts[:] = [text for _, text in found]
    return np.array([number for number, _ in found], dtype=np.int64), texts


def _check_complete(folder: Path, ids: NDArray[np.int64], topics: Rcv1Topics) -> None:
    """Compare with the topics: only here shows a file that ends too early after a whole line."""
    found, times = np.unique(ids, return_counts=True)
    missing = np.setdiff1d(topics.ids, found)
    surplus = np.concatenate([found[times > 1], np.setdiff1d(found, topics.ids)])
    if len(missing) or len(surplus):
        which = f"{missing[0]} is missing" if len(missing) else f"{surplus[0]} is one too many"
        raise ValueError(
            f"{folder} must have each of the {len(topics.ids)} documents of {QRELS} once, got "
            f"{len(ids)}; document {which}. Is a file cut off?"
        )


def _split_at_last_tab(line: bytes) -> tuple[bytes, bytes]:
    head, _, vector = line.rpartition(b"\t")
    return head, vector


def _read_head(path: Path, number: int, head: bytes) -> tuple[int, frozenset[str]]:
    fields = head.decode("ascii", errors="replace").split("\t")
    if len(fields) != 3 or fields[0] not in {"1", "2", "3", "4", "5"}:
        raise bad_line(
            path,
            number,
            "a line must be subset (1 to 5), half, topics and vector, with tabs between, got "
            f"{fields!r} before the last tab.",
        )
    return int(fields[0]), frozenset(fields[2].split(",")) - {""}


def _split_sample(
    subsets: NDArray[np.int64], X: sparse.csr_array
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two parts; the same story printed again differs at most in its weights."""
    terms = [X.indices[start:end].tobytes() for start, end in pairwise(X.indptr)]
    train = np.flatnonzero(subsets <= 2)
    seen = {terms[i] for i in train}
    test = [i for i in np.flatnonzero(subsets >= 4) if terms[i] not in seen]
    return train, np.array(test, dtype=np.int64)
