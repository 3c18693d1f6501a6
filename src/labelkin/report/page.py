"""All of it → one HTML page that needs no other file and no other host, light and dark.

The page is made by the Jinja templates beside this module, in which all text is escaped; only the
pictures, whose text :mod:`labelkin.report.plots` has escaped, are put in as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from labelkin.explain.label_graph import LabelEdge
from labelkin.report.paper import comparison_table, paper_tables
from labelkin.report.plots import (
    edge_picture,
    gain_pictures,
    reliability_pictures,
    score_pictures,
)
from labelkin.report.results import Outcome
from labelkin.report.sentences import describe
from labelkin.report.tables import edge_table

if TYPE_CHECKING:
    from jinja2 import Environment

_NO_PICTURES = 'Pictures need matplotlib: pip install "labelkin[plot]"'


def html_page(
    outcomes: Sequence[Outcome], *, introduction: str = "", edges: Sequence[LabelEdge] = ()
) -> str:
    """Return the page; all text in it is escaped, and the same outcomes give the same page.

    Without matplotlib the page has its tables, and says what its pictures need.

    Parameters
    ----------
    outcomes
        What came out, corpus by corpus.
    introduction : str, default ""
        A paragraph on the corpus and on how to take the numbers.
    edges : default ()
        The strongest attractions and repulsions between labels, drawn as a graph where there are
        any.
    """
    in_paper = any(outcome.paper for outcome in outcomes)
    return (
        _environment()
        .get_template("page.html")
        .render(
            title="The paper’s tables, measured again" if in_paper else "What the other labels add",
            names=", ".join(outcome.corpus for outcome in outcomes),
            introduction=introduction,
            sections=[_section(outcome, f"c{i}-") for i, outcome in enumerate(outcomes)],
            no_pictures="" if _can_draw() else _NO_PICTURES,
            graph=edge_picture(edges) if edges and _can_draw() else None,
            edges=edge_table(edges) if edges else None,
        )
    )


def _section(outcome: Outcome, key: str) -> dict[str, Any]:
    """Return what the template shows of one corpus."""
    tables = paper_tables(outcome)
    if not outcome.paper:  # with nothing to stand beside, all five metrics fit one table
        tables = [comparison_table(outcome), *tables[2:]]
    draws, addition = _can_draw(), outcome.addition
    return {
        "outcome": outcome,
        "sentences": describe(outcome),
        "tables": tables,
        "scores": score_pictures(outcome, key) if draws else [],
        "gains": gain_pictures(outcome, addition, key) if draws and addition else [],
        "reliability": reliability_pictures(outcome, addition, key) if draws and addition else [],
    }


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('Pages need jinja2: pip install "labelkin[cli]"') from error
    return Environment(
        loader=PackageLoader("labelkin.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
