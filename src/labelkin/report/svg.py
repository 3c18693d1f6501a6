"""matplotlib figures → SVG elements of a page: its colours, its font, its light and its dark."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours by the name of the page's variable; in the page, the variable's value replaces them.
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
    """A figure for a page: its title, what it shows in words, and the ``<svg>`` element."""

    title: str
    alt: str
    svg: str


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
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        yield figure, axes


def finish(figure: Figure, key: str, title: str, alt: str) -> Picture:
    """Return the picture; ``key`` tells its ids from those of other pictures in the page."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    FigureCanvasSVG(figure).print_svg(file, metadata=nothing)
    return Picture(title, alt, inline(file.getvalue(), key, alt))


def inline(svg: str, key: str, alt: str) -> str:
    """Make an SVG file an element of a page; text between tags stays as it is."""
    opening, body = re.split(r"(?<=>)", svg[svg.index("<svg") :].strip(), maxsplit=1)
    view_box = re.search(r'viewBox="[^"]*"', opening)
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", key)
    body = re.sub(r"<[^>]*>", lambda tag: _adapt(tag[0], prefix), body)
    shape = view_box[0] if view_box else ""
    return f'<svg {shape} role="img" aria-label="{escape(alt)}">{body}'


def _adapt(tag: str, prefix: str) -> str:
    """Give one tag ids of its own, links without a namespace, the page's font and colours."""
    tag = tag.replace("xlink:href", "href")
    tag = re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{prefix}-", tag)
    tag = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", tag)  # matplotlib before 3.10
    tag = re.sub(r"font-family: [^;\"]*; ", "", tag)
    for name, colour in COLOURS.items():
        tag = tag.replace(colour, f"var(--{name}, {colour})")
    return tag
