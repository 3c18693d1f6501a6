"""Corrections of given labels: decisions of people, and the changes made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from labelkin.corpora.lines import decoded_lines, json_objects, table_rows
from labelkin.files import plain_cell

_Answer = Literal["change", "keep", "cannot say"]
ANSWERS: tuple[str, ...] = get_args(_Answer)
"""The possible decisions on an issue."""

_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_NEEDED = ("document", "label", "given")
_SPREADSHEETS_DELIMITERS = ",;\t"


class Decision(NamedTuple):
    """A decision on one cell of a corpus that may be wrong.

    Attributes
    ----------
    document, label : str
        Id of the document, or its number from 1 where it has none; name of the label.
    given : bool
        The label in the corpus: ``True`` if the document has it. The change is the opposite.
    answer : {"change", "keep", "cannot say", ""}
        The decision of a person; ``""``: undecided.
    probability : float, default NaN
        Probability that the corpus is wrong.
    fingerprint : str, default ""
        Fingerprint of the document's text (:func:`fingerprint_of`), by which a changed text is
        detected; ``""``: not checked.
    """

    document: str
    label: str
    given: bool
    answer: _Answer | Literal[""] = ""
    probability: float = math.nan
    fingerprint: str = ""


def fingerprint_of(text: str) -> str:
    """Return a short hash of a text.

    Examples
    --------
    >>> fingerprint_of("Tea with sugar.")
    'xe11511b10921'
    """
    # A letter in front, so that no spreadsheet takes it for a number.
    return "x" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def read_decisions(path: Path, encoding: str | None = None) -> list[Decision]:
    """Read a list of issues: an edited table (CSV, TSV), or JSON lines.

    Columns are ``document``, ``label`` and ``given``, and maybe ``decision``, ``probability`` and
    ``fingerprint``. Tables saved by a spreadsheet, with semicolons or tabs and in Windows-1252, are
    read too.
    """
    lines = decoded_lines(path, encoding)
    first = next(lines, "")
    read = json_objects if first.lstrip().startswith("{") else _table_records
    found: Iterable[tuple[str, Mapping[str, Any]]] = read(chain([first], lines), path.name)
    return [_decision(place, record) for place, record in found]


def chosen_changes(
    decisions: Iterable[Decision], at_least: float | None = None
) -> dict[tuple[str, str], Decision]:
    """Return the cells to change: those decided so, and undecided ones above a probability.

    Parameters
    ----------
    decisions
        In any order.
    at_least : float, optional
        Undecided cells are changed from this probability on; default: never.
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
class Corrections:  # numpydoc ignore=PR02
    """Changes to make in the documents of one corpus, and their counts.

    Parameters
    ----------
    changes : iterable of Decision
        One for a cell.

    Attributes
    ----------
    added, removed : int
        Labels that were added to a document, or removed from one.
    already : int
        Changes that the corpus already has.
    other_text : int
        Changes left out because the text of the document has changed since the audit.
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
        """Documents of changes that the corpus does not contain."""
        return [document for document in self._of if document not in self._met]

    def summary(self) -> str:
        """Return the counts in words."""
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


def _table_records(lines: Iterable[str], called: str) -> Iterator[tuple[str, dict[str, str]]]:
    lines = iter(lines)
    first = next(lines, "")
    delimiter = max(_SPREADSHEETS_DELIMITERS, key=first.count)
    rows = table_rows(chain([first], lines), called, delimiter)
    header = [name.strip() for name in next(rows, ("", []))[1]]
    for place, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{place}: a row must have the header's {len(header)} cells, got {len(row)}."
            )
        if any(row):
            yield place, dict(zip(header, map(plain_cell, row), strict=True))


def _decision(place: str, record: Mapping[str, Any]) -> Decision:
    missing = [name for name in _NEEDED if name not in record]
    if missing:
        rule = f"{place}: an issue must have {', '.join(_NEEDED)}, got no {', '.join(missing)}."
        raise ValueError(f"{rule} labelkin audit --out writes a list of issues.")
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
