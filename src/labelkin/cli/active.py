"""``labelkin next``: which documents are worth labelling next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from labelkin.cli import options
from labelkin.cli.predict import read_documents, reading_line
from labelkin.cli.printing import counted, print_json, print_message, print_table, watching

if TYPE_CHECKING:
    from labelkin.corpora.documents import Document
    from labelkin.curation.active_learning import NextDocument

_ENDINGS = (".csv", ".tsv", ".jsonl")


@options.reads_documents
def next(
    model: options.ModelFile,
    pool: Annotated[
        list[str],
        typer.Argument(
            metavar="POOL...",
            help="Documents without labels: JSON, JSON lines, CSV or TSV with a column of texts, "
            "text files with a document per line, folders of .txt files, or - for stdin. Those "
            "that have labels are passed over.",
        ),
    ],
    reading: options.Reading,
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="How many documents.")] = 10,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A new file, .csv, .tsv or .jsonl, in place of a table."),
    ] = None,
    as_json: options.AsJson = False,
    replace: options.Replace = False,
    input_format: Annotated[
        Literal["jsonl", "json", "csv", "tsv", "text"] | None,
        typer.Option(help="Of the documents; by the ending of the file if not named."),
    ] = None,
    label_language: options.LabelLanguage = None,
    dask: options.Dask = None,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
) -> None:
    """Name the documents that are worth labelling next, and the labels that make them so.

    The value of a document is the uncertainty of its labels, in bits. Answers that a document has
    already (accepted, rejected) are known. A batch represents the uncertainty of the pool.

    Example:  labelkin next news.labelkin unlabelled.jsonl -n 20

    Example:  labelkin next news.labelkin texts/ -n 100 --out next.csv
    """
    options.check_model(model)
    for one in pool:
        options.check_input(None if one == "-" else Path(one))
    if out is not None:
        _check_out(out, pool, replace=replace)
    wanted = ("id", "labels", "accepted", "rejected")
    reading = reading.like(model, pool)
    source = read_documents(pool, input_format, reading, optional=wanted)
    found = list(source)
    documents = [one for one in found if not one.labels]
    if not documents:
        labelled = f": all {len(found):,} have labels" if found else ""
        raise ValueError(
            f"{', '.join(pool)} must have documents without labels, and has none{labelled}."
        )
    from labelkin.curation import next_documents

    fitted = options.load_model(model, trusted)
    fitted.check_texts(str(model))
    names = options.label_names(fitted, label_language)
    shown = dict(zip(fitted.labels.tolist(), names.all(label_language), strict=True))
    known = [one.known or {} for one in documents] if any(d.known for d in documents) else None
    with watching(quiet), options.cluster(dask) as engine:
        chosen = next_documents(
            fitted,
            [document.text for document in documents],
            n,
            known=known,
            engine=engine,
        )
    rows = [_Row.of(one, documents[one.document], shown) for one in chosen]
    if out is not None:
        _write(rows, out)
    if as_json:
        print_json([row.record() for row in rows])
    elif out is None:
        print_table(
            ("document", "bits", "similar", "because of"),
            [
                (str(row.id), f"{row.value:.2f}", f"{row.similarity:.2f}", row.because())
                for row in rows
            ],
            left=(0, 3),
        )
        print_message(
            "bits: uncertainty of the labels, added up; similar: cosine to the most "
            "similar document above; because of: labels and their probabilities.",
            quiet,
        )
    passed = len(found) - len(documents)
    said = f", {passed:,} with labels passed over" if passed else ""
    print_message(f"{len(rows):,} of {counted(len(documents), 'document')}{said}.", quiet)
    print_message(reading_line(source), quiet)


class _Row(NamedTuple):
    """A document that is worth labelling, as it is printed and written."""

    id: str | int
    value: float
    gain: float
    similarity: float
    labels: list[dict[str, Any]]

    @classmethod
    def of(cls, one: NextDocument, document: Document, shown: dict[Any, str]) -> _Row:
        labels = [
            {
                "label": str(label.label),
                **({} if shown[label.label] == str(label.label) else {"name": shown[label.label]}),
                "probability": round(label.probability, 6),
                "bits": round(label.bits, 6),
            }
            for label in one.labels
        ]
        value, gain, similarity = (round(x, 6) for x in (one.value, one.gain, one.similarity))
        return cls(document.name, value, gain, similarity, labels)

    def record(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return self._asdict()

    def because(self) -> str:
        """Return the most uncertain labels, with their probabilities."""
        return "; ".join(
            f"{one.get('name', one['label'])} {one['probability']:.2f}" for one in self.labels
        )


def _check_out(out: Path, pool: Sequence[str], *, replace: bool) -> None:
    options.check_out(out, *pool)
    if out.suffix.lower() not in _ENDINGS:
        raise ValueError(f"--out must end in {', '.join(_ENDINGS)}, got {out.name}.")
    if not replace:
        options.check_new(out, "--replace overwrites it; else delete it or name another.")


def _write(rows: list[_Row], out: Path) -> None:
    from labelkin.files import csv_text, write_atomic

    ending = out.suffix.lower()
    if ending == ".jsonl":
        lines = (json.dumps(row.record(), ensure_ascii=False) + "\n" for row in rows)
        write_atomic(out, "".join(lines))
        return
    table = [(row.id, row.value, row.similarity, row.because()) for row in rows]
    header = ("id", "value", "similarity", "labels")
    write_atomic(out, csv_text([header, *table], "\t" if ending == ".tsv" else ","))
