"""The tables of a Markdown page: read, and folded away where they are long."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Rows from which on a table is folded.
LONG = 9
_RULE = re.compile(r"\|(?: *:?-+:? *\|)+ *$")
_NUMBER = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
_FOLDED = re.compile(r"<details>\n<summary>.*</summary>\n\n((?:\|.*\n)+)\n</details>\n")


class Table(NamedTuple):
    """A table: the headings above it, the names of its columns, its rows as text."""

    headings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]


def read_tables(text: str) -> list[Table]:
    r"""Return the tables of a page in order; empty rows, which divide others, are left out.

    Examples
    --------
    >>> read_tables("# A\n\n## B\n\n| x | y |\n|---|---:|\n| a | **1** |\n")[0].rows
    (('a', '1'),)
    """
    headings: list[str] = []
    tables, lines, is_code = [], text.splitlines(), False
    for i, line in enumerate(lines):
        is_code ^= line.startswith("```")
        if line.startswith("#") and not is_code:
            level = len(line) - len(line.lstrip("#"))
            headings[level - 1 :] = [line.lstrip("# ")]
        if i and _RULE.match(line) and lines[i - 1].startswith("|"):
            rows = []
            for row in lines[i + 1 :]:
                if not row.startswith("|"):
                    break
                cells = _cells(row)
                if any(cells):
                    rows.append(cells)
            tables.append(Table(tuple(headings), _cells(lines[i - 1]), tuple(rows)))
    return tables


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell.

    Examples
    --------
    >>> numbers("−0.5 (1,000 … +2e-3)")
    [-0.5, 1000.0, 0.002]
    """
    return [float(n.replace("−", "-").replace(",", "")) for n in _NUMBER.findall(cell)]


def folded(text: str) -> str:
    """Fold the long tables of a page: a line says what is in one, and opens it."""
    lines, out, i = unfolded(text).split("\n"), [], 0
    while i < len(lines):
        end = i
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        if end - i - 2 >= LONG:
            columns = [cell for cell in _cells(lines[i]) if cell]
            said = f"{end - i - 2} rows by {columns[0]}: {', '.join(columns[1:])}"
            said = said if len(said) <= 100 else f"{said[:99].rstrip(' ,')}…"
            out += ["<details>", f"<summary>{_escaped(said)}</summary>", "", *lines[i:end]]
            out += ["", "</details>"]
        else:
            out += lines[i : max(end, i + 1)]
        i = max(end, i + 1)
    return "\n".join(out)


def unfolded(text: str) -> str:
    """Return the page with its tables open again."""
    return _FOLDED.sub(r"\1", text)


def _cells(row: str) -> tuple[str, ...]:
    """Return the cells of a row, without what sets them off."""
    inner = re.split(r"(?<!\\)\|", row.strip().strip("|"))
    plain = (cell.replace("**", "").replace("\\|", "|").strip() for cell in inner)
    return tuple(cell.replace("&lt;", "<").replace("&gt;", ">") for cell in plain)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
