"""Tables of reports: the paper's with its figures beside ours; Markdown, LaTeX, HTML and CSV.

Label-based: micro and macro F1 with Δ% and the signs of the s-test and S-test. Example-based and
ranking: Hamming loss, subset 0/1 loss and one-error with marks for better and worse. Two summaries
count how often an addition is better and worse. An experiment may have further metrics.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from labelkin.files import csv_text, write_atomic
from labelkin.pages import page_template
from labelkin.research.experiments.plan import F1_METRICS, LOSSES, METRICS
from labelkin.research.reports.plots import gain_pictures, reliability_pictures
from labelkin.research.reports.results import (
    PAPER_TITLES,
    WORDS,
    Outcome,
    Score,
    count_leads,
    read_outcomes,
)

Tone = Literal["", "better", "worse"]


class Cell(NamedTuple):
    """One cell.

    Attributes
    ----------
    text
        The content.
    tone
        Whether the proposal or the baseline is better.
    best
        Whether it is the best of its column.
    beside
        Further values beside the text: the paper's figure, and the difference from it.
    """

    text: str
    tone: Tone = ""
    best: bool = False
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Cells in groups of rows; the first column names the row, the others hold numbers and signs.

    Attributes
    ----------
    header
        The names of the columns.
    groups
        Rows that belong together.
    key
        A short name for anchors, ``"label_based"``.
    title, caption
        The subject of the table, in two or three words and in full.
    notes
        Explanations below the table.
    """

    header: Sequence[str]
    groups: Sequence[Sequence[Sequence[Cell]]]
    key: str = ""
    title: str = ""
    caption: str = ""
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Sequence[Cell]]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group]


def format_score(value: float, decimals: int = 4) -> str:
    """Write a score with its decimals; a score that does not exist is a dash.

    Examples
    --------
    >>> format_score(0.65), format_score(float("nan"))
    ('0.6500', '–')
    """
    return "–" if math.isnan(value) else f"{value:.{decimals}f}"


def signed_text(value: float, decimals: int = 2) -> str:
    """Write a change with its sign; what rounds to 0 has none.

    Examples
    --------
    >>> signed_text(6.358), signed_text(-1.08), signed_text(-0.001), signed_text(float("nan"))
    ('+6.36', '−1.08', '0.00', '–')
    """
    if math.isnan(value):
        return "–"
    size = f"{abs(value):.{decimals}f}"
    if float(size) == 0:
        return size
    return f"+{size}" if value > 0 else f"−{size}"


#: The tone of a cell by the sign of the test.
_TONES: dict[str, Tone] = {"≪": "better", "<": "better", ">": "worse", "≫": "worse"}
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


#: A column: its header, the metric it shows, and how a score becomes a cell.
_Column = tuple[str, str, Callable[[Score], Cell]]


def paper_tables(outcome: Outcome) -> list[Table]:
    """Return the tables of one corpus: label-based, example-based, summaries, further metrics."""
    tables = [label_table(outcome), example_table(outcome)]
    tables += [summary_table([outcome], metrics) for metrics in (F1_METRICS, LOSSES)]
    further = [metric for metric in outcome.metrics if metric not in METRICS]
    if further:
        columns: list[_Column] = [(metric, metric, _value_cell) for metric in further]
        tables.append(_score_table(outcome, columns, "further", "Further measures"))
    return tables


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
    notes = [legend, *_notes(outcome), *([ONE_ERROR_NOTE] if outcome.paper else [])]
    title = "Example-based and ranking measures"
    return _score_table(outcome, columns, "example_based", title, notes)


def _score_table(
    outcome: Outcome, columns: Sequence[_Column], key: str, title: str, notes: Sequence[str] = ()
) -> Table:
    """Return a row per system, grouped by content classifier."""
    systems: dict[str, dict[str, dict[str, Score]]] = {}
    for score in outcome.scores:
        if not score.rule:
            by_addition = systems.setdefault(score.content, {})
            by_addition.setdefault(score.addition, {})[score.metric] = score
    groups = [
        [
            [Cell(scores[METRICS[0]].system), *(cell(scores[m]) for _, m, cell in columns)]
            for scores in by_addition.values()
        ]
        for by_addition in systems.values()
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
    text, tone = signed_text(score.change), _TONES.get(score.sign, "")
    if score.paper is None or not score.addition:
        return Cell(text, tone=tone)
    paper = signed_text(score.paper.change)
    return Cell(text, tone=tone, beside=_beside(paper, score.change - score.paper.change, 2))


def _sign_cell(score: Score) -> Cell:
    beside = (score.paper.sign,) if score.paper and score.paper.sign else ()
    return Cell(score.sign or "–", _TONES.get(score.sign, ""), beside=beside)


def _mark_cell(score: Score) -> Cell:
    beside = (score.paper.mark,) if score.paper and score.paper.mark else ()
    tone: Tone = "better" if score.lead > 0 else "worse" if score.lead < 0 else ""
    return Cell(score.mark, tone=tone, beside=beside)


def _beside(paper: str, difference: float, decimals: int) -> tuple[str, ...]:
    """Return the paper's figure, and the difference where there is one."""
    return (paper,) if math.isnan(difference) else (paper, signed_text(difference, decimals))


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


def summary_table(outcomes: Sequence[Outcome], metrics: Sequence[str]) -> Table:
    """Count how often an addition is better and worse, by F1 also significantly so.

    ``metrics`` are ``F1_METRICS`` or ``LOSSES``. Beside a count is the paper's of the same cells.
    """
    by_f1 = metrics == F1_METRICS
    key, measures, kinds = "summary_losses", "example-based and ranking measures", "better/worse"
    notes = [f"Counted over the content classifiers of: {', '.join(o.title for o in outcomes)}."]
    if by_f1:
        key, measures = "summary_f1", "micro and macro F₁"
        kinds = "better/significantly better/worse/significantly worse"
    else:
        notes.append("An equal score is neither better nor worse, as in the paper.")
    if any(outcome.paper for outcome in outcomes):
        notes.append("With each count: the same count of the paper's figures for the same systems.")
        notes += [] if by_f1 else ["The paper's one-error is counted as complemented."]
    missing = sum(len(outcome.missing) for outcome in outcomes)
    if missing:
        notes.append(f"Runs that are missing and not counted: {missing}.")
    scores = [s for one in outcomes for s in one.scores if s.addition and not s.rule]
    rows = []
    for addition in dict.fromkeys(score.addition for score in scores):
        cells = [Cell(addition)]
        for metric in metrics:
            chosen = [s for s in scores if (s.addition, s.metric) == (addition, metric)]
            compared = [score for score in chosen if not math.isnan(score.lead)]
            paper = [score.paper for score in compared if score.paper]
            beside = (_count_text(paper, by_f1),) if paper else ()
            cells.append(Cell(_count_text(compared, by_f1), beside=beside))
        rows.append(cells)
    title = f"Better and worse by {'F1' if by_f1 else 'the other measures'}"
    caption = (
        f"Number of times that a content classifier with an addition is {kinds} than alone, with "
        f"respect to {measures}"
    )
    header = ["Addition", *(HEADS[metric] for metric in metrics)]
    return Table(header, [rows], key, title, caption, tuple(notes))


def _count_text(scores: Sequence[Score], by_f1: bool) -> str:
    counts = count_leads(scores)
    return "/".join(map(str, counts if by_f1 else (counts.better, counts.worse)))


ONE_ERROR_NOTE = (
    "The paper's column “one error” cannot be one-error: a document whose label set is decided "
    "exactly has one of its labels ranked first, so one-error is at most the subset loss where "
    "every document has a label, and 6 of the paper's 9 baselines break that. It fits "
    "1 − one-error. The paper's figures are therefore shown as 1 less what is printed, and its "
    "marks and counts of better and worse are reversed with them."
)


def markdown_table(table: Table) -> str:
    """Return a Markdown table; the best scores are bold, and nothing in a cell is markup.

    The values beside a cell's text follow it in brackets; an empty row stands between groups.
    """
    head = [markdown_text(name) for name in table.header]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for i, group in enumerate(table.groups):
        if i:
            lines.append([" "] * len(head))
        lines += [[_markdown_cell(cell) for cell in row] for row in group]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_text(text: str) -> str:
    """Return text for a line of Markdown in which nothing is markup."""
    for character in "\\`*_|[]":
        text = text.replace(character, "\\" + character)
    return " ".join(escape(text, quote=False).split())


def _markdown_cell(cell: Cell) -> str:
    text, beside = markdown_text(cell.text), ", ".join(map(markdown_text, cell.beside))
    text = f"**{text}**" if cell.best else text
    return f"{text} ({beside})" if beside else text


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"$\sim$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "[": "{[}",  # after a line's end it would begin an option
    "*": "{*}",
    '"': "''",  # the quotation mark that every font encoding has
    "≪": r"$\ll$",
    "≫": r"$\gg$",
    "•": r"$\bullet$",
    "◦": r"$\circ$",
    "−": "$-$",
    "–": "--",
    "Δ": r"$\Delta$",
    "μ": r"$\mu$",
    "₁": "$_1$",
    "“": "``",
    "”": "''",
    "≤": r"$\leq$",
}


def latex_text(text: str) -> str:
    r"""Return text as LaTeX prints it: one line, every special character written out.

    Examples
    --------
    >>> print(latex_text("a_b & 5 % ≪ F₁"))
    a\_b \& 5 \% $\ll$ F$_1$
    """
    return " ".join("".join(_LATEX.get(character, character) for character in text).split())


def latex_table(table: Table, corpus: str) -> str:
    """Return a ``table`` environment, which needs no package; a blank row stands between groups.

    The values beside a cell are set small below it. The notes follow the table. The corpus becomes
    part of the label: ``table:rcv1-label-based``.
    """
    blank = "& " * (len(table.header) - 1) + r"\\"
    groups = [
        [rf"{' & '.join(map(_latex_cell, row))} \\" for row in group] for group in table.groups
    ]
    body = [line for i, group in enumerate(groups) for line in ([blank] if i else []) + group]
    label = re.sub(r"[^A-Za-z0-9]+", "-", f"{corpus}-{table.key}")
    return "\n".join(
        [
            r"\begin{table}",
            r"\begin{center}",
            r"\begin{footnotesize}",
            rf"\begin{{tabular}}{{|c|{'c' * (len(table.header) - 1)}|}}\hline",
            rf"{' & '.join(map(latex_text, table.header))} \\\hline",
            *body,
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{latex_text(table.caption)}}}",
            rf"\label{{table:{label}}}",
            r"\end{footnotesize}",
            r"\end{center}",
            *(rf"{{\scriptsize {latex_text(note)}\par}}" for note in table.notes),
            r"\end{table}",
        ]
    )


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    beside = r"\,".join(map(latex_text, cell.beside))
    return rf"\shortstack{{{text}\\{{\tiny {beside}}}}}" if beside else text


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
