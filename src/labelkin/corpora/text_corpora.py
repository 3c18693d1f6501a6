"""Corpora of texts from files: JSON, tables with a header, and Annif's corpora."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.corpora.corpus import Corpus, label_fields, object_array
from labelkin.corpora.document_files import DocumentFiles
from labelkin.corpora.documents import Document, Documents, Format
from labelkin.corpora.lines import stem_of
from labelkin.corpora.tables import Field, find_spellings
from labelkin.label_matrix import read_labels

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read_texts(
    path: Paths,
    test: Paths | None = None,
    *,
    name: str | None = None,
    format: Format | None = None,
    columns: Mapping[Field, str | Sequence[str]] | None = None,
    preferred: Mapping[Field, str | Sequence[str]] | None = None,
    separator: str | None = None,
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str | None = None,
    merge_spellings: bool = False,
) -> Corpus:
    r"""Read a corpus of texts from files and folders.

    A document has a text, labels (maybe none), and maybe an id and a split, ``"train"`` or
    ``"test"``: all documents or none. Without splits all documents are for training.

    Parameters
    ----------
    path : path or sequence of paths
        A file, which may be packed, or a folder; or several, one after the other.
    test : path or sequence of paths, optional
        Test documents from files of their own; ``None``: what the files say.
    name : str, optional
        Of the corpus; ``None``: that of the (first) file, without its ending.
    format, columns, preferred, separator, delimiter, quoted, encoding
        As :class:`Documents` takes them; what is not named is found out, and
        ``Corpus.understood`` says it.
    merge_spellings : bool, default False
        Merge labels that differ only by case, blanks or punctuation at their ends; the most
        frequent spelling is used, and ``Corpus.understood`` reports the others.

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
        "format": format,
        "needed": ("text", "labels"),
        "optional": ("id", "split"),
        "columns": columns or {},
        "preferred": preferred or {},
        "separator": separator,
        "delimiter": delimiter,
        "quoted": quoted,
        "encoding": encoding,
    }
    paths = _several(path)
    if test is None:
        parts = [DocumentFiles(paths, **options)]
    else:
        parts = [
            DocumentFiles(paths, **options, split="train"),
            DocumentFiles(_several(test), **options, split="test"),
        ]
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


def _several(paths: Paths) -> Sequence[str | os.PathLike[str]]:
    return [paths] if isinstance(paths, str | os.PathLike) else paths


def _with_distinct_ids(files: Sequence[Documents]) -> Iterator[Document]:
    """Yield the documents of files; where two of these number theirs alike, with the file's name.

    So it is, too, where only some of the files have ids.
    """
    read = [(file, list(file)) for file in files]
    ids = [{str(one.id) for one in documents} for _, documents in read]
    have_ids = {one.id is not None for _, documents in read for one in documents[:1]}
    is_one_row = len(have_ids) == 1 and sum(map(len, ids)) == len(set().union(*ids))
    for file, documents in read:
        if is_one_row or True not in have_ids:
            yield from documents
        else:
            yield from (one._replace(id=f"{file._called}:{one.name}") for one in documents)


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
        names |= document.display_names or {}
    return Corpus(
        name=name or stem_of(path),
        documents=object_array([document.text for document in kept]),
        **label_fields(read_labels([set(document.labels or ()) for document in kept])),
        train=train,
        test=test,
        ids=None if kept[0].id is None else object_array([str(document.id) for document in kept]),
        source=str(path),
        licence="not stated in the file",
        display_names=names,
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
