"""``labelkin demo``, ``corpus``, ``experiment``, ``report``: from corpora to the paper's tables."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelkin.cli.options import (
    CorpusName,
    CorpusNames,
    NJobs,
    Quiet,
    Reading,
    check_corpus,
    check_input,
    check_new,
    check_out,
    print_label_notes,
    reads_corpus,
)
from labelkin.cli.printing import (
    counted,
    echo,
    listed,
    print_message,
    print_table,
    progress_bars,
    resumable,
)

if TYPE_CHECKING:
    from labelkin.corpora import Corpus
    from labelkin.research.experiments.plan import Experiment
    from labelkin.research.experiments.run import Progress

_ABOUT_EXPERIMENTS = """Experiments: systems compared on a corpus, as a TOML file says.

The paper's tables, each by one command:

\b
  labelkin experiment list                what comes with labelkin
  labelkin corpus fetch reuters21578      the corpus, if it is not here
  labelkin experiment run reuters21578    all systems, then the tables

What the other labels add on a corpus of your own:

\b
  labelkin experiment new mine.jsonl      writes mine.toml, to be changed
  labelkin experiment run mine.toml

A run that was stopped goes on when the command is given again."""

corpus = typer.Typer(
    help="Corpora: list, describe, download and export.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
experiment = typer.Typer(help=_ABOUT_EXPERIMENTS, no_args_is_help=True, rich_markup_mode=None)


def demo(
    n_documents: Annotated[int, typer.Option(min=2, help="How many documents to make.")] = 3000,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of the corpus and the folds.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("labelkin-demo"),
    quiet: Quiet = False,
) -> None:
    """Train and compare eighteen systems on the built-in corpus.

    They are the paper's fifteen, and for each of its three content classifiers one that learns how
    much the other labels count.

    Example:  labelkin demo --n-documents 1000
    """
    from rich.console import Console
    from rich.text import Text

    from labelkin.research.demo import run_demo

    with _bars(quiet, stay=True) as (runs, blocks):
        text = Text(run_demo(n_documents, random_state, out, progress=runs, run_progress=blocks))
    text.highlight_regex(r"(?<= )[≪<](?= |$)", "green")
    text.highlight_regex(r"(?<= )[≫>](?= |$)", "red")
    Console(soft_wrap=True).print(text)


@corpus.command("list")
def list_corpora() -> None:
    """List the corpora known by name, and where they are.

    Example:  labelkin corpus list
    """
    from labelkin import corpora

    print_table(
        ("name", "what it is", "where"),
        [(name, known.title, _place(name)) for name, known in corpora.KNOWN.items()],
        left=(0, 1, 2),
    )


@corpus.command()
@reads_corpus
def info(name: CorpusNames, reading: Reading) -> None:
    """Read a corpus and print its sizes, source and licence.

    Example:  labelkin corpus info newsroom
    """
    found = reading.corpus(name)
    for title, value in _describe(found).items():
        echo(f"{title:<12} {value}")
    print_label_notes(found)


@corpus.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A known corpus.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where it goes; by default where it is looked for.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Download a corpus from its official site; files that exist are kept.

    Example:  labelkin corpus fetch reuters21578
    """
    from rich.progress import BarColumn, DownloadColumn, TransferSpeedColumn

    from labelkin import corpora

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars = progress_bars(*columns, shown=not quiet and sys.stderr.isatty(), stay=True)
    tasks: dict[str, Any] = {}

    def show(file: str, done: int, total: int | None) -> None:
        task = tasks.setdefault(file, bars.add_task(file, total=total))
        bars.update(task, completed=done, total=total)

    with resumable(), bars:
        fetched = corpora.fetch(name, folder, progress=show)
    echo(fetched.folder)
    if fetched.by_hand:
        echo(fetched.by_hand, err=True)


@corpus.command()
def export(
    name: Annotated[
        Literal["newsroom"], typer.Argument(metavar="newsroom", help="The built-in corpus.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the files; created if missing.")],
    n_documents: Annotated[int, typer.Option(min=2, help="Number of documents.")] = 3000,
) -> None:
    """Write the built-in corpus to files, to try the other commands with.

    news.csv and news.jsonl contain the training documents with their labels, new.csv and
    texts.jsonl contain the test documents without labels. Existing files are not overwritten.

    Example:  labelkin corpus export newsroom --out news
    """
    files = [out / file for file in ("news.csv", "new.csv", "news.jsonl", "texts.jsonl")]
    for file in files:
        check_new(file)
    from labelkin import corpora
    from labelkin.curation.corrected_files import write_json_lines
    from labelkin.files import csv_text, write_atomic

    news = corpora.newsroom(n_documents)
    ids, labels = [f"n{i}" for i in range(1, n_documents + 1)], news.label_sets()
    rows = [
        (id, *text.split("\n", 1), ";".join(row))
        for id, text, row in zip(ids, news.documents, labels, strict=True)
    ]
    heading, train, test = ("id", "title", "text", "labels"), news.train, news.test
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(files[0], csv_text([heading, *(rows[i] for i in train)]))
    write_atomic(files[1], csv_text([heading[:3], *(rows[i][:3] for i in test)]))
    lines = ({"id": ids[i], "text": news.documents[i], "labels": labels[i]} for i in train)
    write_json_lines(lines, files[2])
    write_json_lines(({"id": ids[i], "text": news.documents[i]} for i in test), files[3])
    for file, rows_in in zip(files, (train, test, train, test), strict=True):
        echo(f"{file}: {counted(len(rows_in), 'document')}")


@experiment.command("list")
def list_experiments(
    folder: Annotated[
        Path | None, typer.Argument(help="A result folder, whose complete runs are listed.")
    ] = None,
) -> None:
    """List the experiments there are, or the runs in a folder.

    Those that come with labelkin, and whether their corpora are here; or, of a result folder, the
    runs that are complete.

    Example:  labelkin experiment list
    """
    check_input(folder)
    if folder is not None:
        from labelkin.research.experiments import read_results

        for result in read_results(folder, partial=True).runs:
            echo(f"{result.corpus}\t{result.system}\tseed {result.seed}\t{result.folder}")
        return
    from labelkin.research.experiments import find_experiment, shipped_experiments

    print_table(
        ("name", "what it is", "corpus", "systems", "the corpus is"),
        [_experiment_row(find_experiment(name)) for name in shipped_experiments()],
        left=(0, 1, 2, 4),
    )


@experiment.command()
def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT", help="One that comes with labelkin, or the path of a TOML file."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Where runs and tables go; labelkin-results/NAME if not named."),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(help="Where the corpus is, if not where it is looked for; for one corpus."),
    ] = None,
    n_jobs: NJobs = None,
    quiet: Quiet = False,
) -> None:
    """Run an experiment, then write its tables.

    Runs that are there are not done again: it can be stopped at any moment, and the same command
    goes on.

    Example:  labelkin experiment run reuters21578 --out results/reuters
    """
    check_input(path)
    if Path(name).suffix or os.sep in name:
        check_input(Path(name))
    from labelkin.research.experiments import find_experiment, run_experiment

    found, paths = find_experiment(name), {}
    if path is not None:
        if len(found.corpora) != 1:
            names = ", ".join(choice.name for choice in found.corpora)
            raise ValueError(
                f"--path is for one corpus, and {name} has {names}: set LABELKIN_DATA."
            )
        paths[found.corpora[0].name] = path
    place = Path("labelkin-results") / found.name if out is None else out
    with resumable(), _bars(quiet) as (runs, blocks):
        run_experiment(found, place, paths=paths, n_jobs=n_jobs, progress=runs, run_progress=blocks)
    report([place], None)


@experiment.command()
@reads_corpus
def new(
    name: CorpusName,
    reading: Reading,
    out: Annotated[
        Path | None, typer.Option(help="The new file; named as the corpus if not named.")
    ] = None,
) -> None:
    """Write an experiment on a corpus of your own.

    A commented TOML file that runs as it is. It compares the content classifier alone, the paper's
    method (M2, weight 1) and the learned weight; what else there is stands in it as comments. A
    corpus without a split gets one.

    Example:  labelkin experiment new mine.jsonl --out mine.toml
    """
    check_corpus(name)
    file = Path(f"{Path(name).stem}.toml") if out is None else out
    check_out(file, name)
    check_new(file, "Name another by --out, or delete it.")
    from labelkin.files import write_atomic
    from labelkin.research.experiments import new_experiment

    text = new_experiment(name, file, corpus=reading.corpus(name, quiet=False), **reading.named())
    write_atomic(file, text)
    echo(file)
    print_message(f"Look at it, then run it:  labelkin experiment run {file}")


def report(
    folders: Annotated[list[Path], typer.Argument(help="Result folders.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the tables go; by default each into its own folder.")
    ] = None,
) -> None:
    """Write the paper's tables from stored runs: Markdown, CSV, LaTeX and a page with plots.

    Example:  labelkin report results/reuters results/ohsumed --out tables
    """
    for folder in folders:
        check_input(folder)
    from labelkin.research.reports.documents import report_results

    for folder in folders:
        place = out / folder.name if out is not None and len(folders) > 1 else out
        files = report_results(folder, place)
        tables = (files[0].parent / "tables.md").read_text(encoding="utf-8")
        echo(html.unescape(tables).replace("\\_", "_"))  # Markdown's escapes are for files
        for file in files:
            echo(file, err=True)


def _place(name: str) -> str:
    """Return where a known corpus is."""
    from labelkin import corpora

    if not corpora.KNOWN[name].folder:
        return "made"
    return str(corpora.find(name) or "not here")


def _experiment_row(found: Experiment) -> tuple[str, ...]:
    """Return what a list says of an experiment."""
    names = [choice.name for choice in found.corpora]
    places = [_place(name) for name in names]
    missing = [name for name, place in zip(names, places, strict=True) if place == "not here"]
    systems = {run.system.name for run in (*found.runs(), *found.threshold_runs())}
    state = "made" if places == ["made"] else "found"
    if missing:
        state = f"not here: {', '.join(missing)}" if missing != names else "not here"
    return found.name, found.title, ", ".join(names), str(len(systems)), state


def _describe(found: Corpus) -> dict[str, str]:
    """Return what a person wants to know of a corpus, line by line."""
    from labelkin.corpora.corpus import labels_of

    summary, per_document = found.summary(), labels_of(found).positive.sum(axis=1)
    n_empty = int((per_document == 0).sum())
    return {
        "name": found.name,
        "documents": summary["documents"],
        "labels": f"{found.Y.shape[1]:,}: {listed(found.label_names)}",
        "per document": f"{per_document.mean():.3f} on average, {n_empty:,} documents have none",
        "features": summary["features"],
        **({"understood": found.understood} if found.understood else {}),
        "source": found.source,
        "licence": found.licence,
    }


@contextmanager
def _bars(quiet: bool, stay: bool = False) -> Iterator[tuple[Progress, Progress]]:
    """Show a bar for all runs and one for the run in progress, on stderr; ``stay``: at the end."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

    columns = ("{task.description:<24}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with progress_bars(*columns, shown=not quiet, stay=stay) as bars:
        tasks = [bars.add_task(name, total=None) for name in ("runs", "documents")]

        def show(which: int) -> Any:
            return lambda done, total, text: bars.update(
                tasks[which], completed=done, total=total, description=text
            )

        yield show(0), show(1)
