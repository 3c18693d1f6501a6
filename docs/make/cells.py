"""Result folders → cells: one content classifier on one corpus, alone and with the learned weight.

Scores are means over the seeds. The difference that the learned evidence weight makes is tested on
the same documents: sign tests seed by seed, and a paired bootstrap of the mean over the seeds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.evaluation.significance import (
    SUMMED_METRICS,
    Bootstrap,
    SummedMetric,
    paired_bootstrap,
)
from labelkin.research.experiments.plan import LOSSES, METRICS
from labelkin.research.reports.results import (
    LEARNED,
    EvaluatedSystem,
    Outcome,
    Score,
    read_outcomes,
)


@dataclass(frozen=True)
class Difference:
    """The difference that the learned weight makes in one metric.

    Attributes
    ----------
    bootstrap
        Of the mean over the seeds, learned less alone.
    sign
        Of the s-test (micro F1) or the S-test (macro F1): the weakest of all seeds.
    """

    bootstrap: Bootstrap
    sign: str = ""

    @property
    def verdict(self) -> str:
        """Where the interval lies: ``"better"``, ``"worse"``, or empty where it holds 0."""
        low, high = self.bootstrap.low, self.bootstrap.high
        if low <= 0 <= high:
            return ""
        return "better" if (low > 0) == (self.bootstrap.metric not in LOSSES) else "worse"


@dataclass(frozen=True, eq=False)
class LearnedCell:
    """One content classifier on one corpus.

    Attributes
    ----------
    outcome
        The evaluated systems on the corpus.
    content
        The content classifier.
    learned
        The name of the addition whose evidence weight is learned.
    """

    outcome: Outcome
    content: str
    learned: str

    @property
    def corpus(self) -> str:
        """The name of the corpus."""
        return self.outcome.corpus

    @property
    def name(self) -> str:
        """``"reuters21578 SVM"``."""
        return f"{self.corpus} {self.content}"

    def value(self, metric: str, addition: str = "", rule: str = "") -> float:
        """Return a score, the mean over the seeds; ``addition=""`` is the content alone."""
        return self._scores[addition, rule, metric].value

    def has(self, addition: str, rule: str = "") -> bool:
        """Return whether there are runs of an addition, decided by a rule."""
        return (addition, rule) in self.systems

    @property
    def rules(self) -> list[str]:
        """The names of the threshold rules."""
        return list(dict.fromkeys(rule for _, rule in self.systems if rule))

    @cached_property
    def systems(self) -> dict[tuple[str, str], list[EvaluatedSystem]]:
        """By addition and rule the systems, seed by seed."""
        found: dict[tuple[str, str], list[EvaluatedSystem]] = {}
        for system in self.outcome.systems:
            if system.run.content == self.content:
                found.setdefault((system.run.addition, system.run.thresholds), []).append(system)
        return found

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """By metric what the learned weight changes."""
        before, after = self.systems["", ""], self.systems[self.learned, ""]
        signs = {metric: self._scores[self.learned, "", metric].sign for metric in METRICS}
        return {
            metric: Difference(_bootstrap(self.outcome.truth, before, after, metric), signs[metric])
            for metric in METRICS
        }

    def seconds(self, addition: str = "", rule: str = "") -> float:
        """Return the processor's seconds to learn from training documents, mean over the seeds."""
        runs = [system.run for system in self.systems[addition, rule]]
        return float(np.mean([run.seconds.get("learning_cpu", np.nan) for run in runs]))

    def learned_values(self, key: str) -> list[float]:
        """Return what the seeds have learned, ``"evidence_weight"`` say, each value once."""
        runs = [system.run for system in self.systems[self.learned, ""]]
        return sorted({round(run.learned[key], 6) for run in runs})

    @cached_property
    def _scores(self) -> dict[tuple[str, str, str], Score]:
        scores = [score for score in self.outcome.scores if score.content == self.content]
        return {(score.addition, score.rule, score.metric): score for score in scores}


def read_cells(folders: Iterable[str | os.PathLike[str]]) -> list[LearnedCell]:
    """Read finished result folders; content classifiers without a learned weight are left out."""
    return [
        cell
        for folder in folders
        for outcome in read_outcomes(folder, partial=False, rules=True)
        for cell in outcome_cells(outcome)
    ]


def outcome_cells(outcome: Outcome) -> Iterator[LearnedCell]:
    """Yield the cells of one corpus."""
    learned: dict[str, str] = {}
    for score in outcome.scores:
        if score.addition.endswith(LEARNED):
            learned.setdefault(score.content, score.addition)
    for content, addition in learned.items():
        yield LearnedCell(outcome, content, addition)


# Gains: how much of the remaining loss is removed, and how often something is better


def gain(metric: str, before: float, after: float) -> float:
    """Return by how many per cent of the remaining loss a score is better.

    The remaining loss of an F1 is 1 − F1; other metrics are losses. 0 for equal scores, minus
    infinity for a loss where none remained.

    Examples
    --------
    >>> round(gain("micro_f1", 0.8, 0.9), 9), round(gain("one_error", 0.2, 0.3), 9)
    (50.0, -50.0)
    """
    left, now = (1 - before, 1 - after) if metric.endswith("f1") else (before, after)
    if abs(left - now) <= 1e-12:
        return 0.0
    return 100 * (left - now) / left if left else -np.inf


def gains_over(
    cells: Sequence[LearnedCell], after: str, before: str = "", metrics: Sequence[str] = METRICS
) -> list[float]:
    """Return the gains of one system over another, cell by cell and metric by metric.

    Systems are named by their additions; cells that lack one of the two are left out.
    """
    return [
        gain(metric, cell.value(metric, before), cell.value(metric, after))
        for cell in cells
        if cell.has(before) and cell.has(after)
        for metric in metrics
    ]


def learned_gains(cells: Sequence[LearnedCell], metrics: Sequence[str] = METRICS) -> list[float]:
    """Return the gains of the learned weight over the content alone."""
    return [value for cell in cells for value in gains_over([cell], cell.learned, "", metrics)]


class Verdict(NamedTuple):
    """How often something is better, equal and worse, and its gains in per cent."""

    better: int
    equal: int
    worse: int
    mean: float
    worst: float

    def __str__(self) -> str:
        """``"44 / 1 / 0"``."""
        return f"{self.better} / {self.equal} / {self.worse}"


def count_gains(gains: Iterable[float]) -> Verdict:
    """Count gains; the mean leaves out those that are not finite.

    Examples
    --------
    >>> print(count_gains([5.0, 0.0, -1.0]))
    1 / 1 / 1
    """
    values = np.array(list(gains))
    finite = values[np.isfinite(values)]
    return Verdict(
        better=int((values > 0).sum()),
        equal=int((values == 0).sum()),
        worse=int((values < 0).sum()),
        mean=float(finite.mean()) if len(finite) else np.nan,
        worst=float(values.min(initial=np.inf)),
    )


# The bootstrap of a mean over seeds


class _Outputs(list[Any]):
    """What each seed's system gave, as one system with a row per document."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self[0].shape)


def _bootstrap(
    Y: Any, alone: Sequence[EvaluatedSystem], learned: Sequence[EvaluatedSystem], metric: str
) -> Bootstrap:
    before, after = (
        _Outputs(
            s.run.log_odds() if metric == "one_error" else sparse.csr_array(s.run.decisions())
            for s in systems
        )
        for systems in (alone, learned)
    )
    summed = _mean_over_seeds(SUMMED_METRICS[metric])
    names = ("alone", "learned")
    return paired_bootstrap(Y, before, after, summed, random_state=0, names=names)


def _mean_over_seeds(metric: SummedMetric) -> SummedMetric:
    """Return the metric whose score is the mean over the seeds, on the same draw of documents."""
    sizes: list[int] = []

    def sums(Y: Any, outputs: _Outputs) -> Any:
        parts = [sparse.csr_array(metric.document_sums(Y, one)) for one in outputs]
        sizes[:] = [len(parts)]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def score(total: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = [metric.score(part) for part in np.hsplit(total, sizes[0])]
        return np.asarray(np.mean(scores, axis=0))

    return SummedMetric(metric.name, sums, score, metric.greater_is_better)
