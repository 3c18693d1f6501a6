"""What a file of documents does not say of itself: what keys are called, and what separates what.

Whatever is found out here can be named instead, and is reported (:class:`Understood`). Where two
answers are as good, that is an error which asks for the one that is meant.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Field = Literal["text", "title", "labels", "id", "split", "accepted", "rejected"]

#: What keys and columns are called, the best name first; capitals do not matter.
NAMES: dict[Field, tuple[str, ...]] = {
    "text": ("text", "abstract", "body", "content", "title"),
    "title": ("title", "headline"),
    "labels": (
        *("labels", "subjects", "subject_uris", "tags", "topics", "keywords", "categories"),
        "label",  # doccano's
    ),
    "id": ("id", "document_id", "doc_id"),
    "split": ("split",),
    "accepted": ("accepted",),
    "rejected": ("rejected",),
}
DELIMITERS = (",", ";", "\t", "|")
SEPARATOR = ";"
#: Share of the cells with labels, and their number, from which another sign is worth a question.
_OFTEN, _SOME = 0.2, 10
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass
class Understood:
    """What was found out while a source was read; ``None``: it was named, or was not needed.

    Attributes
    ----------
    delimiter, separator, encoding : str, optional
        Between columns, between labels, and of the bytes.
    columns : dict of str to str
        Fields whose keys or columns have another name than the field.
    """

    delimiter: str | None = None
    separator: str | None = None
    encoding: str | None = None
    columns: dict[Field, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return what is worth a word, such as "labels separated by '|'"; maybe nothing.

        Examples
        --------
        >>> str(Understood(delimiter=";", separator="|", columns={"text": "title"}))
        "columns separated by semicolons, separator '|', text from 'title'"
        """
        said = []
        if self.delimiter is not None:
            said.append(f"columns separated by {_WORDS[self.delimiter]}")
        if self.separator is not None:
            said.append(f"separator {self.separator!r}")
        said += [f"{wanted} from {name!r}" for wanted, name in self.columns.items()]
        if self.encoding is not None and not self.encoding.startswith("utf-8"):
            said.append(f"encoding {self.encoding}")
        return ", ".join(said)


def find_name(wanted: Field, there: Iterable[str], names: Sequence[str] = ()) -> str | None:
    """Return which of the keys or columns that are there is that of a field; ``None``: none.

    Examples
    --------
    >>> find_name("labels", ["ID", "Text", "Subjects"])
    'Subjects'
    """
    known = {name.strip().lower(): name for name in reversed(list(there))}
    return next((known[name] for name in names or NAMES[wanted] if name in known), None)


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
        cells = [cell.strip() for cell in next(csv.reader([header], delimiter=sign), [])]
        n_named = sum(name in cells for name in named)
        return n_named + sum(find_name(one, cells) is not None for one in wanted), len(cells)

    return max((usual, *(sign for sign in DELIMITERS if sign != usual)), key=fit)


def find_separator(cells: Iterable[str], name: str) -> str | None:
    """Return what stands between the labels in the cells of a table; ``None``: nothing does.

    ``;`` and ``|`` hardly occur in labels; commas do. They separate labels if most of what is
    between them occurs elsewhere, too.

    Parameters
    ----------
    cells : iterable of str
        Of the first rows.
    name : str
        What the error calls the file, where it cannot be said.

    Examples
    --------
    >>> find_separator(["tea | sugar", "milk; hot | tea | milk; cold", "sugar"], "news.csv")
    '|'
    """
    filled = [cell for cell in cells if cell.strip()]
    counts = {sign: sum(sign in cell for cell in filled) for sign in (SEPARATOR, "|", ",")}
    best = max(counts, key=lambda sign: counts[sign] * (sign != ","))
    if not counts[best]:
        best = "," if _are_labels(filled, ",") else best
    rivals = {sign: n for sign, n in counts.items() if sign != best}
    rival = max(rivals, key=rivals.__getitem__)
    least = max(_OFTEN * len(filled), 10 * counts[best])
    if best != "," and len(filled) >= _SOME and rivals[rival] > least:
        _ask(filled, rival, best, name)
    return best if counts[best] else None


def _are_labels(cells: Sequence[str], sign: str) -> bool:
    """Whether what stands between signs are labels: most of it is in other cells, too."""
    parts = [{part.strip() for part in cell.split(sign)} for cell in dict.fromkeys(cells)]
    times = Counter(part for some in parts for part in some)
    split = [part for some in parts if len(some) > 1 for part in some]
    return len(split) > _SOME and sum(times[part] > 1 for part in split) > 0.8 * len(split)


def _ask(cells: Sequence[str], sign: str, other: str, name: str) -> None:
    with_sign = [cell for cell in cells if sign in cell]
    share = round(100 * len(with_sign) / len(cells))
    raise ValueError(
        f"{name}: {sign!r} is in {share} % of the label cells, as in {with_sign[0][:60]!r}. Does "
        f"it separate labels? Then name separator {sign!r}. If it is part of labels, name "
        f"separator {other!r}."
    )


#: What people write where there is no label.
NO_LABELS = frozenset(["n/a", "na", "none", "null", "nan", "-", "--", "?", "unknown", "k.a."])


def placeholders(labels: Mapping[str, int] | Iterable[str]) -> list[str]:
    """Return labels that look like "there is none".

    Examples
    --------
    >>> placeholders(["tea", "N/A"])
    ['N/A']
    """
    return [label for label in labels if str(label).strip().lower() in NO_LABELS]
