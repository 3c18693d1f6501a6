"""Writing of pages: long tables are folded, conclusions stay."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from labelkin.files import write_atomic

#: Number of rows from which on a table is folded.
LONG = 9
_FOLDED = re.compile(r"<details>\n<summary>.*</summary>\n\n((?:\|.*\n)+)\n</details>\n")
_TABLE = re.compile(r"^\|.*\n\|[ :|-]+\n(?:\|.*\n)+", re.MULTILINE)
_CONCLUSIONS = re.compile(r"<!-- conclusions -->\n.*?<!-- end of conclusions -->\n\n", re.DOTALL)


def write_page(path: str | Path, text: str) -> Path:
    """Write a page; its conclusions, written by hand below the title, are kept."""
    page = Path(path)
    page.parent.mkdir(parents=True, exist_ok=True)
    kept = _CONCLUSIONS.search(page.read_text(encoding="utf-8")) if page.exists() else None
    if kept and kept[0] not in text:
        title, rest = text.split("\n", 1)
        text = f"{title}\n\n{kept[0]}{rest.lstrip()}"
    write_atomic(page, fold_tables(text))
    return page


def fold_tables(text: str) -> str:
    """Fold the long tables of a page; their summary has the columns."""
    return _TABLE.sub(_fold, _FOLDED.sub(r"\1", text))


def _fold(table: re.Match[str]) -> str:
    lines = table[0].splitlines()
    columns = [cell.strip(" *") for cell in lines[0].strip("|").split("|")]
    if len(lines) - 2 < LONG:
        return table[0]
    summary = escape(f"{len(lines) - 2} rows by {columns[0]}: {', '.join(columns[1:])}"[:100])
    return f"<details>\n<summary>{summary}</summary>\n\n{table[0]}\n</details>\n"


def markdown_rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of text that is Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_from_folders(
    write: Callable[[list[Path], Path], Any],
    page: Path,
    description: str | None,
    arguments: Sequence[str] | None = None,
) -> None:
    """Write a page from the result folders that the command line names."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folders", nargs="+", type=Path, metavar="RESULTS")
    parser.add_argument("--out", type=Path, default=page)
    given = parser.parse_args(arguments)
    write(given.folders, given.out)
    print(given.out)
