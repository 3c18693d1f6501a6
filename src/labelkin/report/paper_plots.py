"""Records → pictures of every system's F1 beside the paper's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from labelkin.report.number_text import signed_text
from labelkin.report.outcome import Outcome
from labelkin.report.scores import F1_METRICS, Score
from labelkin.report.svg import COLOURS, Picture, drawing, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {"micro_f1": "Micro F1", "macro_f1": "Macro F1"}


def score_pictures(outcome: Outcome, key: str = "") -> list[Picture]:
    """Draw micro and macro F1 of every system, and the paper's where there are any."""
    return [
        _score_picture([s for s in outcome.scores if s.metric == metric], f"{key}{metric}")
        for metric in F1_METRICS
    ]


def _score_picture(scores: list[Score], key: str) -> Picture:
    title = _TITLES[scores[0].metric]
    with drawing((4.6, 0.7 + 0.17 * len(scores))) as (figure, axes):
        _draw_scores(axes, scores)
        axes.set_xlabel(title)
        return finish(figure, key, title, _alt(scores, title))


def _draw_scores(axes: Axes, scores: list[Score]) -> None:
    """Ours and the paper's differ by colour, by shape and by filling."""
    places = [-float(i) for i in range(len(scores))]
    paper = [score.paper.value if score.paper else math.nan for score in scores]
    ours = [score.ours.value for score in scores]
    for y, pair in zip(places, zip(ours, paper, strict=True), strict=True):
        axes.plot(pair, (y, y), color=COLOURS["muted"], linewidth=0.8, zorder=1)
    style = {"linestyle": "none", "markersize": 4.5}
    if any(score.paper for score in scores):
        square = {**style, "marker": "s", "fillstyle": "none", "color": COLOURS["muted"]}
        axes.plot(paper, places, label="paper", **square)  # type: ignore[arg-type]
    axes.plot(ours, places, "o", color=COLOURS["better"], label="measured", **style)  # type: ignore[arg-type]
    axes.set_yticks(places, [score.system for score in scores])
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=7, borderaxespad=0)


def _alt(scores: list[Score], title: str) -> str:
    there = [score for score in scores if not math.isnan(score.ours.value)]
    compared = [score for score in there if score.paper]
    text = f"{title} of {len(there)} systems"
    if not compared:
        return f"{text}, the same as in the table."
    farthest = max(compared, key=lambda score: abs(score.difference))
    return (
        f"{text}, measured and in the paper; the farthest apart is {farthest.system}, "
        f"{signed_text(farthest.difference, 4)}."
    )
