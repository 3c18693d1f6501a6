"""Corrections of given labels: read from a list of issues, made in a corpus.

A corpus is corrected in the format it came in, and nothing else in it changes: lines and cells that
are not corrected are copied as they stand.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast, get_args

from labelkin.corpora.documents import Document, Documents, Format, json_objects, table_rows
from labelkin.corpora.lines import decoded_lines
from labelkin.files import names_to_disk, plain_cell, replacing, write_whole

Answer = Literal["change", "keep", "cannot say"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
"""What a person can say of an issue."""

_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_NEEDED = ("document", "label", "given")
_SPREADSHEETS_DELIMITERS = ",;\t"
_PACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Decision(NamedTuple):
    """What is said of one cell of a corpus that may be wrong.

    Attributes
    ----------
    document, label : str
        Id of the document, or its number from 1 where it has none; name of the label.
    given : bool
        What the corpus says: ``True``, the document has the label. The change is the opposite.
    answer : {"change", "keep", "cannot say", ""}
        What a person has decided; ``""``: nobody has.
    probability : float, default NaN
        That the corpus is wrong.
    fingerprint : str, default ""
        Of the document's text (:func:`fingerprint_of`), so that a text that has changed since is
        found out; ``""``: not checked.
    """

    document: str
    label: str
    given: bool
    answer: Answer | Literal[""] = ""
    probability: float = math.nan
    fingerprint: str = ""


def fingerprint_of(text: str) -> str:
    """Return a few signs that stand for a text.

    Examples
    --------
    >>> fingerprint_of("Tea with sugar.")
    'e11511b10921'
    """
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def read_decisions(path: Path, encoding: str = "utf-8") -> list[Decision]:
    """Read a list of issues: a table as people edit it (CSV, TSV), or JSON lines.

    It has ``document``, ``label`` and ``given``, and maybe ``decision``, ``probability`` and
    ``fingerprint``. A table may have been saved by a spreadsheet, with semicolons or tabs.
    """
    lines = decoded_lines(path, encoding)
    found: Iterable[tuple[str, Mapping[str, Any]]]
    if path.suffix.lower() in (".csv", ".tsv", ".tab"):
        found = _table_records(path, lines)
    else:
        found = json_objects(lines, path.name)
    return [_decision(place, record) for place, record in found]


def chosen_changes(
    decisions: Iterable[Decision], at_least: float | None = None
) -> dict[tuple[str, str], Decision]:
    """Return the cells to change: those that a person says so of, and those above a probability.

    Parameters
    ----------
    decisions
        In any order.
    at_least : float, optional
        Cells that nobody has decided on are changed from this probability on; ``None``: never.
    """
    answered: dict[tuple[str, str], Decision] = {}
    for one in decisions:
        before = answered.setdefault((one.document, one.label), one)
        if before.answer != one.answer and before.answer and one.answer:
            raise ValueError(
                f"A cell must be decided once, got {before.answer!r} and {one.answer!r} for the "
                f"label {one.label!r} of document {one.document!r}. Leave one of them out."
            )
        if one.answer:
            answered[one.document, one.label] = one
    sure = math.inf if at_least is None else at_least
    return {
        cell: one
        for cell, one in answered.items()
        if one.answer == "change" or (not one.answer and one.probability >= sure)
    }


@dataclass
class Corrections:
    """Changes to be made in the documents of one corpus, and what has become of them.

    Parameters
    ----------
    changes : iterable of Decision
        One for a cell.

    Attributes
    ----------
    added, removed : int
        Labels that were added to a document, or removed from one.
    already : int
        Changes that the corpus has already.
    other_text : int
        Changes of documents whose text is not the one that was looked at; they are not made.
    """

    changes: Iterable[Decision]
    added: int = 0
    removed: int = 0
    already: int = 0
    other_text: int = 0
    _of: dict[str, list[Decision]] = field(default_factory=dict)
    _met: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for one in self.changes:
            self._of.setdefault(one.document, []).append(one)

    def apply(self, document: str, text: str | None, labels: Sequence[str]) -> list[str] | None:
        """Return the corrected labels of a document, new ones last; ``None``: as they were.

        Examples
        --------
        >>> corrections = Corrections([Decision("7", "sugar", False), Decision("7", "tea", True)])
        >>> corrections.apply("7", None, ["tea", "milk"])
        ['milk', 'sugar']
        >>> corrections.apply("8", None, ["tea"])
        """
        changes = self._of.get(document, ())
        corrected = list(labels)
        if changes:
            self._met.add(document)
        for one in changes:
            if one.fingerprint and text is not None and fingerprint_of(text) != one.fingerprint:
                self.other_text += 1
            elif (one.label in corrected) != one.given:
                self.already += 1
            elif one.given:
                corrected = [label for label in corrected if label != one.label]
                self.removed += 1
            else:
                corrected.append(one.label)
                self.added += 1
        return corrected if corrected != list(labels) else None

    @property
    def unmet(self) -> list[str]:
        """The documents that changes are for and that were not there."""
        return [document for document in self._of if document not in self._met]

    def summary(self) -> str:
        """Say what has become of the changes."""
        parts = [f"{self.added:,} labels added, {self.removed:,} removed"]
        if self.already:
            parts.append(f"{self.already:,} were so already")
        if self.other_text:
            parts.append(
                f"{self.other_text:,} not made, because the text is not the one that was looked at"
            )
        if self.unmet:
            shown = ", ".join(map(repr, self.unmet[:3]))
            parts.append(f"{len(self.unmet):,} documents are not in the corpus ({shown} …)")
        return "; ".join(parts)


def write_corrected(
    documents: Documents, format: Format, out: Path, corrections: Corrections
) -> None:
    """Write a corpus with corrections, in its own format, whole.

    Parameters
    ----------
    documents : Documents
        The corpus: a file, or a folder of Annif's.
    format
        One that holds labels.
    out : Path
        A new file; packed if its name ends in .gz, .bz2 or .xz. A new folder for a folder.
    corrections : Corrections
        They count what they have done.
    """
    source = Path(cast(Any, documents.source))
    if format == "folder":
        _write_folder(documents, source, out, corrections)
        return
    lines = _corrected_lines(documents, format, corrections)
    has_mark = next(decoded_lines(source, "latin-1"), "").startswith("ï»¿")
    utf8 = codecs.lookup(documents.encoding).name == "utf-8"
    encoding = "utf-8-sig" if utf8 and has_mark else documents.encoding
    encoder = codecs.getincrementalencoder(encoding)()
    pack = _PACK.get(out.suffix.lower())
    with replacing(out) as file, pack(file, "wb") if pack else nullcontext(file) as packed:
        for line in lines:
            packed.write(encoder.encode(line))


def write_json_lines(documents: Iterable[Mapping[str, Any]], out: Path) -> None:
    """Write documents as JSON lines, whole."""
    with replacing(out) as file:
        for document in documents:
            file.write((json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8"))


def _table_records(path: Path, lines: Iterator[str]) -> Iterator[tuple[str, dict[str, str]]]:
    first = next(lines, "")
    delimiter = max(_SPREADSHEETS_DELIMITERS, key=first.count)
    rows = table_rows(_after(first, lines), path.name, delimiter)
    header = [name.strip() for name in next(rows, ("", []))[1]]
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise ValueError(
            f"{path.name}: the header of a list of issues must name {', '.join(_NEEDED)}, got no "
            f"{', '.join(missing)} among {header!r:.120}. labelkin audit --out writes such a list."
        )
    for place, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{place}: a row must have the header's {len(header)} cells, got {len(row)}."
            )
        if any(row):
            yield place, dict(zip(header, map(plain_cell, row), strict=True))


def _after(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _decision(place: str, record: Mapping[str, Any]) -> Decision:
    missing = [name for name in _NEEDED if name not in record]
    if missing:
        raise ValueError(f"{place}: an issue must have {', '.join(_NEEDED)}, got no {missing[0]}.")
    given = _YES_NO.get(str(record["given"]).strip().lower())
    if given is None:
        raise ValueError(f"{place}: given must be yes or no, got {record['given']!r:.60}.")
    answer = " ".join(str(record.get("decision") or "").lower().split())
    if answer not in ("", *ANSWERS):
        raise ValueError(
            f"{place}: decision must be {', '.join(ANSWERS)} or empty, got "
            f"{record['decision']!r:.60}."
        )
    probability = str(record.get("probability", "nan") or "nan").replace(",", ".")
    try:
        number = float(probability)
    except ValueError:
        raise ValueError(
            f"{place}: probability must be a number, got {record['probability']!r:.60}."
        ) from None
    return Decision(
        str(record["document"]),
        str(record["label"]),
        given,
        cast(Any, answer),
        number,
        str(record.get("fingerprint") or ""),
    )


class _Recorded:
    """Lines that are remembered as they are read."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._taken: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self._taken.append(line)
            yield line

    def take(self) -> str:
        """Return what was read since the last time."""
        piece = "".join(self._taken)
        self._taken.clear()
        return piece


def _corrected_lines(
    documents: Documents, format: Format, corrections: Corrections
) -> Iterator[str]:
    """Yield the file piece by piece, a document at the end of each."""
    source = cast(Any, documents.source)
    recorded = _Recorded(decoded_lines(source, documents.encoding))
    reader = replace(documents, source=recorded, format=format, name=Path(source).name)
    rewrite = _REWRITERS[format](documents, format)
    for document in reader:
        yield rewrite(recorded.take(), _labels_for(document, corrections))
    yield recorded.take()


def _labels_for(document: Document, corrections: Corrections) -> list[str] | None:
    return corrections.apply(str(document.name), document.text, document.labels or ())


class _JsonLine:
    """Puts other labels into a JSON line."""

    def __init__(self, documents: Documents, format: Format) -> None:
        self._key = documents.columns.get("labels", "labels")

    def __call__(self, piece: str, labels: Sequence[str] | None) -> str:
        if labels is None:
            return piece
        start, end = self._span(piece)
        compact = '":' in piece and '": ' not in piece
        text = json.dumps(
            labels, ensure_ascii=piece.isascii(), separators=(",", ":") if compact else None
        )
        return piece[:start] + text + piece[end:]

    def _span(self, piece: str) -> tuple[int, int]:
        """Return where the value of the key stands; of a key that is there again, the last."""
        place, span = piece.index("{"), (0, 0)
        while piece[place] in "{,":
            key, place = _DECODER.raw_decode(piece, _skip(piece, place + 1))
            start = _skip(piece, _skip(piece, place) + 1)
            _, end = _DECODER.raw_decode(piece, start)
            if key == self._key:
                span = (start, end)
            place = _skip(piece, end)
        return span


def _skip(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return match.end() if match else place


class _TableRow:
    """Puts other labels into a row of a table, and remembers how its labels are separated."""

    def __init__(self, documents: Documents, format: Format) -> None:
        self._delimiter = documents.delimiter or ("\t" if format == "tsv" else ",")
        self._uris = format == "annif_csv"
        preset = "subject_uris" if self._uris else "labels"
        self._name = documents.columns.get("labels", preset)
        self._separator = documents.separator
        self._column: int | None = None

    def __call__(self, piece: str, labels: Sequence[str] | None) -> str:
        if self._column is None:  # the first piece begins with the header
            header = next(row for row in self._cells(piece) if row[-1][1] > row[0][0])
            names = [_cell_value(piece[start:end]).strip() for start, end in header]
            self._column = names.index(str(self._name))
        if labels is None:
            return piece
        start, end = self._cells(piece)[-1][self._column]
        raw = piece[start:end]
        cell = _cell_value(raw)
        cell = _spelled_uris(cell, labels) if self._uris else self._joined(cell, labels)
        if raw.startswith('"') or any(sign in cell for sign in (self._delimiter, '"', "\n", "\r")):
            cell = '"' + cell.replace('"', '""') + '"'
        return piece[:start] + cell + piece[end:]

    def _joined(self, cell: str, labels: Sequence[str]) -> str:
        wrong = [label for label in labels if self._separator in label or label != label.strip()]
        if wrong:
            raise ValueError(
                f"In this table labels are separated by {self._separator!r}, and the label "
                f"{wrong[0]!r} cannot stand in a cell. Correct its name in the list of issues."
            )
        spaced = f"{self._separator} " in cell
        return (f"{self._separator} " if spaced else self._separator).join(labels)

    @cached_property
    def _cell(self) -> re.Pattern[str]:
        return re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(self._delimiter)}\r\n]*')

    def _cells(self, text: str) -> list[list[tuple[int, int]]]:
        """Return where the cells of each line of a table begin and end."""
        rows: list[list[tuple[int, int]]] = [[]]
        place = 0
        while True:
            match = self._cell.match(text, place)
            assert match is not None  # it takes an empty cell, too
            rows[-1].append(match.span())
            place = match.end()
            if place < len(text) and text[place] == self._delimiter:
                place += 1
                continue
            place += 2 if text[place : place + 2] == "\r\n" else 1
            if place >= len(text):
                return rows
            rows.append([])


class _AnnifLine:
    """Puts other URIs behind the tab of a line."""

    def __init__(self, documents: Documents, format: Format) -> None:
        """Take what every rewriter takes."""

    def __call__(self, piece: str, labels: Sequence[str] | None) -> str:
        if labels is None:
            return piece
        begin = piece.rstrip("\r\n").rfind("\n") + 1  # blank lines may stand before it
        tab = piece.index("\t", begin) + 1
        end = len(piece.rstrip("\r\n"))
        return piece[:tab] + _spelled_uris(piece[tab:end], labels) + piece[end:]


_REWRITERS: dict[str, Callable[[Documents, Format], Any]] = {
    "jsonl": _JsonLine,
    "csv": _TableRow,
    "tsv": _TableRow,
    "annif_csv": _TableRow,
    "annif_tsv": _AnnifLine,
}


def _cell_value(raw: str) -> str:
    return raw[1:-1].replace('""', '"') if raw.startswith('"') else raw


def _spelled_uris(cell: str, labels: Sequence[str]) -> str:
    """Return URIs with blanks between; those that were there are spelled as they were."""
    spelled = {word.removeprefix("<").removesuffix(">"): word for word in cell.split()}
    return " ".join(spelled.get(label, f"<{label}>") for label in labels)


def _write_folder(documents: Documents, source: Path, out: Path, corrections: Corrections) -> None:
    """Copy Annif's full texts, and change the files of labels that are corrected."""
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        shutil.copytree(source, part)
        parts = [name for name in ("train", "test") if (source / name).is_dir()]
        for name in parts or [""]:
            folder = part / name
            lines = _LabelFiles(folder, documents.encoding)
            for document in replace(
                documents, source=folder, format="folder", split=cast(Any, name or None)
            ):
                labels = _labels_for(document, corrections)
                if labels is not None:
                    lines.rewrite(folder / document.place, labels)
        part.rename(out)
        names_to_disk(out.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _LabelFiles:
    """The files of labels beside the texts of a folder: URIs and names, or names alone."""

    def __init__(self, folder: Path, encoding: str) -> None:
        self._folder, self._encoding = folder, encoding

    def rewrite(self, text: Path, labels: Sequence[str]) -> None:
        """Change the labels beside a text; lines of those that stay are copied."""
        beside = (text.with_suffix(ending) for ending in (".tsv", ".key"))
        file = next(path for path in beside if path.exists())
        lines = list(decoded_lines(file, self._encoding))
        before = [_label_of(line) for line in lines]
        kept = [line for line, x in zip(lines, before, strict=True) if not x or x in labels]
        if kept and not kept[-1].endswith("\n"):
            kept[-1] += "\n"
        for label in labels:
            if label not in before:
                kept.append(f"<{label}>{self._names.get(label, '')}\n")
                if file.suffix == ".key":
                    kept[-1] = f"{label}\n"
        write_whole(file, "".join(kept).encode(self._encoding))

    @cached_property
    def _names(self) -> dict[str, str]:
        """What stands behind each URI in the folder's files, with its tab."""
        names: dict[str, str] = {}
        for file in sorted(self._folder.glob("*.tsv")):
            for line in decoded_lines(file, self._encoding):
                _, tab, name = line.rstrip("\r\n").partition("\t")
                names.setdefault(_label_of(line), tab + name)
        return names


def _label_of(line: str) -> str:
    word = line.split("\t")[0].strip()
    return word[1:-1] if word.startswith("<") and word.endswith(">") else line.strip()
