"""``labelkin predict``: labels for many documents, in bounded memory, resumable."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.printing import counted, print_message, progress_bars, resumable

if TYPE_CHECKING:
    from labelkin.corpora.documents import Document, DocumentFiles, Documents
    from labelkin.prediction import Answer


@options.reads_documents
def predict(
    model: options.ModelFile,
    input: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="JSON, JSON lines, CSV or TSV with a column of texts, text files with a document "
            "per line, folders of .txt files, or - for stdin.",
        ),
    ],
    reading: options.Reading,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file; stdout if not named.")
    ] = None,
    out_folder: Annotated[
        Path | None,
        typer.Option(help="In place of --out: a file ID.tsv for each document, label and score."),
    ] = None,
    format: Annotated[
        Literal["jsonl", "csv", "tsv", "doccano", "prodigy"] | None,
        typer.Option(
            help="Of the answers; by the ending of --out, else jsonl. doccano and prodigy are "
            "JSON lines that those programs import, with the texts."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(min=1, help="The N most probable labels, whatever the model's thresholds."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="All labels this probable, in place of the model's thresholds."
        ),
    ] = None,
    at_least: Annotated[
        int, typer.Option(min=0, help="Labels at least; the most probable fill up.")
    ] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many labels each.")] = None,
    all_scores: Annotated[
        bool, typer.Option("--all-scores", help="Write the probability of every label.")
    ] = False,
    batch: Annotated[int | None, typer.Option(min=1, help="Documents at a time.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on after the last answer in --out.")
    ] = False,
    replace: options.Replace = False,
    input_format: Annotated[
        Literal["jsonl", "json", "csv", "tsv", "text"] | None,
        typer.Option(help="Of the documents; by the ending of the file if not named."),
    ] = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    label_language: options.LabelLanguage = None,
    dask: options.Dask = None,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
) -> None:
    """Label many documents; answers come in their order, one line each, or one file each.

    The model's thresholds decide, unless --top or --threshold do. A document without an id is known
    by its number. The answers go to the disk batch by batch: if the work is stopped, the same
    command with --resume goes on, without a gap or a repetition.

    An answer is {"id": …, "labels": […], "probabilities": {…}} in JSON lines, and the same in
    columns in CSV and TSV. If the documents are in a table, its delimiter, label separator and
    encoding are used. A model with a vocabulary writes the names of labels beside them, in
    --label-language.

    Example:  labelkin predict news.labelkin texts.jsonl --out labels.jsonl --resume

    Example:  labelkin predict news.labelkin texts/ --top 10 --threshold 0.1 --out-folder labels

    Example:  cat texts.txt | labelkin predict news.labelkin - --format csv > labels.csv
    """
    options.check_model(model)
    for one in input:
        options.check_input(None if one == "-" else Path(one))
    _check_outputs(input, out, out_folder, resume=resume, replace=replace, all_scores=all_scores)
    reading = reading.like(model, input)
    source = read_documents(input, input_format, reading)
    documents = iter(source)
    first = next(documents, None)
    if first is None:
        name = "stdin" if input == ["-"] else ", ".join(input)
        raise ValueError(f"{name} must have documents, and has none.")
    from labelkin import prediction
    from labelkin.prediction.output import WITH_TEXTS

    fitted = options.load_model(model, trusted)
    fitted.check_texts(str(model))
    names = options.label_names(fitted, label_language)
    allowed = names.allowed(include or (), exclude or ())
    labels, shown = (
        [every[j] for j in allowed.nonzero()[0]]
        for every in (names.labels, names.all(label_language))
    )
    called = None if names.vocabulary is None else shown
    kind = format or (_kind_of(out) if out else "jsonl")
    like = _conventions(source, reading, [*labels, *shown], kind, is_file=out is not None)
    layout = prediction.make_layout(kind, labels, all_scores, called, **like)
    chosen: dict[str, Any] = {
        **{"--format": kind, "--limit": limit, "--all-scores": all_scores},
        **{"--top": top, "--threshold": threshold, "--at-least": at_least or None},
        **{"--columns": reading.columns, "--delimiter": reading.delimiter},
        **{"--include": include, "--exclude": exclude, "--label-language": label_language},
    }
    begun = prediction.ResumeNote.of(model, chosen)
    rest: Iterator[Document] = chain([first], documents)
    if out_folder is not None and resume:
        rest = (one for one in rest if not _file_of(one.name, out_folder).exists())
    target = out_folder or out
    if target is not None and resume:
        begun.check(target)
    if out is not None and replace:
        out.unlink(missing_ok=True)
    with (
        resumable(None if target is None else " with --resume"),
        options.cluster(dask) as engine,
        prediction.Output.to_file(out, resume=resume, encoding=layout.encoding)
        if out
        else prediction.Output(sys.stdout.buffer, durable=False) as output,
    ):
        batches = prediction.answer_batches(
            fitted,
            rest,
            batch=batch,
            choice=prediction.Choice(top, threshold, at_least, limit),
            allowed=None if allowed.all() else allowed,
            engine=engine,
            texts=kind in WITH_TEXTS,
        )
        if out_folder is not None:
            out_folder.mkdir(exist_ok=True)
        n_answered = 0 if out_folder is None else sum(1 for _ in out_folder.glob("*.tsv"))
        is_begun = out is not None and out.stat().st_size > 0
        if out is not None and is_begun:
            n_answered = prediction.skip_answered(out, layout, rest)
            print_message(f"{n_answered:,} documents have answers; going on.", quiet)
        if target is not None:
            begun.write(target)
        if out_folder is None and not is_begun:
            output.write(layout.header)
        write = (
            _into_folder(out_folder, labels, called)
            if out_folder is not None
            else lambda answers: output.write("".join(map(layout.line, answers)))
        )
        _write(write, batches, quiet, input, n_answered)
    if target is not None:
        begun.remove(target)
    print_message(reading_line(source), quiet)


def _check_outputs(
    input: list[str],
    out: Path | None,
    out_folder: Path | None,
    *,
    resume: bool,
    replace: bool,
    all_scores: bool,
) -> None:
    """Raise for places that answers cannot go to, and for options that exclude each other."""
    if out is not None and out_folder is not None:
        raise ValueError("Answers go to --out or to --out-folder, got both. Name one.")
    if out is None and out_folder is None and (resume or replace):
        which = "--resume goes on with" if resume else "--replace overwrites"
        raise ValueError(f"{which} a file: name it by --out.")
    if out_folder is not None and (all_scores or replace):
        which = "--all-scores" if all_scores else "--replace"
        raise ValueError(f"{which} is for one file with all answers: name it by --out.")
    if resume and replace:
        raise ValueError("--resume goes on with --out, and --replace begins anew. Give one.")
    if out is not None:
        options.check_out(out, *input)
        if not (resume or replace):
            way_out = "--resume goes on with it, --replace overwrites it; else name another."
            options.check_new(out, way_out)
    if out_folder is not None:
        if not out_folder.parent.is_dir():
            raise ValueError(f"--out-folder must be in a folder that exists, got {out_folder}.")
        if out_folder.exists() and not resume:
            raise ValueError(
                f"--out-folder must be a new folder, and {out_folder} exists. --resume goes on "
                "with it; else delete it or name another."
            )


def _count_documents(sources: list[str]) -> int | None:
    """Return about how many documents there are, if a glance says so: a line or a file for each."""
    total = 0
    for path in map(Path, sources):
        if path.is_dir():
            total += sum(1 for _ in path.glob("*.txt"))
        elif not path.is_file() or path.suffix.lower() in (".json", ".gz", ".bz2", ".xz"):
            return None
        else:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    total += chunk.count(b"\n")
    return total or None


def read_documents(
    input: list[str], format: Any, reading: options.Reading, **wanted: Any
) -> Documents | DocumentFiles:
    """Return the documents of files and folders, or of stdin; ``wanted`` as Documents has it."""
    from labelkin.corpora.documents import DocumentFiles, Documents

    if "-" not in input:
        return DocumentFiles(input, format=format, **wanted, **reading.named())
    if len(input) > 1:
        raise ValueError(f"stdin (-) is read alone, got {', '.join(input)}.")
    return Documents(sys.stdin.buffer, format, name="stdin", **wanted, **reading.named())


def reading_line(source: Documents | DocumentFiles) -> str:
    """Return how documents were read, in one line."""
    from labelkin.corpora.documents import Documents

    counts = source.understood.counts if isinstance(source, Documents) else source.counts
    said = [f"{counted(counts['document'], 'document')} read", str(source.understood)]
    return ", ".join(filter(None, said)) + "."


def _conventions(
    source: Documents | DocumentFiles,
    reading: options.Reading,
    texts: list[str],
    kind: str,
    *,
    is_file: bool,
) -> dict[str, str]:
    """Return delimiter, label separator and encoding of the table that documents are read from.

    An encoding that does not contain all ``texts`` is replaced by UTF-8 with a byte order mark,
    and so are UTF-16 and UTF-32, which have line ends of several bytes.
    """
    from dataclasses import replace

    from labelkin.corpora.documents import TABLES, Documents, format_of

    first = source if isinstance(source, Documents) else source.parts[0]
    path = first.path
    format = format_of(path) if first.format is None and path else first.format
    if format not in TABLES or kind not in TABLES:
        return {}
    labels = replace(first, needed=(), optional=("labels",))
    with suppress(ValueError):  # labels that cannot be read are not needed here
        next(iter(labels if path else ()), None)
    encoding = reading.encoding or first.understood.encoding or "utf-8"
    try:
        is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
        "".join(texts).encode(encoding)
    except UnicodeEncodeError:
        is_wide = True
    separator = (reading.separator or labels.understood.separator or "").strip("\r\n")
    found = {
        "delimiter": (reading.delimiter or first.understood.delimiter) if kind == "csv" else None,
        "separator": separator if not any(separator in text for text in texts) else None,
        "encoding": ("utf-8-sig" if is_wide else encoding) if is_file else None,
    }
    return {name: value for name, value in found.items() if value}


def _kind_of(out: Path) -> str:
    """Return the format of answers, by the ending of their file; JSON is a line per answer."""
    from labelkin.prediction.output import LAYOUTS

    ending = out.suffix.lower().removeprefix(".")
    return ending if ending in LAYOUTS else "jsonl"


def _file_of(name: str | int, folder: Path) -> Path:
    from labelkin.prediction import file_name

    return folder / file_name(name)


def _into_folder(
    folder: Path, labels: list[str], names: list[str] | None
) -> Callable[[list[Answer]], None]:
    """Return what writes the labels of each document to a file of its own."""
    from labelkin.files import write_atomic
    from labelkin.prediction import document_lines

    written: set[Path] = set()

    def write(answers: list[Answer]) -> None:
        for answer in answers:
            file = _file_of(answer.id, folder)
            if file in written:
                raise ValueError(
                    f"Documents must have ids of their own for a file each, got {answer.id!r} "
                    "again. Use --out."
                )
            written.add(file)
            write_atomic(file, document_lines(answer, labels, names))

    return write


def _write(
    write: Callable[[list[Answer]], None],
    batches: Iterator[list[Answer]],
    quiet: bool,
    sources: list[str],
    n_answered: int,
) -> None:
    """Write answers batch by batch; a terminal shows how many there are, and the time left."""
    from rich.progress import TimeElapsedColumn, TimeRemainingColumn

    start, n_documents, n_empty, n_few = time.perf_counter(), 0, 0, 0
    columns: tuple[Any, ...] = ("{task.completed:,.0f} documents", TimeElapsedColumn())
    is_shown = not quiet and sys.stderr.isatty()
    total = _count_documents(sources) if is_shown else None
    if total is not None:
        total = max(total - n_answered, 0)
        left = ("of about {task.total:,.0f},", TimeRemainingColumn(), "left")
        columns = (columns[0], *left)
    with progress_bars(*columns, shown=is_shown) as bar:
        task = bar.add_task("", total=total)
        for answers in batches:
            write(answers)
            n_documents += len(answers)
            n_empty += sum(not len(answer.given) for answer in answers)
            n_few += sum(answer.has_few_words for answer in answers)
            bar.update(task, completed=n_documents)
    seconds = time.perf_counter() - start
    without = f"{n_empty:,} of them without a label" if n_empty else "each with a label"
    print_message(f"{counted(n_documents, 'document')} in {seconds:.1f} s, {without}.", quiet)
    if n_few:
        print_message(
            f"Note: the model knows few words of {counted(n_few, 'document')}. Another language, "
            "or another subject? Check their labels.",
            quiet,
        )
