"""Comparison of two stored runs: metrics, sign tests, bootstrap intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.significance import macro_sign_test, micro_sign_test
from labelkin.label_matrix import read_labels
from labelkin.research.experiments import CorpusResults, Run, read_results
from labelkin.research.reports.results import bootstraps

_RUNS_DEPTH = 3  # results/<corpus>/runs/<run>


def read_run(folder: Path) -> tuple[Run, CorpusResults]:
    """Return a stored run and the results of its corpus."""
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
        "bootstraps": list(bootstraps(truth, log_odds, decided, names, **drawn)),
    }


def _same_truth(first: CorpusResults, second: CorpusResults) -> Any:
    one, other = (read_labels(part.Y, names=part.label_names) for part in (first, second))
    if one.names.tolist() != other.names.tolist() or one.label_sets() != other.label_sets():
        raise ValueError(
            f"Runs must be on the same documents and labels, got {first.name} with "
            f"{first.Y.shape} and {second.name} with {second.Y.shape} (documents, labels)."
        )
    return one
