"""The paper's own numbers.

Source: A. E. Romero and L. M. de Campos, *A probabilistic methodology for multilabel
classification*, section "Results". ``paper_figures.csv`` holds its six tables of scores as printed
(label-based, and example-based and ranking, for Reuters-21578, Ohsumed-23 and RCV1): per corpus,
system and metric the value, Δ% and the sign (``≪ < ~ > ≫`` of the s-test or S-test, ``• ◦`` for the
losses). ``paper_counts.csv`` holds its two tables of summary counts.

What is printed as "one error" is given here as 1 − it: :func:`one_error_note` says why. All else is
as printed, even where the paper disagrees with itself: Δ% of Ohsumed-23 ``NB+SMO+M2`` macro F1
(+4.32; its scores make +4.30) and of RCV1 ``SVM+SMO+M2`` micro F1 (−15.55; −15.66), and two of the
summary counts, which :func:`miscounted` lists.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from labelkin.report.scores import F1_METRICS, LOSSES, Counts, Standing, count_leads

#: The corpora of the paper, as it writes them.
TITLES = {"reuters21578": "Reuters-21578", "ohsumed23": "Ohsumed-23", "rcv1": "RCV1"}
_BEGINNINGS = {"reuters21578": "reuters21578", "ohsumed": "ohsumed23", "rcv1": "rcv1"}

#: By (system, metric): ``("NB+BLR+M2", "micro_f1")``.
Standings = Mapping[tuple[str, str], Standing]


def paper_corpus(name: str) -> str | None:
    """Return which corpus of the paper a corpus goes by the name of, if any.

    Examples
    --------
    >>> paper_corpus("rcv1-sample"), paper_corpus("yeast")
    ('rcv1', None)
    """
    for beginning, corpus in _BEGINNINGS.items():
        if name.startswith(beginning):
            return corpus
    return None


@cache
def paper_standings(corpus: str) -> Standings:
    """Return the paper's scores on one of its corpora, by system and metric.

    Examples
    --------
    >>> standing = paper_standings("reuters21578")["kNN+BLR+M2", "micro_f1"]
    >>> standing.value, standing.baseline, standing.change, standing.sign
    (0.78022, 0.78875, -1.08, '≫')
    >>> paper_standings("reuters21578")["SVM", "one_error"].value
    0.0573
    """
    if corpus not in TITLES:
        raise ValueError(
            f"The paper's corpora are {', '.join(map(repr, TITLES))}, got {corpus!r}. "
            "paper_corpus(name) tells which one a corpus goes by the name of."
        )
    rows = {
        (row["system"], row["metric"]): row
        for row in _read("paper_figures.csv")
        if row["corpus"] == corpus
    }
    return {key: _standing(rows, *key) for key in rows}


@cache
def printed_counts() -> Mapping[tuple[str, str], Counts]:
    """Return the paper's summary counts as printed, by (addition, metric).

    Losses have no counts of what is significant: 0. "One error" is better where it is lower, as the
    paper reads it.
    """
    return {
        (row["addition"], row["metric"]): Counts(*(int(row[name] or 0) for name in Counts._fields))
        for row in _read("paper_counts.csv")
    }


def paper_counts(addition: str, metric: str) -> Counts:
    """Count the paper's three corpora anew from its figures; one-error as complemented."""
    return count_leads(
        standing
        for corpus in TITLES
        for (system, name), standing in paper_standings(corpus).items()
        if name == metric and system.partition("+")[2] == addition
    )


def miscounted() -> Iterator[tuple[str, str, Counts, Counts]]:
    """Yield summary counts that the paper's own figures contradict: printed, and counted anew.

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


def broken_one_errors() -> tuple[int, int]:
    """Count baselines whose printed "one error" exceeds their subset loss; and all of them."""
    baselines = [
        (1 - standings[system, "one_error"].value, standings[system, "subset_loss"].value)
        for standings in map(paper_standings, TITLES)
        for system, metric in standings
        if metric == "one_error" and "+" not in system
    ]
    return sum(printed > subset for printed, subset in baselines), len(baselines)


def one_error_note() -> str:
    """Say why the paper's "one error" is shown complemented."""
    broken, n = broken_one_errors()
    return (
        "The paper's column “one error” cannot be one-error: a document whose label set is decided "
        "exactly has one of its labels ranked first, so one-error is at most the subset loss where "
        f"every document has a label, and {broken} of the paper's {n} baselines break that. It "
        "fits 1 − one-error. The paper's figures are therefore shown as 1 less what is printed, "
        "and its marks and counts of better and worse are turned round with them."
    )


def _standing(
    rows: Mapping[tuple[str, str], Mapping[str, str]], system: str, metric: str
) -> Standing:
    row, content = rows[system, metric], system.partition("+")[0]
    value = _complement(metric, row["value"])
    if system == content:
        return Standing(metric, value)
    return Standing(
        metric,
        value,
        baseline=_complement(metric, rows[content, metric]["value"]),
        change=float(row["change"]) if metric in F1_METRICS else math.nan,
        sign="" if metric in LOSSES else row["sign"],
    )


def _complement(metric: str, printed: str) -> float:
    """Read a figure; what is printed as one error becomes 1 − it, with the decimals printed."""
    return round(1 - float(printed), 5) if metric == "one_error" else float(printed)


def _read(name: str) -> list[dict[str, str]]:
    text = files("labelkin.report").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
