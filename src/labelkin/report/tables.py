"""Records → tables of text: plain, Markdown and HTML; and every score as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

from labelkin.explain.label_graph import LabelEdge
from labelkin.report.comparison import Comparison, System
from labelkin.report.number_text import p_value_text, score_text, signed_text
from labelkin.significance import SignTest

Tone = Literal["", "better", "worse"]

LEGEND = (
    "Δ% is the change against the content classifier alone. Signs: ≪ and < say that the baseline "
    "is worse than the proposal (P < 0.01, P < 0.05), ≫ and > that it is better, ~ that nothing "
    "was shown. s compares decision by decision (micro sign test), S label by label (macro "
    "sign test)."
)


class Cell(NamedTuple):
    """One cell: its text, what to tell who asks for more, how it stands out, what stands beside."""

    text: str
    note: str = ""
    tone: Tone = ""
    best: bool = False
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Cells in groups of rows; the first column names the row, the others hold numbers and signs.

    Attributes
    ----------
    header
        Two short lines per column, the first may be empty: ``("micro", "F1")``.
    groups
        Rows that belong together.
    """

    header: tuple[tuple[str, str], ...]
    groups: tuple[tuple[tuple[Cell, ...], ...], ...]

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group]


class _Scored(NamedTuple):
    """A metric's columns: its score, and for F1 the change and the sign."""

    metric: str
    header: tuple[str, str]
    test: Literal["", "micro", "macro"] = ""


_COLUMNS = (
    _Scored("micro_f1", ("micro", "F1"), "micro"),
    _Scored("macro_f1", ("macro", "F1"), "macro"),
    _Scored("hamming_loss", ("Hamming", "loss")),
    _Scored("subset_loss", ("subset", "0/1 loss")),
    _Scored("one_error", ("one-", "error")),
)
_TEST_SIGN = {"micro": ("", "s"), "macro": ("", "S")}


def comparison_table(comparison: Comparison) -> Table:
    """Return a row per system, grouped by content classifier; baselines have no change and no sign.

    The best score of each metric is marked: the highest F1, the lowest loss.
    """
    header: list[tuple[str, str]] = [("", "system")]
    for column in _COLUMNS:
        header.append(column.header)
        if column.test:
            header += [("", "Δ%"), _TEST_SIGN[column.test]]
    groups = tuple(
        tuple(_system_row(comparison, system) for system in group) for group in comparison.groups()
    )
    return Table(tuple(header), groups)


def bond_table(edges: Sequence[LabelEdge]) -> Table:
    """Return a row per edge between two labels: attractions in one group, repulsions in another."""
    header = (
        ("", "labels"),
        ("mean", "weight"),
        ("first to", "second"),
        ("second", "to first"),
        ("with", "first"),
        ("with", "second"),
        ("with", "both"),
        ("expected", "by chance"),
    )
    sides = [[b for b in edges if b.strength > 0], [b for b in edges if b.strength <= 0]]
    return Table(header, tuple(tuple(map(_bond_row, side)) for side in sides if side))


def text_table(table: Table) -> str:
    """Return plain text: columns aligned, a blank line between groups, no line ends in a space."""
    heads = [[column[line] for column in table.header] for line in (0, 1)]
    body = [
        [[_with_beside(cell.text, cell.beside) for cell in row] for row in group]
        for group in table.groups
    ]
    every = [*heads, *(row for group in body for row in group)]
    widths = [max(len(row[i]) for row in every) for i in range(len(table.header))]
    lines = [_text_line(row, widths) for row in heads]
    lines.append("─" * (sum(widths) + 2 * (len(widths) - 1)))
    blocks = ["\n".join(_text_line(row, widths) for row in group) for group in body]
    return "\n".join(lines) + "\n" + "\n\n".join(blocks)


def markdown_table(table: Table, *, apart: bool = False) -> str:
    """Return a Markdown table; the best scores are bold, and nothing in a cell is markup.

    What stands beside a cell's text follows it in brackets. ``apart`` puts an empty row between
    groups.
    """
    head = [markdown_text(" ".join(filter(None, column))) for column in table.header]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for i, group in enumerate(table.groups):
        if i and apart:
            lines.append([" "] * len(head))
        lines += [[_markdown_cell(cell) for cell in row] for row in group]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_text(text: str) -> str:
    """Return text for a line of Markdown in which nothing is markup."""
    for character in "\\`*_|[]":
        text = text.replace(character, "\\" + character)
    return " ".join(escape(text, quote=False).split())


def html_table(table: Table, caption: str) -> str:
    """Return an HTML table: a body per group, the row's name as its head, all text escaped."""
    head = "".join(f'<th scope="col">{_html_head(column)}</th>' for column in table.header)
    bodies = ["\n".join(map(_html_row, group)) for group in table.groups]
    return "\n".join(
        [
            "<table>",
            f"<caption>{escape(caption)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            *(f"<tbody>\n{body}\n</tbody>" for body in bodies),
            "</table>",
        ]
    )


def scores_csv(comparison: Comparison) -> str:
    """Return every score of every system, a line each: corpus, system, metric, value.

    Values are written in full, so that reading them back gives the same numbers.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["corpus", "system", "metric", "value"])
    for system in comparison.systems:
        for metric, value in system.scores.items():
            writer.writerow([comparison.corpus, system.name, metric, repr(float(value))])
    return file.getvalue()


def _system_row(comparison: Comparison, system: System) -> tuple[Cell, ...]:
    cells = [Cell(system.name)]
    for column in _COLUMNS:
        score = system.scores[column.metric]
        cells.append(Cell(score_text(score), best=score == _best(comparison, column.metric)))
        if column.test:
            test = system.micro if column.test == "micro" else system.macro
            cells += _change_cells(comparison.gain(system, column.metric), test)
    return tuple(cells)


def _change_cells(gain: float, test: SignTest | None) -> list[Cell]:
    if test is None:
        return [Cell(""), Cell("")]
    tone: Tone = ""
    if test.sign != "~":
        tone = "better" if test.sign in "≪<" else "worse"
    note = f"{test.test}: {test.k} of {test.n} for the better system, {p_value_text(test.p_value)}"
    return [Cell(signed_text(gain), tone=tone), Cell(test.sign, note, tone)]


def _best(comparison: Comparison, metric: str) -> float:
    scores = [system.scores[metric] for system in comparison.systems]
    return max(scores) if metric.endswith("f1") else min(scores)


def _bond_row(edge: LabelEdge) -> tuple[Cell, ...]:
    weights = (edge.strength, edge.to_second, edge.to_first)
    counts = (edge.n_first, edge.n_second, edge.n_both)
    joint = "+" if edge.strength > 0 else "/"
    return (
        Cell(f"{edge.first} {joint} {edge.second}"),
        *(Cell(signed_text(weight)) for weight in weights),
        *(Cell(f"{count:.10g}") for count in counts),
        Cell(f"{edge.n_expected:.1f}"),
    )


def _text_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join([first, *others]).rstrip()


def _with_beside(text: str, beside: Sequence[str]) -> str:
    return f"{text} ({', '.join(beside)})" if beside else text


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    return _with_beside(
        f"**{text}**" if cell.best else text, [markdown_text(b) for b in cell.beside]
    )


def _html_head(column: tuple[str, str]) -> str:
    return "<br>".join(escape(line) for line in column if line)


def _html_row(row: Sequence[Cell]) -> str:
    first, *others = row
    cells = "".join(_html_cell(cell) for cell in others)
    return f'<tr><th scope="row">{escape(first.text)}</th>{cells}</tr>'


def _html_cell(cell: Cell) -> str:
    kinds = " ".join(filter(None, [cell.tone, "best" if cell.best else ""]))
    kind = f' class="{kinds}"' if kinds else ""
    note = f' title="{escape(cell.note)}"' if cell.note else ""
    beside = f"<small>{escape(' · '.join(cell.beside))}</small>" if cell.beside else ""
    return f"<td{kind}{note}>{escape(cell.text)}{beside}</td>"
