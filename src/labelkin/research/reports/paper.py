"""The paper's tables in its layout, the paper's figures beside ours.

Label-based: micro and macro F1 with Δ% and the signs of the s-test and S-test. Example-based and
ranking: Hamming loss, subset 0/1 loss and one-error with marks for better and worse. Two summaries
count how often an addition is better and worse. An experiment may have further metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from labelkin.research.reports.results import Outcome
from labelkin.research.reports.scores import (
    F1_METRICS,
    LOSSES,
    METRICS,
    PAPER_TITLES,
    WORDS,
    Counts,
    Score,
    count_leads,
    paper_scores,
)
from labelkin.research.reports.tables import (
    Cell,
    Table,
    Tone,
    format_score,
    signed_text,
)

#: Names of the metrics in the paper's tables.
HEADS = {"micro_f1": "μF₁", "macro_f1": "MF₁"} | {m: WORDS[m].capitalize() for m in LOSSES}
LEGEND = (
    "Δ% is the change against the content classifier alone. Signs: ≪ and < mean that the baseline "
    "is worse than the proposal (P < 0.01, P < 0.05), ≫ and > that it is better, ~ that no "
    "difference was shown. s compares single decisions (micro sign test), S compares labels "
    "(macro sign test)."
)
_DECIMALS = 5  # the paper's


def paper_tables(outcome: Outcome) -> list[Table]:
    """Return the tables of one corpus: label-based, example-based, summaries, further metrics."""
    tables = [label_table(outcome), example_table(outcome)]
    summaries = [f1_summary([outcome]), loss_summary([outcome])]
    return [*tables, *summaries, *further_tables(outcome)]


#: A column: its header, the metric it shows, and how a score becomes a cell.
_Column = tuple[str, str, Callable[[Score], Cell]]


def label_table(outcome: Outcome) -> Table:
    """Return micro and macro F1 with Δ% and signs; a group of rows per content classifier."""
    columns: list[_Column] = []
    for metric, test in zip(F1_METRICS, ("s-test", "S-test"), strict=True):
        columns.append((HEADS[metric], metric, _value_cell))
        columns.append((f"{metric.partition('_')[0]} Δ%", metric, _change_cell))
        columns.append((test, metric, _sign_cell))
    classifiers = "; ".join(f"{name}: {what}" for name, what in outcome.classifiers.items())
    notes = [LEGEND, *_notes(outcome), *([f"{classifiers}."] if classifiers else [])]
    return _score_table(outcome, columns, "label_based", "Label-based measures", notes)


def example_table(outcome: Outcome) -> Table:
    """Return Hamming loss, subset loss and one-error, each marked as better or worse."""
    columns: list[_Column] = []
    for metric in LOSSES:
        columns.append((HEADS[metric], metric, _value_cell))
        columns.append((f"{HEADS[metric].partition(' ')[0]} mark", metric, _mark_cell))
    legend = "• better than the content classifier alone or equal to it, ◦ worse."
    notes = [legend, *_notes(outcome), *([one_error_note()] if outcome.paper else [])]
    title = "Example-based and ranking measures"
    return _score_table(outcome, columns, "example_based", title, notes)


def further_tables(outcome: Outcome) -> Iterator[Table]:
    """Yield a table of the experiment's metrics that are not in the paper, if any."""
    metrics = [metric for metric in outcome.metrics if metric not in METRICS]
    if metrics:
        columns: list[_Column] = [(metric, metric, _value_cell) for metric in metrics]
        yield _score_table(outcome, columns, "further", "Further measures")


def _score_table(
    outcome: Outcome, columns: Sequence[_Column], key: str, title: str, notes: Sequence[str] = ()
) -> Table:
    """Return a row per system, grouped by content classifier."""
    groups = [
        [
            [Cell(scores[METRICS[0]].system), *(cell(scores[m]) for _, m, cell in columns)]
            for scores in group
        ]
        for group in outcome.groups()
    ]
    header = ["Model", *(head for head, _, _ in columns)]
    return Table(header, groups, key, title, f"{title} for {outcome.title}", tuple(notes))


def _value_cell(score: Score) -> Cell:
    """Return a score, the paper's and the difference beside it."""
    text = format_score(score.value, _DECIMALS)
    if score.paper is None:
        return Cell(text)
    paper = format_score(score.paper.value, _DECIMALS)
    return Cell(text, beside=_beside(paper, score.difference, _DECIMALS))


def _change_cell(score: Score) -> Cell:
    text, tone = signed_text(score.change), _tone(score.sign)
    if score.paper is None or not score.addition:
        return Cell(text, tone=tone)
    paper = signed_text(score.paper.change)
    return Cell(text, tone=tone, beside=_beside(paper, score.change - score.paper.change, 2))


def _sign_cell(score: Score) -> Cell:
    beside = (score.paper.sign,) if score.paper and score.paper.sign else ()
    return Cell(score.sign or "–", score.note, _tone(score.sign), beside=beside)


def _mark_cell(score: Score) -> Cell:
    beside = (score.paper.mark,) if score.paper and score.paper.mark else ()
    tone: Tone = "better" if score.lead > 0 else "worse" if score.lead < 0 else ""
    return Cell(score.mark, tone=tone, beside=beside)


def _beside(paper: str, difference: float, decimals: int) -> tuple[str, ...]:
    """Return the paper's figure, and the difference where there is one."""
    return (paper,) if math.isnan(difference) else (paper, signed_text(difference, decimals))


def _tone(sign: str) -> Tone:
    if sign in {"≪", "<"}:
        return "better"
    return "worse" if sign in {"≫", ">"} else ""


def _notes(outcome: Outcome) -> Iterator[str]:
    """Yield notes on the paper's figures, on seeds and on missing runs."""
    if outcome.paper:
        yield "With each number: the paper's, then ours less the paper's."
        if outcome.corpus != outcome.paper:
            title = PAPER_TITLES[outcome.paper]
            yield f"The paper's figures are those for {title}, not for {outcome.corpus}."
    if len(outcome.seeds) > 1:
        seeds = ", ".join(map(str, outcome.seeds))
        yield (
            f"Scores are means over seeds {seeds}; a sign is the one that the tests of all seeds "
            "support."
        )
    if outcome.missing:
        yield f"Missing, not run yet: {', '.join(outcome.missing)}."


def f1_summary(outcomes: Sequence[Outcome]) -> Table:
    """Count how often an addition is better and worse, and significantly so, by F1."""
    title = "Better and worse by F1"
    caption = (
        "Number of times that a content classifier with an addition is better/significantly "
        "better/worse/significantly worse than alone, with respect to micro and macro F₁"
    )
    header, rows = _count_rows(outcomes, F1_METRICS, lambda counts: "/".join(map(str, counts)))
    return Table(header, [rows], "summary_f1", title, caption, tuple(_count_notes(outcomes)))


def loss_summary(outcomes: Sequence[Outcome]) -> Table:
    """Count how often an addition is better and worse by the example-based and ranking measures."""
    title = "Better and worse by the other measures"
    caption = (
        "Number of times that a content classifier with an addition is better/worse than "
        "alone, with respect to example-based and ranking measures"
    )
    notes = ["An equal score is neither better nor worse, as in the paper."]
    notes += _count_notes(outcomes)
    if any(outcome.paper for outcome in outcomes):
        notes.append(
            "The paper's one-error is counted as complemented (the example-based table has the "
            "reason): better in print is worse here."
        )
    header, rows = _count_rows(outcomes, LOSSES, lambda counts: f"{counts.better}/{counts.worse}")
    return Table(header, [rows], "summary_losses", title, caption, tuple(notes))


def _count_rows(
    outcomes: Sequence[Outcome], metrics: Sequence[str], text: Callable[[Counts], str]
) -> tuple[list[str], list[list[Cell]]]:
    """Return the header, and a row per addition; beside a count, the paper's of the same cells."""
    scores = [s for one in outcomes for s in one.scores if s.addition and not s.rule]
    rows = []
    for addition in dict.fromkeys(score.addition for score in scores):
        cells = [Cell(addition)]
        for metric in metrics:
            chosen = [s for s in scores if (s.addition, s.metric) == (addition, metric)]
            compared = [score for score in chosen if not math.isnan(score.lead)]
            paper = [score.paper for score in compared if score.paper]
            beside = (text(count_leads(paper)),) if paper else ()
            cells.append(Cell(text(count_leads(compared)), beside=beside))
        rows.append(cells)
    return ["Addition", *(HEADS[metric] for metric in metrics)], rows


def _count_notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"Counted over the content classifiers of: {', '.join(o.title for o in outcomes)}."
    if any(outcome.paper for outcome in outcomes):
        yield "With each count: the same count of the paper's figures for the same systems."
    missing = sum(len(outcome.missing) for outcome in outcomes)
    if missing:
        yield f"Runs that are missing and not counted: {missing}."


def broken_one_errors() -> tuple[int, int]:
    """Count baselines whose printed "one error" exceeds their subset loss; and all of them."""
    baselines = [
        (1 - score.value, paper_scores(corpus)[score.system, "subset_loss"].value)
        for corpus in PAPER_TITLES
        for score in paper_scores(corpus).values()
        if score.metric == "one_error" and not score.addition
    ]
    return sum(printed > subset for printed, subset in baselines), len(baselines)


def one_error_note() -> str:
    """Return the reason why the paper's "one error" is complemented."""
    broken, n = broken_one_errors()
    return (
        "The paper's column “one error” cannot be one-error: a document whose label set is decided "
        "exactly has one of its labels ranked first, so one-error is at most the subset loss where "
        f"every document has a label, and {broken} of the paper's {n} baselines break that. It "
        "fits 1 − one-error. The paper's figures are therefore shown as 1 less what is printed, "
        "and its marks and counts of better and worse are reversed with them."
    )
