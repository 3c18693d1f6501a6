"""Result folders → docs/findings/ensemble.md, the page on several content classifiers and views.

``python -m docs.make.ensemble RESULTS…`` in the root of the repository, where RESULTS are the
folders of the experiments ``ensemble-reuters``, ``ensemble-ohsumed``, ``ensemble-rcv1-sample``,
``ensemble-mulan`` and ``ensemble-delicious``; ``--embeddings`` adds what the recipe
``examples/recipes/views_and_embeddings.py`` has measured. Scores are means over the seeds;
intervals are those of a paired bootstrap over documents, of the first seed that both systems have.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from docs.make.pages import write_page

from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.significance import Bootstrap, paired_bootstrap
from labelkin.research.experiments import CorpusResults, Run, read_results
from labelkin.research.experiments.plan import LOSSES
from labelkin.research.reports.tables import Cell, Table, format_score, markdown_table

PAGE = Path(__file__).parent.parent / "findings" / "ensemble.md"
MEASURES = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "hamming_loss": "Hamming",
    "subset_loss": "subset 0/1",
    "one_error": "one-error",
}
_LEARNED, _CONTROL, _NOT_EMPTY = "BLR+M2 w=auto", "calibration", "NotEmpty"
#: The ensembles, and which single system each is compared with.
SINGLE = {"Three": ("SVM",), "Strong": ("SVM",), "Default": ("SVM", "Forests", "Logistic")}
_WORDS = {
    _LEARNED: "+ label evidence",
    _CONTROL: "+ calibration (no labels)",
    f"{_LEARNED} | {_NOT_EMPTY}": "+ label evidence, at least one label",
    f" | {_NOT_EMPTY}": "at least one label",
}
_OPENING = """\
# Several content classifiers, and several views of a text

Written by `python -m docs.make.ensemble RESULTS…` from the stored runs of `labelkin experiment run
docs/experiments/configurations/ensemble-reuters.toml --out RESULTS` and of the other experiments
`ensemble-…`; no number is typed by hand. How to use them:
[how to](../how-to/own-classifier.md).

- **Three**: naive Bayes, nearest neighbours and a linear SVM of the same words, weighed against
  each other (`content=["naive_bayes", "nearest_neighbours", "svm"]`, `--content svm,nb,knn`).
- **Strong**: linear SVMs of four views of a text, its words with those of the title beside them,
  its first 60 words, its title, its characters (`preset("strong")`, `--preset strong`).
- **Default**: what `content=None` is for dense numbers, a random forest and a logistic regression
  of scaled features. **Forests** and **Logistic** are one classifier per label, as scikit-learn's
  one-vs-rest has them; **Forest** is one forest for all labels.

With log-odds z of the members m, and lp those of the prior,

    log-odds = lp + Σ a (z − lp) + b,

so that the prior is used only once. The evidence z − lp of naive Bayes, for which words are
independent, is its logarithm, sign(z − lp) · log(1 + |z − lp|); shares of votes get one
more vote, the prior's.
The weights a and b that all labels share maximise the likelihood of training documents that the
members have not seen: each fifth of the documents by members that have learned from the other four.
(Naive Bayes and neighbours could leave out one document at a time; beside an SVM that has learned
from four fifths they would look better than they are.) Those of a label are drawn towards them by a
Gaussian of precision 30 (100 where members are of one kind; a tenth of that for b). A member whose
shared weight is not positive is dropped, and whether the prior is used once or with every member is
decided by the Brier score of the same documents. The cut is ½.

Constants were set out of fold on training documents; the scores of Reuters-21578's test documents
were seen several times while this was built."""

_EMBEDDINGS = """\
Reuters-21578, the four views of *Strong* and the embeddings of all-MiniLM-L6-v2, of the first 48
and of the first 128 tokens, as two more, with label evidence, at least one label; measured by
`python -m examples.recipes.views_and_embeddings FOLDER --seeds 0 1 2 3 4`. The two lengths and the
C of their SVMs were chosen on two splits of the training documents, by the Brier score. Seconds do
not hold those of the embeddings, which are made once."""


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One system on one corpus: its scores, seed by seed."""

    corpus: CorpusResults
    runs: Sequence[Run]

    @cached_property
    def means(self) -> dict[str, float]:
        """Means over the seeds, by measure."""
        found = [
            evaluate(
                self.corpus.Y, np.asarray(run.log_odds()), np.asarray(run.decisions())
            ).scores()
            for run in self.runs
        ]
        return {name: float(np.mean([one[name] for one in found])) for name in MEASURES}

    @property
    def seconds(self) -> float:
        """Processor seconds of learning, mean over the seeds."""
        return float(np.mean([run.seconds.get("learning_cpu", np.nan) for run in self.runs]))


def scores_of(corpus: CorpusResults) -> dict[str, SystemScores]:
    """Return all systems of a corpus by name."""
    names = dict.fromkeys(run.system for run in (*corpus.runs, *corpus.threshold_runs))
    every = [*corpus.runs, *corpus.threshold_runs]
    return {
        name: SystemScores(corpus, [run for run in every if run.system == name]) for name in names
    }


@dataclass(frozen=True, eq=False)
class Comparison:
    """An ensemble with label evidence against a single classifier with or without it."""

    corpus: str
    ensemble: str
    single: str
    bootstraps: dict[str, Bootstrap]

    def gain(self, measure: str) -> float:
        """Return by how much the ensemble is better; below 0, worse."""
        difference = self.bootstraps[measure].difference
        return -difference if measure in LOSSES else difference

    def is_clear(self, measure: str) -> bool:
        """Return whether the interval of the difference lies on one side of 0."""
        return self.bootstraps[measure].low > 0 or self.bootstraps[measure].high < 0

    @property
    def clearly_worse(self) -> list[str]:
        """Measures whose interval lies wholly on the worse side."""
        return [name for name in MEASURES if self.gain(name) < 0 and self.is_clear(name)]


def compare(corpus: CorpusResults, ensemble: str, single: str) -> Comparison | None:
    """Compare two systems of one corpus; ``None`` where one of them is not there."""
    found = scores_of(corpus)
    if ensemble not in found or single not in found:
        return None
    seeds = {run.seed: run for run in found[ensemble].runs}
    both = [(run, seeds[run.seed]) for run in found[single].runs if run.seed in seeds]
    if not both:
        return None
    before, after = both[0]
    bootstraps = {}
    for name in MEASURES:
        what = Run.log_odds if name == "one_error" else Run.decisions
        sides = np.asarray(what(before)), np.asarray(what(after))
        bootstraps[name] = paired_bootstrap(
            corpus.Y, *sides, name, random_state=0, names=(single, ensemble)
        )
    return Comparison(corpus.name, ensemble, single, bootstraps)


def comparisons_of(corpora: Iterable[CorpusResults]) -> Iterator[Comparison]:
    """Yield every ensemble with label evidence against single classifiers."""
    for corpus in corpora:
        for ensemble, singles in SINGLE.items():
            for single in singles:
                # One classifier per label is scikit-learn's, which knows no label evidence.
                other = f"{single}+{_LEARNED}" if single == "SVM" else single
                found = compare(corpus, f"{ensemble}+{_LEARNED}", other)
                if found is not None:
                    yield found


def score_table(corpus: CorpusResults) -> Table:
    """Return the scores of all systems on one corpus, and what they cost."""
    found = scores_of(corpus)
    best = {
        name: (min if name in LOSSES else max)(round(one.means[name], 4) for one in found.values())
        for name in MEASURES
    }
    rows = []
    for system, scores in found.items():
        cells = [
            Cell(format_score(scores.means[name]), best=round(scores.means[name], 4) == best[name])
            for name in MEASURES
        ]
        rows.append([Cell(_called(system)), *cells, Cell(f"{scores.seconds:.1f}")])
    return Table(("system", *MEASURES.values(), "seconds"), [rows])


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Return the differences with their intervals; those that are clear in bold."""
    rows = [
        [
            Cell(one.corpus),
            Cell(f"{_called(one.ensemble)} against {_called(one.single)}"),
            *(Cell(_interval(one, name), best=one.is_clear(name)) for name in MEASURES),
        ]
        for one in comparisons
    ]
    heads = ("corpus", "systems", *MEASURES.values())
    return Table(heads, [rows])


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Return in a sentence how often an ensemble is better, equal and worse."""
    gains = [one.gain(name) for one in comparisons for name in MEASURES]
    worse = [f"{one.corpus} ({MEASURES[n]})" for one in comparisons for n in one.clearly_worse]
    counts = sum(g > 0 for g in gains), sum(g == 0 for g in gains), sum(g < 0 for g in gains)
    last = f"wholly on the worse side: {', '.join(worse)}" if worse else "on the worse side: none"
    return (
        f"Better / equal / worse of {len(gains)} pairs: {' / '.join(map(str, counts))}; "
        f"intervals {last}."
    )


def embedding_table(scores: Sequence[Mapping[str, Any]]) -> Table:
    """Return the scores of the strong preset with embeddings as one more view, by seed."""
    rows = [
        [
            Cell(f"seed {one['seed']}"),
            *(Cell(format_score(one[name])) for name in MEASURES),
            Cell(f"{one['seconds']:.1f}"),
        ]
        for one in scores
    ]
    means = {
        name: sum(one[name] for one in scores) / len(scores) for name in (*MEASURES, "seconds")
    }
    rows.append(
        [
            Cell("mean"),
            *(Cell(format_score(means[name])) for name in MEASURES),
            Cell(f"{means['seconds']:.1f}"),
        ]
    )
    return Table(("", *MEASURES.values(), "seconds"), [rows])


def page(folders: Sequence[str | Path], embeddings: Path | None = None) -> str:
    """Return the page."""
    corpora = [corpus for one in folders for corpus in read_results(one, partial=True).corpora]
    comparisons = list(comparisons_of(corpora))
    parts = [_OPENING, "## What it is worth"]
    for ensemble in SINGLE:
        some = [one for one in comparisons if one.ensemble.startswith(f"{ensemble}+")]
        if some:
            parts += [f"**{ensemble}.** {verdict(some)}", markdown_table(comparison_table(some))]
    parts += [
        "Differences, and in brackets their 95 % intervals by a paired bootstrap over documents; "
        "in bold where the interval lies on one side of 0. For losses, below 0 is better.",
        "## Scores and costs",
        "Means over the seeds; seconds of one core to learn content, or what is added to it, out "
        "of fold included.",
    ]
    for corpus in corpora:
        seeds = len({run.seed for run in corpus.runs})
        title = f"### {corpus.name}" + (f" ({seeds} seeds)" if seeds > 1 else "")
        parts += [title, markdown_table(score_table(corpus))]
    if embeddings is not None:
        found = embedding_table(json.loads(embeddings.read_text(encoding="utf-8")))
        parts += ["## With sentence embeddings", _EMBEDDINGS, markdown_table(found)]
    return "\n\n".join(parts) + "\n"


def _called(system: str) -> str:
    """Return the name of a system in words."""
    content, plus, rest = system.partition("+")
    if not plus:
        content, bar, _ = system.partition(" | ")
        return f"{content}, {_WORDS[f' | {_NOT_EMPTY}']}" if bar else content
    return f"{content} {_WORDS.get(rest, rest)}"


def _interval(one: Comparison, name: str) -> str:
    found = one.bootstraps[name]
    return f"{found.difference:+.4f} ({found.low:+.4f} … {found.high:+.4f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page from result folders."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m docs.make.ensemble")
    parser.add_argument("results", nargs="+", help="folders of experiments, in order")
    parser.add_argument("--embeddings", type=Path, metavar="FILE", help="scores.json of the recipe")
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args(arguments)
    write_page(given.out, page(given.results, given.embeddings))


if __name__ == "__main__":
    main()
