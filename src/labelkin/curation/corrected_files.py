"""A corrected corpus in the format it came in: nothing else in it changes.

Lines and cells that are not corrected are copied as they stand.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from labelkin.corpora import KNOWN, load, text_format
from labelkin.corpora.documents import Document, Documents, Format, are_uris
from labelkin.corpora.lines import decoded_lines
from labelkin.corpora.tables import SEPARATOR, find_name
from labelkin.corpora.values import URI_BREAK, label_in
from labelkin.curation.corrections import Corrections
from labelkin.files import atomic_replace, names_to_disk, write_atomic

_PACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


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
    documents = documents.settled()
    encoding = documents.encoding or "utf-8"
    lines = _corrected_lines(documents, format, corrections)
    has_mark = next(decoded_lines(source, "latin-1"), "").startswith("ï»¿")
    if codecs.lookup(encoding).name == "utf-8" and has_mark:
        encoding = "utf-8-sig"
    encoder = codecs.getincrementalencoder(encoding)()
    pack = _PACK.get(out.suffix.lower())
    with atomic_replace(out) as file, pack(file, "wb") if pack else nullcontext(file) as packed:
        for line in lines:
            packed.write(encoder.encode(line))


def write_corrected_corpus(
    corpus: str, out: Path, corrections: Corrections, **reading: Any
) -> Documents | None:
    """Write a corpus of texts in its own format; return its documents.

    Other corpora are written as JSON lines, without their vectors, and ``None`` is returned.
    ``reading`` contains options of :func:`labelkin.corpora.load`.
    """
    format = None if corpus in KNOWN else text_format(Path(corpus))
    if format is not None:
        named = {k: v for k, v in reading.items() if k not in ("path", "merge_spellings")}
        needed: list[Any] = ["text", "labels", *(["id"] if format == "jsonl" else [])]
        documents = Documents(corpus, needed=needed, **named)
        write_corrected(documents, format, out, corrections)
        return documents
    loaded = load(corpus, **reading)
    is_text = loaded.features == "text"
    names, test = loaded.names(), set(loaded.test.tolist())

    def lines() -> Iterator[dict[str, Any]]:
        for i, labels in enumerate(loaded.label_sets()):
            text = str(loaded.documents[i]) if is_text else None
            corrected = corrections.apply(names[i], text, labels)
            yield {
                "id": names[i],
                **({"text": text} if is_text else {}),
                "labels": list(labels if corrected is None else corrected),
                "split": "test" if i in test else "train",
            }

    write_json_lines(lines(), out)
    return None


def write_json_lines(documents: Iterable[Mapping[str, Any]], out: Path) -> None:
    """Write documents as JSON lines, whole."""
    with atomic_replace(out) as file:
        for document in documents:
            file.write((json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8"))


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
        self._key = documents.columns.get("labels")

    def __call__(self, piece: str, labels: Sequence[str] | None) -> str:
        if labels is None:
            return piece
        start, end = self._span(piece)
        labels = _spelled_objects(json.loads(piece[start:end]), labels)
        compact = '":' in piece and '": ' not in piece
        text = json.dumps(
            labels, ensure_ascii=piece.isascii(), separators=(",", ":") if compact else None
        )
        return piece[:start] + text + piece[end:]

    def _span(self, piece: str) -> tuple[int, int]:
        """Return where the value of the key stands; of a key that is there again, the last."""
        wanted = self._key or find_name("labels", json.loads(piece))
        place, span = piece.index("{"), (0, 0)
        while piece[place] in "{,":
            key, place = _DECODER.raw_decode(piece, _skip(piece, place + 1))
            start = _skip(piece, _skip(piece, place) + 1)
            _, end = _DECODER.raw_decode(piece, start)
            if key == wanted:
                span = (start, end)
            place = _skip(piece, end)
        return span


def _spelled_objects(before: Sequence[Any], labels: Sequence[str]) -> list[Any]:
    """Return labels spelled as they were; new ones among objects are objects, too."""
    spelled = {(x.get("uri") or x.get("label")): x for x in before if isinstance(x, dict)}
    if not spelled:
        return list(labels)
    key = "uri" if any("uri" in x for x in spelled.values()) else "label"
    return [spelled.get(label, {key: label}) for label in labels]


def _skip(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return match.end() if match else place


class _TableRow:
    """Change the labels in a row of a table; other labels keep their spelling and separators."""

    def __init__(self, documents: Documents, format: Format) -> None:
        self._delimiter = documents.delimiter or ("\t" if format == "tsv" else ",")
        names = documents.columns["labels"]
        self._names = [names] if isinstance(names, str) else names
        self._uris = documents.separator is None and are_uris(self._names)
        self._separator = " " if self._uris else documents.separator or SEPARATOR
        sign = URI_BREAK.pattern if self._uris else re.escape(self._separator)
        self._break = re.compile(rf"\s*(?:{sign})\s*")
        self._between = self._separator  # as the last cell with two labels has it
        self._columns: list[int] = []

    def __call__(self, piece: str, labels: Sequence[str] | None) -> str:
        if not self._columns:  # the first piece begins with the header
            header = next(row for row in self._cells(piece) if row[-1][1] > row[0][0])
            names = [_cell_value(piece[start:end]).strip() for start, end in header]
            self._columns = [j for j, name in enumerate(names) if name in self._names]
        spans = [self._cells(piece)[-1][j] for j in self._columns]
        raw = [piece[start:end] for start, end in spans]
        parts = [[x for x in self._break.split(_cell_value(one).strip()) if x] for one in raw]
        for one in raw:
            if match := self._break.search(_cell_value(one).strip()):
                self._between = match[0]
        if labels is None:
            return piece
        given = {label_in(part) for cell in parts for part in cell}
        new = [self._spelled(label, parts) for label in labels if label not in given]
        for place in reversed(range(len(spans))):
            kept = [part for part in parts[place] if label_in(part) in labels]
            if new and len(spans) > 1 and not kept:
                kept.append(new.pop())
            if new and place == 0:
                kept += new
            cell = self._between.join(kept)
            if kept == parts[place]:
                continue
            signs = (self._delimiter, '"', "\n", "\r")
            if raw[place].startswith('"') or any(sign in cell for sign in signs):
                cell = '"' + cell.replace('"', '""') + '"'
            piece = piece[: spans[place][0]] + cell + piece[spans[place][1] :]
        return piece

    def _spelled(self, label: str, parts: Sequence[Sequence[str]]) -> str:
        """Return a new label as it stands in a cell."""
        if self._separator in label or label != label.strip():
            raise ValueError(
                f"In this table labels are separated by {self._separator!r}, and the label "
                f"{label!r} cannot stand in a cell. Correct its name in the list of issues."
            )
        plain = any(not part.startswith("<") for cell in parts for part in cell)
        return label if plain or not self._uris else f"<{label}>"

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
            lines = _LabelFiles(folder, documents.encoding or "utf-8")
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
        write_atomic(file, "".join(kept).encode(self._encoding))

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
    word = line.partition("\t")[0].strip()
    return word[1:-1] if word.startswith("<") and word.endswith(">") else line.strip()
