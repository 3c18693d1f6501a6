"""Parts of HTML pages that stand alone: templates, in which all text is escaped, and plots."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jinja2 import Template
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "ink": "#1c2126",
    "muted": "#66707a",
    "paper": "#fdfdfc",
    "better": "#1a5fb4",
    "worse": "#b5490f",
}
_STYLE = {
    "svg.hashsalt": "labelkin",  # the same ids in every run
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # a label may contain a dollar sign
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


@cache
def page_template(name: str) -> Template:
    """Return a template of a page, in which all text is escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('Pages need jinja2: pip install "labelkin[cli]"') from error
    environment = Environment(
        loader=PackageLoader("labelkin.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


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
