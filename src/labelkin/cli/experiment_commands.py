"""``labelkin experiment`` and ``labelkin report``: runs from a TOML file, tables from runs."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from labelkin.cli.printing import resumable
from labelkin.experiment import read_experiment, read_results, run_experiment
from labelkin.experiment.run import Progress as Tell
from labelkin.report.documents import report_results

app = typer.Typer(help="Experiments: the paper's tables by one command.", no_args_is_help=True)

Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bars.")]


@app.command()
def run(
    file: Annotated[
        Path, typer.Argument(help="The experiment, e.g. experiments/reuters21578.toml.")
    ],
    out: Annotated[Path, typer.Option(help="Where runs and tables go.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder or file of the corpus, if it has only one.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; -1 for all cores.")] = None,
    quiet: Quiet = False,
) -> None:
    """Do the runs of an experiment that are not there yet, then write its tables.

    It can be stopped at any moment; the same command goes on.

    Example:  labelkin experiment run experiments/reuters21578.toml --out results/reuters
    """
    experiment = read_experiment(file)
    paths = {}
    if data is not None:
        if len(experiment.corpora) != 1:
            names = ", ".join(corpus.name for corpus in experiment.corpora)
            raise ValueError(
                f"--data is for one corpus, and {file} has {names}: set LABELKIN_DATA."
            )
        paths[experiment.corpora[0].name] = data
    with resumable(), _bars(quiet) as (whole, part):
        run_experiment(experiment, out, paths=paths, n_jobs=jobs, progress=whole, run_progress=part)
    report([out], None)


@app.command("list")
def list_runs(
    folder: Annotated[Path, typer.Argument(help="Where an experiment put its runs.")],
) -> None:
    """List the runs of a result folder that are complete.

    Example:  labelkin experiment list results/reuters
    """
    for result in read_results(folder, partial=True).runs:
        typer.echo(f"{result.corpus}\t{result.system}\tseed {result.seed}\t{result.folder}")


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
        place = out / folder.name if out is not None and len(folders) > 1 else out
        files = report_results(folder, place)
        tables = (files[0].parent / "tables.md").read_text(encoding="utf-8")
        typer.echo(html.unescape(tables).replace("\\_", "_"))  # Markdown's escapes are for files
        for file in files:
            typer.echo(file, err=True)


@contextmanager
def _bars(quiet: bool) -> Iterator[tuple[Tell, Tell]]:
    """Show a bar for the whole and one for the run in progress, on stderr."""
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=quiet,
    )
    with bars:
        tasks = [bars.add_task(name, total=None) for name in ("runs", "documents")]

        def show(which: int) -> Tell:
            def tell(done: int, total: int, text: str) -> None:
                bars.update(tasks[which], completed=done, total=total, description=f"{text:<24}")

            return tell

        yield show(0), show(1)
