"""Cells → the tables of beyond.md: scores first, then gains, intervals, controls, rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from docs.make.cells import (
    LearnedCell,
    count_gains,
    gain,
    gains_over,
    learned_gains,
)

from labelkin.research.experiments.plan import F1_METRICS, METRICS
from labelkin.research.reports.results import WORDS
from labelkin.research.reports.tables import Cell, Table, format_score, signed_text

CALIBRATION = {"expected_calibration_error": "ECE", "brier_score": "Brier score"}
#: Metrics that depend on the threshold rule; one-error does not.
DECIDED = tuple(metric for metric in METRICS if metric != "one_error")
#: The rule that stands beside the cut at ½ in the first tables.
TUNED = "GlobalCut"
_DECIMALS = {"hamming_loss": 5, "expected_calibration_error": 5, "brier_score": 5}


def corpus_table(cells: Sequence[LearnedCell]) -> Table:
    """Return what the corpora are, in numbers."""
    rows = []
    for outcome in dict.fromkeys(cell.outcome for cell in cells):
        train, test = outcome.labels, outcome.truth
        if train is None or test is None:
            continue
        n_positive = train.counts()[0]
        numbers = [
            f"{train.shape[0]:,}",
            f"{test.shape[0]:,}",
            f"{train.shape[1]:,}",
            f"{n_positive.sum() / max(train.shape[0], 1):.2f}",
            f"{int((n_positive < 10).sum()):,}",
        ]
        rows.append([Cell(outcome.corpus), *map(Cell, numbers)])
    heads = ["corpus", "training documents", "test documents", "labels", "labels per document"]
    return _table([*heads, "labels with fewer than 10 training documents"], rows)


def system_means(cells: Sequence[LearnedCell]) -> dict[str, dict[str, float]]:
    """Return the mean scores over the cells, of content and learned weight at ½ and tuned."""
    means = {}
    for name, addition, rule in _shown(cells):
        metrics = DECIDED if rule else METRICS
        means[name] = {
            m: float(np.mean([cell.value(m, _of(cell, addition), rule) for cell in cells]))
            for m in metrics
        }
    return means


def mean_table(cells: Sequence[LearnedCell]) -> Table:
    """Return the mean scores over the cells, a row per system; the best are marked."""
    means = system_means(cells)
    best = {
        m: (max if m in F1_METRICS else min)(scores[m] for scores in means.values() if m in scores)
        for m in METRICS
    }
    rows = [
        [
            Cell(name),
            *(
                Cell(_score(m, scores[m]), best=scores[m] == best[m]) if m in scores else Cell("")
                for m in METRICS
            ),
        ]
        for name, scores in means.items()
    ]
    return _table(["mean over the cells", *(WORDS[m] for m in METRICS)], rows)


def score_table(cells: Sequence[LearnedCell]) -> Table:
    """Return micro and macro F1 of content and learned weight, at ½ and tuned, a row per cell."""
    shown = _shown(cells)
    rows = []
    for cell in cells:
        texts = [Cell(cell.name)]
        for metric in F1_METRICS:
            values = [cell.value(metric, _of(cell, addition), rule) for _, addition, rule in shown]
            texts += [Cell(_score(metric, v), best=v == max(values)) for v in values]
        rows.append(texts)
    return _table(
        ["cell", *(f"{WORDS[m]}: {name}" for m in F1_METRICS for name, *_ in shown)], rows
    )


def gain_table(cells: Sequence[LearnedCell]) -> Table:
    """Return content alone → learned weight with the gain, a row per cell, and their sum below."""
    rows = []
    for cell in cells:
        changes = [
            Cell(
                _arrow(m, cell.value(m), cell.value(m, cell.learned)),
                beside=(f"{signed_text(learned_gains([cell], [m])[0], 1)} %",),
            )
            for m in METRICS
        ]
        rows.append([Cell(cell.name), *changes])
    verdicts = {m: count_gains(learned_gains(cells, [m])) for m in METRICS}
    counts = [Cell("better / equal / worse"), *(Cell(str(verdicts[m])) for m in METRICS)]
    means = [Cell("mean gain %"), *(Cell(signed_text(verdicts[m].mean, 1)) for m in METRICS)]
    return _table(["cell", *(WORDS[m] for m in METRICS)], rows, [counts, means])


def interval_table(cells: Sequence[LearnedCell]) -> Table:
    """Return the differences with their intervals, and the signs of both sign tests."""
    rows = []
    for cell in cells:
        signs = [cell.differences[m].sign for m in F1_METRICS]
        rows.append([Cell(cell.name), *map(Cell, signs), *(_interval(cell, m) for m in METRICS)])
    counts = []
    for side in ("better", "worse"):
        verdicts = {m: [cell.differences[m].verdict for cell in cells] for m in METRICS}
        numbers = [str(verdicts[m].count(side)) for m in METRICS]
        counts.append([Cell(f"intervals wholly {side}"), Cell(""), Cell(""), *map(Cell, numbers)])
    return _table(["cell", "s", "S", *(WORDS[m] for m in METRICS)], rows, counts)


def control_table(cells: Sequence[LearnedCell]) -> Table:
    """Return what all additions and controls gain over content alone, and learned over controls."""
    learned = cells[0].learned
    every = dict.fromkeys(a for cell in cells for a, rule in cell.systems if a and not rule)
    rows = [_verdict_row(name, cells, name, "") for name in every]
    against = [
        _verdict_row(f"{learned}, against {name}", cells, learned, name)
        for name in every
        if "+" not in name
    ]
    heads = ["addition", "better / equal / worse", "mean gain %", "worst %"]
    return _table([*heads, *(f"{WORDS[m]} %" for m in METRICS)], rows, against)


def threshold_table(cells: Sequence[LearnedCell]) -> Table:
    """Return every rule on content alone → on the learned weight, means over the cells."""
    rows = []
    for rule in ["", *dict.fromkeys(rule for cell in cells for rule in cell.rules)]:
        pairs = {
            m: [(cell.value(m, "", rule), cell.value(m, cell.learned, rule)) for cell in cells]
            for m in DECIDED
        }
        verdict = count_gains(gain(m, *pair) for m in DECIDED for pair in pairs[m])
        means = [Cell(_arrow(m, *np.mean(pairs[m], axis=0).tolist())) for m in DECIDED]
        rows.append([Cell(rule or "0.5"), *means, Cell(str(verdict))])
    return _table(["rule", *(WORDS[m] for m in DECIDED), "better / equal / worse"], rows)


def threshold_cell_table(cell: LearnedCell) -> Table:
    """Return every rule on content alone → on the learned weight, in one cell."""
    rows = []
    for rule in ["", *cell.rules]:
        pairs = {m: (cell.value(m, "", rule), cell.value(m, cell.learned, rule)) for m in DECIDED}
        rows.append([Cell(rule or "0.5"), *(Cell(_arrow(m, *pairs[m])) for m in DECIDED)])
    return _table(["rule", *(WORDS[m] for m in DECIDED)], rows)


def calibration_table(cells: Sequence[LearnedCell]) -> Table:
    """Return calibration error and Brier score: alone, learned, and the content calibrated."""
    rows = []
    for cell in cells:
        shown = ["", cell.learned, "calibration"]
        texts = [
            _score(m, cell.value(m, addition)) if cell.has(addition) else "–"
            for m in CALIBRATION
            for addition in shown
        ]
        rows.append([Cell(cell.name), *map(Cell, texts)])
    names = ("alone", "learned", "calibrated content")
    return _table(["cell", *(f"{m}, {name}" for m in CALIBRATION.values() for name in names)], rows)


def cost_table(cells: Sequence[LearnedCell]) -> Table:
    """Return learned weights, and what learning costs beside the content's own fit."""
    rows = []
    for cell in cells:
        fit, learning = cell.seconds(), cell.seconds(cell.learned)
        rules = sum(cell.seconds(cell.learned, rule) for rule in cell.rules)
        weight = ", ".join(f"{value:g}" for value in cell.learned_values("evidence_weight"))
        ratio = f"{learning / fit:.2f}" if fit else "–"
        percent = f"{100 * rules / fit:.1f}" if fit else "–"
        numbers = [f"{fit:.2f}", f"{learning:.2f}", ratio, f"{rules:.3f}", percent]
        rows.append([Cell(text) for text in (cell.name, weight, *numbers)])
    heads = ["cell", "evidence weight", "content fit s", "learning s", "ratio"]
    return _table([*heads, "all rules s", "% of content fit"], rows)


def seed_table(cell: LearnedCell) -> Table:
    """Return content alone → learned weight seed by seed, and the means."""
    pairs = zip(cell.systems["", ""], cell.systems[cell.learned, ""], strict=True)
    rows = [
        [
            Cell(f"seed {alone.run.seed}"),
            *(Cell(_arrow(m, alone.scores[m], learned.scores[m])) for m in METRICS),
        ]
        for alone, learned in pairs
    ]
    means = [Cell(_arrow(m, cell.value(m), cell.value(m, cell.learned))) for m in METRICS]
    return _table(["seed", *(WORDS[m] for m in METRICS)], rows, [[Cell("mean"), *means]])


def _shown(cells: Sequence[LearnedCell]) -> list[tuple[str, bool, str]]:
    """Return name, whether with the learned weight, and rule of what the first tables compare."""
    shown = [("content, ½", False, ""), ("learned, ½", True, "")]
    if all(cell.has("", TUNED) and cell.has(cell.learned, TUNED) for cell in cells):
        shown.insert(1, (f"content, {TUNED}", False, TUNED))
        shown.append((f"learned, {TUNED}", True, TUNED))
    return shown


def _of(cell: LearnedCell, learned: bool) -> str:
    return cell.learned if learned else ""


def _verdict_row(title: str, cells: Sequence[LearnedCell], after: str, before: str) -> list[Cell]:
    verdict = count_gains(gains_over(cells, after, before))
    each = [count_gains(gains_over(cells, after, before, [m])).mean for m in METRICS]
    numbers = [verdict.mean, verdict.worst, *each]
    return [Cell(title), Cell(str(verdict)), *(Cell(signed_text(v, 1)) for v in numbers)]


def _interval(cell: LearnedCell, metric: str) -> Cell:
    found = cell.differences[metric]
    decimals = _DECIMALS.get(metric, 4)
    low, high = (signed_text(v, decimals) for v in (found.bootstrap.low, found.bootstrap.high))
    mark = {"better": " •", "worse": " ◦", "": ""}[found.verdict]
    return Cell(f"{signed_text(found.bootstrap.difference, decimals)} ({low} … {high}){mark}")


def _arrow(metric: str, before: float, after: float) -> str:
    return f"{_score(metric, before)} → {_score(metric, after)}"


def _score(metric: str, value: float) -> str:
    return format_score(value, _DECIMALS.get(metric, 4))


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[Cell]], below: Sequence[Sequence[Cell]] = ()
) -> Table:
    return Table(heads, [rows, below] if below else [rows])
