"""Records → the paper's two summaries: how often an addition is better, and how often worse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from labelkin.report.outcome import Outcome
from labelkin.report.paper import TITLES, miscounted
from labelkin.report.paper_tables import HEADS, PaperTable, make_table
from labelkin.report.scores import F1_METRICS, LOSSES, Counts, Score, count_leads
from labelkin.report.tables import Cell, Table

_ONE_ERROR = (
    "The paper's one-error is counted as complemented (the example-based table says why): where it "
    "is said to be better in print, it is worse here."
)


def f1_summary(outcomes: Sequence[Outcome]) -> PaperTable:
    """Count how often an addition is better and worse, and significantly so, by F1."""
    caption = (
        "Number of times that a content classifier with an addition is better/significantly "
        "better/worse/significantly worse than alone, with respect to micro and macro F₁"
    )
    table = _count_table(outcomes, F1_METRICS, _f1_counts)
    return PaperTable(
        "summary_f1", "Better and worse by F1", caption, table, (1, 1, 1), _count_notes(outcomes)
    )


def loss_summary(outcomes: Sequence[Outcome]) -> PaperTable:
    """Count how often an addition is better and worse by the example-based and ranking measures."""
    caption = (
        "Number of times that a content classifier with an addition is better/worse than alone, "
        "with respect to example-based and ranking measures"
    )
    notes = [
        "An equal score is neither better nor worse, as in the paper.",
        *_count_notes(outcomes),
    ]
    if any(outcome.paper for outcome in outcomes):
        notes.append(_ONE_ERROR)
    if {outcome.paper for outcome in outcomes} >= set(TITLES):
        notes += _miscounts()
    table = _count_table(outcomes, LOSSES, _loss_counts)
    return PaperTable(
        "summary_losses",
        "Better and worse by the other measures",
        caption,
        table,
        (1, 1, 1, 1),
        tuple(notes),
    )


def _count_table(
    outcomes: Sequence[Outcome], metrics: Sequence[str], text: Callable[[Counts], str]
) -> Table:
    scores = [score for outcome in outcomes for score in outcome.scores if score.addition]
    additions = dict.fromkeys(score.addition for score in scores)
    rows = []
    for addition in additions:
        cells = [Cell(addition)]
        for metric in metrics:
            chosen = [s for s in scores if (s.addition, s.metric) == (addition, metric)]
            cells.append(_count_cell(chosen, text))
        rows.append(tuple(cells))
    return make_table([("", "Addition"), *(("", HEADS[metric]) for metric in metrics)], [rows])


def _count_cell(scores: Sequence[Score], text: Callable[[Counts], str]) -> Cell:
    """Count ours, and beside it the paper's of the same corpora and content classifiers."""
    compared = [score for score in scores if not math.isnan(score.ours.lead)]
    paper = [score.paper for score in compared if score.paper]
    beside = (text(count_leads(paper)),) if paper else ()
    return Cell(text(count_leads(score.ours for score in compared)), beside=beside)


def _f1_counts(counts: Counts) -> str:
    return "/".join(map(str, counts))


def _loss_counts(counts: Counts) -> str:
    return f"{counts.better}/{counts.worse}"


def _count_notes(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    titles = ", ".join(outcome.title for outcome in outcomes)
    notes = [f"Counted over the content classifiers of: {titles}."]
    if any(outcome.paper for outcome in outcomes):
        notes.append("With each count: the same count of the paper's figures for the same systems.")
    missing = sum(len(outcome.missing) for outcome in outcomes)
    if missing:
        notes.append(f"Runs that are missing and not counted: {missing}.")
    return tuple(notes)


def _miscounts() -> list[str]:
    """Tell where the paper's printed summary differs from its own figures."""
    return [
        f"The paper prints {_loss_counts(printed)} for {addition}, {HEADS[metric]}; its own "
        f"figures make it {_loss_counts(counted)}."
        for addition, metric, printed, counted in miscounted()
        if metric in LOSSES
    ]
