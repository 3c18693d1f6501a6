"""``labelkin predict``: labels for many documents, in bounded memory, to be gone on with."""

from __future__ import annotations

import codecs
import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli.options import (
    Encoding,
    ModelFile,
    Quiet,
    check_input,
    check_model,
    check_new,
    check_out,
    load_model,
)
from labelkin.cli.printing import print_message, resumable

if TYPE_CHECKING:
    from labelkin.prediction import Document, Layout, Output, ResumeNote

#: What the endings of file names say about what is in them; any other is plain text.
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
}


def predict(
    model: ModelFile,
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
    text_column: Annotated[str, typer.Option(help="Key or column of the texts.")] = "text",
    id_column: Annotated[str, typer.Option(help="Key or column of the ids.")] = "id",
    encoding: Encoding = None,
    quiet: Quiet = False,
) -> None:
    """Label many documents; answers come in their order, one line each.

    A document without an id is known by its number. The answers go to the disk batch by batch: if
    the work is stopped, the same command with --resume goes on, without a gap or a repetition.

    Example:  labelkin predict news.labelkin texts.jsonl --out labels.jsonl --resume

    Example:  cat texts.txt | labelkin predict news.labelkin - --format csv > labels.csv
    """
    check_model(model)
    check_input(None if input == "-" else Path(input))
    if out is None and resume:
        raise ValueError("--resume goes on with a file: name it by --out.")
    if out is not None:
        check_out(out, input)
        if not resume:
            check_new(out, "--resume goes on with it; else delete it or name another.")
    from labelkin.prediction import ResumeNote, answer_batches, make_layout

    documents = _documents(input, input_format, encoding or "utf-8", text_column, id_column)
    first = next(documents, None)
    if first is None:
        raise ValueError(f"{_name(input)} must have documents, and has none.")
    fitted = load_model(model)
    fitted.check_texts(str(model))
    kind = format or (SUFFIXES.get(out.suffix.lower(), "jsonl") if out else "jsonl")
    layout = make_layout(kind, fitted.labels.tolist(), all_scores)
    begun = ResumeNote.of(
        model,
        {
            "--format": kind,
            "--limit": limit,
            "--all-scores": all_scores,
            "--text-column": text_column,
            "--id-column": id_column,
        },
    )
    rest = chain([first], documents)
    batches = answer_batches(fitted, rest, batch=batch, limit=limit)
    if out is not None and resume:
        begun.check(out)
    with resumable(" with --resume" if out else None), _opened(out, resume) as output:
        n_before = _begin(output, out, layout, rest, begun)
        print_message(f"{n_before:,} documents have answers; going on.", quiet or not n_before)
        _write(output, layout, batches, quiet)
    if out is not None:
        begun.remove(out)


def _documents(
    source: str, kind: str | None, encoding: str, text: str, id: str
) -> Iterator[Document]:
    from labelkin.corpora.decoded_lines import decoded_lines
    from labelkin.prediction import read_documents, read_folder

    if source == "-":
        lines, kind = _stdin_lines(encoding, kind)
        return read_documents(lines, kind, _name(source), text=text, id=id)
    path = Path(source)
    if path.is_dir():
        return read_folder(path, encoding)
    kind = kind or SUFFIXES.get(Path(path.name.removesuffix(".gz")).suffix.lower(), "text")
    return read_documents(decoded_lines(path, encoding), kind, path.name, text=text, id=id)


def _stdin_lines(encoding: str, kind: str | None) -> tuple[Iterator[str], str]:
    """Return the lines of stdin, and what they are: JSON if the first one looks like it."""
    lines = _decoded_stdin(encoding)
    first = list(islice(lines, 1))
    if kind is None:
        kind = "jsonl" if "".join(first).lstrip().startswith("{") else "text"
    return chain(first, lines), kind


def _decoded_stdin(encoding: str) -> Iterator[str]:
    utf8 = codecs.lookup(encoding).name == "utf-8"
    name = "utf-8-sig" if utf8 else encoding
    n_lines = 0
    try:
        for line in io.TextIOWrapper(sys.stdin.buffer, encoding=name, newline="\n"):
            yield line
            n_lines += 1
    except UnicodeDecodeError as error:
        raise ValueError(
            f"stdin: the text must be {encoding}, got 0x{error.object[error.start]:02X} after line "
            f"{n_lines} ({error.reason}). Name its encoding, e.g. encoding='latin-1'."
        ) from None


def _name(source: str) -> str:
    return "stdin" if source == "-" else source


@contextmanager
def _opened(out: Path | None, resume: bool) -> Iterator[Output]:
    from labelkin.prediction import Output

    if out is None:
        yield Output(sys.stdout.buffer, durable=False)
        return
    with Output.to_file(out, resume=resume) as output:
        yield output


def _begin(
    output: Output,
    out: Path | None,
    layout: Layout,
    documents: Iterator[Document],
    begun: ResumeNote,
) -> int:
    """Note what the work is done with, and pass over what is answered or write the header.

    Returns how many answers are there.
    """
    from labelkin.prediction import skip_answered

    n_answered = 0
    is_begun = out is not None and out.stat().st_size > 0
    if out is not None and is_begun:
        n_answered = skip_answered(out, layout, documents)
    if out is not None:
        begun.write(out)
    if not is_begun:
        output.write(layout.header)
    return n_answered


def _write(output: Output, layout: Layout, batches: Iterator[Any], quiet: bool) -> None:
    start, n_documents = time.perf_counter(), 0
    with _counter(quiet) as show:
        for answers in batches:
            output.write("".join(map(layout.line, answers)))
            n_documents += len(answers)
            show(n_documents)
    seconds = time.perf_counter() - start
    print_message(f"{n_documents:,} documents in {seconds:.1f} s.", quiet)


@contextmanager
def _counter(quiet: bool) -> Iterator[Any]:
    """Show on a terminal how many documents are done."""
    if quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.completed:,.0f} documents"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done: bar.update(task, completed=done)
