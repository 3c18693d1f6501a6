"""Answers as lines of a file, which an interrupted run resumes.

Each batch is on the disk before the next. After a kill, the file contains whole lines and at most
one torn line, the last. To resume, the torn line is removed, the answers are compared with their
documents, and a note beside the file names the model and the options of the first run.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import quote

import numpy as np

from labelkin.corpora.documents import TABLES, Document, DocumentFiles, Documents, format_of
from labelkin.files import annotate_os_errors, csv_text, plain_cell, to_disk, try_lock, write_atomic
from labelkin.prediction.fitted_model import Answer

#: Stands between the labels of a document in a table, as in corpora that are tables.
SEPARATOR = ";"
_BLOCK = 1 << 16
#: Labels that a person chooses among in Prodigy, unless all are asked for.
_MOST_OPTIONS = 20
#: Bytes of a file's name, with room for its ending and for a temporary one.
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Layout:
    """How answers are written.

    Attributes
    ----------
    header : str
        The first line; empty where there is none.
    line : callable
        From an answer to its line, with its end.
    id_of : callable
        From a line to the id of its document, as text.
    encoding : str, default "utf-8"
        Of the lines; one in which a line feed is one byte.
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
    """Return how answers are written.

    Parameters
    ----------
    kind : {"jsonl", "csv", "tsv", "doccano", "prodigy"}
        The format; the last two are JSON lines that those programs import, with the texts.
    labels : sequence
        The labels of the model, in column order.
    all_scores : bool, default False
        Whether the probability of every label is written, not only of those that are given.
    names : sequence of str, optional
        What people call the labels, written beside those that are given; ``None``: nothing is.
    **conventions : str
        Of a table: ``delimiter`` between columns, ``separator`` between labels, and ``encoding``.

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
    return LAYOUTS[kind]([str(label) for label in labels], all_scores, names, **conventions)


@dataclass(frozen=True)
class Output:
    """Lines that are on the disk before the next ones are computed.

    Parameters
    ----------
    file : binary file
        Open for writing.
    durable : bool
        Whether every piece is to reach the disk; not for streams.
    path : Path, default "stdout"
        What errors call it.
    encoding : str, default "utf-8"
        Of the lines.
    """

    file: BinaryIO
    durable: bool
    path: Path = Path("stdout")
    encoding: str = "utf-8"

    @classmethod
    def to_file(cls, path: Path, *, resume: bool = False, encoding: str = "utf-8") -> Self:
        """Open a new file; or one that is there, to go on after its last whole line.

        One that another process is writing is an error.
        """
        # Unbuffered: what could not be written must not be tried again when the file is closed.
        file = path.open("ab" if resume and path.exists() else "xb", buffering=0)
        if not try_lock(file.fileno()):
            file.close()
            raise ValueError(
                f"Answers are written by one process, and {path} is being written by another. Wait "
                "for that one, or name another file."
            )
        if resume:
            cut_torn_line(path)
        return cls(file, durable=True, path=path, encoding=encoding)

    def write(self, text: str) -> None:
        """Write, and wait until it is written; of what cannot be, nothing stays in a file."""
        rest = memoryview(text.encode(self.encoding, "backslashreplace"))
        with annotate_os_errors(self.path):
            if not self.durable:
                self.file.write(rest)
                self.file.flush()
                return
            start = self.file.seek(0, os.SEEK_END)
            try:
                while rest:
                    rest = rest[self.file.write(rest) :]
                to_disk(self.file)
            except OSError:
                with suppress(OSError):
                    self.file.truncate(start)
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.durable:
            with annotate_os_errors(self.path):
                self.file.close()


def cut_torn_line(path: Path) -> int:
    """Cut off what follows the last line end; return how many bytes that were."""
    with annotate_os_errors(path), path.open("r+b") as file:
        size = end = file.seek(0, os.SEEK_END)
        found = -1
        while end > 0 and found < 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            end = start + found + 1 if found >= 0 else start
        file.truncate(end)
        return size - end


def skip_answered(path: Path, layout: Layout, documents: Iterator[Document]) -> int:
    """Pass over the documents that are answered in a file; return how many there are.

    Every answer is held against its document; one that is of another document, or of none, is an
    error: then the file is not of these documents.

    Parameters
    ----------
    path : Path
        Whole lines, as :class:`Output` leaves them.
    layout : Layout
        How they were written.
    documents : iterator of Document
        All documents from the first on; left at the first that has no answer.
    """
    n_answered = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.decode(layout.encoding, "replace")
            if number > 1 or not layout.header:
                _check_line(path, number, text, layout, next(documents, None))
                n_answered += 1
            elif text != layout.header:
                raise ValueError(
                    f"{path}, line 1: to resume, the header must be {layout.header.strip()!r:.80}, "
                    f"got {text.strip()!r:.80}. Use the format, the labels and --all-scores it was "
                    "begun with."
                )
    return n_answered


@dataclass(frozen=True)
class ResumeNote:
    """The model and the options that answers are made with, beside a file that is not finished.

    Attributes
    ----------
    model : str
        SHA-256 of the model file.
    options : mapping
        Options that change the answers, plain values by name.
    """

    model: str
    options: Mapping[str, Any]

    @classmethod
    def of(cls, model: Path, options: Mapping[str, Any]) -> Self:
        """Return the note of work that is to be done with a model file."""
        with model.open("rb") as file:
            return cls(hashlib.file_digest(file, "sha256").hexdigest(), dict(options))

    def check(self, out: Path) -> None:
        """Raise if the answers were made with another model or other options.

        Answers without a note, as those of finished work are, are taken as they are.
        """
        path = _note_path(out)
        if not out.exists() or not out.stat().st_size or not path.exists():
            return
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            model, options = str(found["model"]), dict(found["options"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{path} must say what the answers were begun with, and cannot be read. Delete it "
                "to resume without the check, or use another file."
            ) from None
        if model != self.model:
            raise ValueError(
                f"{out} must be resumed with the model of its first run, got another. Use that "
                "model, or another file."
            )
        for name, value in self.options.items():
            if options.get(name) != value:
                raise ValueError(
                    f"{out} must be resumed with the options of its first run, with {name} "
                    f"{_plain(options.get(name))}, got {_plain(value)}. Use the same options, or "
                    "another file."
                )

    def write(self, out: Path) -> None:
        """Write the note beside the answers, in one piece."""
        text = json.dumps({"model": self.model, "options": self.options}, indent=1)
        write_atomic(_note_path(out), text + "\n")

    def remove(self, out: Path) -> None:
        """Remove the note: the work is finished."""
        _note_path(out).unlink(missing_ok=True)


def _json_layout(labels: list[str], all_scores: bool, names: Sequence[str] | None) -> Layout:
    def line(answer: Answer) -> str:
        shown = range(len(labels)) if all_scores else answer.given.tolist()
        record = {
            "id": answer.id,
            "labels": [labels[j] for j in answer.given],
            **({} if names is None else {"names": [names[j] for j in answer.given]}),
            "probabilities": {labels[j]: _rounded(answer.probabilities[j]) for j in shown},
        }
        return json.dumps(record, ensure_ascii=False) + "\n"

    return Layout("", line, lambda text: str(json.loads(text)["id"]))


def _table_layout(
    labels: list[str],
    all_scores: bool,
    names: Sequence[str] | None,
    *,
    delimiter: str,
    separator: str = SEPARATOR,
    encoding: str = "utf-8",
) -> Layout:
    wrong = [label for label in labels if separator in label or len(label.splitlines()) > 1]
    if wrong:
        raise ValueError(
            f"In a table labels are separated by {separator!r} and stand on one line, and the "
            f"model has the label {wrong[0]!r} ({len(wrong)} such). Use the format jsonl."
        )

    def row(*cells: Any) -> str:
        return csv_text([cells], delimiter)

    def line(answer: Answer) -> str:
        shown = slice(None) if all_scores else answer.given
        numbers = [_rounded(p) for p in answer.probabilities[shown]]
        scores = numbers if all_scores else [separator.join(map(str, numbers))]
        given = separator.join(labels[j] for j in answer.given)
        return row(answer.id, given, *called(answer), *scores)

    def called(answer: Answer) -> list[str]:
        # A name may have what separates them; the labels, which programs read, do not.
        other = ";" if separator == "," else ","
        plain = [] if names is None else [names[j].replace(separator, other) for j in answer.given]
        return [] if names is None else [separator.join(plain)]

    more = [] if names is None else ["names"]
    mark = "\ufeff" * (encoding == "utf-8-sig")
    return Layout(
        mark + row("id", "labels", *more, *(labels if all_scores else ["probabilities"])),
        line,
        lambda text: plain_cell(next(csv.reader([text], delimiter=delimiter))[0]),
        encoding.removesuffix("-sig"),
    )


def _doccano_layout(labels: list[str], all_scores: bool, names: Sequence[str] | None) -> Layout:
    """Write JSON lines that doccano imports: the labels are given, the rest is shown beside."""
    shown = labels if names is None else names

    def line(answer: Answer) -> str:
        ranked = _ranked(answer) if all_scores else answer.given.tolist()
        entry = {
            "id": answer.id,
            "text": answer.text,
            "label": [shown[j] for j in answer.given],
            "probabilities": {shown[j]: _rounded(answer.probabilities[j]) for j in ranked},
        }
        return json.dumps(entry, ensure_ascii=False) + "\n"

    return Layout("", line, lambda text: str(json.loads(text)["id"]))


def _prodigy_layout(labels: list[str], all_scores: bool, names: Sequence[str] | None) -> Layout:
    """Write tasks of Prodigy's view "choice": the best labels as options, those given accepted."""
    shown = labels if names is None else names

    def line(answer: Answer) -> str:
        given = answer.given.tolist()
        ranked = list(dict.fromkeys([*given, *_ranked(answer)]))
        offered = ranked if all_scores else ranked[: max(_MOST_OPTIONS, len(given))]
        options = [
            {"id": labels[j], "text": shown[j], "meta": f"{answer.probabilities[j]:.2f}"}
            for j in offered
        ]
        least = min((answer.probabilities[j] for j in given), default=0.0)
        entry = {
            "text": answer.text,
            "options": options,
            "accept": [labels[j] for j in given],
            "meta": {"id": answer.id, "score": _rounded(float(least))},
            "config": {"choice_style": "multiple"},
        }
        return json.dumps(entry, ensure_ascii=False) + "\n"

    return Layout("", line, lambda text: str(json.loads(text)["meta"]["id"]))


def _ranked(answer: Answer) -> list[int]:
    """Return all labels, most probable first."""
    order: list[int] = np.argsort(-answer.probabilities, kind="stable").tolist()
    return order


LAYOUTS: dict[str, Callable[..., Layout]] = {
    "jsonl": _json_layout,
    "csv": partial(_table_layout, delimiter=","),
    "tsv": partial(_table_layout, delimiter="\t"),
    "doccano": _doccano_layout,
    "prodigy": _prodigy_layout,
}
"""How answers can be written, by name."""
WITH_TEXTS = frozenset({"doccano", "prodigy"})
"""Those whose answers have the texts of their documents."""


def document_lines(
    answer: Answer, labels: Sequence[Any], names: Sequence[str] | None = None
) -> str:
    r"""Return an answer as the text of a file: label, tab, probability in each line.

    A URI stands in angle brackets and has a column for its name behind it, as in Annif's files;
    other labels have one where there are names.

    Examples
    --------
    >>> import numpy as np
    >>> answer = Answer("a7", np.array([1, 0]), np.array([0.25, 0.75]))
    >>> document_lines(answer, ["sugar", "http://example.org/tea"])
    '<http://example.org/tea>\t\t0.75\nsugar\t0.25\n'
    >>> document_lines(answer, ["sugar", "http://example.org/tea"], ["Zucker", "Tee"])
    '<http://example.org/tea>\tTee\t0.75\nsugar\tZucker\t0.25\n'
    """
    lines = []
    for j in answer.given.tolist():
        label = " ".join(str(labels[j]).split())
        is_uri = re.match(r"\w+://\S+$", label)
        cells = [f"<{label}>" if is_uri else label]
        if is_uri or names is not None:
            cells.append("" if names is None else " ".join(names[j].split()))
        lines.append("\t".join([*cells, f"{_rounded(answer.probabilities[j])}\n"]))
    return "".join(lines)


def folder_writer(
    folder: Path, labels: Sequence[Any], names: Sequence[str] | None
) -> Callable[[list[Answer]], None]:
    """Return a function that writes a file for each answer; an id must not occur twice."""
    written: set[str] = set()

    def write(answers: list[Answer]) -> None:
        for answer in answers:
            file = file_name(answer.id)
            if file in written:
                raise ValueError(
                    f"Documents must have distinct ids for a file each, got {answer.id!r} again. "
                    "Use --out."
                )
            written.add(file)
            write_atomic(folder / file, document_lines(answer, labels, names))

    return write


def table_conventions(
    source: Documents | DocumentFiles,
    kind: str,
    texts: Sequence[str],
    given: Mapping[str, str | None],
    *,
    is_file: bool,
) -> dict[str, str]:
    """Return delimiter, label separator and encoding of the table that documents are read from.

    An encoding that does not contain all ``texts`` is replaced by UTF-8 with a byte order mark,
    and so are UTF-16 and UTF-32, in which a line feed has several bytes.

    Parameters
    ----------
    source
        Documents of which the first was read.
    kind
        Format of the answers.
    texts
        Labels and names.
    given
        Delimiter, separator and encoding, if a user has named them.
    is_file
        Whether answers go to a file, which has an encoding.
    """
    first = source if isinstance(source, Documents) else source.parts[0]
    path = first.path
    format = format_of(path) if first.format is None and path else first.format
    if format not in TABLES or kind not in TABLES:
        return {}
    labels = replace(first, needed=(), optional=("labels",))
    with suppress(ValueError):  # labels that cannot be read are not needed here
        next(iter(labels if path else ()), None)
    encoding = given["encoding"] or first.understood.encoding or "utf-8"
    try:
        is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
        "".join(texts).encode(encoding)
    except UnicodeEncodeError:
        is_wide = True
    separator = (given["separator"] or labels.understood.separator or "").strip("\r\n")
    found = {
        "delimiter": (given["delimiter"] or first.understood.delimiter) if kind == "csv" else None,
        "separator": separator if not any(separator in text for text in texts) else None,
        "encoding": ("utf-8-sig" if is_wide else encoding) if is_file else None,
    }
    return {name: value for name, value in found.items() if value}


def file_name(document: str | int) -> str:
    """Return what the file of a document's labels is called; no id leads out of its folder.

    Examples
    --------
    >>> file_name("a7"), file_name("../b 1.txt")
    ('a7.tsv', '%2E.%2Fb 1.txt.tsv')
    """
    name = quote(str(document), safe=" !()+,;=@[]{}~'&$#^`")
    name = f"%2E{name[1:]}" if name.startswith(".") else name
    if len(name.encode()) > _LONGEST_NAME:
        name = hashlib.sha256(name.encode()).hexdigest()
    return f"{name}.tsv"


def _rounded(probability: float) -> float:
    """Six digits: more would show what rounding makes of batches of another size."""
    return float(f"{probability:.6g}")


def _check_line(
    path: Path, number: int, line: str, layout: Layout, document: Document | None
) -> None:
    try:
        answered = layout.id_of(line)
    except (ValueError, KeyError, TypeError, IndexError):
        raise ValueError(
            f"{path}, line {number}: to resume, it must be an answer in the given format, got "
            f"{line.strip()!r:.80}. Use the format of the first run, or another file."
        ) from None
    if document is None or answered != str(document.name):
        there = "no more documents" if document is None else repr(str(document.name))
        raise ValueError(
            f"{path}, line {number} answers the document {answered!r}, where the input has "
            f"{there}. It is not of this input: use another file."
        )


def _note_path(out: Path) -> Path:
    """Return where the note of a file of answers is: ``labels.jsonl.resume.json``."""
    return out.with_name(f"{out.name}.resume.json")


def _plain(value: Any) -> str:
    return "not set" if value is None or value is False else "set" if value is True else str(value)
