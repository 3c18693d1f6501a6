"""Plots of reports, drawn by matplotlib as SVG files; pages contain them as images."""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.explain.label_graph import short_name
from labelkin.research.reports.results import Outcome, System
from labelkin.research.reports.scores import F1_METRICS, Score
from labelkin.research.reports.tables import score_text, signed_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from labelkin.thresholds import LimitTable

Floats = NDArray[np.float64]

COLOURS = {
    "ink": "#1c2126",
    "muted": "#66707a",
    "paper": "#fdfdfc",
    "better": "#1a5fb4",
    "worse": "#b5490f",
}
_STYLE = {
    "svg.hashsalt": "labelkin",  # ids that do not change from run to run
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # a label may hold a dollar sign
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "figure.facecolor": COLOURS["paper"],
    "axes.facecolor": COLOURS["paper"],
    "text.color": COLOURS["ink"],
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "legend.frameon": False,
}
_PANEL = (3.5, 2.8)


class Picture(NamedTuple):
    """A plot: its title, a description for readers who do not see it, and the SVG file."""

    title: str
    description: str
    svg: str

    @property
    def uri(self) -> str:
        """The SVG file as the address of an image."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode()}"


# Every system's F1, beside the paper's


def score_pictures(outcome: Outcome) -> list[Picture]:
    """Draw micro and macro F1 of every system, and the paper's if there are any."""
    pictures = []
    for metric, title in zip(F1_METRICS, ("Micro F1", "Macro F1"), strict=True):
        scores = [s for s in outcome.scores if s.metric == metric and not s.rule]
        with drawing((4.6, 0.7 + 0.17 * len(scores))) as (figure, axes):
            _draw_scores(axes, scores)
            axes.set_xlabel(title)
            alt = _describe_scores(scores, title)
            pictures.append(finish(figure, title, alt))
    return pictures


def _draw_scores(axes: Axes, scores: list[Score]) -> None:
    """Ours and the paper's differ by colour, by shape and by filling."""
    places = [-float(i) for i in range(len(scores))]
    paper = [score.paper.value if score.paper else math.nan for score in scores]
    ours = [score.value for score in scores]
    for y, pair in zip(places, zip(ours, paper, strict=True), strict=True):
        axes.plot(pair, (y, y), color=COLOURS["muted"], linewidth=0.8, zorder=1)
    style = {"linestyle": "none", "markersize": 4.5}
    if any(score.paper for score in scores):
        square = {**style, "marker": "s", "fillstyle": "none", "color": COLOURS["muted"]}
        axes.plot(paper, places, label="paper", **square)  # type: ignore[arg-type]
    axes.plot(ours, places, "o", color=COLOURS["better"], label="measured", **style)  # type: ignore[arg-type]
    axes.set_yticks(places, [score.system for score in scores])
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=7, borderaxespad=0)


def _describe_scores(scores: list[Score], title: str) -> str:
    there = [score for score in scores if not math.isnan(score.value)]
    compared = [score for score in there if score.paper]
    text = f"{title} of {len(there)} systems"
    if not compared:
        return f"{text}, the same as in the table."
    farthest = max(compared, key=lambda score: abs(score.difference))
    return (
        f"{text}, measured and in the paper; the farthest apart is {farthest.system}, "
        f"{signed_text(farthest.difference, 4)}."
    )


# What every label gains


def gain_pictures(outcome: Outcome, addition: str) -> list[Picture]:
    """Draw the change in F1 of every label by its frequency; a picture per content classifier."""
    pairs = outcome.pairs(addition)
    if not pairs or outcome.labels is None:
        return []
    gains = [_gains(*pair) for pair in pairs]
    lowest = min(float(gain.min(initial=-0.05)) for gain in gains)
    highest = max(float(gain.max(initial=0.05)) for gain in gains)
    room = 0.15 * (highest - lowest)  # for names above and below the marks
    reach = (lowest - room, highest + room)  # the same for all, so that they can be compared
    labels = map(str, outcome.labels.names)
    names = [short_name(outcome.names.get(label, label)) for label in labels]
    percent = 100 * outcome.labels.prior()
    pictures = []
    for (alone, added), gain in zip(pairs, gains, strict=True):
        up, down = int((gain > 0).sum()), int((gain < 0).sum())
        alt = (
            f"{added.name} against {alone.name}: F1 rises for {up} labels, falls for {down} and "
            f"stays for {len(gain) - up - down}."
        )
        with drawing(_PANEL) as (figure, axes):
            _draw_gains(axes, gain, percent, names)
            axes.set_ylim(*reach)
            pictures.append(finish(figure, added.name, alt))
    return pictures


def _gains(alone: System, added: System) -> Floats:
    """Return the change in F1 of every label, ``(n_labels,)``."""
    before, after = (system.evaluation.per_label()["f1"] for system in (alone, added))
    return np.asarray(after - before, dtype=np.float64)


def _draw_gains(axes: Axes, gain: Floats, percent: Floats, names: Sequence[str]) -> None:
    """Gains and losses differ by colour, by shape and by filling; the extremes have names."""
    axes.axhline(0, color=COLOURS["muted"], linewidth=0.8)
    sides = [(gain > 0, "^", "better", "full"), (gain < 0, "v", "worse", "none")]
    for where, marker, tone, fill in [*sides, (gain == 0, "o", "muted", "none")]:
        style: dict[str, Any] = {"marker": marker, "fillstyle": fill, "linestyle": "none"}
        axes.plot(percent[where], gain[where], color=COLOURS[tone], markersize=4.5, **style)
    axes.set_xlabel("training documents with the label")
    axes.set_ylabel("change in F1")
    _percent_ticks(axes, percent)
    middle = float(np.median(percent))
    order: list[int] = np.argsort(gain, kind="stable").tolist()
    lowest, highest = [j for j in order[:2] if gain[j] < 0], [j for j in order[-2:] if gain[j] > 0]
    near = 0.1 * float(np.ptp(gain))
    for j, *others in (*_and_others(lowest), *_and_others(highest)):
        left, up = percent[j] > middle, gain[j] > 0
        for other in others:  # names of marks near each other are written away from each other
            ratio = percent[j] / percent[other]
            if abs(gain[j] - gain[other]) < near and 1 / 4 < ratio < 4:
                left = (percent[j], j) < (percent[other], other)
        axes.annotate(
            names[j],
            (percent[j], gain[j]),
            xytext=(3 if left else -3, 4 if up else -4),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom" if up else "top",
            fontsize=7,
        )


def _and_others(marks: list[int]) -> list[list[int]]:
    """Return each mark with the others after it."""
    return [[mark, *(other for other in marks if other != mark)] for mark in marks]


def _percent_ticks(axes: Axes, percent: Floats) -> None:
    axes.set_xscale("log")
    present = percent[percent > 0]
    low, high = present.min(initial=100), present.max(initial=0)
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    ticks = [step for step in steps if low / 2 < step < high * 1.5]
    axes.set_xticks(ticks, [f"{tick:g} %" for tick in ticks])
    axes.set_xticks([], minor=True)


# Reliability


def reliability_pictures(outcome: Outcome, addition: str) -> list[Picture]:
    """Draw promised against observed shares, before and after; a picture per content classifier."""
    return [_reliability_picture(*pair) for pair in outcome.pairs(addition)]


def _reliability_picture(before: System, after: System) -> Picture:
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
        axes.legend(loc="best", fontsize=7, borderaxespad=0)
        return finish(figure, after.name, alt)


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


# Limits and thresholds


def limit_picture(table: LimitTable, metric: str, title: str) -> Picture:
    """Draw what a measure scores by threshold, a line for each of some limits."""
    best, scores = table.best(metric), table.scores(metric)
    shown = [limit for limit in table.limits if limit in (1, 2, 3, 5, 10, 15, best.limit)]
    with drawing((4.6, 3.2)) as (figure, axes):
        for limit in shown:
            column, is_best = scores[:, table.limits.index(limit)], limit == best.limit
            tone = COLOURS["better" if is_best else "muted"]
            axes.plot(table.thresholds, column, color=tone, linewidth=1.8 if is_best else 0.8)
            axes.annotate(
                str(limit),
                (table.thresholds[0], column[0]),
                xytext=(-3, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=7,
            )
        axes.plot([best.threshold], [best.score], "o", color=COLOURS["better"], markersize=4.5)
        axes.set_xlabel("threshold; beside the lines: limit")
        axes.set_ylabel(title)
        alt = (
            f"{title} by threshold and limit; the best is {best.score:.4f} with at most "
            f"{best.limit} labels of probability {best.threshold:g} and above."
        )
        return finish(figure, title, alt)


# matplotlib figures → SVG elements


@contextmanager
def drawing(size: tuple[float, float]) -> Iterator[tuple[Figure, Axes]]:
    """Yield an empty figure of some inches, and axes in it, while the report's style holds."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('Plots need matplotlib: pip install "labelkin[plot]"') from error

    with rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        yield figure, figure.add_subplot()


def finish(figure: Figure, title: str, description: str) -> Picture:
    """Return a figure as a picture; the same figure gives the same file."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(title, description, file.getvalue())
