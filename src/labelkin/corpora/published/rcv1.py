"""RCV1-v2: the LYRL2004 split of its published vectors or tokens, and a sample of 30,000."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus, Features, label_fields, object_array
from labelkin.corpora.lines import decoded_lines, find_file, line_blocks, line_of
from labelkin.corpora.vectors import Rows, iter_rows
from labelkin.label_matrix import read_labels

Form = Literal["vectors", "tokens", "counts"]

#: How many terms the vectors have.
N_TERMS = 47_236
#: First and last document of the training part; all later ones are for testing.
FIRST_TRAIN, LAST_TRAIN = 2286, 26150
#: The file that says which topics a document has.
QRELS = "rcv1-v2.topics.qrels"
SAMPLE = "rcv1-sample-30000.svm.gz"
SOURCE = (
    "RCV1-v2, LYRL2004, "
    "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"
)
#: What the documents are, by form.
_FEATURES: dict[str, Features] = {"vectors": "weights", "tokens": "text", "counts": "counts"}
LICENCE = "derived from texts that are copyright of Reuters, for research use only"


def read_rcv1(
    folder: str | PathLike[str], *, form: Form = "vectors", min_documents: int = 1
) -> Corpus:
    """Read all 804,414 documents of RCV1-v2, with the LYRL2004 split.

    Training documents come first; ``ids`` are their numbers. Labels are the topics that occur in
    both parts (101 of 103), in alphabetical order. For less memory than all of them need (about
    2 GB), see :func:`iter_rcv1_vectors`.

    Parameters
    ----------
    folder : path
        Where ``rcv1-v2.topics.qrels`` and ``lyrl2004_vectors_train.dat``,
        ``lyrl2004_vectors_test_pt0.dat`` to ``…_pt3.dat`` are, maybe packed; for the other forms
        ``lyrl2004_tokens_….dat``.
    form : {"vectors", "tokens", "counts"}, default "vectors"
        ``"vectors"``: cosine-normalised log tf-idf, 47,236 terms, CSR. ``"tokens"``: texts of stems
        without stop words. ``"counts"``: how often each stem of the training documents is in a
        document, CSR, the stems in ``terms``.
    min_documents : int, default 1
        Terms in fewer training documents are left out, of vectors (which get length 1 again) and of
        counts; the paper's rule is 5. Not for tokens: who counts them chooses.
    """
    if min_documents > 1 and form == "tokens":
        raise ValueError(
            "min_documents must be 1 for tokens, whose words are counted later (WordCounts has a "
            f"min_documents of its own), got {min_documents!r}."
        )
    folder = Path(folder)
    topics = read_rcv1_topics(find_file(folder, QRELS))
    paths = rcv1_files(folder, form)
    if form == "vectors":
        ids, documents, terms = _read_vectors(paths, topics)
    else:
        ids, documents, terms = (_read_tokens if form == "tokens" else _read_counts)(paths)
    _check_complete(folder, ids, topics)
    train, test = lyrl2004_split(ids)
    if form != "tokens":
        documents, terms = _frequent_terms(
            documents, terms, train, min_documents, is_normal=form == "vectors"
        )
    Y = read_labels(topics.Y[topics.positions(ids)], names=topics.label_names)
    in_both = np.flatnonzero(Y.rows(train).counts()[0] * Y.rows(test).counts()[0])
    return Corpus(
        name="rcv1",
        documents=documents,
        features=_FEATURES[form],
        **label_fields(Y.columns(in_both)),
        train=train,
        test=test,
        ids=ids,
        terms=terms,
        source=SOURCE,
        licence=LICENCE,
    )


def rcv1_files(folder: str | PathLike[str], form: Form = "vectors") -> list[Path]:
    """Return the training file and the four test files, packed or not."""
    if form not in _FEATURES:
        raise ValueError(f"form must be 'vectors', 'tokens' or 'counts', got {form!r}.")
    kind = "vectors" if form == "vectors" else "tokens"
    parts = ["train", *(f"test_pt{k}" for k in range(4))]
    return [find_file(Path(folder), f"lyrl2004_{kind}_{part}.dat") for part in parts]


def read_rcv1_sample(path: str | PathLike[str], *, min_documents: int = 1) -> Corpus:
    """Read ``rcv1-sample-30000.svm.gz``: per line, tab separated, subset, half, topics, vector.

    All 30,000 documents are in the corpus, with all 102 topics. Subsets 1 and 2 are for training
    (12,000 documents), 4 and 5 for testing, without the documents that have the same terms as one
    of them (11,009 are left); the others are in neither part.

    Parameters
    ----------
    path : path
        The file, or the folder that has it.
    min_documents : int, default 1
        As for :func:`read_rcv1`.
    """
    path = Path(path)
    path = path / SAMPLE if path.is_dir() else path
    subsets: list[int] = []
    label_sets: list[frozenset[str]] = []
    blocks: list[sparse.csr_array] = []
    for rows in iter_rows(path, N_TERMS, split=lambda line: line.rpartition(b"\t")[::2]):
        for number, head in zip(rows.lines, rows.heads, strict=True):
            subset, topics = _read_head(path, number, head)
            subsets.append(subset)
            label_sets.append(topics)
        blocks.append(rows.X)
    if not blocks:
        raise ValueError(f"{path.name}: there must be a document per line, got none.")
    X = sparse.csr_array(sparse.vstack(blocks))
    train, test = _split_sample(np.array(subsets), X)
    X, terms = _frequent_terms(X, None, train, min_documents, is_normal=True)
    return Corpus(
        name="rcv1-sample",
        documents=X,
        features="weights",
        **label_fields(read_labels(label_sets)),
        train=train,
        test=test,
        terms=terms,
        source=f"{SOURCE}; 30,000 documents by way of mldr.datasets, their topics repaired",
        licence=LICENCE,
    )


_Read = tuple[NDArray[np.int64], Any, NDArray[Any] | None]


def _read_vectors(paths: Sequence[Path], topics: Rcv1Topics) -> _Read:
    none = np.empty(0, dtype=np.int64), sparse.csr_array((0, N_TERMS))
    blocks = [none, *((block.ids, block.X) for block in iter_rcv1_vectors(paths, topics))]
    X = sparse.csr_array(sparse.vstack([X for _, X in blocks]))
    return np.concatenate([ids for ids, _ in blocks]), X, None


def _read_tokens(paths: Sequence[Path]) -> _Read:
    found = list(iter_rcv1_tokens(paths))
    ids = np.array([number for number, _ in found], dtype=np.int64)
    return ids, object_array([text for _, text in found]), None


def _read_counts(paths: Sequence[Path]) -> _Read:
    """Count the stems of the training file in all files; no more than one text is in memory."""
    stems = sorted({stem for _, text in iter_rcv1_tokens(paths[:1]) for stem in text.split()})
    place = {stem: j for j, stem in enumerate(stems)}
    ids, columns, counts, indptr = array("q"), array("i"), array("d"), array("q", [0])
    for number, text in iter_rcv1_tokens(paths):
        found = Counter(place[stem] for stem in text.split() if stem in place)
        ids.append(number)
        columns.extend(sorted(found))
        counts.extend(found[j] for j in sorted(found))
        indptr.append(len(columns))
    parts = tuple(map(np.array, (counts, columns, indptr)))
    X = sparse.csr_array(parts, shape=(len(ids), len(stems)))
    return np.array(ids), X, np.array(stems, dtype=object)


def _frequent_terms(
    X: sparse.csr_array,
    terms: NDArray[Any] | None,
    train: NDArray[np.int64],
    min_documents: int,
    *,
    is_normal: bool,
) -> tuple[sparse.csr_array, NDArray[Any] | None]:
    """Leave out what is in fewer training documents; ``is_normal``: vectors have length 1."""
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
    if is_normal:
        from sklearn.preprocessing import normalize

        X = sparse.csr_array(normalize(X))
    # The published vectors number their terms from 1.
    return X, np.array([str(j + 1) for j in kept]) if terms is None else terms[kept]


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


def _read_head(path: Path, number: int, head: bytes) -> tuple[int, frozenset[str]]:
    fields = head.decode("ascii", errors="replace").split("\t")
    if len(fields) != 3 or fields[0] not in {"1", "2", "3", "4", "5"}:
        raise ValueError(
            f"{line_of(path, number)}: a line must be subset (1 to 5), half, topics and vector, "
            f"with tabs between, got {fields!r} before the last tab."
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


@dataclass(frozen=True)
class Rcv1Topics:
    """The topics of documents, found by the documents' numbers.

    Attributes
    ----------
    ids
        The documents, ascending, ``(n_documents,)``.
    Y
        Their topics, 0/1, ``(n_documents, n_labels)``.
    label_names
        The topics, ``(n_labels,)``.
    """

    ids: NDArray[np.int64]
    Y: sparse.csr_array
    label_names: NDArray[Any]

    def positions(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of some documents; −1 where there is none."""
        place = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[place] == ids, place, -1)


def read_rcv1_topics(path: str | PathLike[str]) -> Rcv1Topics:
    """Read ``rcv1-v2.topics.qrels``, maybe packed: a line ``TOPIC DOCID 1`` per assignment.

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
    Y = (sparse.csr_array(stored) > 0).astype(np.int64)
    return Rcv1Topics(ids, Y, np.array([name.decode() for name in names]))


def read_rcv1_taxonomy(path: str | PathLike[str]) -> dict[str, str]:
    """Return the parent of every topic; the four at the top have the parent ``"Root"``.

    Both forms of the file are read: a line per parent, ``CCAT C11 C12 …`` (``rcv1.taxonomy``), and
    a line per child, ``parent: CCAT child: C11 …`` (``rcv1.topics.hier.orig``).
    """
    path = Path(path)
    parents: dict[str, str] = {}
    for number, line in enumerate(decoded_lines(path), start=1):
        parent, children = _read_branch(path, number, line)
        for child in children:
            if child in parents:
                raise ValueError(
                    f"{line_of(path, number)}: a topic must have one parent, got {parent!r} and "
                    f"{parents[child]!r} for {child!r}."
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
            raise ValueError(
                f"{line_of(path, number)}: a line must be TOPIC DOCID 1, got "
                f"{line[:60].decode(errors='replace')!r}. Is the file cut off?"
            )


def _read_branch(path: Path, number: int, line: str) -> tuple[str, list[str]]:
    if "child:" in line:
        found = _CHILD.search(line)
        if found:
            return found[1], [] if found[1] == "None" else [found[2]]
    parent, *children = line.split() or [""]
    if (not children and parent) or "child:" in line:
        raise ValueError(
            f"{line_of(path, number)}: a line must name a parent and a child, got "
            f"{line.rstrip()[:60]!r}."
        )
    return parent, children


@dataclass(frozen=True)
class Rcv1Block:
    """Some documents: their numbers, vectors and topics, a row each."""

    ids: NDArray[np.int64]
    X: sparse.csr_array
    Y: sparse.csr_array


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
    paths : sequence of paths
        Such as ``lyrl2004_vectors_test_pt0.dat`` to ``…_pt3.dat``, maybe packed, read in this
        order.
    topics : Rcv1Topics
        What :func:`read_rcv1_topics` returns. A document without topics there is an error, and so
        is one that comes twice.
    n_terms : int, default 47236
        Number of columns; term 1 is column 0.
    block : int, default 10000
        Documents per block; the last one of a file may be smaller.
    """
    seen = np.zeros(len(topics.ids), dtype=bool)
    for path in map(Path, paths):
        for rows in iter_rows(path, n_terms, block=block):
            ids = _read_ids(path, rows)
            place = topics.positions(ids)
            _check_new(path, rows.lines, ids, place, seen)
            seen[place] = True
            yield Rcv1Block(ids, rows.X, topics.Y[place])


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
            raise ValueError(
                f"{line_of(path, number)}: a line must begin with the number of a document, got "
                f"{head[:40].decode(errors='replace')!r}."
            )
    return np.array(list(map(int, rows.heads)), dtype=np.int64)


def _check_new(
    path: Path,
    lines: Sequence[int],
    ids: NDArray[np.int64],
    place: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Raise for documents without topics, and those that came before, in this block or another."""
    for i in np.flatnonzero(place < 0)[:1]:
        raise ValueError(
            f"{line_of(path, lines[i])}: document {ids[i]} must have topics, and has none."
        )
    is_first = np.zeros(len(ids), dtype=bool)
    is_first[np.unique(ids, return_index=True)[1]] = True
    for i in np.flatnonzero(~is_first | seen[place])[:1]:
        raise ValueError(
            f"{line_of(path, lines[i])}: documents must be unique, got {ids[i]} again."
        )


def _entries(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that belong to a document, without blank ones, and where they begin."""
    start, entry = 0, list[str]()
    for number, line in enumerate(decoded_lines(path, "latin-1"), start=1):
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
        raise ValueError(
            f"{line_of(path, start)}: a document must begin with .I NUMBER, got {lines[0][:60]!r}."
        )
    if lines[1:2] != [".W"]:
        got = repr(lines[1][:60]) if len(lines) > 1 else "nothing. Is the file cut off?"
        raise ValueError(
            f"{line_of(path, start)}: document {begin[1]} must go on with .W, got {got}"
        )
    return int(begin[1]), " ".join(lines[2:])
