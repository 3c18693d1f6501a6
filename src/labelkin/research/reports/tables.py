"""Tables: cells in groups of rows, as Markdown and LaTeX; text is escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

Tone = Literal["", "better", "worse"]


class Cell(NamedTuple):
    """One cell.

    Attributes
    ----------
    text
        The content.
    note
        Details, shown on hovering.
    tone
        Whether the proposal or the baseline is better.
    best
        Whether it is the best of its column.
    beside
        Further values beside the text: the paper's figure, and the difference from it.
    """

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
        The names of the columns.
    groups
        Rows that belong together.
    key
        A short name for anchors, ``"label_based"``.
    title, caption
        The subject of the table, in two or three words and in full.
    notes
        Explanations below the table.
    """

    header: Sequence[str]
    groups: Sequence[Sequence[Sequence[Cell]]]
    key: str = ""
    title: str = ""
    caption: str = ""
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Sequence[Cell]]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group]


def format_score(value: float, decimals: int = 4) -> str:
    """Write a score with its decimals; a score that does not exist is a dash.

    Examples
    --------
    >>> format_score(0.65), format_score(float("nan"))
    ('0.6500', '–')
    """
    return "–" if math.isnan(value) else f"{value:.{decimals}f}"


def signed_text(value: float, decimals: int = 2) -> str:
    """Write a change with its sign; what rounds to 0 has none.

    Examples
    --------
    >>> signed_text(6.358), signed_text(-1.08), signed_text(-0.001), signed_text(float("nan"))
    ('+6.36', '−1.08', '0.00', '–')
    """
    if math.isnan(value):
        return "–"
    size = f"{abs(value):.{decimals}f}"
    if float(size) == 0:
        return size
    return f"+{size}" if value > 0 else f"−{size}"


def p_value_text(p_value: float) -> str:
    """Write a P value with four decimals, or that it is smaller.

    Examples
    --------
    >>> p_value_text(0.0312), p_value_text(3e-9)
    ('P = 0.0312', 'P < 0.0001')
    """
    return "P < 0.0001" if p_value < 0.0001 else f"P = {p_value:.4f}"


def markdown_table(table: Table) -> str:
    """Return a Markdown table; the best scores are bold, and nothing in a cell is markup.

    The values beside a cell's text follow it in brackets; an empty row stands between groups.
    """
    head = [markdown_text(name) for name in table.header]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for i, group in enumerate(table.groups):
        if i:
            lines.append([" "] * len(head))
        lines += [[_markdown_cell(cell) for cell in row] for row in group]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_text(text: str) -> str:
    """Return text for a line of Markdown in which nothing is markup."""
    for character in "\\`*_|[]":
        text = text.replace(character, "\\" + character)
    return " ".join(escape(text, quote=False).split())


def _markdown_cell(cell: Cell) -> str:
    text, beside = markdown_text(cell.text), ", ".join(map(markdown_text, cell.beside))
    text = f"**{text}**" if cell.best else text
    return f"{text} ({beside})" if beside else text


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"$\sim$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "[": "{[}",  # after a line's end it would begin an option
    "*": "{*}",
    '"': "''",  # the quotation mark that every font encoding has
    "≪": r"$\ll$",
    "≫": r"$\gg$",
    "•": r"$\bullet$",
    "◦": r"$\circ$",
    "−": "$-$",
    "–": "--",
    "Δ": r"$\Delta$",
    "μ": r"$\mu$",
    "₁": "$_1$",
    "“": "``",
    "”": "''",
    "≤": r"$\leq$",
}


def latex_text(text: str) -> str:
    r"""Return text as LaTeX prints it: one line, every special character written out.

    Examples
    --------
    >>> print(latex_text("a_b & 5 % ≪ F₁"))
    a\_b \& 5 \% $\ll$ F$_1$
    """
    return " ".join("".join(_LATEX.get(character, character) for character in text).split())


def latex_table(table: Table, corpus: str) -> str:
    """Return a ``table`` environment, which needs no package; a blank row stands between groups.

    The values beside a cell are set small below it. The notes follow the table. The corpus becomes
    part of the label: ``table:rcv1-label-based``.
    """
    blank = "& " * (len(table.header) - 1) + r"\\"
    groups = [
        [rf"{' & '.join(map(_latex_cell, row))} \\" for row in group] for group in table.groups
    ]
    body = [line for i, group in enumerate(groups) for line in ([blank] if i else []) + group]
    label = re.sub(r"[^A-Za-z0-9]+", "-", f"{corpus}-{table.key}")
    return "\n".join(
        [
            r"\begin{table}",
            r"\begin{center}",
            r"\begin{footnotesize}",
            rf"\begin{{tabular}}{{|c|{'c' * (len(table.header) - 1)}|}}\hline",
            rf"{' & '.join(map(latex_text, table.header))} \\\hline",
            *body,
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{latex_text(table.caption)}}}",
            rf"\label{{table:{label}}}",
            r"\end{footnotesize}",
            r"\end{center}",
            *(rf"{{\scriptsize {latex_text(note)}\par}}" for note in table.notes),
            r"\end{table}",
        ]
    )


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    beside = r"\,".join(map(latex_text, cell.beside))
    return rf"\shortstack{{{text}\\{{\tiny {beside}}}}}" if beside else text
