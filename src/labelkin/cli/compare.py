"""``labelkin compare``: two runs of experiments, metric by metric, and whether it was luck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from labelkin.cli.options import AsJson
from labelkin.cli.printing import print_json, print_pairs, print_table

if TYPE_CHECKING:
    from labelkin.experiment import CorpusResults, Run
    from labelkin.significance import Bootstrap, SignTest

_RUNS_DEPTH = 3  # results/<corpus>/runs/<run>


def compare(
    baseline: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a run (experiment list).")
    ],
    proposal: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of another.")],
    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    json: AsJson = False,
) -> None:
    """Compare two runs on the same documents: metrics, sign tests, bootstrap intervals.

    Example:  labelkin compare results/reuters/reuters21578/runs/NB@seed0
    results/reuters/reuters21578/runs/NB+BLR+M2@seed0
    """
    if baseline.resolve() == proposal.resolve():
        raise ValueError(f"Two different runs must be compared, got {baseline} twice.")
    pair = _Stored.read(baseline), _Stored.read(proposal)
    found = compare_runs(*pair, draws, seed)
    if json:
        print_json(found._asdict() | {key: [vars(x) for x in getattr(found, key)]
                                      for key in ("tests", "bootstraps")})  # fmt: skip
        return
    print_pairs([("baseline", found.baseline), ("proposal", found.proposal), ("", "")])
    print_table(("metric", "baseline", "proposal", "difference"), _score_rows(found))
    typer.echo("")
    print_table(
        ("test", "n", "for the better", "P", "sign", "better"), _test_rows(found), left=(0, 5)
    )
    typer.echo("")
    header = ("bootstrap", "difference", "low", "high", "P", "sign", "better")
    print_table(header, _bootstrap_rows(found), left=(0, 6))
    typer.echo("\n≪ and <: the baseline is worse (P < 0.01, P < 0.05); ≫ and >: it is better.")


class Compared(NamedTuple):
    """Two runs side by side.

    Attributes
    ----------
    baseline, proposal
        Their names.
    scores
        By metric: of the baseline, of the proposal.
    tests, bootstraps
        What is sure of the difference.
    """

    baseline: str
    proposal: str
    scores: dict[str, tuple[float, float]]
    tests: list[SignTest]
    bootstraps: list[Bootstrap]


class _Stored(NamedTuple):
    """A stored run, its corpus, and a name that tells it from another."""

    run: Run
    corpus: CorpusResults
    name: str

    @classmethod
    def read(cls, folder: Path) -> _Stored:
        from labelkin.experiment import read_results

        place = folder.resolve()
        if not (place / "run.json").is_file():
            raise ValueError(
                f"A run must be a folder with run.json, and {folder} has none. labelkin experiment "
                "list names the folders of runs."
            )
        results = read_results(place.parents[_RUNS_DEPTH - 1], partial=True)
        for corpus in results.corpora:
            for run in corpus.runs:
                if run.folder.resolve() == place:
                    return cls(run, corpus, f"{run.system} (seed {run.seed})")
        raise ValueError(f"{folder} is no run of the experiment in {results.folder}.")


def compare_runs(first: Any, second: Any, n_draws: int, seed: int) -> Compared:
    """Judge two stored runs on the same truth."""
    from labelkin.metrics import evaluate
    from labelkin.significance import macro_sign_test, micro_sign_test

    truth = _same_truth(first.corpus, second.corpus)
    names = (first.name, second.name)
    if names[0] == names[1]:
        names = (f"{first.run.folder}", f"{second.run.folder}")
    one, other = first.run.decisions(), second.run.decisions()
    judged = [
        evaluate(truth, first.run.log_odds(), one).scores(),
        evaluate(truth, second.run.log_odds(), other).scores(),
    ]
    tests = [test(truth, one, other, names) for test in (micro_sign_test, macro_sign_test)]
    return Compared(
        *names,
        {metric: (judged[0][metric], judged[1][metric]) for metric in judged[0]},
        tests,
        _bootstraps(truth, (first, second), names, n_draws, seed),
    )


def _same_truth(first: CorpusResults, second: CorpusResults) -> Any:
    same = (
        first.Y.names.tolist() == second.Y.names.tolist()
        and first.Y.shape == second.Y.shape
        and (first.Y.positive != second.Y.positive).nnz == 0
    )
    if not same:
        raise ValueError(
            f"Runs must be on the same documents and labels, got {first.name} with "
            f"{first.Y.shape} and {second.name} with {second.Y.shape} (documents, labels)."
        )
    return first.Y


def _bootstraps(
    truth: Any, pair: Any, names: tuple[str, str], n_draws: int, seed: int
) -> list[Bootstrap]:
    """Draw for every metric that the truth allows: those of whole label sets need all cells."""
    from labelkin.significance import SUMMED_METRICS, paired_bootstrap

    whole_sets = {"subset_loss", "one_error"}
    kept = [m for m in SUMMED_METRICS if truth.unknown is None or m not in whole_sets]
    return [
        paired_bootstrap(
            truth,
            _judged(pair[0].run, metric),
            _judged(pair[1].run, metric),
            metric,
            n_draws=n_draws,
            random_state=seed,
            names=names,
        )
        for metric in kept
    ]


def _judged(run: Run, metric: str) -> Any:
    return run.log_odds() if metric == "one_error" else run.decisions()


def _score_rows(found: Compared) -> list[list[str]]:
    return [
        [metric, f"{one:.5f}", f"{other:.5f}", f"{other - one:+.5f}"]
        for metric, (one, other) in found.scores.items()
    ]


def _test_rows(found: Compared) -> list[list[str]]:
    return [
        [t.test, str(t.n), str(t.k), f"{t.p_value:.4g}", t.sign, better_run(t.sign, found)]
        for t in found.tests
    ]


def _bootstrap_rows(found: Compared) -> list[list[str]]:
    return [
        [
            b.metric,
            *(f"{x:+.5f}" for x in (b.difference, b.low, b.high)),
            f"{b.p_value:.4g}",
            b.sign,
            better_run(b.sign, found),
        ]
        for b in found.bootstraps
    ]


def better_run(sign: str, found: Compared) -> str:
    """Return the name of the run that a sign says is better; of ``~``, that none was shown."""
    if sign in ("≪", "<"):
        return found.proposal
    return found.baseline if sign in ("≫", ">") else "none shown"
