"""Small pictures in SVG, written by hand: the same bytes from the same numbers, everywhere.

Each stands on a light card of its own, so that it can be read on a page of any colour.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_BLUE, _ORANGE, _GREY, _INK, _LINE = "#1f6f8b", "#c05a1c", "#737a85", "#20242a", "#d5d9df"
_COLOURS = (_GREY, _BLUE, _ORANGE, "#6b4fa0", "#2e7d4f", "#a83a5b", "#8a6d1b", "#20242a")
_WIDTH, _RIGHT, _ROW, _SIZE = 720, 28, 22, 13
#: About how wide a letter is.
_LETTER = 7.0


class Point(NamedTuple):
    """A value with an interval, and what it should at most be."""

    value: float
    low: float
    high: float
    target: float | None = None


def dots(
    title: str,
    rows: Mapping[str, Sequence[float]],
    series: Sequence[str],
    axis: str,
) -> str:
    """Draw a row of dots per name, the first joined with the last: from what to what."""
    every = [value for values in rows.values() for value in values]
    card = _Card(title, list(rows), axis, every, has_legend=len(series) > 1)
    colours = _COLOURS if len(series) > 1 else (_BLUE,)
    for y, values in zip(card.places, rows.values(), strict=True):
        there = [(i, v) for i, v in enumerate(values) if not math.isnan(v)]
        if len(there) > 1:
            ends = card.x(there[0][1]), card.x(there[-1][1])
            card.line(ends[0], y, ends[1], y, colours[there[-1][0]], 3, 0.35)
        for i, value in there:
            card.dot(card.x(value), y, colours[i])
    return card.svg(list(zip(series, colours, strict=False)) if len(series) > 1 else [])


def intervals(
    title: str, rows: Mapping[str, Point], axis: str, *, middle: float = 0.0, log: bool = False
) -> str:
    """Draw values with their intervals beside a line: on which side is better is in the axis."""
    ends = [middle]
    for row in rows.values():
        ends += [row.low, row.high, *([] if row.target is None else [row.target])]
    card = _Card(title, list(rows), axis, ends, log=log, has_legend=False)
    card.line(card.x(middle), card.top, card.x(middle), card.bottom, _INK, 1, 0.7)
    for y, row in zip(card.places, rows.values(), strict=True):
        sure = row.low > middle or row.high < middle
        colour = (_BLUE if (row.value > middle) != log else _ORANGE) if sure else _GREY
        card.line(card.x(row.low), y, card.x(row.high), y, colour, 3, 0.5)
        card.dot(card.x(row.value), y, colour)
        if row.target is not None:
            x = card.x(row.target)
            card.line(x, y - 8, x, y + 8, _INK, 2, 1)
    return card.svg([])


def shares(title: str, rows: Mapping[str, Sequence[float]], series: Sequence[str]) -> str:
    """Draw how a number is dealt out, as a bar per name: better, equal, worse."""
    most = max(sum(values) for values in rows.values())
    card = _Card(title, list(rows), "pairs", [0, most])
    colours = (_BLUE, _LINE, _ORANGE)
    for y, values in zip(card.places, rows.values(), strict=True):
        start = 0.0
        for value, colour in zip(values, colours, strict=True):
            card.bar(card.x(start), card.x(start + value), y, colour)
            start += value
    return card.svg(list(zip(series, colours, strict=True)))


def scatter(
    title: str, series: Mapping[str, Sequence[tuple[float, float]]], axes: tuple[str, str]
) -> str:
    """Draw points with both zeros: who agrees in sign lies below left or above right."""
    given = [point for points in series.values() for point in points]
    card = _Plane(title, axes, [x for x, _ in given] + [0.0], [y for _, y in given] + [0.0])
    card.line(card.x(0), card.top, card.x(0), card.bottom, _INK, 1, 0.7)
    card.line(_PLANE_LEFT, card.y(0), _WIDTH - _RIGHT, card.y(0), _INK, 1, 0.7)
    for points, colour in zip(series.values(), _COLOURS[1:], strict=False):
        for x, y in points:
            card.dot(card.x(x), card.y(y), colour)
    return card.svg(list(zip(series, _COLOURS[1:], strict=False)))


def lines(
    title: str, series: Mapping[str, Sequence[tuple[float, float]]], axes: tuple[str, str]
) -> str:
    """Draw how costs grow, both axes by powers of ten."""
    given = [point for points in series.values() for point in points]
    card = _Plane(title, axes, [x for x, _ in given], [y for _, y in given], log=True)
    for points, colour in zip(series.values(), _COLOURS[1:] + _COLOURS[:1], strict=False):
        places = [(card.x(x), card.y(y)) for x, y in points]
        for (x0, y0), (x1, y1) in itertools.pairwise(places):
            card.line(x0, y0, x1, y1, colour, 2, 0.8)
        for x, y in places:
            card.dot(x, y, colour)
    return card.svg(list(zip(series, _COLOURS[1:] + _COLOURS[:1], strict=False)))


class _Scale:
    """Numbers → places between two ends; marks at round numbers."""

    def __init__(self, values: Sequence[float], start: float, end: float, log: bool) -> None:
        found = [v for v in values if not math.isnan(v)]
        low, high = min(found), max(found)
        if log:
            low, high = math.log10(low), math.log10(high)
        space = 0.04 * ((high - low) or 1.0)
        self.low, self.high = low - space, high + space
        self.start, self.end, self.log = start, end, log

    def __call__(self, value: float) -> float:
        value = math.log10(value) if self.log else value
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def marks(self) -> list[float]:
        if self.log:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            found = [f * 10.0**n for n in powers for f in (1, 2, 5)]
            inside = [v for v in found if self.low <= math.log10(v) <= self.high]
            whole = [v for v in inside if _digits(v).strip("0.") == "1"]
            return whole if len(whole) >= 3 else inside
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [round(n * step, 12) for n in range(first, last + 1)]


class _Picture:
    """What all pictures have: a card, a title, a legend, text and lines."""

    top: float
    bottom: float
    height: float

    def __init__(self, title: str) -> None:
        self.title, self.parts = title, list[str]()

    def line(
        self, x0: float, y0: float, x1: float, y1: float, colour: str, width: float, opacity: float
    ) -> None:
        self.parts.append(
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
            f'stroke-width="{width}" stroke-opacity="{opacity}"/>'
        )

    def dot(self, x: float, y: float, colour: str) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>')

    def bar(self, x0: float, x1: float, y: float, colour: str) -> None:
        self.parts.append(
            f'<rect x="{x0:.1f}" y="{y - 7:.1f}" width="{x1 - x0:.1f}" height="14" '
            f'fill="{colour}"/>'
        )

    def text(self, x: float, y: float, text: str, anchor: str = "start", more: str = "") -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'
        )

    def svg(self, legend: Sequence[tuple[str, str]]) -> str:
        x, y = 16.0, 50.0
        for name, colour in legend:
            width = 32 + 1.1 * _LETTER * len(name)
            if x + width > _WIDTH - 10:
                x, y = 16.0, y + 20
            self.dot(x + 5, y - 4, colour)
            self.text(x + 15, y, name)
            x += width
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self.height:.0f}" '
            f'width="{_WIDTH}" height="{self.height:.0f}" role="img" '
            f'font-family="system-ui, sans-serif" font-size="{_SIZE}" fill="{_INK}">\n'
            f"<title>{escape(self.title)}</title>\n"
            f'<rect width="100%" height="100%" rx="6" fill="#ffffff"/>\n'
            f'<text x="16" y="26" font-size="15" font-weight="600">{escape(self.title)}</text>\n'
            f"{body}\n</svg>\n"
        )


class _Card(_Picture):
    """Names from top to bottom, some in two lines; numbers from left to right."""

    def __init__(
        self,
        title: str,
        names: Sequence[str],
        axis: str,
        values: Sequence[float],
        *,
        log: bool = False,
        has_legend: bool = True,
    ) -> None:
        super().__init__(title)
        row = _ROW + 14 * max(name.count("\n") for name in names)
        widest = max(len(line) for name in names for line in name.split("\n"))
        left = min(30 + _LETTER * widest, 0.6 * _WIDTH)
        longest = int((left - 30) / _LETTER)
        self.top = 66.0 if has_legend else 40.0
        self.x = _Scale(values, left, _WIDTH - _RIGHT, log)
        self.bottom = self.top + row * len(names)
        self.height = self.bottom + 48
        self.places = [self.top + row * (i + 0.5) for i in range(len(names))]
        for mark in self.x.marks():
            self.line(self.x(mark), self.top, self.x(mark), self.bottom, _LINE, 1, 1)
            self.text(self.x(mark), self.bottom + 17, _digits(mark), "middle")
        self.text((left + _WIDTH - _RIGHT) / 2, self.bottom + 37, axis, "middle")
        for y, name in zip(self.places, names, strict=True):
            above = y + 4.5 - 7.5 * name.count("\n")
            for n, line in enumerate(name.split("\n")):
                short = line if len(line) <= longest else f"{line[: longest - 1]}…"
                self.text(left - 12, above + 15 * n, short, "end", f' fill="{_GREY}"' * (n > 0))


_PLANE_LEFT, _PLANE_HEIGHT = 74, 300


class _Plane(_Picture):
    """Numbers on both axes."""

    def __init__(
        self,
        title: str,
        axes: tuple[str, str],
        xs: Sequence[float],
        ys: Sequence[float],
        log: bool = False,
    ) -> None:
        super().__init__(title)
        self.top = 84.0
        self.bottom = self.top + _PLANE_HEIGHT
        self.height = self.bottom + 48
        self.x = _Scale(xs, _PLANE_LEFT, _WIDTH - _RIGHT, log)
        self.y = _Scale(ys, self.bottom, self.top, log)
        for mark in self.x.marks():
            self.line(self.x(mark), self.top, self.x(mark), self.bottom, _LINE, 1, 1)
            self.text(self.x(mark), self.bottom + 17, _digits(mark), "middle")
        for mark in self.y.marks():
            self.line(_PLANE_LEFT, self.y(mark), _WIDTH - _RIGHT, self.y(mark), _LINE, 1, 1)
            self.text(_PLANE_LEFT - 8, self.y(mark) + 4.5, _digits(mark), "end")
        self.text((_PLANE_LEFT + _WIDTH - _RIGHT) / 2, self.bottom + 37, axes[0], "middle")
        place = (self.top + self.bottom) / 2
        turned = f' transform="rotate(-90 18 {place:.1f})"'
        self.text(18, place, axes[1], "middle", turned)


def _digits(value: float) -> str:
    text = f"{value:,.10g}" if abs(value) < 1e6 else f"{value:g}"
    return text.replace("-", "−")
