"""One source of documents: JSON lines, tables, plain lines, folders and Annif's corpora.

Whoever needs documents, to make a corpus of them, to label or to judge them, reads them by
:class:`Documents`, one after the other or in blocks, so that a file may be larger than memory.

Annif's formats: https://github.com/NatLibFi/Annif/wiki/Corpus-formats. The labels are the URIs
(without the angle brackets) or, in ``.key`` files, the names that the files hold.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar, cast, get_args

from labelkin.corpora.lines import decoded_lines

Format = Literal["jsonl", "csv", "tsv", "text", "folder", "annif_tsv", "annif_csv"]
Field = Literal["text", "labels", "id", "split", "accepted", "rejected"]
Split = Literal["train", "test"]
Item = TypeVar("Item")

FIELDS: tuple[Field, ...] = get_args(Field)
"""What can be read of a document, and what keys and columns are called by default."""
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
}  # fmt: skip
#: What formats without keys or columns can hold.
_HELD: dict[Format, tuple[Field, ...]] = {
    "text": ("text",), "folder": ("text", "labels", "id"), "annif_tsv": ("text", "labels"),
}  # fmt: skip
_ANNIF_COLUMNS = {"labels": "subject_uris", "id": "document_id"}
#: What a value must be, by field.
_RULES: dict[Field, str] = {
    "text": "the document's text", "id": "text or a whole number", "split": "'train' or 'test'",
    **dict.fromkeys(("labels", "accepted", "rejected"), "a list of texts that are not empty"),
}  # fmt: skip
_URI = re.compile(r"<([^<>\s]+)>|([^<>\s]+)")


class _Key(NamedTuple):
    """A key or column: its name, which field it is of, and which view of it."""

    name: str
    field: Field
    view: str


class Document(NamedTuple):
    """One document of a source.

    Attributes
    ----------
    number : int
        Its place among the documents of the source, from 1.
    place : str
        Where it stands, for messages: file and line.
    texts : mapping of str to str
        Its texts by view: one called ``"text"``, or one for each column that was asked for. Any may
        be empty.
    id : str, int or None
        Its own name, where it has one.
    labels : tuple of str or None
        Its label set, which may be empty; ``None`` where it was not asked for, or is not there.
    known : mapping or None
        Its known labels, ``{"accepted": (…), "rejected": (…)}``, where it has any.
    split : {"train", "test"} or None
        What it is for, where the source says so.
    label_names : mapping of str to str or None
        Names of labels that stand beside them, as in Annif's folders.
    """

    number: int
    place: str
    texts: Mapping[str, str]
    id: str | int | None = None
    labels: tuple[str, ...] | None = None
    known: Mapping[str, tuple[str, ...]] | None = None
    split: Split | None = None
    label_names: Mapping[str, str] | None = None

    @property
    def text(self) -> str:
        """All its texts, one under the other."""
        return "\n".join(self.texts.values())

    @property
    def name(self) -> str | int:
        """Its id, or its number where it has none."""
        return self.number if self.id is None else self.id


@dataclass(frozen=True, eq=False)
class Documents:
    r"""The documents of a file, a folder or a stream, read again at every pass.

    Iterating yields one :class:`Document` after the other, in their order; memory holds only those
    that are being read.

    Parameters
    ----------
    source : path, binary stream or lines
        A file (gzip, bzip2 and xz are unpacked) or a folder; a stream such as
        ``sys.stdin.buffer``; or any iterable of lines.
    format : str, optional
        - ``"jsonl"``: a JSON object per line, ``{"id": …, "text": …, "labels": […]}``; other keys
          and blank lines are passed over.
        - ``"csv"``, ``"tsv"``: a table whose header names columns; other columns and blank rows are
          passed over.
        - ``"text"``: a document per line, an empty one too.
        - ``"folder"``: a document per ``.txt`` file, in the order of their names, which are the
          ids; labels stand beside ``a.txt`` in ``a.tsv``, a URI in angle brackets and maybe a name
          per line, or in ``a.key``, a name per line (Annif's full texts).
        - ``"annif_tsv"``: text, tab, URIs in angle brackets with blanks between; no header.
        - ``"annif_csv"``: columns ``text``, ``subject_uris`` and maybe ``document_id``.

        ``None``: what :func:`format_of` makes of a path; JSON lines or plain lines, by the first
        one, of anything else.
    needed : sequence of str, default ("text",)
        What every document must have, of ``"text"``, ``"labels"``, ``"id"``, ``"split"``,
        ``"accepted"`` and ``"rejected"``.
    optional : sequence of str, default ("id",)
        What is read where it is there. Anything else is not looked at.
    columns : mapping, default {}
        What keys or columns are called where they have other names: ``{"text": "abstract"}``. A
        column of a table that is named here must be there. Several columns of texts,
        ``{"text": ["title", "abstract"]}``, are as many views, called so.
    separator : str, default ";"
        Stands between the labels in a cell of a table. Blanks around labels are cut off.
    delimiter : str, optional
        Stands between the columns of a table; ``None``: a comma in CSV, a tab in TSV.
    quoted : bool, default True
        Whether cells may stand in double quotes; ``False`` takes ``"`` for a character like others.
    encoding : str, default "utf-8"
        Bytes that are not of it are an error that names their line and offset.
    split : {"train", "test"}, optional
        What all documents are for, where the source does not say it.
    name : str, default ""
        What messages call the source; by default the name of the file.

    Examples
    --------
    >>> lines = ["title,text,labels\n", 'Tea,"Hot, with sugar.",tea; sugar\n']
    >>> [document] = Documents(lines, "csv", needed=("text", "labels"))
    >>> document.text, document.labels, document.name
    ('Hot, with sugar.', ('tea', 'sugar'), 1)
    >>> [document] = Documents(lines, "csv", columns={"text": ["title", "text"]})
    >>> document.texts
    {'title': 'Tea', 'text': 'Hot, with sugar.'}
    """

    source: str | os.PathLike[str] | BinaryIO | Iterable[str]
    format: Format | None = None
    _: KW_ONLY
    needed: Sequence[Field] = ("text",)
    optional: Sequence[Field] = ("id",)
    columns: Mapping[Field, str | Sequence[str]] = field(default_factory=dict)
    separator: str = ";"
    delimiter: str | None = None
    quoted: bool = True
    encoding: str = "utf-8"
    split: Split | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(
                f"The format of {self._called} must be one of {_listed(FORMATS)}, got "
                f"{self.format!r}."
            )
        unknown = [key for key in self.columns if key not in FIELDS]
        if unknown:
            raise ValueError(f"columns must name {_listed(FIELDS)}, got {_listed(unknown)}.")
        if not self.separator:
            raise ValueError("separator must be at least one character, got ''.")

    def __iter__(self) -> Iterator[Document]:
        path, format = self._path, self.format
        if path is not None and (format == "folder" or (format is None and path.is_dir())):
            self._check_held("folder")
            return self._folder(path)
        lines = self._lines()
        if format is None:
            first = list(islice(lines, 1))
            format = _format_of_lines(path, "".join(first))
            lines = chain(first, lines)
        self._check_held(format)
        if format == "jsonl":
            return self._json_lines(lines)
        if format == "annif_tsv":
            return self._annif_lines(lines)
        return self._text_lines(lines) if format == "text" else self._table(lines, format)

    def blocks(self, size: int = 1000) -> Iterator[list[Document]]:
        """Yield the documents in lists of ``size``, the last one maybe shorter."""
        return in_blocks(self, size)

    def _check_held(self, format: Format) -> None:
        without = [wanted for wanted in self.needed if wanted not in _HELD.get(format, FIELDS)]
        if without:
            raise ValueError(
                f"{self._called} must have {_listed(without)} for each document, and the format "
                f"{format!r} has no place for it. Use JSON lines, or a table."
            )

    @property
    def _path(self) -> Path | None:
        return Path(self.source) if isinstance(self.source, str | os.PathLike) else None

    @property
    def _called(self) -> str:
        return self.name or (self._path.name if self._path else "the stream")

    def _lines(self) -> Iterator[str]:
        if self._path is not None or hasattr(self.source, "read"):
            return decoded_lines(cast(Any, self.source), self.encoding, self._called)
        return iter(cast(Iterable[str], self.source))

    def _keys(self, presets: Mapping[str, str]) -> list[_Key]:
        """Return the keys or columns to look at: which field each is of, and which view of it."""
        keys: list[_Key] = []
        for wanted in dict.fromkeys((*self.needed, *self.optional)):
            named = self.columns.get(wanted, presets.get(wanted, wanted))
            if isinstance(named, str):
                keys.append(_Key(named, wanted, wanted))
            else:
                keys += [_Key(name, wanted, name) for name in named]
        return keys

    def _json_lines(self, lines: Iterator[str]) -> Iterator[Document]:
        keys = self._keys({})
        needed = {key.name for key in keys if key.field in self.needed}
        for number, (place, found) in enumerate(json_objects(lines, self._called), start=1):
            if not needed <= found.keys():
                missing = [key for key in keys if key.name in needed - found.keys()]
                rules = " and ".join(f"{key.name!r} must be {_RULES[key.field]}" for key in missing)
                raise ValueError(
                    f"{place}: {rules}, got no {_listed(key.name for key in missing)} among the "
                    f"keys of the JSON object, {_listed(found) or '(none)'}."
                )
            yield self._document(number, place, found, keys, _check_labels)

    def _table(self, lines: Iterator[str], format: str) -> Iterator[Document]:
        delimiter = self.delimiter or ("\t" if format == "tsv" else ",")
        keys = self._keys(_ANNIF_COLUMNS if format == "annif_csv" else {})
        rows = table_rows(lines, self._called, delimiter, quoted=self.quoted)
        _, header = next(rows, ("", []))
        where = self._positions([name.strip() for name in header], keys)
        split_labels = _split_uris if format == "annif_csv" else self._split_labels
        for number, (place, row) in enumerate(rows, start=1):
            if len(row) != len(header):
                raise ValueError(
                    f"{place}: a row must have the header's {len(header)} cells, got {len(row)}. "
                    "Is the delimiter right, and the file whole?"
                )
            cells = {key: row[position] for key, position in where.items()}
            yield self._document(number, place, cells, keys, split_labels)

    def _positions(self, header: Sequence[str], keys: Sequence[_Key]) -> dict[str, int]:
        """Return the position of each column that is there."""
        if not header:
            raise ValueError(
                f"{self._called}: a table must begin with a header, got an empty file."
            )
        needed = {key.name for key in keys if key.field in (*self.needed, *self.columns)}
        missing = sorted(needed - {*header}, key=[key.name for key in keys].index)
        if missing:
            raise ValueError(
                f"{self._called}: the header must name {_listed(missing)}, got {_listed(header)}. "
                f"{_delimiter_hint(header)}Other names are given by columns={{'text': …, "
                "'labels': …}."
            )
        repeated = [key.name for key in keys if header.count(key.name) > 1]
        if repeated:
            raise ValueError(
                f"{self._called}: a column must be in the header once, got {_listed(repeated)} "
                "again."
            )
        return {key.name: header.index(key.name) for key in keys if key.name in header}

    def _document(
        self,
        number: int,
        place: str,
        found: Mapping[str, Any],
        keys: Sequence[_Key],
        read_labels: Callable[[Any, Field, str], tuple[str, ...]],
    ) -> Document:
        """Check what a line or a row says of a document."""
        texts: dict[str, str] = {}
        sets: dict[str, tuple[str, ...]] = {}
        ident, split = None, self.split
        for key, wanted, view in keys:
            if key not in found:
                continue
            value = found[key]
            if wanted == "text":
                texts[view] = _check_text(value, key, place)
            elif wanted == "id":
                ident = _check_id(value, place)
            elif wanted == "split":
                split = _check_split(value, place) or split
            else:
                sets[wanted] = read_labels(value, wanted, place)
        known = None
        if "accepted" in sets or "rejected" in sets:
            known = {state: sets.get(state, ()) for state in ("accepted", "rejected")}
        return Document(number, place, texts, ident, sets.get("labels"), known, split)

    def _split_labels(self, cell: str, _wanted: str, _place: str) -> tuple[str, ...]:
        return tuple(label for part in cell.split(self.separator) if (label := part.strip()))

    def _text_lines(self, lines: Iterator[str]) -> Iterator[Document]:
        called = self._called
        for number, line in enumerate(lines, start=1):
            place = f"{called}, line {number}"
            yield Document(number, place, {"text": line.rstrip("\r\n")}, split=self.split)

    def _annif_lines(self, lines: Iterator[str]) -> Iterator[Document]:
        wants_labels = "labels" in (*self.needed, *self.optional)
        called, n_documents = self._called, 0
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            n_documents += 1
            place = f"{called}, line {number}"
            text, tab, uris = line.rstrip("\r\n").partition("\t")
            if not tab:
                raise ValueError(
                    f"{place}: a line must be a text, a tab and URIs, got no tab in {text[:60]!r}."
                )
            labels = _split_uris(uris, "labels", place) if wants_labels else None
            yield Document(n_documents, place, {"text": text}, None, labels, None, self.split)

    def _folder(self, folder: Path) -> Iterator[Document]:
        texts = sorted(folder.glob("*.txt"))
        if not texts and self.split is None:
            raise ValueError(f"{folder} must have documents, .txt files, and has none.")
        subjects: Sequence[Path | None] = [None] * len(texts)
        if "labels" in (*self.needed, *self.optional):
            subjects = _subject_files(folder, texts, needed="labels" in self.needed)
        for number, (text, file) in enumerate(zip(texts, subjects, strict=True), start=1):
            # A document of either part may be called alike: the part is in the id.
            ident = text.stem if self.split is None else f"{self.split}/{text.stem}"
            content = "".join(decoded_lines(text, self.encoding))
            names = None if file is None else _subjects(file, self.encoding)
            labels = None if names is None else tuple(names)
            named = {label: name for label, name in (names or {}).items() if name}
            texts_by_view = {"text": content}
            yield Document(
                number, text.name, texts_by_view, ident, labels, None, self.split, named or None
            )


def format_of(path: Path) -> Format:
    """Return the format of a file or folder, by its ending and, for a table, its first line.

    Annif's tables have URIs in angle brackets, or a column ``subject_uris``. What has no ending of
    another format is plain lines.
    """
    if path.is_dir():
        return "folder"
    # Whatever the encoding is, the signs looked for are ASCII, and latin-1 takes every byte.
    return _format_of_lines(path, next(decoded_lines(path, "latin-1"), ""))


def _format_of_lines(path: Path | None, first: str) -> Format:
    if path is None:
        return "jsonl" if first.lstrip().startswith("{") else "text"
    format = ENDINGS.get(Path(path.name.lower().removesuffix(".gz")).suffix, "text")
    if format not in ("csv", "tsv"):
        return format
    if re.search(r"\t\s*<[^<>\s]+>", first):
        return "annif_tsv"
    return "annif_csv" if re.search(r"\bsubject_uris\b", first) else format


def json_objects(lines: Iterable[str], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON object of every line that is not blank, after its place: name and line."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:  # of syntax, depth, or 5,000 digits
            raise ValueError(
                f"{place}: a line must be one JSON object, got {line.strip()[:60]!r} … ({error}). "
                "Is the file cut off?"
            ) from None
        if not isinstance(found, dict):
            raise ValueError(
                f"{place}: a line must be one JSON object, got {type(found).__name__} "
                f"{line.strip()[:60]!r}."
            )
        yield place, found


def table_rows(
    lines: Iterable[str], name: str, delimiter: str = ",", *, quoted: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """Yield every row that is not blank after the place where it begins: name and line."""
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        place = f"{name}, line {reader.line_num + 1}"
        before = csv.field_size_limit(2**31 - 1)  # a global of csv: a text may be long
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(
                f"{place}: a row must be cells in whole quotes or none, got: {error}. Is the file "
                "cut off? Where quotes mean nothing, pass quoted=False."
            ) from None
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        if row:
            yield place, row


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of ``size``, the last one maybe shorter."""
    if size < 1:
        raise ValueError(f"block must be at least 1, got {size!r}.")
    rest = iter(items)
    while block := list(islice(rest, size)):
        yield block


def _check_text(value: Any, key: str, place: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{place}: {key!r} must be {_RULES['text']}, got {value!r:.60}.")
    return value


def _check_id(value: Any, place: str) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{place}: id must be {_RULES['id']}, got {value!r}.")
    return value


def _check_split(value: Any, place: str) -> Split | None:
    """Return a document's split; nothing at all or an empty value is no split."""
    if value in ("train", "test"):
        return cast(Split, value)
    if isinstance(value, str) and value != value.strip():
        return _check_split(value.strip(), place)
    if value in (None, ""):
        return None
    raise ValueError(f"{place}: split must be {_RULES['split']}, got {value!r}.")


def _check_labels(value: Any, wanted: Field, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(x, str) and x for x in value):
        raise ValueError(f"{place}: {wanted} must be {_RULES[wanted]}, got {value!r}.")
    return tuple(value)


def _split_uris(cell: str, _wanted: str, place: str) -> tuple[str, ...]:
    return tuple(_uri(word, place) for word in cell.split())


def _uri(word: str, place: str) -> str:
    match = _URI.fullmatch(word)
    if not match:
        raise ValueError(
            f"{place}: labels must be URIs in angle brackets with blanks between, got {word!r}. "
            "Is the file cut off?"
        )
    return match[1] or match[2]


def _subject_files(folder: Path, texts: Sequence[Path], *, needed: bool) -> list[Path | None]:
    """Return the file of labels beside each text."""
    found: dict[str, Path | None] = {}
    for text in texts:
        beside = (text.with_suffix(suffix) for suffix in (".tsv", ".key"))
        found[text.name] = next((file for file in beside if file.exists()), None)
    without = [name for name, file in found.items() if file is None]
    if needed and without:
        raise ValueError(
            f"{folder.name}: every text must have a .tsv or .key file beside it, got none for "
            f"{without[0]!r} ({len(without)} of {len(texts)} texts). A document without labels has "
            "an empty one."
        )
    if len({file.suffix for file in found.values() if file is not None}) > 1:
        raise ValueError(
            f"{folder.name}: the labels must all be URIs (.tsv) or all be names (.key), got both: "
            "the same label would count as two."
        )
    return list(found.values())


def _subjects(file: Path, encoding: str) -> dict[str, str]:
    """Return the labels in a file of them, each with the name that stands beside it, or none."""
    lines = [line.strip() for line in decoded_lines(file, encoding)]
    if file.suffix == ".key":
        return {line: "" for line in lines if line}
    subjects: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if line:
            uri, _, name = line.partition("\t")
            label = _uri(uri.strip(), f"{file.name}, line {number}")
            subjects[label] = name.partition("\t")[0].strip() or subjects.get(label, "")
    return subjects


def _delimiter_hint(header: Sequence[str]) -> str:
    """Return what stands between the columns, it seems, where a header is one cell; or nothing.

    Examples
    --------
    >>> _delimiter_hint(["text;labels"])
    "The columns seem to be separated by ';'. Then pass delimiter=';'. "
    """
    found = next((sign for sign in ";\t|," if sign in header[0]), None)
    if len(header) > 1 or found is None:
        return ""
    return f"The columns seem to be separated by {found!r}. Then pass delimiter={found!r}. "


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
