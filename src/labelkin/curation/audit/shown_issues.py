"""Issues of an audit as people read them: with texts, words and names of documents.

One record is a line of JSON, a row of a table, an example on a page, and what the review view of a
service shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from labelkin.curation.audit import Issue
from labelkin.curation.audit.issue_table import reasons
from labelkin.curation.corrections import fingerprint_of
from labelkin.files import csv_text, write_atomic

#: Of a long text nobody reads more.
MOST_TEXT = 20_000
_BEGINNING = 240
_MOST_LABELS = 8
_ENDINGS = {".csv": ",", ".tsv": "\t"}


class Word(NamedTuple):
    """What a term of the text adds to the log-odds of the change, and the words it stands for."""

    term: str
    words: list[str]
    log_odds: float


class OtherLabel(NamedTuple):
    """What another label adds to the log-odds of the change, whether the document has it or not."""

    label: str
    given: bool
    log_odds: float


class SimilarText(NamedTuple):
    """A similar document: its name, how similar, whether it has the label, labels, beginning."""

    document: str
    similarity: float
    given: bool | None
    labels: list[str]
    text: str


@dataclass(frozen=True, kw_only=True)
class ShownIssue:
    """A cell of a corpus that is probably wrong, with all that a person needs to decide.

    Attributes
    ----------
    document, label, kind, given, repair, probability, reason, parts
        As in :class:`labelkin.curation.audit.Issue`; the document by its name.
    decision
        What a person says; empty at first.
    because_of
        The other labels that add most, for (positive) and against the change.
    words
        The terms of the text that add most, likewise.
    similar
        Similar documents.
    labels
        All labels of the document.
    text
        The document, at most its first 20,000 characters; empty where it is no text.
    fingerprint
        Of the whole text.
    names
        What people call the labels that are mentioned, where a vocabulary says so.
    """

    document: str
    label: str
    kind: str
    given: bool
    repair: str
    probability: float
    decision: str = ""
    reason: str = ""
    parts: dict[str, float] = field(default_factory=dict)
    because_of: list[OtherLabel] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    similar: list[SimilarText] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    text: str = ""
    fingerprint: str = ""
    names: dict[str, str] = field(default_factory=dict)

    def called(self, names: Mapping[str, str]) -> ShownIssue:
        """Return the issue with what people call its labels beside them; no names: as it is."""
        if not names:
            return self
        others = (one.label for one in self.because_of)
        similar = (label for one in self.similar for label in one.labels)
        mentioned = dict.fromkeys((self.label, *others, *self.labels, *similar))
        return replace(self, names={label: names.get(label, label) for label in mentioned})

    def in_names(self) -> ShownIssue:
        """Return the issue with the names of labels in their place, for a page."""
        names = self.names
        if not names:
            return self
        return replace(
            self,
            label=names[self.label],
            because_of=[one._replace(label=names[one.label]) for one in self.because_of],
            labels=[names[label] for label in self.labels],
            similar=[
                one._replace(labels=[names[label] for label in one.labels]) for one in self.similar
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = asdict(self)
        for key in ("because_of", "words", "similar"):
            plain[key] = [one._asdict() for one in getattr(self, key)]
        if not self.names:
            del plain["names"]
        return plain


def shown_issue(
    issue: Issue,
    names: Sequence[str],
    label_sets: Sequence[Sequence[Any]],
    texts: Sequence[str] | None,
    words: Iterable[Word] = (),
) -> ShownIssue:
    """Return an issue with names and texts in place of rows.

    Parameters
    ----------
    issue
        Of an audit.
    names, label_sets, texts
        Of all documents of the audit; texts ``None``: they are vectors.
    words
        What the terms of the document add to the log-odds of the change.
    """
    text = "" if texts is None else str(texts[issue.document])
    return ShownIssue(
        document=names[issue.document],
        label=str(issue.label),
        kind=issue.kind,
        given=issue.given,
        repair=issue.repair,
        probability=round(issue.probability, 6),
        reason=re.sub(r"^document (\d+) ", lambda m: f"document {names[int(m[1])]} ", issue.reason),
        parts={name: round(value, 4) for name, value in issue.parts.items()},
        because_of=[
            OtherLabel(str(one.label), one.value > 0, round(one.log_odds, 4))
            for one in issue.labels[:_MOST_LABELS]
        ],
        words=list(words),
        similar=[
            SimilarText(
                names[one.document],
                round(one.similarity, 4),
                one.given,
                [str(label) for label in label_sets[one.document]],
                "" if texts is None else beginning(str(texts[one.document])),
            )
            for one in issue.similar
        ],
        labels=[str(label) for label in label_sets[issue.document]],
        text=text[:MOST_TEXT],
        fingerprint=fingerprint_of(text) if text else "",
    )


def beginning(text: str) -> str:
    r"""Return the beginning of a text, on one line.

    Examples
    --------
    >>> beginning("Tea,\n  with sugar.")
    'Tea, with sugar.'
    """
    line = " ".join(text[: 4 * _BEGINNING].split())
    return line if len(line) <= _BEGINNING else f"{line[:_BEGINNING].rsplit(' ', 1)[0]} …"


def write_issues(issues: Sequence[ShownIssue], path: Path) -> None:
    """Write issues whole: a table where the name ends in .csv or .tsv, else JSON lines.

    A table is for people: they write change, keep or cannot say into the column ``decision``. No
    cell of it is a formula to a spreadsheet.
    """
    delimiter = _ENDINGS.get(path.suffix.lower())
    if delimiter is None:
        lines = [json.dumps(one.to_dict(), ensure_ascii=False) + "\n" for one in issues]
        write_atomic(path, "".join(lines).encode("utf-8", "backslashreplace"))
        return
    parts = list(dict.fromkeys(name for one in issues for name in one.parts))
    head = ["document", "label", "kind", "given", "repair", "probability", "decision", "reason"]
    tail = ["because of", "words", "similar", "labels", "text", "fingerprint"]
    rows = [_row(one, parts) for one in issues]
    if any(one.names for one in issues):
        head.append("name")
        for row, one in zip(rows, issues, strict=True):
            row.insert(len(head) - 1, one.names.get(one.label, one.label))
    text = csv_text([[*head, *parts, *tail], *rows], delimiter)
    write_atomic(path, text.encode("utf-8", "backslashreplace"))


def because(issue: ShownIssue, most: int = 3) -> str:
    """Return the strongest reasons for the change, the text included, then those against it.

    Examples
    --------
    >>> because(ShownIssue(document="7", label="grain", kind="missing", given=False, repair="add",
    ...                    probability=0.9, parts={"content": 1.5, "other labels": 3.21},
    ...                    because_of=[OtherLabel("wheat", True, 3.21)]))
    'wheat +3.2; content +1.5'
    """
    others = [
        (f"{'' if one.given else 'no '}{one.label}", one.log_odds) for one in issue.because_of
    ]
    return reasons(issue.parts, others, issue.reason, most)


def _row(issue: ShownIssue, parts: Sequence[str]) -> list[Any]:
    has = {True: "has it", False: "lacks it", None: "unknown"}
    similar = [f"{s.document} ({s.similarity:.2f}, {has[s.given]})" for s in issue.similar]
    return [
        issue.document,
        issue.label,
        issue.kind,
        "yes" if issue.given else "no",
        issue.repair,
        issue.probability,
        issue.decision,
        issue.reason,
        *(issue.parts.get(name, 0.0) for name in parts),
        because(issue),
        "; ".join(
            f"{w.words[0] if w.words else w.term} {w.log_odds:+.1f}" for w in issue.words[:5]
        ),
        "; ".join(similar),
        "; ".join(issue.labels),
        beginning(issue.text),
        issue.fingerprint,
    ]
