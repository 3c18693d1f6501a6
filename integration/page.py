"""What Annif's projects are worth, as tables of docs/how-to/annif.md.

``python -m integration annif annif-places --write docs/how-to/annif.md`` tells both stories and
writes the part of the page that stands between its marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from integration.annif_story import COMPARED, METRICS, NAMES, Told, read_told
from labelkin.files import write_atomic

#: Between these the page is written by this module.
BEGIN, END = "<!-- annif eval: begin -->\n", "<!-- annif eval: end -->\n"
#: Names of the corpora, by the folder of their story.
CORPORA = {"places": "places", "newsroom": "newsroom"}
_SHOWN = METRICS[:3]


def write_tables(page: Path, folder: Path) -> None:
    """Write the tables from what the stories have left in their folder."""
    told = {
        name: read_told(path)
        for name in CORPORA
        if (path := folder / name / "annif/told.json").is_file()
    }
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end and told):
        raise ValueError(f"{page} must have {BEGIN!r} and {END!r}, and {folder} results of Annif.")
    write_atomic(page, f"{before}{begin}{tables(told)}{end}{after}")


def tables(told: dict[str, Told]) -> str:
    """Return the table of scores, and that of differences."""
    best = {
        (name, metric): max(row.scores[metric] for row in one.rows if row.project in NAMES)
        for name, one in told.items()
        for metric in _SHOWN
    }
    scores = [["", *(f"{name}: {metric}" for name in told for metric in _SHOWN)]]
    for project, title in NAMES.items():
        row = [title]
        for name, one in told.items():
            [found] = [row.scores for row in one.rows if row.project == project]
            row += [_cell(found[m], found[m] == best[name, m]) for m in _SHOWN]
        scores.append(row)
    differences = [
        ["labelkin's ensemble over", *(f"{name}: {metric}" for name in told for metric in COMPARED)]
    ]
    for i in (0, 1):
        found = {
            (name, metric): [one for one in told[name].differences if one.metric == metric][i]
            for name in told
            for metric in COMPARED
        }
        title = "the best source" if i == 0 else NAMES["ensemble"]
        cells = [f"{one.better:+.4f} ({one.low:+.4f} … {one.high:+.4f})" for one in found.values()]
        differences.append([title, *cells])
    return f"{_markdown(scores)}\n{_markdown(differences)}"


def _cell(score: float, is_best: bool) -> str:
    return f"**{score:.3f}**" if is_best else f"{score:.3f}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
