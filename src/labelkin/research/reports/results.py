"""A result folder → the record of scores of each of its corpora, and what plots need beside it.

Nothing is trained: log-odds and decisions come from the stored runs. A run that is not there yet
leaves its scores NaN and is named. Only this module of the package reads what experiments store.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from labelkin.evaluation import significance
from labelkin.evaluation.metrics import Evaluation, evaluate
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.research.experiments import CorpusResults, PlannedRun, Run, read_results
from labelkin.research.reports.scores import (
    LEARNED,
    METRICS,
    Score,
    mean_score,
    paper_corpus,
    paper_score,
    system_name,
)
from labelkin.research.reports.tables import p_value_text

_OF_WHOLE_SETS = {"subset_loss", "one_error"}
#: The share of true labels that are candidates: nobody judges more of them right.
_CEILING = "candidate_recall"
_FACTS = {
    "source": "Source",
    "licence": "Licence",
    "n_train": "Training documents",
    "n_test": "Test documents",
    "n_labels": "Labels",
    "n_features": "Features",
}
_WEIGHTS = {
    "tfidf": "tf-idf",
    "as_is": "the features as they are",
    "standardised": "standardised features",
}


@dataclass(frozen=True, eq=False)
class System:
    """One system on one corpus, trained by one seed, and judged; :func:`judge` makes it.

    Attributes
    ----------
    content, addition
        Name of the content classifier, ``"NB"``, and what was added to it, ``"BLR+M2"``; empty for
        the content alone.
    seed, rule
        The seed it was trained by, and the threshold rule that decided, empty for one cut.
    log_odds, decisions
        What it gave for the test documents, ``(n_documents, n_labels)``; with a rule, no log-odds.
    evaluation
        Every score of them.
    micro, macro
        The s-test and the S-test against the content alone; ``None`` for the content itself.
    bootstraps
        Intervals of the differences from the content alone, where they were asked for.
    run
        The stored run it comes from, if any.
    """

    content: str
    addition: str
    seed: int
    rule: str
    log_odds: Any
    decisions: sparse.csr_array
    evaluation: Evaluation
    micro: significance.SignTest | None = None
    macro: significance.SignTest | None = None
    bootstraps: tuple[significance.Bootstrap, ...] = ()
    run: Run | None = None

    @property
    def name(self) -> str:
        """The name as the paper writes it, ``"NB+BLR+M2"``."""
        return system_name(self.content, self.addition)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every score by the name of its metric."""
        return self.evaluation.scores()

    def rows(self, corpus: str, alone: System | None) -> Iterator[Score]:
        """Yield its rows of the record; ``alone`` is its content classifier, where it is there."""
        which = (corpus, self.content, self.addition)
        for metric, value in self.scores.items():
            test = {"micro_f1": self.micro, "macro_f1": self.macro}.get(metric)
            yield Score(
                *which,
                metric,
                value,
                baseline=alone.scores[metric] if alone and self.addition else math.nan,
                sign=test.sign if test else "",
                seed=self.seed,
                rule=self.rule,
                paper=None if self.rule else paper_score(*which, metric),
                note=_describe_test(test) if test else "",
            )


def judge(
    Y: Any,
    log_odds: Any,
    decisions: Any = None,
    *,
    content: str,
    addition: str = "",
    seed: int = 0,
    rule: str = "",
    alone: System | None = None,
    bootstrap: bool = False,
) -> System:
    """Judge what a system gave for test documents; nothing is trained.

    Parameters
    ----------
    Y
        The true label sets of the test documents, any kind.
    log_odds
        ``(n_documents, n_labels)``; ``None``: nothing that needs them.
    decisions : default None
        0/1 of the same shape; ``None``: log-odds > 0.
    content, addition, seed, rule
        What the system is called.
    alone : System, default None
        Its content classifier alone, to be tested against.
    bootstrap : bool, default False
        Whether to draw documents as well, for an interval of each difference.

    Examples
    --------
    >>> Y = [["tea", "sugar"]] * 6 + [["milk"]] * 6
    >>> alone = judge(Y, [[-2.0, -0.5, 3.0]] * 6 + [[2.0, -2.0, -2.0]] * 6, content="NB")
    >>> better = [[-2.0, 0.5, 3.0]] * 6 + [[2.0, -2.0, -2.0]] * 6
    >>> added = judge(Y, better, content="NB", addition="BLR+M2", alone=alone)
    >>> added.name, round(alone.scores["micro_f1"], 3), round(added.scores["micro_f1"], 3)
    ('NB+BLR+M2', 0.8, 1.0)
    >>> added.macro.n, added.macro.sign
    (1, '~')
    """
    if decisions is None:
        decisions = np.asarray(log_odds) > 0
    decided = sparse.csr_array(decisions)
    found = evaluate(Y, log_odds, decided)
    system = System(content, addition, seed, rule, log_odds, decided, found)
    if alone is None or not addition:
        return system
    pair, names = (alone.decisions, decided), (alone.name, system.name)
    # The seed is fixed: the same runs, the same interval.
    drawn = bootstraps(Y, (alone.log_odds, log_odds), pair, names, random_state=0)
    return replace(
        system,
        micro=significance.micro_sign_test(Y, *pair, names=names),
        macro=significance.macro_sign_test(Y, *pair, names=names),
        bootstraps=tuple(drawn) if bootstrap else (),
    )


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out on one corpus: judged systems, and the record of their scores.

    Attributes
    ----------
    corpus, title
        Name of the corpus, and what it is headed with.
    systems
        Those that are there, seed by seed, a content classifier alone before what is added to it.
    planned
        Content, addition and seed of every system that is to be there; empty: of those that are.
    metrics
        What tables show: the paper's metrics, and what the experiment asks for beside them.
    labels, truth
        The label sets of training and test documents; ``None`` where no run is there at all.
    classifiers
        By name what each content classifier and label classifier is.
    facts
        How it was made, by name.
    given_up
        By name the related methods that took longer than their limit, and the limit in seconds.
    names
        Label → what people call it, of those that have a name.
    """

    corpus: str
    title: str
    systems: Sequence[System]
    planned: Sequence[tuple[str, str, int]] = ()
    metrics: Sequence[str] = METRICS
    labels: LabelMatrix | None = None
    truth: LabelMatrix | None = None
    classifiers: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    given_up: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_seed(self) -> tuple[Score, ...]:
        """The record seed by seed, of the systems that are there; baselines decide as they do."""
        there = {(s.content, s.seed, s.rule): s for s in self.systems if not s.addition}
        rows: list[Score] = []
        for system in self.systems:
            alone = there.get((system.content, system.seed, system.rule))
            rows += system.rows(self.corpus, alone)
        return tuple(rows)

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The record, means over the seeds: a row per system and metric, in the order planned.

        Where no run of a planned system is there, its scores are NaN.
        """
        rows: dict[tuple[str, str, str, str], list[Score]] = {
            (content, addition, "", metric): []
            for content, addition, _ in self._planned
            for metric in self.metrics
        }
        for row in self.by_seed:
            rows.setdefault((row.content, row.addition, row.rule, row.metric), []).append(row)
        return tuple(
            mean_score(given or [self._no_score(content, addition, metric)])
            for (content, addition, _, metric), given in rows.items()
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the experiment."""
        return tuple(dict.fromkeys(seed for *_, seed in self._planned))

    @property
    def missing(self) -> tuple[str, ...]:
        """The runs that are not there, ``"kNN+SMO+M2 (seed 0)"``."""
        there = {(s.content, s.addition, s.seed) for s in self.systems if not s.rule}
        absent = [plan for plan in self._planned if plan not in there]
        return tuple(f"{system_name(*names)} (seed {seed})" for *names, seed in absent)

    @property
    def paper(self) -> str | None:
        """The corpus of the paper whose figures stand beside; ``None`` where it has none."""
        return paper_corpus(self.corpus)

    @property
    def addition(self) -> str:
        """The addition that sentences and plots look at: the learned weight where it is there."""
        there = [added.addition for _, added in self.pairs()]
        return min(there, key=lambda a: (not a.endswith(LEARNED), a != "BLR+M2"), default="")

    def pairs(self, addition: str | None = None) -> list[tuple[System, System]]:
        """Return the content alone and with an addition (``None``: any), as of the first seed."""
        first = [s for s in self.systems if s.seed == self.seeds[0] and not s.rule]
        alone = {system.content: system for system in first if not system.addition}
        return [
            (alone[system.content], system)
            for system in first
            if system.addition and system.content in alone
            if addition in (None, system.addition)
        ]

    def groups(self) -> list[list[dict[str, Score]]]:
        """Return per content classifier its systems, each as its scores by metric."""
        groups: dict[str, dict[str, dict[str, Score]]] = {}
        for score in self.scores:
            if not score.rule:
                systems = groups.setdefault(score.content, {})
                systems.setdefault(score.addition, {})[score.metric] = score
        return [list(systems.values()) for systems in groups.values()]

    @property
    def _planned(self) -> Sequence[tuple[str, str, int]]:
        return self.planned or [(s.content, s.addition, s.seed) for s in self.systems if not s.rule]

    def _no_score(self, content: str, addition: str, metric: str) -> Score:
        figure = paper_score(self.corpus, content, addition, metric)
        return Score(self.corpus, content, addition, metric, math.nan, paper=figure)


def read_outcomes(
    folder: str | os.PathLike[str], *, partial: bool = True, rules: bool = False
) -> tuple[Outcome, ...]:
    """Read a result folder; return what came out on each of its corpora.

    Parameters
    ----------
    folder
        Where :func:`labelkin.research.experiments.run_experiment` put its runs.
    partial : bool, default True
        Whether missing runs are left out instead of being an error.
    rules : bool, default False
        Whether runs that decide by a threshold rule are read, too.
    """
    results = read_results(folder, partial=partial)
    experiment = results.experiment
    begun = {corpus.name: corpus for corpus in results.corpora}
    drawn = experiment.seeds[0] if "paired_bootstrap" in experiment.tests else None
    outcomes = []
    for corpus in (choice.name for choice in experiment.corpora):
        there = begun.get(corpus)
        planned = [plan for plan in experiment.runs() if plan.corpus == corpus]
        several = len(experiment.corpora) > 1
        systems = list(_judge_runs(there, drawn, rules)) if there else []
        # What candidates can reach at most stands beside whatever they are judged by.
        ceiling = [_CEILING] if any(_CEILING in system.scores for system in systems) else []
        outcome = Outcome(
            corpus,
            title=f"{experiment.title}: {corpus}" if several else experiment.title,
            systems=systems,
            planned=[(p.system.content, p.record()["addition"], p.seed) for p in planned],
            metrics=tuple(dict.fromkeys([*METRICS, *experiment.metrics, *ceiling])),
            labels=read_labels(there.Y_train, names=there.label_names) if there else None,
            truth=read_labels(there.Y, names=there.label_names) if there else None,
            classifiers=_describe_classifiers(planned),
            facts=_describe_making(planned, there),
            given_up={run.system: run.out_of_time or 0.0 for run in there.given_up}
            if there
            else {},
            names=there.facts.get("label_names", {}) if there else {},
        )
        outcomes.append(outcome)
    return tuple(outcomes)


def _judge_runs(results: CorpusResults, drawn: int | None, rules: bool) -> Iterator[System]:
    """Judge every run; bootstraps are of the seed ``drawn``."""
    alone: dict[tuple[str, int], System] = {}
    truth = read_labels(results.Y, names=results.label_names)
    for run in [*results.runs, *(results.threshold_runs if rules else ())]:
        system = judge(
            truth,
            None if run.thresholds else run.log_odds(),
            run.decisions(),
            content=run.content,
            addition=run.addition,
            seed=run.seed,
            rule=run.thresholds,
            alone=None if run.thresholds else alone.get((run.content, run.seed)),
            bootstrap=run.seed == drawn,
        )
        if not run.addition and not run.thresholds:
            alone[run.content, run.seed] = system
        yield replace(system, run=run)


def bootstraps(
    Y: Any,
    log_odds: tuple[Any, Any],
    decisions: tuple[Any, Any],
    names: tuple[str, str],
    **drawn: Any,
) -> Iterator[significance.Bootstrap]:
    """Bootstrap every metric that Y allows of two systems; ``drawn``: how many, by which seed."""
    truth = read_labels(Y)
    for metric in significance.SUMMED_METRICS:
        if truth.unknown is None or metric not in _OF_WHOLE_SETS:
            pair = log_odds if metric == "one_error" else decisions
            yield significance.paired_bootstrap(truth, *pair, metric, names=names, **drawn)


def _describe_test(test: significance.SignTest) -> str:
    wins = f"{test.proposal_wins} for {test.proposal}, {test.baseline_wins} for {test.baseline}"
    return f"{test.test}: {wins}, {p_value_text(test.p_value)}"


def _describe_making(
    planned: Sequence[PlannedRun], results: CorpusResults | None
) -> dict[str, str]:
    """Return by name how the runs on one corpus were made."""
    seeds = dict.fromkeys(str(plan.seed) for plan in planned)
    words = planned[0].configuration["words"]
    given = results.facts if results else {}
    runs = results.runs if results else ()
    # two versions of one package where it changed in between
    versions = dict.fromkeys(f"{name} {v}" for run in runs for name, v in run.versions.items())
    numbers = {key: f"{value:,}" for key, value in given.items() if isinstance(value, int)}
    described = {
        "Corpus": planned[0].corpus,
        **{name: numbers.get(key, given.get(key)) for key, name in _FACTS.items()},
        "Words": _settings(words),
        "Seeds" if len(seeds) > 1 else "Seed": ", ".join(seeds),
        "Made with": ", ".join(versions),
    }
    return {name: fact for name, fact in described.items() if fact}


def _describe_classifiers(planned: Sequence[PlannedRun]) -> dict[str, str]:
    """Return by name what each content classifier and each label classifier is."""
    described = {}
    for content in (_content_of(plan) for plan in planned):
        terms = f", terms chosen by {_settings(content['terms'])}" if content["terms"] else ""
        weights = _WEIGHTS.get(content["weights"], content["weights"])
        described[content["name"]] = f"{_classifier(content)} on {weights}{terms}"
    for addition in (plan.configuration.get("addition") for plan in planned):
        if addition:
            described[addition["labels"]["name"]] = _classifier(addition["labels"])
    return described


def _content_of(plan: PlannedRun) -> Mapping[str, Any]:
    """Return what is trained: a content classifier, or a related method."""
    found: Mapping[str, Any] = plan.configuration.get("related") or plan.configuration["content"]
    return found


def _classifier(choice: Mapping[str, Any]) -> str:
    parameters = _settings(choice["parameters"])
    return f"{choice['classifier']} ({parameters})" if parameters else str(choice["classifier"])


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
