"""RCV1-v2: the LYRL2004 split of its published vectors or tokens, and a sample of 30,000."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from labelkin.corpora.corpus import Corpus, label_fields
from labelkin.corpora.lines import byte_lines, decoded_lines, line_of
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


def read_rcv1(
    folder: str | PathLike[str],
    *,
    form: Literal["vectors", "counts"] = "vectors",
    min_documents: int = 1,
) -> Corpus:
    """Read all 804,414 documents of RCV1-v2, with the LYRL2004 split.

    Training documents come first; ``ids`` are their numbers. Labels are the topics that occur in
    both parts (101 of 103), in alphabetical order. All documents take about 2 GB of memory.

    Parameters
    ----------
    folder : path
        Where ``rcv1-v2.topics.qrels`` and ``lyrl2004_vectors_train.dat``,
        ``lyrl2004_vectors_test_pt0.dat`` to ``…_pt3.dat`` are, maybe packed; for counts
        ``lyrl2004_tokens_….dat``.
    form : {"vectors", "counts"}, default "vectors"
        ``"vectors"``: cosine-normalised log tf-idf, 47,236 terms, CSR. ``"counts"``: counts of the
        stems of the training documents, CSR, the stems in ``terms``.
    min_documents : int, default 1
        Terms in fewer training documents are left out; vectors are normalised again. The paper's
        rule is 5.
    """
    if form not in ("vectors", "counts"):
        raise ValueError(f"form must be 'vectors' or 'counts', got {form!r}.")
    folder = Path(folder)
    topics = read_rcv1_topics(_find_file(folder, QRELS))
    kind = "vectors" if form == "vectors" else "tokens"
    paths = [_find_file(folder, f"lyrl2004_{kind}_{part}.dat") for part in _PARTS]
    ids, documents, terms = (_read_vectors if form == "vectors" else _read_counts)(paths)
    _check_complete(folder, ids, topics)
    is_train = (ids >= FIRST_TRAIN) & (ids <= LAST_TRAIN)
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    documents, terms = _frequent_terms(documents, terms, train, min_documents)
    Y = read_labels(topics.Y[np.searchsorted(topics.ids, ids)], names=topics.label_names)
    in_both = np.flatnonzero(Y.rows(train).counts()[0] * Y.rows(test).counts()[0])
    return Corpus(
        name="rcv1",
        documents=documents,
        features="weights" if form == "vectors" else "counts",
        **label_fields(Y.columns(in_both)),
        train=train,
        test=test,
        ids=ids,
        terms=terms,
        source=_SOURCE,
        licence=_LICENCE,
    )


def _find_file(folder: Path, name: str) -> Path:
    """Return ``folder/name``, or the same packed as ``.gz``, ``.bz2`` or ``.xz``."""
    for ending in ("", ".gz", ".bz2", ".xz"):
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    raise FileNotFoundError(
        f"{folder} must have the file {name} (or {name}.gz, .bz2, .xz), and has none of them."
    )


def read_rcv1_sample(path: str | PathLike[str], *, min_documents: int = 1) -> Corpus:
    """Read ``rcv1-sample-30000.svm.gz``: per line, tab separated, subset, half, topics, vector.

    All 30,000 documents are in the corpus, with all 102 topics. Subsets 1 and 2 are for training
    (12,000 documents), 4 and 5 for testing, without the documents that have the same terms as one
    of them (11,009 are left); the others are in neither part.

    Parameters
    ----------
    path : path
        The file, or its folder.
    min_documents : int, default 1
        As for :func:`read_rcv1`.
    """
    path = Path(path)
    path = path / SAMPLE if path.is_dir() else path
    label_sets: list[frozenset[str]] = []

    def lines() -> Iterator[tuple[int, bytes]]:
        for number, line in byte_lines(path):
            head, _, vector = line.rpartition(b"\t")
            subset, topics = _read_head(path, number, head)
            label_sets.append(topics)
            yield number, subset + b" " + vector

    X, subsets = read_vectors(path, lines(), n_features=N_TERMS)
    if not label_sets:
        raise ValueError(f"{path.name}: there must be a document per line, got none.")
    train, test = _split_sample(subsets, X)
    X, terms = _frequent_terms(X, None, train, min_documents)
    return Corpus(
        name="rcv1-sample",
        documents=X,
        features="weights",
        **label_fields(read_labels(label_sets)),
        train=train,
        test=test,
        terms=terms,
        source=f"{_SOURCE}; 30,000 documents by way of mldr.datasets, their topics repaired",
        licence=_LICENCE,
    )


_Read = tuple[NDArray[np.int64], Any, NDArray[Any] | None]


def _read_vectors(paths: Sequence[Path]) -> _Read:
    """Return numbers and vectors; ``DOCID  TERM:WEIGHT …`` is LIBSVM's format."""
    read = [read_vectors(path, byte_lines(path), n_features=N_TERMS) for path in paths]
    ids = np.concatenate([ids for _, ids in read]).astype(np.int64)
    return ids, sparse.vstack([X for X, _ in read], format="csr"), None


def _read_counts(paths: Sequence[Path]) -> _Read:
    """Count the stems of the training file in all files, one document after the other."""
    ids: list[int] = []

    def texts() -> Iterator[str]:
        for path in paths:
            for number, text in _iter_tokens(path):
                ids.append(number)
                yield text

    train = [text for _, text in _iter_tokens(paths[0])]
    if not any(train):
        raise ValueError(f"{paths[0].name}: there must be lines such as '.I 2286', got none.")
    counts = CountVectorizer(analyzer=str.split, dtype=np.float64).fit(train)
    X = sparse.csr_array(counts.transform(texts()))
    return np.array(ids, dtype=np.int64), X, counts.get_feature_names_out()


def _frequent_terms(
    X: sparse.csr_array, terms: NDArray[Any] | None, train: NDArray[np.int64], min_documents: int
) -> tuple[sparse.csr_array, NDArray[Any] | None]:
    """Leave out terms in fewer training documents; without ``terms`` normalise the vectors."""
    if min_documents < 1:
        raise ValueError(f"min_documents must be at least 1, got {min_documents!r}.")
    if min_documents == 1:
        return X, terms
    kept = np.flatnonzero(np.bincount(X[train].indices, minlength=X.shape[1]) >= min_documents)
    if not len(kept):
        raise ValueError(
            f"min_documents must leave some terms, and none is in {min_documents} of the "
            f"{len(train)} training documents. Lower it."
        )
    X = sparse.csr_array(X[:, kept])
    if terms is None:  # the published vectors number their terms from 1
        return sparse.csr_array(normalize(X)), np.array([str(j + 1) for j in kept])
    return X, terms[kept]


def _read_head(path: Path, number: int, head: bytes) -> tuple[bytes, frozenset[str]]:
    fields = head.split(b"\t")
    if len(fields) != 3 or fields[0] not in {b"1", b"2", b"3", b"4", b"5"}:
        raise ValueError(
            f"{line_of(path, number)}: a line must be subset (1 to 5), half, topics and vector, "
            f"with tabs between, got {head[:60]!r} before the last tab."
        )
    return fields[0], frozenset(fields[2].decode("ascii", "replace").split(",")) - {""}


def _split_sample(
    subsets: NDArray[np.float64], X: sparse.csr_array
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two parts; the same story printed again differs at most in its weights."""
    terms = [X.indices[start:end].tobytes() for start, end in pairwise(X.indptr)]
    train = np.flatnonzero(subsets <= 2)
    seen = {terms[i] for i in train}
    test = [i for i in np.flatnonzero(subsets >= 4) if terms[i] not in seen]
    return train, np.array(test, dtype=np.int64)


class Rcv1Topics(NamedTuple):
    """The topics of documents.

    Attributes
    ----------
    ids
        Numbers of the documents, ascending, ``(n_documents,)``.
    Y
        Their topics, 0/1, ``(n_documents, n_labels)``.
    label_names
        The topics, ``(n_labels,)``.
    """

    ids: NDArray[np.int64]
    Y: sparse.csr_array
    label_names: NDArray[Any]


def read_rcv1_topics(path: str | PathLike[str]) -> Rcv1Topics:
    """Read ``rcv1-v2.topics.qrels``, maybe packed: a line ``TOPIC DOCID 1`` per assignment.

    Topics are in alphabetical order.
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
    return Rcv1Topics(ids, Y.astype(np.int64), names)


def _check_complete(folder: Path, ids: NDArray[np.int64], topics: Rcv1Topics) -> None:
    """Compare with the topics, also for a file that ends too early after a whole line."""
    found, times = np.unique(ids, return_counts=True)
    missing = np.setdiff1d(topics.ids, found)
    surplus = np.concatenate([found[times > 1], np.setdiff1d(found, topics.ids)])
    if len(missing) or len(surplus):
        which = f"{missing[0]} is missing" if len(missing) else f"{surplus[0]} is one too many"
        raise ValueError(
            f"{folder} must have each of the {len(topics.ids)} documents of {QRELS} once, got "
            f"{len(ids)}; document {which}. Is a file cut off?"
        )


def _iter_tokens(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and tokens of the documents in a file (``.I 2286``, ``.W``, tokens)."""
    entry: list[str] = []
    number = 0
    for number, line in enumerate(decoded_lines(path, "latin-1"), start=1):
        if line.startswith(".I") and entry:
            yield _read_entry(line_of(path, number - 1), entry)
            entry = []
        if line.strip():
            entry.append(line.strip())
    if entry:
        yield _read_entry(line_of(path, number), entry)


def _read_entry(place: str, lines: Sequence[str]) -> tuple[int, str]:
    begin = re.fullmatch(r"\.I\s+([0-9]+)", lines[0])
    if not begin or lines[1:2] != [".W"]:
        raise ValueError(
            f"{place}: the document that ends here must begin with .I NUMBER and .W, got "
            f"{' '.join(lines[:2])[:60]!r}. Is the file cut off?"
        )
    return int(begin[1]), " ".join(lines[2:])
