"""Tables: cells in groups of rows, as plain text, Markdown and LaTeX; text is escaped."""

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
        What it shows.
    note
        Details, shown on hovering.
    tone
        Whether the proposal or the baseline is better.
    best
        Whether it is the best of its column.
    beside
        What stands beside the text: the paper's figure, and the difference from it.
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
        Two short lines per column, the first may be empty: ``("micro", "F1")``.
    groups
        Rows that belong together.
    key
        A short name, ``"label_based"``; names files and anchors.
    title, caption
        What the table shows, in two or three words and in full.
    columns
        How many columns stand together, the first being the row's name: ``(1, 3, 3)``.
    notes
        What to know to read it.
    """

    header: Sequence[tuple[str, str]]
    groups: Sequence[Sequence[Sequence[Cell]]]
    key: str = ""
    title: str = ""
    caption: str = ""
    columns: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def heads(self) -> list[str]:
        """The header in one line per column."""
        return [" ".join(filter(None, column)) for column in self.header]

    @property
    def rows(self) -> list[Sequence[Cell]]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group]


# Numbers as people read them


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


# Plain text


def text_table(table: Table) -> str:
    """Return plain text: columns aligned, a blank line between groups, no line ends in a space."""
    groups = [[[cell.text for cell in row] for row in group] for group in table.groups]
    every = [table.heads, *(row for group in groups for row in group)]
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    blocks = ["\n".join(_text_line(row, widths) for row in group) for group in groups]
    return "\n".join([_text_line(table.heads, widths), rule, "\n\n".join(blocks)])


def _text_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "  ".join(padded).rstrip()


def _with_beside(text: str, beside: Sequence[str]) -> str:
    return f"{text} ({', '.join(beside)})" if beside else text


# Markdown


def markdown_table(table: Table, *, apart: bool = False) -> str:
    """Return a Markdown table; the best scores are bold, and nothing in a cell is markup.

    What stands beside a cell's text follows it in brackets. ``apart`` puts an empty row between
    groups.
    """
    head = [markdown_text(head) for head in table.heads]
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


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text)
    beside = [markdown_text(part) for part in cell.beside]
    return _with_beside(f"**{text}**" if cell.best else text, beside)


# LaTeX

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

    What stands beside a cell is set small below it. The notes follow the table. The corpus becomes
    part of the label: ``table:rcv1-label-based``.
    """
    blank = " & ".join([""] * len(table.header)).strip() + r" \\"
    groups = [[_latex_row([_latex_cell(cell) for cell in row]) for row in g] for g in table.groups]
    body = [line for i, group in enumerate(groups) for line in ([blank] if i else []) + group]
    label = re.sub(r"[^A-Za-z0-9]+", "-", f"{corpus}-{table.key}")
    columns = "|".join("c" * n for n in table.columns)
    return "\n".join(
        [
            r"\begin{table}",
            r"\begin{center}",
            r"\begin{footnotesize}",
            rf"\begin{{tabular}}{{|{columns}|}}\hline",
            rf"{_latex_row([latex_text(head) for head in table.heads])}\hline",
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


def _latex_row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if not cell.beside:
        return text
    beside = r"\,".join(latex_text(part) for part in cell.beside)
    return rf"\shortstack{{{text}\\{{\tiny {beside}}}}}"
