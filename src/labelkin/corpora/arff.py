"""Multilabel ARFF: MULAN's, whose labels stand in an XML file, and MEKA's, with ``-C``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.arff_header import Header, read_header
from labelkin.corpora.arff_labels import labels_by_option, labels_by_xml, read_xml_labels
from labelkin.corpora.arff_rows import Column, feature_column, label_column, read_rows
from labelkin.corpora.corpus import Corpus
from labelkin.corpora.feature_kind import kind_of_features
from labelkin.corpora.text_files import text_lines
from labelkin.label_matrix import read_labels

#: Attributes of published sets that are the documents' names, no features.
DOCUMENT_NAMES = {"genbase": "protein"}


def read_mulan(
    folder: str | PathLike[str], *, ids: str | None = None, encoding: str = "utf-8-sig"
) -> Corpus:
    """Read a folder of MULAN: ``x.xml`` names the labels, ``x-train.arff`` and ``x-test.arff``.

    Without these two, ``x.arff`` is read and all of its documents are training documents.

    Features are what is no label: numbers as they are, yes and no (or true and false) as 1 and 0,
    attributes of other words as one 0/1 feature ``name=word`` per word. The documents are CSR if
    the file's rows are sparse, else dense; a value ``?`` is NaN. A label that is ``?`` is unknown.

    Parameters
    ----------
    folder
        Where the files are; its name is the corpus' name.
    ids
        The attribute that is the documents' name, if there is one; it is no feature. Known for
        genbase.
    encoding
        What the files are written in.
    """
    folder = Path(folder)
    xml = _only(folder, "*.xml")
    labels_of = partial(labels_by_xml, xml, read_xml_labels(xml))
    tables = [_read_table(path, labels_of, encoding) for path in _parts(folder)]
    return _corpus(
        tables,
        name=folder.name,
        n_train=tables[0].n_documents,
        ids=ids or DOCUMENT_NAMES.get(folder.name),
        source=f"{folder.name}, https://mulan.sourceforge.net/datasets-mlc.html",
    )


def read_meka(
    path: str | PathLike[str],
    *,
    n_train: int | None = None,
    ids: str | None = None,
    encoding: str = "utf-8-sig",
) -> Corpus:
    """Read an ARFF file of MEKA: ``-C 6`` in its relation says that the first 6 are the labels.

    ``-C -6``: the last 6. Features are read as :func:`read_mulan` does.

    Parameters
    ----------
    path
        The file, maybe compressed; its name is the corpus' name.
    n_train
        How many documents, from the first, are for training; the others are for testing. ``None``:
        all. What MEKA's ``-split`` options say is not looked at.
    ids, encoding
        As for :func:`read_mulan`.
    """
    path = Path(path)
    table = _read_table(path, labels_by_option, encoding)
    n_train = table.n_documents if n_train is None else n_train
    if not 0 < n_train <= table.n_documents:
        raise ValueError(
            f"n_train must be 1 to {table.n_documents}, the number of documents in {path.name}, "
            f"got {n_train!r}."
        )
    source = f"{path.name}, in the format of MEKA, https://waikato.github.io/meka/"
    return _corpus([table], name=path.name.split(".")[0], n_train=n_train, ids=ids, source=source)


@dataclass(frozen=True)
class _Table:
    """A file: what its columns are, which of them are labels, and all its values."""

    header: Header
    columns: Sequence[Column]
    labels: Sequence[int]
    values: sparse.csr_array
    is_sparse: bool

    @property
    def n_documents(self) -> int:
        return int(self.values.shape[0])


def _read_table(path: Path, labels_of: Callable[[Header], list[int]], encoding: str) -> _Table:
    lines = text_lines(path, encoding)
    header = read_header(path, lines)
    labels = labels_of(header)
    columns = [feature_column(attribute) for attribute in header.attributes]
    for j in labels:
        columns[j] = label_column(path, header.attributes[j])
    values, is_sparse = read_rows(path, lines, columns)
    return _Table(header, columns, labels, values, is_sparse)


def _corpus(
    tables: Sequence[_Table], *, name: str, n_train: int, ids: str | None, source: str
) -> Corpus:
    _check_same_attributes(tables)
    columns, labels = tables[0].columns, tables[0].labels
    values = sparse.csr_array(sparse.vstack([table.values for table in tables]))
    name_column = _find(tables[0].header, ids)
    kept = sorted(set(range(len(columns))) - {*labels, name_column})
    X, terms = _features(values, columns, kept)
    Y = read_labels(values[:, labels], names=[columns[j].name for j in labels])
    return Corpus(
        name=name,
        documents=X if any(table.is_sparse for table in tables) else X.toarray(),
        features=kind_of_features(X),
        Y=replace(Y, container="dense"),
        train=np.arange(n_train),
        test=np.arange(n_train, values.shape[0]),
        ids=None if name_column is None else _words(values, columns, name_column),
        terms=np.array(terms),
        source=source,
        licence="not stated with the data: see the source",
    )


def _check_same_attributes(tables: Sequence[_Table]) -> None:
    first = tables[0].header
    expected = [(attribute.name, attribute.values) for attribute in first.attributes]
    for table in tables[1:]:
        got = [(attribute.name, attribute.values) for attribute in table.header.attributes]
        if got != expected:
            wrong = next(
                (a for a, b in zip(got, expected, strict=False) if a != b),
                (f"{len(got)} instead of {len(expected)}", None),
            )
            raise ValueError(
                f"{table.header.path.name}: the attributes must be those of {first.path.name}, "
                f"with the same values in the same order, got {wrong[0]!r}."
            )


def _find(header: Header, ids: str | None) -> int | None:
    names = [attribute.name for attribute in header.attributes]
    if ids is None:
        return None
    if ids not in names:
        raise ValueError(
            f"ids must be one of the {len(names)} attributes of {header.path.name}, got {ids!r}."
        )
    return names.index(ids)


def _features(
    values: sparse.csr_array, columns: Sequence[Column], kept: Sequence[int]
) -> tuple[sparse.csr_array, list[str]]:
    """Return the columns kept, with their names; words become a 0/1 column each."""
    terms = [term for j in kept for term in _terms(columns[j])]
    if len(terms) == len(kept):
        X = values[:, kept]
    else:
        by_column = sparse.csc_array(values)
        X = sparse.hstack([_expand(by_column[:, [j]], columns[j]) for j in kept])
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    return X, terms


def _terms(column: Column) -> list[str]:
    return [f"{column.name}={word}" for word in column.levels] or [column.name]


def _expand(numbers: sparse.csc_array, column: Column) -> sparse.csc_array:
    """Return a 0/1 column per level, or the column as it is; an unknown word is at no level."""
    if not column.levels:
        return numbers
    level = numbers.toarray().ravel()
    return sparse.csc_array(level[:, np.newaxis] == np.arange(len(column.levels)), dtype=float)


def _words(values: sparse.csr_array, columns: Sequence[Column], j: int) -> NDArray[np.str_]:
    numbers = values[:, [j]].toarray().ravel()
    levels = columns[j].levels
    return np.array([levels[int(k)] if levels else f"{k:g}" for k in numbers])


def _parts(folder: Path) -> list[Path]:
    """Return the training and the test file, or the only one there is."""
    if not list(folder.glob("*-train.arff*")) and not list(folder.glob("*-test.arff*")):
        return [_only(folder, "*.arff*")]
    return [_only(folder, "*-train.arff*"), _only(folder, "*-test.arff*")]


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise FileNotFoundError(f"{folder} must have one file {pattern}, got {names}.")
    return found[0]
