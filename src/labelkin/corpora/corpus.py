"""The record every corpus is handed over in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.label_matrix import LabelMatrix, read_labels

#: What the features of a corpus are: texts still to be read, term counts, weights such as tf-idf
#: (0 or more), 0/1 marks, or any other numbers.
Features = Literal["text", "counts", "weights", "binary", "numbers"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Corpus:
    """Documents, their label sets and a fixed split.

    Attributes
    ----------
    name : str
        What :func:`load` knows it by.
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
        Where it comes from, and what may be done with it.
    features : {"text", "counts", "weights", "binary", "numbers"}, default "text"
        What the documents are: ``"text"``, or what the vectors hold.
    ids : ndarray, optional
        The documents' own names, ``(n_documents,)``, where they have any.
    terms : ndarray, optional
        Names of the features, ``(n_features,)``, where they have any.
    display_names : mapping of str to str
        What people call the labels, where the corpus says it: URI → name.
    understood : str, default ""
        What was found out about the file when it was read, such as its separators.

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
        """Return what the documents are called: their ids, or their numbers from 1."""
        if self.ids is None:
            return [str(number) for number in range(1, self.Y.shape[0] + 1)]
        return [str(name) for name in self.ids]

    def summary(self) -> dict[str, str]:
        """Return the sizes of the corpus in words, by what they are of."""
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

    def _repr_html_(self) -> str:
        rows = {"corpus": self.name, **self.summary(), "source": self.source}
        cells = "".join(
            f"<tr><th>{escape(what)}</th><td>{escape(said)}</td></tr>"
            for what, said in rows.items()
        )
        return f"<table>{cells}</table>"


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
