"""Plots of reports, drawn by matplotlib as SVG files; pages contain them as images."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.research.reports.results import EvaluatedSystem, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Floats = NDArray[np.float64]

_PANEL = (3.5, 2.8)
_LONGEST_NAME = 24
COLOURS = {"muted": "#66707a", "better": "#1a5fb4", "worse": "#b5490f"}
_STYLE = {
    "svg.hashsalt": "labelkin",  # the same ids in every run
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # a label may contain a dollar sign
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


class Picture(NamedTuple):
    """A plot: its title, a description for screen readers, and the SVG file."""

    title: str
    description: str
    svg: str

    @property
    def uri(self) -> str:
        """The SVG file as the address of an image."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode()}"


@contextmanager
def drawing(size: tuple[float, float]) -> Iterator[tuple[Figure, Axes]]:
    """Yield an empty figure of some inches, and axes in it, with the report's style."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('Plots need matplotlib: pip install "labelkin[plot]"') from error

    with rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        yield figure, figure.add_subplot()


def finish(figure: Figure, title: str, description: str) -> Picture:
    """Return a figure as a picture; the same figure is the same file."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(title, description, file.getvalue())


def short_name(name: str) -> str:
    r"""Return a name in one short line of printable characters.

    Examples
    --------
    >>> short_name("tea\tand milk"), short_name("y" * 99)
    ('tea and milk', 'yyyyyyyyyyyyyyyyyyyyyyy…')
    """
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def gain_pictures(outcome: Outcome, addition: str) -> list[Picture]:
    """Draw the change in F1 of every label by its frequency; a picture per content classifier."""
    pairs = outcome.pairs(addition)
    if not pairs or outcome.labels is None:
        return []
    f1 = [[system.evaluation.per_label()["f1"] for system in pair] for pair in pairs]
    gains = [after - before for before, after in f1]
    reach = 1.15 * max(0.05, *(float(np.abs(gain).max(initial=0)) for gain in gains))
    labels = map(str, outcome.labels.names)
    names = [short_name(outcome.names.get(label, label)) for label in labels]
    percent = 100 * outcome.labels.prior()
    pictures = []
    for (alone, added), gain in zip(pairs, gains, strict=True):
        up, down = int((gain > 0).sum()), int((gain < 0).sum())
        description = (
            f"{added.run.system} against {alone.run.system}: F1 rises for {up} labels, falls for "
            f"{down} and stays for {len(gain) - up - down}."
        )
        with drawing(_PANEL) as (figure, axes):
            _draw_gains(axes, gain, percent, names)
            axes.set_ylim(-reach, reach)  # the same for all, so that they can be compared
            pictures.append(finish(figure, added.run.system, description))
    return pictures


def _draw_gains(axes: Axes, gain: Floats, percent: Floats, names: Sequence[str]) -> None:
    """Gains and losses differ by colour, by shape and by filling; the extremes have names."""
    axes.axhline(0, color=COLOURS["muted"], linewidth=0.8)
    sides = [(gain > 0, "^", "better", "full"), (gain < 0, "v", "worse", "none")]
    for where, marker, tone, fill in [*sides, (gain == 0, "o", "muted", "none")]:
        style: dict[str, Any] = {"marker": marker, "fillstyle": fill, "linestyle": "none"}
        axes.plot(percent[where], gain[where], color=COLOURS[tone], markersize=4.5, **style)
    axes.set_xlabel("training documents with the label, %")
    axes.set_ylabel("change in F1")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    order = np.argsort(gain, kind="stable")
    for j in [*order[:2], *order[-2:]]:
        side = "right" if percent[j] > float(np.median(percent)) else "left"
        axes.annotate(names[j], (percent[j], gain[j]), ha=side, va="bottom", fontsize=7)


def reliability_pictures(outcome: Outcome, addition: str) -> list[Picture]:
    """Draw promised against observed shares, before and after; a picture per content classifier."""
    return [_reliability_picture(*pair) for pair in outcome.pairs(addition)]


def _reliability_picture(before: EvaluatedSystem, after: EvaluatedSystem) -> Picture:
    names = [system.run.system for system in (before, after)]
    errors = [f"{s.scores['expected_calibration_error']:.4f}" for s in (before, after)]
    description = (
        f"Reliability of {names[0]} and {names[1]}: expected calibration error {errors[0]} "
        f"before, {errors[1]} after."
    )
    styles: list[dict[str, Any]] = [
        {"color": COLOURS["muted"], "marker": "o", "linestyle": "--", "fillstyle": "none"},
        {"color": COLOURS["better"], "marker": "s"},
    ]
    with drawing(_PANEL) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=0.8, linestyle=":")
        for system, error, style in zip((before, after), errors, styles, strict=True):
            table = system.evaluation.reliability
            if table is not None:
                seen = table.count > 0
                points = table.mean_probability[seen], table.share_positive[seen]
                label = f"{system.run.system}: ECE {error}"
                axes.plot(*points, label=label, markersize=3.5, **style)
        axes.set_xlabel("probability given")
        axes.set_ylabel("share that carries the label")
        axes.legend(loc="best", fontsize=7, borderaxespad=0)
        return finish(figure, names[1], description)
