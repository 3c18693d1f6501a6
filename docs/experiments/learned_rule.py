"""What each step of the learned rule is worth: scores with single steps switched off.

``python -m docs.experiments.learned_rule OUT.csv`` fits content classifiers on folds of the
training parts of corpora, keeps their log-odds in a cache folder, adds label evidence with several
settings, and writes the mean over the folds of every corpus, content, system and measure.
``--label-classifiers`` fits the label classifiers that are not linear, ``--kind`` chooses the
content classifiers, ``--test`` uses the published split instead of folds.
``python -m docs.experiments.learned_rule --compare OUT.csv A B`` prints in how many pairs of corpus
and content system B is better than A, and the mean difference.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from docs.experiments.evidence import (
    CONTENTS,
    EVALUATION,
    FOLDERS,
    HELD_BACK,
    MULAN,
    N_FOLDS,
    Evidence,
    read_evidence,
)
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from labelkin import LogisticLabels
from labelkin.evaluation import metrics
from labelkin.label_matrix import Cells, LabelMatrix, read_labels
from labelkin.learned import fitting
from labelkin.learned.calibration import CalibratedLabels, fit_calibration
from labelkin.learned.fitting import KNOWN_WEIGHT, CandidateEvidence, fit_correction
from labelkin.learned.terms import Combination, KnownLabels, PaperEvidence, PredictedLabels
from labelkin.method.combination import probable_labels
from labelkin.method.label_evidence import as_label_classifier
from labelkin.solvers.logistic import LinearTerm
from labelkin.thresholds import rule_for

MEASURES = ["micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error"]
MEASURES += ["label_ranking_average_precision", "log_loss"]
TUNED = ["micro_f1", "macro_f1"]
LOSSES = {"hamming_loss", "subset_loss", "one_error", "log_loss", "CPU seconds"}
#: Name → label classifier; the first is the default, the others are not linear.
LABEL_CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic": LogisticLabels,
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "forest": lambda: RandomForestClassifier(20, min_samples_leaf=3, random_state=0),
    "k-NN": lambda: KNeighborsClassifier(15),
}


@dataclass(frozen=True)
class Steps:
    """The learned rule with its three steps, each of which can be switched off.

    Attributes
    ----------
    calibrated
        Whether predicted labels are calibrated probabilities.
    weight
        Weight of the paper's label evidence; ``None``: the one with the smallest Brier score.
    shrinkage
        Of the correction; infinite: no correction.
    by_roots, chosen_inputs
        Of the correction of candidates: whether it uses the square roots of predicted labels, and
        whether labels that promise a clear gain join the neighbours.
    """

    calibrated: bool = True
    weight: float | None = None
    shrinkage: float = 30.0
    by_roots: bool = False
    chosen_inputs: bool = True

    def fit(self, paper: PaperEvidence, content: Any, labels: LabelMatrix) -> Combination:
        """Fit the rule on out-of-fold content log-odds, dense or of candidates."""
        learn = self._candidates if sparse.issparse(content) else self._dense
        predicted = learn(paper, content, labels)
        return Combination(predicted, KnownLabels(paper, KNOWN_WEIGHT))

    def _dense(self, paper: PaperEvidence, content: Any, labels: LabelMatrix) -> PredictedLabels:
        fill_in = probable_labels
        if self.calibrated:
            fill_in = CalibratedLabels(fit_calibration(content, labels, monotone=False))
        filled = fill_in(content)
        evidence = paper.at(filled)
        weight = self._weight(content, evidence, labels.dense())
        correction = None
        if np.isfinite(self.shrinkage):
            offset = content + weight * evidence
            correction = fit_correction(filled, offset, labels, None, self.shrinkage)
        return PredictedLabels(paper, fill_in, weight, correction)

    def _candidates(self, paper: PaperEvidence, content: Any, labels: LabelMatrix) -> Any:
        cells, fill_in = Cells.of(content), probable_labels
        if self.calibrated:
            fill_in = CalibratedLabels(fit_calibration(content, labels))
        found = CandidateEvidence.of(paper, fill_in, content, labels, None)
        weight = self._weight(found.content, found.paper, cells.at(labels.positive))
        predicted = PredictedLabels(paper, fill_in, weight, None, found.absent)
        if np.isinf(self.shrinkage):
            return predicted
        offset = found.content + weight * found.paper
        if self.by_roots:
            roots = found._replace(filled=np.sqrt(found.filled), absent=np.sqrt(found.absent))
            return RootCorrected(predicted, roots.correction(offset, self.shrinkage))
        more = fitting._MORE_INPUTS if self.chosen_inputs else None
        with patch.object(fitting, "_MORE_INPUTS", more):
            return replace(predicted, correction=found.correction(offset, self.shrinkage))

    def _weight(self, content: Any, evidence: Any, truth: Any) -> float:
        if self.weight is not None:
            return self.weight
        weights = np.arange(11) / 10
        losses = [np.nansum((expit(content + w * evidence) - truth) ** 2) for w in weights]
        return float(weights[np.argmin(losses)])


@dataclass(frozen=True)
class RootCorrected:
    """Predicted labels with a correction that is linear in their square roots, for candidates."""

    predicted: PredictedLabels
    correction: LinearTerm

    def filled_cells(self, cells: Cells, content: Any) -> Any:
        """Return the predicted labels at candidate cells."""
        return self.predicted.filled_cells(cells, content)

    def at_cells(self, cells: Cells, filled: Any) -> Any:
        """Return what predicted labels add at candidate cells."""
        absent = np.sqrt(self.predicted.absent)
        added = self.predicted.at_cells(cells, filled)
        return added + self.correction.at_cells(cells, np.sqrt(filled), absent)


LEARNED = Steps()
#: Name → settings, for ``--systems``.
SYSTEMS = {
    "content": Steps(calibrated=False, weight=0.0, shrinkage=np.inf),
    "paper": Steps(calibrated=False, weight=1.0, shrinkage=np.inf),
    "learned": LEARNED,
    "inputs not calibrated": replace(LEARNED, calibrated=False),
    "weight 0": replace(LEARNED, weight=0.0),
    "weight 1": replace(LEARNED, weight=1.0),
    "no correction": replace(LEARNED, shrinkage=np.inf),
    "square roots": replace(LEARNED, by_roots=True),
    "neighbours only": replace(LEARNED, chosen_inputs=False),
    **{f"shrinkage {k}": replace(LEARNED, shrinkage=float(k)) for k in (3, 10, 20, 100)},
}
STEPS = ["content", "paper", "learned", "inputs not calibrated", "weight 0", "no correction"]


class Line(NamedTuple):
    """One line of a file of scores."""

    corpus: str
    content: str
    label_classifier: str
    system: str
    measure: str
    value: float


def scores(steps: Steps, paper: PaperEvidence, evidence: Evidence) -> dict[str, float]:
    """Return all measures: decisions at ½, and F1 with cuts tuned on training documents."""
    start = time.process_time()
    labels, content = read_labels(evidence.labels), evidence.out_of_fold
    combination = steps.fit(paper, content, labels)
    seconds = time.process_time() - start
    posterior = rescore(combination, evidence.new)
    tuning = rescore(combination, content)
    found = metrics.evaluate(evidence.new_labels, posterior)
    result = {name: float(found[name]) for name in MEASURES}
    for measure in TUNED:
        decided = rule_for(measure).fit(tuning, evidence.labels).decide(posterior)
        result[f"tuned {measure}"] = float(getattr(metrics, measure)(evidence.new_labels, decided))
    return {**result, "CPU seconds": seconds}


def rescore(combination: Combination, content: Any) -> Any:
    """Return the posterior log-odds of documents, dense or of candidates."""
    if not sparse.issparse(content):
        return combination.posterior(content)
    cells = Cells.of(content)
    return cells.matrix(combination.posterior_at(cells, content.data))


def run(options: argparse.Namespace) -> list[Line]:
    """Return the scores of all corpora, means over the folds."""
    values: dict[tuple[str, ...], list[float]] = defaultdict(list)
    every = [*EVALUATION, *MULAN, *FOLDERS, *(HELD_BACK if options.test else [])]
    for name in options.corpora or every:
        papers: dict[tuple[int, str], PaperEvidence] = {}
        for evidence in read_evidence(
            name, options.kind, options.cache, n_folds=options.folds, test=options.test
        ):
            for labels in options.label_classifiers:
                key = evidence.fold, labels
                if key not in papers:
                    classifier = as_label_classifier(LABEL_CLASSIFIERS[labels]())
                    papers[key] = PaperEvidence.fit(classifier, read_labels(evidence.labels))
                for system in options.systems:
                    found = scores(SYSTEMS[system], papers[key], evidence)
                    for measure, value in found.items():
                        values[name, evidence.content, labels, system, measure].append(value)
        print(name, flush=True)
    return [Line(*key, float(np.mean(v))) for key, v in values.items()]


def write_lines(lines: Sequence[Line], path: Path) -> None:
    """Write scores as CSV with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Line._fields)
        writer.writerows([*line[:-1], f"{line.value:.6g}"] for line in lines)


def read_lines(path: Path) -> list[Line]:
    """Read scores from CSV with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [Line(*row[:-1], float(row[-1])) for row in rows]


class Comparison(NamedTuple):
    """System B against system A: counts of pairs and measures, and mean differences of F1."""

    better: int
    equal: int
    worse: int
    means: dict[str, float]


def compare(lines: Sequence[Line], one: str, other: str, measures: Sequence[str]) -> Comparison:
    """Compare two systems in every pair of corpus and content, by measure."""
    values = {line[:-1]: line.value for line in lines}
    counts, means = np.zeros(3, dtype=int), {}
    for measure in measures:
        sign = -1 if measure in LOSSES else 1
        pairs = [key[:3] for key in values if key[3:] == (one, measure)]
        pairs = [pair for pair in pairs if (*pair, other, measure) in values]
        gains = np.array(
            [sign * (values[*pair, other, measure] - values[*pair, one, measure]) for pair in pairs]
        )
        better, worse = int((gains > 1e-9).sum()), int((gains < -1e-9).sum())
        counts += better, len(gains) - better - worse, worse
        means[measure] = float(gains.mean())
    return Comparison(*counts.tolist(), means)


ALL_MEASURES = [*MEASURES, *(f"tuned {measure}" for measure in TUNED)]


def comparison_row(
    lines: Sequence[Line], one: str, other: str = "learned", *, name: str | None = None
) -> str:
    """Return a row of the tables on the page: the other system against the first."""
    found = compare(lines, one, other, ALL_MEASURES)
    counts = " / ".join(map(str, found[:3]))
    at_half, tuned = (
        " / ".join(f"{found.means[prefix + m]:+.4f}" for m in TUNED) for prefix in ("", "tuned ")
    )
    numbers = f"{counts} | {at_half} | {tuned} |".replace("-", "−")
    return f"| {name or one} | {numbers}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write scores, or compare two systems, from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--corpora", nargs="+", help="default: all")
    parser.add_argument("--kind", choices=CONTENTS, default="single")
    parser.add_argument("--label-classifiers", nargs="+", default=["logistic"])
    parser.add_argument("--systems", nargs="+", default=STEPS)
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="folds of three that are used")
    parser.add_argument("--test", action="store_true", help="the published split, to be read once")
    parser.add_argument("--cache", type=Path, default=Path("learned-rule-cache"))
    parser.add_argument("--compare", nargs=3, metavar=("SCORES", "A", "B"))
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "The SVMs of")
    if options.compare:
        path, one, other = options.compare
        lines = read_lines(Path(path))
        for measure, mean in compare(lines, one, other, ALL_MEASURES).means.items():
            counts = compare(lines, one, other, [measure])[:3]
            print(f"{measure:32} {' / '.join(map(str, counts)):>15} {mean:+.4f}")
        print(comparison_row(lines, one, other))
    else:
        write_lines(run(options), options.out)


if __name__ == "__main__":
    main()
