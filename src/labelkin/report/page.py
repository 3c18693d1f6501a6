"""All of it → one HTML page that needs no other file and no other host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from labelkin.explain.label_graph import Bond
from labelkin.label_matrix import LabelMatrix
from labelkin.report.comparison import Comparison
from labelkin.report.frame import fact_list, frame, panels, scrolling
from labelkin.report.plots import bond_picture, gain_pictures, reliability_pictures
from labelkin.report.sentences import read_comparison
from labelkin.report.tables import LEGEND, bond_table, comparison_table, html_table


@dataclass(frozen=True, eq=False)
class Report:
    """What the page tells.

    Attributes
    ----------
    comparison
        The compared systems.
    addition
        The addition that the figures look at, ``"BLR+M2"``.
    labels
        The training label sets.
    bonds
        The strongest attractions and repulsions between labels.
    introduction
        A paragraph on the corpus and on how to take the numbers.
    facts
        How it was made, by name.
    """

    comparison: Comparison
    addition: str
    labels: LabelMatrix
    bonds: Sequence[Bond]
    introduction: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


def html_page(report: Report) -> str:
    """Return the page; all text in it is escaped, and the same report gives the same page."""
    title = f"What the other labels add: {report.comparison.corpus}"
    sections = [_opening, _scores, _gains, _label_graph, _reliability, _facts]
    return frame(title, (section(report) for section in sections))


def _opening(report: Report) -> str:
    comparison = report.comparison
    counts = report.labels.counts()[0]
    sentences = read_comparison(comparison, report.addition, counts)
    return "\n".join(
        [
            "<header>",
            f'<p class="eyebrow">labelkin · corpus {escape(comparison.corpus)}</p>',
            "<h1>What the other labels add</h1>",
            f"<p>{escape(report.introduction)}</p>",
            "</header>",
            "<main>",
            "<ul>",
            *(f"<li>{escape(sentence)}</li>" for sentence in sentences),
            "</ul>",
        ]
    )


def _scores(report: Report) -> str:
    n_documents = report.comparison.systems[0].evaluation.n_documents
    caption = f"Scores on {n_documents:g} test documents; the best of each column is bold."
    table = html_table(comparison_table(report.comparison), caption)
    return "\n".join(
        [
            "<h2>All systems</h2>",
            scrolling(table, "Scores of all systems"),
            f'<p class="small">{escape(LEGEND)}</p>',
        ]
    )


def _gains(report: Report) -> str:
    pictures = gain_pictures(report.comparison, report.addition, report.labels)
    caption = (
        f"Each mark is a label: how its F1 on the test documents changes when {report.addition} is "
        "added, against how many training documents carry it. Filled triangles gain, hollow ones "
        "lose, circles stay."
    )
    return "<h2>Which labels gain</h2>\n" + panels(pictures, caption)


def _label_graph(report: Report) -> str:
    picture = bond_picture(report.bonds)
    caption = (
        "Solid blue lines: the labels speak for each other. Dashed orange lines: against each "
        "other. The thicker, the more; the number counts the training documents that carry both."
    )
    table = html_table(
        bond_table(report.bonds), "Weights in log-odds; counts of training documents."
    )
    return "\n".join(
        [
            "<h2>Which labels speak for each other</h2>",
            '<figure class="wide">',
            scrolling(picture.svg, picture.title),
            f"<figcaption>{escape(caption)}</figcaption>",
            "</figure>",
            "<details>",
            "<summary>The same as a table, with the counts behind it</summary>",
            scrolling(table, "Strongest attractions and repulsions"),
            "</details>",
        ]
    )


def _reliability(report: Report) -> str:
    pictures = reliability_pictures(report.comparison, report.addition)
    caption = (
        "Cells (document, label) are put in bins by the probability given; on the dotted line, "
        "that share of them carries the label. ECE is the mean distance from it, over all cells."
    )
    return "<h2>Can the probabilities be trusted?</h2>\n" + panels(pictures, caption)


def _facts(report: Report) -> str:
    return "\n".join(["<h2>How it was made</h2>", fact_list(report.facts), "</main>"])
