"""All labels or neighbours: from how many labels on should each be told from a few others.

``python -m benchmarks.all_or_neighbours``

``LogisticLabels(neighbours="auto")`` tells a label from all others up to 300 labels, and from its
neighbours above. This is the evidence: both ways, end to end (out-of-fold log-odds of an SVM,
weight learned), on *training* documents of corpora, a part of which is held out. Delicious is cut
down to its most frequent labels, so that documents stay the same while labels grow.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

_MEASURES = ("micro_f1", "macro_f1", "hamming_loss", "ndcg@5", "log_loss")
#: Corpus and how many of its labels, the most frequent ones; ``None``: all.
PLAN: list[tuple[str, int | None]] = [
    ("enron", None),
    ("bibtex", None),
    *(("delicious", p) for p in (100, 200, 300, 400, 600)),
]


def compare(name: str, n_labels: int | None, n_documents: int) -> list[str]:
    """Return two rows of the table: all labels, and neighbours."""
    from labelkin import LabelRescorer, LogisticLabels, PlattSVM, corpora
    from labelkin.evaluation.metrics import evaluate

    corpus = corpora.load(name)
    train = np.asarray(corpus.train)
    some = np.sort(np.random.default_rng(0).permutation(train)[:n_documents])
    X, Y = corpus.documents[some], corpus.Y[some]
    columns = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:n_labels])
    Y = Y[:, columns]
    log_odds = PlattSVM(random_state=0).fit_out_of_fold(X, Y)
    is_held_out = np.random.default_rng(1).random(len(Y)) < 0.3
    lines = []
    for what, neighbours in (("all labels", None), ("neighbours", 32)):
        labels = LogisticLabels(neighbours=neighbours)
        start = time.process_time()
        model = LabelRescorer(labels, variant="soft", evidence_weight="auto", scale="log_odds")
        model.fit(Y[~is_held_out], scores=log_odds[~is_held_out])
        seconds = time.process_time() - start
        scores: Any = evaluate(Y[is_held_out], model.rescore(log_odds[is_held_out])).scores()
        numbers = " | ".join(f"{scores[measure]:.4f}" for measure in _MEASURES)
        lines.append(
            f"| {name} | {Y.shape[1]} | {(~is_held_out).sum():,} | {what} | {numbers} "
            f"| {seconds:.1f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.all_or_neighbours", description=__doc__
    )
    parser.add_argument("--documents", type=int, default=2000, help="of each corpus (2000)")
    parser.add_argument("--corpus", action="append", help="may be repeated; all of the plan")
    chosen = parser.parse_args()
    titles = ["corpus", "labels", "learned on", "each told from", *_MEASURES, "CPU s"]
    print(f"| {' | '.join(titles)} |", "|---" * len(titles) + "|", sep="\n")
    for name, n_labels in PLAN:
        if not chosen.corpus or name in chosen.corpus:
            print("\n".join(compare(name, n_labels, chosen.documents)), flush=True)


if __name__ == "__main__":
    main()
