"""The record of a corpus, and corpora from files and folders of texts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.documents import Document, DocumentFiles, Documents, several
from labelkin.corpora.lines import stem_of
from labelkin.corpora.tables import find_spellings
from labelkin.label_matrix import LabelMatrix, read_labels

#: Kinds of features of a corpus: texts, term counts, weights such as tf-idf
#: (0 or more), 0/1 marks, or any other numbers.
Features = Literal["text", "counts", "weights", "binary", "numbers"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Corpus:
    """Documents, their label sets and a fixed split.

    Attributes
    ----------
    name : str
        Its name for :func:`load`.
    documents : ndarray of object, ndarray or csr_array
        The texts, an object array ``(n_documents,)``; or, where the corpus is published as vectors,
        a CSR or dense array ``(n_documents, n_features)``. ``documents[train]`` works for both.
    Y : ndarray or csr_array of shape (n_documents, n_labels)
        Their labels, 0 or 1, as int64; above 2**24 cells a SciPy CSR array. A corpus with unknown
        cells has float64, NaN where unknown.
    label_names : ndarray of shape (n_labels,)
        The labels, in the order of the columns of ``Y``.
    train, test : ndarray of int
        Positions of the training and of the test documents, ascending and disjoint.
    source, licence : str
        Its origin, and the terms of use.
    features : {"text", "counts", "weights", "binary", "numbers"}, default "text"
        Kind of the documents: ``"text"``, or the kind of the vectors' values.
    ids : ndarray, optional
        Ids of the documents, ``(n_documents,)``.
    terms : ndarray, optional
        Names of the features, ``(n_features,)``.
    display_names : mapping of str to str
        Names of labels that are URIs: URI → name.
    understood : str, default ""
        Everything that was detected in the file, such as its separators.

    Examples
    --------
    >>> from labelkin.corpora import newsroom
    >>> newsroom(300)
    Corpus newsroom
      documents  300: 200 to train, 100 to test
      labels     38, 2.24 per document
      features   text
    >>> news = newsroom(300)
    >>> news.Y[news.train].shape
    (200, 38)
    >>> news.label_sets(news.train)[0]
    ('music',)
    """

    name: str
    documents: NDArray[Any] | sparse.csr_array
    Y: NDArray[Any] | sparse.csr_array
    label_names: NDArray[Any]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    source: str
    licence: str
    features: Features = "text"
    ids: NDArray[Any] | None = None
    terms: NDArray[Any] | None = None
    display_names: Mapping[str, str] = field(default_factory=dict)
    understood: str = ""

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Whether each document has a label, ``(n_documents,)``."""
        return np.asarray(np.diff(labels_of(self).positive.indptr) > 0)

    def labelled(self) -> Corpus:
        """Return the corpus without the documents that have no label."""
        rows = np.flatnonzero(self.is_labelled)
        place = np.cumsum(self.is_labelled) - 1
        return replace(
            self,
            documents=self.documents[rows],
            Y=self.Y[rows],
            train=place[self.train[self.is_labelled[self.train]]],
            test=place[self.test[self.is_labelled[self.test]]],
            ids=None if self.ids is None else self.ids[rows],
        )

    def label_sets(self, rows: Any = slice(None)) -> list[tuple[Any, ...]]:
        """Return the label names of documents, which every ``fit`` accepts as ``Y``.

        A model fitted on label sets has the labels that occur in them, in alphabetical order. The
        columns of ``Y`` have another order in corpora from ARFF and LIBSVM files. Fit on
        ``pandas.DataFrame(corpus.Y, columns=corpus.label_names)`` to keep the columns of ``Y``.

        Parameters
        ----------
        rows : array of int or bool, or slice
            The documents, such as ``train``; default all.

        Returns
        -------
        list of tuples
        """
        return labels_of(self).rows(rows).label_sets()

    def names(self) -> list[str]:
        """Return the ids of the documents, or their numbers from 1."""
        if self.ids is None:
            return [str(number) for number in range(1, self.Y.shape[0] + 1)]
        return [str(name) for name in self.ids]

    def summary(self) -> dict[str, str]:
        """Return the sizes of the corpus in words, by name."""
        n_documents, n_labels = self.Y.shape
        cardinality = labels_of(self).positive.sum() / max(n_documents, 1)
        n_train, n_test = len(self.train), len(self.test)
        width = "" if self.features == "text" else f"{self.documents.shape[1]:,} "
        return {
            "documents": f"{n_documents:,}: {n_train:,} to train, {n_test:,} to test",
            "labels": f"{n_labels:,}, {cardinality:.2f} per document",
            "features": f"{width}{self.features}",
        }

    def __repr__(self) -> str:
        rows = (f"  {what:<10} {size}" for what, size in self.summary().items())
        return "\n".join([f"Corpus {self.name}", *rows])


def labels_of(corpus: Corpus) -> LabelMatrix:
    """Return the labels of a corpus with their names, as the library works on them."""
    return read_labels(corpus.Y, names=corpus.label_names)


def label_fields(labels: LabelMatrix) -> dict[str, Any]:
    """Return the fields ``Y`` and ``label_names`` of a corpus."""
    return {"Y": labels.public(), "label_names": labels.names}


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as an object array, which holds long and short texts alike."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def kind_of_features(X: Any) -> Features:
    """Return the narrowest kind that fits all values of a dense or sparse ``X``.

    0 and 1 only: ``"binary"``; whole and not negative: ``"counts"``; not negative: ``"weights"``;
    else ``"numbers"``. NaN, where a value is unknown, fits all.

    Examples
    --------
    >>> kind_of_features(np.array([[0.0, 1.0], [2.0, 0.0]]))
    'counts'
    """
    values = X.data if sparse.issparse(X) else np.ravel(X)
    values = values[~np.isnan(values)]
    if (values < 0).any():
        return "numbers"
    if (values != np.floor(values)).any():
        return "weights"
    return "counts" if (values > 1).any() else "binary"


_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read_texts(
    path: _Paths,
    test: _Paths | None = None,
    *,
    name: str | None = None,
    merge_spellings: bool = False,
    **reading: Any,
) -> Corpus:
    r"""Read a corpus of texts from files and folders.

    A document has a text, labels (maybe none), and maybe an id and a split, ``"train"`` or
    ``"test"``: all documents or none. Without splits all documents are for training.

    Parameters
    ----------
    path : path or sequence of paths
        A file, which may be packed, or a folder; or several, one after the other.
    test : path or sequence of paths, optional
        Separate files of test documents; default: the split in the files.
    name : str, optional
        Of the corpus; ``None``: that of the (first) file, without its ending.
    merge_spellings : bool, default False
        Merge labels that differ only by case, blanks or punctuation at their ends; the most
        frequent spelling is used, and ``Corpus.understood`` reports the others.
    **reading
        Parameters of :class:`Documents`, such as ``columns`` and ``separator``. Without them they
        are detected, and ``Corpus.understood`` reports them.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tea.csv"
    >>> _ = file.write_text("Title;Subjects\nTea with sugar.;tea | sugar\n")
    >>> corpus = read_texts(file)
    >>> corpus.label_sets()
    [('sugar', 'tea')]
    >>> print(corpus.understood.replace(", ", "\n"))
    columns separated by semicolons
    separator '|'
    text from 'Title'
    labels from 'Subjects'
    numbered by row
    >>> folder.cleanup()
    """
    options: dict[str, Any] = {
        "needed": ("text", "labels"),
        "optional": ("id", "split"),
        **{key: value for key, value in reading.items() if value is not None},
    }
    paths = several(path)
    parts = [DocumentFiles(paths, **options, split=None if test is None else "train")]
    if test is not None:
        parts.append(DocumentFiles(several(test), **options, split="test"))
    documents = list(_with_distinct_ids([file for part in parts for file in part.parts]))
    merged: dict[str, str] = {}
    if merge_spellings:
        merged = find_spellings(Counter(label for one in documents for label in one.labels or ()))
        documents = [
            one._replace(labels=tuple(dict.fromkeys(merged.get(x, x) for x in one.labels or ())))
            for one in documents
        ]
    found = corpus_of(documents, path=Path(paths[0]), name=name)
    said = dict.fromkeys(part.understood for part in parts)
    if merged:
        shown = ", ".join(f"{one!r} → {winner!r}" for one, winner in [*merged.items()][:3])
        said[f"spellings merged: {len(merged):,} ({shown}{' …' * (len(merged) > 3)})"] = None
    source = ", ".join(map(str, paths))
    return replace(found, source=source, understood="; ".join(filter(None, said)))


def _with_distinct_ids(files: Sequence[Documents]) -> Iterator[Document]:
    """Yield the documents of files, with the file's name if ids are repeated or partly missing."""
    read = [(file, list(file)) for file in files]
    ids = [{one.id for one in documents} for _, documents in read]
    is_distinct = sum(map(len, ids)) == len(set().union(*ids))
    has_ids = {None not in some for some in ids if some}
    for file, documents in read:
        if (is_distinct and has_ids == {True}) or True not in has_ids:
            yield from documents
        else:
            yield from (one._replace(id=f"{file.called}:{one.name}") for one in documents)


def corpus_of(documents: Iterable[Document], *, path: Path, name: str | None = None) -> Corpus:
    """Gather the documents of a file or folder into a corpus.

    The labels are sorted by name. Documents without a split are for training, and the test part is
    empty, unless some of the documents have one: then all need one.
    """
    kept = list(documents)
    if not kept:
        raise ValueError(f"{path.name}: a corpus must have documents, got none.")
    if not any(document.labels for document in kept):
        raise ValueError(
            f"{path.name}: a corpus must have labels, got none in {len(kept)} documents."
        )
    has_ids = _all_have("id", kept)
    first: dict[str, Document] = {}
    for document in kept if has_ids else ():
        before = first.setdefault(str(document.id), document)
        if before is not document:
            raise ValueError(
                f"{document.place}: ids must be distinct, got {str(document.id)!r} again, first in "
                f"{before.place}."
            )
    _all_have("split", kept)
    is_test = np.array([document.split == "test" for document in kept])
    names: dict[str, str] = {}
    for document in kept:
        names |= document.display_names or {}
    return Corpus(
        name=name or stem_of(path),
        documents=object_array([document.text for document in kept]),
        **label_fields(read_labels([set(document.labels or ()) for document in kept])),
        train=np.flatnonzero(~is_test),
        test=np.flatnonzero(is_test),
        ids=object_array([str(document.id) for document in kept]) if has_ids else None,
        source=str(path),
        licence="not stated in the file",
        display_names=names,
    )


def _all_have(what: str, documents: Sequence[Document]) -> bool:
    """Return whether all documents have an id or a split; raise if only some have one."""
    without = [document.place for document in documents if getattr(document, what) is None]
    if 0 < len(without) < len(documents):
        raise ValueError(
            f"{without[0]}: either every document must have {'an' * (what == 'id') or 'a'} {what} "
            f"or none, got {len(without)} of {len(documents)} documents without."
        )
    return not without
