"""Documents to be labelled: JSON lines, CSV, TSV, plain text or a folder, however many."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from labelkin.corpora.documents import LONGEST_FIELD, delimiter_hint
from labelkin.corpora.lines import decoded_lines


class Document(NamedTuple):
    """One document.

    Attributes
    ----------
    id
        Its own name, or its number from 1: the line in a text file, the record in others.
    text
        Its text; may be empty.
    """

    id: str | int
    text: str


def read_documents(
    lines: Iterable[str], kind: str, name: str, *, text: str = "text", id: str = "id"
) -> Iterator[Document]:
    r"""Read documents from the lines of a file or a stream, one after the other.

    Parameters
    ----------
    lines
        With their ends, as :func:`labelkin.corpora.lines.decoded_lines` yields them.
    kind
        ``"jsonl"``: objects with a text, and maybe an id; blank lines are passed over. ``"csv"``
        and ``"tsv"``: a header names a column of texts, and maybe one of ids. ``"text"``: every
        line is a document, an empty one too.
    name
        Of the file, for messages.
    text, id
        The keys or columns of text and id.

    Examples
    --------
    >>> list(read_documents(["id,text\n", 'a7,"tea, sugar"\n'], "csv", "tea.csv"))
    [Document(id='a7', text='tea, sugar')]
    """
    if kind not in FORMATS:
        listed = ", ".join(map(repr, FORMATS))
        raise ValueError(f"The format of {name} must be one of {listed}, got {kind!r}.")
    return FORMATS[kind](lines, name, text, id)


def read_folder(folder: Path, encoding: str = "utf-8") -> Iterator[Document]:
    """Read a folder of ``.txt`` files in the order of their names; a name is the document's id."""
    names = sorted(path.name for path in folder.glob("*.txt"))
    if not names:
        raise ValueError(f"{folder} must have documents, .txt files, and has none.")
    for name in names:
        text = "".join(decoded_lines(folder / name, encoding))
        yield Document(name.removesuffix(".txt"), text)


def _json_documents(lines: Iterable[str], name: str, text: str, id: str) -> Iterator[Document]:
    n_records = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        n_records += 1
        found = _object(line, f"{name}, line {number}")
        yield _document(found.get(id, n_records), found.get(text), f"{name}, line {number}", text)


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"{place}: a line must be one JSON object, got {line.strip()[:60]!r} … ({error})."
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{place}: a line must be one JSON object, got {line.strip()[:60]!r}.")
    return found


def _document(id: Any, text: Any, place: str, key: str) -> Document:
    if not isinstance(text, str):
        came = "nothing" if text is None else repr(text)[:60]
        raise ValueError(f"{place}: {key!r} must be the document's text, got {came}.")
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise ValueError(f"{place}: the id must be text or a whole number, got {id!r}.")
    if isinstance(id, str) and len(id.splitlines()) > 1:
        raise ValueError(f"{place}: an id must be on one line, got {id!r}.")
    return Document(id, text)


def _text_documents(lines: Iterable[str], name: str, text: str, id: str) -> Iterator[Document]:
    for number, line in enumerate(lines, start=1):
        yield Document(number, line.rstrip("\r\n"))


def _table_documents(
    delimiter: str, lines: Iterable[str], name: str, text: str, id: str
) -> Iterator[Document]:
    rows = _rows(lines, name, delimiter)
    place, header = next(rows, ("", []))
    columns = [column.strip() for column in header]
    if text not in columns:
        raise ValueError(
            f"{name}: the header must name a column {text!r}, got {', '.join(columns) or 'nothing'}"
            f". {delimiter_hint(columns or [''], 'Save it with commas or tabs.')}--text-column "
            "tells another name."
        )
    for number, (place, row) in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(
                f"{place}: a row must have the header's {len(columns)} cells, got {len(row)}. Is "
                "the delimiter right, and the file whole?"
            )
        cells = dict(zip(columns, row, strict=True))
        yield _document(cells.get(id, number), cells[text], place, text)


def _rows(lines: Iterable[str], name: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every row that is not blank, after the place where it begins."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        place = f"{name}, line {reader.line_num + 1}"
        before = csv.field_size_limit(LONGEST_FIELD)  # a global of csv: a text may be long
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(
                f"{place}: a row must be cells in whole quotes or none, got: {error}. Is the file "
                "cut off?"
            ) from None
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        if row:
            yield place, row


FORMATS: dict[str, Callable[[Iterable[str], str, str, str], Iterator[Document]]] = {
    "jsonl": _json_documents,
    "csv": partial(_table_documents, ","),
    "tsv": partial(_table_documents, "\t"),
    "text": _text_documents,
}
"""What can be read from lines, by name."""
