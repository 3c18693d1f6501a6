"""Result folder → docs/strong-content.md, the page on label evidence beside an extreme classifier.

``python -m docs.make.strong_content RESULTS`` in the root of the repository, where RESULTS is the
folder of a finished run of the experiment ``strong-content``. Candidates are rescored here, from
the stored scores: the best hundred labels of every document.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment import read_results
from labelkin.experiment import run_folder as store
from labelkin.experiment.run_folder import CorpusResults, Run
from labelkin.files import write_whole
from labelkin.label_matrix import best_cells
from labelkin.method.rescorer import LabelRescorer
from labelkin.metrics import Evaluation, evaluate
from labelkin.report.tables import Cell, Table, markdown_table, markdown_text, signed_text

PAGE = Path(__file__).parent.parent / "strong-content.md"
#: Candidates of a document, as ``labelkin train --content omikuji`` has them.
CANDIDATES = 100
#: Groups of documents that are left out in turn, for standard errors.
_GROUPS = 20
#: Standard errors beyond which a difference is clear.
_CLEAR = 2.0
#: By name of the record, what the page calls a measure; those that end in "loss" and the like are
#: to be lowered.
MEASURES = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "document_f1": "F1 per document",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset 0/1 loss",
    "one_error": "one-error",
    "precision@1": "P@1",
    "precision@3": "P@3",
    "precision@5": "P@5",
    "ndcg@5": "nDCG@5",
    "recall@5": "R@5",
    "label_ranking_average_precision": "average precision",
    "ranking_loss": "ranking loss",
    "coverage": "coverage",
    "log_loss": "log loss",
    "brier_score": "Brier score",
}
_LOSSES = ("hamming_loss", "subset_loss", "one_error", "ranking_loss", "coverage", "log_loss")
_LOWERED = (*_LOSSES, "brier_score")
_ALONE, _PAPER, _LEARNED = "", "BLR+M2", "BLR+M2 w=auto"
_CONTROLS = ("offset", "calibration")


@dataclass(frozen=True, eq=False)
class Comparison:
    """A system against content alone, on the same documents and labels.

    Attributes
    ----------
    corpus, system
        What is compared, as the page calls it.
    before, after
        By measure, the scores of content alone, and of the system.
    errors
        By measure, the standard error of the difference.
    """

    corpus: str
    system: str
    before: Mapping[str, float]
    after: Mapping[str, float]
    errors: Mapping[str, float]

    def gain(self, measure: str) -> float:
        """Return by how much the system is better; below 0, worse."""
        change = self.after[measure] - self.before[measure]
        return -change if measure in _LOWERED else change

    def clear(self, measure: str) -> float:
        """Return by how many standard errors the system is better; below 0, worse."""
        gain, error = self.gain(measure), self.errors[measure]
        if abs(gain) <= 1e-12:
            return 0.0
        return gain / error if error else float(np.copysign(np.inf, gain))

    def worse(self) -> list[str]:
        """Return the measures that are clearly worse."""
        return [name for name in self.after if self.clear(name) < -_CLEAR]


def compare(corpus: str, system: str, Y: Any, before: Any, after: Any) -> Comparison:
    """Compare log-odds, dense or of candidates, at the cut ½, with jackknifed standard errors."""
    group = np.arange(Y.shape[0]) % min(_GROUPS, Y.shape[0])
    sides = [_left_out(Y, scores, group) for scores in (before, after)]
    names = [name for name in MEASURES if name in sides[0][0]]
    changes = np.array([[b[n] - a[n] for n in names] for a, b in zip(*sides, strict=True)])[1:]
    spread = ((changes - changes.mean(axis=0)) ** 2).sum(axis=0)
    errors = np.sqrt(spread * (len(changes) - 1) / len(changes))
    return Comparison(
        corpus,
        system,
        {name: sides[0][0][name] for name in names},
        {name: sides[1][0][name] for name in names},
        dict(zip(names, errors.tolist(), strict=True)),
    )


def _left_out(Y: Any, scores: Any, group: NDArray[np.int64]) -> list[dict[str, float]]:
    """Return the scores of all documents, and of all but each group."""
    parts = [_evaluated(Y, scores, np.flatnonzero(group == k)) for k in range(group.max() + 1)]
    sums = [parts, *([*parts[:k], *parts[k + 1 :]] for k in range(len(parts)))]
    return [reduce(add, some).scores() for some in sums]


def _evaluated(Y: Any, scores: Any, rows: NDArray[np.int64]) -> Evaluation:
    part = scores[rows]
    return evaluate(Y.rows(rows), part if hasattr(part, "indptr") else np.asarray(part))


@dataclass(frozen=True, eq=False)
class CorpusPage:
    """What the page says of one corpus.

    Attributes
    ----------
    results
        The stored runs.
    comparisons
        By name, systems against content alone: of all labels, and of candidates.
    weights
        The learned weight: on all labels, and on candidates.
    recall
        The share of true labels that are candidates.
    """

    results: CorpusResults
    comparisons: Mapping[str, Comparison]
    weights: tuple[float, float]
    recall: float

    @property
    def name(self) -> str:
        """Of the corpus."""
        return self.results.name


def read_page(
    folder: str | os.PathLike[str], report: Callable[[str], None] = lambda text: None
) -> list[CorpusPage]:
    """Read the runs of a finished experiment, and rescore the candidates of each corpus."""
    pages = []
    for corpus in read_results(folder).corpora:
        runs = {run.addition: run for run in corpus.runs}
        Y, name, alone = corpus.Y, corpus.name, runs[_ALONE].log_odds()
        found = {}
        for addition in (_LEARNED, _PAPER, *_CONTROLS):
            report(f"{name}: {addition}")
            found[addition] = compare(name, addition, Y, alone, runs[addition].log_odds())
        report(f"{name}: candidates")
        rescorer, before, after = rescore_candidates(corpus, runs[_ALONE], folder)
        found["candidates"] = compare(name, "candidates", Y, before, after)
        recall = evaluate(Y, before).scores().get("candidate_recall", 1.0)
        weights = (
            float(runs[_LEARNED].learned["evidence_weight"]),
            float(rescorer.evidence_weight_),
        )
        pages.append(CorpusPage(corpus, found, weights, recall))
    return pages


def rescore_candidates(
    corpus: CorpusResults, run: Run, folder: str | os.PathLike[str]
) -> tuple[LabelRescorer, Any, Any]:
    """Return a rescorer fitted on candidates, and candidates of test documents before and after."""
    place = Path(folder, corpus.name, store.UNSEEN, run.folder.name)
    unseen = store.read_array(place / store.OUT_OF_FOLD)
    rescorer = LabelRescorer(evidence_weight="auto", scale="log_odds").fit(corpus.Y_train, scores=_best(unseen))
    before = _best(run.log_odds())
    return rescorer, before, rescorer.rescore(before)


def _best(log_odds: Any) -> Any:
    top = min(CANDIDATES, log_odds.shape[1])
    return best_cells(lambda rows: np.array(log_odds[rows]), *log_odds.shape, top)
