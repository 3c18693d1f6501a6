"""Result folders → the page on the reproduction: the paper's numbers, ours, and what disagrees.

Everything counted is written here; everything explained comes from a file of notes, and is set as a
quotation, so that the two never mix.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from docs.make.agreement import Agreement, compare_signs

from labelkin.experiment.toml_table import parse_toml
from labelkin.report.documents import markdown_facts, markdown_sections, paper_tables
from labelkin.report.files import write_text
from labelkin.report.number_text import signed_text
from labelkin.report.outcome import Outcome, read_outcomes
from labelkin.report.scores import F1_METRICS, Score
from labelkin.report.summaries import f1_summary, loss_summary
from labelkin.report.tables import markdown_text

_WORDS = {"micro_f1": "micro F1", "macro_f1": "macro F1"}
_OPENING = (
    "This page is written by `labelkin report --reproduction` from stored runs; nothing in it is "
    "typed by hand but the quotations, which come from a file of notes. A sign agrees when an "
    "addition raises (or lowers) micro or macro F1 here and in the paper alike: three content "
    "classifiers, two variants and two metrics make twelve cells per label classifier."
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
        """Return why a cell disagrees with the paper; empty if nobody has said."""
        causes = self.causes.get(score.corpus, {})
        return causes.get(f"{score.system} {score.metric}", causes.get(score.system, ""))


def write_reproduction(
    folders: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    notes: str | os.PathLike[str] | None = None,
) -> Path:
    """Write the page on the reproduction from one or several result folders.

    Parameters
    ----------
    folders
        Result folders, finished or not, in the order of the page.
    out
        The file, ``docs/reproduction.md``.
    notes
        A TOML file of explanations: ``[reuters21578]`` with ``text = "…"``, and
        ``[reuters21578.causes]`` with ``"kNN+SMO+M1 macro_f1" = "…"``.
    """
    told = Notes() if notes is None else read_notes(notes)
    outcomes = [outcome for folder in folders for outcome in read_outcomes(folder)]
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, reproduction_page(outcomes, told))
    return path


def read_notes(path: str | os.PathLike[str]) -> Notes:
    """Read a file of explanations; a key that means nothing is an error."""
    path = Path(path)
    top = parse_toml(path.read_text(encoding="utf-8"), path.name)
    texts, causes = {}, {}
    for corpus in top.values:
        table = top.table(corpus)
        if table is not None:
            texts[corpus] = table.text("text", "")
            given = table.table("causes")
            causes[corpus] = {key: given.text(key) for key in given.values} if given else {}
            table.finish()
    return Notes(texts, causes)


def reproduction_page(outcomes: Sequence[Outcome], notes: Notes | None = None) -> str:
    """Return the page as Markdown: a section per corpus, then the summaries over all."""
    parts = ["# Reproduction", _OPENING]
    told: set[str] = set()
    for outcome in outcomes:
        parts += _corpus_parts(outcome, notes or Notes(), told)
    compared = _first_of_each(outcomes)
    if len(compared) > 1:
        parts += ["## The corpora of the paper together", *_verdicts(compared)]
        parts += markdown_sections([f1_summary(compared), loss_summary(compared)], 3, told)
    return "\n\n".join(parts) + "\n"


def _first_of_each(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return one outcome per corpus of the paper, so that none counts twice."""
    first: dict[str, Outcome] = {}
    for outcome in outcomes:
        if outcome.paper:
            first.setdefault(outcome.paper, outcome)
    return list(first.values())


def _corpus_parts(outcome: Outcome, notes: Notes, told: set[str]) -> Iterator[str]:
    yield f"## {markdown_text(outcome.title)}"
    text = notes.texts.get(outcome.corpus)
    if text:
        yield quotation(text)
    yield markdown_facts(outcome)
    yield from markdown_sections(paper_tables(outcome), 3, told)
    if outcome.paper:
        yield "### Against the paper"
        yield _tell_baselines(outcome)
        yield from _verdicts([outcome])
        yield from _disagreements(compare_signs(outcome.scores), notes)


def _tell_baselines(outcome: Outcome) -> str:
    told = []
    for metric in F1_METRICS:
        alone = [s for s in outcome.scores if s.metric == metric and not s.addition and s.paper]
        parts = [f"{markdown_text(s.system)} {signed_text(s.difference, 4)}" for s in alone]
        told.append(f"{_WORDS[metric]} {', '.join(parts)}")
    return f"Content classifiers alone, less the paper's: {'; '.join(told)}."


def _verdicts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    scores = [score for outcome in outcomes for score in outcome.scores]
    yield "\n".join(f"- {markdown_text(str(one))}" for one in compare_signs(scores))


def _disagreements(agreements: Sequence[Agreement], notes: Notes) -> Iterator[str]:
    for score in (score for agreement in agreements for score in agreement.disagreeing):
        cause = notes.cause(score)
        why = f"\n\n{_indented(quotation(cause))}" if cause else " No cause noted."
        yield f"- {_tell_disagreement(score)}{why}"


def _tell_disagreement(score: Score) -> str:
    paper = score.paper.change if score.paper else math.nan
    return (
        f"{markdown_text(score.system)}, {_WORDS[score.metric]}: "
        f"{signed_text(score.ours.change)} % here, {signed_text(paper)} % in the paper."
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


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
