"""Answers as lines of a file, which an interrupted run resumes.

Each batch is on the disk before the next. After a kill, the file contains whole lines and at most
one torn line, the last. To resume, the torn line is removed, the answers are compared with their
documents, and a note beside the file names the model and the options of the first run.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from labelkin.corpora.documents import TABLES, Document, DocumentFiles, Documents
from labelkin.files import annotate_os_errors, csv_text, plain_cell, to_disk, try_lock, write_atomic
from labelkin.prediction.fitted_model import Answer

#: Formats of answers; the last two are JSON lines that those programs import, with the texts.
FORMATS = ("jsonl", "csv", "tsv", "doccano", "prodigy")
WITH_TEXTS = frozenset({"doccano", "prodigy"})
#: Labels to choose from in Prodigy, unless all are wanted.
_MOST_OPTIONS = 20


@dataclass(frozen=True)
class Layout:
    """Format of answers in a file.

    Attributes
    ----------
    header : str
        The first line; empty if the format has no header.
    line : callable
        From an answer to its line, with the line end.
    id_of : callable
        From a line to the id of its document, as text.
    encoding : str, default "utf-8"
        An encoding in which a line feed is one byte.
    """

    header: str
    line: Callable[[Answer], str]
    id_of: Callable[[str], str]
    encoding: str = "utf-8"


def make_layout(
    kind: str,
    labels: Sequence[Any],
    all_scores: bool = False,
    names: Sequence[str] | None = None,
    **conventions: str,
) -> Layout:
    """Return the layout of a format.

    Parameters
    ----------
    kind : {"jsonl", "csv", "tsv", "doccano", "prodigy"}
        The format.
    labels : sequence
        The labels of the model, in column order.
    all_scores : bool, default False
        Whether the probability of every label is written, not only of the assigned labels.
    names : sequence of str, optional
        Names of the labels, written beside the assigned labels.
    **conventions : str
        For a table: ``delimiter`` between columns, ``separator`` between labels, and ``encoding``.

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
    texts = [str(label) for label in labels]
    if kind in TABLES:
        usual = {"delimiter": "\t" if kind == "tsv" else ","}
        return _table_layout(texts, all_scores, names, **(usual | conventions))
    record = {"jsonl": _record, "doccano": _doccano_record, "prodigy": _prodigy_record}[kind]

    def line(answer: Answer) -> str:
        return json.dumps(record(answer, texts, names, all_scores), ensure_ascii=False) + "\n"

    def id_of(text: str) -> str:
        found = json.loads(text)
        return str((found["meta"] if kind == "prodigy" else found)["id"])

    return Layout("", line, id_of)


@contextmanager
def answers_file(
    path: Path,
    layout: Layout,
    documents: Iterator[Document],
    note: Mapping[str, Any],
    *,
    resume: bool = False,
) -> Iterator[tuple[Callable[[str], None], int]]:
    """Open a new file of answers, or with ``resume`` an existing one.

    Yields a function that writes text, and the number of documents that have answers. The function
    returns when the text is on the disk; after an error, none of the text is in the file. A file
    that another process is writing is an error.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout
        The format of its lines.
    documents : iterator of Document
        All documents; with ``resume`` those that have answers are skipped.
    note : mapping
        Result of :func:`resume_note`; it is beside the file until the last answer is written.
    resume : bool, default False
        Whether to continue an existing file, which must have the same note.
    """
    note_file = path.with_name(f"{path.name}.resume.json")
    # Unbuffered: closing the file must not repeat a failed write.
    with path.open("ab" if resume and path.exists() else "xb", buffering=0) as file:
        if not try_lock(file.fileno()):
            raise ValueError(
                f"Answers are written by one process, and {path} is being written by another. Wait "
                "for that one, or name another file."
            )
        if path.stat().st_size and note_file.exists():
            _check_note(path, note_file, note)

        def write(text: str) -> None:
            rest = memoryview(text.encode(layout.encoding, "backslashreplace"))
            start = file.seek(0, os.SEEK_END)
            with annotate_os_errors(path):
                try:
                    while rest:
                        rest = rest[file.write(rest) :]
                    to_disk(file)
                except OSError:
                    with suppress(OSError):
                        file.truncate(start)
                    raise

        n_answered = _skip_answered(path, layout, documents)
        if not path.stat().st_size:
            write(layout.header)
        write_atomic(note_file, json.dumps(note, indent=1) + "\n")
        yield write, n_answered
    note_file.unlink(missing_ok=True)


def _skip_answered(path: Path, layout: Layout, documents: Iterator[Document]) -> int:
    """Skip the documents that have answers in a file; return their number.

    A torn line at the end is removed.
    """
    n_answered = n_bytes = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            n_bytes += len(line)
            text = line.decode(layout.encoding, "replace")
            if number > 1 or not layout.header:
                _check_line(f"{path}, line {number}", text, layout, next(documents, None))
                n_answered += 1
            elif text != layout.header:
                raise ValueError(
                    f"{path}, line 1: to resume, the header must be {layout.header.strip()!r:.80}, "
                    f"got {text.strip()!r:.80}. Use the format, labels and --all-scores of the "
                    "first run."
                )
    with annotate_os_errors(path):
        os.truncate(path, n_bytes)
    return n_answered


def _check_line(place: str, line: str, layout: Layout, document: Document | None) -> None:
    try:
        answered = layout.id_of(line)
    except (ValueError, KeyError, TypeError, IndexError):
        raise ValueError(
            f"{place}: to resume, it must be an answer in the given format, got "
            f"{line.strip()!r:.80}. Use the format of the first run, or another file."
        ) from None
    if document is None or answered != str(document.name):
        there = "no more documents" if document is None else repr(str(document.name))
        raise ValueError(
            f"{place} answers the document {answered!r}, where the input has {there}. It is not "
            "of this input: use another file."
        )


def resume_note(model: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that change answers, and the SHA-256 of the model file."""
    with model.open("rb") as file:
        return {**options, "model": hashlib.file_digest(file, "sha256").hexdigest()}


def _check_note(out: Path, path: Path, note: Mapping[str, Any]) -> None:
    """Raise if a file has answers of another model or other options."""
    try:
        first = dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise ValueError(
            f"{path} must name the model and options of the first run, and cannot be read. Delete "
            "it to resume without the check, or use another file."
        ) from None
    different = [name for name in note if first.get(name) != note[name]]
    if different:
        then, now = ({name: run.get(name) for name in different} for run in (first, note))
        raise ValueError(
            f"{out} must be resumed with the model and options of its first run, {then}, got "
            f"{now}. Use the same, or another file."
        )


def _record(
    answer: Answer, labels: Sequence[str], names: Sequence[str] | None, all_scores: bool
) -> dict[str, Any]:
    shown = range(len(labels)) if all_scores else answer.given.tolist()
    return {
        "id": answer.id,
        "labels": [labels[j] for j in answer.given],
        **({} if names is None else {"names": [names[j] for j in answer.given]}),
        "probabilities": {labels[j]: _rounded(answer.probabilities[j]) for j in shown},
    }


def _doccano_record(
    answer: Answer, labels: Sequence[str], names: Sequence[str] | None, all_scores: bool
) -> dict[str, Any]:
    names = names or labels
    shown = _ranked(answer) if all_scores else answer.given.tolist()
    return {
        "id": answer.id,
        "text": answer.text,
        "label": [names[j] for j in answer.given],
        "probabilities": {names[j]: _rounded(answer.probabilities[j]) for j in shown},
    }


def _prodigy_record(
    answer: Answer, labels: Sequence[str], names: Sequence[str] | None, all_scores: bool
) -> dict[str, Any]:
    """Return a task of the view "choice": the best labels are options, assigned ones accepted."""
    names = names or labels
    given = answer.given.tolist()
    ranked = list(dict.fromkeys([*given, *_ranked(answer)]))
    options = [
        {"id": labels[j], "text": names[j], "meta": f"{answer.probabilities[j]:.2f}"}
        for j in (ranked if all_scores else ranked[: max(_MOST_OPTIONS, len(given))])
    ]
    least = min((answer.probabilities[j] for j in given), default=0.0)
    return {
        "text": answer.text,
        "options": options,
        "accept": [labels[j] for j in given],
        "meta": {"id": answer.id, "score": _rounded(float(least))},
        "config": {"choice_style": "multiple"},
    }


def _ranked(answer: Answer) -> list[int]:
    order: list[int] = np.argsort(-answer.probabilities, kind="stable").tolist()
    return order


def _rounded(probability: float) -> float:
    """Round to six digits; more would depend on the size of a batch."""
    return float(f"{probability:.6g}")


def _table_layout(
    labels: list[str],
    all_scores: bool,
    names: Sequence[str] | None,
    *,
    delimiter: str,
    separator: str = ";",
    encoding: str = "utf-8",
) -> Layout:
    wrong = [label for label in labels if separator in label or len(label.splitlines()) > 1]
    if wrong:
        raise ValueError(
            f"In a table labels are separated by {separator!r} and are on one line, and the model "
            f"has the label {wrong[0]!r} ({len(wrong)} such). Use the format jsonl."
        )
    other = ";" if separator == "," else ","  # replaces the separator in a name

    def line(answer: Answer) -> str:
        given = answer.given.tolist()
        shown = slice(None) if all_scores else answer.given
        numbers = [_rounded(p) for p in answer.probabilities[shown]]
        cells: list[Any] = [answer.id, separator.join(labels[j] for j in given)]
        if names is not None:
            cells.append(separator.join(names[j].replace(separator, other) for j in given))
        cells += numbers if all_scores else [separator.join(map(str, numbers))]
        return csv_text([cells], delimiter)

    header = ["id", "labels", *([] if names is None else ["names"])]
    header += labels if all_scores else ["probabilities"]
    return Layout(
        "\ufeff" * (encoding == "utf-8-sig") + csv_text([header], delimiter),
        line,
        lambda text: plain_cell(next(csv.reader([text], delimiter=delimiter))[0]),
        encoding.removesuffix("-sig"),
    )


def table_conventions(
    source: Documents | DocumentFiles,
    kind: str,
    texts: Sequence[str],
    *,
    is_file: bool,
) -> dict[str, str]:
    """Return delimiter, label separator and encoding of the table that documents are read from.

    UTF-8 with a byte order mark replaces an encoding that does not contain all ``texts``, and
    UTF-16 and UTF-32, in which a line feed has several bytes.

    Parameters
    ----------
    source
        Documents of which the first was read.
    kind
        Format of the answers.
    texts
        Labels and names.
    is_file
        Whether answers are written to a file, which has an encoding.
    """
    first = source if isinstance(source, Documents) else source.parts[0]
    if kind not in TABLES:
        return {}
    labels = replace(first, needed=(), optional=("labels",))
    with suppress(ValueError):  # labels that cannot be read are not needed here
        next(iter(labels if first.path else ()), None)
    encoding = first.encoding or first.understood.encoding or "utf-8"
    try:
        "".join(texts).encode(encoding)
        fits = "\n".encode(encoding) == b"\n"
    except UnicodeEncodeError:
        fits = False
    separator = (first.separator or labels.understood.separator or "").strip("\r\n")
    found = {
        "delimiter": (first.delimiter or first.understood.delimiter) if kind == "csv" else None,
        "separator": separator if not any(separator in text for text in texts) else None,
        "encoding": (encoding if fits else "utf-8-sig") if is_file else None,
    }
    return {name: value for name, value in found.items() if value}
