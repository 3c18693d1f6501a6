"""Result folders → docs/findings/beyond.md, the page on what goes beyond the paper.

``python -m docs.make.beyond RESULTS…`` in the root of the repository, where RESULTS are the folders
of finished runs of the experiments ``beyond-…``, the paper's corpora first. Every number on the
page comes from stored runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from docs.make.beyond_tables import (
    TUNED,
    calibration_table,
    control_table,
    corpus_table,
    cost_table,
    gain_table,
    interval_table,
    mean_table,
    score_table,
    seed_table,
    system_means,
    threshold_cell_table,
    threshold_table,
)
from docs.make.cells import LearnedCell, count_gains, learned_gains, read_cells
from docs.make.pages import write_from_folders, write_page

from labelkin.research.experiments.plan import METRICS
from labelkin.research.reports.results import WORDS
from labelkin.research.reports.tables import (
    format_score,
    markdown_table,
    markdown_text,
    signed_text,
)

PAGE = Path(__file__).parent.parent / "findings" / "beyond.md"

_OPENING = """\
Written by `python -m docs.make.beyond RESULTS…` from the stored runs of
the experiments `beyond-…`; no number is typed by hand."""
_FOUND = """\
[The learned rule](../explanation/learned-rule.md) is not in the paper. Its steps and its shrinkage
were chosen on folds of the training parts of development corpora, which include those below. An
earlier rule was tried on these test parts, so that these are not results on unseen corpora;
[the steps compared](learned-rule.md) has some. Within a run nothing is chosen on test documents: a
test shuffles their labels and finds the same bytes."""
_CORPORA = """\
Where test parts are small, a single document moves a loss by one over their number, and a label
with few documents moves macro F1: *Is it sure?* has the intervals."""
_CAVEATS = {
    "reuters21578": (
        "only documents that have one of the 90 topics, also for training; the paper trains on all "
        "9,603."
    ),
    "ohsumed23": (
        "1,002 binary words chosen by the makers of OHSUMED-F, where the paper has the words of "
        "the abstracts: every content classifier is weaker here."
    ),
    "rcv1-sample": (
        "a sample of 30,000 with a separate split, not LYRL2004; weights and no counts, so that "
        "naive Bayes sees which terms a document has."
    ),
    "delicious": "no SMO: one SVM per tag on 982 others takes hours.",
}
_TERMS = """\
A **cell** is one content classifier on one corpus. *Alone* is the content classifier, cut at ½;
*learned* is the default of `LabelDependenceClassifier`: the evidence weight and a correction are
learned from out-of-fold evidence of the training documents ({learned} in the experiments), also cut
at ½. Scores are means over the seeds of an experiment."""
_SCORES = """\
Scores as they are, at ½ and with one threshold for all labels ({tuned}), tuned for micro F1 on
out-of-fold log-odds."""
_GAINS = """\
A **gain** is the share of the remaining loss that is removed, in per cent: of 1 − F1, or of the
loss itself; above 0 is better, and a loss where none remained is −inf, left out of means."""
_INTERVALS = """\
Learned less alone, and the 95 % interval of a paired bootstrap (1,000 draws of test documents;
with several seeds, of the mean over them). • marks an interval wholly on the better side, ◦ one
wholly on the worse side. s and S are the paper's sign tests over decisions and over labels, on
decisions: ≪ and < mean that alone is worse (P < 0.01, P < 0.05), ≫ and > that it is better, ~ that
nothing was shown; with several seeds, what all of them support."""
_CONTROLS = """\
Gains without evidence of other labels: *offset* adds a number per label under the same prior as the
learned correction, *calibration* a slope and a shift per label; both are fitted on the same
out-of-fold evidence. Where they gain as much as the learned weight, the gain is a
repaired content classifier and not label evidence. M1 and M2 are the paper's variants with weight
1, M1cut is M1 with cut-offs learned out of fold."""
_THRESHOLDS = """\
Every rule is tuned on out-of-fold log-odds: on the content's for content alone, on the
posterior's for learned. Alone → learned with the same rule, means over the cells; the last column
compares the two in every cell and metric. One-error does not depend on the cut."""
_CALIBRATION = """\
ECE is the mean distance between promised and observed shares over all pairs of document and label
(15 bins), the Brier score the mean squared error of their probabilities; lower is better.
Pictures of reliability before and after an addition are in the `tables.html` that `labelkin
report` writes for every result folder."""
_COST = """\
The learned weight of the paper's label evidence (1 is the paper, 0 only the correction). Several
values are those of several seeds. CPU seconds of learning alone, on the machine of the runs; the
content's fit includes its out-of-fold evidence, *all rules* is the tuning of every threshold rule
on the learned posterior."""


def write_beyond(
    folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str] = PAGE
) -> Path:
    """Write the page on what goes beyond the paper.

    Parameters
    ----------
    folders
        Result folders of finished experiments with a learned evidence weight.
    out
        The file.
    """
    cells = read_cells(folders)
    if not cells:
        raise ValueError(
            "The page needs runs with a learned weight, and the folders have none: "
            'evidence_weights = [1.0, "auto"] in the experiment.'
        )
    return write_page(Path(out), beyond_page(cells))


def beyond_page(cells: Sequence[LearnedCell]) -> str:
    """Return the page as Markdown: how the rule was found, the paper's corpora, the others."""
    parts = ["# Beyond the paper", _OPENING, *_found_parts(cells)]
    said: set[str] = set()
    paper = [cell for cell in cells if cell.outcome.paper]
    others = [cell for cell in cells if not cell.outcome.paper]
    for title, group in (("The paper's corpora", paper), ("Other sets", others)):
        if group:
            parts += [f"## {title}", *_group_parts(group, said)]
    return "\n\n".join(parts) + "\n"


def _found_parts(cells: Sequence[LearnedCell]) -> Iterator[str]:
    yield "## How the rule was found, and on what"
    yield _FOUND
    yield markdown_table(corpus_table(cells))
    yield _CORPORA
    named = dict.fromkeys(cell.corpus for cell in cells)
    caveats = [f"- {markdown_text(name)}: {_CAVEATS[name]}" for name in named if name in _CAVEATS]
    if caveats:
        yield "\n".join(caveats)
    yield _TERMS.format(learned=markdown_text(cells[0].learned))


def _group_parts(cells: Sequence[LearnedCell], said: set[str]) -> Iterator[str]:
    """Yield all sections on some cells, without paragraphs that the page already has."""
    yield "### Scores"
    yield from _once(_SCORES.format(tuned=TUNED), said)
    yield _compare_tuning(cells)
    yield markdown_table(mean_table(cells))
    yield markdown_table(score_table(cells))
    yield "### Gains: alone → learned"
    yield from _once(_GAINS, said)
    yield _count_all(cells)
    yield markdown_table(gain_table(cells))
    yield "### Is it sure?"
    yield from _once(_INTERVALS, said)
    yield _count_intervals(cells)
    yield markdown_table(interval_table(cells))
    yield "### Controls, and the paper's own weight"
    yield from _once(_CONTROLS, said)
    yield markdown_table(control_table(cells))
    for cell in cells:
        if _seeds_differ(cell):
            yield f"### {markdown_text(cell.name)}, seed by seed"
            yield markdown_table(seed_table(cell))
    yield from _threshold_parts(cells, said)
    yield "### Calibration"
    yield from _once(_CALIBRATION, said)
    yield markdown_table(calibration_table(cells))
    yield "### Learned weights and their cost"
    yield from _once(_COST, said)
    yield markdown_table(cost_table(cells))


def _compare_tuning(cells: Sequence[LearnedCell]) -> str:
    """Compare the gain of a tuned threshold with that of the learned weight, by micro F1."""
    micro = {name: scores["micro_f1"] for name, scores in system_means(cells).items()}
    values = {name: format_score(value, 3) for name, value in micro.items()}
    content, learned = "content, ½", "learned, ½"
    text = f"Mean micro F1: content {values[content]}, learned {values[learned]}"
    tuned, both = f"content, {TUNED}", f"learned, {TUNED}"
    if tuned not in micro:
        return f"{text}."
    more = "more" if micro[tuned] > micro[learned] else "less"
    most = "the most" if micro[both] > max(micro[tuned], micro[learned]) else "no more"
    return (
        f"{text}, {TUNED} on content {values[tuned]}, both {values[both]}. By F1 alone the "
        f"threshold gains {more} than the learned weight; together they gain {most}."
    )


def _count_all(cells: Sequence[LearnedCell]) -> str:
    gains = learned_gains(cells)
    verdict = count_gains(gains)
    mean, worst = signed_text(verdict.mean, 1), signed_text(verdict.worst, 1)
    losses = [
        f"{markdown_text(cell.name)} {WORDS[metric]} ({signed_text(value, 1)} %)"
        for cell in cells
        for metric in METRICS
        for value in learned_gains([cell], [metric])
        if value < 0
    ]
    worse = f" Worse: {', '.join(losses)}." if losses else ""
    return (
        f"Better / equal / worse in {len(gains)} pairs of cell and metric: **{verdict}**; mean "
        f"gain {mean} %, worst {worst} %.{worse}"
    )


def _count_intervals(cells: Sequence[LearnedCell]) -> str:
    found = [(cell, m, cell.differences[m].verdict) for cell in cells for m in METRICS]
    sides = {side: sum(v == side for _, _, v in found) for side in ("better", "worse", "")}
    worse = [f"{markdown_text(c.name)} {WORDS[m]}" for c, m, v in found if v == "worse"]
    named = f" ({', '.join(worse)})" if worse else ""
    return (
        f"Of {len(found)} intervals {sides['better']} lie wholly on the better side, "
        f"{sides['worse']} wholly on the worse side{named}; 0 lies within the other {sides['']}."
    )


def _seeds_differ(cell: LearnedCell) -> bool:
    return any(
        len({system.scores[metric] for system in cell.systems[addition, ""]}) > 1
        for addition in ("", cell.learned)
        for metric in METRICS
    )


def _threshold_parts(cells: Sequence[LearnedCell], said: set[str]) -> Iterator[str]:
    if not all(cell.rules for cell in cells):
        return
    yield "### Thresholds: the same rule on content alone and on the learned posterior"
    yield from _once(_THRESHOLDS, said)
    yield markdown_table(threshold_table(cells))
    for cell in (cell for cell in cells if cell.outcome.paper):
        yield f"#### {markdown_text(cell.name)}"
        yield markdown_table(threshold_cell_table(cell))


def _once(text: str, said: set[str]) -> Iterator[str]:
    if text not in said:
        said.add(text)
        yield text


if __name__ == "__main__":
    write_from_folders(write_beyond, PAGE, __doc__)
