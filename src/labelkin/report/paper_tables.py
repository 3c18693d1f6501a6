"""Records → the paper's tables of scores in its own layout, the paper's figures beside ours.

Label-based: micro and macro F1 with Δ% and the signs of the s-test and S-test. Example-based and
ranking: Hamming loss, subset 0/1 loss and one-error with marks for better and worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelkin.report.number_text import score_text, signed_text
from labelkin.report.outcome import Outcome
from labelkin.report.paper import TITLES, one_error_note
from labelkin.report.scores import (
    F1_METRICS,
    LOSSES,
    Score,
)
from labelkin.report.tables import LEGEND, Cell, Table, Tone

HEADS = {
    "micro_f1": "μF₁",
    "macro_f1": "MF₁",
    "hamming_loss": "Hamming loss",
    "subset_loss": "Subset 0/1 loss",
    "one_error": "One-error",
}
_DECIMALS = 5  # the paper's
_BESIDE = "With each number: the paper's, then ours less the paper's."
_SEEDS = (
    "Scores are means over seeds {seeds}; a sign is the one that the tests of all seeds support."
)


@dataclass(frozen=True)
class PaperTable:
    """A table with all that a document needs to show it.

    Attributes
    ----------
    key
        A short name, ``"label_based"``; names files and anchors.
    title, caption
        What the table shows, in two or three words and in full.
    table
        Its cells.
    columns
        How many columns stand together, the first being the system's name: ``(1, 3, 3)``.
    notes
        What to know to read it.
    """

    key: str
    title: str
    caption: str
    table: Table
    columns: tuple[int, ...]
    notes: tuple[str, ...] = ()


def label_table(outcome: Outcome) -> PaperTable:
    """Return micro and macro F1 with Δ% and signs; a group of rows per content classifier."""
    header = [("", "Model")]
    for metric, test in zip(F1_METRICS, ("s-test", "S-test"), strict=True):
        header += [("", HEADS[metric]), (metric.partition("_")[0], "Δ%"), ("", test)]
    rows = [[_label_row(scores) for scores in group] for group in outcome.groups()]
    title = "Label-based measures"
    told = "; ".join(f"{name}: {what}" for name, what in outcome.classifiers.items())
    return PaperTable(
        key="label_based",
        title=title,
        caption=f"{title} for {outcome.title}",
        table=make_table(header, rows),
        columns=(1, 3, 3),
        notes=(LEGEND, *_notes(outcome), f"{told}."),
    )


def example_table(outcome: Outcome) -> PaperTable:
    """Return Hamming loss, subset loss and one-error, each marked as better or worse."""
    header = [("", "Model")]
    for metric in LOSSES:
        header += [("", HEADS[metric]), (HEADS[metric].partition(" ")[0], "mark")]
    rows = [[_example_row(scores) for scores in group] for group in outcome.groups()]
    legend = "• better than the content classifier alone or equal to it, ◦ worse."
    reason = (one_error_note(),) if outcome.paper else ()
    title = "Example-based and ranking measures"
    return PaperTable(
        key="example_based",
        title=title,
        caption=f"{title} for {outcome.title}",
        table=make_table(header, rows),
        columns=(1, 2, 2, 2),
        notes=(legend, *_notes(outcome), *reason),
    )


def make_table(
    header: Sequence[tuple[str, str]], groups: Sequence[Sequence[tuple[Cell, ...]]]
) -> Table:
    """Return a table of rows in groups; a header has two lines per column."""
    return Table(tuple(header), tuple(tuple(group) for group in groups))


def value_cell(score: Score) -> Cell:
    """Return a score, the paper's and the difference beside it."""
    text = score_text(score.ours.value, _DECIMALS)
    if score.paper is None:
        return Cell(text)
    return Cell(text, beside=_beside(score_text(score.paper.value, _DECIMALS), score.difference))


def tone_of(sign: str) -> Tone:
    """Return how a sign stands out: by who is better."""
    if sign in {"≪", "<"}:
        return "better"
    return "worse" if sign in {"≫", ">"} else ""


def _label_row(scores: Mapping[str, Score]) -> tuple[Cell, ...]:
    cells = [Cell(scores[F1_METRICS[0]].system)]
    for score in (scores[metric] for metric in F1_METRICS):
        tone = tone_of(score.ours.sign)
        cells += [value_cell(score), _change_cell(score, tone), _sign_cell(score, tone)]
    return tuple(cells)


def _example_row(scores: Mapping[str, Score]) -> tuple[Cell, ...]:
    cells = [Cell(scores[LOSSES[0]].system)]
    for score in (scores[metric] for metric in LOSSES):
        beside = (score.paper.mark,) if score.paper and score.paper.mark else ()
        mark = Cell(score.ours.mark, tone=_tone(score.ours.lead), beside=beside)
        cells += [value_cell(score), mark]
    return tuple(cells)


def _beside(paper: str, difference: float, decimals: int = _DECIMALS) -> tuple[str, ...]:
    """Return the paper's figure, and the difference where there is one."""
    return (paper,) if math.isnan(difference) else (paper, signed_text(difference, decimals))


def _change_cell(score: Score, tone: Tone) -> Cell:
    text = signed_text(score.ours.change)
    if score.paper is None or not score.addition:
        return Cell(text, tone=tone)
    difference = score.ours.change - score.paper.change
    return Cell(text, tone=tone, beside=_beside(signed_text(score.paper.change), difference, 2))


def _sign_cell(score: Score, tone: Tone) -> Cell:
    beside = (score.paper.sign,) if score.paper and score.paper.sign else ()
    return Cell(score.ours.sign or "–", score.note, tone, beside=beside)


def _tone(lead: float) -> Tone:
    if lead > 0:
        return "better"
    return "worse" if lead < 0 else ""


def _notes(outcome: Outcome) -> list[str]:
    """Say what stands beside, what a number is, and what is missing."""
    notes = []
    if outcome.paper:
        notes.append(_BESIDE)
        if outcome.corpus != outcome.paper:
            title = TITLES[outcome.paper]
            notes.append(f"The paper's figures are those for {title}, not for {outcome.corpus}.")
    if len(outcome.seeds) > 1:
        notes.append(_SEEDS.format(seeds=", ".join(map(str, outcome.seeds))))
    if outcome.missing:
        notes.append(f"Missing, not run yet: {', '.join(outcome.missing)}.")
    return notes
