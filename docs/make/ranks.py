"""Many systems over several corpora: scores with ranks, tests of the ranks, and costs.

Related methods, and threshold rules on the content classifier alone, are compared on every metric
of the paper. Tests need complete blocks: systems without a score on a corpus are shown, and left
out of the test.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from docs.make.rank_test import RankTest, rank_test

from labelkin.pages import COLOURS, Picture, drawing, finish
from labelkin.research.experiments.plan import LOSSES, METRICS
from labelkin.research.reports.results import WORDS, EvaluatedSystem, Outcome, p_value_text
from labelkin.research.reports.tables import (
    Cell,
    Table,
    markdown_table,
    markdown_text,
)

#: What Holm's procedure compares all others with, where it is there.
CONTROL = "labelkin"
_MEGABYTE = 2**20
_COST = """\
Processor's seconds to learn / to give log-odds of the test documents, one thread; the most memory
that a system's process had on any corpus, with Python and the documents. A threshold rule's seconds
are beside those of the system it decides for; those of stacking and of dependent relevance are
beside those of BR, from whose evidence they start."""


@dataclass(frozen=True)
class Cost:
    """What a system took on one corpus, mean over the seeds.

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
        """Return a score; NaN where there is none."""
        return self.values.get((metric, system, corpus), math.nan)

    def complete(self, metric: str) -> list[str]:
        """Return the systems that have a score on every corpus."""
        return [
            system
            for system in self.systems
            if not any(math.isnan(self.value(metric, system, c)) for c in self.corpora)
        ]

    @cached_property
    def tests(self) -> dict[str, RankTest]:
        """By metric the test over complete blocks; none where there are fewer than two."""
        found = {}
        for metric in METRICS:
            names = self.complete(metric)
            if len(names) > 1 and len(self.corpora) > 1:
                scores = [[self.value(metric, s, c) for s in names] for c in self.corpora]
                found[metric] = rank_test(scores, names, greater_is_better=metric not in LOSSES)
        return found


def compare(outcomes: Iterable[Outcome]) -> Comparison:
    """Gather related methods and threshold rules from what came out on several corpora."""
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
            if system.run is not None and system.run.warnings:
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
        related = system.run.configuration.get("related") if system.run else None
        if related:
            yield system.name, system
            if related["classifier"] == "binary_relevance":
                relevance[related["estimator"]["name"]] = system.name
    for system in outcome.systems:
        if system.rule and not system.addition and system.content in relevance:
            yield f"{relevance[system.content]} | {system.rule}", system


def _cost(system: EvaluatedSystem) -> Cost:
    seconds = system.run.seconds if system.run else {}
    memory = system.run.memory if system.run else None
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
    test = comparison.tests.get(metric)
    mean = dict(zip(test.names, test.mean_ranks, strict=True)) if test else {}
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


def describe_test(test: RankTest, control: str = CONTROL) -> str:
    """Say what the ranks show, wins and losses alike."""
    n_corpora, n_systems = test.ranks.shape
    said = (
        f"Friedman's test over {n_systems} systems on {n_corpora} corpora (Iman and Davenport): "
        f"F = {test.statistic:.2f}, {p_value_text(test.p_value)}. Nemenyi's critical difference at "
        f"{test.alpha:g} is {test.critical_difference:.2f} ranks."
    )
    if control not in test.names:
        return said
    mean = dict(zip(test.names, test.mean_ranks, strict=True))
    place = 1 + sum(rank < mean[control] for rank in mean.values())
    holm = test.holm(control)
    better = [n for n in test.names if n != control and mean[n] < mean[control]]
    clear = {name: p for name, p in holm.items() if p <= test.alpha}
    worse = [name for name in clear if mean[name] > mean[control]]
    ahead = [name for name in clear if mean[name] < mean[control]]
    parts = [f"{control} has mean rank {mean[control]:.2f}, place {place} of {n_systems}"]
    parts.append(f"ahead of it: {', '.join(better)}" if better else "nobody is ahead of it")
    tested = [f"significantly behind it: {', '.join(worse) or 'none'}"]
    tested.append(f"significantly ahead of it: {', '.join(ahead) or 'none'}")
    return f"{said} {'; '.join(parts)}. By Holm at {test.alpha:g}, {'; '.join(tested)}."


def rank_picture(test: RankTest, title: str) -> Picture:
    """Draw the critical-difference diagram: mean ranks, bars join systems that do not differ."""
    order = np.argsort(test.mean_ranks, kind="stable")
    n_systems, groups = len(order), test.groups()
    half = (n_systems + 1) // 2
    with drawing((7.0, 0.9 + 0.17 * half + 0.1 * len(groups))) as (figure, axes):
        low, high = 1.0, float(n_systems)
        axes.set(xlim=(low - 0.35 * n_systems, high + 0.35 * n_systems), ylim=(-half - 2, 3.2))
        axes.axis("off")
        axes.plot([low, high], [0, 0], color=COLOURS["muted"], linewidth=1)
        for rank in range(1, n_systems + 1):
            axes.plot([rank, rank], [0, 0.2], color=COLOURS["muted"], linewidth=0.8)
            if rank % 2 or n_systems < 12:
                axes.text(rank, 0.35, str(rank), ha="center", va="bottom", fontsize=7)
        right = high if test.critical_difference > n_systems - 1 else 1 + test.critical_difference
        axes.plot([low, right], [2.2, 2.2], color=COLOURS["ink"], linewidth=1.5)
        axes.text(low, 2.4, f"critical difference {test.critical_difference:.2f}", fontsize=7)
        for place, i in enumerate(order):
            left_side = place < half
            depth = -(place + 1 if left_side else n_systems - place) - 0.25 * len(groups)
            x, end = test.mean_ranks[i], low - 0.3 if left_side else high + 0.3
            axes.plot([x, x, end], [0, depth, depth], color=COLOURS["muted"], linewidth=0.7)
            name = f"{test.names[i]} ({x:.2f})"
            axes.text(end, depth, name, ha="right" if left_side else "left", va="center")
        rank_of = dict(zip(test.names, test.mean_ranks, strict=True))
        for k, group in enumerate(groups):
            ends = [rank_of[group[0]], rank_of[group[-1]]]
            height = -0.25 * (k + 1)
            axes.plot(ends, [height] * 2, color=COLOURS["better"], linewidth=2.5)
        first, last = test.names[order[0]], test.names[order[-1]]
        alt = (
            f"{title}: mean ranks of {n_systems} systems, best {first}, worst {last}; bars join "
            f"those within the critical difference of {test.critical_difference:.2f}."
        )
        return finish(figure, title, alt)


def ranks_sections(comparison: Comparison, pictures: Mapping[str, str] | None = None) -> list[str]:
    """Return the sections of a page; ``pictures`` are links by metric, shown below its table."""
    parts = []
    for metric in METRICS:
        table = score_rank_table(comparison, metric)
        parts += [f"## {markdown_text(table.title)}", markdown_table(table)]
        if metric in comparison.tests:
            parts.append(markdown_text(describe_test(comparison.tests[metric])))
        if pictures and metric in pictures:
            parts.append(pictures[metric])
        left_out = [
            system
            for system in comparison.systems
            if system not in comparison.complete(metric) and _has_any(comparison, metric, system)
        ]
        if left_out and metric in comparison.tests:
            listed = ", ".join(left_out)
            parts.append(markdown_text(f"Not on all corpora, so not in the test: {listed}."))
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
