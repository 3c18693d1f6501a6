"""``labelkin demo`` and ``labelkin experiment``: comparisons of systems on corpora."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelkin.cli import options
from labelkin.cli.corpus import place_of
from labelkin.cli.options import argument, option
from labelkin.cli.printing import (
    echo,
    print_json,
    print_message,
    print_pairs,
    print_table,
    progress_bars,
    resumable,
)

if TYPE_CHECKING:
    from labelkin.evaluation.significance import Bootstrap, SignTest
    from labelkin.research.experiments.plan import Experiment
    from labelkin.research.experiments.runs import Progress

_ABOUT = """Experiments: compare systems on a corpus. A TOML file describes them.

The tables of the paper: `labelkin corpus fetch reuters21578` downloads the corpus, and
`labelkin experiment run reuters21578` trains all systems and writes the tables.

A corpus of your own: `labelkin experiment new mine.jsonl` writes mine.toml, and
`labelkin experiment run mine.toml` runs it. Run the same command again to resume."""

_VERDICT = ("P", "sign", "better")

experiment = typer.Typer(help=_ABOUT, no_args_is_help=True, rich_markup_mode="markdown")


def demo(
    n_documents: Annotated[int, option("Number of documents.", min=2)] = 3000,
    random_state: Annotated[int, option("Seed of the corpus and the folds.", min=0)] = 0,
    out: Annotated[Path, option("Folder of the report.")] = Path("labelkin-demo"),
    quiet: options.Quiet = False,
) -> None:
    """Train and compare eighteen systems on a synthetic corpus.

    They are the fifteen systems of the paper, and for each of its three content classifiers one
    with a learned weight of label evidence.

    Example:  labelkin demo --n-documents 1000
    """
    from labelkin.research.demo import run_demo
    from labelkin.research.reports.tables import LEGEND

    with _bar(quiet, stay=True) as progress:
        tables = run_demo(n_documents, random_state, out, progress=progress)
    for table in tables:
        echo(f"{table.title}:\n")
        print_table(table.header, [[cell.text for cell in row] for row in table.rows])
        echo()
    echo(f"{textwrap.fill(LEGEND, 76)}\n\nReport: {(out / 'report.html').resolve()}")


@experiment.command("list")
def list_experiments(
    folder: Annotated[Path | None, argument("A result folder.", exists=True)] = None,
) -> None:
    """List the experiments of labelkin and their corpora, or the complete runs in a folder.

    Example:  labelkin experiment list
    """
    if folder is not None:
        from labelkin.research.experiments import read_results

        for result in read_results(folder, partial=True).runs:
            echo(f"{result.corpus}\t{result.system}\tseed {result.seed}\t{result.folder}")
        return
    from labelkin.research.experiments import find_experiment, shipped_experiments

    print_table(
        ("name", "description", "corpus", "systems", "the corpus is"),
        [_experiment_row(find_experiment(name)) for name in shipped_experiments()],
        left=(0, 1, 2, 4),
    )


@experiment.command("run")
def run_one(
    name: Annotated[
        str,
        argument("Name of an experiment (experiment list), or a TOML file.", metavar="EXPERIMENT"),
    ],
    out: Annotated[
        Path | None, option("Folder of runs and tables. [default: labelkin-results/NAME]")
    ] = None,
    path: Annotated[
        Path | None, option("Path of the corpus, if the experiment has one corpus.", exists=True)
    ] = None,
    n_jobs: options.NJobs = None,
    quiet: options.Quiet = False,
) -> None:
    """Run an experiment, then write its tables.

    Complete runs are kept: run the same command again to resume.

    Example:  labelkin experiment run reuters21578 --out results/reuters
    """
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
    with resumable(), _bar(quiet) as progress:
        run_experiment(found, place, paths=paths, n_jobs=n_jobs, progress=progress)
    report_folders([place], None)


@experiment.command()
@options.expand
def new(
    name: options.CorpusName,
    reading: options.Reading,
    out: Annotated[Path | None, option("The new file. [default: named as the corpus]")] = None,
) -> None:
    """Write an experiment on a corpus of your own.

    A commented TOML file that compares the content classifier alone, the paper's method (M2, weight
    1) and the learned weight; comments show the other choices. A corpus without a split gets one.

    Example:  labelkin experiment new mine.jsonl --out mine.toml
    """
    file = Path(f"{Path(name).stem}.toml") if out is None else out
    options.check_out(file, name, hint="name another by --out, or delete it.")
    from labelkin.files import write_atomic
    from labelkin.research.experiments import new_experiment

    text = new_experiment(name, file, corpus=reading.corpus(name, quiet=False), **reading.named())
    write_atomic(file, text)
    echo(file)
    print_message(f"Look at it, then run it:  labelkin experiment run {file}")


@experiment.command("report")
def report_folders(
    folders: Annotated[list[Path], argument("Result folders.", exists=True)],
    out: Annotated[
        Path | None, option("Folder of the tables. [default: the result folder]")
    ] = None,
) -> None:
    """Write the tables of the paper from stored runs: Markdown, CSV, LaTeX and a page with plots.

    Example:  labelkin experiment report results/reuters results/ohsumed --out tables
    """
    from labelkin.research.reports.tables import report_results

    for folder in folders:
        place = out / folder.name if out is not None and len(folders) > 1 else out
        files = report_results(folder, place)
        tables = (files[0].parent / "tables.md").read_text(encoding="utf-8")
        echo(html.unescape(tables).replace("\\_", "_"))
        for file in files:
            echo(file, err=True)


@experiment.command()
def compare(
    baseline: Annotated[Path, argument("The folder of a run (experiment list).", metavar="RUN")],
    proposal: Annotated[Path, argument("The folder of another run.", metavar="RUN")],
    n_draws: Annotated[int, option("Draws of the bootstrap.", min=1)] = 1000,
    random_state: options.RandomState = 0,
    json: options.AsJson = False,
) -> None:
    """Compare two runs on the same documents: metrics, sign tests, bootstrap intervals.

    Example:  labelkin experiment compare results/reuters/reuters21578/runs/NB@seed0
    results/reuters/reuters21578/runs/NB+BLR+M2@seed0
    """
    if baseline.resolve() == proposal.resolve():
        raise ValueError(f"Two different runs must be compared, got {baseline} twice.")
    from labelkin.research.reports.results import compare_runs

    found = compare_runs(baseline, proposal, n_draws, random_state)
    if json:
        plain = {key: [vars(one) for one in found[key]] for key in ("tests", "bootstraps")}
        print_json(found | plain)
        return
    print_pairs([(name, found[name]) for name in ("baseline", "proposal")])
    echo("")
    print_table(
        ("metric", "baseline", "proposal", "difference"),
        [
            (metric, f"{one:.5f}", f"{other:.5f}", f"{other - one:+.5f}")
            for metric, (one, other) in found["scores"].items()
        ],
    )
    rows = [
        [t.test, str(t.n), str(t.baseline_wins), str(t.proposal_wins), *verdict(t)]
        for t in found["tests"]
    ]
    echo("")
    print_table(("test", "n", "baseline wins", "proposal wins", *_VERDICT), rows, left=(0, 6))
    rows = [
        [b.metric, *(f"{x:+.5f}" for x in (b.difference, b.low, b.high)), *verdict(b)]
        for b in found["bootstraps"]
    ]
    echo("")
    print_table(("bootstrap", "difference", "low", "high", *_VERDICT), rows, left=(0, 6))
    echo("\n≪ and <: the baseline is worse (P < 0.01, P < 0.05); ≫ and >: it is better.")


def verdict(found: SignTest | Bootstrap) -> tuple[str, str, str]:
    """Return P, the sign, and the name of the better run."""
    better = "none shown" if found.sign == "~" else str(found.better)
    return f"{found.p_value:.4g}", found.sign, better


def _experiment_row(found: Experiment) -> tuple[str, ...]:
    """Return the row of an experiment in the list."""
    names = [choice.name for choice in found.corpora]
    places = [place_of(name) for name in names]
    missing = [name for name, place in zip(names, places, strict=True) if place == "not here"]
    systems = {run.system for run in found.runs()}
    state = "synthetic" if places == ["synthetic"] else "found"
    if missing:
        state = f"not here: {', '.join(missing)}" if missing != names else "not here"
    return found.name, found.title, ", ".join(names), str(len(systems)), state


@contextmanager
def _bar(quiet: bool, stay: bool = False) -> Iterator[Progress]:
    """Show a bar for the runs; ``stay``: also at the end."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

    columns = ("{task.description:<24}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with progress_bars(*columns, shown=not quiet, stay=stay) as bars:
        task = bars.add_task("runs", total=None)
        yield lambda done, total, text: bars.update(
            task, completed=done, total=total, description=text
        )
