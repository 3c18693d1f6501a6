"""The paper's tables and pictures → one HTML page that needs no other file and no other host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.util import find_spec

from labelkin.report.comparison import Comparison
from labelkin.report.documents import paper_tables
from labelkin.report.frame import fact_list, frame, panels, scrolling
from labelkin.report.outcome import Outcome
from labelkin.report.paper import paper_corpus
from labelkin.report.paper_plots import score_pictures
from labelkin.report.paper_tables import PaperTable
from labelkin.report.plots import gain_pictures, reliability_pictures
from labelkin.report.sentences import read_comparison
from labelkin.report.tables import html_table

#: The addition that the pictures look at, where it is there.
_ADDITIONS = ("BLR+M2 w=auto", "BLR+M2")
_NO_PICTURES = 'Pictures need matplotlib: pip install "labelkin[plot]"'


def paper_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page; all text in it is escaped, and the same outcomes give the same page.

    Without matplotlib the page has its tables, and says what its pictures need.
    """
    names = ", ".join(outcome.corpus for outcome in outcomes)
    sections = [part for i, outcome in enumerate(outcomes) for part in _sections(outcome, f"c{i}-")]
    in_paper = any(paper_corpus(outcome.corpus) for outcome in outcomes)
    title = "The paper’s tables, measured again" if in_paper else "What the other labels add"
    opening = [
        "<header>",
        f'<p class="eyebrow">labelkin · {escape(names)}</p>',
        f"<h1>{title}</h1>",
        "</header>",
        "<main>",
    ]
    return frame(f"{title}: {names}", [*opening, *sections, "</main>"])


def _sections(outcome: Outcome, key: str) -> Iterator[str]:
    yield f"<h2>{escape(outcome.title)}</h2>"
    shown = _with_baseline(outcome.comparisons[0])
    addition = _addition(shown)
    if addition and outcome.labels is not None:
        sentences = read_comparison(shown, addition, outcome.labels.counts()[0])
        yield f"<p>As trained by seed {outcome.seeds[0]}:</p>" if len(outcome.seeds) > 1 else ""
        yield "\n".join(["<ul>", *(f"<li>{escape(s)}</li>" for s in sentences), "</ul>"])
    yield from map(_table, paper_tables(outcome))
    yield from _pictures(outcome, shown, addition, key)
    yield "\n".join(["<h3>How it was made</h3>", fact_list(outcome.facts)])


def _table(table: PaperTable) -> str:
    notes = [f'<p class="small">{escape(note)}</p>' for note in table.notes]
    cells = scrolling(html_table(table.table, table.caption), table.caption)
    return "\n".join([f"<h3>{escape(table.title)}</h3>", cells, *notes])


def _pictures(outcome: Outcome, shown: Comparison, addition: str, key: str) -> Iterator[str]:
    if find_spec("matplotlib") is None:
        yield f'<p class="small">{escape(_NO_PICTURES)}</p>'
        return
    beside = " and in the paper" if outcome.paper else ""
    yield "<h3>Pictures</h3>"
    yield panels(score_pictures(outcome, key), f"F1 of every system, measured{beside}.")
    if not addition or outcome.labels is None:
        return
    seed = f" (seed {outcome.seeds[0]})" if len(outcome.seeds) > 1 else ""
    yield panels(
        gain_pictures(shown, addition, outcome.labels, key),
        f"Each mark is a label: how its F1 changes when {addition} is added, against how many "
        f"training documents carry it{seed}. Filled triangles gain, hollow ones lose, circles "
        "stay.",
    )
    yield panels(
        reliability_pictures(shown, addition, key),
        "Cells (document, label) in bins by the probability given; on the dotted line, that share "
        f"of them carries the label{seed}. ECE is the mean distance from it, over all cells.",
    )


def _with_baseline(comparison: Comparison) -> Comparison:
    """Leave out what has no content classifier alone to be compared with."""
    alone = {system.content for system in comparison.systems if not system.addition}
    there = tuple(system for system in comparison.systems if system.content in alone)
    return Comparison(comparison.corpus, there)


def _addition(comparison: Comparison) -> str:
    additions = [system.addition for system in comparison.proposals]
    if not additions:
        return ""
    return next((name for name in _ADDITIONS if name in additions), additions[0])
