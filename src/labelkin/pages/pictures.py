"""Pictures by matplotlib, as SVG files; pages contain them as images."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from labelkin.thresholds import LimitTable

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


class Picture(NamedTuple):
    """A plot: its title, a description for readers who do not see it, and the SVG file."""

    title: str
    description: str
    svg: str

    @property
    def uri(self) -> str:
        """The SVG file as the address of an image."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode()}"


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
