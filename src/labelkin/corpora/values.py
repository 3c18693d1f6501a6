"""What a file says of one document, checked: its text, id, split and labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from labelkin.corpora.lines import decoded_lines, ending_of
from labelkin.corpora.tables import Field, ReadingError

Split = Literal["train", "test"]

SETS: tuple[Field, ...] = ("labels", "accepted", "rejected")
#: What a value must be, by field.
RULES: dict[Field, str] = {
    "text": "the document's text",
    "title": "the document's title",
    "id": "text or a whole number",
    "split": "'train' or 'test'",
    **dict.fromkeys(SETS, "a list of texts that are not empty"),
}
_URI = re.compile(r"<([^<>\s]+)>|([^<>\s]+)")
#: Between URIs in a cell: blanks, or ``;``, ``|`` or a comma before the next URI.
URI_BREAK = re.compile(r"[;|,]\s*(?=<|\w+:|$)|\s+")
_JOINED = re.compile(r"<?\w+://\S*\s*[;|,\s]\s*<?\w+://")
#: A label in angle brackets, or in subfield a of a MARC field, as ``_7$aacq$2reuters``.
_WRAPPED = re.compile(r"<(\w+:[^<>\s]+)>|[_#\\\d ]{0,2}\$a\s*([^$]+?)\s*(?:\$.*)?")


def label_in(part: str) -> str:
    """Return the label in a part of a cell, without blanks, angle brackets and MARC's signs.

    Examples
    --------
    >>> label_in(" tea "), label_in("_7$aacq$2reuters")
    ('tea', 'acq')
    """
    match = _WRAPPED.fullmatch(part := part.strip())
    return (match[1] or match[2]) if match else part


def splitting(separator: str) -> Callable[[str, Field, str], dict[str, str]]:
    """Return what reads the labels in a cell of a table."""

    def split(cell: str, _wanted: Field, place: str) -> dict[str, str]:
        labels = {label: "" for part in cell.split(separator) if (label := label_in(part))}
        if joined := [label for label in labels if _JOINED.match(label)]:
            rule = f"{place}: a label must be one URI, got {joined[0][:60]!r}."
            raise ReadingError(rule, separator="SIGN")
        return labels

    return split


def check_text(value: Any, key: str, place: str, wanted: Field = "text") -> str:
    """Return a document's text, or its title, which is one line."""
    if not isinstance(value, str):
        raise ValueError(f"{place}: {key!r} must be {RULES[wanted]}, got {value!r:.60}.")
    return " ".join(value.split()) if wanted == "title" else value


def check_id(value: Any, place: str) -> str | int:
    """Return a document's own name."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{place}: id must be {RULES['id']}, got {value!r}.")
    return value


def check_split(value: Any, place: str) -> Split | None:
    """Return a document's split; nothing at all or an empty value is no split."""
    if value in ("train", "test"):
        return cast(Split, value)
    if isinstance(value, str) and value != value.strip():
        return check_split(value.strip(), place)
    if value in (None, ""):
        return None
    raise ValueError(f"{place}: split must be {RULES['split']}, got {value!r}.")


def check_labels(value: Any, wanted: Field, place: str) -> dict[str, str]:
    """Return labels, texts or objects with ``uri`` or ``label``, each with its name or none."""
    labels: dict[str, str] = {}
    for one in value if isinstance(value, list) else [None]:
        said = one if isinstance(one, dict) else {"label": one}
        label, name = said.get("uri") or said.get("label"), said.get("label")
        if not isinstance(label, str) or not label:
            raise ValueError(f"{place}: {wanted} must be {RULES[wanted]}, got {value!r}.")
        labels[label] = name if isinstance(name, str) and name != label else ""
    return labels


def split_uris(cell: str, _wanted: Field, place: str) -> dict[str, str]:
    """Return the URIs in a cell, maybe in angle brackets, with blanks, ``;`` or ``|`` between."""
    return {_uri(word, place): "" for word in URI_BREAK.split(cell) if word}


def _uri(word: str, place: str) -> str:
    match = _URI.fullmatch(word)
    if not match:
        raise ValueError(
            f"{place}: labels must be URIs in angle brackets with blanks between, got {word!r}. "
            "Is the file cut off?"
        )
    return match[1] or match[2]


def subject_files(folder: Path, texts: Sequence[Path], *, needed: bool) -> dict[Path, Path | None]:
    """Return the file of labels beside each text."""
    found: dict[Path, Path | None] = {}
    for text in texts:
        beside = (text.with_suffix(suffix) for suffix in (".tsv", ".key"))
        found[text] = next((file for file in beside if file.exists()), None)
    without = [text.name for text, file in found.items() if file is None]
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
    return found


def subjects_in(file: Path, encoding: str | None) -> dict[str, str]:
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


def skipped_files(folder: Path, read: Container[str]) -> Counter[str]:
    """Return how many files of a folder have endings that are not read, by ending."""
    files = (file for file in folder.iterdir() if file.is_file() and file.name[0] != ".")
    endings = map(ending_of, files)
    return Counter(ending for ending in endings if ending and ending not in read)


def document_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are a document each; JSON beside a text is none."""
    texts = set(folder.glob("*.txt"))
    objects = {file for file in folder.glob("*.json") if file.with_suffix(".txt") not in texts}
    return sorted(texts | objects)
