"""Result folders → docs/findings/reproduction.md: the paper's numbers, ours, and what disagrees.

``python -m docs.make.reproduction RESULTS…`` in the root of the repository, where RESULTS are the
folders of the experiments ``reuters21578``, ``ohsumed23`` and ``rcv1`` or
``rcv1-sample.toml``, finished or not, in the order of the page. Everything counted is written here;
everything explained comes from ``docs/findings/reproduction-notes.toml``, and is set as a
quotation, so that the two never mix.

``paper_counts.csv`` holds the paper's two tables of summary counts as printed.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from docs.make.pages import write_page

from labelkin.research.experiments.plan import F1_METRICS, LOSSES
from labelkin.research.reports.results import (
    PAPER_TITLES,
    WORDS,
    Counts,
    Outcome,
    Score,
    count_leads,
    paper_scores,
    read_outcomes,
    without_weka,
)
from labelkin.research.reports.tables import (
    HEADS,
    Cell,
    Table,
    format_score,
    markdown_facts,
    markdown_sections,
    markdown_text,
    paper_tables,
    signed_text,
    summary_table,
)

HERE = Path(__file__).parent
FINDINGS = HERE.parent / "findings"
PAGE, NOTES = FINDINGS / "reproduction.md", FINDINGS / "reproduction-notes.toml"

_OPENING = """\
Written by `python -m docs.make.reproduction RESULTS…` from stored runs; nothing in it is typed by
hand but the quotations, which come from a file of notes. A sign agrees when an addition raises (or
lowers) micro or macro F1 here and in the paper alike: three content classifiers, two variants and
two metrics make twelve cells per label classifier."""
_SOLVERS = (
    "F1, Δ% and sign with the label evidence of Bayesian logistic regression: in the paper; with "
    'the solver it used, Weka\'s, which stops early (LogisticLabels(solver="weka")); and solved '
    "exactly, the default here."
)


@dataclass(frozen=True)
class Notes:
    """What people have to say.

    Attributes
    ----------
    texts
        A text per corpus, Markdown.
    causes
        Why a cell disagrees, by corpus and by system and metric (``"kNN+SMO+M1 macro_f1"``) or by
        system alone.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    causes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def cause(self, score: Score) -> str:
        """Return the noted cause of a disagreement with the paper, or an empty text."""
        causes = self.causes.get(score.corpus, {})
        return causes.get(f"{score.system} {score.metric}", causes.get(score.system, ""))


def write_reproduction(
    folders: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str] = PAGE,
    notes: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the page on the reproduction from one or several result folders.

    Parameters
    ----------
    folders
        Result folders, finished or not, in the order of the page.
    out
        The file.
    notes
        A TOML file of explanations: ``[reuters21578]`` with ``text = "…"``, and
        ``[reuters21578.causes]`` with ``"kNN+SMO+M1 macro_f1" = "…"``.
    """
    given = Notes() if notes is None else read_notes(notes)
    outcomes = [outcome for folder in folders for outcome in read_outcomes(folder)]
    return write_page(Path(out), reproduction_page(outcomes, given))


def read_notes(path: str | os.PathLike[str]) -> Notes:
    """Read a file of explanations; a key that means nothing is an error."""
    texts, causes = {}, {}
    for corpus, table in tomllib.loads(Path(path).read_text(encoding="utf-8")).items():
        unknown = set(table) - {"text", "causes"}
        if unknown:
            raise ValueError(f"{path}, [{corpus}]: the keys are text and causes, got {unknown}.")
        texts[corpus], causes[corpus] = table.get("text", ""), table.get("causes", {})
    return Notes(texts, causes)


def reproduction_page(outcomes: Sequence[Outcome], notes: Notes | None = None) -> str:
    """Return the page as Markdown: a section per corpus, then the summaries over all."""
    parts = ["# Reproduction", _OPENING]
    said: set[str] = set()
    for outcome in outcomes:
        parts += _corpus_parts(outcome, notes or Notes(), said)
    compared: dict[str, Outcome] = {}  # one outcome per corpus of the paper
    for outcome in outcomes:
        if outcome.paper:
            compared.setdefault(outcome.paper, _leave_weka_out(outcome))
    if len(compared) > 1:
        together = list(compared.values())
        parts += ["## The corpora of the paper together", _verdicts(together)]
        losses = summary_table(together, LOSSES)
        if set(compared) == set(PAPER_TITLES):
            losses = replace(losses, notes=(*losses.notes, *_miscounts()))
        parts += markdown_sections([summary_table(together, F1_METRICS), losses], 3, said)
    return "\n\n".join(parts) + "\n"


def _corpus_parts(outcome: Outcome, notes: Notes, said: set[str]) -> Iterator[str]:
    yield f"## {markdown_text(outcome.title)}"
    text = notes.texts.get(outcome.corpus)
    if text:
        yield quotation(text)
    yield markdown_facts(outcome)
    yield from markdown_sections(paper_tables(_leave_weka_out(outcome)), 3, said)
    if outcome.paper:
        solvers = solver_table(outcome)
        if solvers:
            yield from markdown_sections([solvers], 3, said)
        yield "### Against the paper"
        yield _compare_baselines(outcome)
        yield _verdicts([outcome])
        yield from _disagreements(compare_signs(_leave_weka_out(outcome).scores), notes)


def _compare_baselines(outcome: Outcome) -> str:
    texts = []
    for metric in F1_METRICS:
        alone = [s for s in outcome.scores if s.metric == metric and not s.addition and s.paper]
        parts = [f"{markdown_text(s.system)} {signed_text(s.difference, 4)}" for s in alone]
        texts.append(f"{WORDS[metric]} {', '.join(parts)}")
    return f"Content classifiers alone, less the paper's: {'; '.join(texts)}."


def _verdicts(outcomes: Sequence[Outcome]) -> str:
    scores = [score for outcome in outcomes for score in outcome.scores]
    return "\n".join(f"- {markdown_text(str(one))}" for one in compare_signs(scores))


def _disagreements(agreements: Sequence[Agreement], notes: Notes) -> Iterator[str]:
    for score in (score for agreement in agreements for score in agreement.disagreeing):
        cause = notes.cause(score)
        why = " No cause noted."
        if cause:
            why = "\n\n" + "\n".join(f"  {line}" for line in quotation(cause).splitlines())
        paper = score.paper.change if score.paper else math.nan
        yield (
            f"- {markdown_text(score.system)}, {WORDS[score.metric]}: "
            f"{signed_text(score.change)} % here, {signed_text(paper)} % in the paper.{why}"
        )


def quotation(text: str) -> str:
    """Return text as a quotation in Markdown.

    Examples
    --------
    >>> print(quotation("tea" + chr(10) * 2 + "milk"))
    > tea
    >
    > milk
    """
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


# Weka's solver beside the exact one


def solver_table(outcome: Outcome) -> Table | None:
    """Return Δ% with Weka's solver beside the exact one and the paper; ``None`` without runs."""
    scores = {(s.content, s.addition, s.metric): s for s in outcome.scores if not s.rule}
    weka = [key for key in dict.fromkeys((c, a) for c, a, _ in scores) if _is_weka(key[1])]
    rows = []
    for content, addition in weka:
        exact = without_weka(addition)
        cells = [Cell(f"{content}+{exact}")]
        for metric in F1_METRICS:
            pair = [scores.get((content, name, metric)) for name in (addition, exact)]
            figure = next((s.paper for s in pair if s and s.paper), None)
            for score in (figure, *pair):
                value = format_score(score.value if score else math.nan, 5)
                change = signed_text(score.change if score else math.nan)
                sign = score.sign if score else ""
                cells.append(Cell(f"{value} {change} {sign}".rstrip()))
        rows.append(cells)
    heads = [f"{WORDS[m]}, {who}" for m in F1_METRICS for who in ("paper", "Weka", "exact")]
    if not rows:
        return None
    title = "Weka's solver and the exact one"
    return Table(["Model", *heads], [rows], "solvers", title, title, notes=(_SOLVERS,))


def _leave_weka_out(outcome: Outcome) -> Outcome:
    """Leave out what only :func:`solver_table` shows."""
    described = outcome.classifiers.items()
    return replace(
        outcome,
        systems=[system for system in outcome.systems if not _is_weka(system.run.addition)],
        planned=[plan for plan in outcome.planned if not _is_weka(plan.addition)],
        classifiers={name: what for name, what in described if not _is_weka(name)},
    )


def _is_weka(name: str) -> bool:
    return without_weka(name) != name


# Where an addition raises or lowers F1 as it does in the paper


@dataclass(frozen=True)
class Agreement:
    """How the signs of Δ compare with the paper's, for one label classifier.

    A cell is a micro or macro F1 of a system with an addition: three content classifiers, two
    variants and two metrics make twelve per label classifier. It agrees when Δ has the same sign
    as the paper's; a Δ of 0 agrees with 0 only.

    Attributes
    ----------
    labels
        The label classifier, ``"BLR"``.
    agreeing, disagreeing
        The cells by verdict.
    missing
        Cells of which a run is not there.
    """

    labels: str
    agreeing: tuple[Score, ...]
    disagreeing: tuple[Score, ...]
    missing: tuple[Score, ...]

    def __str__(self) -> str:
        """Return the verdict in a sentence."""
        compared = len(self.agreeing) + len(self.disagreeing)
        missing = f" ({len(self.missing)} more are missing)" if self.missing else ""
        return (
            f"{self.labels}: the sign of Δ agrees with the paper in {len(self.agreeing)} of "
            f"{compared} cells{missing}."
        )


def compare_signs(scores: Iterable[Score]) -> list[Agreement]:
    """Compare the sign of Δ with the paper's, for every label classifier of the paper."""
    cells: dict[str, list[Score]] = {}
    for score in scores:
        if score.addition and score.paper and score.metric in F1_METRICS:
            cells.setdefault(score.addition.partition("+")[0], []).append(score)
    return [_agreement(labels, chosen) for labels, chosen in cells.items()]


def _agreement(labels: str, scores: list[Score]) -> Agreement:
    verdicts: dict[bool | None, list[Score]] = {True: [], False: [], None: []}
    for score in scores:
        verdicts[_agrees(score)].append(score)
    return Agreement(labels, *(tuple(verdicts[verdict]) for verdict in (True, False, None)))


def _agrees(score: Score) -> bool | None:
    paper = score.paper.lead if score.paper else math.nan
    if math.isnan(score.lead) or math.isnan(paper):
        return None
    return (score.lead > 0) == (paper > 0) and (score.lead < 0) == (paper < 0)


# Where the paper's printed counts disagree with its own figures


@cache
def printed_counts() -> Mapping[tuple[str, str], Counts]:
    """Return the paper's summary counts as printed, by (addition, metric).

    Losses have no counts of what is significant: 0. "One error" is better where it is lower, as the
    paper reads it.
    """
    rows = csv.DictReader((HERE / "paper_counts.csv").read_text(encoding="utf-8").splitlines())
    return {
        (row["addition"], row["metric"]): Counts(*(int(row[name] or 0) for name in Counts._fields))
        for row in rows
    }


def paper_counts(addition: str, metric: str) -> Counts:
    """Recount the paper's three corpora from its figures; one-error as complemented."""
    return count_leads(
        score
        for corpus in PAPER_TITLES
        for score in paper_scores(corpus).values()
        if (score.addition, score.metric) == (addition, metric)
    )


def miscounted() -> Iterator[tuple[str, str, Counts, Counts]]:
    """Yield summary counts that the paper's own figures contradict: printed, and recounted.

    Examples
    --------
    >>> [(addition, metric) for addition, metric, *_ in miscounted()]
    [('BLR+M2', 'hamming_loss'), ('SMO+M2', 'hamming_loss')]
    """
    for (addition, metric), printed in printed_counts().items():
        counted = paper_counts(addition, metric)
        if metric == "one_error":  # as the paper reads it
            counted = counted._replace(better=counted.worse, worse=counted.better)
        if counted != printed:
            yield addition, metric, printed, counted


def _miscounts() -> Iterator[str]:
    for addition, metric, printed, counted in miscounted():
        if metric in LOSSES:
            yield (
                f"The paper prints {printed.better}/{printed.worse} for {addition}, "
                f"{HEADS[metric]}; its own figures make it {counted.better}/{counted.worse}."
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page from the command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.make.reproduction", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="RESULTS")
    parser.add_argument(
        "--out", type=Path, default=PAGE, help="default: docs/findings/reproduction.md"
    )
    parser.add_argument("--notes", type=Path, default=NOTES, help="explanations (TOML)")
    options = parser.parse_args(arguments)
    print(write_reproduction(options.folders, options.out, options.notes))


if __name__ == "__main__":
    main()
