"""Records → what an experiment asks for beyond the paper: more metrics, intervals by bootstrap."""

from __future__ import annotations

from labelkin.report.number_text import p_value_text, signed_text
from labelkin.report.outcome import Outcome
from labelkin.report.paper_tables import HEADS, PaperTable, make_table, tone_of, value_cell
from labelkin.report.scores import METRICS
from labelkin.report.tables import Cell
from labelkin.significance import Bootstrap


def further_tables(outcome: Outcome) -> list[PaperTable]:
    """Return the tables that the experiment asks for beyond the paper's, if any."""
    return [table for table in (metric_table(outcome), bootstrap_table(outcome)) if table]


def metric_table(outcome: Outcome) -> PaperTable | None:
    """Return the metrics that the experiment asks for beyond the paper's, if any."""
    every = dict.fromkeys(score.metric for score in outcome.scores)
    metrics = [metric for metric in every if metric not in METRICS]
    if not metrics:
        return None
    rows = [
        [
            (Cell(scores[METRICS[0]].system), *(value_cell(scores[metric]) for metric in metrics))
            for scores in group
        ]
        for group in outcome.groups()
    ]
    table = make_table([("", "Model"), *(("", metric) for metric in metrics)], rows)
    title = "Further measures"
    return PaperTable("further", title, f"{title} for {outcome.title}", table, (1, len(metrics)))


def bootstrap_table(outcome: Outcome) -> PaperTable | None:
    """Return the differences from the content classifier alone with their intervals, if any."""
    drawn = outcome.comparisons[0]
    proposals = [system for system in drawn.proposals if system.bootstraps]
    if not proposals:
        return None
    first = proposals[0].bootstraps
    rows = [
        [(Cell(s.name), *map(_interval, s.bootstraps)) for s in group if s.bootstraps]
        for group in drawn.groups()
    ]
    header = [("", "Model"), *(("", HEADS[b.metric]) for b in first)]
    title = "Differences and their intervals"
    note = (
        f"Less the content classifier alone; in brackets the {100 * first[0].confidence:g} % "
        f"interval of {first[0].n_draws} draws of documents with replacement, seed "
        f"{outcome.seeds[0]} of the experiment. Signs as in the label-based table."
    )
    return PaperTable(
        key="bootstrap",
        title=title,
        caption=f"{title} for {outcome.title}",
        table=make_table(header, [group for group in rows if group]),
        columns=(1, len(first)),
        notes=(note,),
    )


def _interval(drawn: Bootstrap) -> Cell:
    low, high = (signed_text(bound, 4) for bound in (drawn.low, drawn.high))
    text = f"{signed_text(drawn.difference, 4)} [{low}, {high}] {drawn.sign}"
    return Cell(text, p_value_text(drawn.p_value), tone_of(drawn.sign))
