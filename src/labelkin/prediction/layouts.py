"""Answers → lines of JSON, CSV or TSV; and back from a line to the document it is about."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from labelkin.prediction.answers import Answer

#: Stands between the labels of a document in a table, as in corpora that are tables.
SEPARATOR = ";"


@dataclass(frozen=True)
class Layout:
    """How answers are written.

    Attributes
    ----------
    header
        The first line; empty where there is none.
    line
        From an answer to its line, with its end.
    id_of
        From a line to the id of its document, as text.
    """

    header: str
    line: Callable[[Answer], str]
    id_of: Callable[[str], str]


def make_layout(kind: str, labels: Sequence[Any], all_scores: bool = False) -> Layout:
    """Return how answers are written.

    Parameters
    ----------
    kind
        ``"jsonl"``, ``"csv"`` or ``"tsv"``.
    labels
        The labels of the model, in column order.
    all_scores
        Whether the probability of every label is told, not only of those that are given.

    Examples
    --------
    >>> import numpy as np
    >>> answer = Answer("a7", np.array([1]), np.array([0.25, 0.75]))
    >>> print(make_layout("jsonl", ["sugar", "tea"]).line(answer), end="")
    {"id": "a7", "labels": ["tea"], "probabilities": {"tea": 0.75}}
    >>> table = make_layout("csv", ["sugar", "tea"], all_scores=True)
    >>> print(table.header + table.line(answer), end="")
    id,labels,sugar,tea
    a7,tea,0.25,0.75
    """
    if kind not in LAYOUTS:
        listed = ", ".join(map(repr, LAYOUTS))
        raise ValueError(f"The format of answers must be one of {listed}, got {kind!r}.")
    return LAYOUTS[kind]([str(label) for label in labels], all_scores)


def _json_layout(labels: list[str], all_scores: bool) -> Layout:
    return Layout("", partial(_json_line, labels, all_scores), _json_id)


def _json_line(labels: list[str], all_scores: bool, answer: Answer) -> str:
    told = range(len(labels)) if all_scores else answer.given.tolist()
    record = {
        "id": answer.id,
        "labels": [labels[j] for j in answer.given],
        "probabilities": {labels[j]: _rounded(answer.probabilities[j]) for j in told},
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def _json_id(line: str) -> str:
    return str(json.loads(line)["id"])


def _table_layout(labels: list[str], all_scores: bool, *, delimiter: str) -> Layout:
    wrong = [label for label in labels if SEPARATOR in label or len(label.splitlines()) > 1]
    if wrong:
        raise ValueError(
            f"In a table labels are separated by {SEPARATOR!r} and stand on one line, and the "
            f"model has the label {wrong[0]!r} ({len(wrong)} such). Use the format jsonl."
        )
    columns = labels if all_scores else ["probabilities"]
    return Layout(
        _row(["id", "labels", *columns], delimiter),
        lambda answer: _row(_cells(labels, all_scores, answer), delimiter),
        lambda line: next(csv.reader([line], delimiter=delimiter))[0],
    )


def _cells(labels: list[str], all_scores: bool, answer: Answer) -> list[Any]:
    told = slice(None) if all_scores else answer.given
    numbers = [_rounded(p) for p in answer.probabilities[told]]
    given = SEPARATOR.join(labels[j] for j in answer.given)
    scores = numbers if all_scores else [SEPARATOR.join(map(str, numbers))]
    return [answer.id, given, *scores]


def _row(cells: Sequence[Any], delimiter: str) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return file.getvalue()


def _rounded(probability: float) -> float:
    """Six digits: more would tell apart what rounding makes of batches of another size."""
    return float(f"{probability:.6g}")


LAYOUTS: dict[str, Callable[[list[str], bool], Layout]] = {
    "jsonl": _json_layout,
    "csv": partial(_table_layout, delimiter=","),
    "tsv": partial(_table_layout, delimiter="\t"),
}
"""How answers can be written, by name."""
