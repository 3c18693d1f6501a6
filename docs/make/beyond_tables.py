"""Records of what goes beyond the paper → tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from docs.make.cells import CALIBRATION, BeyondCell, Trial
from docs.make.gains import count_gains, gain, gains_over

from labelkin.report.number_text import score_text, signed_text
from labelkin.report.scores import METRICS
from labelkin.report.tables import Cell, Table

HEADS = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset 0/1 loss",
    "one_error": "one-error",
    "expected_calibration_error": "ECE",
    "brier_score": "Brier score",
}
#: What a threshold rule changes: who comes first does not depend on the cut.
DECIDED = ("micro_f1", "macro_f1", "hamming_loss", "subset_loss")
#: What a table calls the cut at one number.
FIXED = "0.5"
_DECIMALS = {"hamming_loss": 5, "expected_calibration_error": 5, "brier_score": 5}


def gain_table(cells: Sequence[BeyondCell]) -> Table:
    """Return content alone → learnt weight with the gain, a row per cell, and their sum below."""
    rows = [
        (
            Cell(cell.name),
            *(_change(cell.systems[""], cell.systems[cell.learnt], m) for m in METRICS),
        )
        for cell in cells
    ]
    verdicts = {m: count_gains(_learnt_gains(cells, [m])) for m in METRICS}
    counts = (Cell("better / equal / worse"), *(Cell(str(verdicts[m])) for m in METRICS))
    means = (Cell("mean gain %"), *(Cell(signed_text(verdicts[m].mean, 1)) for m in METRICS))
    return _table(["cell", *(HEADS[m] for m in METRICS)], rows, [counts, means])


def interval_table(cells: Sequence[BeyondCell]) -> Table:
    """Return the differences with their intervals, and the signs of both sign tests."""
    rows = []
    for cell in cells:
        signs = [cell.differences[m].sign for m in ("micro_f1", "macro_f1")]
        rows.append((Cell(cell.name), *map(Cell, signs), *(_interval(cell, m) for m in METRICS)))
    counts = [
        (
            Cell(f"intervals wholly {side}"),
            Cell(""),
            Cell(""),
            *(_count(cells, m, side) for m in METRICS),
        )
        for side in ("better", "worse")
    ]
    return _table(["cell", "s", "S", *(HEADS[m] for m in METRICS)], rows, counts)


def control_table(cells: Sequence[BeyondCell]) -> Table:
    """Return what all additions and controls gain over content alone, and learnt over controls."""
    learnt = cells[0].learnt
    every = dict.fromkeys(name for cell in cells for name in cell.systems if name)
    rows = [_verdict_row(name, cells, name, "") for name in every]
    against = [
        _verdict_row(f"{learnt}, against {name}", cells, learnt, name)
        for name in every
        if "+" not in name
    ]
    heads = ["addition", "better / equal / worse", "mean gain %", "worst %"]
    return _table([*heads, *(f"{HEADS[m]} %" for m in METRICS)], rows, against)


def threshold_table(cells: Sequence[BeyondCell]) -> Table:
    """Return every rule on content alone → on the learnt weight, means over the cells."""
    rows = []
    for rule in [FIXED, *_rules(cells)]:
        pairs = [_decided(cell, rule) for cell in cells]
        verdict = count_gains(gain(m, a[m], b[m]) for a, b in pairs for m in DECIDED)
        means = [
            _arrow(m, *(float(np.mean([p[i][m] for p in pairs])) for i in (0, 1))) for m in DECIDED
        ]
        rows.append((Cell(rule), *map(Cell, means), Cell(str(verdict))))
    return _table(["rule", *(HEADS[m] for m in DECIDED), "better / equal / worse"], rows)


def threshold_cell_table(cell: BeyondCell) -> Table:
    """Return every rule on content alone → on the learnt weight, in one cell."""
    rows = [
        (Cell(rule), *(Cell(_arrow(m, *(one[m] for one in _decided(cell, rule)))) for m in DECIDED))
        for rule in [FIXED, *_rules([cell])]
    ]
    return _table(["rule", *(HEADS[m] for m in DECIDED)], rows)


def calibration_table(cells: Sequence[BeyondCell]) -> Table:
    """Return calibration error and Brier score: alone, learnt, and the content calibrated."""
    shown: Mapping[str, Callable[[BeyondCell], str]] = {
        "alone": lambda cell: "",
        "learnt": lambda cell: cell.learnt,
        "calibrated content": lambda cell: "calibration",
    }
    rows = [
        (
            Cell(cell.name),
            *(
                Cell(_score(m, cell.systems[name(cell)][m]) if name(cell) in cell.systems else "–")
                for m in CALIBRATION
                for name in shown.values()
            ),
        )
        for cell in cells
    ]
    return _table(["cell", *(f"{HEADS[m]}, {name}" for m in CALIBRATION for name in shown)], rows)


def cost_table(cells: Sequence[BeyondCell]) -> Table:
    """Return learnt weights, and what learning costs beside the content's own fit."""
    rows = []
    for cell in cells:
        fit, learning = cell.systems[""].seconds, cell.systems[cell.learnt].seconds
        rules = sum(cell.decided[cell.learnt, rule].seconds for rule in _rules([cell]))
        learnt = cell.systems[cell.learnt].learnt
        shown = [_values(learnt, key) for key in ("evidence_weight", "first_place")]
        ratio = f"{learning / fit:.2f}" if fit else "–"
        share = f"{100 * rules / fit:.1f}" if fit else "–"
        numbers = [f"{fit:.2f}", f"{learning:.2f}", ratio, f"{rules:.3f}", share]
        rows.append(tuple(map(Cell, [cell.name, *shown, *numbers])))
    heads = ["cell", "evidence weight", "first place", "content fit s", "learning s", "ratio"]
    return _table([*heads, "all rules s", "% of content fit"], rows)


def revealed_table(cells: Sequence[BeyondCell]) -> Table:
    """Return what known labels are worth: a row for each cell and number of labels told."""
    rows = []
    for cell in cells:
        for told in zip(*cell.systems[cell.learnt].known_labels, strict=True):
            mean = {
                (system, metric): float(np.mean([one[system][metric] for one in told]))
                for system in ("alone", "guessed", "told")
                for metric in ("micro_f1", "one_error")
            }
            shown = [
                " → ".join(f"{mean[system, metric]:.4f}" for system in ("alone", "guessed", "told"))
                for metric in ("micro_f1", "one_error")
            ]
            sizes = [f"{told[0][size]:,}" for size in ("documents", "with_more")]
            facts = [cell.name, str(told[0]["revealed"]), *sizes]
            rows.append(tuple(map(Cell, [*facts, *shown])))
    heads = ["cell", "labels told", "documents", "with more", "micro F1 of the rest"]
    heads.append("one-error of those with more")
    return _table(heads, rows)


def seed_table(cell: BeyondCell, metrics: Sequence[str]) -> Table:
    """Return content alone → learnt weight seed by seed, and the means."""
    alone, learnt = cell.systems[""], cell.systems[cell.learnt]
    rows = [
        (Cell(f"seed {seed}"), *(Cell(_arrow(m, a[m], b[m])) for m in metrics))
        for seed, a, b in zip(cell.seeds, alone.by_seed, learnt.by_seed, strict=True)
    ]
    mean = (Cell("mean"), *(Cell(_arrow(m, alone[m], learnt[m])) for m in metrics))
    return _table(["seed", *(HEADS[m] for m in metrics)], rows, [mean])


def _learnt_gains(cells: Sequence[BeyondCell], metrics: Sequence[str]) -> list[float]:
    return [value for cell in cells for value in gains_over([cell], cell.learnt, "", metrics)]


def _verdict_row(
    title: str, cells: Sequence[BeyondCell], after: str, before: str
) -> tuple[Cell, ...]:
    verdict = count_gains(gains_over(cells, after, before))
    each = [count_gains(gains_over(cells, after, before, [m])).mean for m in METRICS]
    numbers = [verdict.mean, verdict.worst, *each]
    return (Cell(title), Cell(str(verdict)), *(Cell(signed_text(v, 1)) for v in numbers))


def _rules(cells: Sequence[BeyondCell]) -> list[str]:
    return list(dict.fromkeys(rule for cell in cells for _, rule in cell.decided))


def _decided(cell: BeyondCell, rule: str) -> tuple[Trial, Trial]:
    """Return what a rule decides on the content alone and on the learnt weight."""
    if rule == FIXED:
        return cell.systems[""], cell.systems[cell.learnt]
    return cell.decided["", rule], cell.decided[cell.learnt, rule]


def _change(alone: Trial, learnt: Trial, metric: str) -> Cell:
    change = gain(metric, alone[metric], learnt[metric])
    return Cell(
        _arrow(metric, alone[metric], learnt[metric]), beside=(f"{signed_text(change, 1)} %",)
    )


def _interval(cell: BeyondCell, metric: str) -> Cell:
    found = cell.differences[metric]
    decimals = _DECIMALS.get(metric, 4)
    low, high = (signed_text(v, decimals) for v in (found.bootstrap.low, found.bootstrap.high))
    mark = {"better": " •", "worse": " ◦", "": ""}[found.verdict]
    return Cell(f"{signed_text(found.bootstrap.difference, decimals)} ({low} … {high}){mark}")


def _count(cells: Sequence[BeyondCell], metric: str, side: str) -> Cell:
    return Cell(str(sum(cell.differences[metric].verdict == side for cell in cells)))


def _values(learnt: Sequence[Mapping[str, float]], key: str) -> str:
    """Return what the seeds have learnt, each value once."""
    return ", ".join(f"{value:g}" for value in sorted({round(one[key], 6) for one in learnt}))


def _arrow(metric: str, before: float, after: float) -> str:
    return f"{_score(metric, before)} → {_score(metric, after)}"


def _score(metric: str, value: float) -> str:
    return score_text(value, _DECIMALS.get(metric, 4))


def _table(
    heads: Sequence[str],
    rows: Sequence[tuple[Cell, ...]],
    below: Sequence[tuple[Cell, ...]] = (),
) -> Table:
    groups = (tuple(rows), tuple(below)) if below else (tuple(rows),)
    return Table(tuple(("", head) for head in heads), groups)
