"""Learning curves → docs/findings/next-documents.md, the page on which documents to label next.

``python -m docs.make.next_documents RESULTS`` in the root of the repository runs what is not in the
folder RESULTS yet, a small file for each curve, and writes the page and its picture;
``--only-write`` runs nothing.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docs.make.pages import markdown_rows, write_page
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from labelkin import LabelDependenceClassifier, PlattSVM, corpora
from labelkin.curation import document_values, next_documents
from labelkin.evaluation import metrics
from labelkin.files import write_atomic
from labelkin.text import TermWeights, WordCounts

PAGE = Path(__file__).parent.parent / "findings" / "next-documents.md"
SEEDS = 5
#: By corpus: documents that are labelled at the start, in a batch, and batches.
PLANS = {"enron": (50, 50, 4), "bibtex": (100, 100, 4), "reuters21578": (100, 100, 4)}
#: Documents of the pool, at most.
POOL = 3000
#: By the name on the page: the value of a document, of which a batch has the highest; ``None`` is
#: chance, and ``"default"`` the batch of the library, which represents the entropy of the pool.
STRATEGIES = {
    "random": None,
    "entropy": "entropy",
    "margin": "margin",
    "representative, entropy": "default",
}
#: The strategy of the library, compared with each of the others.
OURS = "representative, entropy"
#: Measures, and whether they are to be raised.
MEASURES = {"micro_f1": True, "macro_f1": True, "one_error": False}
_WORDS = {"micro_f1": "micro F1", "macro_f1": "macro F1", "one_error": "one-error"}


@dataclass(frozen=True, eq=False)
class Prepared:
    """A corpus as the curves see it: vectors, labels, which documents are drawn from and scored."""

    X: Any
    Y: Any
    train: NDArray[Any]
    test: NDArray[Any]


class Curve(NamedTuple):
    """One strategy with one seed: documents that are labelled, and the scores after each batch."""

    corpus: str
    strategy: str
    seed: int
    labelled: list[int]
    scores: dict[str, list[float]]

    @property
    def file(self) -> str:
        """The name of the file of the curve."""
        return f"{self.corpus}-{self.strategy.replace(', ', '-')}-{self.seed}.json"

    def mean(self, measure: str) -> float:
        """Return the mean over all batches, the start left out."""
        return float(np.mean(self.scores[measure][1:]))


def prepare(name: str) -> Prepared:
    """Load a corpus; words are those of all training texts, which need no labels."""
    corpus = corpora.load(name)
    if corpus.features == "text":
        words = make_pipeline(WordCounts(min_documents=3), TermWeights("ltc"))
        words.fit(corpus.documents[corpus.train])
        X = words.transform(corpus.documents)
    else:
        X = normalize(corpus.documents)
    return Prepared(sparse.csr_array(X), corpus.Y, corpus.train, corpus.test)


def run_seed(
    name: str,
    given: Prepared,
    seed: int,
    plan: tuple[int, int, int],
    wanted: Sequence[str] = tuple(STRATEGIES),
) -> Iterator[Curve]:
    """Yield the curves of all strategies from the same first documents on."""
    n_start, batch, n_batches = plan
    drawn = np.random.RandomState(seed).permutation(given.train)[:POOL]
    start, pool = drawn[:n_start], drawn[n_start:]
    first = _fit(given, start)
    for strategy in wanted:
        value, model = STRATEGIES[strategy], first
        labelled, left = start, pool  # the pool is in random order
        scores: dict[str, list[float]] = {measure: [] for measure in MEASURES}
        sizes = []
        for step in range(n_batches + 1):
            if step:
                chosen = np.arange(batch)
                if value is not None:
                    chosen = choose(model, given.X[left], batch, value)
                labelled = np.concatenate([labelled, left[chosen]])
                left = np.delete(left, chosen)
                model = _fit(given, labelled)
            sizes.append(len(labelled))
            for measure, score in _scores(model, given).items():
                scores[measure].append(score)
        yield Curve(name, strategy, seed, sizes, scores)


def choose(model: LabelDependenceClassifier, X: Any, n: int, value: str) -> NDArray[Any]:
    """Return the documents that a strategy chooses."""
    if value == "default":
        return np.array([one.document for one in next_documents(model, X, n)])
    values = document_values(model, X)
    if value == "margin":
        values = 0.5 - np.abs(model.predict_proba(X) - 0.5).min(axis=1)
    return np.argsort(-values, kind="stable")[:n]


def _fit(given: Prepared, rows: NDArray[Any]) -> LabelDependenceClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that no document has yet
        model = LabelDependenceClassifier(PlattSVM(random_state=0))
        return model.fit(given.X[rows], given.Y[rows])


def _scores(model: LabelDependenceClassifier, given: Prepared) -> dict[str, float]:
    log_odds, truth = model.log_odds(given.X[given.test]), given.Y[given.test]
    found = metrics.evaluate(truth, log_odds, model.decide(log_odds)).scores()
    return {measure: float(found[measure]) for measure in MEASURES}


def run_missing(folder: Path, names: Sequence[str], seeds: int = SEEDS) -> None:
    """Run the curves that a folder has not, seed by seed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        given = None
        for seed in range(seeds):
            missing = [
                strategy
                for strategy in STRATEGIES
                if not (folder / Curve(name, strategy, seed, [], {}).file).exists()
            ]
            if not missing:
                continue
            given = prepare(name) if given is None else given
            for curve in run_seed(name, given, seed, PLANS[name], missing):
                write_atomic(folder / curve.file, json.dumps(curve._asdict()) + "\n")
                print(curve.file, curve.scores, flush=True)


def read_curves(folder: Path) -> dict[str, dict[str, list[Curve]]]:
    """Return the stored curves by corpus and strategy, of the seeds that all strategies have."""
    stored = [Curve(**json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    by_place = {(one.corpus, one.strategy, one.seed): one for one in stored}
    found = {}
    for name in PLANS:
        seeds = [
            seed
            for seed in sorted({one.seed for one in stored})
            if all((name, strategy, seed) in by_place for strategy in STRATEGIES)
        ]
        if seeds:
            found[name] = {
                strategy: [by_place[name, strategy, seed] for seed in seeds]
                for strategy in STRATEGIES
            }
    return found


class Difference(NamedTuple):
    """By how much a strategy is better than another, over seeds: mean and half of the interval."""

    better: float
    half: float

    def __str__(self) -> str:
        sign = "▲" if self.better > self.half else "▼" if -self.better > self.half else ""
        return f"{self.better:+.4f} ± {self.half:.4f}{' ' + sign if sign else ''}"


def difference(
    curves: Mapping[str, Sequence[Curve]], strategy: str, against: str, measure: str
) -> Difference:
    """Compare the means over the curves, seed by seed: 95 % by Student's t."""
    pairs = list(zip(curves[strategy], curves[against], strict=True))
    assert all(one.seed == other.seed for one, other in pairs)
    sign = 1 if MEASURES[measure] else -1
    gains = np.array([sign * (one.mean(measure) - other.mean(measure)) for one, other in pairs])
    n = len(gains)
    half = stats.t.ppf(0.975, n - 1) * gains.std(ddof=1) / np.sqrt(n) if n > 1 else float("nan")
    return Difference(float(gains.mean()), float(half))


def documents_needed(curves: Mapping[str, Sequence[Curve]], strategy: str, measure: str) -> float:
    """Return how many documents the mean curve needs to be where chance ends; NaN: it is not."""
    goal = np.mean([one.scores[measure][-1] for one in curves["random"]])
    values = np.mean([one.scores[measure] for one in curves[strategy]], axis=0)
    sizes = curves[strategy][0].labelled
    if not MEASURES[measure]:
        goal, values = -goal, -values
    reached = np.flatnonzero(values >= goal - 1e-12)
    if not len(reached):
        return float("nan")
    i = int(reached[0])
    if i == 0:
        return float(sizes[0])
    share = (goal - values[i - 1]) / (values[i] - values[i - 1])
    return float(sizes[i - 1] + share * (sizes[i] - sizes[i - 1]))


def write_next_documents(folder: Path, page: Path = PAGE) -> None:
    """Write the page, and its picture beside it, from the stored curves."""
    found = read_curves(folder)
    if not found:
        raise ValueError(f"{folder} has no seed with a curve of every strategy. Run it first.")
    parts = [_OPENING.format(pool=POOL)]
    for name, curves in found.items():
        n_start, batch, n_batches = PLANS[name]
        until = n_start + batch * n_batches
        parts.append(f"### {name}")
        n_seeds = len(curves["random"])
        parts.append(
            f"{n_start} documents at the start, then {batch} at a time up to {until}; {n_seeds} "
            f"seed{'' if n_seeds == 1 else 's'}."
        )
        parts.append(_score_table(curves))
        parts.append(_difference_table(curves))
    parts.append(_in_words(found))
    parts.append(_CLOSING)
    write_page(page, "\n\n".join(parts) + "\n")
    draw(found, page.with_suffix(".svg"))


def _score_table(curves: Mapping[str, Sequence[Curve]]) -> str:
    rows = []
    for strategy, some in curves.items():
        row = [strategy]
        for measure in MEASURES:
            last = [one.scores[measure][-1] for one in some]
            row.append(f"{np.mean([one.mean(measure) for one in some]):.4f}, {np.mean(last):.4f}")
        needed = documents_needed(curves, strategy, "micro_f1")
        row.append("not reached" if np.isnan(needed) else f"{needed:.0f}")
        rows.append(row)
    measures = [f"{_WORDS[measure]}: mean, end" for measure in MEASURES]
    return markdown_rows(["chosen by", *measures, "documents for micro F1 of random's end"], rows)


def _difference_table(curves: Mapping[str, Sequence[Curve]]) -> str:
    rows = [
        [
            f"{strategy} over {against}",
            *(str(difference(curves, strategy, against, measure)) for measure in MEASURES),
        ]
        for against in ("random", "entropy", "margin")
        for strategy in curves
        if strategy not in ("random", against) and (against == "random" or strategy == OURS)
    ]
    return markdown_rows(["better by", *_WORDS.values()], rows)


def _in_words(found: Mapping[str, Mapping[str, Sequence[Curve]]]) -> str:
    """Return how often each comparison is clearly won and lost."""
    lines = []
    for against in ("random", "entropy", "margin"):
        all_of = [
            difference(curves, OURS, against, measure)
            for curves in found.values()
            for measure in MEASURES
        ]
        won = sum(one.better > one.half for one in all_of)
        lost = sum(-one.better > one.half for one in all_of)
        lines.append(
            f"- *{OURS}* against *{against}*: clearly better in {won}, clearly worse in "
            f"{lost} of {len(all_of)} comparisons (corpora × measures)."
        )
    return "### All in all\n\n" + "\n".join(lines)


def draw(found: Mapping[str, Mapping[str, Sequence[Curve]]], path: Path) -> None:
    """Draw micro F1 over the number of labelled documents, a panel for each corpus."""
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    colours = ["#66707a", "#b5490f", "#c79a00", "#1a5fb4"]
    with rc_context({"svg.hashsalt": "labelkin", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(3.4 * len(found), 3.0), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(found)))
        for axis, (name, curves) in zip(axes, found.items(), strict=True):
            for (strategy, some), colour in zip(curves.items(), colours, strict=True):
                values = np.array([one.scores["micro_f1"] for one in some])
                middle, sizes = values.mean(axis=0), some[0].labelled
                axis.plot(sizes, middle, color=colour, label=strategy, linewidth=1.2)
                if len(values) > 1:
                    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
                    axis.fill_between(
                        sizes, middle - error, middle + error, color=colour, alpha=0.15, linewidth=0
                    )
            axis.set_title(name)
            axis.set_xlabel("labelled documents")
            axis.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel("micro F1 (mean ± standard error)")
        axes[-1].legend(frameon=False, fontsize=7)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    write_atomic(path, file.getvalue())


_OPENING = """\
# Which document to label next

A model learns more from some documents than from others. `next_documents` chooses such documents
from a pool, and `labelkin next MODEL POOL` does so on the command line:

```python
from labelkin import LabelDependenceClassifier, NaiveBayes, corpora
from labelkin.curation import next_documents
from labelkin.text import WordCounts

news = corpora.newsroom(400)
words = WordCounts()
X = words.fit_transform(news.documents[news.train])
pool = words.transform(news.documents[news.test])
model = LabelDependenceClassifier(NaiveBayes()).fit(X, news.label_sets(news.train))
for one in next_documents(model, pool, 3):
    print(one.document, round(one.value, 2), [label.label for label in one.labels])
```

```sh
labelkin next news.labelkin unlabelled.jsonl -n 20
labelkin next news.labelkin texts/ -n 100 --out next.csv
```

## The value of a document

The *entropy* of a document is the sum of the entropies of its labels, in bits: how uncertain the
model is about it. The curves compare it with *margin*, how near to ½ the most uncertain label is
(BinMin). Labels depend, and the entropy of a whole label set is less than the sum; a bound by the
best tree of labels was part of an earlier version, and was no better
([what was tried](../decisions/0012-next-documents.md)).

## A batch

Documents of the highest value are often outliers, and often similar to each other. A model learns
from a document about similar documents, so that the documents of a batch *represent* the
uncertainty of the pool: documents are added one after the other, each by its `gain` in the sum over
all documents of value × cosine to the most similar one of the batch. No document is taken twice.
Without *representative*, a strategy of the curves takes the documents of the highest values.
Cosines are of the vectors that the model uses, or of `vectors=`, for example embeddings. In a pool
of more than 4,096 documents, those of highest value are represented.

Values cost a prediction and little more; blocks go to a Dask cluster by `engine=` or `--dask`.
`document_values(model, pool)` of `labelkin.curation` returns the value of every document, for
programs that sort tasks themselves.

## Learning curves

Written by `python -m docs.make.next_documents RESULTS`, which runs what is not in the folder
RESULTS yet; no number is typed by hand. The model is `LabelDependenceClassifier(PlattSVM())`,
decisions are cut at ½. Seeds draw the first documents and a pool of at most {pool:,} training
documents; all strategies of a seed begin with the same ones. Scores are those of the whole
test set. *mean* is over all batches after the start, *end* after the last one. Differences are of
the means over the curve, better is +, also for one-error; ± is 95 % of Student's t over the seeds
(paired); ▲ and ▼ mark those beyond it.

{design}

![Learning curves: micro F1 by the number of labelled documents](next-documents.svg)"""

_DESIGN = """\
The batch was designed on the training documents of *bibtex* alone, some of which were the test set
([what was tried](../decisions/0012-next-documents.md)). The choice between the entropy of labels
and that of label sets was made later, when the curves of both had been read."""

_OPENING = _OPENING.replace("{design}", _DESIGN)

_CLOSING = """\
### What these curves do not show

Answers are never wrong here and complete; a document with ten labels costs as much as one with
none. Content is one classifier, batches have one size, and there are some hundred documents; with
thousands, chance catches up. A label that no labelled document has is not searched. All three
corpora are text: on `water-quality`, with 16 measurements per document, the representative batch
was worse than chance ([what was tried](../decisions/0012-next-documents.md))."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--only-write", action="store_true")
    parser.add_argument("--corpora", nargs="*", default=list(PLANS), choices=list(PLANS))
    given = parser.parse_args(arguments)
    if not given.only_write:
        run_missing(given.results, given.corpora)
    write_next_documents(given.results)


if __name__ == "__main__":
    main()
