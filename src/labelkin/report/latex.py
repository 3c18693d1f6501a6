"""Tables → LaTeX in the paper's layout; needs no package, and nothing in a cell is a command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labelkin.report.paper_tables import PaperTable
from labelkin.report.tables import Cell

_CHARACTERS = {
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
    return " ".join("".join(_CHARACTERS.get(character, character) for character in text).split())


def latex_table(table: PaperTable, corpus: str) -> str:
    """Return a ``table`` environment; a blank row stands between groups, as in the paper.

    What stands beside a cell is set small below it. The notes follow the table. The corpus becomes
    part of the label: ``table:rcv1-label-based``.
    """
    cells = table.table
    blank = " & ".join([""] * len(cells.header)).strip() + r" \\"
    groups = [[_row([_cell(cell) for cell in row]) for row in group] for group in cells.groups]
    body = [line for i, group in enumerate(groups) for line in ([blank] if i else []) + group]
    head = [latex_text(" ".join(filter(None, column))) for column in cells.header]
    label = re.sub(r"[^A-Za-z0-9]+", "-", f"{corpus}-{table.key}")
    columns = "|".join("c" * n for n in table.columns)
    return "\n".join(
        [
            r"\begin{table}",
            r"\begin{center}",
            r"\begin{footnotesize}",
            rf"\begin{{tabular}}{{|{columns}|}}\hline",
            rf"{_row(head)}\hline",
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


def _row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if not cell.beside:
        return text
    beside = r"\,".join(latex_text(part) for part in cell.beside)
    return rf"\shortstack{{{text}\\{{\tiny {beside}}}}}"
