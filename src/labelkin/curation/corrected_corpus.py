"""Corrected corpora: as files, and as training documents.

Files are JSON lines, or tables in the form of the input. Lines and rows without a correction are
copied unchanged.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.corpora import KNOWN, Corpus, load, text_format
from labelkin.corpora.corpus import labels_of, object_array
from labelkin.corpora.documents import TABLES, Documents, Format, are_uris
from labelkin.corpora.lines import decoded_lines, table_rows
from labelkin.corpora.tables import LABEL_SEPARATOR, URI_BREAK, Field, label_in
from labelkin.curation.corrections import (
    Corrections,
    Decision,
    chosen_changes,
    read_decisions,
)
from labelkin.curation.saved_work import read_answers, read_saved_documents
from labelkin.files import atomic_replace
from labelkin.label_matrix import LabelMatrix, read_labels

#: Formats of corpora that are written in the form of the input; others become JSON lines.
CORRECTED: tuple[Format, ...] = ("jsonl", *TABLES)
_SQLITE = b"SQLite format 3\0"
_PACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class TrainingDocuments(NamedTuple):
    """Texts or vectors, their label sets, the end of the saved work, and corrections in words."""

    documents: Any
    labels: LabelMatrix
    mark: list[Any]
    corrections: str


def training_documents(
    corpus: Corpus, part: slice | NDArray[np.int64], saved_work: Path
) -> TrainingDocuments:
    """Return a part of a corpus, with corrected labels and further documents.

    Parameters
    ----------
    corpus
        Contains the documents.
    part
        The training documents.
    saved_work
        A file of a service: reviewed issues of an audit, and further documents with their labels.
    """
    documents: Any
    documents, labels = corpus.documents[part], labels_of(corpus).rows(part)
    made = ""
    texts, label_sets, mark = read_saved_documents(saved_work)
    if changes := chosen_changes(read_answers(saved_work)):
        corrections = Corrections(changes.values())
        labels = corrected_labels(corpus, corrections).rows(part)
        made = corrections.summary()
    if texts and corpus.features != "text":
        raise ValueError(
            f"Saved work adds texts, and {corpus.name} has {corpus.features}. Leave it out."
        )
    if texts:
        sets = [set(one) for one in (*labels.label_sets(), *label_sets)]
        names = sorted({*labels.names.tolist(), *(name for one in label_sets for name in one)})
        documents, labels = object_array([*documents, *texts]), read_labels(sets, names=names)
    return TrainingDocuments(documents, labels, list(mark), made)


def corrected_labels(corpus: Corpus, corrections: Corrections) -> LabelMatrix:
    """Return the labels of a corpus with changes made; changes may add new labels."""
    sets: list[set[Any]] = []
    given = labels_of(corpus)
    for i, (name, labels) in enumerate(zip(corpus.names(), given.label_sets(), strict=True)):
        text = str(corpus.documents[i]) if corpus.features == "text" else None
        changed = corrections.apply(name, text, labels)
        sets.append(set(labels if changed is None else changed))
    names = given.names.tolist()
    new = sorted(set().union(*sets) - set(names))
    corrected = read_labels(sets, names=[*names, *new])
    if given.unknown is None:
        return corrected
    nowhere = sparse.csr_array((len(sets), len(new)))
    return replace(corrected, unknown=sparse.csr_array(sparse.hstack([given.unknown, nowhere])))


def write_corrected(
    documents: Documents, format: Format, out: Path, corrections: Corrections
) -> None:
    """Write a file of documents with corrections, in its own format and encoding.

    Parameters
    ----------
    documents : Documents
        A file.
    format
        One of :data:`CORRECTED`.
    out : Path
        A new file; packed if its name ends in .gz, .bz2 or .xz.
    corrections : Corrections
        Count the changes.
    """
    for _ in documents:
        pass  # everything is detected before the file is written
    found = documents.understood
    documents = replace(documents, encoding=documents.encoding or found.encoding or "utf-8")
    if format in TABLES:
        usual = "\t" if format == "tsv" else ","
        documents = replace(
            documents,
            separator=documents.separator or found.separator,
            delimiter=documents.delimiter or found.delimiter or usual,
        )
    encoder = codecs.getincrementalencoder(documents.encoding or "utf-8")()
    with _opened(out) as file:
        for text in _corrected(documents, format, found.used["labels"], corrections):
            file.write(encoder.encode(text))


def read_changes(
    paths: Iterable[Path], at_least: float | None = None
) -> tuple[int, list[Decision]]:
    """Return the number of issues in files or saved work, and the changes to make.

    The last decision on an issue counts. ``at_least`` is that of
    :func:`labelkin.curation.corrections.chosen_changes`.
    """
    changes: dict[tuple[str, str], Decision] = {}
    n_issues = 0
    for path in paths:
        with path.open("rb") as file:
            is_saved_work = file.read(len(_SQLITE)) == _SQLITE
        decisions = read_answers(path) if is_saved_work else read_decisions(path)
        n_issues += len(decisions)
        decided = {(one.document, one.label) for one in decisions if one.answer}
        changes = {cell: one for cell, one in changes.items() if cell not in decided}
        changes |= chosen_changes(decisions, at_least)
    return n_issues, list(changes.values())


def write_corrected_corpus(
    corpus: str, out: Path, corrections: Corrections, **reading: Any
) -> Documents | None:
    """Write JSON lines or a table in the form of the input; return its documents.

    Other corpora are written as JSON lines, without vectors, and ``None`` is returned.
    ``reading`` contains options of :func:`labelkin.corpora.load`.
    """
    format = None if corpus in KNOWN else text_format(Path(corpus))
    if format in CORRECTED:
        named = {k: v for k, v in reading.items() if k not in ("path", "merge_spellings")}
        needed: list[Field] = ["text", "labels"]
        if format == "jsonl":
            needed.append("id")
        documents = Documents(corpus, needed=needed, **named)
        write_corrected(documents, format, out, corrections)
        return documents
    loaded = load(corpus, **reading)
    label_sets = corrected_labels(loaded, corrections).label_sets()
    test = set(loaded.test.tolist())
    with _opened(out) as file:
        for i, (name, labels) in enumerate(zip(loaded.names(), label_sets, strict=True)):
            text = {"text": str(loaded.documents[i])} if loaded.features == "text" else {}
            split = "test" if i in test else "train"
            line = {"id": name, **text, "labels": list(labels), "split": split}
            file.write((json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8"))
    return None


@contextmanager
def _opened(out: Path) -> Iterator[Any]:
    pack = _PACK.get(out.suffix.lower())
    with atomic_replace(out) as file, pack(file, "wb") if pack else nullcontext(file) as packed:
        yield packed


def _corrected(
    documents: Documents, format: Format, names: Sequence[str], corrections: Corrections
) -> Iterator[str]:
    """Yield the file piece by piece, a document at the end of each; ``names`` are of labels."""
    taken: list[str] = []

    def recorded() -> Iterator[str]:
        for line in decoded_lines(cast(Path, documents.path), documents.encoding):
            taken.append(line)
            yield line

    reader = replace(documents, source=recorded(), format=format, name=documents.called)
    rewrite = _TableRow(documents, names) if format in TABLES else partial(_json_line, names)
    for document in reader:
        labels = corrections.apply(str(document.name), document.text, document.labels or ())
        piece = "".join(taken)
        taken.clear()
        yield piece if labels is None else rewrite(piece, labels)
    yield "".join(taken)


def _json_line(names: Sequence[str], piece: str, labels: Sequence[str]) -> str:
    """Put other labels into the last line of a piece; labels stay texts or objects."""
    before, end, line = piece.rstrip("\r\n").rpartition("\n")
    found = json.loads(line)
    inside = found if any(name in found for name in names) else found.get("metadata", {})
    key = next((name for name in names if name in inside), None)
    if key is None:
        raise ValueError(
            f"A corrected line must have its labels in {', '.join(names)}, got {line[:60]!r}. "
            "Write examples of Prodigy as text and labels first."
        )
    given = {(x.get("uri") or x.get("label")): x for x in inside[key] if isinstance(x, dict)}
    name = "uri" if any("uri" in x for x in given.values()) else "label"
    inside[key] = [given.get(x, {name: x}) for x in labels] if given else list(labels)
    return f"{before}{end}{json.dumps(found, ensure_ascii=line.isascii())}\n"


class _TableRow:
    """Put other labels into the last row of a piece; other labels keep their spelling."""

    def __init__(self, documents: Documents, names: Sequence[str]) -> None:
        self._read = partial(
            table_rows,
            name=documents.called,
            delimiter=documents.delimiter or ",",
            quoted=documents.quoted,
        )
        self._delimiter = documents.delimiter or ","
        self._uris = documents.separator is None and are_uris(names)
        self._separator = " " if self._uris else documents.separator or LABEL_SEPARATOR
        sign = URI_BREAK.pattern if self._uris else re.escape(self._separator)
        self._break = re.compile(rf"\s*(?:{sign})\s*")
        lines = decoded_lines(cast(Path, documents.path), documents.encoding)
        header = next(self._read(lines))[1]
        self._columns = [j for j, name in enumerate(header) if name.strip() in names]

    def __call__(self, piece: str, labels: Sequence[str]) -> str:
        lines = io.StringIO(piece, newline="").readlines()
        place, row = [*self._read(lines)][-1]
        start = int(place.rpartition(" ")[2]) - 1
        cells = {j: row[j].strip() for j in self._columns}
        given = {j: [x for x in self._break.split(cell) if x] for j, cell in cells.items()}
        present = {label_in(part) for parts in given.values() for part in parts}
        target = next((j for j in cells if not given[j]), self._columns[0])
        for j, parts in given.items():
            kept = [part for part in parts if label_in(part) in labels]
            if j == target:
                kept += [self._spelled(x, parts) for x in labels if x not in present]
            between = self._break.search(cells[j])
            row[j] = (between[0] if between else self._separator).join(kept)
        text = io.StringIO(newline="")
        end = "\r\n" if piece.endswith("\r\n") else "\n"
        csv.writer(text, delimiter=self._delimiter, lineterminator=end).writerow(row)
        return "".join(lines[:start]) + text.getvalue()

    def _spelled(self, label: str, parts: Sequence[str]) -> str:
        """Return a new label as it stands in a cell."""
        if self._separator in label or label != label.strip():
            raise ValueError(
                f"In this table labels are separated by {self._separator!r}, and the label "
                f"{label!r} cannot stand in a cell. Correct its name in the list of issues."
            )
        is_wrapped = self._uris and all(part.startswith("<") for part in parts)
        return f"<{label}>" if is_wrapped else label
