"""Result folders as records of scores, corpus by corpus, with the data that plots need.

Nothing is trained: log-odds and decisions come from the stored runs. The scores of missing runs
are NaN, and the runs are named. A score has the score of the content alone, the sign of the test
against it, and the paper's figure, which is a score of the same kind.

The paper's figures: A. E. Romero and L. M. de Campos, *A probabilistic methodology for multilabel
classification*, section "Results". ``paper_figures.csv`` has its six tables of scores as printed
(label-based, and example-based and ranking, for Reuters-21578, Ohsumed-23 and RCV1): per corpus,
system and metric the value, Δ% and the sign (``≪ < ~ > ≫`` of the s-test or S-test, ``• ◦`` for the
losses). "One error" is complemented for the reason in
:data:`labelkin.research.reports.tables.ONE_ERROR_NOTE`. All other figures are as printed, although
the paper contradicts itself: Δ% of Ohsumed-23 ``NB+SMO+M2`` macro F1 (+4.32; its scores make +4.30)
and of RCV1 ``SVM+SMO+M2`` micro F1 (−15.55; −15.66).
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from scipy import sparse

from labelkin.evaluation.metrics import Evaluation, evaluate
from labelkin.evaluation.metrics.inputs import LOWER_IS_BETTER
from labelkin.evaluation.significance import (
    SUMMED_METRICS,
    SignTest,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.research.experiments import (
    CorpusResults,
    Experiment,
    Results,
    Run,
    read_results,
)
from labelkin.research.experiments.plan import (
    F1_METRICS,
    METRICS,
    Addition,
    Classifier,
    ContentChoice,
)

#: What sentences call them.
WORDS = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset 0/1 loss",
    "one_error": "one-error",
}

#: How the name of an addition ends whose evidence weight is learned.
LEARNED = " w=auto"
#: How the name of a label classifier ends that is fitted as Weka fits it.
_WEKA = re.compile(r"[ ._-]\(?weka\)?", re.IGNORECASE)

#: The corpora of the paper, as it writes them.
PAPER_TITLES = {"reuters21578": "Reuters-21578", "ohsumed23": "Ohsumed-23", "rcv1": "RCV1"}
_BEGINNINGS = {"reuters21578": "reuters21578", "ohsumed": "ohsumed23", "rcv1": "rcv1"}

_Mark = Literal["", "•", "◦"]

_ROUNDING = 1e-12  # rounding error of a mean over seeds of equal scores

_FACTS = {
    "source": "Source",
    "licence": "Licence",
    "n_train": "Training documents",
    "n_test": "Test documents",
    "n_labels": "Labels",
    "n_features": "Features",
}


@dataclass(frozen=True)
class Score:
    """One number of one system on one corpus.

    Attributes
    ----------
    corpus
        Name of the corpus.
    content, addition
        The content classifier, and what was added to it: ``"NB"``, ``"BLR+M2"`` or nothing.
    metric, value
        What was measured, ``"micro_f1"``, and the score; NaN where no run is there.
    baseline
        The score of the content classifier alone; NaN for that classifier itself.
    sign
        Of the sign test against the baseline, ``≪ < ~ > ≫``; empty without a test.
    rule
        The name of the threshold rule that decided; empty where one number was the cut.
    paper
        The paper's figure, ``None`` where it has none.
    printed_change
        Δ% as it is printed, for the paper's own figures; NaN: it follows from the scores.

    Examples
    --------
    >>> score = Score("tea", "NB", "BLR+M2", "micro_f1", 0.66, baseline=0.6, sign="≪")
    >>> score.system, round(score.change, 9), score.mark
    ('NB+BLR+M2', 10.0, '•')
    """

    corpus: str
    content: str
    addition: str
    metric: str
    value: float
    baseline: float = math.nan
    sign: str = ""
    rule: str = ""
    paper: Score | None = None
    printed_change: float = math.nan

    @property
    def system(self) -> str:
        """The name as the paper writes it, ``"NB+BLR+M2"``."""
        return f"{self.content}+{self.addition}" if self.addition else self.content

    @property
    def change(self) -> float:
        """Δ%: the change against the baseline in per cent of it; NaN without a baseline."""
        if not math.isnan(self.printed_change):
            return self.printed_change
        return 100 * (self.value - self.baseline) / self.baseline if self.baseline else math.nan

    @property
    def lead(self) -> float:
        """By how much it is better than the baseline; below 0: worse; NaN: not compared."""
        lead = self.value - self.baseline
        if abs(lead) <= _ROUNDING:
            return 0.0
        return -lead if self.metric in LOWER_IS_BETTER else lead

    @property
    def mark(self) -> _Mark:
        """``•`` for better than the baseline or equal to it, ``◦`` for worse; as in the paper."""
        if math.isnan(self.lead):
            return ""
        return "•" if self.lead >= 0 else "◦"

    @property
    def difference(self) -> float:
        """The score less the paper's; NaN where either is missing."""
        return math.nan if self.paper is None else self.value - self.paper.value


def mean_score(rows: Sequence[Score]) -> Score:
    """Return the mean over the seeds; the baseline's is over the seeds that have one."""
    baselines = [row.baseline for row in rows if not math.isnan(row.baseline)]
    return replace(
        rows[0],
        value=fmean(row.value for row in rows),
        baseline=fmean(baselines) if baselines else math.nan,
        sign=weakest_sign([row.sign for row in rows if row.sign]),
    )


def weakest_sign(signs: Sequence[str]) -> str:
    """Return the weakest sign of all seeds; ``~`` if they point in two directions.

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


class Counts(NamedTuple):
    """How often something added is better and worse than the content classifier alone."""

    better: int
    significantly_better: int
    worse: int
    significantly_worse: int


def count_leads(scores: Iterable[Score]) -> Counts:
    """Count as the paper's summaries do: an equal score is neither better nor worse.

    Examples
    --------
    >>> up = Score("tea", "NB", "BLR+M2", "micro_f1", 0.7, 0.6, "≪")
    >>> same, down = replace(up, value=0.6, sign="~"), replace(up, value=0.5, sign="")
    >>> count_leads([up, same, down])
    Counts(better=1, significantly_better=1, worse=1, significantly_worse=0)
    """
    given = list(scores)
    return Counts(
        sum(s.lead > 0 for s in given),
        sum(s.sign in {"≪", "<"} for s in given),
        sum(s.lead < 0 for s in given),
        sum(s.sign in {"≫", ">"} for s in given),
    )


def paper_corpus(name: str) -> str | None:
    """Return the corpus of the paper that a name begins with, if any.

    Examples
    --------
    >>> paper_corpus("rcv1-sample"), paper_corpus("yeast")
    ('rcv1', None)
    """
    return next((corpus for start, corpus in _BEGINNINGS.items() if name.startswith(start)), None)


@cache
def paper_scores(corpus: str) -> Mapping[tuple[str, str], Score]:
    """Return the paper's scores on one of its corpora, by system and metric.

    Examples
    --------
    >>> score = paper_scores("reuters21578")["kNN+BLR+M2", "micro_f1"]
    >>> score.value, score.baseline, score.change, score.sign
    (0.78022, 0.78875, -1.08, '≫')
    >>> paper_scores("reuters21578")["SVM", "one_error"].value
    0.0573
    """
    path = files("labelkin.research.reports") / "paper_figures.csv"
    scores: dict[tuple[str, str], Score] = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        if row["corpus"] != corpus:
            continue
        metric, value = row["metric"], float(row["value"])
        if metric == "one_error":  # see ONE_ERROR_NOTE; with the printed decimals
            value = round(1 - value, 5)
        content, _, addition = row["system"].partition("+")
        score = Score(corpus, content, addition, metric, value)
        if addition:
            score = replace(score, baseline=scores[content, metric].value)
        if addition and metric in F1_METRICS:
            score = replace(score, printed_change=float(row["change"]), sign=row["sign"])
        scores[row["system"], metric] = score
    return scores


def _paper_score(corpus: str, content: str, addition: str, metric: str) -> Score | None:
    """Return the paper's figure for one of our systems, if it has one."""
    there = paper_corpus(corpus)
    system = "+".join(filter(None, [content, without_weka(addition)]))
    return paper_scores(there).get((system, metric)) if there else None


def without_weka(addition: str) -> str:
    """Return what the paper calls an addition that is fitted as Weka fits it; others as they are.

    Examples
    --------
    >>> without_weka("BLR (Weka)+M1"), without_weka("BLR-weka+M1"), without_weka("SMO+M1")
    ('BLR+M1', 'BLR+M1', 'SMO+M1')
    """
    return _WEKA.sub("", addition)


@dataclass(frozen=True, eq=False)
class EvaluatedSystem:
    """One evaluated system on one corpus, trained with one seed.

    Attributes
    ----------
    run
        The stored run.
    evaluation
        Every score; with a threshold rule, those of decisions.
    tests
        By metric the s-test and the S-test against the content alone; empty for the content.
    """

    run: Run
    evaluation: Evaluation
    tests: Mapping[str, SignTest] = field(default_factory=dict)

    @cached_property
    def scores(self) -> dict[str, float]:
        """All scores by metric."""
        return self.evaluation.scores()

    def score(self, metric: str, alone: EvaluatedSystem | None) -> Score:
        """Return a score; ``alone`` is its content classifier, if there is a run."""
        run, test = self.run, self.tests.get(metric)
        names = (run.corpus, run.content, run.addition, metric)
        return Score(
            *names,
            self.scores[metric],
            baseline=alone.scores[metric] if alone and run.addition else math.nan,
            sign=test.sign if test else "",
            rule=run.thresholds,
            paper=None if run.thresholds else _paper_score(*names),
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """The evaluated systems on one corpus, and the record of their scores.

    Attributes
    ----------
    corpus, title
        Name of the corpus, and the heading of its section.
    systems
        Seed by seed, a content classifier alone before its additions.
    planned
        Every run with log-odds of the experiment, stored or not.
    metrics
        The metrics that tables show.
    labels, truth
        The label sets of training and test documents; ``None`` without any run.
    classifiers
        Descriptions of the content classifiers and label classifiers by name.
    facts
        Corpus, words, seeds and versions, by name.
    given_up
        Related methods that were stopped, and their time limit in seconds.
    names
        Names of labels, of those that have one.
    """

    corpus: str
    title: str
    systems: Sequence[EvaluatedSystem]
    planned: Sequence[Run]
    metrics: Sequence[str] = METRICS
    labels: LabelMatrix | None = None
    truth: LabelMatrix | None = None
    classifiers: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    given_up: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The record, means over the seeds: a row per system and metric, in the order planned.

        A baseline has the same threshold rule and seed as the system. The scores of a planned
        system without a run are NaN.
        """
        alone = [system for system in self.systems if not system.run.addition]
        baselines = {(s.run.content, s.run.seed, s.run.thresholds): s for s in alone}
        rows: dict[tuple[str, str, str, str], list[Score]] = {}
        for run in self.planned:
            for metric in self.metrics:
                rows[run.content, run.addition, "", metric] = []
        for system in self.systems:
            run = system.run
            baseline = baselines.get((run.content, run.seed, run.thresholds))
            for metric in system.scores:
                key = (run.content, run.addition, run.thresholds, metric)
                rows.setdefault(key, []).append(system.score(metric, baseline))
        for (content, addition, _, metric), found in rows.items():
            if not found:
                names = (self.corpus, content, addition, metric)
                found.append(Score(*names, math.nan, paper=_paper_score(*names)))
        return tuple(map(mean_score, rows.values()))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the experiment."""
        return tuple(dict.fromkeys(run.seed for run in self.planned))

    @property
    def missing(self) -> tuple[str, ...]:
        """The missing runs, ``"kNN+SMO+M2 (seed 0)"``."""
        there = {system.run.name for system in self.systems}
        absent = [run for run in self.planned if run.name not in there]
        return tuple(f"{run.system} (seed {run.seed})" for run in absent)

    @cached_property
    def paper(self) -> str | None:
        """The corpus of the paper with figures for this corpus, if any."""
        return paper_corpus(self.corpus)

    @property
    def addition(self) -> str:
        """The addition that plots show: the learned weight, if there is one."""
        there = [added.run.addition for _, added in self.pairs()]
        return min(there, key=lambda a: (not a.endswith(LEARNED), a != "BLR+M2"), default="")

    def pairs(self, addition: str | None = None) -> list[tuple[EvaluatedSystem, EvaluatedSystem]]:
        """Return the content alone and with an addition (``None``: any), as of the first seed."""
        first = [s for s in self.systems if s.run.seed == self.seeds[0] and not s.run.thresholds]
        alone = {system.run.content: system for system in first if not system.run.addition}
        return [
            (alone[system.run.content], system)
            for system in first
            if system.run.addition and system.run.content in alone
            if addition in (None, system.run.addition)
        ]


def read_outcomes(
    folder: str | os.PathLike[str], *, partial: bool = True, rules: bool = False
) -> tuple[Outcome, ...]:
    """Read a result folder; return the outcome on each of its corpora.

    Parameters
    ----------
    folder
        The result folder of :func:`labelkin.research.experiments.run_experiment`.
    partial : bool, default True
        Whether missing runs are left out instead of being an error.
    rules : bool, default False
        Whether to read runs with a threshold rule.
    """
    return evaluate_results(read_results(folder, partial=partial), rules=rules)


def evaluate_results(results: Results, *, rules: bool = False) -> tuple[Outcome, ...]:
    """Return the outcome on each corpus of an experiment; see :func:`read_outcomes`."""
    experiment, begun = results.experiment, {corpus.name: corpus for corpus in results.corpora}
    outcomes = []
    for corpus in (choice.name for choice in experiment.corpora):
        planned = [r for r in experiment.runs() if r.corpus == corpus and not r.thresholds]
        several = len(experiment.corpora) > 1
        outcome = Outcome(
            corpus,
            title=f"{experiment.title}: {corpus}" if several else experiment.title,
            systems=[],
            planned=planned,
            metrics=tuple(dict.fromkeys([*METRICS, *experiment.metrics])),
            classifiers=_describe_classifiers(planned),
            facts=_describe_making(experiment, corpus, begun.get(corpus)),
        )
        if corpus in begun:
            outcome = _evaluate_corpus(outcome, begun[corpus], rules)
        outcomes.append(outcome)
    return tuple(outcomes)


def _evaluate_corpus(outcome: Outcome, found: CorpusResults, rules: bool) -> Outcome:
    """Return the outcome with the evaluated runs on the corpus."""
    truth = read_labels(found.Y, names=found.label_names)
    systems: list[EvaluatedSystem] = []
    alone: dict[tuple[str, int], Run] = {}
    for run in [*found.runs, *(found.threshold_runs if rules else ())]:
        decided, tests = sparse.csr_array(run.decisions()), {}
        if not run.addition and not run.thresholds:
            alone[run.content, run.seed] = run
        elif not run.thresholds and (run.content, run.seed) in alone:
            baseline = alone[run.content, run.seed]
            pair = sparse.csr_array(baseline.decisions()), decided
            for metric, test in zip(F1_METRICS, (micro_sign_test, macro_sign_test), strict=True):
                tests[metric] = test(truth, *pair, names=(baseline.system, run.system))
        log_odds = None if run.thresholds else run.log_odds()
        systems.append(EvaluatedSystem(run, evaluate(truth, log_odds, decided), tests))
    return replace(
        outcome,
        systems=systems,
        labels=read_labels(found.Y_train, names=found.label_names),
        truth=truth,
        given_up={run.system: run.out_of_time or math.nan for run in found.given_up},
        names=found.facts.get("label_names", {}),
    )


def _describe_making(
    experiment: Experiment, corpus: str, results: CorpusResults | None
) -> dict[str, str]:
    """Return corpus, words, seeds and versions of the runs on one corpus, by name."""
    given, runs = (results.facts, results.runs) if results else ({}, ())
    # two versions of one package where it changed in between
    versions = dict.fromkeys(f"{name} {v}" for run in runs for name, v in run.versions.items())
    numbers = {key: f"{value:,}" for key, value in given.items() if isinstance(value, int)}
    described = {
        "Corpus": corpus,
        **{name: numbers.get(key, given.get(key)) for key, name in _FACTS.items()},
        "Words": _settings(experiment.words),
        "Seeds" if len(experiment.seeds) > 1 else "Seed": ", ".join(map(str, experiment.seeds)),
        "Made with": ", ".join(versions),
    }
    return {name: fact for name, fact in described.items() if fact}


def _describe_classifiers(planned: Iterable[Run]) -> dict[str, str]:
    """Return descriptions of content classifiers and label classifiers by name."""
    described = {}
    for step in (run.step for run in planned):
        if isinstance(step, ContentChoice):
            terms = f", terms chosen by {_settings(step.terms)}" if step.terms else ""
            described[step.name] = f"{_classifier(step)} on {step.weights}{terms}"
    for step in (run.step for run in planned):
        if isinstance(step, Addition):
            described[step.labels.name] = _classifier(step.labels)
    return described


def _classifier(choice: Classifier) -> str:
    parameters = _settings(choice.parameters)
    return f"{choice.classifier} ({parameters})" if parameters else choice.classifier


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def compare_runs(baseline: Path, proposal: Path, n_draws: int, random_state: int) -> dict[str, Any]:
    """Compare two stored runs on the same documents.

    Parameters
    ----------
    baseline, proposal
        The folders of the runs.
    n_draws, random_state
        Number of draws and seed of the bootstrap.

    Returns
    -------
    dict
        The names of the runs, their scores by metric, sign tests and bootstraps.
    """
    (one, first), (other, second) = map(_find_run, (baseline, proposal))
    truth, theirs = (read_labels(part.Y, names=part.label_names) for part in (first, second))
    if truth.names.tolist() != theirs.names.tolist() or truth.label_sets() != theirs.label_sets():
        raise ValueError(
            f"Runs must be on the same documents and labels, got {first.name} with "
            f"{first.Y.shape} and {second.name} with {second.Y.shape} (documents, labels)."
        )
    names = (f"{one.system} (seed {one.seed})", f"{other.system} (seed {other.seed})")
    if names[0] == names[1]:
        names = (str(one.folder), str(other.folder))
    decided, log_odds = (one.decisions(), other.decisions()), (one.log_odds(), other.log_odds())
    pairs = {metric: log_odds if metric == "one_error" else decided for metric in SUMMED_METRICS}
    if truth.unknown is not None:  # scores of label sets need all labels of a document
        pairs = {m: pair for m, pair in pairs.items() if m not in ("subset_loss", "one_error")}
    before, after = (
        evaluate(truth, *pair).scores() for pair in zip(log_odds, decided, strict=True)
    )
    bootstrap = partial(paired_bootstrap, n_draws=n_draws, random_state=random_state, names=names)
    return {
        "baseline": names[0],
        "proposal": names[1],
        "scores": {metric: (before[metric], after[metric]) for metric in before},
        "tests": [test(truth, *decided, names) for test in (micro_sign_test, macro_sign_test)],
        "bootstraps": [bootstrap(truth, old, new, metric) for metric, (old, new) in pairs.items()],
    }


def _find_run(folder: Path) -> tuple[Run, CorpusResults]:
    """Return a stored run and the results of its corpus."""
    if not (folder / "run.json").is_file():
        raise ValueError(
            f"A run must be a folder with run.json, and {folder} has none. "
            "labelkin experiment list names the folders of runs."
        )
    place = folder.resolve()
    results = read_results(place.parents[2], partial=True)  # results/<corpus>/runs/<run>
    for corpus in results.corpora:
        for run in (*corpus.runs, *corpus.threshold_runs):
            if run.folder.resolve() == place:
                return run, corpus
    raise ValueError(f"{folder} must be a run of the experiment in {results.folder}, and is not.")
