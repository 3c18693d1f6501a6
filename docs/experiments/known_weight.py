"""Which weight known labels should have: folds of training parts, scored on the open labels.

``python -m docs.experiments.known_weight docs/experiments/known_weight.csv`` reveals labels of the
documents of a fold in the ways of :mod:`docs.experiments.known_label_evaluation` and scores the
other labels for several values of ``known_weight``. It writes, for every kind of evidence, way of
revealing and value, in how many comparisons the labels that stay open are better, equal and worse
than with nothing known, than with the chosen value, and the mean gain in per cent of the loss.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docs.experiments.evidence import FOLDERS, Evidence, read_evidence
from docs.experiments.known_label_evaluation import METRICS, evaluate_known_labels
from docs.experiments.learned_rule import LABEL_CLASSIFIERS, LEARNED
from docs.make.cells import gain
from scipy import sparse

from labelkin.label_matrix import Cells, read_labels
from labelkin.learned.fitting import KNOWN_WEIGHT
from labelkin.learned.terms import KnownLabels, PaperEvidence
from labelkin.method.label_evidence import as_label_classifier

#: Weights of accepted and of rejected labels.
VALUES = [(v, v) for v in (0.25, 0.5, KNOWN_WEIGHT, 1.0)]
VALUES += [(KNOWN_WEIGHT, 0.0), (KNOWN_WEIGHT, 0.5)]
#: More weights of label classifiers that are not linear, whose evidence is extreme.
SMALL_VALUES = [(0.05, 0.05), (0.1, 0.1)]
CHOSEN = KNOWN_WEIGHT, KNOWN_WEIGHT
SMALL = ["coffee", "3sources-bbc1000", "gpositive", "virusgo", "chd49", "water-quality", "emotions"]
SMALL += ["scene", "yeast", "genbase", "medical", "enron"]
#: Kind of evidence → kind of content classifiers, label classifiers, corpora, and maximum number of
#: documents whose labels are revealed.
KINDS = {
    "linear": ("single", ["logistic"], [*SMALL, "bibtex", "tmc2007-500", *list(FOLDERS)[:2]], 600),
    "not linear": (
        "single",
        ["tree", "k-NN"],
        ["emotions", "scene", "chd49", "virusgo", "gpositive"],
        300,
    ),
    "candidates": ("candidates", ["logistic"], ["bibtex", "mediamill-small", "delicious"], 200),
}
#: Log-odds of a label outside the candidates, as metrics of candidates count it.
_OUTSIDE = float(np.log(1e-6))
#: Open documents below which a way of revealing is left out.
_FEWEST = 20


@dataclass(frozen=True)
class TwoWeights(KnownLabels):
    """The term of known labels with another weight for rejected labels."""

    rejected: float

    def at(self, filled: Any, known: Any) -> Any:
        """Return what known labels add, ``(n_documents, n_labels)``."""
        if self.rejected == self.weight:
            return super().at(filled, known)
        accepted = super().at(filled, np.where(known == 1, 1.0, np.nan))
        rejected = KnownLabels(self.paper, self.rejected)
        return accepted + rejected.at(filled, np.where(known == 0, 0.0, np.nan))


class Line(NamedTuple):
    """One line of the file: counts and the mean gain of one pair of weights."""

    kind: str
    revealed: str
    accepted: float
    rejected: float
    better: int
    equal: int
    worse: int
    mean_gain: float
    better_than_chosen: int
    equal_to_chosen: int
    worse_than_chosen: int


def evaluate(
    evidence: Evidence, paper: PaperEvidence, values: Sequence[Any], most: int
) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Yield every way of revealing, and the scores of every value and of nothing known."""
    labels = read_labels(evidence.labels)
    combination = LEARNED.fit(paper, evidence.out_of_fold, labels)
    rows = np.arange(min(most, evidence.new.shape[0]))
    new_labels = read_labels(evidence.new_labels).rows(rows)
    content = evidence.new[rows]
    if sparse.issparse(content):
        content = Cells.of(content).dense(content.data, -np.inf)

    def posterior(rule: Any, content: Any, known: Any = None) -> Any:
        found = rule.posterior(content, known)
        return np.where(np.isneginf(content) & np.isneginf(found), _OUTSIDE, found)

    found: dict[str, dict[Any, Any]] = {}
    for value in values:
        rule = replace(combination, known=TwoWeights(paper, *value))
        records = evaluate_known_labels(
            lambda *given, rule=rule: posterior(rule, *given), content, new_labels
        )
        for record in records:
            is_walk = record["revealed"].endswith("updated")  # its open cells depend on the value
            if record["with_more"] >= _FEWEST and not is_walk:
                scores = found.setdefault(record["revealed"], {None: record["predicted"]})
                scores[value] = record["known"]
    yield from found.items()


def gains(kind: str, cache: Path) -> dict[tuple[str, Any], list[tuple[float, float]]]:
    """Return gains over nothing known and over the chosen value, by revealing and value."""
    result: dict[tuple[str, Any], list[tuple[float, float]]] = {}
    contents, classifiers, names, most = KINDS[kind]
    values = [*SMALL_VALUES, *VALUES] if kind == "not linear" else VALUES
    for name in names:
        papers: dict[str, PaperEvidence] = {}
        for evidence in read_evidence(name, contents, cache, n_folds=1):
            for classifier in classifiers:
                if classifier not in papers:
                    chosen = as_label_classifier(LABEL_CLASSIFIERS[classifier]())
                    papers[classifier] = PaperEvidence.fit(chosen, read_labels(evidence.labels))
                for revealed, scores in evaluate(evidence, papers[classifier], values, most):
                    for value in values:
                        pairs = [
                            (
                                gain(metric, scores[None][metric], scores[value][metric]),
                                gain(metric, scores[CHOSEN][metric], scores[value][metric]),
                            )
                            for metric in METRICS
                            if all(metric in found for found in scores.values())
                        ]
                        result.setdefault((revealed, value), []).extend(pairs)
        print(kind, name, flush=True)
    return result


def lines(kind: str, cache: Path) -> list[Line]:
    """Return the lines of one kind of evidence."""
    return [
        Line(kind, revealed, *value, *_counts(both[:, 0]), _mean(both[:, 0]), *_counts(both[:, 1]))
        for (revealed, value), pairs in gains(kind, cache).items()
        for both in [np.array(pairs)]
    ]


def _counts(values: Any) -> tuple[int, int, int]:
    better, worse = int((values > 1e-9).sum()), int((values < -1e-9).sum())
    return better, len(values) - better - worse, worse


def _mean(values: Any) -> float:
    return float(values[np.isfinite(values)].mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--cache", type=Path, default=Path("learned-rule-cache"))
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "The SVMs of")
    found = [line for kind in options.kinds for line in lines(kind, options.cache)]
    with options.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Line._fields)
        writer.writerows(line._replace(mean_gain=round(line.mean_gain, 3)) for line in found)


if __name__ == "__main__":
    main()
