"""Result folders → the page on what goes beyond the paper; every number comes from stored runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from docs.make.beyond_tables import (
    HEADS,
    calibration_table,
    control_table,
    cost_table,
    gain_table,
    interval_table,
    revealed_table,
    seed_table,
    threshold_cell_table,
    threshold_table,
)
from docs.make.cells import BeyondCell, read_cells
from docs.make.gains import count_gains, gains_over

from labelkin.report.files import write_text
from labelkin.report.number_text import score_text, signed_text
from labelkin.report.paper import paper_corpus
from labelkin.report.scores import METRICS
from labelkin.report.tables import Table, markdown_table, markdown_text

_OPENING = """\
Written by `labelkin report DIR… --beyond docs/beyond.md` from the stored runs of
`experiments/beyond-*.toml`; no number is typed by hand.

A **cell** is one content classifier on one corpus. *Alone* is the content classifier, cut at 0.5;
*learnt* is the default of `LabelDependenceClassifier`: the evidence weight, a correction, and who
comes first are learnt from out-of-fold evidence of the training documents ({learnt} in the
experiments). A **gain** is the share of the remaining loss that is removed, in per cent: of 1 −
F1, or of the loss itself; above 0 is better, and a loss where none remained is −inf, left out of
means. Scores are means over the seeds of an experiment. Nothing is chosen on test documents: a
test shuffles their labels and finds the same bytes."""
_INTERVALS = """\
Learnt less alone, and the 95 % interval of a paired bootstrap (1,000 draws of test documents;
with several seeds, of the mean over them). • marks an interval wholly on the better side, ◦ one
wholly on the worse side. s and S are the paper's sign tests over decisions and over labels, on
decisions: ≪ and < say that alone is worse (P < 0.01, P < 0.05), ≫ and > that it is better, ~ that
nothing was shown; with several seeds, what all of them support."""
_CONTROLS = """\
What is gained without asking any other label: *offset* adds a number per label under the same
prior as the learnt correction, *calibration* a slope and a shift per label; both are fitted on
the same out-of-fold evidence. Where they gain as much as the learnt weight, the gain is a
repaired content classifier and not label evidence. M1 and M2 are the paper's variants with weight
1, M1cut is M1 with cut-offs learnt out of fold."""
_THRESHOLDS = """\
Every rule is tuned on out-of-fold log-odds: on the content's for content alone, on the
posterior's for learnt. Alone → learnt with the same rule, means over the cells; the last column
compares the two in every cell and metric. One-error does not depend on the cut."""
_REVEALED = """\
One, two, three true labels of a document are told, drawn at random, and the labels that remain are
scored: content alone → learnt, nothing told → learnt, told. F1 is over all documents that have so
many labels, one-error over those that have more. A label that is told counts with the paper's full
weight, one that is guessed with the learnt one. So what a told label repels is felt in full, and
what its company attracts only when the company is told, too: the order of the rest can improve
while F1 at ½ falls; where most documents have one label, the order can get worse, too."""
_CALIBRATION = """\
ECE is the mean distance between promised and observed shares over all pairs of document and label
(15 bins), the Brier score the mean squared error of their probabilities; lower is better.
Pictures of reliability before and after an addition are in the `tables.html` that `labelkin
report` writes for every result folder."""
_COST = """\
The learnt weight on the paper's label evidence (1 is the paper, 0 the content alone), and the
share of what is added that has a say in who comes first (0: the content decides). Several values
are those of several seeds. Seconds are of the processor, learning alone, on the machine that made
the runs; the content's fit includes its out-of-fold evidence, *all rules* is the tuning of every
threshold rule on the learnt posterior."""
#: What the learnt weight is to reach on Reuters with the SVM.
_TARGET = {"micro_f1": 0.893, "macro_f1": 0.010, "subset_loss": 0.014}


def write_beyond(folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Path:
    """Write the page on what goes beyond the paper.

    Parameters
    ----------
    folders
        Result folders of finished experiments with a learnt evidence weight.
    out
        The file, ``docs/beyond.md``.
    """
    cells = read_cells(folders)
    if not cells:
        raise ValueError(
            "The page needs runs with a learnt weight, and the folders have none: "
            'evidence_weights = [1.0, "auto"] in the experiment.'
        )
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, beyond_page(cells))
    return path


def beyond_page(cells: Sequence[BeyondCell]) -> str:
    """Return the page as Markdown: the paper's corpora first, then the others."""
    parts = ["# Beyond the paper", _OPENING.format(learnt=markdown_text(cells[0].learnt))]
    told: set[str] = set()
    paper = [cell for cell in cells if paper_corpus(cell.corpus)]
    others = [cell for cell in cells if not paper_corpus(cell.corpus)]
    for title, group in (("The paper's corpora", paper), ("Other sets", others)):
        if group:
            parts += [f"## {title}", *_group_parts(group, told)]
    return "\n\n".join(parts) + "\n"


def _group_parts(cells: Sequence[BeyondCell], told: set[str]) -> Iterator[str]:
    """Yield all sections on some cells; what was told of another group is not told again."""
    yield "### Alone → learnt"
    yield _tell_gains(cells)
    yield _markdown(gain_table(cells))
    yield "### Is it sure?"
    yield from _once(_INTERVALS, told)
    yield _tell_intervals(cells)
    yield _markdown(interval_table(cells))
    yield "### Controls, and the paper's own weight"
    yield from _once(_CONTROLS, told)
    yield _markdown(control_table(cells))
    yield from _reuters_parts(cells)
    yield from _threshold_parts(cells, told)
    yield from _revealed_parts(cells, told)
    yield "### Calibration"
    yield from _once(_CALIBRATION, told)
    yield _markdown(calibration_table(cells))
    yield "### Learnt weights and their cost"
    yield from _once(_COST, told)
    yield _markdown(cost_table(cells))


def _revealed_parts(cells: Sequence[BeyondCell], told: set[str]) -> Iterator[str]:
    """Yield the section on known labels; older runs have not measured what they are worth."""
    measured = [cell for cell in cells if all(cell.systems[cell.learnt].known_labels)]
    if measured:
        yield "### Known labels"
        yield from _once(_REVEALED, told)
        yield _tell_revealed(measured)
        yield _markdown(revealed_table(measured))


def _tell_revealed(cells: Sequence[BeyondCell]) -> str:
    """Count where telling labels helps."""
    changes = [
        (one["told"][metric] - one[other][metric]) * sign
        for other in ("alone", "guessed")
        for cell in cells
        for seed in cell.systems[cell.learnt].known_labels
        for one in seed
        for metric, sign in (("micro_f1", 1), ("one_error", -1))
    ]
    half = len(changes) // 2
    alone, guessed = (
        f"{sum(c > 0 for c in part)} / {sum(c == 0 for c in part)} / {sum(c < 0 for c in part)}"
        for part in (changes[:half], changes[half:])
    )
    return (
        f"Told against content alone, better / equal / worse over rows, seeds and both metrics: "
        f"**{alone}**; told against nothing told: **{guessed}**."
    )


def _tell_gains(cells: Sequence[BeyondCell]) -> str:
    gains = [value for cell in cells for value in gains_over([cell], cell.learnt)]
    verdict = count_gains(gains)
    mean, worst = signed_text(verdict.mean, 1), signed_text(verdict.worst, 1)
    return (
        f"Better / equal / worse in {len(gains)} pairs of cell and metric: **{verdict}**; mean "
        f"gain {mean} %, worst {worst} %.{_losses(cells)}"
    )


def _losses(cells: Sequence[BeyondCell]) -> str:
    worse = [
        f"{markdown_text(cell.name)} {HEADS[metric]} ({signed_text(value, 1)} %)"
        for cell in cells
        for metric in METRICS
        for value in gains_over([cell], cell.learnt, "", [metric])
        if value < 0
    ]
    return f" Worse: {', '.join(worse)}." if worse else ""


def _tell_intervals(cells: Sequence[BeyondCell]) -> str:
    found = [(cell, m, cell.differences[m].verdict) for cell in cells for m in METRICS]
    sides = {side: sum(v == side for _, _, v in found) for side in ("better", "worse", "")}
    worse = [f"{markdown_text(c.name)} {HEADS[m]}" for c, m, v in found if v == "worse"]
    named = f" ({', '.join(worse)})" if worse else ""
    return (
        f"Of {len(found)} intervals {sides['better']} lie wholly on the better side, "
        f"{sides['worse']} wholly on the worse side{named}; 0 lies within the other {sides['']}."
    )


def _reuters_parts(cells: Sequence[BeyondCell]) -> Iterator[str]:
    """Tell of the SVM on Reuters, for which there are targets."""
    for cell in cells:
        if cell.corpus == "reuters21578" and cell.content == "SVM":
            yield "### Reuters-21578, SVM, seed by seed"
            yield _tell_targets(cell)
            yield _markdown(seed_table(cell, METRICS))


def _tell_targets(cell: BeyondCell) -> str:
    alone, learnt = cell.systems[""], cell.systems[cell.learnt]
    reached = {
        "micro_f1": learnt["micro_f1"],
        "macro_f1": learnt["macro_f1"] - alone["macro_f1"],
        "subset_loss": alone["subset_loss"] - learnt["subset_loss"],
    }
    verdict = {m: "reached" if reached[m] >= _TARGET[m] else "not reached" for m in _TARGET}
    return (
        f"Targets for the mean: micro F1 at least {_TARGET['micro_f1']} "
        f"({score_text(reached['micro_f1'])}: {verdict['micro_f1']}), macro F1 at least "
        f"{_TARGET['macro_f1']} better ({signed_text(reached['macro_f1'], 4)}: "
        f"{verdict['macro_f1']}), subset 0/1 loss at least {_TARGET['subset_loss']} better "
        f"({signed_text(reached['subset_loss'], 4)}: {verdict['subset_loss']})."
    )


def _threshold_parts(cells: Sequence[BeyondCell], told: set[str]) -> Iterator[str]:
    if not all(cell.decided for cell in cells):
        return
    yield "### Thresholds: the same rule on content alone and on the learnt posterior"
    yield from _once(_THRESHOLDS, told)
    yield _markdown(threshold_table(cells))
    for cell in (cell for cell in cells if paper_corpus(cell.corpus)):
        yield f"#### {markdown_text(cell.name)}"
        yield _markdown(threshold_cell_table(cell))


def _once(text: str, told: set[str]) -> Iterator[str]:
    if text not in told:
        told.add(text)
        yield text


def _markdown(table: Table) -> str:
    return markdown_table(table, apart=True)
