"""``labelkin predict``: labels for many documents, in bounded memory, resumable."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from labelkin.cli import options
from labelkin.cli.options import ASSIGNED, option
from labelkin.cli.printing import counted, print_message, resumable, watching

if TYPE_CHECKING:
    from labelkin.corpora.documents import Document, DocumentFiles, Documents
    from labelkin.prediction.fitted_model import Answer
    from labelkin.prediction.output import Layout

#: Endings of files with about a document per line.
_LINES = (".jsonl", ".ndjson", ".csv", ".tsv", ".txt")


@options.expand
def predict(
    model: options.ModelPath,
    input: options.InputPaths,
    reading: options.DocumentReading,
    out: Annotated[Path | None, option("A new file. [default: stdout]", "--out", "-o")] = None,
    format: Annotated[
        Literal["jsonl", "csv", "tsv", "doccano", "prodigy"] | None,
        option(
            "Format of the answers; doccano and prodigy are JSON lines that those programs "
            "import, with the texts. [default: by the ending of --out, else jsonl]"
        ),
    ] = None,
    top: Annotated[
        int | None,
        option(
            "Number of most probable labels, instead of the model's thresholds.",
            panel=ASSIGNED,
            min=1,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        option(
            "Minimum probability of a label, instead of the model's thresholds.",
            panel=ASSIGNED,
            min=0,
            max=1,
        ),
    ] = None,
    at_least: Annotated[int, option("Minimum number of labels.", panel=ASSIGNED, min=0)] = 0,
    limit: Annotated[int | None, option("Maximum number of labels.", panel=ASSIGNED, min=1)] = None,
    all_scores: Annotated[
        bool, option("Write the probability of every label.", "--all-scores", panel=ASSIGNED)
    ] = False,
    batch: Annotated[int | None, option("Number of documents per batch.", min=1)] = None,
    resume: Annotated[bool, option("Resume after the last answer in --out.", "--resume")] = False,
    replace: options.Replace = False,
    input_format: options.InputFormat = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    label_language: options.LabelLanguage = None,
    dask: options.Dask = None,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
) -> None:
    """Assign labels to many documents, one line each, in their order.

    The model's thresholds decide, unless --top or --threshold do. A document without an id is named
    by its number. Answers are written batch by batch: with --resume, the same command resumes an
    interrupted run without a gap or a repetition.

    An answer is {"id": …, "labels": […], "probabilities": {…}} in JSON lines, and the same in
    columns in CSV and TSV. If the documents are in a table, its delimiter, label separator and
    encoding are used. A model with a vocabulary also writes the names of labels, in
    --label-language.

    Example:  labelkin predict news.labelkin texts.jsonl --out labels.jsonl --resume

    Example:  labelkin predict news.labelkin texts/ --top 10 --threshold 0.1 --out labels.csv

    Example:  cat texts.txt | labelkin predict news.labelkin - --format csv > labels.csv
    """
    if out is None and (resume or replace):
        which = "--resume continues" if resume else "--replace overwrites"
        raise ValueError(f"{which} a file: name it by --out.")
    if resume and replace:
        raise ValueError("--resume continues --out, and --replace overwrites it. Use one of them.")
    hint = "--resume continues it, --replace overwrites it; else name another."
    options.check_out(out, *input, replace=resume or replace, hint=hint)
    source = read_documents(input, input_format, reading.like(model, input))
    documents = _at_least_one(source, "stdin" if input == ["-"] else ", ".join(input))
    from labelkin.prediction import output as files
    from labelkin.prediction.fitted_model import Choice, answer_batches
    from labelkin.scaling.progress import track

    fitted = options.open_model(model, trusted, texts=True)
    names = options.check_language(fitted.names, label_language)
    allowed = names.allowed(include or (), exclude or ())
    labels, shown = (
        [every[j] for j in allowed.nonzero()[0]]
        for every in (names.labels, names.all(label_language))
    )
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    kind = format or (ending if ending in files.FORMATS else "jsonl")
    like = files.table_conventions(source, kind, [*labels, *shown], is_file=out is not None)
    called = None if names.vocabulary is None else shown
    layout = files.make_layout(kind, labels, all_scores, called, **like)
    chosen: dict[str, Any] = {
        **{"--format": kind, "--limit": limit, "--all-scores": all_scores},
        **{"--top": top, "--threshold": threshold, "--at-least": at_least or None},
        **{"--columns": reading.columns, "--delimiter": reading.delimiter},
        **{"--include": include, "--exclude": exclude, "--label-language": label_language},
    }
    if out is not None and replace:
        out.unlink(missing_ok=True)
    with (
        resumable(None if out is None else " with --resume"),
        watching(quiet),
        options.cluster(dask) as engine,
        nullcontext((_print_text, 0))
        if out is None
        else files.answers_file(
            out, layout, documents, files.resume_note(model, chosen), resume=resume
        ) as (write, n_answered),
    ):
        if out is None:
            write(layout.header)
        elif n_answered:
            print_message(f"{n_answered:,} documents have answers; resuming.", quiet)
        total = None if quiet else _count_documents(input)
        batches = answer_batches(
            fitted,
            track(documents, "documents", total and max(total - n_answered, 0)),
            batch=batch,
            choice=Choice(top, threshold, at_least, limit),
            allowed=None if allowed.all() else allowed,
            engine=engine,
            texts=kind in files.WITH_TEXTS,
        )
        _write(write, layout, batches, quiet)
    print_message(reading_line(source), quiet)


def _at_least_one(source: Documents | DocumentFiles, name: str) -> Iterator[Document]:
    """Return an iterator of documents; no document is an error."""
    documents = iter(source)
    first = next(documents, None)
    if first is None:
        raise ValueError(f"{name} must have documents, and has none.")
    return chain([first], documents)


def _write(
    write: Callable[[str], None], layout: Layout, batches: Iterator[list[Answer]], quiet: bool
) -> None:
    """Write answers batch by batch, and report their numbers."""
    start, n_documents, n_empty, n_few = time.perf_counter(), 0, 0, 0
    for answers in batches:
        write("".join(map(layout.line, answers)))
        n_documents += len(answers)
        n_empty += sum(not len(answer.given) for answer in answers)
        n_few += sum(answer.has_few_words for answer in answers)
    seconds = time.perf_counter() - start
    without = f"{n_empty:,} of them without a label" if n_empty else "each with a label"
    print_message(f"{counted(n_documents, 'document')} in {seconds:.1f} s, {without}.", quiet)
    if n_few:
        print_message(
            f"Note: the model knows few words of {counted(n_few, 'document')}. Another language, "
            "or another subject? Check their labels.",
            quiet,
        )


def read_documents(
    input: list[str], format: Any, reading: Mapping[str, Any], **wanted: Any
) -> Documents | DocumentFiles:
    """Return the documents of files and folders, or of stdin; ``wanted`` as in Documents."""
    from labelkin.corpora.documents import DocumentFiles, Documents

    if "-" not in input:
        return DocumentFiles(input, format=format, **wanted, **reading)
    if len(input) > 1:
        raise ValueError(f"stdin (-) is read alone, got {', '.join(input)}.")
    return Documents(sys.stdin.buffer, format, name="stdin", **wanted, **reading)


def reading_line(source: Documents | DocumentFiles) -> str:
    """Return how documents were read, in one line."""
    from labelkin.corpora.documents import Documents

    counts = source.understood.counts if isinstance(source, Documents) else source.counts
    facts = [f"{counted(counts['document'], 'document')} read", str(source.understood)]
    return ", ".join(filter(None, facts)) + "."


def _count_documents(sources: list[str]) -> int | None:
    """Return the approximate number of documents, by lines; ``None``: not known."""
    files = [Path(one) for one in sources]
    if not all(one.is_file() and one.suffix.lower() in _LINES for one in files):
        return None
    return sum(sum(1 for _ in one.open("rb")) for one in files) or None


def _print_text(text: str) -> None:
    """Write whole lines to stdout at once."""
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()
