"""Result folders → docs/findings/known-labels.md, the page on what known labels are worth.

``python -m docs.make.known_labels RESULTS…`` in the root of the repository, where RESULTS are the
folders of the experiments ``docs/experiments/configurations/known-labels-….toml``.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from docs.experiments.known_label_evaluation import METRICS, evaluate_runs
from docs.make.cells import Verdict, count_gains
from docs.make.pages import markdown_rows, write_from_folders, write_page

from labelkin.learned.fitting import KNOWN_WEIGHT
from labelkin.research.experiments import read_results
from labelkin.research.reports.results import LEARNED
from labelkin.research.reports.tables import markdown_text, signed_text

PAGE = Path(__file__).parent.parent / "findings" / "known-labels.md"
SCORES = Path(__file__).parent.parent / "experiments" / "known_weight.csv"
_SIDES = ("better", "equal", "worse", "better_than_chosen", "worse_than_chosen")
#: Rows with fewer documents that have a label left are left out.
_FEWEST = 20
#: Standard errors beyond which a difference is clear.
_CLEAR = 2.0
_WORDS = dict(
    zip(
        METRICS,
        ("micro F1", "macro F1", "Hamming", "subset", "one-error", "log loss", "Brier"),
        strict=True,
    )
)
_OPENING = """\
Written by `python -m docs.make.known_labels RESULTS…` from the stored runs of `labelkin experiment
run docs/experiments/configurations/known-labels-reuters.toml --out RESULTS` and of the other
experiments `known-labels-…`; no number is typed by hand.

A user accepts or rejects some labels of a document. Are the other labels better for it? Labels of
test documents are revealed, and the cells that stay open are scored: with the content classifier
alone, with the learned weight when nothing is known, and with it when some labels are known
([how](../explanation/beyond-method.md#known-labels)). All three are scored on the same open
cells."""
_TOLD = """\
- **true 1, 2, 3**: 1, 2 or 3 true labels, drawn at random, of documents that have as many; **true
  half**: half of them, rounded up.
- **wrong 1, 2, 3**: the highest wrong suggestions are rejected, right ones are skipped.
- **walk 1, 2, 3, 5**: the first suggestions are answered one after the other, in the order of
  nothing known, so that all systems have the same open cells.
- **half**: every cell with probability ½. **all others**: each cell, with all others known (of very
  many cells, those of every k-th document; there are no label sets and no order, so no subset loss
  and no one-error).

A **cell** is one content classifier on one corpus, a **pair** a cell, a strategy and a measure. A
**gain** is the share of the remaining loss that is removed, in per cent: of 1 − F1, or of the loss
itself. Rows with fewer than {fewest} documents that have a true label left are omitted."""
_FOUND = """\
Known labels have one weight, 0.75 of the paper's label weights. It was chosen on training documents
of development corpora, most of which are on this page; the labels of its test documents were not
used. These results do not prove the gains on other corpora."""
_WEIGHTS = """\
The same evaluation on a fold of the *training parts* for other weights, and with smaller weights of
rejected labels: better / equal / worse than nothing known and mean gain, and how often the labels
that stay open are better and worse than with 0.75. Written by `python -m
docs.experiments.known_weight docs/experiments/known_weight.csv`.

For logistic label evidence 0.75 has the largest mean gain, and 0.5 does less harm. Smaller weights
of rejected labels are not better. Label classifiers that are not linear, here a tree and k-NN per
label, need a much smaller weight, by default 0.1, because their probabilities are often 0 or 1.
Candidates are the best 50 labels of each document."""
_FURTHER = """\
An accepted label is also evidence that the document has no other label, which is right for most
documents and wrong for some. These are only the documents with a further label, a fact that no
model knows: {systems}."""
_SURE = """\
Known less nothing known, in standard errors (delete-a-group jackknife over 20 groups of documents):
rows that are more than {clear:g} better, in between, and more than {clear:g} worse."""
_UPDATED = """\
On the page every answer updates the order of what follows. The same number of answers, by the
order of nothing known and by the updated order: true labels found per document, and the
effect of the answers on the open cells (better / equal / worse than nothing known and mean gain,
on the open cells of each walk)."""
_CLEARLY_WORSE = """\
Every pair that is more than {clear:g} standard errors worse than nothing known."""


@dataclass(frozen=True)
class Row:
    """A record of :mod:`docs.experiments.known_label_evaluation` in one cell."""

    corpus: str
    content: str
    record: Mapping[str, Any]

    @property
    def cell(self) -> str:
        """``"reuters21578 SVM"``."""
        return f"{self.corpus} {self.content}"

    @property
    def revealed(self) -> str:
        """The name of the strategy."""
        return str(self.record["revealed"])

    def gain(self, metric: str, before: str = "predicted") -> float:
        """Return the gain of known labels over another system; NaN without scores."""
        old, new = (self.record[system].get(metric, np.nan) for system in (before, "known"))
        left, now = (1 - old, 1 - new) if metric.endswith("f1") else (old, new)
        if np.isnan(left) or np.isnan(now) or abs(left - now) <= 1e-12:
            return 0.0 if abs(left - now) <= 1e-12 else np.nan
        return float(100 * (left - now) / left) if left else -np.inf

    def clear(self, metric: str) -> float:
        """Return by how many standard errors known labels are better; below 0, worse."""
        change = self.record["known"].get(metric, np.nan) - self.record["predicted"].get(
            metric, np.nan
        )
        error = self.record["standard_errors"].get(metric, np.nan)
        better = change if metric.endswith("f1") else -change
        if abs(change) <= 1e-12:
            return 0.0
        return float(better / error) if error else float(np.copysign(np.inf, better))


def read_rows(folders: Iterable[str | os.PathLike[str]]) -> list[Row]:
    """Evaluate the learned weight of finished experiments with known labels."""
    rows = []
    for folder in folders:
        results = read_results(folder)
        for corpus in results.corpora:
            rows += [
                Row(corpus.name, content, record)
                for content, addition, record in evaluate_runs(corpus, results.experiment)
                if addition.endswith(LEARNED) and record["with_more"] >= _FEWEST
            ]
    return rows


def write_known_labels(
    folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str] = PAGE
) -> Path:
    """Write the page on known labels."""
    rows = read_rows(folders)
    if not rows:
        raise ValueError(
            "The page needs runs with a learned weight, and the folders have none: "
            '`evidence_weights = ["auto"]` in the experiment.'
        )
    return write_page(Path(out), page(rows))


def page(rows: Sequence[Row]) -> str:
    """Return the page as Markdown."""
    return "\n\n".join(_parts(rows)) + "\n"


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    walked = [row for row in rows if row.revealed.endswith("updated")]
    further = [row for row in rows if row.revealed.startswith("further")]
    asked = [row for row in rows if row not in walked and row not in further]
    names = list(dict.fromkeys(row.revealed for row in asked))
    yield "# Known labels"
    yield _OPENING
    yield _TOLD.format(fewest=_FEWEST)
    yield _FOUND
    yield f"{len({row.cell for row in asked})} cells, {_pairs(asked)}. {_summary(asked)}"
    yield "## Better, equal, worse"
    yield _gain_table(
        [
            ("against nothing known", asked, "predicted"),
            ("against content alone", asked, "alone"),
        ]
    )
    yield "## By what is revealed, against nothing known"
    yield _gain_table([(name, _of(asked, name), "predicted") for name in names])
    yield "## By what is revealed, against content alone"
    yield _gain_table([(name, _of(asked, name), "alone") for name in names])
    if further:
        names = list(dict.fromkeys(row.revealed for row in further))
        yield "## Documents that have a further label"
        yield _FURTHER.format(systems="against nothing known, then against content alone")
        yield _gain_table([(name, _of(further, name), "predicted") for name in names])
        yield _gain_table([(name, _of(further, name), "alone") for name in names])
    yield "## Which weight"
    yield _WEIGHTS
    yield _weight_table(SCORES)
    yield "## Is it sure?"
    yield _SURE.format(clear=_CLEAR)
    yield _sure_table(asked)
    if walked:
        yield "## Walks by the updated order"
        yield _UPDATED
        yield _walk_table(asked, walked)
    yield "## Where known labels do harm"
    yield _CLEARLY_WORSE.format(clear=_CLEAR)
    yield _harm_table([*asked, *further])
    yield "## Cell by cell"
    yield "Content alone → nothing known → with known labels."
    yield _cell_table([row for row in asked if row.revealed in ("true 1", "true 2", "walk 3")])


def _of(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row.revealed == name]


def _gains(rows: Sequence[Row], metric: str, before: str) -> list[float]:
    return [gain for row in rows if not np.isnan(gain := row.gain(metric, before))]


def _verdict_text(verdict: Verdict) -> str:
    return f"{verdict} {signed_text(verdict.mean, 1)}"


def _pairs(rows: Sequence[Row]) -> str:
    n = sum(len(_gains(rows, metric, "predicted")) for metric in METRICS)
    return f"{n:,} pairs"


def _summary(rows: Sequence[Row]) -> str:
    texts = []
    for before, name in (("predicted", "nothing known"), ("alone", "content alone")):
        verdict = count_gains(g for metric in METRICS for g in _gains(rows, metric, before))
        texts.append(f"against {name} **{verdict}**, mean gain {signed_text(verdict.mean, 1)} %")
    return f"Better / equal / worse: {'; '.join(texts)}."


def _gain_table(groups: Sequence[tuple[str, Sequence[Row], str]]) -> str:
    """Return better / equal / worse and the mean gain, a row for each group of rows."""
    body = []
    for name, rows, before in groups:
        by_metric = [_gains(rows, metric, before) for metric in METRICS]
        every = [gain for gains in by_metric for gain in gains]
        texts = [
            _verdict_text(count_gains(gains)) if gains else "–" for gains in (*by_metric, every)
        ]
        body.append([name, *texts])
    return _markdown(["revealed", *_WORDS.values(), "all"], body)


def _weight_table(scores: Path) -> str:
    """Return counts and the mean gain of each pair of weights, by kind of evidence."""
    with scores.open(encoding="utf-8", newline="") as file:
        lines = [
            line for line in csv.DictReader(file) if not line["revealed"].startswith("further")
        ]
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for line in lines:
        groups.setdefault((line["kind"], line["accepted"], line["rejected"]), []).append(line)
    body = []
    for (kind, accepted, rejected), rows in groups.items():
        counts = np.array([[int(row[side]) for side in _SIDES] for row in rows])
        gains = [float(row["mean_gain"]) for row in rows]
        mean = float(np.average(gains, weights=counts[:, :3].sum(axis=1)))
        better, equal, worse, better_than_chosen, worse_than_chosen = counts.sum(axis=0).tolist()
        against = f"{better} / {equal} / {worse} {signed_text(mean, 1)}"
        chosen = f"{better_than_chosen} / {worse_than_chosen}"
        is_chosen = accepted == rejected == str(KNOWN_WEIGHT)
        body.append([kind, accepted, rejected, against, "" if is_chosen else chosen])
    heads = ["label evidence", "accepted", "rejected", "against nothing known", "against 0.75"]
    return _markdown(heads, body)


def _sure_table(rows: Sequence[Row]) -> str:
    texts = []
    for metric in METRICS:
        sides = np.array([row.clear(metric) for row in rows if metric in row.record["known"]])
        better, worse = int((sides > _CLEAR).sum()), int((sides < -_CLEAR).sum())
        texts.append(f"{better} / {len(sides) - better - worse} / {worse}")
    return _markdown(["", *_WORDS.values()], [["all strategies", *texts]])


def _walk_table(asked: Sequence[Row], walked: Sequence[Row]) -> str:
    body = []
    for name in dict.fromkeys(row.revealed for row in walked):
        updated = _of(walked, name)
        cells = {row.cell for row in updated}
        fixed = [row for row in _of(asked, name.removesuffix(" updated")) if row.cell in cells]
        for revealed, rows in ((name.removesuffix(" updated"), fixed), (name, updated)):
            found = np.mean([row.record["accepted"] / row.record["documents"] for row in rows])
            verdicts = [
                _verdict_text(count_gains(_gains(rows, metric, "predicted"))) for metric in METRICS
            ]
            body.append([revealed, f"{found:.4f}", *verdicts])
    return _markdown(["revealed", "true labels found", *_WORDS.values()], body)


def _harm_table(rows: Sequence[Row]) -> str:
    found = [
        (row.clear(metric), row, metric)
        for row in rows
        for metric in METRICS
        if metric in row.record["known"] and row.clear(metric) < -_CLEAR
    ]
    if not found:
        return "No pair."
    body = [
        [
            row.cell,
            row.revealed,
            _WORDS[metric],
            " → ".join(f"{row.record[system][metric]:.4f}" for system in ("predicted", "known")),
            signed_text(row.gain(metric), 1),
            signed_text(clear, 1),
        ]
        for clear, row, metric in found
    ]
    return _markdown(
        ["cell", "revealed", "measure", "nothing → known", "gain %", "standard errors"], body
    )


def _cell_table(rows: Sequence[Row]) -> str:
    body = [
        [
            row.cell,
            row.revealed,
            f"{row.record['documents']:,}",
            f"{row.record['with_more']:,}",
            *(
                " → ".join(f"{row.record[s][metric]:.4f}" for s in ("alone", "predicted", "known"))
                for metric in ("micro_f1", "hamming_loss", "one_error")
            ),
        ]
        for row in rows
    ]
    heads = ["cell", "revealed", "documents", "with more", "micro F1", "Hamming", "one-error"]
    return _markdown(heads, body)


def _markdown(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return markdown_rows(heads, [list(map(markdown_text, row)) for row in body])


if __name__ == "__main__":
    write_from_folders(write_known_labels, PAGE, __doc__)
