"""Many systems over several corpora: scores with mean ranks, and costs.

Related methods, and threshold rules on the content classifier alone, are compared on every metric
of the paper. Systems without a score on a corpus have no mean rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import rankdata

from labelkin.research.experiments.plan import LOSSES, METRICS
from labelkin.research.reports.results import WORDS, EvaluatedSystem, Outcome
from labelkin.research.reports.tables import (
    Cell,
    Table,
    markdown_table,
    markdown_text,
)

#: The system that the others are compared with.
CONTROL = "labelkin"
_MEGABYTE = 2**20
_COST = """\
Processor's seconds to learn / to give log-odds of the test documents, one thread; the most memory
that a system's process had on any corpus, with Python and the documents. A threshold rule's seconds
are beside those of the system it decides for; those of stacking and of dependent relevance are
beside those of BR, from whose evidence they start."""


@dataclass(frozen=True)
class Cost:
    """The costs of a system on one corpus, mean over the seeds.

    Attributes
    ----------
    learning, predicting
        The processor's seconds; NaN where they were not measured.
    memory
        The most memory of its process, in bytes; NaN where it was not measured.
    """

    learning: float
    predicting: float
    memory: float


@dataclass(frozen=True)
class Comparison:
    """Systems on corpora.

    Attributes
    ----------
    corpora, systems
        Their names, in order.
    values
        By metric, system and corpus the score, mean over the seeds.
    costs
        By system and corpus what it took.
    given_up
        By system and corpus the seconds after which it was given up.
    warnings
        By system and corpus what it warned of.
    """

    corpora: tuple[str, ...]
    systems: tuple[str, ...]
    values: Mapping[tuple[str, str, str], float]
    costs: Mapping[tuple[str, str], Cost]
    given_up: Mapping[tuple[str, str], float] = field(default_factory=dict)
    warnings: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)

    def value(self, metric: str, system: str, corpus: str) -> float:
        """Return a score, or NaN."""
        return self.values.get((metric, system, corpus), math.nan)

    def complete(self, metric: str) -> list[str]:
        """Return the systems that have a score on every corpus."""
        return [
            system
            for system in self.systems
            if not any(math.isnan(self.value(metric, system, c)) for c in self.corpora)
        ]

    def mean_ranks(self, metric: str) -> dict[str, float]:
        """Return the mean rank over the corpora of systems that have a score on each."""
        names = self.complete(metric)
        scores = np.array([[self.value(metric, s, c) for s in names] for c in self.corpora])
        ranks = rankdata(scores if metric in LOSSES else -scores, axis=1)
        return dict(zip(names, ranks.mean(axis=0).tolist(), strict=True))


def compare(outcomes: Iterable[Outcome]) -> Comparison:
    """Gather related methods and threshold rules from the outcomes on several corpora."""
    values: dict[tuple[str, str, str], list[float]] = {}
    costs: dict[tuple[str, str], list[Cost]] = {}
    given_up: dict[tuple[str, str], float] = {}
    warned: dict[tuple[str, str], Sequence[str]] = {}
    corpora: dict[str, None] = {}
    for outcome in outcomes:
        corpora[outcome.corpus] = None
        given_up |= {(name, outcome.corpus): limit for name, limit in outcome.given_up.items()}
        for name, system in _compared(outcome):
            for metric in METRICS:
                found = system.scores.get(metric, math.nan)
                values.setdefault((metric, name, outcome.corpus), []).append(found)
            costs.setdefault((name, outcome.corpus), []).append(_cost(system))
            if system.run.warnings:
                warned[name, outcome.corpus] = system.run.warnings
    systems = dict.fromkeys([name for _, name, _ in values] + [name for name, _ in given_up])
    return Comparison(
        tuple(corpora),
        tuple(systems),
        {key: float(np.mean(given)) for key, given in values.items()},
        {key: _mean_cost(given) for key, given in costs.items()},
        given_up,
        warned,
    )


def _compared(outcome: Outcome) -> Iterator[tuple[str, EvaluatedSystem]]:
    """Yield related methods, and threshold rules on binary relevance, each by its name."""
    relevance: dict[str, str] = {}
    for system in outcome.systems:
        related = system.run.configuration.get("related")
        if related:
            yield system.run.system, system
            if related["classifier"] == "binary_relevance":
                relevance[related["estimator"]["name"]] = system.run.system
    for system in outcome.systems:
        if system.run.thresholds and not system.run.addition and system.run.content in relevance:
            yield f"{relevance[system.run.content]} | {system.run.thresholds}", system


def _cost(system: EvaluatedSystem) -> Cost:
    seconds = system.run.seconds
    memory = system.run.memory
    return Cost(
        seconds.get("learning_cpu", math.nan),
        seconds.get("predicting_cpu", math.nan),
        math.nan if memory is None else memory,
    )


def _mean_cost(costs: Sequence[Cost]) -> Cost:
    parts = [(one.learning, one.predicting, one.memory) for one in costs]
    return Cost(*np.mean(parts, axis=0).tolist())


def score_rank_table(comparison: Comparison, metric: str) -> Table:
    """Return a row per system, best mean rank first: its score on every corpus, the best bold."""
    mean = comparison.mean_ranks(metric)
    shown = [s for s in comparison.systems if _has_any(comparison, metric, s)]
    order = sorted(shown, key=lambda name: mean.get(name, math.inf))
    best = {corpus: _best(comparison, metric, corpus) for corpus in comparison.corpora}
    rows = []
    for system in order:
        scores = [(c, comparison.value(metric, system, c)) for c in comparison.corpora]
        rank = f"{mean[system]:.2f}" if system in mean else "–"
        cells = [Cell(_score(value), best=value == best[corpus]) for corpus, value in scores]
        rows.append([Cell(system), *cells, Cell(rank)])
    header = ["system", *comparison.corpora, "mean rank"]
    title = WORDS[metric]
    return Table(header, [rows], key=metric, title=title[0].upper() + title[1:])


def _has_any(comparison: Comparison, metric: str, system: str) -> bool:
    return not all(math.isnan(comparison.value(metric, system, c)) for c in comparison.corpora)


def _best(comparison: Comparison, metric: str, corpus: str) -> float:
    scores = [comparison.value(metric, system, corpus) for system in comparison.systems]
    there = [score for score in scores if not math.isnan(score)] or [math.nan]
    return min(there) if metric in LOSSES else max(there)


def _score(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def cost_table(comparison: Comparison) -> Table:
    """Return a row per system: CPU seconds of learning / predicting on every corpus, and memory."""
    rows = []
    for system in comparison.systems:
        cells, memory = [Cell(system)], []
        for corpus in comparison.corpora:
            cost = comparison.costs.get((system, corpus))
            if cost is None or math.isnan(cost.learning):
                limit = comparison.given_up.get((system, corpus))
                cells.append(Cell("–" if limit is None else f"over {limit:g}"))
                continue
            parts = (cost.learning, cost.predicting)
            cells.append(Cell(" / ".join("–" if math.isnan(p) else f"{p:.2f}" for p in parts)))
            memory.append(cost.memory)
        largest = max((m for m in memory if not math.isnan(m)), default=math.nan)
        rows.append([*cells, Cell("–" if math.isnan(largest) else f"{largest / _MEGABYTE:.0f}")])
    header = ["system", *comparison.corpora, "most MB"]
    return Table(header, [rows], key="costs", title="Cost")


def ranks_sections(comparison: Comparison) -> list[str]:
    """Return the sections of a page: scores and mean ranks by metric, costs and warnings."""
    parts = []
    for metric in METRICS:
        table = score_rank_table(comparison, metric)
        parts += [f"## {markdown_text(table.title)}", markdown_table(table)]
    parts += [
        "## Cost",
        _COST,
        markdown_table(cost_table(comparison)),
    ]
    if comparison.warnings:
        parts.append("What systems warned of:")
        parts.append(
            "\n".join(
                markdown_text(f"- {system} on {corpus}: {'; '.join(said)}")
                for (system, corpus), said in comparison.warnings.items()
            )
        )
    return parts
