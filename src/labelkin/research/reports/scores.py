"""The record of scores, from which every table, sentence, plot and page is made.

A row is one number: corpus, system, metric and seed, the baseline's number and the sign of the test
against it, and the paper's figure, which is a row of the same kind.

The paper's figures: A. E. Romero and L. M. de Campos, *A probabilistic methodology for multilabel
classification*, section "Results". ``paper_figures.csv`` holds its six tables of scores as printed
(label-based, and example-based and ranking, for Reuters-21578, Ohsumed-23 and RCV1): per corpus,
system and metric the value, Δ% and the sign (``≪ < ~ > ≫`` of the s-test or S-test, ``• ◦`` for the
losses). What is printed as "one error" is given here as 1 − it:
:func:`labelkin.research.reports.paper.one_error_note` says why. All else is as printed, even where
the paper disagrees with itself: Δ% of Ohsumed-23 ``NB+SMO+M2`` macro F1 (+4.32; its scores make
+4.30) and of RCV1 ``SVM+SMO+M2`` micro F1 (−15.55; −15.66).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

#: The paper's metrics, in the order of its tables: two to be raised, three to be lowered.
F1_METRICS = ("micro_f1", "macro_f1")
LOSSES = ("hamming_loss", "subset_loss", "one_error")
METRICS = (*F1_METRICS, *LOSSES)
#: What sentences call them.
WORDS = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset 0/1 loss",
    "one_error": "one-error",
}

#: How the name of an addition ends whose evidence weight is learned.
LEARNED = " w=auto"
#: How the name of a label classifier ends that is fitted as Weka fits it.
_WEKA = re.compile(r"[ ._-]\(?weka\)?", re.IGNORECASE)

#: The corpora of the paper, as it writes them.
PAPER_TITLES = {"reuters21578": "Reuters-21578", "ohsumed23": "Ohsumed-23", "rcv1": "RCV1"}
_BEGINNINGS = {"reuters21578": "reuters21578", "ohsumed": "ohsumed23", "rcv1": "rcv1"}

_Mark = Literal["", "•", "◦"]

_ROUNDING = 1e-12  # what a mean over seeds can make of equal scores


@dataclass(frozen=True)
class Score:
    """One number of one system on one corpus.

    Attributes
    ----------
    corpus
        Name of the corpus.
    content, addition
        The content classifier, and what was added to it: ``"NB"``, ``"BLR+M2"`` or nothing.
    metric, value
        What was measured, ``"micro_f1"``, and the score; NaN where no run is there.
    baseline
        The score of the content classifier alone; NaN for that classifier itself.
    sign
        Of the sign test against the baseline, ``≪ < ~ > ≫``; empty where there is none.
    seed
        The seed it was trained by; ``None`` for the mean over the seeds.
    rule
        The name of the threshold rule that decided; empty where one number was the cut.
    paper
        The paper's figure, ``None`` where it has none.
    printed_change
        Δ% as it is printed, for the paper's own figures; NaN: it follows from the scores.
    note
        Details of the sign tests: their counts and P values.

    Examples
    --------
    >>> score = Score("tea", "NB", "BLR+M2", "micro_f1", 0.66, baseline=0.6, sign="≪")
    >>> score.system, round(score.change, 9), score.mark
    ('NB+BLR+M2', 10.0, '•')
    """

    corpus: str
    content: str
    addition: str
    metric: str
    value: float
    baseline: float = math.nan
    sign: str = ""
    seed: int | None = None
    rule: str = ""
    paper: Score | None = None
    printed_change: float = math.nan
    note: str = ""

    @property
    def system(self) -> str:
        """The name as the paper writes it, ``"NB+BLR+M2"``."""
        return system_name(self.content, self.addition)

    @property
    def change(self) -> float:
        """Δ%: the change against the baseline in per cent of it; NaN where there is none."""
        if not math.isnan(self.printed_change):
            return self.printed_change
        return 100 * (self.value - self.baseline) / self.baseline if self.baseline else math.nan

    @property
    def lead(self) -> float:
        """By how much it is better than the baseline; below 0: worse; NaN: not compared."""
        from labelkin.evaluation.metrics.inputs import (
            LOWER_IS_BETTER,  # loads NumPy, which help does not need
        )

        lead = self.value - self.baseline
        if abs(lead) <= _ROUNDING:
            return 0.0
        return -lead if self.metric in LOWER_IS_BETTER else lead

    @property
    def mark(self) -> _Mark:
        """``•`` for better than the baseline or equal to it, ``◦`` for worse; as in the paper."""
        if math.isnan(self.lead):
            return ""
        return "•" if self.lead >= 0 else "◦"

    @property
    def difference(self) -> float:
        """The score less the paper's; NaN where either is missing."""
        return math.nan if self.paper is None else self.value - self.paper.value


def system_name(content: str, addition: str) -> str:
    """Return the name as the paper writes it.

    Examples
    --------
    >>> system_name("NB", "BLR+M2"), system_name("NB", "")
    ('NB+BLR+M2', 'NB')
    """
    return f"{content}+{addition}" if addition else content


def mean_score(rows: Sequence[Score]) -> Score:
    """Return the mean over the seeds; the baseline's is over the seeds that have one."""
    tested = [row for row in rows if row.note]
    notes = [f"seed {row.seed}, {row.note}" if len(tested) > 1 else row.note for row in tested]
    return replace(
        rows[0],
        value=_mean([row.value for row in rows]),
        baseline=_mean([row.baseline for row in rows if not math.isnan(row.baseline)]),
        sign=weakest_sign([row.sign for row in rows if row.sign]),
        seed=None,
        note="; ".join(notes),
    )


def weakest_sign(signs: Sequence[str]) -> str:
    """Return the sign that holds for every seed: ``~`` where they point in two directions.

    Examples
    --------
    >>> weakest_sign(["≪", "<"]), weakest_sign(["≪", "≫"]), weakest_sign(["≫"]), weakest_sign([])
    ('<', '~', '≫', '')
    """
    kinds = set(signs)
    if not kinds:
        return ""
    for strong, weak in (("≪", "<"), ("≫", ">")):
        if kinds <= {strong, weak}:
            return weak if weak in kinds else strong
    return "~"


class Counts(NamedTuple):
    """How often something added is better and worse than the content classifier alone."""

    better: int
    significantly_better: int
    worse: int
    significantly_worse: int


def count_leads(scores: Iterable[Score]) -> Counts:
    """Count as the paper's summaries do: an equal score is neither better nor worse.

    Examples
    --------
    >>> up = Score("tea", "NB", "BLR+M2", "micro_f1", 0.7, 0.6, "≪")
    >>> same, down = replace(up, value=0.6, sign="~"), replace(up, value=0.5, sign="")
    >>> count_leads([up, same, down])
    Counts(better=1, significantly_better=1, worse=1, significantly_worse=0)
    """
    given = list(scores)
    return Counts(
        sum(s.lead > 0 for s in given),
        sum(s.sign in {"≪", "<"} for s in given),
        sum(s.lead < 0 for s in given),
        sum(s.sign in {"≫", ">"} for s in given),
    )


def paper_corpus(name: str) -> str | None:
    """Return the corpus of the paper that a name begins with, if any.

    Examples
    --------
    >>> paper_corpus("rcv1-sample"), paper_corpus("yeast")
    ('rcv1', None)
    """
    return next((corpus for start, corpus in _BEGINNINGS.items() if name.startswith(start)), None)


@cache
def paper_scores(corpus: str) -> Mapping[tuple[str, str], Score]:
    """Return the paper's scores on one of its corpora, by system and metric.

    Examples
    --------
    >>> score = paper_scores("reuters21578")["kNN+BLR+M2", "micro_f1"]
    >>> score.value, score.baseline, score.change, score.sign
    (0.78022, 0.78875, -1.08, '≫')
    >>> paper_scores("reuters21578")["SVM", "one_error"].value
    0.0573
    """
    if corpus not in PAPER_TITLES:
        raise ValueError(
            f"The paper's corpora are {', '.join(map(repr, PAPER_TITLES))}, got {corpus!r}. "
            "paper_corpus(name) returns the one that a corpus goes by the name of."
        )
    path = files("labelkin.research.reports") / "paper_figures.csv"
    text = path.read_text(encoding="utf-8")
    figures = [row for row in csv.DictReader(text.splitlines()) if row["corpus"] == corpus]
    rows = {(row["system"], row["metric"]): row for row in figures}
    values = {key: _complement(key[1], row["value"]) for key, row in rows.items()}
    scores = {}
    for (system, metric), row in rows.items():
        content, _, addition = system.partition("+")
        score = Score(corpus, content, addition, metric, values[system, metric])
        if addition:
            score = replace(score, baseline=values[content, metric])
        if addition and metric in F1_METRICS:
            score = replace(score, printed_change=float(row["change"]), sign=row["sign"])
        scores[system, metric] = score
    return scores


def paper_score(corpus: str, content: str, addition: str, metric: str) -> Score | None:
    """Return the paper's figure for one of our systems, if it has one."""
    there = paper_corpus(corpus)
    system = system_name(content, without_weka(addition))
    return paper_scores(there).get((system, metric)) if there else None


def without_weka(addition: str) -> str:
    """Return what the paper calls an addition that is fitted as Weka fits it; others as they are.

    Examples
    --------
    >>> without_weka("BLR (Weka)+M1"), without_weka("BLR-weka+M1"), without_weka("SMO+M1")
    ('BLR+M1', 'BLR+M1', 'SMO+M1')
    """
    return _WEKA.sub("", addition)


def _complement(metric: str, printed: str) -> float:
    """Read a figure; what is printed as one error becomes 1 − it, with the decimals printed."""
    return round(1 - float(printed), 5) if metric == "one_error" else float(printed)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
