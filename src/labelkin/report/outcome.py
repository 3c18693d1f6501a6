"""Result folder → records: what every system of an experiment scores on a corpus.

Nothing is trained: log-odds and decisions come from the stored runs. A run that is not there yet
leaves its scores NaN and is named.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labelkin.experiment import CorpusResults, Experiment, PlannedRun, read_results
from labelkin.label_matrix import LabelMatrix
from labelkin.report.comparison import Comparison, System, compare_runs
from labelkin.report.facts import tell_classifiers, tell_facts
from labelkin.report.number_text import p_value_text
from labelkin.report.paper import paper_corpus, paper_standings
from labelkin.report.scores import METRICS, Score, Standing, system_name
from labelkin.significance import SignTest


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out on one corpus.

    Attributes
    ----------
    title, corpus
        Of the experiment, and the name of the corpus.
    paper
        The corpus of the paper whose figures stand beside, ``None`` where the paper has none.
    seeds
        The seeds of the experiment.
    scores
        A record per system and metric, in the order of the experiment; NaN where no run is there.
    missing
        The runs that are not there, ``"kNN+SMO+M2 (seed 0)"``.
    comparisons
        Per seed, what the stored runs score by every metric there is.
    labels
        The training label sets; ``None`` where no run is there at all.
    classifiers
        By name what each content classifier and label classifier is.
    facts
        How it was made, by name.
    """

    title: str
    corpus: str
    paper: str | None
    seeds: tuple[int, ...]
    scores: tuple[Score, ...]
    missing: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    labels: LabelMatrix | None
    classifiers: Mapping[str, str]
    facts: Mapping[str, str]

    def groups(self) -> list[list[dict[str, Score]]]:
        """Return per content classifier its systems, each as its scores by metric."""
        groups: dict[str, dict[str, dict[str, Score]]] = {}
        for score in self.scores:
            systems = groups.setdefault(score.content, {})
            systems.setdefault(score.addition, {})[score.metric] = score
        return [list(systems.values()) for systems in groups.values()]


def read_outcomes(folder: str | os.PathLike[str]) -> tuple[Outcome, ...]:
    """Read a result folder, finished or not; return what came out on each of its corpora."""
    results = read_results(folder, partial=True)
    begun = {corpus.name: corpus for corpus in results.corpora}
    names = [corpus.name for corpus in results.experiment.corpora]
    return tuple(_outcome(results.experiment, name, begun.get(name)) for name in names)


def _outcome(experiment: Experiment, corpus: str, results: CorpusResults | None) -> Outcome:
    planned = [plan for plan in experiment.runs() if plan.corpus == corpus]
    runs = results.runs if results else ()
    stored = {(run.system, run.seed) for run in runs}
    comparisons = tuple(
        compare_runs(
            corpus,
            [run for run in runs if run.seed == seed],
            results and results.Y,
            bootstrap="paired_bootstrap" in experiment.tests and seed == experiment.seeds[0],
        )
        for seed in experiment.seeds
    )
    several = len(experiment.corpora) > 1
    return Outcome(
        title=f"{experiment.title}: {corpus}" if several else experiment.title,
        corpus=corpus,
        paper=paper_corpus(corpus),
        seeds=experiment.seeds,
        scores=tuple(_scores(planned, comparisons, experiment.metrics)),
        missing=tuple(
            f"{plan.system.name} (seed {plan.seed})"
            for plan in planned
            if (plan.system.name, plan.seed) not in stored
        ),
        comparisons=comparisons,
        labels=results.Y_train if results else None,
        classifiers=tell_classifiers(planned),
        facts=tell_facts(planned, results),
    )


class _Trial(NamedTuple):
    """A system trained by one seed, and its content classifier alone by the same."""

    seed: int
    system: System
    alone: System | None


def _scores(
    planned: Sequence[PlannedRun], comparisons: Sequence[Comparison], metrics: Sequence[str]
) -> Iterator[Score]:
    corpus = planned[0].corpus
    paper = paper_corpus(corpus)
    figures = paper_standings(paper) if paper else {}
    seeds = list(dict.fromkeys(plan.seed for plan in planned))
    for content, addition in dict.fromkeys(_parts(plan) for plan in planned):
        name = system_name(content, addition)
        trials = list(_trials(name, content, dict(zip(seeds, comparisons, strict=True))))
        for metric in dict.fromkeys([*METRICS, *metrics]):
            tests = _tests(trials, metric)
            ours = _standing(metric, trials, [test for _, test in tests], bool(addition))
            note = _tell_tests(tests)
            yield Score(corpus, content, addition, ours, figures.get((name, metric)), note)


def _parts(plan: PlannedRun) -> tuple[str, str]:
    return plan.system.content, plan.system.addition.name if plan.system.addition else ""


def _trials(name: str, content: str, comparisons: Mapping[int, Comparison]) -> Iterator[_Trial]:
    for seed, comparison in comparisons.items():
        systems = {system.name: system for system in comparison.systems}
        if name in systems:
            yield _Trial(seed, systems[name], systems.get(content))


def _standing(
    metric: str, trials: Sequence[_Trial], tests: Sequence[SignTest], is_addition: bool
) -> Standing:
    """Return means over the seeds; those of the baseline are over the system's seeds."""
    value = _mean([trial.system.scores[metric] for trial in trials])
    if not is_addition:
        return Standing(metric, value)
    baseline = _mean([trial.alone.scores[metric] for trial in trials if trial.alone])
    change = 100 * (value - baseline) / baseline if baseline else math.nan
    return Standing(metric, value, baseline, change, weakest_sign([test.sign for test in tests]))


def _tests(trials: Sequence[_Trial], metric: str) -> list[tuple[int, SignTest]]:
    if metric not in ("micro_f1", "macro_f1"):
        return []
    tests = [
        (trial.seed, trial.system.micro if metric == "micro_f1" else trial.system.macro)
        for trial in trials
    ]
    return [(seed, test) for seed, test in tests if test is not None]


def weakest_sign(signs: Sequence[str]) -> str:
    """Return the sign that holds for every seed: ``~`` where they point in two directions.

    Examples
    --------
    >>> weakest_sign(["≪", "<"]), weakest_sign(["≪", "≫"]), weakest_sign(["≫"]), weakest_sign([])
    ('<', '~', '≫', '')
    """
    kinds = set(signs)
    if not kinds:
        return ""
    for strong, weak in (("≪", "<"), ("≫", ">")):
        if kinds <= {strong, weak}:
            return weak if weak in kinds else strong
    return "~"


def _tell_tests(tests: Sequence[tuple[int, SignTest]]) -> str:
    several = len(tests) > 1
    told = [
        f"{f'seed {seed}, ' if several else ''}{test.test}: {test.k} of {test.n} for the better "
        f"system, {p_value_text(test.p_value)}"
        for seed, test in tests
    ]
    return "; ".join(told)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
