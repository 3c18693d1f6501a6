"""Audit of a corpus: issues as JSON lines, as a table to edit, and as an HTML page.

A record is one issue with names, texts and words: a line of JSON, a row of the table, an example
on the page, and an issue of ``labelkin serve --review``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from labelkin.content.term_contributions import terms_of
from labelkin.corpora import Corpus
from labelkin.corpora.corpus import labels_of
from labelkin.curation.audit.issues import (
    Issue,
    LabelErrors,
    other_label,
    reasons,
    similar_text,
)
from labelkin.curation.audit.label_audit import FEWEST, LabelAudit
from labelkin.curation.corrections import fingerprint_of
from labelkin.explain.contributions import explain_terms
from labelkin.files import csv_text, write_atomic
from labelkin.models.builder import build_content, build_steps, plan_content
from labelkin.pages import page_template
from labelkin.text import WordCounts, surface_forms

Record = Mapping[str, Any]

#: Maximum number of characters of a text in a record, on the page, and of its beginning.
_RECORD_TEXT, _PAGE_TEXT, _BEGINNING = 20_000, 1_500, 240
#: Maximum number of other labels in a record, of words in a row, and of examples of a label.
_MOST_LABELS, _MOST_WORDS, _MOST_EXAMPLES = 8, 5, 20
#: Maximum number of words of an issue.
_EXPLAINED_WORDS = 12
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Words are marked if their contribution is at least this share of the largest one.
_MARKED = 0.15
_COLUMNS = ("document", "label", "kind", "given", "repair", "probability", "decision", "reason")
_PARTS = {
    "prior": "how common the label is",
    "content": "the text",
    "other labels": "the other labels",
    "number of labels": "the number of labels",
    "noise": "how common such errors are",
    "rules": "rules",
}


class CorpusAudit(NamedTuple):
    """A fitted audit, records of its issues, and the numbers of documents and labels."""

    audit: LabelAudit
    records: list[dict[str, Any]]
    shape: tuple[int, int]


def check_auditable(corpus: Corpus, all_documents: bool = False) -> None:
    """Raise for a corpus that is too small for cross-validation, or has no label to learn."""
    labels = labels_of(corpus).rows(_part(corpus, all_documents))
    if labels.shape[0] < FEWEST:
        raise ValueError(
            f"An audit needs at least {FEWEST} documents, so that each can be compared with a "
            f"model of the others, and {corpus.name} has {labels.shape[0]}."
        )
    positive, known = labels.counts()
    if not ((positive >= 2) & (known - positive >= 2)).any():
        raise ValueError(
            f"An audit needs a label that at least 2 documents have and 2 lack, got "
            f"{labels.shape[1]} labels of {corpus.name} without such a label."
        )


def audit_corpus(
    corpus: Corpus,
    content: str = "svm",
    labels: str = "logistic",
    *,
    words: Mapping[str, Any] = {},
    rules: Any = None,
    label_names: Mapping[str, str] = {},
    all_documents: bool = False,
    top: int | None = None,
    most: int = 1000,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> CorpusAudit:
    """Audit the labels of a corpus.

    Parameters
    ----------
    corpus : Corpus
        Texts or vectors.
    content, labels : str
        Names of content classifiers, separated by commas, and of the label classifier.
    words : mapping
        Parameters of ``WordCounts``.
    rules : Rules, optional
        As in :class:`~labelkin.curation.audit.LabelAudit`.
    label_names : mapping of labels to names
        Names in a vocabulary.
    all_documents : bool, default False
        Whether test documents are audited.
    top, most : int
        Number of issues; default those that are worth reading, at most ``most``.
    n_jobs, random_state
        As in :class:`~labelkin.curation.audit.LabelAudit`.

    Returns
    -------
    CorpusAudit
    """
    check_auditable(corpus, all_documents)
    part = _part(corpus, all_documents)
    given = labels_of(corpus).rows(part)
    plan = plan_content(names=content.split(","), features=corpus.features)
    steps = build_steps(plan, WordCounts(**words))
    X: Any = corpus.documents[part]
    for step in steps:
        X = step.fit_transform(X)
    audit = LabelAudit(
        build_content(plan),
        labels=labels,
        rules=rules,
        n_jobs=n_jobs,
        random_state=random_state,
    ).fit(X, given)
    names, label_sets = corpus.names(), given.label_sets()
    ids = [names[i] for i in part]
    texts: Any = corpus.documents[part] if corpus.features == "text" else None
    terms = terms_of(make_pipeline(*steps), corpus.terms) if steps else corpus.terms
    records = []
    for issue in audit.issues(min(audit.list_end_, most) if top is None else top):
        text = None if texts is None else str(texts[issue.document])
        forms = {} if text is None else surface_forms(text, steps[0])
        found = _words(issue, audit.content_, X, terms, forms)
        records.append(issue_record(issue, ids, label_sets, texts, found, label_names))
    return CorpusAudit(audit, records, given.shape)


def _part(corpus: Corpus, all_documents: bool) -> NDArray[np.intp]:
    return np.arange(corpus.Y.shape[0]) if all_documents else corpus.train


def _words(
    issue: Issue, classifier: Any, X: Any, terms: Any, forms: Mapping[Any, Any]
) -> list[dict[str, Any]]:
    """Return the contributions of the strongest terms to the log-odds of the change."""
    explained = explain_terms(classifier, X[[issue.document]], [issue.label], top=_EXPLAINED_WORDS)
    if explained is None:
        return []
    sign = -1.0 if issue.given else 1.0
    words = []
    for term, added, _ in explained[0][0].terms:
        name = str(terms[term]) if terms is not None and isinstance(term, int) else str(term)
        spelled = list(dict.fromkeys(form.word for form in forms.get(name, ())))
        words.append({"term": name, "words": spelled, "log_odds": round(sign * added, 4)})
    return words


def issue_record(
    issue: Issue,
    ids: Sequence[str],
    label_sets: Sequence[Sequence[Any]],
    texts: Sequence[str] | None,
    words: Sequence[Record] = (),
    names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return an issue as plain values, with ids and texts in place of rows.

    Parameters
    ----------
    issue : Issue
        An issue of an audit.
    ids, label_sets, texts : sequences of length n_documents
        All documents of the audit; ``texts`` is ``None`` for vectors.
    words : sequence of mappings
        Terms of the document, their spellings and their contributions to the log-odds of the
        change: ``term``, ``words``, ``log_odds``.
    names : mapping of labels to names, optional
        Names in a vocabulary.

    Returns
    -------
    dict
        ``decision`` is empty; ``parts``, ``because_of`` (other labels) and ``words`` are positive
        if they support the change; ``fingerprint`` is that of the whole text.
    """

    def text_of(row: int) -> str:
        return "" if texts is None else str(texts[row])

    def labels_of(row: int) -> list[str]:
        return [str(label) for label in label_sets[row]]

    text, label = text_of(issue.document), str(issue.label)
    because_of = [
        {"label": str(one.label), "given": one.value > 0, "log_odds": round(one.log_odds, 4)}
        for one in issue.labels[:_MOST_LABELS]
    ]
    similar: list[dict[str, Any]] = [
        {
            "document": ids[one.document],
            "similarity": round(one.similarity, 4),
            "given": one.given,
            "labels": labels_of(one.document),
            "text": beginning(text_of(one.document)),
        }
        for one in issue.similar
    ]
    record: dict[str, Any] = {
        "document": ids[issue.document],
        "label": label,
        "kind": issue.kind,
        "given": issue.given,
        "repair": issue.repair,
        "probability": round(issue.probability, 6),
        "decision": "",
        "reason": re.sub(r"^document (\d+)", lambda m: f"document {ids[int(m[1])]}", issue.reason),
        "parts": {name: round(value, 4) for name, value in issue.parts.items()},
        "because_of": because_of,
        "words": list(words),
        "similar": similar,
        "labels": labels_of(issue.document),
        "text": text[:_RECORD_TEXT],
        "fingerprint": fingerprint_of(text) if text else "",
    }
    if names:
        others = [one["label"] for one in because_of]
        mentioned = [label, *others, *(x for one in (record, *similar) for x in one["labels"])]
        record["names"] = {one: names.get(one, one) for one in dict.fromkeys(mentioned)}
    return record


def with_names(record: Record) -> Record:
    """Return a record with names in place of labels."""
    names = record.get("names")
    if not names:
        return record
    return {
        **record,
        "label": names[record["label"]],
        "because_of": [{**one, "label": names[one["label"]]} for one in record["because_of"]],
        "labels": [names[label] for label in record["labels"]],
        "similar": [
            {**one, "labels": [names[label] for label in one["labels"]]}
            for one in record["similar"]
        ],
    }


def beginning(text: str) -> str:
    r"""Return the beginning of a text, on one line.

    Examples
    --------
    >>> beginning("Tea,\n  with sugar.")
    'Tea, with sugar.'
    """
    line = " ".join(text[: 4 * _BEGINNING].split())
    return line if len(line) <= _BEGINNING else f"{line[:_BEGINNING].rsplit(' ', 1)[0]} …"


def because(record: Record) -> str:
    """Return the strongest reasons for the change, the text included, then those against it.

    Examples
    --------
    >>> because({"parts": {"content": 1.5, "other labels": 3.21}, "reason": "",
    ...          "because_of": [{"label": "wheat", "given": True, "log_odds": 3.21}]})
    'wheat +3.2; content +1.5'
    """
    others = [
        (other_label(one["label"], one["given"]), one["log_odds"]) for one in record["because_of"]
    ]
    return reasons(record["parts"], others, record["reason"])


def write_issues(records: Sequence[Record], path: Path) -> None:
    """Write records: a table if the name ends in .csv or .tsv, otherwise JSON lines.

    Reviewers write change, keep or cannot say into the column ``decision`` of the table. No cell
    is a formula in a spreadsheet.
    """
    delimiter = _DELIMITERS.get(path.suffix.lower())
    if delimiter is None:
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    else:
        rows = [_row(one) for one in records]
        head = list(rows[0]) if rows else list(_COLUMNS)
        text = csv_text([head, *(list(row.values()) for row in rows)], delimiter)
    write_atomic(path, text.encode("utf-8", "backslashreplace"))


def _row(record: Record) -> dict[str, Any]:
    """Return the cells of a record by column."""
    words = [(one["words"] or [one["term"]], one["log_odds"]) for one in record["words"]]
    similar = [(one["document"], one["similarity"], one["given"]) for one in record["similar"]]
    return {
        **{name: record[name] for name in _COLUMNS},
        "given": "yes" if record["given"] else "no",
        **({"name": record["names"][record["label"]]} if "names" in record else {}),
        **record["parts"],
        "because of": because(record),
        "words": "; ".join(f"{spelled[0]} {added:+.1f}" for spelled, added in words[:_MOST_WORDS]),
        "similar": "; ".join(similar_text(*one) for one in similar),
        "labels": "; ".join(record["labels"]),
        "text": beginning(record["text"]),
        "fingerprint": record["fingerprint"],
    }


def audit_page(
    name: str,
    records: Sequence[Record],
    label_errors: Sequence[LabelErrors],
    n_errors: float,
    notes: Sequence[str] = (),
) -> str:
    """Return the page; all text in it is escaped, and it loads nothing from other hosts.

    Parameters
    ----------
    name : str
        Name of the corpus.
    records : sequence of mappings
        Issues, the most probable ones first.
    label_errors : sequence of LabelErrors
        Expected numbers of errors by label.
    n_errors : float
        Expected number of errors in all.
    notes : sequence of str
        Notes for readers.

    Returns
    -------
    str
    """
    of_label: dict[str, list[Record]] = {}
    for record in records:
        of_label.setdefault(record["label"], []).append(record)
    errors = sorted(label_errors, key=lambda one: -(one.missing + one.wrong))
    rows = [one for one in errors if str(one.label) in of_label or one.missing + one.wrong >= 0.5]
    sections = [
        {
            "label": label,
            "key": f"label-{k}",
            "examples": [_example(record) for record in of_label[label][:_MOST_EXAMPLES]],
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
        issues=records,
        notes=notes,
        rows=rows,
        keys={section["label"]: section["key"] for section in sections},
        listed={label: len(found) for label, found in of_label.items()},
        sections=sections,
    )


def marked_text(text: str, words: Sequence[Record]) -> list[tuple[str, str]]:
    """Return a text in pieces, each with "for" or "against" if it is evidence for the change.

    Examples
    --------
    >>> tea = {"term": "tea", "words": ["tea"], "log_odds": 1.0}
    >>> marked_text("Hot tea, teas.", [tea])
    [('Hot ', ''), ('tea', 'for'), (', teas.', '')]
    """
    least = _MARKED * max((abs(word["log_odds"]) for word in words), default=0.0)
    sides = {
        spelled.lower(): "for" if word["log_odds"] > 0 else "against"
        for word in words
        if abs(word["log_odds"]) >= least
        for spelled in word["words"]
    }
    if not sides:
        return [(text, "")]
    any_word = "|".join(map(re.escape, sorted(sides, key=len, reverse=True)))
    pieces = re.split(rf"(?<!\w)({any_word})(?!\w)", text, flags=re.IGNORECASE)
    return [(piece, sides.get(piece.lower(), "")) for piece in pieces]


def _example(record: Record) -> dict[str, Any]:
    text = record["text"][:_PAGE_TEXT]
    parts = sorted(record["parts"].items(), key=lambda part: -abs(part[1]))
    return {
        "issue": record,
        "percent": f"{100 * record['probability']:.0f}",
        "parts": [(_PARTS.get(name, name), value) for name, value in parts],
        "pieces": marked_text(text, record["words"]),
        "is_cut": len(record["text"]) > len(text),
    }
