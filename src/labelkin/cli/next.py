"""``labelkin next``: the documents to label next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from labelkin.cli import options
from labelkin.cli.options import option
from labelkin.cli.predict import read_documents, reading_line
from labelkin.cli.printing import counted, print_json, print_message, print_table, watching

if TYPE_CHECKING:
    from labelkin.corpora.documents import Document
    from labelkin.curation.active_learning import NextDocument

_ENDINGS = (".csv", ".tsv", ".jsonl")


@options.expand
def next(
    model: options.ModelPath,
    pool: options.InputPaths,
    reading: options.DocumentReading,
    n: Annotated[int, option("Number of documents.", "--n", "-n", min=1)] = 10,
    out: Annotated[
        Path | None, option("A new file, .csv, .tsv or .jsonl, instead of a table.", "--out", "-o")
    ] = None,
    as_json: options.AsJson = False,
    replace: options.Replace = False,
    input_format: options.InputFormat = None,
    label_language: options.LabelLanguage = None,
    dask: options.Dask = None,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
) -> None:
    """List the documents to label next, and the labels that make them informative.

    The value of a document is the uncertainty of its labels, in bits. Labels that are accepted or
    rejected already are known labels. A batch represents the uncertainty of all documents.
    Documents with labels are skipped.

    Example:  labelkin next news.labelkin unlabelled.jsonl -n 20

    Example:  labelkin next news.labelkin texts/ -n 100 --out next.csv
    """
    options.check_out(out, *pool, replace=replace)
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise ValueError(f"--out must end in {', '.join(_ENDINGS)}, got {out.name}.")
    wanted = ("id", "labels", "accepted", "rejected")
    source = read_documents(pool, input_format, reading.like(model, pool), optional=wanted)
    found = list(source)
    documents = [one for one in found if not one.labels]
    if not documents:
        labelled = f": all {len(found):,} have labels" if found else ""
        raise ValueError(
            f"{', '.join(pool)} must have documents without labels, and has none{labelled}."
        )
    from labelkin.curation import next_documents

    fitted = options.open_model(model, trusted, texts=True)
    names = options.check_language(fitted.names, label_language)
    shown = dict(zip(fitted.labels.tolist(), names.all(label_language), strict=True))
    known = [one.known or {} for one in documents] if any(d.known for d in documents) else None
    texts = [document.text for document in documents]
    with watching(quiet), options.cluster(dask) as engine:
        chosen = next_documents(fitted, texts, n, known=known, engine=engine)
    rows = [_record(one, documents[one.document], shown) for one in chosen]
    if out is not None:
        _write(rows, out)
    if as_json:
        print_json(rows)
    elif out is None:
        print_table(
            ("document", "bits", "similar", "because of"),
            [
                (str(row["id"]), f"{row['value']:.2f}", f"{row['similarity']:.2f}", _because(row))
                for row in rows
            ],
            left=(0, 3),
        )
        print_message(
            "bits: uncertainty of the labels, added up; similar: cosine to the most "
            "similar document above; because of: labels and their probabilities.",
            quiet,
        )
    n_skipped = len(found) - len(documents)
    skipped = f", {n_skipped:,} with labels skipped" if n_skipped else ""
    print_message(f"{len(rows):,} of {counted(len(documents), 'document')}{skipped}.", quiet)
    print_message(reading_line(source), quiet)


def _record(one: NextDocument, document: Document, shown: dict[Any, str]) -> dict[str, Any]:
    """Return a document to label as plain values."""
    labels = [
        {
            "label": str(label.label),
            **({} if shown[label.label] == str(label.label) else {"name": shown[label.label]}),
            "probability": round(label.probability, 6),
            "bits": round(label.bits, 6),
        }
        for label in one.labels
    ]
    numbers = {name: round(getattr(one, name), 6) for name in ("value", "gain", "similarity")}
    return {"id": document.name, **numbers, "labels": labels}


def _because(row: dict[str, Any]) -> str:
    """Return the most uncertain labels, with their probabilities."""
    return "; ".join(
        f"{one.get('name', one['label'])} {one['probability']:.2f}" for one in row["labels"]
    )


def _write(rows: list[dict[str, Any]], out: Path) -> None:
    from labelkin.files import csv_text, write_atomic

    ending = out.suffix.lower()
    if ending == ".jsonl":
        write_atomic(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return
    table = [(row["id"], row["value"], row["similarity"], _because(row)) for row in rows]
    header = ("id", "value", "similarity", "labels")
    write_atomic(out, csv_text([header, *table], "\t" if ending == ".tsv" else ","))
