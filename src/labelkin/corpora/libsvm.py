"""Multilabel files of LIBSVM: ``LABEL,LABEL INDEX:VALUE …``, a document per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from scipy import sparse

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.feature_kind import kind_of_features
from labelkin.corpora.sparse_rows import MOST_FEATURES, Rows, iter_rows, split_at_space
from labelkin.corpora.text_files import bad_line
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
