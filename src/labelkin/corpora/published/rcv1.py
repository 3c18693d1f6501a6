"""RCV1-v2: the LYRL2004 split of its published vectors, and a sample of 30,000."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from labelkin.corpora.corpus import Corpus, label_fields
from labelkin.corpora.lines import byte_lines, line_of
from labelkin.corpora.vectors import read_vectors
from labelkin.label_matrix import read_labels

#: Number of terms of the vectors.
N_TERMS = 47_236
#: First and last document of the training part; all later ones are for testing.
FIRST_TRAIN, LAST_TRAIN = 2286, 26150
#: The file of the topics of each document.
QRELS = "rcv1-v2.topics.qrels"
SAMPLE = "rcv1-sample-30000.svm.gz"
_PARTS = ("train", *(f"test_pt{k}" for k in range(4)))
_SOURCE = (
    "RCV1-v2, LYRL2004, "
    "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"
)
_LICENCE = "derived from texts that are copyright of Reuters, for research use only"
_ASSIGNMENT = re.compile(rb"\s*(\S+)\s+([0-9]+)\s+1\s*")


def read_rcv1(folder: str | PathLike[str], *, min_documents: int = 1) -> Corpus:
    """Read all 804,414 documents of RCV1-v2, with the LYRL2004 split.

    Documents are cosine-normalised log tf-idf vectors of 47,236 terms, CSR, those for training
    first; ``ids`` are their numbers. Labels are the topics that occur in both parts (101 of 103),
    in alphabetical order. All documents take about 2 GB of memory.

    Parameters
    ----------
    folder : path
        Where ``rcv1-v2.topics.qrels`` and ``lyrl2004_vectors_train.dat``,
        ``lyrl2004_vectors_test_pt0.dat`` to ``…_pt3.dat`` are, plain or packed.
    min_documents : int, default 1
        Terms in fewer training documents are left out, and vectors are normalised again. The
        paper's rule is 5.
    """
    folder = Path(folder)
    topic_ids, topics, names = read_rcv1_topics(_find_file(folder, QRELS))
    paths = [_find_file(folder, f"lyrl2004_vectors_{part}.dat") for part in _PARTS]
    # "DOCID  TERM:WEIGHT …" is LIBSVM's format.
    read = [read_vectors(path, byte_lines(path), n_features=N_TERMS) for path in paths]
    ids = np.concatenate([numbers for _, numbers in read]).astype(np.int64)
    _check_complete(folder, ids, topic_ids)
    is_train = (ids >= FIRST_TRAIN) & (ids <= LAST_TRAIN)
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    X = sparse.vstack([part for part, _ in read], format="csr")
    kept = np.flatnonzero(np.bincount(X[train].indices, minlength=N_TERMS) >= min_documents)
    if min_documents < 1 or not len(kept):
        raise ValueError(
            f"min_documents must be at least 1 and leave terms of the {len(train)} training "
            f"documents, got {min_documents!r}."
        )
    Y = read_labels(topics[np.searchsorted(topic_ids, ids)], names=names)
    in_both = np.flatnonzero(Y.rows(train).counts()[0] * Y.rows(test).counts()[0])
    return Corpus(
        name="rcv1",
        documents=X if min_documents == 1 else sparse.csr_array(normalize(X[:, kept])),
        features="weights",
        **label_fields(Y.columns(in_both)),
        train=train,
        test=test,
        ids=ids,
        terms=None if min_documents == 1 else np.array([str(j + 1) for j in kept]),
        source=_SOURCE,
        licence=_LICENCE,
    )


def _find_file(folder: Path, name: str) -> Path:
    """Return ``folder/name``, or the same packed as ``.gz``, ``.bz2`` or ``.xz``."""
    for ending in ("", ".gz", ".bz2", ".xz"):
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    raise FileNotFoundError(f"{folder} must have the file {name} (or {name}.gz, .bz2, .xz).")


def read_rcv1_topics(
    path: str | PathLike[str],
) -> tuple[NDArray[np.int64], sparse.csr_array, NDArray[Any]]:
    """Read ``rcv1-v2.topics.qrels``, plain or packed: a line ``TOPIC DOCID 1`` per assignment.

    Returns
    -------
    ids, topics, names
        Ascending numbers of the documents; their topics, 0/1, ``(n_documents, n_topics)``; the
        topics in alphabetical order.
    """
    path = Path(path)
    topics, documents = [], []
    for number, line in byte_lines(path):
        if found := _ASSIGNMENT.fullmatch(line):
            topics.append(found[1].decode())
            documents.append(int(found[2]))
        elif line.strip():
            raise ValueError(
                f"{line_of(path, number)}: a line must be TOPIC DOCID 1, got "
                f"{line[:60].decode(errors='replace').rstrip()!r}. Is the file cut off?"
            )
    if not topics:
        raise ValueError(f"{path.name}: there must be lines such as 'GCAT 2286 1', got none.")
    names, column = np.unique(topics, return_inverse=True)
    ids, row = np.unique(documents, return_inverse=True)
    Y = sparse.csr_array(sparse.coo_array((np.ones(len(row)), (row, column)))) > 0
    return ids, Y.astype(np.int64), names


def _check_complete(folder: Path, ids: NDArray[np.int64], expected: NDArray[np.int64]) -> None:
    """Compare documents with the topics: a file may end too early after a whole line."""
    found, times = np.unique(ids, return_counts=True)
    missing = np.setdiff1d(expected, found)
    surplus = np.concatenate([found[times > 1], np.setdiff1d(found, expected)])
    if len(missing) or len(surplus):
        which = f"{missing[0]} is missing" if len(missing) else f"{surplus[0]} is one too many"
        raise ValueError(
            f"{folder} must have each of the {len(expected)} documents of {QRELS} once, got "
            f"{len(ids)}; document {which}. Is a file cut off?"
        )


def read_rcv1_sample(path: str | PathLike[str]) -> Corpus:
    """Read ``rcv1-sample-30000.svm.gz``: per line, tab separated, subset, half, topics, vector.

    The corpus has all 30,000 documents and all 102 topics. Subsets 1 and 2 are for training (12,000
    documents), 4 and 5 for testing, without the documents that have the same terms as a training
    document (11,009 are left); the other documents are in neither part.

    Parameters
    ----------
    path : path
        The file, or its folder.
    """
    path = Path(path)
    path = path / SAMPLE if path.is_dir() else path
    label_sets: list[frozenset[str]] = []

    def lines() -> Iterator[tuple[int, bytes]]:
        for number, line in byte_lines(path):
            head, _, vector = line.rpartition(b"\t")
            fields = head.split(b"\t")
            if len(fields) != 3 or fields[0] not in {b"1", b"2", b"3", b"4", b"5"}:
                raise ValueError(
                    f"{line_of(path, number)}: a line must be subset (1 to 5), half, topics and "
                    f"vector, with tabs between, got {head[:60]!r} before the last tab."
                )
            topics = fields[2].decode("ascii", "replace").split(",")
            label_sets.append(frozenset(topics) - {""})
            yield number, fields[0] + b" " + vector

    X, subsets = read_vectors(path, lines(), n_features=N_TERMS)
    if not label_sets:
        raise ValueError(f"{path.name}: there must be a document per line, got none.")
    # A story that was printed again differs at most in its weights.
    terms = [X.indices[start:end].tobytes() for start, end in pairwise(X.indptr)]
    train = np.flatnonzero(subsets <= 2)
    seen = {terms[i] for i in train}
    test = [i for i in np.flatnonzero(subsets >= 4) if terms[i] not in seen]
    return Corpus(
        name="rcv1-sample",
        documents=X,
        features="weights",
        **label_fields(read_labels(label_sets)),
        train=train,
        test=np.array(test, dtype=np.int64),
        source=f"{_SOURCE}; 30,000 documents by way of mldr.datasets, their topics repaired",
        licence=_LICENCE,
    )
