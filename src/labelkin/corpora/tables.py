"""CSV and TSV with a header: a column of texts, a column of labels, maybe ids and splits."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from labelkin.corpora.corpus import Corpus
from labelkin.corpora.decoded_lines import decoded_lines
from labelkin.corpora.labelled_documents import (
    LabelledDocument,
    corpus_of,
    in_blocks,
    read_split,
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
