"""One source of documents: JSON lines, tables, plain lines, folders and Annif's corpora.

Whoever needs documents, to make a corpus of them, to label or to judge them, reads them by
:class:`Documents`, one after the other or in blocks, so that a file may be larger than memory.

Annif's formats: https://github.com/NatLibFi/Annif/wiki/Corpus-formats. The labels are the URIs
(without the angle brackets) or, in ``.key`` files, the names that the files hold.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast, get_args

from labelkin.corpora.annotation_tools import translated
from labelkin.corpora.lines import decoded_lines, ending_of, in_blocks, json_objects, table_rows
from labelkin.corpora.tables import (
    SEPARATOR,
    Field,
    ReadingError,
    Understood,
    find_delimiter,
    find_name,
    find_names,
    find_separator,
    plain_name,
)
from labelkin.corpora.values import (
    RULES,
    SETS,
    Split,
    check_id,
    check_labels,
    check_split,
    check_text,
    document_files,
    skipped_files,
    split_uris,
    splitting,
    subject_files,
    subjects_in,
)

Format = Literal["jsonl", "json", "csv", "tsv", "text", "folder", "annif_tsv", "annif_csv"]

FIELDS: tuple[Field, ...] = get_args(Field)
"""What can be read of a document, and what keys and columns are called by default."""
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
}  # fmt: skip
_OF_LINES = ("", ".txt", ".md", ".text")
TABLES: tuple[Format, ...] = ("csv", "tsv", "annif_csv")
#: What formats without keys or columns can hold.
_HELD: dict[Format, tuple[Field, ...]] = {
    "text": ("text",), "folder": ("text", "labels", "id"), "annif_tsv": ("text", "labels"),
}  # fmt: skip
#: Two of these in the first line make it the header of a table.
_OF_TABLES: tuple[Field, ...] = ("text", "title", "labels", "id")
#: Lines, and characters, at the beginning of a table that say how its labels are separated.
_HEAD, _HEAD_SIZE = 2000, 1 << 20


class _Key(NamedTuple):
    """A key or column: its name, which field it is of, and which view of it."""

    name: str
    field: Field
    view: str


class Document(NamedTuple):
    r"""One document of a source.

    Attributes
    ----------
    number : int
        Its place among the documents of the source, from 1.
    place : str
        Where it stands, for messages: file and line.
    texts : mapping of str to str
        Its texts by view: one called ``"text"``, or one for each column that was asked for; before
        them ``"title"``, where titles were asked for. Any may be empty.
    id : str, int or None
        Its own name, where it has one.
    labels : tuple of str or None
        Its label set, which may be empty; ``None`` where it was not asked for, or is not there.
    known : mapping or None
        Its known labels, ``{"accepted": (…), "rejected": (…)}``, where it has any.
    split : {"train", "test"} or None
        What it is for, where the source says so.
    display_names : mapping of str to str or None
        Names of labels that stand beside them, as in Annif's folders.

    Examples
    --------
    >>> from labelkin.corpora import Document
    >>> texts = {"title": "Tea", "text": "Hot, with sugar."}
    >>> document = Document(1, "teas.csv, line 2", texts, labels=("sugar", "tea"))
    >>> document.text, document.name, document.labels
    ('Tea\nHot, with sugar.', 1, ('sugar', 'tea'))
    """

    number: int
    place: str
    texts: Mapping[str, str]
    id: str | int | None = None
    labels: tuple[str, ...] | None = None
    known: Mapping[str, tuple[str, ...]] | None = None
    split: Split | None = None
    display_names: Mapping[str, str] | None = None

    @property
    def text(self) -> str:
        """All its texts, one under the other; a title is the first line, which may be empty."""
        return "\n".join(self.texts.values())

    @property
    def name(self) -> str | int:
        """Its id, or its number where it has none."""
        return self.number if self.id is None else self.id


@dataclass(frozen=True, eq=False)
class Documents:
    r"""The documents of a file, a folder or a stream, read again at every pass.

    Iterating yields one :class:`Document` after the other, in their order; memory holds only those
    that are being read. What is not named, is found out: what keys and columns are called, what
    separates them, and the encoding; ``understood`` says it afterwards.

    Parameters
    ----------
    source : path, binary stream or lines
        A file (gzip, bzip2 and xz are unpacked) or a folder; a stream such as
        ``sys.stdin.buffer``; or any iterable of lines.
    format : str, optional
        - ``"jsonl"``: a JSON object per line, ``{"id": …, "text": …, "labels": […]}``; other keys
          and blank lines are passed over. Labels are texts, or objects with ``uri`` and ``label``;
          what is in an object ``metadata`` counts as if it stood outside (Annif's JSON lines).
          What Prodigy and doccano export is read as it is
          (:mod:`labelkin.corpora.annotation_tools`).
        - ``"json"``: one such object, or a list of them.
        - ``"csv"``, ``"tsv"``: a table whose header names columns; other columns and blank rows are
          passed over.
        - ``"text"``: a document per line, an empty one too.
        - ``"folder"``: a document per ``.txt`` file, in the order of their names, which are the
          ids; labels stand beside ``a.txt`` in ``a.tsv``, a URI in angle brackets and maybe a name
          per line, or in ``a.key``, a name per line (Annif's full texts). A ``.json`` file is one
          such object.
        - ``"annif_tsv"``: text, tab, URIs in angle brackets with blanks between; no header.
        - ``"annif_csv"``: columns ``text``, ``subject_uris`` and maybe ``document_id``.

        ``None``: what :func:`format_of` makes of a path; JSON or plain lines, by the first one, of
        anything else.
    needed : sequence of str, default ("text",)
        What every document must have, of ``"text"``, ``"title"``, ``"labels"``, ``"id"``,
        ``"split"``, ``"accepted"`` and ``"rejected"``.
    optional : sequence of str, default ("id",)
        What is read where it is there. Anything else is not looked at.
    columns : mapping, default {}
        What keys or columns are called where they have other names: ``{"text": "abstract"}``. A
        column of a table that is named here must be there. Several columns of texts,
        ``{"text": ["title", "abstract"]}``, are as many views, called so. ``{"title": "headline"}``
        asks for titles; a title beside a text is also read if neither is named. What is not named
        here is looked for by the usual names
        (``labelkin.corpora.tables.NAMES``). Several columns of labels are joined.
    preferred : mapping, default {}
        The same for names that are used if they are there.
    separator : str, optional
        Stands between the labels in a cell of a table. Blanks around labels are cut off. ``None``:
        ``;``, or ``|`` or a comma, if the first rows say so; of URIs also blanks.
    delimiter : str, optional
        Stands between the columns of a table; ``None``: what splits the header best, a comma in CSV
        and a tab in TSV if that is as good.
    quoted : bool, default True
        Whether cells may stand in double quotes; ``False`` takes ``"`` for a character like others.
    encoding : str, optional
        Bytes that are not of it are an error that names their line and offset. ``None``: UTF-8, or
        what a mark says, or Windows-1252 (:func:`labelkin.corpora.lines.decoded_lines`).
    split : {"train", "test"}, optional
        What all documents are for, where the source does not say it.
    name : str, default ""
        What messages call the source; by default the name of the file.

    Attributes
    ----------
    understood : Understood
        What was found out in the last pass.

    Examples
    --------
    >>> lines = ["title;text;labels\n", 'Tea;"Hot; with sugar.";tea | sugar\n']
    >>> documents = Documents(lines, "csv", needed=("text", "labels"))
    >>> [document] = documents
    >>> document.text, document.labels, document.name
    ('Tea\nHot; with sugar.', ('tea', 'sugar'), 1)
    >>> documents.understood.separator, documents.understood.used
    ('|', {'title': ['title'], 'text': ['text'], 'labels': ['labels']})
    >>> [document] = Documents(lines, "csv", columns={"text": "text"})
    >>> document.texts
    {'text': 'Hot; with sugar.'}
    """

    source: str | os.PathLike[str] | BinaryIO | Iterable[str]
    format: Format | None = None
    _: KW_ONLY
    needed: Sequence[Field] = ("text",)
    optional: Sequence[Field] = ("id",)
    columns: Mapping[Field, str | Sequence[str]] = field(default_factory=dict)
    preferred: Mapping[Field, str | Sequence[str]] = field(default_factory=dict)
    separator: str | None = None
    delimiter: str | None = None
    quoted: bool = True
    encoding: str | None = None
    split: Split | None = None
    name: str = ""
    understood: Understood = field(default_factory=Understood, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(
                f"The format of {self._called} must be one of {_listed(FORMATS)}, got "
                f"{self.format!r}."
            )
        unknown = [key for key in self.columns if key not in FIELDS]
        if unknown:
            raise ValueError(f"columns must name {_listed(FIELDS)}, got {_listed(unknown)}.")
        if self.separator == "":
            raise ValueError("separator must be at least one character, got ''.")

    def __iter__(self) -> Iterator[Document]:
        object.__setattr__(self, "understood", Understood())  # of this pass
        return self._counted(self._read())

    def _counted(self, documents: Iterator[Document]) -> Iterator[Document]:
        counts, wants_ids = self.understood.counts, "id" in self._wanted
        for document in documents:
            counts["document"] += 1
            texts = document.texts.values()
            counts["empty text"] += bool(texts) and not any(map(str.strip, texts))
            counts["without id"] += document.id is None and wants_ids
            yield document

    def _read(self) -> Iterator[Document]:
        path, format = self._path, self.format
        if path is not None and (format == "folder" or (format is None and path.is_dir())):
            self._check_held("folder")
            return self._folder(path)
        lines = self._lines()
        if format is None:
            first = list(islice(lines, 1))
            format = _format_of_lines(path, "".join(first))
            if format == "text" and path is not None:
                format = "csv" if self.delimiter is not None else check_plain(path)
            lines = chain(first, lines)
        self._check_held(format)
        if format in ("jsonl", "json"):
            read = json_objects if format == "jsonl" else _whole_json
            return self._json_objects(translated(read(lines, self._called)))
        if format == "annif_tsv":
            return self._annif_lines(lines)
        return self._text_lines(lines) if format == "text" else self._table(lines, format)

    def blocks(self, size: int = 1000) -> Iterator[list[Document]]:
        """Yield the documents in lists of ``size``, the last one maybe shorter."""
        return in_blocks(self, size)

    def settled(self) -> Documents:
        """Read all documents once, and return them with everything named that was found out."""
        for _ in self:
            pass
        found = self.understood
        return replace(
            self,
            columns={**found.columns, **self.columns},
            separator=self.separator or found.separator,
            delimiter=self.delimiter or found.delimiter,
            encoding=self.encoding or found.encoding,
        )

    def _check_held(self, format: Format) -> None:
        without = [wanted for wanted in self.needed if wanted not in _HELD.get(format, FIELDS)]
        if without:
            raise ValueError(
                f"{self._called} must have {_listed(without)} for each document, and the format "
                f"{format!r} has no place for it. Use JSON lines, or a table."
            )
        of_tables = ["separator", "delimiter", *["columns"] * (format in ("text", "annif_tsv"))]
        if format not in TABLES and (useless := [x for x in of_tables if getattr(self, x)]):
            rule = f"{useless[0]} must be of a table (.csv, .tsv) with a header"
            raise ValueError(f"{rule}, and {self._called} is none ({format}).")

    @property
    def _path(self) -> Path | None:
        return Path(self.source) if isinstance(self.source, str | os.PathLike) else None

    @property
    def _called(self) -> str:
        return self.name or (self._path.name if self._path else "the stream")

    @property
    def _wanted(self) -> list[Field]:
        titles: list[Field] = [x for x in ("title",) if x in {**self.columns, **self.preferred}]
        return list(dict.fromkeys((*self.needed, *self.optional, *titles)))

    def _lines(self) -> Iterator[str]:
        if self._path is not None or hasattr(self.source, "read"):
            source = cast(Any, self.source)
            return decoded_lines(source, self.encoding, self._called, self._found_encoding)
        return iter(cast(Iterable[str], self.source))

    def _found_encoding(self, encoding: str) -> None:
        self.understood.encoding = encoding

    def _keys(self, there: Sequence[str], names: Mapping[Field, Sequence[str]]) -> list[_Key]:
        """Return the keys or columns to look at: which field each is of, and which view of it."""
        keys: list[_Key] = []
        for wanted in self._wanted:
            named = self.columns.get(wanted)
            if named is None and {*_several(self.preferred.get(wanted, ()))} <= {*there}:
                named = self.preferred.get(wanted)
            if named is None:
                found = find_names(wanted, there, names.get(wanted, ()))
                if wanted == "text" and "title" not in self._wanted:
                    titles = find_names("title", there)
                    keys += [_Key(name, "title", "title") for name in titles if found]
                    found = found or titles
                named = found[0] if len(found) == 1 else found or names.get(wanted, (wanted,))[0]
            if isinstance(named, str):
                keys.append(_Key(named, wanted, wanted))
            elif wanted in ("title", "id", "split"):
                raise ValueError(f"columns must name one {wanted}, got {_listed(named)}.")
            else:
                keys += [_Key(name, wanted, name) for name in named]
        for key in keys:
            used = self.understood.used.setdefault(key.field, [])
            used += [] if key.name in used else [x for x in there if x == key.name]
        self.understood.used = {one: used for one, used in self.understood.used.items() if used}
        read = {key.name for key in keys}
        others = [name for name in (*self.understood.unused, *there) if name and name not in read]
        is_like = {name: any(find_names(one, [name]) for one in FIELDS) for name in others}
        self.understood.unused = sorted(is_like, key=lambda name: not is_like[name])
        return keys

    def _json_objects(self, objects: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[Document]:
        keys_of: dict[tuple[str, ...], list[_Key]] = {}
        for number, (place, given) in enumerate(objects, start=1):
            metadata = given.get("metadata")
            found = {**metadata, **given} if isinstance(metadata, dict) else given
            there = tuple(found)
            if there not in keys_of:
                keys_of[there] = self._keys(there, {})
            keys = keys_of[there]
            missing = [key for key in keys if key.field in self.needed and key.name not in found]
            if missing:
                rules = " and ".join(f"{key.name!r} must be {RULES[key.field]}" for key in missing)
                raise ValueError(
                    f"{place}: {rules}, got no {_listed(key.name for key in missing)} among the "
                    f"keys of the JSON object, {_listed(given) or '(none)'}."
                )
            yield self._document(number, place, found, keys, check_labels)

    def _table(self, lines: Iterator[str], format: str) -> Iterator[Document]:
        sets = [wanted for wanted in self._wanted if wanted in SETS]
        head = self._head(lines, all_of=bool(sets) and self.separator is None)
        usual = "\t" if format == "tsv" else ","
        delimiter = self.delimiter
        if delimiter is None:
            named = [name for one in self.columns.values() for name in _several(one)]
            first = next((line for line in head if line.strip()), "")
            if "\r" in first.rstrip("\r\n"):
                raise ValueError(
                    f"{self._called}: rows must end in a line feed, got carriage returns alone. "
                    "Save the table as CSV (UTF-8)."
                )
            delimiter = find_delimiter(first, usual, named, self._wanted)
            self.understood.delimiter = delimiter if delimiter != usual else None
        read = {"name": self._called, "delimiter": delimiter, "quoted": self.quoted}
        rows = table_rows(chain(head, lines), **cast(Any, read))
        header = [name.strip() for name in next(rows, ("", []))[1]]
        while header and not header[-1]:
            header.pop()  # a delimiter at the end of the line
        names = {"labels": ["subject_uris"]} if format == "annif_csv" else {}
        keys = self._keys(header, cast(Any, names))
        where = self._positions(header, keys)
        used = self.understood.used
        self.understood.columns = {
            one: several if (several := [*dict.fromkeys(names)])[1:] else names[0]
            for one, names in used.items()
            if one not in self.columns
        }
        split_labels: Callable[[str, Field, str], dict[str, str]] = split_uris
        joiner = " "
        if self.separator or not are_uris(used.get("labels", ())):
            columns = [j for key in keys if key.field in sets for j in where.get(key.name, ())]
            joiner = self.separator or self._separator(table_rows(head, **cast(Any, read)), columns)
            split_labels = splitting(joiner)
            self.understood.separator = self.separator or self.understood.separator
        # One cell may be empty: other files count on the number of rows.
        number = 0
        for place, row in rows:
            if len(header) > 1 and not any(map(str.strip, row)):
                self.understood.counts["blank row"] += 1
                continue
            number += 1
            if len(row) < len(header) or any(row[len(header) :]):
                raise ValueError(
                    f"{place}: a row must have the header's {len(header)} cells, got {len(row)}. "
                    "Is the delimiter right, and the file whole?"
                )
            cells = {
                key.name: (joiner if key.field in SETS else "\n").join(
                    [row[j] for j in where[key.name] if row[j] or key.field in SETS]
                )
                for key in keys
                if key.name in where
            }
            yield self._document(number, place, cells, keys, split_labels)

    def _head(self, lines: Iterator[str], *, all_of: bool) -> list[str]:
        """Take the first lines of a file; of a stream, which may wait, and of lines, the header."""
        is_file = self._path.is_file() if self._path else isinstance(self.source, Sequence)
        head: list[str] = []
        size = 0
        for line in islice(lines, _HEAD):
            head.append(line)
            size += len(line)
            if size > _HEAD_SIZE or (line.strip() and not (all_of and is_file)):
                break
        return head

    def _separator(self, rows: Iterator[tuple[str, list[str]]], columns: Sequence[int]) -> str:
        """Return what stands between labels, by the first rows."""
        cells: list[str] = []
        try:
            for _, row in islice(rows, 1, None):
                cells += [row[j] for j in columns if j < len(row)]
        except ValueError:
            pass  # the last row is not whole here, or wrong, which is said when it is read
        self.understood.separator = find_separator(cells, self._called)
        return self.understood.separator or SEPARATOR

    def _positions(self, header: Sequence[str], keys: Sequence[_Key]) -> dict[str, list[int]]:
        """Return the positions of each column that is there; one with labels may be repeated."""
        if not header:
            raise ValueError(
                f"{self._called}: a table must begin with a header, got an empty file."
            )
        needed = {key.name for key in keys if key.field in (*self.needed, *self.columns)}
        missing = sorted(needed - {*header}, key=[key.name for key in keys].index)
        if missing:
            fields = dict.fromkeys([key.field for key in keys if key.name in missing], "NAME")
            cut = [name if len(name) <= 30 else f"{name[:30]}…" for name in header]
            delimiter = next((sign for sign in ";\t|," if sign in header[0]), None)
            hint: dict[str, Any] = {"columns": fields}
            if len(header) == 1 and delimiter is not None:
                hint = {"delimiter": delimiter}
            known = "delimiter" in hint or any(find_names(one, header) for one in FIELDS)
            added = " No header? Add a first row with the names of the columns."
            raise ReadingError(
                f"{self._called}: the header must name {_listed(missing)}, got {_listed(cut)}."
                f"{'' if known else added}",
                **hint,
            )
        repeated = [
            key.name for key in keys if header.count(key.name) > 1 and key.field in ("id", "split")
        ]
        if repeated:
            raise ValueError(
                f"{self._called}: a column must be in the header once, got {_listed(repeated)} "
                "again."
            )
        names = {key.name for key in keys}.intersection(header)
        return {one: [j for j, name in enumerate(header) if name == one] for one in names}

    def _document(
        self,
        number: int,
        place: str,
        found: Mapping[str, Any],
        keys: Sequence[_Key],
        read_labels: Callable[[Any, Field, str], Mapping[str, str]],
    ) -> Document:
        """Check what a line or a row says of a document."""
        # Before the texts, also where it is not there: else a first line would be taken for it.
        texts: dict[str, str] = {"title": ""} if "title" in self._wanted else {}
        sets: dict[str, tuple[str, ...]] = {}
        names: dict[str, str] = {}
        ident, split = None, self.split
        for key, wanted, view in keys:
            if key not in found or (wanted == "title" and found[key] is None):
                continue
            value = found[key]
            if wanted in ("text", "title"):
                texts[view] = check_text(value, key, place, wanted)
            elif wanted == "id":
                ident = check_id(value, place)
                if ident == "":
                    ident = f"row {number}"
                    self.understood.counts["without id"] += 1
            elif wanted == "split":
                split = check_split(value, place) or split
            else:
                labels = read_labels(value, wanted, place)
                sets[wanted] = tuple(dict.fromkeys((*sets.get(wanted, ()), *labels)))
                names |= {label: name for label, name in labels.items() if name}
        known = None
        if "accepted" in sets or "rejected" in sets:
            known = {state: sets.get(state, ()) for state in ("accepted", "rejected")}
        given = sets.get("labels")
        return Document(number, place, texts, ident, given, known, split, names or None)

    def _text_lines(self, lines: Iterator[str]) -> Iterator[Document]:
        called = self._called
        for number, line in enumerate(lines, start=1):
            place = f"{called}, line {number}"
            yield Document(number, place, {"text": line.rstrip("\r\n")}, split=self.split)

    def _annif_lines(self, lines: Iterator[str]) -> Iterator[Document]:
        wants_labels = "labels" in self._wanted
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
            labels = tuple(split_uris(uris, "labels", place)) if wants_labels else None
            yield Document(n_documents, place, {"text": text}, None, labels, None, self.split)

    def _folder(self, folder: Path) -> Iterator[Document]:
        files = document_files(folder)
        if not files and self.split is None:
            raise ValueError(f"{folder} must have documents, .txt or .json files, and has none.")
        self.understood.counts.update(skipped_files(folder, (".txt", ".json", ".tsv", ".key")))
        subjects: Mapping[Path, Path | None] = {}
        if "labels" in self._wanted:
            texts = [file for file in files if file.suffix == ".txt"]
            subjects = subject_files(folder, texts, needed="labels" in self.needed)
        number = 0
        for file in files:
            for document in self._documents_in(file, subjects.get(file)):
                number += 1
                ident = file.stem if document.id is None else document.id
                # A document of either part may be called alike: the part is in the id.
                name = ident if self.split is None else f"{self.split}/{ident}"
                yield document._replace(number=number, id=name)

    def _documents_in(self, file: Path, subjects: Path | None) -> Iterable[Document]:
        """Return the document of a text and the labels beside it, or what is in a JSON file."""
        if file.suffix == ".json":
            inside = replace(self, source=file, format="json", name="")
            object.__setattr__(inside, "understood", self.understood)
            return inside._json_objects(translated(_whole_json(inside._lines(), file.name)))
        content = "".join(decoded_lines(file, self.encoding, None, self._found_encoding))
        names = None if subjects is None else subjects_in(subjects, self.encoding)
        labels = None if names is None else tuple(names)
        named = {label: name for label, name in (names or {}).items() if name}
        return [
            Document(1, file.name, {"text": content}, None, labels, None, self.split, named or None)
        ]


def format_of(path: Path) -> Format:
    """Return the format of a file or folder, by its ending and its first line.

    Annif's tables have URIs in angle brackets, or a column ``subject_uris``. What has no ending of
    another format is plain lines, or a table if the first line is a header with tabs or semicolons.
    """
    if path.is_dir():
        return "folder"
    # Whatever the encoding is, the signs looked for are ASCII, and latin-1 takes every byte.
    first = next(decoded_lines(path, "latin-1"), "").replace("\0", "")
    return _format_of_lines(path, re.sub("^(?:ï»¿|ÿþ|þÿ)", "", first))


def _format_of_lines(path: Path | None, first: str) -> Format:
    begin = first.lstrip()[:1]
    if path is None:
        return "jsonl" if begin == "{" else "json" if begin == "[" else "text"
    format = ENDINGS.get(ending_of(path), "text")
    if format == "json" and begin == "{":
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            return "json"
        return "jsonl"
    if format == "text":
        for sign, table in cast(Any, {"\t": "tsv", ";": "csv"}).items():
            cells = first.strip().split(sign)
            if sum(find_name(one, cells) is not None for one in _OF_TABLES) > 1:
                format = table
    if format not in ("csv", "tsv"):
        return format
    if re.search(r"\t\s*(?:<[^<>\s]+>|https?://\S+\s*$)", first):
        return "annif_tsv"
    return "annif_csv" if re.search(r"\bsubject_uris\b", first) else format


def check_plain(path: Path) -> Format:
    """Raise for a file whose name does not end as that of a plain text."""
    if (ending := ending_of(path)) not in _OF_LINES:
        known = ", ".join((*_OF_LINES[1:], *ENDINGS))
        hint = "Save a table as CSV (UTF-8), and a document as plain text."
        raise ValueError(f"{path.name} must end in {known}, got {ending}. {hint}")
    return "text"


def _whole_json(lines: Iterable[str], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the one object of a JSON file, or those of its list, after their places."""
    try:
        found = json.loads("".join(lines) or "[]")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{name}: it must be a JSON object or a list of them, or have an object per line, got: "
            f"{error}. Is the file cut off?"
        ) from None
    objects = found if isinstance(found, list) else [found]
    for number, one in enumerate(objects, start=1):
        place = f"{name}, object {number}" if isinstance(found, list) else name
        if not isinstance(one, dict):
            raise ValueError(
                f"{place}: a document must be a JSON object, got {type(one).__name__} {one!r:.60}."
            )
        yield place, one


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def are_uris(columns: Iterable[str]) -> bool:
    """Return whether columns of labels hold URIs, as Annif's do."""
    return any(plain_name(name) == "subject_uris" for name in columns)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
