"""Result folders as records of scores, corpus by corpus, with the data that plots need.

Nothing is trained: log-odds and decisions come from the stored runs. The scores of missing runs
are NaN, and the runs are named. A score has the score of the content alone, the sign of the test
against it, and the paper's figure, which is a score of the same kind.

The paper's figures: A. E. Romero and L. M. de Campos, *A probabilistic methodology for multilabel
classification*, section "Results". ``paper_figures.csv`` has its six tables of scores as printed
(label-based, and example-based and ranking, for Reuters-21578, Ohsumed-23 and RCV1): per corpus,
system and metric the value, Δ% and the sign (``≪ < ~ > ≫`` of the s-test or S-test, ``• ◦`` for the
losses). "One error" is complemented for the reason in
:func:`labelkin.research.reports.tables.one_error_note`. All other figures are as printed, although
the paper contradicts itself: Δ% of Ohsumed-23 ``NB+SMO+M2`` macro F1 (+4.32; its scores make +4.30)
and of RCV1 ``SVM+SMO+M2`` micro F1 (−15.55; −15.66).
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from glob import escape
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
from labelkin.research.experiments import CorpusResults, Results, Run, read_results
from labelkin.research.experiments.plan import F1_METRICS, METRICS

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
    seed
        The seed it was trained by; ``None`` for the mean over the seeds.
    rule
        The name of the threshold rule that decided; empty where one number was the cut.
    paper
        The paper's figure, ``None`` where it has none.
    printed_change
        Δ% as it is printed, for the paper's own figures; NaN: it follows from the scores.
    note
        Details of the sign tests: their counts and P values.

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
    seed: int | None = None
    rule: str = ""
    paper: Score | None = None
    printed_change: float = math.nan
    note: str = ""

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
    tested = [row for row in rows if row.note]
    baselines = [row.baseline for row in rows if not math.isnan(row.baseline)]
    notes = [f"seed {row.seed}, {row.note}" if len(tested) > 1 else row.note for row in tested]
    return replace(
        rows[0],
        value=fmean(row.value for row in rows),
        baseline=fmean(baselines) if baselines else math.nan,
        sign=weakest_sign([row.sign for row in rows if row.sign]),
        seed=None,
        note="; ".join(notes),
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
    if corpus not in PAPER_TITLES:
        raise ValueError(
            f"The paper's corpora are {', '.join(map(repr, PAPER_TITLES))}, got {corpus!r}. "
            "paper_corpus(name) returns the corpus of the paper for a name."
        )
    path = files("labelkin.research.reports") / "paper_figures.csv"
    text = path.read_text(encoding="utf-8")
    figures = [row for row in csv.DictReader(text.splitlines()) if row["corpus"] == corpus]
    rows = {(row["system"], row["metric"]): row for row in figures}
    values = {key: float(row["value"]) for key, row in rows.items()}
    for key in rows:
        if key[1] == "one_error":  # see one_error_note; with the printed decimals
            values[key] = round(1 - values[key], 5)
    scores = {}
    for (system, metric), row in rows.items():
        content, _, addition = system.partition("+")
        score = Score(corpus, content, addition, metric, values[system, metric])
        if addition:
            score = replace(score, baseline=values[content, metric])
        if addition and metric in F1_METRICS:
            score = replace(score, printed_change=float(row["change"]), sign=row["sign"])
        scores[system, metric] = score
    return scores


def paper_score(corpus: str, content: str, addition: str, metric: str) -> Score | None:
    """Return the paper's figure for one of our systems, if it has one."""
    there = paper_corpus(corpus)
    system = f"{content}+{without_weka(addition)}" if addition else content
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
    content, addition
        Name of the content classifier, ``"NB"``, and of the addition, ``"BLR+M2"``; empty for the
        content alone.
    seed, rule
        The seed, and the threshold rule that decided; empty for one cut.
    log_odds, decisions
        Of the test documents, ``(n_documents, n_labels)``; with a rule, no log-odds.
    evaluation
        Every score.
    micro, macro
        The s-test and the S-test against the content alone; ``None`` for the content itself.
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
    micro: SignTest | None = None
    macro: SignTest | None = None
    run: Run | None = None

    @property
    def name(self) -> str:
        """The name as the paper writes it, ``"NB+BLR+M2"``."""
        return f"{self.content}+{self.addition}" if self.addition else self.content

    @cached_property
    def scores(self) -> dict[str, float]:
        """All scores by metric."""
        return self.evaluation.scores()

    def rows(self, corpus: str, alone: EvaluatedSystem | None) -> Iterator[Score]:
        """Yield its rows of the record; ``alone`` is its content classifier, if there is a run."""
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
        Content, addition and seed of every system of the experiment.
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
    planned: Sequence[tuple[str, str, int]]
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
        there = {(s.content, s.seed, s.rule): s for s in self.systems if not s.addition}
        rows: dict[tuple[str, str, str, str], list[Score]] = {
            (content, addition, "", metric): []
            for content, addition, _ in self.planned
            for metric in self.metrics
        }
        for system in self.systems:
            alone = there.get((system.content, system.seed, system.rule))
            for row in system.rows(self.corpus, alone):
                rows.setdefault((row.content, row.addition, row.rule, row.metric), []).append(row)
        for (content, addition, _, metric), given in rows.items():
            if not given:
                figure = paper_score(self.corpus, content, addition, metric)
                key = (self.corpus, content, addition, metric)
                given.append(Score(*key, math.nan, paper=figure))
        return tuple(map(mean_score, rows.values()))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the experiment."""
        return tuple(dict.fromkeys(seed for *_, seed in self.planned))

    @property
    def missing(self) -> tuple[str, ...]:
        """The missing runs, ``"kNN+SMO+M2 (seed 0)"``."""
        there = {(s.content, s.addition, s.seed) for s in self.systems if not s.rule}
        absent = [plan for plan in self.planned if plan not in there]
        return tuple(f"{'+'.join(filter(None, names))} (seed {seed})" for *names, seed in absent)

    @cached_property
    def paper(self) -> str | None:
        """The corpus of the paper with figures for this corpus, if any."""
        return paper_corpus(self.corpus)

    @property
    def addition(self) -> str:
        """The addition that plots show: the learned weight, if there is one."""
        there = [added.addition for _, added in self.pairs()]
        return min(there, key=lambda a: (not a.endswith(LEARNED), a != "BLR+M2"), default="")

    def pairs(self, addition: str | None = None) -> list[tuple[EvaluatedSystem, EvaluatedSystem]]:
        """Return the content alone and with an addition (``None``: any), as of the first seed."""
        first = [s for s in self.systems if s.seed == self.seeds[0] and not s.rule]
        alone = {system.content: system for system in first if not system.addition}
        return [
            (alone[system.content], system)
            for system in first
            if system.addition and system.content in alone
            if addition in (None, system.addition)
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
    runs = [run for run in experiment.runs() if not run.thresholds]
    outcomes = []
    for corpus in (choice.name for choice in experiment.corpora):
        planned = [plan for plan in runs if plan.corpus == corpus]
        several = len(experiment.corpora) > 1
        outcome = Outcome(
            corpus,
            title=f"{experiment.title}: {corpus}" if several else experiment.title,
            systems=[],
            planned=[(p.content, p.addition, p.seed) for p in planned],
            metrics=tuple(dict.fromkeys([*METRICS, *experiment.metrics])),
            classifiers=_describe_classifiers(planned),
            facts=_describe_making(planned, begun.get(corpus)),
        )
        if corpus in begun:
            outcome = replace(outcome, **_evaluate_corpus(begun[corpus], rules))
        outcomes.append(outcome)
    return tuple(outcomes)


def _evaluate_corpus(found: CorpusResults, rules: bool) -> dict[str, Any]:
    """Return the fields of the outcome that stored runs have."""
    truth = read_labels(found.Y, names=found.label_names)
    systems: list[EvaluatedSystem] = []
    alone: dict[tuple[str, int], EvaluatedSystem] = {}
    for run in [*found.runs, *(found.threshold_runs if rules else ())]:
        systems.append(_evaluate_run(truth, run, alone.get((run.content, run.seed))))
        if not run.addition and not run.thresholds:
            alone[run.content, run.seed] = systems[-1]
    return {
        "systems": systems,
        "labels": read_labels(found.Y_train, names=found.label_names),
        "truth": truth,
        "given_up": {run.system: run.out_of_time for run in found.given_up},
        "names": found.facts.get("label_names", {}),
    }


def _evaluate_run(truth: LabelMatrix, run: Run, alone: EvaluatedSystem | None) -> EvaluatedSystem:
    """Evaluate a stored run; sign tests compare it with its content classifier alone."""
    log_odds = None if run.thresholds else run.log_odds()
    decided = sparse.csr_array(run.decisions())
    found = evaluate(truth, log_odds, decided)
    names = (run.content, run.addition, run.seed, run.thresholds)
    system = EvaluatedSystem(*names, log_odds, decided, found, run=run)
    if alone is None or not run.addition or run.thresholds:
        return system
    pair = alone.decisions, decided
    both = {"names": (alone.name, system.name)}
    micro, macro = micro_sign_test(truth, *pair, **both), macro_sign_test(truth, *pair, **both)
    return replace(system, micro=micro, macro=macro)


def _describe_test(test: SignTest) -> str:
    wins = f"{test.proposal_wins} for {test.proposal}, {test.baseline_wins} for {test.baseline}"
    p_value = f"P = {test.p_value:.4f}" if test.p_value >= 0.0001 else "P < 0.0001"
    return f"{test.test}: {wins}, {p_value}"


def _describe_making(planned: Sequence[Run], results: CorpusResults | None) -> dict[str, str]:
    """Return corpus, words, seeds and versions of the runs on one corpus, by name."""
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


def _describe_classifiers(planned: Sequence[Run]) -> dict[str, str]:
    """Return descriptions of content classifiers and label classifiers by name."""
    described = {}
    for content in (p.configuration.get("related") or p.configuration["content"] for p in planned):
        terms = f", terms chosen by {_settings(content['terms'])}" if content["terms"] else ""
        described[content["name"]] = f"{_classifier(content)} on {content['weights']}{terms}"
    for addition in (plan.configuration.get("addition") for plan in planned):
        if addition:
            described[addition["labels"]["name"]] = _classifier(addition["labels"])
    return described


def _classifier(choice: Mapping[str, Any]) -> str:
    parameters = _settings(choice["parameters"])
    return f"{choice['classifier']} ({parameters})" if parameters else str(choice["classifier"])


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
    truth = _same_truth(first, second)
    names = (f"{one.system} (seed {one.seed})", f"{other.system} (seed {other.seed})")
    if names[0] == names[1]:
        names = (str(one.folder), str(other.folder))
    decided, log_odds = (one.decisions(), other.decisions()), (one.log_odds(), other.log_odds())
    pairs = {metric: log_odds if metric == "one_error" else decided for metric in SUMMED_METRICS}
    before, after = (
        evaluate(truth, *pair).scores() for pair in zip(log_odds, decided, strict=True)
    )
    of_label_sets = ("subset_loss", "one_error")  # they need a truth without unknown cells
    bootstrap = partial(paired_bootstrap, n_draws=n_draws, random_state=random_state, names=names)
    return {
        "baseline": names[0],
        "proposal": names[1],
        "scores": {metric: (before[metric], after[metric]) for metric in before},
        "tests": [test(truth, *decided, names) for test in (micro_sign_test, macro_sign_test)],
        "bootstraps": [
            bootstrap(truth, old, new, metric)
            for metric, (old, new) in pairs.items()
            if truth.unknown is None or metric not in of_label_sets
        ],
    }


def _find_run(folder: Path) -> tuple[Run, CorpusResults]:
    """Return a stored run and the results of its corpus."""
    if not (folder / "run.json").is_file():
        seeds = sorted(str(one) for one in folder.parent.glob(f"{escape(folder.name)}@seed*"))
        hint = "labelkin experiment list names the folders of runs."
        if seeds:
            hint = f"Name one seed: {', '.join(seeds[:3])}."
        raise ValueError(f"A run must be a folder with run.json, and {folder} has none. {hint}")
    place = folder.resolve()
    results = read_results(place.parents[2], partial=True)  # results/<corpus>/runs/<run>
    for corpus in results.corpora:
        for run in (*corpus.runs, *corpus.threshold_runs):
            if run.folder.resolve() == place:
                return run, corpus
    raise ValueError(f"{folder} must be a run of the experiment in {results.folder}, and is not.")


def _same_truth(first: CorpusResults, second: CorpusResults) -> LabelMatrix:
    one, other = (read_labels(part.Y, names=part.label_names) for part in (first, second))
    if one.names.tolist() != other.names.tolist() or one.label_sets() != other.label_sets():
        raise ValueError(
            f"Runs must be on the same documents and labels, got {first.name} with "
            f"{first.Y.shape} and {second.name} with {second.Y.shape} (documents, labels)."
        )
    return one
