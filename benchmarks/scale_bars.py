"""What must hold at scale, measured: ``python -m benchmarks.scale_bars`` (``--only`` for some).

Each line has the measurement, its limit, and whether it is kept.
Time is CPU time, memory the peak of a separate process. All is generated, but for the corpus
delicious (see :mod:`labelkin.corpora` for its place). ``--write docs/findings/scale.md`` puts
the table into the page; bars that are not asked for stay as they are there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks import growth_page
from benchmarks.scale import made_labels, made_texts


class Bar(NamedTuple):
    """One number that must hold: at most, or at least, ``bound``.

    ``error``: the standard error of the difference between the two, where documents are paired.
    """

    what: str
    measured: float
    sign: str
    bound: float
    error: float | None = None

    def line(self) -> str:
        """Return it as a row of a table."""
        holds = self.measured <= self.bound if self.sign == "≤" else self.measured >= self.bound
        answer = "yes" if holds else "**no**"
        if self.error is not None:
            answer += f" ({self.measured - self.bound:+.4f} ± {self.error:.4f})"
        return f"| {self.what} | {self.measured:.4g} | {self.sign} {self.bound:.4g} | {answer} |"


def layer() -> Iterator[Bar]:
    """Fit label evidence of 100,000 labels from 1,000,000 label sets, and of a tenth of both."""
    large, small = _made("layer", 1_000_000, 100_000, 0), _made("layer", 100_000, 10_000, 0)
    yield Bar("layer 100,000 labels × 1,000,000 sets, CPU s", large["cpu_seconds"], "≤", 200)
    yield Bar("layer 100,000 labels × 1,000,000 sets, peak MB", large["mb_peak"], "≤", 500)
    yield Bar("layer 10,000 labels × 100,000 sets, CPU s", small["cpu_seconds"], "≤", 6)


def rescore() -> Iterator[Bar]:
    """Rescore 10,000 documents × 100 candidates at 100,000 labels."""
    found = _made("rescore", 10_000, 100_000, 100)
    more = found["mb_peak"] - found["mb_before"]
    yield Bar("rescore 10,000 × 100 candidates, CPU s", found["cpu_seconds"], "≤", 0.5)
    yield Bar("rescore 10,000 × 100 candidates, MB above the model", more, "≤", 200)


def auto() -> Iterator[Bar]:
    """Learn a weight on 45,000 documents × 4,000 labels, 100 candidates each."""
    found = _made("auto", 45_000, 4_000, 100)
    yield Bar('"auto" 45,000 × 4,000, 100 candidates, CPU s', found["cpu_seconds"], "≤", 60)
    yield Bar('"auto" 45,000 × 4,000, 100 candidates, peak MB', found["mb_peak"], "≤", 1024)


def growth() -> Iterator[Bar]:
    """Fit the label layer with twice the documents, and with twice the labels."""
    found = {(n, p): _made("layer", n, p, 0) for n in (50_000, 100_000) for p in (5_000, 10_000)}
    for p in (5_000, 10_000):
        one, two = found[50_000, p], found[100_000, p]
        times = two["cpu_seconds"] / one["cpu_seconds"]
        weights = two["weights_per_label"] / one["weights_per_label"]
        yield Bar(f"twice 50,000 documents, {p:,} labels: × CPU", times, "≤", 4)
        yield Bar(
            f"twice 50,000 documents, {p:,} labels: × CPU per stored weight",
            times / weights,
            "≤",
            2.2,
        )
    for n in (50_000, 100_000):
        times = found[n, 10_000]["cpu_seconds"] / found[n, 5_000]["cpu_seconds"]
        yield Bar(f"twice 5,000 labels, {n:,} documents: × CPU", times, "≤", 1.5)


def delicious_layer(every: int = 20) -> Iterator[Bar]:
    """Fit label evidence of delicious, against scikit-learn, which is asked about some labels."""
    from sklearn.linear_model import LogisticRegression

    from labelkin import LogisticLabels, corpora
    from labelkin.label_matrix import read_labels
    from labelkin.method.label_evidence import prior_scale
    from labelkin.method.label_sets import count_label_sets

    corpus = corpora.load("delicious")
    labels = read_labels(corpus.Y[corpus.train])
    LogisticLabels(neighbours=8).fit(labels.rows(range(100)))  # compile, or load what is compiled
    start = time.process_time()
    layer = LogisticLabels().fit(labels)
    ours = (time.process_time() - start) / labels.shape[1]
    Y, tau = labels.dense(), prior_scale(count_label_sets(labels))
    some = range(0, labels.shape[1], every)
    problems = [(sparse.csr_matrix(np.delete(Y, j, axis=1)), Y[:, j], tau[j] / 2) for j in some]
    start = time.process_time()
    for X, y, C in problems:
        LogisticRegression(C=C, solver="liblinear").fit(X, y)
    theirs = (time.process_time() - start) / len(problems)
    truth = corpus.Y[corpus.test]
    margins = layer.log_odds(truth)
    likelihood = (truth * margins - np.logaddexp(0, margins)).sum(axis=1).mean()
    yield Bar("delicious, layer: CPU × scikit-learn per label", ours / theirs, "≤", 0.05)
    yield Bar("delicious, layer: held-out log-likelihood per document", likelihood, "≥", -36)


def model(n_documents: int = 20_000, n_labels: int = 10_000) -> Iterator[Bar]:
    """Train a model of many labels on generated texts, write it, and ask the service for labels."""
    from sklearn.pipeline import make_pipeline

    from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours, save
    from labelkin.service.answers import suggest_open_labels
    from labelkin.service.messages import SuggestRequest
    from labelkin.service.models import ServedModel
    from labelkin.text import TermWeights, WordCounts

    Y = made_labels(n_documents, n_labels)
    texts = made_texts(Y)
    for content in (NearestNeighbours(top=100), NaiveBayes(top=100)):
        name = type(content).__name__
        classifier = LabelDependenceClassifier(content, random_state=0)
        steps = [TermWeights()] if name == "NearestNeighbours" else []
        fitted = make_pipeline(WordCounts(), *steps, classifier).fit(texts, Y)
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.labelkin")
            save(fitted, path)
            size, served = path.stat().st_size / 1e6, ServedModel("model", path)
        seconds = []
        for text in made_texts(made_labels(200, n_labels, 3), seed=4):
            start = time.perf_counter(), time.process_time()
            suggest_open_labels(served, SuggestRequest(text=text))
            seconds.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        wall, cpu = 1e3 * np.median(seconds, axis=0)
        yield Bar(f"{n_labels:,} labels, {name}: MB of the file", size, "≤", 100)
        yield Bar(f"{n_labels:,} labels, {name}: ms of a suggestion, CPU", cpu, "≤", 20)
        yield Bar(f"{n_labels:,} labels, {name}: ms that pass, median of 200", wall, "≤", 20)


#: Measures of documents that a candidate must not lose, and measures of which 90 % of the gain
#: must remain.
_KEPT, _GAINED = ("precision@5", "ndcg@5"), ("micro_f1", "macro_f1")


def delicious(n_documents: int | None = None, top: int = 200) -> Iterator[Bar]:
    """Learn ``"auto"`` on the ``top`` candidates of an SVM, against all labels."""
    from labelkin import LabelRescorer, LogisticLabels, PlattSVM, corpora
    from labelkin.evaluation.metrics import evaluate
    from labelkin.evaluation.metrics.inputs import Truth
    from labelkin.evaluation.metrics.rankings import first_label_scores
    from labelkin.label_matrix import Cells, best_cells, read_labels

    def best(log_odds: Any) -> Any:
        return best_cells(lambda rows: log_odds[rows], *log_odds.shape, top)

    def auto(labels: Any = None) -> LabelRescorer:
        return LabelRescorer(labels, variant="soft", evidence_weight="auto", scale="log_odds")

    corpus = corpora.load("delicious")
    train, test = np.asarray(corpus.train)[:n_documents], np.asarray(corpus.test)
    X, Y, truth = corpus.documents, corpus.Y[train], corpus.Y[test]
    svm = PlattSVM(random_state=0)
    out_of_fold = svm.fit_out_of_fold(X[train], Y)
    content = svm.log_odds(X[test])
    # Compile, or load what is compiled, before time is taken.
    some = Cells.full((4000, 9)).matrix(np.resize(out_of_fold[:, :9], (4000, 9)).ravel())
    auto(LogisticLabels(neighbours=8)).fit(np.resize(Y[:, :9], (4000, 9)), scores=some)
    scores, seconds = {"content": evaluate(truth, content).scores()}, {}
    first: dict[str, Any] = {}
    for name, learn, judge in (
        ("all labels", out_of_fold, content),
        ("candidates", best(out_of_fold), best(content)),
    ):
        start = time.process_time()
        rescorer = auto()
        unseen = rescorer.fit_out_of_fold(Y, scores=learn)
        found = rescorer.rescore(judge)
        seconds[name] = time.process_time() - start
        scores[name] = evaluate(truth, found).scores()
        for rows, log_odds in ((test, found), (train, unseen)):
            values = first_label_scores(Truth.of(read_labels(corpus.Y[rows])), log_odds, (5,))
            first |= {(name, measure, len(rows)): values[measure] for measure in _KEPT}
    alone, dense, few = scores["content"], scores["all labels"], scores["candidates"]
    for name in _KEPT:
        for what, rows in (("", test), (" of training documents, out of fold", train)):
            ours, theirs = (first[which, name, len(rows)] for which in ("candidates", "all labels"))
            error = (ours - theirs).std(ddof=1) / len(ours) ** 0.5
            bar = f"delicious, top={top}: {name}{what}"
            yield Bar(bar, ours.mean(), "≥", theirs.mean(), error)
    for name in _GAINED:
        share = (few[name] - alone[name]) / (dense[name] - alone[name])
        yield Bar(f"delicious, top={top}: share of the gain in {name}", share, "≥", 0.9)
    share = seconds["candidates"] / seconds["all labels"]
    yield Bar(f"delicious, top={top}: share of the CPU to learn and rescore", share, "≤", 0.2)


def cluster(n_blocks: int = 16) -> Iterator[Bar]:
    """Ask what Dask's worker processes cost beyond the work."""
    from benchmarks.cluster import overheads

    for one in overheads(n_blocks * 10_000, rounds=5, say=lambda text: None):
        bar = f"Dask, {n_blocks} blocks of 10,000 documents, {one.task}: × CPU"
        yield Bar(bar, one.ratio, "≤", 1.2)


def _made(task: str, *numbers: int) -> dict[str, Any]:
    """Measure one task of :mod:`benchmarks.scale` in a separate process."""
    command = [sys.executable, "-m", "benchmarks.scale", "--one", task, *map(str, numbers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


SUBJECTS: dict[str, Callable[..., Iterator[Bar]]] = {
    "layer": layer,
    "rescore": rescore,
    "auto": auto,
    "growth": growth,
    "delicious-layer": delicious_layer,
    "model": model,
    "delicious": delicious,
    "cluster": cluster,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_bars", description=__doc__)
    parser.add_argument("--only", action="append", choices=SUBJECTS, help="may be repeated")
    parser.add_argument("--documents", type=int, help="of delicious, to train on (all)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the page, Markdown")
    chosen = parser.parse_args()
    print(*growth_page.BARS_HEAD, sep="\n")
    for name in chosen.only or SUBJECTS:
        given = {"n_documents": chosen.documents} if name == "delicious" else {}
        lines = []
        for bar in SUBJECTS[name](**given):
            lines.append(bar.line())
            print(lines[-1], flush=True)
        if chosen.write:
            growth_page.write_bars(chosen.write, lines)


if __name__ == "__main__":
    main()
