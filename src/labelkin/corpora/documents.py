"""Documents of any file of texts: JSON, tables, plain lines, folders and Annif's corpora.

:class:`Documents` yields records one by one or in blocks: a file may be larger than memory.

Annif's formats: https://github.com/NatLibFi/Annif/wiki/Corpus-formats. The labels are the URIs
(without the angle brackets) or, in ``.key`` files, the names.

JSON lines exported by doccano and Prodigy are read as they are. Doccano's ``label`` is a label set.
Prodigy's choices (``accept``) and ``cats`` are label sets; a question about one label (``label``,
``answer``) is a known label. Skipped examples (``"answer": "ignore"``) and rejected choices are
ignored.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast, get_args

from labelkin.corpora.lines import (
    ReadingError,
    check_object,
    decoded_lines,
    ending_of,
    in_blocks,
    json_objects,
    stem_of,
    table_rows,
)
from labelkin.corpora.tables import (
    LABEL_SEPARATOR,
    Field,
    Understood,
    counts_text,
    find_delimiter,
    find_names,
    find_separator,
    plain_name,
    split_cell,
    split_uris,
)

Format = Literal["jsonl", "json", "csv", "tsv", "text", "folder", "annif_tsv"]
Split = Literal["train", "test"]

FIELDS: tuple[Field, ...] = get_args(Field)
"""The fields of a document, and the default names of keys and columns."""
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
}  # fmt: skip
TABLES: tuple[Format, ...] = ("csv", "tsv")
_PLAIN = ("", ".txt", ".md", ".text")
#: Files of labels beside a text: URIs, or names.
_SUBJECTS = (".tsv", ".key")
#: Fields of formats without keys or columns.
_FIELDS_OF: dict[Format, tuple[Field, ...]] = {
    "text": ("text",), "folder": ("text", "labels", "id"), "annif_tsv": ("text", "labels"),
}  # fmt: skip
_SETS: tuple[Field, ...] = ("labels", "accepted", "rejected")
#: Rules of values, by field.
_RULES: dict[Field, str] = {
    "text": "the document's text",
    "title": "the document's title",
    "id": "text or a whole number",
    "split": "'train' or 'test'",
    **dict.fromkeys(_SETS, "a list of texts that are not empty"),
}
#: Rows of a table in which its label separator is detected.
_N_SAMPLE = 10_000

#: Place and keys of a JSON object or a row.
_Record = tuple[str, Mapping[str, Any]]
_ReadLabels = Callable[[Any, Field, str], Mapping[str, str]]


class _Key(NamedTuple):
    """A key or column: its name, its field, and the view of a text."""

    name: str
    field: Field
    view: str


class Document(NamedTuple):
    r"""One document of a source.

    Attributes
    ----------
    number : int
        Its position in the source, from 1.
    place : str
        File and line, for messages.
    texts : mapping of str to str
        Its texts by view: one called ``"text"``, or one for each requested column; before them
        ``"title"``, if titles were requested. Any may be empty.
    id : str, int or None
        Its id in the source.
    labels : tuple of str or None
        Its label set, which may be empty; ``None`` if it was not requested, or is absent.
    known : mapping or None
        Its known labels, ``{"accepted": (…), "rejected": (…)}``.
    split : {"train", "test"} or None
        Its part, if the source contains a split.
    display_names : mapping of str to str or None
        Names of labels beside their URIs, as in Annif's folders.

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
        """Its id, or its number if it has none."""
        return self.number if self.id is None else self.id


@dataclass(eq=False)
class Documents:  # numpydoc ignore=PR02
    r"""The documents of a file, a folder or a stream, read again at every pass.

    Iterating yields one :class:`Document` after the other; memory contains only those that are
    being read. Names of keys and columns, separators and the encoding are detected unless they are
    given; ``understood`` reports them afterwards.

    Parameters
    ----------
    source : path, binary stream or lines
        A file (gzip, bzip2 and xz are unpacked) or a folder; a stream such as
        ``sys.stdin.buffer``; or any iterable of lines.
    format : str, optional
        - ``"jsonl"``: a JSON object per line, ``{"id": …, "text": …, "labels": […]}``; other keys
          and blank lines are ignored. Labels are texts, or objects with ``uri`` and ``label``; keys
          in an object ``metadata`` are read too (Annif's JSON lines). Exports of Prodigy and
          doccano are read as they are.
        - ``"json"``: one such object, or a list of them.
        - ``"csv"``, ``"tsv"``: a table whose header names columns; other columns and blank rows are
          ignored.
        - ``"text"``: a document per line, also of an empty one.
        - ``"folder"``: a document per ``.txt`` file, in the order of their names, which are the
          ids. The labels of ``a.txt`` are in ``a.tsv``, a URI in angle brackets and maybe a name
          per line, or in ``a.key``, a name per line (Annif's full texts). A ``.json`` file is one
          JSON object.
        - ``"annif_tsv"``: text, tab, URIs in angle brackets with blanks between; no header.

        Default: that of :func:`format_of` for a path; JSON or plain lines, by the first line, for
        streams and lines.
    needed : sequence of str, default ("text",)
        Required fields, of ``"text"``, ``"title"``, ``"labels"``, ``"id"``, ``"split"``,
        ``"accepted"`` and ``"rejected"``.
    optional : sequence of str, default ("id",)
        Fields that are read if they are there. Others are not read.
    columns : mapping, default {}
        Names of keys or columns by field: ``{"text": "abstract"}``. A table must have these
        columns. Several columns of texts, ``{"text": ["title", "abstract"]}``, are as many views.
        ``{"title": "headline"}`` requests titles; a title beside a text is also read if neither is
        given. Several columns of labels are joined. Default: the usual names
        (``labelkin.corpora.tables.NAMES``).
    preferred : mapping, default {}
        Names that are used if the source has them.
    separator : str, optional
        Separator of the labels in a cell of a table. Default: ``;``, or ``|`` or a comma, if the
        first rows show it; of URIs also blanks.
    delimiter : str, optional
        Delimiter of the columns of a table. Default: the one that splits the header best.
    encoding : str, optional
        Other bytes are an error that names line and offset. Default: UTF-8, the encoding of a byte
        order mark, or Windows-1252 (:func:`labelkin.corpora.lines.decoded_lines`).
    split : {"train", "test"}, optional
        The part of all documents without one.
    name : str, default ""
        Name of the source in messages; default: the name of the file.

    Attributes
    ----------
    understood : Understood
        Everything that was detected in the last pass.

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
    encoding: str | None = None
    split: Split | None = None
    name: str = ""
    understood: Understood = field(default_factory=Understood, init=False, repr=False)

    def __post_init__(self) -> None:
        from labelkin.validation import check_choice  # loads NumPy

        if self.format is not None:
            check_choice("format", self.format, Format)
        for key in self.columns:
            check_choice("columns", key, Field)
        if self.separator == "":
            raise ValueError("separator must be at least one character, got ''.")

    def __iter__(self) -> Iterator[Document]:
        self.understood = Understood()  # of this pass
        counts, wants_ids = self.understood.counts, "id" in self._wanted
        for document in self._read():
            counts["document"] += 1
            texts = document.texts.values()
            counts["empty text"] += bool(texts) and not any(map(str.strip, texts))
            counts["without id"] += document.id is None and wants_ids
            yield document

    def blocks(self, size: int = 1000) -> Iterator[list[Document]]:
        """Yield the documents in lists of ``size``, the last one maybe shorter."""
        return in_blocks(self, size)

    @property
    def path(self) -> Path | None:
        """The file or folder; ``None`` for streams and lines."""
        return Path(self.source) if isinstance(self.source, str | os.PathLike) else None

    @property
    def called(self) -> str:
        """Name of the source in messages."""
        return self.name or (self.path.name if self.path else "the stream")

    @property
    def _wanted(self) -> list[Field]:
        titles: list[Field] = ["title"] if "title" in {**self.columns, **self.preferred} else []
        return list(dict.fromkeys((*self.needed, *self.optional, *titles)))

    def _read(self) -> Iterator[Document]:
        path, format = self.path, self.format
        if format == "folder" or (format is None and path is not None and path.is_dir()):
            self._check_fields("folder")
            return self._folder(cast(Path, path))
        lines = self._lines(self.source)
        if format is None:
            first = list(islice(lines, 1))
            format = _format_of_lines(path, "".join(first), self.delimiter)
            lines = chain(first, lines)
        self._check_fields(format)
        if format == "text":
            return self._text_lines(lines)
        if format in TABLES:
            return self._table(lines, format)
        if format == "annif_tsv":
            return self._documents(_annif_lines(lines, self.called), split_uris)
        objects = json_objects if format == "jsonl" else _whole_json
        return self._documents(_annotated(objects(lines, self.called)), _check_labels)

    def _check_fields(self, format: Format) -> None:
        """Raise for fields and options that a format has no place for."""
        without = [wanted for wanted in self.needed if wanted not in _FIELDS_OF.get(format, FIELDS)]
        of_tables = ["separator", "delimiter", *["columns"] * (format in ("text", "annif_tsv"))]
        useless = [name for name in of_tables if format not in TABLES and getattr(self, name)]
        if without or useless:
            raise ValueError(
                f"{_listed(without) or useless[0]} must be of a table (.csv, .tsv) with a header"
                f"{' or of JSON lines' * bool(without)}, and {self.called} is {format}."
            )

    def _lines(self, source: Any) -> Iterator[str]:
        if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
            return iter(source)
        name = self.called if source is self.source else None
        found = partial(setattr, self.understood, "encoding")
        return decoded_lines(source, self.encoding, name, found)

    # Keys of JSON objects, and columns.

    def _keys(self, there: Sequence[str]) -> list[_Key]:
        """Return the keys or columns to read, and note them in ``understood``."""
        keys = [key for wanted in self._wanted for key in self._keys_of(wanted, there)]
        used = self.understood.used
        for key in keys:
            if key.name in there and key.name not in used.get(key.field, ()):
                used.setdefault(key.field, []).extend(x for x in there if x == key.name)
        read = {key.name for key in keys}
        others = dict.fromkeys((*self.understood.unused, *there))
        unused = [name for name in others if name and name not in read]
        unused.sort(key=lambda name: not any(find_names(one, [name]) for one in FIELDS))
        self.understood.unused = unused
        return keys

    def _keys_of(self, wanted: Field, there: Sequence[str]) -> Iterator[_Key]:
        """Yield the keys of one field: the given ones, else those with a usual name."""
        named = self.columns.get(wanted)
        if named is None and {*several(self.preferred.get(wanted, ()))} <= {*there}:
            named = self.preferred.get(wanted)
        if named is None:
            found = find_names(wanted, there)
            if wanted == "text" and "title" not in self._wanted:
                titles = find_names("title", there)
                yield from (_Key(name, "title", "title") for name in titles if found)
                found = found or titles
            named = found[0] if len(found) == 1 else found or wanted
        if isinstance(named, str):
            yield _Key(named, wanted, wanted)
        elif wanted in ("title", "id", "split"):
            raise ValueError(f"columns must name one {wanted}, got {_listed(named)}.")
        else:
            yield from (_Key(name, wanted, name) for name in named)

    def _documents(
        self, records: Iterable[_Record], read_labels: _ReadLabels, keys: Sequence[_Key] = ()
    ) -> Iterator[Document]:
        """Yield the documents of JSON objects or, with ``keys``, of rows."""
        keys_of: dict[tuple[str, ...], Sequence[_Key]] = {}
        for number, (place, found) in enumerate(records, start=1):
            there = tuple(found)
            if there not in keys_of:
                keys_of[there] = keys or self._keys(there)
                if not keys:
                    self._check_keys(keys_of[there], there, f"{place}: the JSON object")
            yield self._document(number, place, found, keys_of[there], read_labels)

    def _check_keys(
        self, keys: Sequence[_Key], there: Sequence[str], place: str, is_table: bool = False
    ) -> None:
        """Raise for missing keys of an object, or missing columns of a table."""
        needed = (*self.needed, *(self.columns if is_table else ()))
        missing = [key for key in keys if key.field in needed and key.name not in there]
        if not missing:
            return
        names = _listed(dict.fromkeys(key.name for key in missing))
        shown = _listed(name if len(name) <= 30 else f"{name[:30]}…" for name in there)
        rule = f"{place} must name {names}, got {shown or 'nothing'}."
        if not is_table:
            raise ValueError(rule)
        delimiter = next((sign for sign in ";\t|," if sign in there[0]), None)
        if len(there) == 1 and delimiter is not None:
            raise ReadingError(rule, delimiter=delimiter)
        if not any(find_names(one, there) for one in FIELDS):
            rule += " No header? Add a first row with the names of the columns."
        raise ReadingError(rule, columns=dict.fromkeys([key.field for key in missing], "NAME"))

    def _document(
        self,
        number: int,
        place: str,
        found: Mapping[str, Any],
        keys: Sequence[_Key],
        read_labels: _ReadLabels,
    ) -> Document:
        """Return the document of an object or a row, checked."""
        # Before the texts, even if absent: otherwise a first line would be read as the title.
        texts: dict[str, str] = {"title": ""} if "title" in self._wanted else {}
        sets: dict[str, tuple[str, ...]] = {}
        names: dict[str, str] = {}
        ident, split = None, self.split
        for key, wanted, view in keys:
            if key not in found or (wanted == "title" and found[key] is None):
                continue
            value = found[key]
            if wanted in _SETS:
                labels = read_labels(value, wanted, place)
                sets[wanted] = tuple(dict.fromkeys((*sets.get(wanted, ()), *labels)))
                names |= {label: name for label, name in labels.items() if name}
                continue
            value = _checked(value, wanted, key, place)
            if wanted == "split":
                split = value or split
            elif wanted == "id":
                ident = value if value != "" else f"row {number}"
                self.understood.counts["without id"] += value == ""
            else:
                texts[view] = " ".join(value.split()) if wanted == "title" else value
        known = None
        if "accepted" in sets or "rejected" in sets:
            known = {state: sets.get(state, ()) for state in ("accepted", "rejected")}
        given = sets.get("labels")
        return Document(number, place, texts, ident, given, known, split, names or None)

    # Formats of texts.

    def _text_lines(self, lines: Iterator[str]) -> Iterator[Document]:
        called = self.called
        for number, line in enumerate(lines, start=1):
            place = f"{called}, line {number}"
            yield Document(number, place, {"text": line.rstrip("\r\n")}, split=self.split)

    def _folder(self, folder: Path) -> Iterator[Document]:
        files = _document_files(folder)
        if not files and self.split is None:
            raise ValueError(f"{folder} must have documents, .txt or .json files, and has none.")
        self.understood.counts.update(_skipped_files(folder, (".txt", ".json", *_SUBJECTS)))
        subjects = {file: _subjects_of(file) for file in files if "labels" in self._wanted}
        if len({beside.suffix for beside in subjects.values() if beside}) > 1:
            raise ValueError(
                f"{folder.name}: the labels must all be URIs (.tsv) or all be names (.key), got "
                "both: the same label would count as two."
            )
        numbers = count(1)
        for file in files:
            records = self._objects(file, subjects.get(file))
            for document in self._documents(records, _check_labels):
                ident = file.stem if document.id is None else document.id
                # Documents of both parts may have the same name: the part is in the id.
                name = ident if self.split is None else f"{self.split}/{ident}"
                yield document._replace(number=next(numbers), id=name)

    def _objects(self, file: Path, subjects: Path | None) -> Iterable[_Record]:
        """Return the objects of a JSON file, or one of a text and the labels beside it."""
        if file.suffix == ".json":
            return _annotated(_whole_json(self._lines(file), file.name))
        found: dict[str, Any] = {"text": "".join(self._lines(file))}
        if subjects is not None:
            found["labels"] = _subjects_in(subjects, self.encoding)
        elif "labels" in self.needed:
            raise ValueError(
                f"{file.name}: every text must have a .tsv or .key file beside it, got none. A "
                "document without labels has an empty one."
            )
        return [(file.name, found)]

    # Tables.

    def _table(self, lines: Iterator[str], format: Format) -> Iterator[Document]:
        head: list[str] = []
        for line in lines:
            head.append(line)
            if line.strip():
                break
        delimiter = self.delimiter or self._delimiter(head, "\t" if format == "tsv" else ",")
        read = partial(table_rows, name=self.called, delimiter=delimiter)
        rows = read(chain(head, lines))
        header = [name.strip() for name in next(rows, ("", []))[1]]
        while header and not header[-1]:
            header.pop()  # a delimiter at the end of the line
        keys = self._keys(header)
        self._check_header(header, keys)
        separator = self.separator
        if separator is None and not are_uris(self.understood.used.get("labels", ())):
            names = {key.name for key in keys if key.field in _SETS}
            columns = [j for j, name in enumerate(header) if name in names]
            # A stream may wait, and iterators are read once: their separator is not detected.
            is_file = self.path.is_file() if self.path else isinstance(self.source, Sequence)
            first = read(self._lines(self.source)) if is_file and columns else iter(())
            sample = islice(first, 1, _N_SAMPLE)
            cells = [row[j] for _, row in sample for j in columns if j < len(row)]
            self.understood.separator = find_separator(cells, self.called)
            separator = self.understood.separator or LABEL_SEPARATOR
        split_labels = split_uris if separator is None else partial(split_cell, separator)
        joined_by = {
            name: separator or " " if wanted in _SETS else "\n"
            for name, wanted, _ in keys
            if header.count(name) > 1
        }
        return self._documents(self._rows(rows, header, joined_by), split_labels, keys)

    def _rows(
        self, rows: Iterable[tuple[str, list[str]]], header: list[str], joined_by: dict[str, str]
    ) -> Iterator[_Record]:
        """Yield the cells of rows by name; those of repeated columns are joined."""
        width = len(header)
        for place, row in rows:
            # A single cell may be empty: other files rely on the number of rows.
            if width > 1 and not any(map(str.strip, row)):
                self.understood.counts["blank row"] += 1
                continue
            if len(row) < width or any(row[width:]):
                raise ValueError(
                    f"{place}: a row must have the header's {width} cells, got {len(row)}. "
                    "Is the delimiter right, and the file whole?"
                )
            found = dict(zip(header, row, strict=False))
            for name, sign in joined_by.items():
                cells = (row[j] for j in range(width) if header[j] == name)
                found[name] = sign.join(filter(None, cells))
            yield place, found

    def _delimiter(self, head: Sequence[str], usual: str) -> str:
        """Detect the delimiter by the header."""
        first = next((line for line in head if line.strip()), "")
        if "\r" in first.rstrip("\r\n"):
            raise ValueError(
                f"{self.called}: rows must end in a line feed, got carriage returns alone. Save "
                "the table as CSV (UTF-8)."
            )
        named = [name for one in self.columns.values() for name in several(one)]
        found = find_delimiter(first, usual, named, self._wanted)
        self.understood.delimiter = found if found != usual else None
        return found

    def _check_header(self, header: Sequence[str], keys: Sequence[_Key]) -> None:
        """Raise for missing columns, and for repeated columns of ids and splits."""
        if not header:
            raise ValueError(f"{self.called}: a table must begin with a header, got an empty file.")
        for key in keys:
            if key.field in ("id", "split") and header.count(key.name) > 1:
                raise ValueError(
                    f"{self.called}: a column must be in the header once, got {key.name!r} again."
                )
        self._check_keys(keys, header, f"{self.called}: the header", is_table=True)


class DocumentFiles:
    """The documents of several files and folders, one after the other, with numbers from 1.

    Parameters
    ----------
    paths : sequence of paths
        Files; folders of Annif's, or with folders ``train`` and ``test`` inside, which are the
        split; or folders of tables and JSON lines, in which files called ``train`` and ``test``
        are.
    **options
        Parameters of :class:`Documents`.

    Attributes
    ----------
    parts : list of Documents
        One for every file, or folder of files.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]], **options: Any) -> None:
        self.parts = [
            Documents(path, **{**options, "split": split or options.get("split")})
            for one in paths
            for path, split in _parts_of(Path(one))
        ]
        folders = {part.path.parent for part in self.parts if part.path} & {*map(Path, paths)}
        skipped = (_skipped_files(folder, ENDINGS) for folder in folders)
        self._skipped: Counter[str] = sum(skipped, Counter())

    def __iter__(self) -> Iterator[Document]:
        for number, document in enumerate(chain(*self.parts), start=1):
            yield document if document.number == number else document._replace(number=number)

    @property
    def understood(self) -> str:
        """How the files were read; file by file if they differ."""
        said = {part.called: part.understood.reading() for part in self.parts}
        text = "; ".join(f"{name}: {one}" for name, one in said.items() if one)
        if len(set(said.values())) == 1:
            text = next(iter(said.values()))
        return ", ".join(filter(None, [text, counts_text(self.counts)]))

    @property
    def counts(self) -> Counter[str]:
        """Documents of the last pass, and what was empty or skipped."""
        return sum((part.understood.counts for part in self.parts), self._skipped)


def _parts_of(path: Path) -> list[tuple[Path, Split | None]]:
    """Return the files or folders to read at a path, and their parts by their names."""
    if not path.is_dir():
        return [(path, None)]
    splits: tuple[Split, ...] = ("train", "test")
    inside = [(path / split, split) for split in splits if (path / split).is_dir()]
    files = [file for file in sorted(path.iterdir()) if ending_of(file) in ENDINGS]
    if inside or _document_files(path) or not files:
        return [*inside] or [(path, None)]
    names = {split: [file for file in files if stem_of(file) == split] for split in splits}
    if sum(map(len, names.values())) == len(files) and all(names.values()):
        return [(file, split) for split in splits for file in names[split]]
    return [(file, None) for file in files]


def format_of(path: Path) -> Format:
    """Return the format of a file or folder, by its ending and its first line.

    Annif's tables have URIs in angle brackets, or a column ``subject_uris``. A file without the
    ending of another format is plain lines, or a table if its first line is a header with tabs or
    semicolons.
    """
    if path.is_dir():
        return "folder"
    # In every encoding the searched signs are ASCII, and latin-1 accepts every byte.
    first = next(decoded_lines(path, "latin-1"), "").replace("\0", "")
    return _format_of_lines(path, re.sub("^(?:ï»¿|ÿþ|þÿ)", "", first))


def _format_of_lines(path: Path | None, first: str, delimiter: str | None = None) -> Format:
    if path is None:
        begin = first.lstrip()[:1]
        return "jsonl" if begin == "{" else "json" if begin == "[" else "text"
    ending = ending_of(path)
    format = ENDINGS.get(ending, "text" if delimiter is None else "csv")
    tables: dict[str, Format] = {"\t": "tsv", ";": "csv"} if format == "text" else {}
    for sign, table in tables.items():
        cells = first.strip().split(sign)
        if sum(bool(find_names(one, cells)) for one in ("text", "title", "labels", "id")) > 1:
            format = table
    if format in TABLES and re.search(r"\t\s*(?:<[^<>\s]+>|https?://\S+\s*$)", first):
        return "annif_tsv"
    if format == "text" and ending not in _PLAIN:
        known = ", ".join((*_PLAIN[1:], *ENDINGS))
        hint = "Save a table as CSV (UTF-8), and a document as plain text."
        raise ValueError(f"{path.name} must end in {known}, got {ending}. {hint}")
    return format


def are_uris(columns: Iterable[str]) -> bool:
    """Return whether columns of labels contain URIs, as Annif's do."""
    return any(plain_name(name) == "subject_uris" for name in columns)


# Values of keys and columns.


def _checked(value: Any, wanted: Field, name: str, place: str) -> Any:
    """Return a text, an id or a split, ``None`` for an empty one; another value is an error."""
    if wanted == "split":
        value = (value.strip() if isinstance(value, str) else value) or None
        is_right = value in ("train", "test", None)
    else:
        types: Any = str | int if wanted == "id" else str
        is_right = isinstance(value, types) and not isinstance(value, bool)
    if not is_right:
        raise ValueError(f"{place}: {name!r} must be {_RULES[wanted]}, got {value!r:.60}.")
    return value


def _check_labels(value: Any, wanted: Field, place: str) -> dict[str, str]:
    """Return labels, texts or objects with ``uri`` or ``label``, each with its name or none."""
    labels: dict[str, str] = {}
    for one in value if isinstance(value, list) else [None]:
        given = one if isinstance(one, dict) else {"label": one}
        label, name = given.get("uri") or given.get("label"), given.get("label")
        if not isinstance(label, str) or not label:
            raise ValueError(f"{place}: {wanted} must be {_RULES[wanted]}, got {value!r}.")
        labels[label] = name if isinstance(name, str) and name != label else ""
    return labels


# JSON.


def _whole_json(lines: Iterable[str], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the one object of a JSON file, or those of its list, after their places."""
    try:
        found = json.loads("".join(lines) or "[]")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{name}: a file must be a JSON object or a list of them, got: {error}. Cut off?"
        ) from None
    objects = found if isinstance(found, list) else [found]
    for number, one in enumerate(objects, start=1):
        place = f"{name}, object {number}" if isinstance(found, list) else name
        yield place, check_object(one, place)


def _annif_lines(lines: Iterable[str], name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the text and the URIs of every line that is not blank, after its place."""
    for number, line in enumerate(lines, start=1):
        text, tab, uris = line.rstrip("\r\n").partition("\t")
        if not tab and text.strip():
            raise ValueError(
                f"{name}, line {number}: a line must be a text, a tab and URIs, got no tab in "
                f"{text[:60]!r}."
            )
        if line.strip():
            yield f"{name}, line {number}", {"text": text, "labels": uris}


def _annotated(records: Iterable[_Record]) -> Iterator[_Record]:
    """Yield objects with their metadata, those of Prodigy with ``labels`` or known labels.

    An object of Prodigy is answered, or has categories; those without an answer are left out.
    """
    for place, found in records:
        given, metadata = dict(found), found.get("metadata")
        answer, label, cats = found.get("answer"), found.get("label"), found.get("cats")
        has_cats = isinstance(cats, dict) and all(isinstance(x, int | float) for x in cats.values())
        is_answer = answer in ("accept", "reject", "ignore") and any(
            key in found for key in ("accept", "label", "cats", "_input_hash")
        )
        if is_answer or has_cats:
            given.pop("label", None)
            if not is_answer:
                answer = "accept"
            if answer != "ignore" and isinstance(label, str) and "accept" not in found:
                given[f"{answer}ed"] = [label]
            elif answer != "accept":
                continue
            elif "accept" in found:
                given["labels"] = found["accept"]
            elif isinstance(cats, dict):
                given["labels"] = [name for name, value in cats.items() if value >= 0.5]
        yield place, {**metadata, **given} if isinstance(metadata, dict) else given


# Folders.


def _document_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are a document each; JSON beside a text is not."""
    texts = set(folder.glob("*.txt"))
    objects = {file for file in folder.glob("*.json") if file.with_suffix(".txt") not in texts}
    return sorted(texts | objects)


def _skipped_files(folder: Path, read: Container[str]) -> Counter[str]:
    """Count the files of a folder that are not read, by ending."""
    files = (file for file in folder.iterdir() if file.is_file() and file.name[0] != ".")
    endings = map(ending_of, files)
    return Counter(ending for ending in endings if ending and ending not in read)


def _subjects_of(file: Path) -> Path | None:
    """Return the file of labels beside a text."""
    beside = (file.with_suffix(suffix) for suffix in _SUBJECTS if file.suffix == ".txt")
    return next((path for path in beside if path.exists()), None)


def _subjects_in(file: Path, encoding: str | None) -> list[Any]:
    """Return the labels in a file of them: names, or URIs with the names beside them."""
    lines = [line.strip() for line in decoded_lines(file, encoding)]
    if file.suffix == ".key":
        return [line for line in lines if line]
    subjects: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if line:
            uri, _, name = line.partition("\t")
            [label] = split_uris(uri, "labels", f"{file.name}, line {number}")
            subjects[label] = name.partition("\t")[0].strip() or subjects.get(label, "")
    return [{"uri": uri, "label": name} for uri, name in subjects.items()]


def several(names: Any) -> Sequence[Any]:
    """Return a sequence of names or paths; a single one is a sequence of one."""
    return [names] if isinstance(names, str | os.PathLike) else names


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
