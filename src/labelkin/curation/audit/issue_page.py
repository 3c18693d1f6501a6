"""The page of an audit: label by label how many errors are expected, and examples with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from labelkin.curation.audit import LabelErrors
from labelkin.curation.audit.shown_issues import ShownIssue, Word
from labelkin.pages import page_template

#: Issues that are shown of one label, and characters of a text.
_MOST_EXAMPLES, _MOST_CHARACTERS = 20, 1_500
#: How loudly a word is marked, as a part of the loudest one.
_STRENGTHS = ((0.4, "strong"), (0.15, "medium"), (0.04, "weak"))
_PARTS = {
    "prior": "how common the label is",
    "content": "the text",
    "other labels": "the other labels",
    "number of labels": "the number of labels",
    "noise": "how common such errors are",
    "rules": "rules",
}


class Piece(NamedTuple):
    """A piece of a text: whether it speaks for the change or against it, and how loudly."""

    text: str
    side: str = ""
    strength: str = ""


def audit_page(
    name: str,
    issues: Sequence[ShownIssue],
    label_errors: Sequence[LabelErrors],
    n_errors: float,
    notes: Sequence[str] = (),
) -> str:
    """Return the page; all text in it is escaped, and it asks no other host for anything.

    Parameters
    ----------
    name
        Of the corpus.
    issues
        The surest ones, the surest first.
    label_errors
        How many errors are expected, label by label.
    n_errors
        And in all.
    notes
        What a reader should know.
    """
    of_label: dict[str, list[ShownIssue]] = {}
    for issue in issues:
        of_label.setdefault(issue.label, []).append(issue)
    errors = sorted(label_errors, key=lambda one: -(one.missing + one.wrong))
    rows = [one for one in errors if str(one.label) in of_label or one.missing + one.wrong >= 0.5]
    sections = [
        {
            "label": label,
            "key": f"label-{k}",
            "examples": [_example(issue) for issue in of_label[label][:_MOST_EXAMPLES]],
            "n_more": len(of_label[label][_MOST_EXAMPLES:]),
        }
        for k, one in enumerate(errors)
        if (label := str(one.label)) in of_label
    ]
    return page_template("audit.html").render(
        name=name,
        n_errors=n_errors,
        missing=sum(one.missing for one in label_errors),
        wrong=sum(one.wrong for one in label_errors),
        issues=issues,
        notes=notes,
        rows=rows,
        keys={section["label"]: section["key"] for section in sections},
        listed={label: len(found) for label, found in of_label.items()},
        sections=sections,
    )


def marked_text(text: str, words: Sequence[Word]) -> Iterator[Piece]:
    """Yield a text in pieces, those that speak for the change or against it apart.

    Examples
    --------
    >>> [piece.text for piece in marked_text("Hot tea, teas.", [Word("tea", ["tea"], 1.0)])]
    ['Hot ', 'tea', ', teas.']
    """
    most = max((abs(word.log_odds) for word in words), default=0.0)
    marks: dict[str, Piece] = {}
    for word in words:
        share = abs(word.log_odds) / most if most else 0.0
        strength = next((name for least, name in _STRENGTHS if share >= least), "")
        for spelled in word.words if strength else ():
            side = "for" if word.log_odds > 0 else "against"
            marks[spelled.lower()] = Piece("", side, strength)
    if not marks:
        yield Piece(text)
        return
    any_word = "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))
    end = 0
    for match in re.finditer(rf"(?<!\w)(?:{any_word})(?!\w)", text, re.IGNORECASE):
        mark = marks.get(match[0].lower())
        if mark is not None:
            yield Piece(text[end : match.start()])
            yield mark._replace(text=match[0])
            end = match.end()
    yield Piece(text[end:])


def _example(issue: ShownIssue) -> dict[str, Any]:
    text = issue.text[:_MOST_CHARACTERS]
    cut = len(issue.text) > len(text)
    return {
        "issue": issue,
        "percent": f"{100 * issue.probability:.0f}",
        "parts": [
            (_PARTS.get(name, name), value)
            for name, value in sorted(issue.parts.items(), key=lambda part: -abs(part[1]))
        ],
        "pieces": [*marked_text(text, issue.words), *([Piece(" …")] if cut else [])],
    }
