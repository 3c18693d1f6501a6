"""Detection of column names, delimiters, separators and spellings in files of documents.

Callers can name each of them instead. The result is reported (:class:`Understood`). If two
separators are equally likely, an error asks for the right one.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from labelkin.corpora.lines import ReadingError

Field = Literal["text", "title", "labels", "id", "split", "accepted", "rejected"]

#: Names of keys and columns, the preferred name first, as :func:`plain_name` writes them: English,
#: German, Finnish, Swedish, French, and the fields of MARC.
NAMES: dict[Field, tuple[str, ...]] = {
    "text": (
        *("text", "abstract", "body", "content", "full_text", "fulltext", "summary", "description"),
        *("volltext", "zusammenfassung", "beschreibung", "inhalt", "teksti", "tiivistelmä"),
        *("kuvaus", "sammanfattning", "beskrivning", "texte", "résumé", "520"),
    ),
    "title": ("title", "headline", "titel", "titre", "otsikko", "nimeke", "rubrik", "245"),
    "labels": (
        *("subject_uris", "labels", "subjects", "tags", "topics", "keywords", "categories"),
        "label",  # doccano's
        *("subject", "subject_headings", "subject_heading", "keyword", "schlagwörter"),
        *("schlagwort", "schlagworte", "asiasanat", "asiasana", "ämnesord", "sujets", "sujet"),
        *("mots_clés", "mots-clés", "vedettes_matière", "650", "689", "653", "651", "600", "610"),
    ),
    "id": (
        *("id", "document_id", "doc_id", "record_id", "identifier", "ppn", "mms_id", "001"),
        *("record_number", "tunniste", "identifiant"),
    ),
    "split": ("split",),
    "accepted": ("accepted",),
    "rejected": ("rejected",),
}
DELIMITERS = (",", ";", "\t", "|")
LABEL_SEPARATOR = ";"
#: Share of the cells with labels, and their number, from which another sign is worth a question.
_OFTEN, _SOME = 0.2, 10
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass
class Understood:
    """How a source was read.

    Attributes
    ----------
    delimiter, separator, encoding : str, optional
        Between columns, between labels, and of the bytes; ``None``: given by the caller, or not
        needed.
    used : dict of str to list of str
        All keys or columns that were read, by field; a repeated column as often as it occurs.
    unused : list of str
        Columns that were not read, those with a known name first.
    counts : Counter
        Documents, and what was empty or skipped.
    """

    delimiter: str | None = None
    separator: str | None = None
    encoding: str | None = None
    used: dict[Field, list[str]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """Return how the source was read, and what was empty or skipped.

        Examples
        --------
        >>> used = {"text": ["Abstract"], "labels": ["650"]}
        >>> print(Understood(delimiter=";", used=used, counts=Counter({"empty text": 2})))
        columns separated by semicolons, text from 'Abstract', labels from '650', 2 empty texts
        """
        return ", ".join(filter(None, [self.reading(), counts_text(self.counts)]))

    def reading(self) -> str:
        """Return how the source was read, without counts."""
        said = []
        if self.delimiter is not None:
            said.append(f"columns separated by {_WORDS[self.delimiter]}")
        if self.separator is not None:
            said.append(f"separator {self.separator!r}")
        for one, names in self.used.items():
            times = Counter(names)
            shown = (f"{n} × {x!r}" if (n := times[x]) > 1 else repr(x) for x in times)
            said.append(f"{one} from {' + '.join(shown)}")
        if self.unused:
            more = " …" * (len(self.unused) > 8)
            said.append(f"not used: {', '.join(map(repr, self.unused[:8]))}{more}")
        if self.encoding is not None and not self.encoding.startswith("utf-8"):
            said.append(f"encoding {self.encoding}")
        return ", ".join(said)


def counts_text(counts: Counter[str]) -> str:
    """Return what was empty or skipped, such as "2 empty texts, 1 file skipped (.pdf)"."""
    said = [
        f"{counts[one]:,} {one}{'s' * (counts[one] != 1)}{after}"
        for one, after in (("empty text", ""), ("blank row", " skipped"))
        if counts[one]
    ]
    skipped = {one: n for one, n in sorted(counts.items()) if one.startswith(".")}
    if n_files := sum(skipped.values()):
        said.append(f"{n_files:,} file{'s' * (n_files > 1)} skipped ({', '.join(skipped)})")
    if n_without := counts["without id"]:
        some = f"{n_without:,} without id " if n_without < counts["document"] else ""
        said.append(f"{some}numbered by row")
    return ", ".join(said)


def plain_name(name: str) -> str:
    """Return a heading without case, blanks and MARC's indicators and subfield.

    Examples
    --------
    >>> plain_name("Subject headings"), plain_name("SubjectHeading(s)"), plain_name("650_7 $a")
    ('subject_headings', 'subject_headings', '650')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("(s)", "s"))
    plain = "_".join(unicodedata.normalize("NFC", spaced).casefold().split())
    return re.sub(r"(\d{3})[_#\d]{0,4}\$a", r"\1", plain)


def find_names(wanted: Field, there: Iterable[str]) -> list[str]:
    """Return the keys or columns of a field.

    The preferred name of :data:`NAMES` is used. Labels may be in several columns: repeated ones, or
    numbered ones as ``subject_1`` and ``subject_2``.

    Examples
    --------
    >>> find_names("labels", ["ID", "Subject 1", "Subject 2", "Keyword"])
    ['Subject 1', 'Subject 2']
    """
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(there):
        plain = plain_name(name)
        if wanted == "labels" and plain not in NAMES["labels"]:
            plain = re.sub(r"_?\d{1,2}$", "", plain)
        found.setdefault(plain, []).append(name)
    best = next((found[name] for name in NAMES[wanted] if name in found), [])
    return best if wanted == "labels" else best[:1]


def find_name(wanted: Field, there: Iterable[str]) -> str | None:
    """Return the first key or column of a field; ``None``: it is not there."""
    return next(iter(find_names(wanted, there)), None)


def find_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Return labels that differ from a more frequent one by case, blanks or end punctuation only.

    Examples
    --------
    >>> find_spellings({"ACQ": 3, "acq.": 1, "Acq": 2, "earn": 7})
    {'Acq': 'ACQ', 'acq.': 'ACQ'}
    """
    best: dict[str, str] = {}
    merged: dict[str, str] = {}
    for label in sorted(counts, key=lambda label: (-counts[label], label)):
        plain = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
        winner = best.setdefault(plain.strip(" .,;:") or plain, label)
        if winner != label:
            merged[label] = winner
    return merged


def find_delimiter(header: str, usual: str, named: Sequence[str], wanted: Sequence[Field]) -> str:
    """Return what stands between the columns of a table: what splits its header best.

    Parameters
    ----------
    header : str
        The first line.
    usual : str
        What files of this ending have.
    named : sequence of str
        Columns that must be there.
    wanted : sequence of str
        Fields that are looked for.

    Examples
    --------
    >>> find_delimiter("id;text;labels", ",", [], ["text"])
    ';'
    """

    def fit(sign: str) -> tuple[int, int]:
        row = next(csv.reader([header.replace("\r", "")], delimiter=sign), [])
        cells = [cell.strip() for cell in row]
        n_named = sum(name in cells for name in named)
        fields: tuple[Field, ...] = (*wanted, "title")
        n_named += sum(find_name(one, cells) is not None for one in fields)
        return n_named, len(cells)

    return max((usual, *(sign for sign in DELIMITERS if sign != usual)), key=fit)


def find_separator(cells: Iterable[str], name: str) -> str | None:
    """Return what stands between the labels in the cells of a table; ``None``: nothing does.

    ``;``, ``|`` and line ends hardly occur in labels; commas and blanks do. Blanks and commas
    separate URIs; commas also separate labels if most parts occur in other cells as well.

    Parameters
    ----------
    cells : iterable of str
        Of the first rows.
    name : str
        Name of the file in errors.

    Examples
    --------
    >>> find_separator(["tea | sugar", "milk; hot | tea | milk; cold", "sugar"], "news.csv")
    '|'
    >>> find_separator(["http://example.org/tea http://example.org/milk"], "news.csv")
    ' '
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    if lists := [cell for cell in filled if _LIST.match(cell)]:
        raise ValueError(
            f"{name}: labels in a cell must have a sign between them, as tea;milk, got a list, "
            f"{lists[0][:60]!r}. Write JSON lines, or join the labels before the table is written."
        )
    signs = (LABEL_SEPARATOR, "|", "\n", ",", " ")
    counts = {sign: sum(sign in cell for cell in filled) for sign in signs}
    best = max(signs[:3], key=counts.__getitem__)
    if not counts[best]:
        of_uris = (sign for sign in ", " if counts[sign] and _are_uris(filled, sign))
        best = next(of_uris, "," if _are_labels(filled) else best)
    others = [sign for sign in signs[:4] if sign != best]
    other = max(others, key=counts.__getitem__)
    least = max(_OFTEN * len(filled), 10 * counts[best])
    if best not in ", " and len(filled) >= _SOME and counts[other] > least:
        example = next(cell for cell in filled if other in cell)
        raise ReadingError(
            f"{name}: {other!r} is in {counts[other] / len(filled):.0%} of the label cells, as in "
            f"{example[:60]!r}. Does it separate labels, or is it part of labels (then the "
            f"separator is {best!r})?",
            separator=other,
        )
    return best if counts[best] else None


#: A list as Python and JSON write it.
_LIST = re.compile(r"""\[(?:\]|\s*["'])""")


def _are_labels(cells: Sequence[str]) -> bool:
    """Whether the parts between commas are labels: most of them are in other cells as well."""
    parts = [{part.strip() for part in cell.split(",")} for cell in dict.fromkeys(cells)]
    times = Counter(part for some in parts for part in some)
    split = [part for some in parts for part in some if len(some) > 1]
    return len(split) > _SOME and sum(times[part] > 1 for part in split) > 0.8 * len(split)


def _are_uris(cells: Sequence[str], sign: str) -> bool:
    """Whether all parts between signs are URIs, with or without angle brackets."""
    parts = (part.strip() for cell in cells for part in cell.split(sign))
    return all(re.match(r"<?\w+://", part) for part in parts if part)


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


def split_cell(separator: str, cell: str, _wanted: Field, place: str) -> dict[str, str]:
    """Return the labels in a cell of a table."""
    labels = {label: "" for part in cell.split(separator) if (label := label_in(part))}
    if joined := [label for label in labels if _JOINED.match(label)]:
        rule = f"{place}: a label must be one URI, got {joined[0][:60]!r}."
        raise ReadingError(rule, separator="SIGN")
    return labels


def split_uris(cell: str, _wanted: Field, place: str) -> dict[str, str]:
    """Return the URIs in a cell, with or without angle brackets, and blanks or signs between."""
    matches = {word: _URI.fullmatch(word) for word in URI_BREAK.split(cell) if word}
    if wrong := [word for word, match in matches.items() if match is None]:
        raise ValueError(
            f"{place}: labels must be URIs in angle brackets with blanks between, got "
            f"{wrong[0]!r}. Is the file cut off?"
        )
    return {match[1] or match[2]: "" for match in matches.values() if match}


#: Usual placeholders of an empty label set.
NO_LABELS = frozenset(["n/a", "na", "none", "null", "nan", "-", "--", "?", "unknown", "k.a."])


def placeholders(labels: Mapping[str, int] | Iterable[str]) -> list[str]:
    """Return labels that look like placeholders of an empty label set.

    Examples
    --------
    >>> placeholders(["tea", "N/A"])
    ['N/A']
    """
    return [label for label in labels if str(label).strip().lower() in NO_LABELS]
