"""Vectors and scores as text: ``LABEL,LABEL TERM:WEIGHT …``, one document per line.

LIBSVM's multilabel files count terms from 1, in ascending order.

Files of the extreme-classification repository
(http://manikvarma.org/downloads/XC/XMLRepository.html) count labels and terms from 0.
Their first line contains the numbers of documents, features and labels, ``n d p``. A line that
begins with a blank has no labels.

Omikuji, napkinXC and the tools of that repository write predictions as ``LABEL:SCORE LABEL:SCORE``,
if with a first line, then the numbers of documents and labels. (PECOS saves predictions as SciPy
does, as ``.npz``.)
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from labelkin.corpora.corpus import Corpus, kind_of_features, label_fields
from labelkin.corpora.lines import byte_lines, decoded_lines, line_of, stem_of
from labelkin.files import MOST_LABELS, check_declared
from labelkin.label_matrix import LabelMatrix, read_labels

_SIZES = re.compile(r"\s*(\d{1,12})\s+(\d{1,12})\s+(\d{1,12})\s*", re.ASCII)
_SCORES_SIZES = re.compile(r"\s*(\d{1,12})\s+(\d{1,12})\s*", re.ASCII)
_SCORE = re.compile(r"(\d{1,9}):([-+]?(?:[\d.]*\d\.?(?:e[-+]?\d+)?|inf|nan))", re.ASCII | re.I)


class _Lines:
    """Numbered lines as a file object for scikit-learn; ``number`` is the line it reads."""

    def __init__(self, lines: Iterable[tuple[int, bytes]]) -> None:
        self._lines = lines
        self.number = 1

    def __iter__(self) -> Iterator[bytes]:
        for number, line in self._lines:
            self.number = number
            yield line

    def read(self) -> bytes:
        """Return all lines: scikit-learn recognises a file by this method."""
        return b"".join(self)


def read_vectors(
    path: Path,
    lines: Iterable[tuple[int, bytes]],
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    multilabel: bool = False,
) -> tuple[sparse.csr_array, Any]:
    """Return the vectors and the targets of numbered lines; errors name the line.

    With ``multilabel`` the targets are tuples of numbers. Lines that are blank or a comment are not
    documents.
    """
    source: Any = _Lines(lines)
    try:
        X, targets = load_svmlight_file(source, zero_based=zero_based, multilabel=multilabel)
    except (ValueError, OverflowError) as error:
        if str(error).startswith(path.name):
            raise
        raise ValueError(
            f"{line_of(path, source.number)}: a line must be LABEL,LABEL TERM:WEIGHT …, terms "
            f"ascending from {int(not zero_based)}, got: {error}. Is the file cut off?"
        ) from None
    first = int(not zero_based)
    if n_features is not None and X.shape[1] > n_features:
        raise ValueError(
            f"{path.name}: terms must be {first} to {n_features + first - 1}, got "
            f"{X.shape[1] + first - 1}."
        )
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.argmin(np.isfinite(X.data)), side="right"))
        raise ValueError(f"{path.name}, document {row}: weights must be finite numbers.")
    arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array(arrays, shape=(X.shape[0], n_features or X.shape[1])), targets


def read_libsvm(
    train: str | os.PathLike[str], test: str | os.PathLike[str] | None = None
) -> Corpus:
    """Read multilabel files of LIBSVM, plain or packed, such as ``rcv1_topics_train.svm.bz2``.

    Labels are those of all documents, in the order of their numbers; their names are strings. Index
    1 is column 0. The documents are CSR.

    Parameters
    ----------
    train, test : path
        The files of training documents and of test documents.
    """
    paths = [Path(path) for path in (train, test) if path is not None]
    files = [read_vectors(path, byte_lines(path), multilabel=True) for path in paths]
    numbers = [labels for _, some in files for labels in some]
    if not len(files[0][1]):
        raise ValueError(f"{paths[0].name}: a corpus must have documents, got none.")
    if not all(map(isfinite, set().union(*numbers))):
        raise ValueError(f"{paths[0].name}: labels must be finite numbers.")
    names = {x: str(int(x)) if x.is_integer() else repr(x) for x in sorted(set().union(*numbers))}
    label_sets = [{names[x] for x in labels} for labels in numbers]
    width = max(X.shape[1] for X, _ in files)
    for path, (X, _) in zip(paths, files, strict=True):
        check_declared(path, X.shape[1], "features")
        X.resize(X.shape[0], width)
    return _corpus(
        paths,
        [X for X, _ in files],
        read_labels(label_sets, names=list(names.values())),
        "LIBSVM, https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multilabel.html",
    )


def read_extreme(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
) -> Corpus:
    r"""Read files of the extreme-classification repository, plain or packed.

    Parameters
    ----------
    train, test : path
        The files of training documents and of test documents.

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
    paths = [Path(path) for path in (train, test) if path is not None]
    parts = [_read_extreme_file(path) for path in paths]
    shapes = [(X.shape[1], Y.shape[1]) for X, Y in parts]
    if len(set(shapes)) > 1:
        raise ValueError(
            f"{paths[0].name} and {paths[1].name} must have the same numbers of features and "
            f"labels in their first lines, got {shapes[0]} and {shapes[1]}."
        )
    return _corpus(
        paths,
        [X for X, _ in parts],
        read_labels(sparse.vstack([Y for _, Y in parts], format="csr")),
        "the extreme-classification repository, "
        "http://manikvarma.org/downloads/XC/XMLRepository.html",
    )


def _corpus(
    paths: list[Path], parts: list[sparse.csr_array], labels: LabelMatrix, source: str
) -> Corpus:
    """Return the corpus of a file of training documents and maybe one of test documents."""
    X, n_train = sparse.vstack(parts, format="csr"), parts[0].shape[0]
    return Corpus(
        name=stem_of(paths[0]),
        documents=X,
        features=kind_of_features(X),
        **label_fields(labels),
        train=np.arange(n_train),
        test=np.arange(n_train, X.shape[0]),
        source=f"{paths[0].name}, in the format of {source}",
        licence="not stated with the data: see the source",
    )


def is_extreme(path: Path) -> bool:
    """Return whether the first line is one of the extreme-classification repository."""
    return _SIZES.fullmatch(next(decoded_lines(path, "latin-1"), "")) is not None


def _read_extreme_file(path: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return vectors and labels, as many as the first line declares."""
    first = next(decoded_lines(path, "latin-1"), "")
    sizes = _SIZES.fullmatch(first)
    if not sizes:
        raise ValueError(
            f"{line_of(path, 1)}: the first line must be the numbers of documents, features and "
            f"labels, e.g. '15539 5000 3993', got {first.strip()[:60]!r}."
        )
    n_documents, n_features, n_labels = map(int, sizes.groups())
    if not n_documents:
        raise ValueError(f"{path.name}: a corpus must have documents, got none.")
    check_declared(path, n_features, "features")
    check_declared(path, n_labels, "labels", MOST_LABELS)
    lines = (
        (number, line if line.strip() else b" 0:0")  # a blank line is a document without terms
        for number, line in byte_lines(path)
        if number > 1 and (line.strip() or number <= n_documents + 1)
    )
    X, labels = read_vectors(path, lines, n_features=n_features, zero_based=True, multilabel=True)
    if X.shape[0] != n_documents:
        raise ValueError(
            f"{path.name}: the file must have the {n_documents} documents of its first line, got "
            f"{X.shape[0]}. Is it cut off?"
        )
    columns = np.array([label for row in labels for label in set(row)])
    wrong = columns[(columns < 0) | (columns >= n_labels) | (columns % 1 != 0)]
    if len(wrong):
        raise ValueError(
            f"{path.name}: labels must be numbers from 0 to {n_labels - 1}, got {wrong[0]:g}."
        )
    indptr = np.cumsum([0, *(len(set(row)) for row in labels)])
    cells = np.ones(len(columns)), columns.astype(np.int64), indptr
    Y = sparse.csr_array(cells, shape=(n_documents, n_labels))
    Y.sort_indices()
    X.eliminate_zeros()
    return X, Y


def read_score_text(path: Path, n_labels: int | None = None) -> sparse.csr_array:
    """Read scores of candidates.

    Parameters
    ----------
    path
        A text file: pairs ``label:score`` separated by spaces, tabs or commas, a line per document,
        empty for a document without candidates. A first line of two numbers declares the numbers of
        documents and labels.
    n_labels
        Number of labels of a file without such a line; default: the highest number.

    Returns
    -------
    csr_array
        ``(n_documents, n_labels)``, stored = candidate, sorted indices.
    """
    indptr, labels, scores = array("q", [0]), array("q"), array("d")
    shape: tuple[int, int] | None = None
    for number, line in enumerate(decoded_lines(path), start=1):
        if number == 1 and (header := _SCORES_SIZES.fullmatch(line)):
            shape = int(header[1]), int(header[2])
            continue
        row: dict[int, float] = {}
        for item in line.replace(",", " ").split():
            pair = _SCORE.fullmatch(item)
            if pair is None or int(pair[1]) in row:
                raise ValueError(
                    f"{line_of(path, number)}: candidates must be label:score, distinct numbers "
                    f"from 0 and scores, got {item[:40]!r}."
                )
            row[int(pair[1])] = float(pair[2])
        labels.extend(sorted(row))
        scores.extend(row[label] for label in sorted(row))
        indptr.append(len(labels))
    n_documents, width = len(indptr) - 1, max(labels, default=-1) + 1
    if shape is not None and shape[0] != n_documents:
        raise ValueError(
            f"{path.name}: the file must have the {shape[0]} documents of its first line, got "
            f"{n_documents}. Is it cut off?"
        )
    most = shape[1] if shape else width if n_labels is None else n_labels
    if shape or n_labels is None:
        check_declared(path, most, "labels", MOST_LABELS)
    if width > most:
        raise ValueError(
            f"{path.name}: labels must be numbers from 0 to {most - 1}, got {width - 1}. Are these "
            "scores of the same labels?"
        )
    columns = np.array(labels, dtype=np.int32)
    return sparse.csr_array((np.array(scores), columns, np.array(indptr)), (n_documents, most))


def format_scores(scores: sparse.csr_array) -> str:
    """Return candidates as text, the best of each document first, after a line with the shape.

    Examples
    --------
    >>> print(format_scores(sparse.csr_array(np.array([[0.25, 0.0, 0.5]]))), end="")
    1 3
    2:0.5 0:0.25
    """
    lines = [f"{scores.shape[0]} {scores.shape[1]}"]
    for start, stop in pairwise(scores.indptr.tolist()):
        best = start + np.argsort(-scores.data[start:stop], kind="stable")
        pairs = zip(scores.indices[best].tolist(), scores.data[best].tolist(), strict=True)
        lines.append(" ".join(f"{label}:{score!r}" for label, score in pairs))
    return "\n".join(lines) + "\n"
