"""What must hold at scale, measured: ``python -m benchmarks.scale_bars`` (``--only`` for some).

Each bar prints what was measured, what may be measured at most or at least, and whether that holds.
Time is CPU time, memory the peak of a process of its own. All is generated, but for the corpus
delicious (:mod:`labelkin.corpora` says where corpora are).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Bar(NamedTuple):
    """One number that must hold: at most, or at least, ``bound``."""

    what: str
    measured: float
    sign: str
    bound: float

    def line(self) -> str:
        """Return it as a row of a table."""
        holds = self.measured <= self.bound if self.sign == "≤" else self.measured >= self.bound
        answer = "yes" if holds else "**no**"
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
        yield Bar(f"… × CPU per stored weight ({weights:.2f} × weights)", times / weights, "≤", 2.2)
    for n in (50_000, 100_000):
        times = found[n, 10_000]["cpu_seconds"] / found[n, 5_000]["cpu_seconds"]
        yield Bar(f"twice 5,000 labels, {n:,} documents: × CPU", times, "≤", 1.5)


#: Measures of documents that a candidate must not lose, and measures of which 90 % of the gain
#: must remain.
_KEPT, _GAINED = ("precision@5", "ndcg@5"), ("micro_f1", "macro_f1")


def delicious(n_documents: int | None = None, top: int = 200) -> Iterator[Bar]:
    """Learn ``"auto"`` on the ``top`` candidates of an SVM, against all labels."""
    from labelkin import LabelRescorer, LogisticLabels, PlattSVM, corpora
    from labelkin.label_matrix import Cells, best_cells
    from labelkin.metrics import evaluate

    def best(log_odds: Any) -> Any:
        return best_cells(lambda rows: log_odds[rows], *log_odds.shape, top)

    def auto(labels: Any = None) -> LabelRescorer:
        return LabelRescorer(labels, "soft", "auto", scale="log_odds")

    corpus = corpora.load("delicious")
    train, test = np.asarray(corpus.train)[:n_documents], np.asarray(corpus.test)
    X, Y, truth = corpus.documents, corpus.Y.rows(train).dense(), corpus.Y.rows(test).dense()
    svm = PlattSVM(random_state=0)
    start = time.process_time()
    out_of_fold = svm.fit_out_of_fold(X[train], corpus.Y.rows(train))
    content_seconds, content = time.process_time() - start, svm.log_odds(X[test])
    # Compile, or load what is compiled, before time is taken.
    some = Cells.full((4000, 9)).matrix(np.resize(out_of_fold[:, :9], (4000, 9)).ravel())
    auto(LogisticLabels(neighbours=8)).fit(np.resize(Y[:, :9], (4000, 9)), scores=some)
    scores, seconds = {"content": evaluate(truth, content).scores()}, {}
    for name, learn, judge in (
        ("all labels", out_of_fold, content),
        ("candidates", best(out_of_fold), best(content)),
    ):
        start = time.process_time()
        found = auto().fit(Y, scores=learn).rescore(judge)
        seconds[name] = time.process_time() - start
        scores[name] = evaluate(truth, found).scores()
    alone, dense, few = scores["content"], scores["all labels"], scores["candidates"]
    for name in _KEPT:
        yield Bar(f"delicious, top={top}: {name}", few[name], "≥", dense[name])
    for name in _GAINED:
        share = (few[name] - alone[name]) / (dense[name] - alone[name])
        yield Bar(f"delicious, top={top}: share of the gain in {name}", share, "≥", 0.9)
    share = seconds["candidates"] / seconds["all labels"]
    what = f"delicious, top={top}: share of {seconds['all labels']:.1f} s CPU to learn and rescore"
    yield Bar(what, share, "≤", 0.2)
    whole = [content_seconds + seconds[name] for name in ("candidates", "all labels")]
    what = f"… with the SVM, which both have ({content_seconds:.1f} s CPU); no bar"
    yield Bar(what, whole[0] / whole[1], "≤", 1.0)


def _made(task: str, *numbers: int) -> dict[str, Any]:
    """Measure one task of :mod:`benchmarks.scale` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--one", task, *map(str, numbers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


SUBJECTS: dict[str, Callable[..., Iterator[Bar]]] = {
    "layer": layer,
    "rescore": rescore,
    "auto": auto,
    "growth": growth,
    "delicious": delicious,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_bars", description=__doc__)
    parser.add_argument("--only", action="append", choices=SUBJECTS, help="may be repeated")
    parser.add_argument("--documents", type=int, help="of delicious, to train on (all)")
    chosen = parser.parse_args()
    print("| bar | measured | must be | holds |", "|---|---|---|---|", sep="\n")
    for name in chosen.only or SUBJECTS:
        given = {"n_documents": chosen.documents} if name == "delicious" else {}
        for bar in SUBJECTS[name](**given):
            print(bar.line(), flush=True)


if __name__ == "__main__":
    main()
