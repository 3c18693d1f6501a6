"""The worked example of docs/explanation/method.md → its two pictures.

``python -m docs.make.method_pictures`` in the root of the repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from labelkin import LogisticLabels
from labelkin.method.combination import combine, probable_labels
from labelkin.odds import to_log_odds, to_probability

FOLDER = Path(__file__).parent.parent / "explanation"
SETS = [["grain", "wheat"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
CONTENT = [[0.1, 0.5, 0.9]]
#: Two colours for colour-blind readers, and grey; readable on white and on black.
COLOURS = {"content evidence": "#3b7dbd", "label evidence − prior": "#d97706"}
GREY = "#808890"


def draw_sum() -> Figure:
    """Draw equation 2 for three labels: two bars that add up to a mark, in log-odds."""
    labels = LogisticLabels().fit(SETS)
    content, prior = to_log_odds(CONTENT), to_log_odds(labels.prior_)
    label = labels.log_odds(probable_labels(content))
    beyond, posterior = (label - prior)[0], combine(content, label, prior)[0]
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(labels.label_names_))[::-1]
    for height, (name, values) in zip(
        (0.2, -0.2), zip(COLOURS, (content[0], beyond), strict=True), strict=True
    ):
        axes.barh(rows + height, values, 0.34, color=COLOURS[name], label=name)
    axes.plot(posterior, rows, "D", color=GREY, markersize=8, label="posterior: their sum")
    for row, value in zip(rows, posterior, strict=True):
        side = 1 if value > 0 else -1
        axes.annotate(
            f"{to_probability(value):.0%}", (value, row), (10 * side, 0), color=GREY, va="center",
            ha="left" if side > 0 else "right", textcoords="offset points",
        )  # fmt: skip
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(rows, labels.label_names_)
    axes.set_xlabel("log-odds: right of 0: evidence for the label")
    axes.set_xlim(-4, 4)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, labelcolor=GREY)
    _grey(axes)
    return figure


def draw_weights() -> Figure:
    """Draw what each label says about the others: the weights of label evidence."""
    labels = LogisticLabels().fit(SETS)
    weights, names = np.asarray(labels.weights_), labels.label_names_
    figure = Figure(figsize=(4.2, 2.8), layout="constrained")
    axes = figure.subplots()
    bound = np.abs(weights).max()
    picture = axes.imshow(weights, cmap="PuOr_r", vmin=-bound, vmax=bound)
    for k, j in np.ndindex(*weights.shape):
        axes.text(
            j, k, "–" if k == j else f"{weights[k, j]:+.1f}", ha="center", va="center",
            color="white" if abs(weights[k, j]) > 0.6 * bound else "black",
        )  # fmt: skip
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("about this label")
    axes.set_ylabel("this label says")
    _grey(figure.colorbar(picture, label="log-odds").ax)
    _grey(axes)
    return figure


def _grey(axes: Any) -> None:
    axes.tick_params(colors=GREY)
    axes.xaxis.label.set_color(GREY)
    axes.yaxis.label.set_color(GREY)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    axes.spines[["top", "right"]].set_visible(False)


def write_figures(figures: dict[str, Figure], folder: Path = FOLDER) -> list[Path]:
    """Write figures by name as SVG, the same bytes every time, and return their paths."""
    paths = []
    with rc_context({"svg.hashsalt": "labelkin", "svg.fonttype": "none", "font.size": 9}):
        for name, figure in figures.items():
            paths.append(folder / f"{name}.svg")
            figure.savefig(paths[-1], format="svg", metadata={"Date": None}, transparent=True)
    return paths


def main(arguments: list[str] | None = None) -> None:
    """Write the pictures, and print where they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="default: docs/explanation")
    folder = parser.parse_args(arguments).out
    with rc_context({"font.size": 9}):
        figures = {"method-sum": draw_sum(), "method-weights": draw_weights()}
    print(*write_figures(figures, folder), sep="\n")


if __name__ == "__main__":
    main()
