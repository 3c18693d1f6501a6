"""Scores of label evidence on folds of training parts, for choices about the learned rule.

``python -m docs.experiments.learned_rule scores.csv`` fits content classifiers on folds of the
training parts of the development corpora, keeps their log-odds in a cache folder, adds label
evidence with several settings, and appends one line per corpus, content, fold, system and measure.
``--test`` uses the published split once instead of folds.
``python -m docs.experiments.learned_rule --compare scores.csv A B`` prints in how many pairs system
B is better than A, and the mean difference.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelkin import (
    LabelRescorer,
    LearnedWeight,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
    RandomForest,
    corpora,
)
from labelkin.evaluation import metrics
from labelkin.evaluation.splits import stratified_folds
from labelkin.thresholds import as_rule

TOP = Path(__file__).parent.parent.parent
DATA = Path(os.environ.get("LABELKIN_DATA", TOP.parent / "shared" / "data"))
EVALUATION = ["coffee", "3sources-bbc1000", "gpositive", "virusgo", "chd49", "water-quality"]
EVALUATION += ["mediamill-small", "gpositive-pseaac", "virus-pseaac"]
MULAN = ["emotions", "scene", "yeast", "genbase", "medical", "enron", "bibtex", "tmc2007-500"]
HELD_BACK = ["computers", "entertainment", "recreation", "social", "society", "humango"]
HELD_BACK += ["plantgo", "gnegative", "gnegative-pseaac", "plant-pseaac"]
#: Corpora with folders of their own.
FOLDERS = {"reuters21578": "reuters21578", "ohsumed23": "ohsumed/OHSUMED-F.arff"}
FOLDERS["rcv1-sample"] = "rcv1"
MEASURES = ["micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error"]
MEASURES += ["label_ranking_average_precision", "log_loss"]
LOSSES = {"hamming_loss", "subset_loss", "one_error", "log_loss", "CPU seconds"}
#: Name → rescorer of log-odds, for ``--systems``.
SYSTEMS: dict[str, Callable[[], Any]] = {
    "content": lambda: _rescorer(0),
    "paper": lambda: _rescorer(1),
    "learned": lambda: _rescorer("auto"),
    **{f"shrinkage {k}": lambda k=k: _rescorer(LearnedWeight(shrinkage=k)) for k in (3, 10, 100)},
    "no correction": lambda: _rescorer(LearnedWeight(shrinkage=float("inf"))),
}


def _rescorer(weight: Any) -> Any:
    return LabelRescorer(scale="log_odds", evidence_weight=weight)


def load(name: str) -> tuple[Any, Any, Any, Any]:
    """Return training and test documents and labels of a corpus by name."""
    if name in (*EVALUATION, *HELD_BACK):
        with np.load(DATA / "evaluation" / f"{name}.npz", allow_pickle=False) as z:
            if "X_dense" in z:
                X = z["X_dense"].astype(float)
            else:
                parts = z["X_data"].astype(float), z["X_indices"], z["X_indptr"]
                X = sparse.csr_array(parts, shape=tuple(z["X_shape"]))
                X = X.toarray() if X.nnz > 0.5 * np.prod(X.shape) else X
            ones = np.ones(len(z["Y_indices"]), dtype=int)
            Y = sparse.csr_array((ones, z["Y_indices"], z["Y_indptr"]), shape=tuple(z["Y_shape"]))
            train, test, Y = z["train"], z["test"], Y.toarray()
            return X[train], Y[train], X[test], Y[test]
    corpus = corpora.load(name, DATA / (FOLDERS.get(name) or f"mulan/{name}"))
    X, Y = corpus.documents, np.asarray(corpus.Y)
    if corpus.features == "text":
        words = TfidfVectorizer(sublinear_tf=True, min_df=3).fit(X[corpus.train])
        X = sparse.csr_array(words.transform(X))
    return X[corpus.train], Y[corpus.train], X[corpus.test], Y[corpus.test]


def contents(X: Any) -> dict[str, Any]:
    """Return the content classifiers for documents: of words, or of other numbers."""
    values = X.data if sparse.issparse(X) else X
    is_words = values.min() >= 0 and (sparse.issparse(X) or np.mean(values == 0) > 0.5)
    if is_words:
        return {
            "naive Bayes": NaiveBayes(),
            "k-NN": NearestNeighbours(),
            "SVM": PlattSVM(random_state=0),
        }
    scaled = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return {
        "forest": RandomForest(random_state=0),
        "k-NN": NearestNeighbours(),
        "logistic regression": PerLabel(scaled, random_state=0),
    }


def evidence(name: str, n_folds: int, cache: Path) -> Iterator[tuple[str, int, Any, Any, Any, Any]]:
    """Yield content, fold, out-of-fold and test log-odds, and the labels of both."""
    X, Y, X_test, Y_test = load(name)
    if n_folds:
        fold = stratified_folds(Y, n_folds, random_state=0)
        splits = [(X[fold != k], Y[fold != k], X[fold == k], Y[fold == k]) for k in range(n_folds)]
    else:
        splits = [(X, Y, X_test, Y_test)]
    for k, (A, Y_train, B, Y_new) in enumerate(splits):
        for content, classifier in contents(X).items():
            path = cache / f"{name}-{content}-{n_folds}-{k}.npz"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                unseen = classifier.fit_out_of_fold(A, Y_train)
                np.savez(path, unseen=unseen, new=classifier.log_odds(B))
            stored = np.load(path)
            yield content, k, stored["unseen"], stored["new"], Y_train, Y_new


def scores(model: Any, unseen: Any, new: Any, Y: Any, Y_new: Any) -> dict[str, float]:
    """Return all measures of a rescorer: at ½, and F1 with cuts tuned on training documents."""
    start = time.process_time()
    model.fit(Y, scores=unseen)
    seconds = time.process_time() - start
    posterior = model.rescore(new)
    found = metrics.evaluate(Y_new, posterior)
    result = {name: float(found[name]) for name in MEASURES}
    tuning = model.rescore(unseen) if "known_weight" in model.get_params() else None
    if tuning is None:  # the rule of 0.1.0
        tuning = model.fit_out_of_fold(Y, scores=unseen)
    for measure in ("micro_f1", "macro_f1"):
        rule = as_rule(measure, "log_odds").fit(tuning, Y)
        decided = rule.decide(posterior)
        result[f"tuned {measure}"] = float(metrics.evaluate(Y_new, posterior, decided)[measure])
    return {**result, "CPU seconds": seconds}


def run(arguments: argparse.Namespace) -> None:
    """Append the scores of all corpora to a file."""
    names = arguments.corpora or [*EVALUATION, *MULAN, *FOLDERS]
    n_folds = 0 if arguments.test else 3
    with Path(arguments.scores).open("a", encoding="utf-8", newline="") as file:
        for name in names:
            for content, k, *evidence_of in evidence(name, n_folds, arguments.cache):
                for system in arguments.systems:
                    found = scores(SYSTEMS[system](), *evidence_of)
                    label = arguments.prefix + system
                    lines = [[name, content, k, label, key, f"{v:.6f}"] for key, v in found.items()]
                    csv.writer(file).writerows(lines)
                    file.flush()
            print(name, flush=True)


def compare(path: Path, one: str, other: str) -> None:
    """Print in how many pairs of corpus and content the other system is better, by measure."""
    values: dict[tuple[str, ...], list[float]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for corpus, content, _, system, measure, value in csv.reader(file):
            values[corpus, content, system, measure].append(float(value))
    counts, means = [0, 0, 0], {}
    for measure in dict.fromkeys(key[3] for key in values):
        sign = -1 if measure in LOSSES else 1
        pairs = [key[:2] for key in values if key[2:] == (one, measure)]
        differences = np.array(
            [
                sign
                * (np.mean(values[*pair, other, measure]) - np.mean(values[*pair, one, measure]))
                for pair in pairs
                if (*pair, other, measure) in values
            ]
        )
        means[measure] = differences.mean()
        better, worse = int((differences > 1e-9).sum()), int((differences < -1e-9).sum())
        print(f"{measure:32} better {better:3}  worse {worse:3}  mean {means[measure]:+.4f}")
        if measure != "CPU seconds":
            counts = [
                counts[0] + better,
                counts[1] + len(pairs) - better - worse,
                counts[2] + worse,
            ]
    cells = [f"{means[m]:+.4f}" for m in ("micro_f1", "macro_f1")]
    tuned = [f"{means[f'tuned {m}']:+.4f}" for m in ("micro_f1", "macro_f1")]
    counted = " / ".join(map(str, counts))
    print(f"| {one} | {counted} | {' / '.join(cells)} | {' / '.join(tuned)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scores", nargs="?")
    parser.add_argument("--corpora", nargs="+")
    parser.add_argument("--systems", nargs="+", default=["content", "learned"])
    parser.add_argument("--prefix", default="", help="goes before the names of systems")
    parser.add_argument("--test", action="store_true", help="the published split, to be read once")
    parser.add_argument("--cache", type=Path, default=Path("learned-rule-cache"))
    parser.add_argument("--compare", nargs=3, metavar=("SCORES", "A", "B"))
    given = parser.parse_args()
    if given.compare:
        compare(Path(given.compare[0]), *given.compare[1:])
    else:
        run(given)
