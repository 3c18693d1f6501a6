"""Reports: the paper's tables with its figures beside ours, and the files of a report.

Label-based: micro and macro F1 with Δ% and the signs of the s-test and S-test. Example-based and
ranking: Hamming loss, subset 0/1 loss and one-error with marks for better and worse. Two summaries
count how often an addition is better and worse. An experiment may have further metrics.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from labelkin.files import csv_text, write_atomic
from labelkin.pages import page_template
from labelkin.research.experiments.plan import F1_METRICS, LOSSES, METRICS
from labelkin.research.reports.plots import gain_pictures, reliability_pictures
from labelkin.research.reports.results import (
    PAPER_TITLES,
    WORDS,
    Counts,
    Outcome,
    Score,
    count_leads,
    paper_scores,
    read_outcomes,
)
from labelkin.research.reports.tables import (
    Cell,
    Table,
    Tone,
    format_score,
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
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
_LATEX_HEAD = r"% Tables for \input{tables} in a document in UTF-8; they need no package."


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


def report_results(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> tuple[Path, ...]:
    """Write the report on a result folder, finished or not; return the files.

    ``tables.md``, ``tables.tex`` and ``tables.html`` contain the paper's tables with its figures
    beside ours, ``scores.csv`` every score. Nothing is trained, and files are written atomically.

    Parameters
    ----------
    folder
        The result folder of :func:`labelkin.research.experiments.run_experiment`.
    out : default None
        The folder for the files, created if missing; ``None``: ``folder``.

    Returns
    -------
    The paths of the files.
    """
    outcomes = read_outcomes(folder)
    shown = [s for outcome in outcomes for s in outcome.scores if s.metric in outcome.metrics]
    documents = {
        "tables.md": markdown_document(outcomes),
        "tables.tex": latex_document(outcomes),
        "tables.html": html_page(outcomes),
        "scores.csv": scores_csv(shown),
    }
    place = Path(folder if out is None else out)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        write_atomic(place / name, text)
    return tuple(place / name for name in documents)


def markdown_document(outcomes: Sequence[Outcome]) -> str:
    """Return all tables of all corpora as Markdown, with the settings and versions."""
    parts = []
    for outcome in outcomes:
        parts.append(f"# {markdown_text(outcome.title)}")
        parts += markdown_sections(paper_tables(outcome), 2, set())
        parts += ["## How it was made", markdown_facts(outcome)]
    return "\n\n".join(parts) + "\n"


def markdown_sections(tables: Iterable[Table], level: int, written: set[str]) -> Iterator[str]:
    """Yield tables, each under its title, with its notes below it.

    Notes in ``written`` are left out; new ones are added to it.
    """
    for table in tables:
        yield f"{'#' * level} {markdown_text(table.title)}"
        if not table.caption.startswith(table.title):
            yield markdown_text(f"{table.caption}.")
        yield markdown_table(table)
        yield from (markdown_text(note) for note in table.notes if note not in written)
        written.update(table.notes)


def markdown_facts(outcome: Outcome) -> str:
    """Return the settings and versions as a list."""
    return "\n".join(
        f"- {markdown_text(name)}: {markdown_text(fact)}" for name, fact in outcome.facts.items()
    )


def latex_document(outcomes: Sequence[Outcome]) -> str:
    r"""Return all tables of all corpora as LaTeX for ``\input``."""
    parts = [_LATEX_HEAD]
    for outcome in outcomes:
        parts.append(f"% {latex_text(outcome.title)}")
        parts += [latex_table(table, outcome.corpus) for table in paper_tables(outcome)]
    return "\n\n".join(parts) + "\n"


def scores_csv(scores: Iterable[Score]) -> str:
    """Return the scores of the runs, a line each, with the paper's figure and the difference.

    Values are written in full, so that reading them back gives the same numbers. One-error is
    compared with 1 less the printed figure, as in the tables.
    """
    rows = [["corpus", "system", "metric", "value", "paper", "difference"]]
    for score in scores:
        if not math.isnan(score.value):
            paper = [repr(score.paper.value), repr(score.difference)] if score.paper else ["", ""]
            value = repr(float(score.value))
            rows.append([score.corpus, score.system, score.metric, value, *paper])
    return csv_text(rows)


def html_page(outcomes: Sequence[Outcome], *, introduction: str = "") -> str:
    """Return the page; all text in it is escaped, and the same outcomes give the same page.

    Without matplotlib the page has its tables and a note on the missing plots.

    Parameters
    ----------
    outcomes
        The outcomes on all corpora.
    introduction : str, default ""
        A paragraph on the corpus.
    """
    in_paper = any(outcome.paper for outcome in outcomes)
    can_draw = find_spec("matplotlib") is not None
    sections = [
        {
            "outcome": outcome,
            "tables": paper_tables(outcome),
            "gains": gain_pictures(outcome, addition) if can_draw and addition else [],
            "reliability": reliability_pictures(outcome, addition) if can_draw and addition else [],
        }
        for outcome in outcomes
        for addition in [outcome.addition]
    ]
    return page_template("page.html").render(
        title="The paper’s tables, measured again" if in_paper else "Effect of label evidence",
        names=", ".join(outcome.corpus for outcome in outcomes),
        introduction=introduction,
        sections=sections,
        has_plots=can_draw,
    )
