"""Corpora of texts from files: JSON lines, tables with a header, and Annif's corpora."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelkin.corpora.corpus import Corpus, object_array
from labelkin.corpora.documents import ENDINGS, Document, Documents, Field, Split
from labelkin.corpora.lines import stem_of
from labelkin.label_matrix import read_labels

_NEEDED: tuple[Field, ...] = ("text", "labels")


def read_jsonl(
    path: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a corpus from JSON lines.

    Every line is an object with ``"text"``, ``"labels"`` (a list of texts, which may be empty) and
    maybe ``"id"`` (text or whole number) and ``"split"``, ``"train"`` or ``"test"``: on every line
    or on none. Other keys and blank lines are passed over. A file without ``"split"`` is all for
    training.

    Parameters
    ----------
    path : path
        The file; it may be packed.
    name : str, optional
        Of the corpus; ``None``: that of the file, without its ending.
    encoding : str, default "utf-8"
        What the file is written in.
    """
    documents = Documents(
        path, "jsonl", needed=_NEEDED, optional=("id", "split"), encoding=encoding
    )
    return corpus_of(documents, path=Path(path), name=name)


def read_table(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    columns: Mapping[Field, str | Sequence[str]] | None = None,
    separator: str = ";",
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str = "utf-8",
) -> Corpus:
    r"""Read a corpus from a table with a header: ``text``, ``labels``, maybe ``id`` and ``split``.

    A table without splits is all for training.

    Parameters
    ----------
    path : path
        The file; it may be packed.
    name : str, optional
        Of the corpus; ``None``: that of the file, without its ending.
    columns, separator, delimiter, quoted, encoding
        As :class:`Documents` takes them; ``delimiter=None``: a comma for ``.csv``, a tab for
        ``.tsv``.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tea.csv"
    >>> _ = file.write_text("text,labels\nTea with sugar.,tea; sugar\n")
    >>> read_table(file).Y.label_sets()
    [('sugar', 'tea')]
    >>> folder.cleanup()
    """
    path = Path(path)
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    format = ENDINGS.get(ending)
    if delimiter is None and format not in ("csv", "tsv"):
        raise ValueError(
            f"{path.name}: a table must be called .csv or .tsv, got {ending!r}. Pass delimiter=."
        )
    documents = Documents(
        path,
        "tsv" if format == "tsv" else "csv",
        needed=_NEEDED,
        optional=("id", "split"),
        columns=columns or {},
        separator=separator,
        delimiter=delimiter,
        quoted=quoted,
        encoding=encoding,
    )
    return corpus_of(documents, path=path, name=name)


def read_annif_tsv(
    path: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    r"""Read Annif's short texts: a line is a text, a tab and URIs; there is no header, and no ids.

    Parameters
    ----------
    path : path
        The file; it may be packed.
    test : path, optional
        Test documents from a file of their own; ``None``: all documents are for training.
    name, encoding
        As for :func:`read_jsonl`.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "drinks.tsv"
    >>> _ = file.write_text("Tea with sugar\t<http://example.org/tea> <http://example.org/sugar>")
    >>> read_annif_tsv(file).Y.names.tolist()
    ['http://example.org/sugar', 'http://example.org/tea']
    >>> folder.cleanup()
    """
    parts: list[tuple[str | os.PathLike[str], Split | None]] = [(path, None)]
    if test is not None:
        parts = [(path, "train"), (test, "test")]
    documents = [
        Documents(file, "annif_tsv", needed=_NEEDED, encoding=encoding, split=split)
        for file, split in parts
    ]
    return corpus_of(chain.from_iterable(documents), path=Path(path), name=name)


def read_annif_csv(
    path: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read Annif's short texts from CSV with ``text``, ``subject_uris``, maybe ``document_id``.

    The URIs stand in angle brackets with blanks between. Other columns are passed over. All
    documents are for training. Parameters are those of :func:`read_jsonl`.
    """
    documents = Documents(path, "annif_csv", needed=_NEEDED, encoding=encoding)
    return corpus_of(documents, path=Path(path), name=name)


def read_annif_folder(
    folder: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read Annif's full texts: ``a.txt`` and beside it its labels, ``a.tsv`` or ``a.key``.

    Where both are there ``.tsv`` counts, as in Annif. Folders ``train`` and ``test`` inside make
    the split; without them all documents are for training. Parameters are those of
    :func:`read_jsonl`.
    """
    folder = Path(folder)
    splits: tuple[Split, ...] = ("train", "test")
    inside = [(folder / split, split) for split in splits if (folder / split).is_dir()]
    parts: list[tuple[Path, Split | None]] = [*inside] or [(folder, None)]
    documents = [
        Documents(part, "folder", needed=_NEEDED, encoding=encoding, split=split)
        for part, split in parts
    ]
    return corpus_of(chain.from_iterable(documents), path=folder, name=name)


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
    _check_distinct_ids(kept)
    train, test = _parts(kept)
    names: dict[str, str] = {}
    for document in kept:
        names |= document.label_names or {}
    return Corpus(
        name=name or stem_of(path),
        documents=object_array([document.text for document in kept]),
        Y=read_labels([set(document.labels or ()) for document in kept]),
        train=train,
        test=test,
        ids=None if kept[0].id is None else object_array([str(document.id) for document in kept]),
        source=str(path),
        licence="not stated in the file",
        label_names=names,
    )


def _check_distinct_ids(documents: Sequence[Document]) -> None:
    without = [document.place for document in documents if document.id is None]
    if 0 < len(without) < len(documents):
        raise ValueError(
            f"{without[0]}: either every document must have an id or none, got {len(without)} of "
            f"{len(documents)} documents without."
        )
    first: dict[str, str] = {}
    for document in () if without else documents:
        ident = str(document.id)
        if ident in first:
            raise ValueError(
                f"{document.place}: ids must be distinct, got {ident!r} again, first in "
                f"{first[ident]}."
            )
        first[ident] = document.place


def _parts(documents: Sequence[Document]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    without = [document.place for document in documents if document.split is None]
    if 0 < len(without) < len(documents):
        raise ValueError(
            f"{without[0]}: either every document must have a split or none, got {len(without)} of "
            f"{len(documents)} documents without. Give them 'train' or 'test', or leave them out."
        )
    is_test = np.array([document.split == "test" for document in documents])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)
