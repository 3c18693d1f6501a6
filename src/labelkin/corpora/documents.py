"""Documents as files list them, one after the other, and the corpus they make together."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.lines import decoded_lines
from labelkin.label_matrix import LabelMatrix, read_labels

SPLITS = ("train", "test")
Item = TypeVar("Item")


class LabelledDocument(NamedTuple):
    """One document of a file.

    Attributes
    ----------
    text, labels
        Its text and its label set; both may be empty.
    id, split
        Its own name, and ``"train"`` or ``"test"``, where the file tells.
    place
        Where it stands, for messages: file and line.
    """

    text: str
    labels: tuple[str, ...]
    id: str | None = None
    split: str | None = None
    place: str = ""


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of ``size``, the last one maybe shorter."""
    if size < 1:
        raise ValueError(f"block must be at least 1, got {size!r}.")
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


def read_split(value: Any, place: str) -> str | None:
    """Return a document's split; nothing at all or an empty value is no split."""
    if value in (None, ""):
        return None
    if value not in SPLITS:
        raise ValueError(f"{place}: split must be 'train' or 'test', got {value!r}.")
    return str(value)


def corpus_of(
    documents: Iterable[LabelledDocument], *, path: Path, name: str | None = None
) -> Corpus:
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
    _refuse_repeated_ids(kept)
    train, test = _parts(kept)
    return Corpus(
        name=name or stem_of(path),
        documents=_objects([document.text for document in kept]),
        Y=_label_matrix([set(document.labels) for document in kept]),
        train=train,
        test=test,
        ids=None if kept[0].id is None else _objects([document.id for document in kept]),
        source=str(path),
        licence="not stated in the file",
    )


def stem_of(path: Path) -> str:
    """Return a file's name without ``.gz`` and what comes before it, ``news`` of ``news.csv.gz``.

    Examples
    --------
    >>> stem_of(Path("corpora/news.csv.gz"))
    'news'
    """
    name = path.name.removesuffix(".gz")
    return Path(name).stem or name


def _refuse_repeated_ids(documents: Sequence[LabelledDocument]) -> None:
    first: dict[str, str] = {}
    for document in documents:
        if document.id is None:
            continue
        if document.id in first:
            raise ValueError(
                f"{document.place}: ids must be distinct, got {document.id!r} again, first in "
                f"{first[document.id]}."
            )
        first[document.id] = document.place


def _parts(
    documents: Sequence[LabelledDocument],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    without = [document.place for document in documents if document.split is None]
    if 0 < len(without) < len(documents):
        raise ValueError(
            f"{without[0]}: either every document must have a split or none, got {len(without)} of "
            f"{len(documents)} documents without. Give them 'train' or 'test', or leave them out."
        )
    is_test = np.array([document.split == "test" for document in documents])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def _label_matrix(label_sets: Sequence[set[str]]) -> LabelMatrix:
    """Return what ``read_labels`` makes of the label sets, in one pass however many labels."""
    names = sorted(set().union(*label_sets))
    place = {name: j for j, name in enumerate(names)}
    columns = [place[name] for labels in label_sets for name in labels]
    rows = np.repeat(np.arange(len(label_sets)), [len(labels) for labels in label_sets])
    matrix = sparse.csr_array(
        (np.ones(len(columns)), (rows, columns)), shape=(len(label_sets), len(names))
    )
    return replace(read_labels(matrix, names=names), is_sparse=False)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as an object array, which holds long and short texts alike."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


KEYS = ("id", "text", "labels")


def iter_jsonl(
    path: str | os.PathLike[str], *, block: int = 1000, encoding: str = "utf-8"
) -> Iterator[list[LabelledDocument]]:
    """Read documents from JSON lines, a block at a time, however large the file is.

    Every line is an object with ``"id"`` (text or whole number), ``"text"``, ``"labels"`` (a list
    of texts, which may be empty) and maybe ``"split"``, ``"train"`` or ``"test"``. Other keys and
    blank lines are passed over.

    Parameters
    ----------
    path
        The file; gzip is unpacked.
    block
        Documents per block. Repeated ids are found by :func:`read_jsonl` only, which sees them all.
    encoding
        Bytes that are not of it are an error that tells their offset.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tea.jsonl"
    >>> _ = file.write_text('{"id": "1", "text": "Tea, please.", "labels": ["tea"]}')
    >>> [[document.text for document in block] for block in iter_jsonl(file)]
    [['Tea, please.']]
    >>> folder.cleanup()
    """
    return in_blocks(_documents(Path(path), encoding), block)


def read_jsonl(
    path: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a corpus from JSON lines; :func:`iter_jsonl` tells the format.

    A file without ``"split"`` is all for training.
    """
    return corpus_of(_documents(Path(path), encoding), path=Path(path), name=name)


def _documents(path: Path, encoding: str) -> Iterator[LabelledDocument]:
    for number, line in enumerate(decoded_lines(path, encoding), start=1):
        if line.strip():
            place = f"{path.name}, line {number}"
            yield _document(_read_object(line, place), place)


def _read_object(line: str, place: str) -> dict[str, Any]:
    wanted = f"{place}: a line must be one JSON object"
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        start = line.strip()[:60]
        raise ValueError(
            f"{wanted}, got {start!r} … ({error.msg}, column {error.colno}). Is the file cut off?"
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{wanted}, got {type(found).__name__} {line.strip()[:60]!r}.")
    missing = [key for key in KEYS if key not in found]
    if missing:
        raise ValueError(f"{wanted} with 'id', 'text' and 'labels', got no {_listed(missing)} "
                         f"among its keys {_listed(found) or '(none)'}.")  # fmt: skip
    return found


def _document(found: dict[str, Any], place: str) -> LabelledDocument:
    ident, text, labels = (found[key] for key in KEYS)
    if isinstance(ident, bool) or not isinstance(ident, str | int):
        raise ValueError(f"{place}: id must be text or a whole number, got {ident!r}.")
    if not isinstance(text, str):
        raise ValueError(f"{place}: text must be text, got {text!r}.")
    if not isinstance(labels, list) or not all(isinstance(x, str) and x for x in labels):
        raise ValueError(
            f"{place}: labels must be a list of texts that are not empty, got {labels!r}."
        )
    return LabelledDocument(
        text, tuple(labels), str(ident), read_split(found.get("split"), place), place
    )


COLUMNS = {"text": "text", "labels": "labels", "id": "id", "split": "split"}
"""What the columns are called unless the caller says otherwise."""
NEEDED = ("text", "labels")
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
LONGEST_FIELD = 2**31 - 1

Labels = Callable[[str, str], tuple[str, ...]]
"""Turns a cell, and the place it stands, into labels."""


def iter_table(
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    separator: str = ";",
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str = "utf-8",
    block: int = 1000,
) -> Iterator[list[LabelledDocument]]:
    r"""Read documents from a table with a header, a block at a time, however large it is.

    Parameters
    ----------
    path
        The file; gzip is unpacked.
    columns
        What the columns are called where they are not ``text`` and ``labels`` (needed), ``id`` and
        ``split`` (used where they are): ``{"text": "abstract"}``.
    separator
        Stands between the labels of a document. Blanks around labels are cut off.
    delimiter
        Stands between the columns; ``None``: comma for ``.csv``, tab for ``.tsv``.
    quoted
        Whether cells may stand in double quotes; ``False`` takes ``"`` for a character like others.
    encoding
        Bytes that are not of it are an error that tells their offset.
    block
        Documents per block. Repeated ids are found by :func:`read_table` only, which sees them all.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "tea.csv"
    >>> _ = file.write_text("text,labels\nTea with sugar.,tea; sugar\n")
    >>> [[document.labels for document in block] for block in iter_table(file)]
    [[('tea', 'sugar')]]
    >>> folder.cleanup()
    """
    path = Path(path)
    documents = table_documents(
        path,
        rows_of(path, delimiter=delimiter, quoted=quoted, encoding=encoding),
        {**COLUMNS, **_checked(columns or {})},
        needed=(*NEEDED, *(columns or {})),
        labels=_splitter(separator),
    )
    return in_blocks(documents, block)


def read_table(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str = ";",
    delimiter: str | None = None,
    quoted: bool = True,
    encoding: str = "utf-8",
) -> Corpus:
    """Read a corpus from a table; :func:`iter_table` tells the format.

    A table without splits is all for training.
    """
    blocks = iter_table(
        path,
        columns=columns,
        separator=separator,
        delimiter=delimiter,
        quoted=quoted,
        encoding=encoding,
    )
    return corpus_of((d for block in blocks for d in block), path=Path(path), name=name)


def rows_of(
    path: Path, *, delimiter: str | None = None, quoted: bool = True, encoding: str = "utf-8"
) -> Iterator[tuple[str, list[str]]]:
    """Yield every row that is not blank after the place it begins: file and line."""
    reader = csv.reader(
        decoded_lines(path, encoding),
        delimiter=delimiter or _delimiter(path),
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        place = f"{path.name}, line {reader.line_num + 1}"
        try:
            with _long_fields():
                row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(
                f"{place}: a row must be cells in whole quotes or none, got: {error}. Is the file "
                "cut off? Where quotes mean nothing, pass quoted=False."
            ) from None
        if row:
            yield place, row


def table_documents(
    path: Path,
    rows: Iterator[tuple[str, list[str]]],
    columns: Mapping[str, str],
    *,
    needed: Sequence[str],
    labels: Labels,
) -> Iterator[LabelledDocument]:
    """Yield the documents of the rows; the first row is the header."""
    _, header = next(rows, ("", []))
    where = _positions(path, header, columns, needed)
    for place, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{place}: a row must have the header's {len(header)} cells, got {len(row)}. "
                "Is the delimiter right, and the file whole?"
            )
        cells = {key: row[position] for key, position in where.items()}
        yield LabelledDocument(
            cells["text"],
            labels(cells["labels"], place),
            cells.get("id"),
            read_split(cells.get("split", "").strip(), place),
            place,
        )


def _positions(
    path: Path, header: Sequence[str], columns: Mapping[str, str], needed: Sequence[str]
) -> dict[str, int]:
    """Return the position of each column that is there."""
    if not header:
        raise ValueError(f"{path.name}: a table must begin with a header, got an empty file.")
    names = [name.strip() for name in header]
    missing = [columns[key] for key in dict.fromkeys(needed) if columns[key] not in names]
    if missing:
        raise ValueError(
            f"{path.name}: the header must name {_listed(missing)}, got {_listed(names)}. "
            + delimiter_hint(names, "Then pass delimiter={!r}.")
            + "Other names are told by columns={'text': …, 'labels': …}."
        )
    repeated = [name for name in columns.values() if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"{path.name}: a column must be in the header once, got {_listed(repeated)} again."
        )
    return {key: names.index(name) for key, name in columns.items() if name in names}


def delimiter_hint(header: Sequence[str], way_out: str) -> str:
    """Return what stands between the columns, it seems, where a header is one cell; or nothing.

    Examples
    --------
    >>> delimiter_hint(["text;labels"], "Pass delimiter={!r}.")
    "The columns seem to be separated by ';'. Pass delimiter=';'. "
    """
    found = next((sign for sign in ";\t|," if sign in header[0]), None)
    if len(header) > 1 or found is None:
        return ""
    return f"The columns seem to be separated by {found!r}. {way_out.format(found)} "


def _splitter(separator: str) -> Labels:
    if not separator:
        raise ValueError("separator must be at least one character, got ''.")

    def split(cell: str, _place: str) -> tuple[str, ...]:
        return tuple(label for part in cell.split(separator) if (label := part.strip()))

    return split


def _checked(columns: Mapping[str, str]) -> Mapping[str, str]:
    unknown = [key for key in columns if key not in COLUMNS]
    if unknown:
        raise ValueError(f"columns must name {_listed(COLUMNS)}, got {_listed(unknown)}.")
    return columns


def _delimiter(path: Path) -> str:
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix not in DELIMITERS:
        raise ValueError(
            f"{path.name}: a table must be called .csv or .tsv, got {suffix!r}. Pass delimiter=."
        )
    return DELIMITERS[suffix]


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let a cell be longer than the 131,072 characters csv allows; the limit is its global."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _listed(names: Sequence[str] | Mapping[str, str]) -> str:
    return ", ".join(repr(name) for name in names)


URI = re.compile(r"<([^<>\s]+)>|([^<>\s]+)")
CSV_COLUMNS = {"text": "text", "labels": "subject_uris", "id": "document_id"}
SUBJECT_FILES = (".tsv", ".key")


def iter_annif_tsv(
    path: str | os.PathLike[str], *, block: int = 1000, encoding: str = "utf-8"
) -> Iterator[list[LabelledDocument]]:
    """Read short texts, a block at a time: text, tab, URIs in angle brackets with blanks between.

    There is no header, and no ids. Gzip is unpacked; blank lines are passed over.
    """
    return in_blocks(_short_texts(Path(path), encoding, None), block)


def read_annif_tsv(
    path: str | os.PathLike[str],
    test: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    r"""Read a corpus of short texts; test documents may have a file of their own.

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
    documents = _short_texts(Path(path), encoding, None if test is None else "train")
    if test is not None:
        documents = chain(documents, _short_texts(Path(test), encoding, "test"))
    return corpus_of(documents, path=Path(path), name=name)


def read_annif_csv(
    path: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read a corpus of short texts from CSV with ``text``, ``subject_uris``, maybe ``document_id``.

    The URIs stand in angle brackets with blanks between. Other columns are passed over. All
    documents are for training.
    """
    path = Path(path)
    rows = rows_of(path, encoding=encoding)
    documents = table_documents(path, rows, CSV_COLUMNS, needed=NEEDED, labels=_uris)
    return corpus_of(documents, path=path, name=name)


def read_annif_folder(
    folder: str | os.PathLike[str], *, name: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """Read full texts: ``a.txt`` and beside it its labels, ``a.tsv`` or ``a.key``.

    A ``.tsv`` file has a URI in angle brackets and maybe a name per line, and the URI is the label;
    a ``.key`` file has a name per line. Where both are there ``.tsv`` counts, as in Annif. Folders
    ``train`` and ``test`` inside make the split; without them all documents are for training.
    """
    folder = Path(folder)
    parts = {split: folder / split for split in ("train", "test") if (folder / split).is_dir()}
    if not parts:
        return corpus_of(_full_texts(folder, encoding, None), path=folder, name=name)
    documents = (_full_texts(part, encoding, split) for split, part in parts.items())
    return corpus_of(chain.from_iterable(documents), path=folder, name=name)


def _short_texts(path: Path, encoding: str, split: str | None) -> Iterator[LabelledDocument]:
    for number, line in enumerate(decoded_lines(path, encoding), start=1):
        if not line.strip():
            continue
        place = f"{path.name}, line {number}"
        text, tab, uris = line.rstrip("\r\n").partition("\t")
        if not tab:
            raise ValueError(
                f"{place}: a line must be a text, a tab and URIs, got no tab in {text[:60]!r}."
            )
        yield LabelledDocument(text, _uris(uris, place), None, split, place)


def _uris(cell: str, place: str) -> tuple[str, ...]:
    return tuple(_uri(word, place) for word in cell.split())


def _uri(word: str, place: str) -> str:
    match = URI.fullmatch(word)
    if not match:
        raise ValueError(
            f"{place}: labels must be URIs in angle brackets with blanks between, got {word!r}. "
            "Is the file cut off?"
        )
    return match[1] or match[2]


def _full_texts(folder: Path, encoding: str, split: str | None) -> Iterator[LabelledDocument]:
    texts = sorted(folder.glob("*.txt"))
    subjects = [_subject_file(text) for text in texts]
    _check_subject_files(folder, texts, subjects)
    for text, file in zip(texts, subjects, strict=True):
        assert file is not None
        # A document of either part may be called alike: the part is in the id.
        ident = text.stem if split is None else f"{split}/{text.stem}"
        content = "".join(decoded_lines(text, encoding))
        yield LabelledDocument(content, _subjects(file, encoding), ident, split, text.name)


def _subject_file(text: Path) -> Path | None:
    beside = (text.with_suffix(suffix) for suffix in SUBJECT_FILES)
    return next((file for file in beside if file.exists()), None)


def _check_subject_files(folder: Path, texts: list[Path], subjects: list[Path | None]) -> None:
    without = [text.name for text, file in zip(texts, subjects, strict=True) if file is None]
    if without:
        raise ValueError(
            f"{folder.name}: every text must have a .tsv or .key file beside it, got none for "
            f"{without[0]!r} ({len(without)} of {len(texts)} texts). A document without labels has "
            "an empty one."
        )
    kinds = {file.suffix for file in subjects if file is not None}
    if len(kinds) > 1:
        raise ValueError(
            f"{folder.name}: the labels must all be URIs (.tsv) or all be names (.key), got both: "
            "the same label would count as two."
        )


def _subjects(file: Path, encoding: str) -> tuple[str, ...]:
    lines = [line.strip() for line in decoded_lines(file, encoding)]
    if file.suffix == ".key":
        return tuple(line for line in lines if line)
    return tuple(
        _uri(line.split("\t")[0].strip(), f"{file.name}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line
    )
