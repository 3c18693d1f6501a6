"""Result folders → records of what goes beyond the paper, a record per corpus and content.

Scores are means over the seeds. The difference that the learnt evidence weight makes is tested on
the same documents: sign tests seed by seed, and a paired bootstrap of the mean over the seeds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.experiment import CorpusResults, Run, read_results
from labelkin.metrics import evaluate
from labelkin.report.outcome import weakest_sign
from labelkin.report.scores import METRICS
from labelkin.significance import (
    SUMMED_METRICS,
    Bootstrap,
    SummedMetric,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
)

#: How the name of an addition ends whose evidence weight is learnt.
LEARNT = " w=auto"
CALIBRATION = ("expected_calibration_error", "brier_score")
_DECIDED = tuple(metric for metric in METRICS if metric != "one_error")
_SIGN_TESTS = {"micro_f1": micro_sign_test, "macro_f1": macro_sign_test}
_NAMES = ("alone", "learnt")


@dataclass(frozen=True, eq=False)
class Trial:
    """One system of a cell.

    Attributes
    ----------
    by_seed
        Its scores by metric, seed by seed.
    seconds
        Of the processor, to learn from training documents; the mean over the seeds.
    learnt
        What it learnt, seed by seed: ``"evidence_weight"``, ``"first_place"``.
    known_labels
        What known labels are worth to it, seed by seed.
    """

    by_seed: tuple[Mapping[str, float], ...]
    seconds: float
    learnt: tuple[Mapping[str, float], ...]
    known_labels: tuple[Sequence[Mapping[str, Any]], ...]

    def __getitem__(self, metric: str) -> float:
        """Return the mean score over the seeds."""
        return float(np.mean([scores[metric] for scores in self.by_seed]))


@dataclass(frozen=True, eq=False)
class Difference:
    """What the learnt weight changes in one metric.

    Attributes
    ----------
    bootstrap
        Of the mean over the seeds, learnt less alone.
    sign
        Of the s-test (micro F1) or the S-test (macro F1): the one that holds for every seed.
    """

    bootstrap: Bootstrap
    sign: str = ""

    @property
    def verdict(self) -> str:
        """Where the interval lies: ``"better"``, ``"worse"``, or empty where it holds 0."""
        low, high = self.bootstrap.low, self.bootstrap.high
        if low <= 0 <= high:
            return ""
        return "better" if (low > 0) == is_gain(self.bootstrap.metric) else "worse"


@dataclass(frozen=True, eq=False)
class BeyondCell:
    """One content classifier on one corpus.

    Attributes
    ----------
    corpus, content, seeds
        Which they are.
    learnt
        The name of the addition whose evidence weight is learnt.
    systems
        By name of the addition, ``""`` for the content alone.
    decided
        By name of the addition and of the threshold rule.
    differences
        By metric, what the learnt weight changes.
    """

    corpus: str
    content: str
    seeds: tuple[int, ...]
    learnt: str
    systems: Mapping[str, Trial]
    decided: Mapping[tuple[str, str], Trial]
    differences: Mapping[str, Difference]

    @property
    def name(self) -> str:
        """``"reuters21578 SVM"``."""
        return f"{self.corpus} {self.content}"


def read_cells(folders: Iterable[str | os.PathLike[str]]) -> list[BeyondCell]:
    """Read finished result folders; content classifiers without a learnt weight are left out."""
    return [
        cell
        for folder in folders
        for corpus in read_results(folder).corpora
        for cell in _corpus_cells(corpus)
    ]


def is_gain(metric: str) -> bool:
    """Tell metrics that are to be raised from losses."""
    return SUMMED_METRICS[metric].greater_is_better


def _corpus_cells(corpus: CorpusResults) -> Iterator[BeyondCell]:
    for content in dict.fromkeys(run.content for run in corpus.runs):
        runs = [run for run in corpus.runs if run.content == content]
        learnt = [run.addition for run in runs if run.addition.endswith(LEARNT)]
        if learnt:
            rules = [run for run in corpus.threshold_runs if run.content == content]
            yield _cell(corpus, runs, rules, learnt[0])


def _cell(
    corpus: CorpusResults, runs: Sequence[Run], rules: Sequence[Run], learnt: str
) -> BeyondCell:
    alone = [run for run in runs if not run.addition]
    added = [run for run in runs if run.addition == learnt]
    systems = dict.fromkeys(run.addition for run in runs)
    decided = dict.fromkeys((run.addition, run.thresholds) for run in rules)
    return BeyondCell(
        corpus.name,
        alone[0].content,
        tuple(run.seed for run in alone),
        learnt,
        {name: _trial(corpus.Y, [r for r in runs if r.addition == name]) for name in systems},
        {
            key: _trial(corpus.Y, [r for r in rules if (r.addition, r.thresholds) == key])
            for key in decided
        },
        {metric: _difference(corpus.Y, alone, added, metric) for metric in METRICS},
    )


def _trial(Y: Any, runs: Sequence[Run]) -> Trial:
    return Trial(
        tuple(_scores(Y, run) for run in runs),
        float(np.mean([run.seconds.get("learning_cpu", np.nan) for run in runs])),
        tuple(run.learnt for run in runs),
        tuple(run.known_labels for run in runs),
    )


def _scores(Y: Any, run: Run) -> dict[str, float]:
    decisions = sparse.csr_array(run.decisions())
    if run.thresholds:  # what does not depend on the rule is known from the run it decides on
        scores = evaluate(Y, None, decisions).scores()
        return {metric: scores[metric] for metric in _DECIDED}
    scores = evaluate(Y, run.log_odds(), decisions).scores()
    return {metric: scores[metric] for metric in (*METRICS, *CALIBRATION)}


def _difference(Y: Any, alone: Sequence[Run], learnt: Sequence[Run], metric: str) -> Difference:
    before, after = _outputs(alone, metric), _outputs(learnt, metric)
    bootstrap = paired_bootstrap(
        Y, before, after, _mean_over_seeds(SUMMED_METRICS[metric]), random_state=0, names=_NAMES
    )
    if metric not in _SIGN_TESTS:
        return Difference(bootstrap)
    test = _SIGN_TESTS[metric]
    pairs = zip(before, after, strict=True)
    signs = [test(Y, *pair, names=_NAMES).sign for pair in pairs]
    return Difference(bootstrap, weakest_sign(signs))


class _Outputs(list[Any]):
    """What each seed's run gave, as one system with a row per document."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self[0].shape)


def _outputs(runs: Sequence[Run], metric: str) -> _Outputs:
    if metric == "one_error":
        return _Outputs(run.log_odds() for run in runs)
    return _Outputs(sparse.csr_array(run.decisions()) for run in runs)


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
