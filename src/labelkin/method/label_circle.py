"""Labels on a circle, kin beside each other, and lines between those that have a bond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

#: A label, another one, and how strongly they attract (above 0) or repel each other.
Pull = tuple[Any, Any, float]

_LONGEST_NAME = 24
#: Where the circle's radius is 1: that of the picture, without names and more per letter.
_RIM, _LETTER = 1.1, 0.028
#: How attractions and repulsions are drawn: they differ by colour and by line.
_ATTRACTS = {"color": "#1a5fb4", "linestyle": "-", "label": "speak for each other"}
_REPELS = {"color": "#b5490f", "linestyle": (0, (4, 2.5)), "label": "speak against each other"}


def draw_on_circle(axes: Any, pulls: Sequence[Pull]) -> None:
    """Draw the labels and a line per pull on matplotlib axes; the stronger, the thicker."""
    names = circle_order(pulls)
    angles = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    at = dict(zip(names, places, strict=True))
    axes.set_axis_off()
    axes.set_aspect("equal")
    reach = _RIM + _LETTER * max((len(short_name(str(name))) for name in names), default=0)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    strongest = max((abs(pull[2]) for pull in pulls), default=1.0)
    for style, sign in ((_ATTRACTS, 1), (_REPELS, -1)):
        lines = [pull for pull in pulls if sign * pull[2] > 0]
        for i, (first, second, strength) in enumerate(lines):
            width = 0.8 + 3.2 * abs(strength) / strongest
            named = {**style, "label": style["label"] if i == 0 else None}
            axes.plot(*_curve(at[first], at[second]), linewidth=width, zorder=1, **named)
    axes.scatter(*places.T, s=18, color="#66707a", zorder=2)
    for name, angle in zip(names, angles, strict=True):
        _write_name(axes, short_name(str(name)), angle)
    if pulls:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False)


def circle_order(pulls: Sequence[Pull]) -> list[Any]:
    """Return the labels, each once, so that those that attract each other are near each other.

    Examples
    --------
    >>> circle_order([("tea", "sugar", 2.0), ("milk", "gold", 1.0), ("sugar", "milk", 1.0)])
    ['tea', 'sugar', 'milk', 'gold']
    """
    names = sorted(dict.fromkeys(name for pull in pulls for name in pull[:2]), key=str)
    place = {name: i for i, name in enumerate(names)}
    kin = [(place[first], place[second]) for first, second, strength in pulls if strength > 0]
    ends = np.array(kin + [pair[::-1] for pair in kin], dtype=np.int64).reshape(-1, 2).T
    shape = (len(names), len(names))
    graph = sparse.csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape)
    return [names[i] for i in reverse_cuthill_mckee(graph, symmetric_mode=True)] if names else []


def short_name(name: str) -> str:
    """Make any name fit beside others: one line of printable characters, not too many."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _curve(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bend a line towards the middle, away from the names between its ends."""
    t = np.linspace(0, 1, 33)[:, None]
    bend = 0.3 * (start + end)
    return np.asarray((1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end).T


def _write_name(axes: Any, name: str, angle: float) -> None:
    """Write outwards from the circle, and never upside down."""
    left = np.cos(angle) < -1e-9
    axes.text(
        1.05 * np.cos(angle),
        1.05 * np.sin(angle),
        name,
        rotation=np.degrees(angle) + (180 if left else 0),
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center",
        fontsize=8,
        parse_math=False,  # a label may hold a dollar sign
    )
