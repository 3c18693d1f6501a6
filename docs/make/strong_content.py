"""Result folders → docs/findings/strong-content.md, label evidence beside an extreme classifier.

``python -m docs.make.strong_content RESULTS…`` in the root of the repository, where RESULTS are the
folders of the experiments ``strong-content`` and ``strong-content-delicious`` of
docs/experiments/configurations. Candidates are rescored here, from the stored scores: the best
hundred labels of every document.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from docs.experiments.known_label_evaluation import evaluate_runs
from docs.make.pages import markdown_rows, write_from_folders, write_page
from numpy.typing import NDArray

from labelkin.evaluation.metrics import Evaluation, evaluate
from labelkin.label_matrix import Cells, best_cells
from labelkin.models.rescorer import LabelRescorer
from labelkin.research.experiments import CorpusResults, Run, read_results
from labelkin.research.reports.tables import markdown_text, signed_text

PAGE = Path(__file__).parent.parent / "findings" / "strong-content.md"
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
_CANDIDATES = "candidates"
#: The learned weight against content that is calibrated per label.
_OVER = "over calibration"
#: Maximum number of labels for which all are compared.
_FEW_LABELS = 300
_WORDS = {
    _LEARNED: "label evidence",
    _CANDIDATES: "label evidence",
    _PAPER: "the paper's weight 1",
    "offset": "a number per label",
    "calibration": "calibrated per label",
    _OVER: "label evidence over calibrated",
}
_TOLD = ("true 1", "true 2", "wrong 1", "walk 3")
_OPENING = """\
Written by `python -m docs.make.strong_content RESULTS…` from the stored runs of `labelkin
experiment run docs/experiments/configurations/strong-content.toml --out RESULTS` and
`strong-content-delicious.toml`; no number is typed by hand.

Content here is `OmikujiContent`: three trees of linear classifiers, an extreme classifier's kind,
with a sigmoid pooled over all labels. Label evidence is learned from its log-odds of
training documents that five folds have left out, and is measured on test documents that nothing was
learned from or chosen on. A difference is given as "better by", also for losses, ± one standard
error (paired, delete-a-group jackknife over 20 groups of documents); ▲ and ▼ mark those beyond two.
Omikuji takes no seed: another run differs a little."""
_NOT_LABELS = """\
Is it the labels? Label evidence against content that is calibrated label by label out of fold; and,
against content alone as before, what repairs content without asking any other label (a number per
label, calibrated per label), and the paper's full weight:"""
_OVER_TEXT = """\
Part of that is calibration, which needs no other label. Against content that is calibrated label by
label out of fold:"""
_FOUND = """\
So on strong content label evidence is for decisions (F1, and part of macro F1), for known labels
and for explanations, not for P@k; for log loss, calibration does as much or more.

On delicious label evidence first reduced P@5 and nDCG@5. Training documents out of fold showed the
same loss, caused by the correction and not by the weight; a correction on neighbours has now a
weight with which their first labels are as good as those of content alone. The test documents of
delicious were thus read more than once; nothing was chosen by their later results."""
_KNOWN = """\
An extreme classifier cannot use accepted and rejected labels. Content alone → with label evidence →
with known labels, on the open cells; ± is the standard error of the last step
([revealed labels](known-labels.md))."""
_EXPLAINED = """\
Explanations, in Python and on the page, show how much of a suggestion is content and which other
labels are evidence for and against it, as with any content. Omikuji's trees are not explained:
their part is one number, without words."""


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
    return evaluate(Y[rows], part if hasattr(part, "indptr") else np.asarray(part))


@dataclass(frozen=True, eq=False)
class CorpusPage:
    """The contents of the page on one corpus.

    Attributes
    ----------
    results
        The stored runs.
    comparisons
        By name, systems against content alone: on all labels, or on candidates where there are more
        than 300.
    learned
        The name of the one whose evidence weight is learned.
    weight
        The learned weight.
    known
        Records of the evaluation with known labels.
    """

    results: CorpusResults
    comparisons: Mapping[str, Comparison]
    learned: str
    weight: float
    known: Sequence[Mapping[str, Any]] = ()


def read_pages(folders: Iterable[str | os.PathLike[str]]) -> list[CorpusPage]:
    """Read the runs of finished experiments, and rescore the candidates of many labels."""
    pages = []
    for folder in folders:
        for corpus in read_results(folder).corpora:
            read = _read_candidates if corpus.Y.shape[1] > _FEW_LABELS else _read_all_labels
            pages.append(read(corpus, folder))
    return pages


def _read_all_labels(corpus: CorpusResults, folder: str | os.PathLike[str]) -> CorpusPage:
    scores = {run.addition: run.log_odds() for run in corpus.runs}
    learned = next(run for run in corpus.runs if run.addition == _LEARNED)
    found = _compared(corpus, scores, _LEARNED)
    weight = float(learned.learned["evidence_weight"])
    known = [
        record
        for _, addition, record in evaluate_runs(corpus, read_results(folder).experiment)
        if addition == _LEARNED
    ]
    return CorpusPage(corpus, found, _LEARNED, weight, known)


def _read_candidates(corpus: CorpusResults, folder: str | os.PathLike[str]) -> CorpusPage:
    """Rescore the candidates of content; other systems are evaluated on the same candidates."""
    runs = {run.addition: run for run in corpus.runs}
    rescorer, before, after = rescore_candidates(corpus, runs[_ALONE])
    cells = Cells.of(before)
    scores = {x: cells.matrix(cells.at(np.array(run.log_odds()))) for x, run in runs.items()}
    found = _compared(corpus, {**scores, _CANDIDATES: after}, _CANDIDATES)
    return CorpusPage(corpus, found, _CANDIDATES, float(rescorer.evidence_weight_))


def _compared(
    corpus: CorpusResults, scores: Mapping[str, Any], learned: str
) -> dict[str, Comparison]:
    """Compare what there is with content alone, and what is learned with calibrated content."""
    Y, name = corpus.Y, corpus.name
    found = {
        system: compare(name, words, Y, scores[_ALONE], scores[system])
        for system, words in _WORDS.items()
        if system in scores
    }
    found[_OVER] = compare(name, _WORDS[_OVER], Y, scores["calibration"], scores[learned])
    return found


def rescore_candidates(corpus: CorpusResults, run: Run) -> tuple[LabelRescorer, Any, Any]:
    """Return a rescorer fitted on candidates, and candidates of test documents before and after."""
    rescorer = LabelRescorer(evidence_weight="auto", scale="log_odds")
    rescorer.fit(corpus.Y_train, scores=_best(run.out_of_fold()))
    before = _best(run.log_odds())
    return rescorer, before, rescorer.rescore(before)


def _best(log_odds: Any) -> Any:
    top = min(CANDIDATES, log_odds.shape[1])
    return best_cells(lambda rows: np.array(log_odds[rows]), *log_odds.shape, top)


def write_strong_content(folders: Iterable[str | os.PathLike[str]], out: Path = PAGE) -> Path:
    """Write the page on finished experiments."""
    return write_page(out, "\n\n".join(_parts(read_pages(folders))) + "\n")


def _parts(pages: Sequence[CorpusPage]) -> Iterator[str]:
    yield "# Strong content"
    yield _OPENING
    yield _summary([page.comparisons[page.learned] for page in pages])
    yield _OVER_TEXT
    yield _gains([page.comparisons[_OVER] for page in pages])
    yield _FOUND
    for page in pages:
        yield f"## {page.results.name}"
        yield _facts(page)
        yield _measure_table(page.comparisons[page.learned])
        yield _NOT_LABELS
        names = (page.learned, _OVER, *_CONTROLS, _PAPER)
        yield _difference_table([page.comparisons[x] for x in names if x in page.comparisons])
    yield "## Known labels"
    yield _KNOWN
    yield _known_table(pages)
    yield "## Explanations"
    yield _EXPLAINED


def _summary(learned: Sequence[Comparison]) -> str:
    """Return where label evidence gains, and where not, in sentences made of the numbers."""
    worse = [(c, name) for c in learned for name in c.worse()]
    if worse:
        listed = "; ".join(
            f"{MEASURES[name]} on {c.corpus}, {c.system} ({signed_text(c.clear(name), 1)})"
            for c, name in worse
        )
        verdict = f"**Measures that are more than {_CLEAR:g} standard errors worse: {listed}.**"
    else:
        n = sum(len(c.after) for c in learned)
        verdict = (
            f"**None of the {n} differences below is worse by more than {_CLEAR:g} standard "
            "errors.**"
        )
    return f"{verdict}\n\n{_gains(learned)}"


def _gains(compared: Sequence[Comparison]) -> str:
    lines = []
    for names, what in (
        (("macro_f1",), "macro F1"),
        (("micro_f1", "document_f1"), "micro F1 and F1 per document"),
        (("precision@1", "precision@3", "precision@5", "ndcg@5"), "P@k and nDCG@5"),
        (("log_loss", "brier_score"), "log loss and Brier score"),
    ):
        sides = [c.clear(name) for c in compared for name in names]
        gains = [c.gain(name) for c in compared for name in names]
        better, worse = sum(x > _CLEAR for x in sides), sum(x < -_CLEAR for x in sides)
        lines.append(
            f"- {what}: clearly better in {better} of {len(sides)}, clearly worse in {worse}; "
            f"{signed_text(min(gains), 4)} to {signed_text(max(gains), 4)}."
        )
    return "\n".join(lines)


def _facts(page: CorpusPage) -> str:
    n_train, n_labels = page.results.Y_train.shape
    text = (
        f"{n_train:,} documents to learn from, {page.results.Y.shape[0]:,} to test, {n_labels:,} "
        f"labels. Learned weight: {page.weight:.3g}."
    )
    if page.learned == _CANDIDATES:
        text += (
            f" Everything is measured on candidates, the {CANDIDATES} best labels of every "
            "document by content alone."
        )
    return text


def _measure_table(c: Comparison) -> str:
    body = [
        [word, f"{c.before[name]:.4f}", f"{c.after[name]:.4f}", _difference(c, name)]
        for name, word in MEASURES.items()
    ]
    return _markdown(["measure", "content", "with label evidence", "better by"], body)


def _difference_table(systems: Sequence[Comparison]) -> str:
    body = [[word, *(_difference(c, name) for c in systems)] for name, word in MEASURES.items()]
    return _markdown(["better by", *(c.system for c in systems)], body)


def _difference(c: Comparison, name: str) -> str:
    mark = "" if abs(c.clear(name)) <= _CLEAR else " ▲" if c.clear(name) > 0 else " ▼"
    return f"{signed_text(c.gain(name), 4)} ± {c.errors[name]:.4f}{mark}"


def _known_table(pages: Sequence[CorpusPage]) -> str:
    body = []
    for page in pages:
        for record in page.known:
            if record["revealed"] not in _TOLD:
                continue
            cells = []
            for name in ("micro_f1", "macro_f1", "one_error", "log_loss"):
                values = [record[system].get(name) for system in ("alone", "predicted", "known")]
                error = record["standard_errors"].get(name, 0.0)
                cells.append(f"{' → '.join(f'{v:.4f}' for v in values)} (± {error:.4f})")
            body.append([page.results.name, record["revealed"], *cells])
    return _markdown(["corpus", "told", "micro F1", "macro F1", "one-error", "log loss"], body)


def _markdown(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return markdown_rows(heads, [list(map(markdown_text, row)) for row in body])


if __name__ == "__main__":
    write_from_folders(write_strong_content, PAGE, __doc__)
