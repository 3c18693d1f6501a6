"""Records → pictures: gains per label, the label graph, reliability before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.explain.label_graph import Bond, short_name
from labelkin.explain.layout import bonded_labels, lay_out
from labelkin.label_matrix import LabelMatrix
from labelkin.report.comparison import Comparison, System
from labelkin.report.number_text import score_text
from labelkin.report.sentences import gains_per_label
from labelkin.report.svg import COLOURS, Picture, drawing, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_PANEL = (3.5, 2.8)
_GRAPH = (7.6, 6.0)


class _Labels(NamedTuple):
    """What the gain pictures of a page have in common."""

    names: list[str]
    percent: Floats  # of the training documents carry the label
    reach: tuple[float, float]
    key: str


def gain_pictures(
    comparison: Comparison, addition: str, labels: LabelMatrix, key: str = ""
) -> list[Picture]:
    """Draw what every label gains in F1 against how frequent it is; a picture per content.

    Parameters
    ----------
    comparison
        The compared systems.
    addition
        The addition to look at, ``"BLR+M2"``.
    labels
        The training label sets, which say how frequent a label is.
    key
        Tells the ids of these pictures from those of others of their kind in the page.
    """
    systems = [s for s in comparison.proposals if s.addition == addition]
    gains = [gains_per_label(comparison, system) for system in systems]
    lowest = min((float(gain.min(initial=-0.05)) for gain in gains), default=-0.05)
    highest = max((float(gain.max(initial=0.05)) for gain in gains), default=0.05)
    room = 0.15 * (highest - lowest)  # for names above and below the marks
    reach = (lowest - room, highest + room)  # the same for all, so that they can be compared
    names = [short_name(str(name)) for name in labels.names]
    shown = _Labels(names, 100 * labels.prior(), reach, f"{key}gain")
    pairs = zip(systems, gains, strict=True)
    return [_gain_picture(system, gain, shown) for system, gain in pairs]


def reliability_pictures(comparison: Comparison, addition: str, key: str = "") -> list[Picture]:
    """Draw promised against observed shares, before and after; a picture per content classifier."""
    systems = [s for s in comparison.proposals if s.addition == addition]
    return [_reliability_picture(comparison[s.content], s, key) for s in systems]


def bond_picture(bonds: Sequence[Bond], seed: int = 0) -> Picture:
    """Draw the labels and the bonds between them, each with the documents that carry both."""
    alt = (
        f"Graph of {len(bonded_labels(bonds))} labels with {sum(b.strength > 0 for b in bonds)} "
        f"attractions (solid lines) and {sum(b.strength < 0 for b in bonds)} repulsions (dashed "
        "lines), the same as in the table below it."
    )
    with drawing(_GRAPH) as (figure, axes):
        _draw_bonds(axes, bonds, seed)
        return finish(figure, "bonds", "The label graph", alt)


def _gain_picture(system: System, gain: Floats, labels: _Labels) -> Picture:
    up, down = int((gain > 0).sum()), int((gain < 0).sum())
    alt = (
        f"{system.name} against {system.content}: F1 rises for {up} labels, falls for {down} and "
        f"stays for {len(gain) - up - down}."
    )
    with drawing(_PANEL) as (figure, axes):
        _draw_gains(axes, gain, labels.percent)
        _percent_ticks(axes, labels.percent)
        middle = float(np.median(labels.percent))
        for j in _extremes(gain):
            _name_point(axes, labels.names[j], labels.percent[j], gain[j], middle)
        axes.set_ylim(*labels.reach)
        return finish(figure, f"{labels.key}-{system.content}", system.name, alt)


def _draw_gains(axes: Axes, gain: Floats, percent: Floats) -> None:
    """Gains and losses differ by colour, by shape and by filling."""
    axes.axhline(0, color=COLOURS["muted"], linewidth=0.8)
    sides = [(gain > 0, "^", "better", "full"), (gain < 0, "v", "worse", "none")]
    for where, marker, tone, fill in [*sides, (gain == 0, "o", "muted", "none")]:
        style: dict[str, Any] = {"marker": marker, "fillstyle": fill, "linestyle": "none"}
        axes.plot(percent[where], gain[where], color=COLOURS[tone], markersize=4.5, **style)
    axes.set_xlabel("training documents with the label")
    axes.set_ylabel("change in F1")


def _percent_ticks(axes: Axes, percent: Floats) -> None:
    axes.set_xscale("log")
    present = percent[percent > 0]
    low, high = present.min(initial=100), present.max(initial=0)
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    ticks = [step for step in steps if low / 2 < step < high * 1.5]
    axes.set_xticks(ticks, [f"{tick:g} %" for tick in ticks])
    axes.set_xticks([], minor=True)


def _extremes(gain: Floats) -> list[int]:
    """Return the two labels that lose most and the two that gain most, where any do."""
    order: list[int] = np.argsort(gain, kind="stable").tolist()
    return [j for j in order[:2] if gain[j] < 0] + [j for j in order[-2:] if gain[j] > 0]


def _name_point(axes: Axes, name: str, x: float, y: float, middle: float) -> None:
    left = x > middle
    axes.annotate(
        name,
        (x, y),
        xytext=(3 if left else -3, 4 if y > 0 else -4),
        textcoords="offset points",
        ha="right" if left else "left",
        va="bottom" if y > 0 else "top",
        fontsize=7,
    )


def _reliability_picture(before: System, after: System, key: str) -> Picture:
    errors = [score_text(s.scores["expected_calibration_error"]) for s in (before, after)]
    alt = (
        f"Reliability of {before.name} and {after.name}: expected calibration error {errors[0]} "
        f"before, {errors[1]} after."
    )
    with drawing(_PANEL) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=0.8, linestyle=":")
        _draw_reliability(axes, before, f"{before.name}: ECE {errors[0]}", "muted", "o--")
        _draw_reliability(axes, after, f"{after.name}: ECE {errors[1]}", "better", "s-")
        axes.set_xlabel("probability given")
        axes.set_ylabel("share that carries the label")
        axes.legend(loc="upper left", fontsize=7, borderaxespad=0)
        return finish(figure, f"{key}reliability-{before.content}", after.name, alt)


def _draw_reliability(axes: Axes, system: System, label: str, tone: str, style: str) -> None:
    table = system.evaluation.reliability
    if table is None:
        raise ValueError(
            f"A reliability diagram needs probabilities, and {system.name} was evaluated without "
            "log-odds. Pass them to evaluate."
        )
    seen = table.count > 0
    points = table.mean_probability[seen], table.share_positive[seen]
    fill: Any = "full" if tone == "better" else "none"
    axes.plot(*points, style, color=COLOURS[tone], label=label, markersize=3.5, fillstyle=fill)


def _draw_bonds(axes: Axes, bonds: Sequence[Bond], seed: int) -> None:
    width, height = _GRAPH
    names = bonded_labels(bonds)
    lengths = [len(short_name(str(name))) for name in names]
    points = np.array([[5.0 * length + 30, 42.0] for length in lengths]).reshape(-1, 2)
    places = lay_out(bonds, points / 2 / 72 / height, width / height, seed)
    at = dict(zip(names, places, strict=True))
    axes.set_axis_off()
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, width / height), ylim=(0, 1))
    for bond in bonds:
        _draw_bond(axes, bond, at[bond.first], at[bond.second])
    box = {"boxstyle": "round,pad=0.3", "fc": COLOURS["paper"], "ec": COLOURS["muted"], "lw": 0.8}
    for name, (x, y) in at.items():
        axes.text(x, y, short_name(str(name)), ha="center", va="center", bbox=box, zorder=3)


def _draw_bond(axes: Axes, bond: Bond, start: Floats, end: Floats) -> None:
    """Attractions and repulsions differ by colour and by line; the number is of documents."""
    attracts = bond.strength > 0
    colour = COLOURS["better" if attracts else "worse"]
    width = 0.6 + 0.3 * min(abs(bond.strength), 6)
    style: Any = "-" if attracts else (0, (4, 2.5))
    axes.plot(*np.array([start, end]).T, color=colour, linewidth=width, linestyle=style, zorder=1)
    box = {"boxstyle": "round,pad=0.1", "fc": COLOURS["paper"], "ec": "none"}
    x, y = start + (end - start) * (0.5 if attracts else 0.42)  # two that cross would meet at ½
    count = f"{bond.n_both:.10g}"
    axes.text(x, y, count, color=colour, ha="center", va="center", size=7, bbox=box, zorder=2)
