"""``labelkin predict``: labels for many documents, in bounded memory, resumable."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli import options
from labelkin.cli.printing import print_message, progress_bars, resumable

if TYPE_CHECKING:
    from labelkin.prediction import Answer, Layout, Output


def predict(
    model: options.ModelFile,
    input: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="JSON lines, CSV or TSV with a column of texts, a text file with a document per "
            "line, a folder of .txt files, or - for stdin.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file; stdout if not named.")
    ] = None,
    format: Annotated[
        Literal["jsonl", "csv", "tsv"] | None,
        typer.Option(help="Of the answers; by the ending of --out, else jsonl."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many labels each.")] = None,
    all_scores: Annotated[
        bool, typer.Option("--all-scores", help="Write the probability of every label.")
    ] = False,
    batch: Annotated[int | None, typer.Option(min=1, help="Documents at a time.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on after the last answer in --out.")
    ] = False,
    input_format: Annotated[
        Literal["jsonl", "csv", "tsv", "text"] | None,
        typer.Option(help="Of the documents; by the ending of the file if not named."),
    ] = None,
    columns: options.Columns = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    label_language: options.LabelLanguage = None,
    quiet: options.Quiet = False,
) -> None:
    """Label many documents; answers come in their order, one line each.

    A document without an id is known by its number. The answers go to the disk batch by batch: if
    the work is stopped, the same command with --resume goes on, without a gap or a repetition.

    A model with a vocabulary writes the names of labels beside them, in --label-language.

    Example:  labelkin predict news.labelkin texts.jsonl --out labels.jsonl --resume

    Example:  cat texts.txt | labelkin predict news.labelkin - --format csv > labels.csv
    """
    options.check_model(model)
    options.check_input(None if input == "-" else Path(input))
    if out is None and resume:
        raise ValueError("--resume goes on with a file: name it by --out.")
    if out is not None:
        options.check_out(out, input)
        if not resume:
            options.check_new(out, "--resume goes on with it; else delete it or name another.")
    from labelkin.corpora.documents import ENDINGS, Documents

    name = "stdin" if input == "-" else input
    documents = iter(
        Documents(
            sys.stdin.buffer if input == "-" else input,
            input_format,
            columns=options.read_columns(columns or []),
            delimiter=delimiter,
            encoding=encoding or "utf-8",
            name=name if input == "-" else "",
        )
    )
    first = next(documents, None)
    if first is None:
        raise ValueError(f"{name} must have documents, and has none.")
    from labelkin import prediction

    fitted = options.load_model(model)
    fitted.check_texts(str(model))
    kind = format or (ENDINGS.get(out.suffix.lower(), "jsonl") if out else "jsonl")
    names = options.label_names(fitted, label_language)
    allowed = names.allowed(include or (), exclude or ())
    columns_given = allowed.nonzero()[0].tolist()
    shown = names.all(label_language)
    layout = prediction.make_layout(
        kind,
        [names.labels[j] for j in columns_given],
        all_scores,
        None if names.vocabulary is None else [shown[j] for j in columns_given],
    )
    chosen: dict[str, object] = {"--format": kind, "--limit": limit, "--all-scores": all_scores}
    chosen |= {"--columns": columns, "--delimiter": delimiter}
    chosen |= {"--include": include, "--exclude": exclude, "--label-language": label_language}
    begun = prediction.ResumeNote.of(model, chosen)
    rest = chain([first], documents)
    batches = prediction.answer_batches(
        fitted, rest, batch=batch, limit=limit, allowed=None if allowed.all() else allowed
    )
    if out is not None and resume:
        begun.check(out)
    to_stdout = prediction.Output(sys.stdout.buffer, durable=False)
    opened = prediction.Output.to_file(out, resume=resume) if out else to_stdout
    with resumable(" with --resume" if out else None), opened as output:
        is_begun = out is not None and out.stat().st_size > 0
        n_answered = 0
        if out is not None and is_begun:
            n_answered = prediction.skip_answered(out, layout, rest)
            print_message(f"{n_answered:,} documents have answers; going on.", quiet)
        if out is not None:
            begun.write(out)
        if not is_begun:
            output.write(layout.header)
        is_shown = not quiet and sys.stderr.isatty()
        total = _count_documents(input) if is_shown else None
        _write(output, layout, batches, quiet, None if total is None else total - n_answered)
    if out is not None:
        begun.remove(out)


def _count_documents(source: str) -> int | None:
    """Return about how many documents there are, if a glance says so: a line or a file for each."""
    path = Path(source)
    if path.is_dir():
        return sum(1 for _ in path.glob("*.txt"))
    if not path.is_file() or path.suffix.lower() in (".gz", ".bz2", ".xz"):
        return None
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def _write(
    output: Output,
    layout: Layout,
    batches: Iterator[list[Answer]],
    quiet: bool,
    total: int | None = None,
) -> None:
    """Write answers batch by batch; a terminal shows how many there are, and the time left."""
    from rich.progress import TimeElapsedColumn, TimeRemainingColumn

    start, n_documents = time.perf_counter(), 0
    columns: tuple[Any, ...] = ("{task.completed:,.0f} documents", TimeElapsedColumn())
    if total is not None:
        left = ("of about {task.total:,.0f},", TimeRemainingColumn(), "left")
        columns = (columns[0], *left)
    with progress_bars(*columns, shown=not quiet and sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=total)
        for answers in batches:
            output.write("".join(map(layout.line, answers)))
            n_documents += len(answers)
            bar.update(task, completed=n_documents)
    seconds = time.perf_counter() - start
    print_message(f"{n_documents:,} documents in {seconds:.1f} s.", quiet)
