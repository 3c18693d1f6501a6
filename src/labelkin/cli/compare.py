"""``labelkin compare``: two runs of experiments, metric by metric, and whether it was luck."""

from __future__ import annotations

from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelkin.cli import options
from labelkin.cli.printing import echo, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from labelkin.evaluation.significance import Bootstrap, SignTest
    from labelkin.label_matrix import LabelMatrix
    from labelkin.research.experiments import CorpusResults, Run

_FOLDERS = "labelkin experiment list names the folders of runs."
_RUNS_DEPTH = 3  # results/<corpus>/runs/<run>


def compare(
    baseline: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a run (experiment list).")
    ],
    proposal: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of another.")],
    n_draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap.")] = 1000,
    random_state: options.RandomState = 0,
    json: options.AsJson = False,
) -> None:
    """Compare two runs on the same documents: metrics, sign tests, bootstrap intervals.

    Example:  labelkin compare results/reuters/reuters21578/runs/NB@seed0
    results/reuters/reuters21578/runs/NB+BLR+M2@seed0
    """
    if baseline.resolve() == proposal.resolve():
        raise ValueError(f"Two different runs must be compared, got {baseline} twice.")
    for folder in (baseline, proposal):
        if not (folder / "run.json").is_file():
            seeds = sorted(str(one) for one in folder.parent.glob(f"{escape(folder.name)}@seed*"))
            way_out = f"Name one seed: {', '.join(seeds[:3])}." if seeds else _FOLDERS
            raise ValueError(
                f"A run must be a folder with run.json, and {folder} has none. {way_out}"
            )
    found = compare_runs(_read_run(baseline), _read_run(proposal), n_draws, random_state)
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
    echo("")
    print_table(
        ("test", "n", "baseline wins", "proposal wins", "P", "sign", "better"),
        [
            (t.test, str(t.n), str(t.baseline_wins), str(t.proposal_wins), *verdict(t))
            for t in found["tests"]
        ],
        left=(0, 6),
    )
    echo("")
    print_table(
        ("bootstrap", "difference", "low", "high", "P", "sign", "better"),
        [
            (b.metric, *(f"{x:+.5f}" for x in (b.difference, b.low, b.high)), *verdict(b))
            for b in found["bootstraps"]
        ],
        left=(0, 6),
    )
    echo("\n≪ and <: the baseline is worse (P < 0.01, P < 0.05); ≫ and >: it is better.")


def verdict(found: SignTest | Bootstrap) -> tuple[str, str, str]:
    """Write P, the sign, and the name of the run that the sign says is better."""
    better = "none shown" if found.sign == "~" else str(found.better)
    return f"{found.p_value:.4g}", found.sign, better


def _read_run(folder: Path) -> tuple[Run, CorpusResults]:
    """Return a stored run and the results of its corpus."""
    from labelkin.research.experiments import read_results

    place = folder.resolve()
    results = read_results(place.parents[_RUNS_DEPTH - 1], partial=True)
    for corpus in results.corpora:
        for run in corpus.runs:
            if run.folder.resolve() == place:
                return run, corpus
    raise ValueError(f"{folder} is no run of the experiment in {results.folder}.")


def compare_runs(
    first: tuple[Run, CorpusResults],
    second: tuple[Run, CorpusResults],
    n_draws: int,
    random_state: int,
) -> dict[str, Any]:
    """Return the names of two stored runs, their scores on the same truth, tests, bootstraps."""
    from labelkin.evaluation.metrics import evaluate
    from labelkin.evaluation.significance import macro_sign_test, micro_sign_test

    truth = _same_truth(first[1], second[1])
    one, other = first[0], second[0]
    names = (f"{one.system} (seed {one.seed})", f"{other.system} (seed {other.seed})")
    if names[0] == names[1]:
        names = (str(one.folder), str(other.folder))
    decided = (one.decisions(), other.decisions())
    log_odds = (one.log_odds(), other.log_odds())
    scores = [evaluate(truth, log_odds[k], decided[k]).scores() for k in range(2)]
    drawn = {"n_draws": n_draws, "random_state": random_state}
    return {
        "baseline": names[0],
        "proposal": names[1],
        "scores": {metric: (scores[0][metric], scores[1][metric]) for metric in scores[0]},
        "tests": [test(truth, *decided, names) for test in (micro_sign_test, macro_sign_test)],
        "bootstraps": list(_bootstraps(truth, log_odds, decided, names, **drawn)),
    }


def _bootstraps(
    truth: LabelMatrix, log_odds: Any, decisions: Any, names: tuple[str, str], **drawn: Any
) -> Iterator[Bootstrap]:
    """Yield intervals of every metric; whole label sets need a truth without unknown cells."""
    from labelkin.evaluation.significance import SUMMED_METRICS, paired_bootstrap

    for metric in SUMMED_METRICS:
        if truth.unknown is None or metric not in ("subset_loss", "one_error"):
            pair = log_odds if metric == "one_error" else decisions
            yield paired_bootstrap(truth, *pair, metric, names=names, **drawn)


def _same_truth(first: CorpusResults, second: CorpusResults) -> Any:
    from labelkin.label_matrix import read_labels

    one, other = (read_labels(part.Y, names=part.label_names) for part in (first, second))
    if one.names.tolist() != other.names.tolist() or one.label_sets() != other.label_sets():
        raise ValueError(
            f"Runs must be on the same documents and labels, got {first.name} with "
            f"{first.Y.shape} and {second.name} with {second.Y.shape} (documents, labels)."
        )
    return one
