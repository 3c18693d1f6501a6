"""Comparison of two stored runs: metrics, sign tests, bootstrap intervals."""

from __future__ import annotations

from functools import partial
from glob import escape
from pathlib import Path
from typing import Any

from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.significance import (
    SUMMED_METRICS,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.research.experiments import CorpusResults, Run, read_results

_RUNS_DEPTH = 3  # results/<corpus>/runs/<run>


def find_run(folder: Path) -> tuple[Run, CorpusResults]:
    """Return a stored run and the results of its corpus."""
    if not (folder / "run.json").is_file():
        seeds = sorted(str(one) for one in folder.parent.glob(f"{escape(folder.name)}@seed*"))
        hint = "labelkin experiment list names the folders of runs."
        if seeds:
            hint = f"Name one seed: {', '.join(seeds[:3])}."
        raise ValueError(f"A run must be a folder with run.json, and {folder} has none. {hint}")
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
    bootstrap = partial(paired_bootstrap, n_draws=n_draws, random_state=random_state, names=names)
    of_label_sets = ("subset_loss", "one_error")  # they need a truth without unknown cells
    pairs = {metric: log_odds if metric == "one_error" else decided for metric in SUMMED_METRICS}
    bootstraps = [
        bootstrap(truth, before, after, metric)
        for metric, (before, after) in pairs.items()
        if truth.unknown is None or metric not in of_label_sets
    ]
    return {
        "baseline": names[0],
        "proposal": names[1],
        "scores": {metric: (scores[0][metric], scores[1][metric]) for metric in scores[0]},
        "tests": [test(truth, *decided, names) for test in (micro_sign_test, macro_sign_test)],
        "bootstraps": bootstraps,
    }


def _same_truth(first: CorpusResults, second: CorpusResults) -> LabelMatrix:
    one, other = (read_labels(part.Y, names=part.label_names) for part in (first, second))
    if one.names.tolist() != other.names.tolist() or one.label_sets() != other.label_sets():
        raise ValueError(
            f"Runs must be on the same documents and labels, got {first.name} with "
            f"{first.Y.shape} and {second.name} with {second.Y.shape} (documents, labels)."
        )
    return one
