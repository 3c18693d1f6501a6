"""Fit one system, ask it about new documents, and report what that took.

    python growth_child.py SYSTEM FOLDER SECONDS

reads ``X.npz``, ``Y.npz`` and ``X_test.npz``, and prints CPU seconds of fit and prediction and the
peak of memory as JSON; ``scores.npz`` holds each new document's ten best labels. One thread. Who
takes more CPU seconds than allowed is ended by the system. Run by the Python of the system's own
environment: nothing is imported that another one needs.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

#: A fitted system: documents → scores of all labels, or of the best ones in a sparse matrix.
Predict = Callable[[Any], Any]
#: Labels up to which labelkin looks at all of a document's labels; above, at a hundred candidates.
_DENSE = 300
_TOP = 10


def labelkin_with(name: str) -> Callable[[Any, Any], Predict]:
    """Return labelkin's classifier on some content, with all defaults otherwise."""

    def fit(X: Any, Y: Any) -> Predict:
        from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours, PlattSVM

        parts = {
            "svm": PlattSVM,
            "naive_bayes": NaiveBayes,
            "nearest_neighbours": NearestNeighbours,
        }
        top = 100 if Y.shape[1] > _DENSE else None
        model = LabelDependenceClassifier(parts[name](top=top), random_state=0).fit(X, Y)
        return model.log_odds

    return fit


def one_vs_rest(X: Any, Y: Any) -> Predict:
    """scikit-learn's one-vs-rest of linear SVMs, which LIBLINEAR solves."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    return OneVsRestClassifier(LinearSVC(random_state=0)).fit(X, Y).decision_function


def chain(X: Any, Y: Any) -> Predict:
    """scikit-learn's classifier chain of the same."""
    from sklearn.multioutput import ClassifierChain
    from sklearn.svm import LinearSVC

    return ClassifierChain(LinearSVC(random_state=0)).fit(X, Y.toarray()).decision_function


def libmultilabel(tree: bool) -> Callable[[Any, Any], Predict]:
    """LibMultiLabel's linear one-vs-rest, or its label tree."""

    def fit(X: Any, Y: Any) -> Predict:
        import psutil
        from libmultilabel import linear

        psutil.cpu_count = lambda logical=True: 1
        train = linear.train_tree if tree else linear.train_1vsrest
        model = train(sparse.csr_matrix(Y), sparse.csr_matrix(X), options="-s 1", verbose=False)
        return lambda documents: linear.predict_values(model, sparse.csr_matrix(documents))

    return fit


def omikuji(X: Any, Y: Any) -> Predict:
    """Omikuji with its defaults: three trees, as Parabel has them."""
    import omikuji as peer

    text = Path(sys.argv[2], "train.txt")
    model = peer.Model.train_on_data(str(text), n_threads=1)
    model.init_prediction_thread_pool(1)

    def predict(documents: Any) -> sparse.csr_array:
        rows, columns, values = [], [], []
        for i in range(documents.shape[0]):
            row = slice(documents.indptr[i], documents.indptr[i + 1])
            pairs = zip(documents.indices[row].tolist(), documents.data[row].tolist(), strict=True)
            for label, score in model.predict(list(pairs), top_k=_TOP):
                rows.append(i)
                columns.append(label)
                values.append(score)
        shape = documents.shape[0], Y.shape[1]
        return sparse.csr_array((values, (rows, columns)), shape=shape)

    return predict


SYSTEMS: dict[str, Callable[[Any, Any], Predict]] = {
    "labelkin, naive Bayes": labelkin_with("naive_bayes"),
    "labelkin, k-NN": labelkin_with("nearest_neighbours"),
    "labelkin, SVM": labelkin_with("svm"),
    "scikit-learn one-vs-rest": one_vs_rest,
    "scikit-learn chain": chain,
    "LibMultiLabel one-vs-rest": libmultilabel(tree=False),
    "LibMultiLabel tree": libmultilabel(tree=True),
    "Omikuji": omikuji,
}


def main(system: str, folder: Path, seconds: int) -> None:
    X, Y, X_test = (
        sparse.csr_array(sparse.load_npz(folder / f"{name}.npz")) for name in ("X", "Y", "X_test")
    )
    _touch_first(system, X, Y)
    if system == "Omikuji":
        _write_text(X, Y, folder / "train.txt")
    used = sum(os.times()[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + seconds, int(used) + seconds))
    start = time.process_time()
    predict = SYSTEMS[system](X, Y)
    fitted = time.process_time()
    scores = predict(X_test)
    end = time.process_time()
    peak = _peak_mb()
    sparse.save_npz(folder / "scores.npz", _best(scores))
    print(json.dumps({"fit": fitted - start, "predict": end - fitted, "mb": peak}))


def _touch_first(system: str, X: Any, Y: Any) -> None:
    """Import, and compile or load what is compiled, which is not measured."""
    if system == "Omikuji":
        import_module("omikuji")
    else:
        toy = sparse.csr_array((np.arange(60)[:, None] % 3 == np.arange(3)).astype(np.int8))
        SYSTEMS[system](X[:60], toy)(X[:2])
    if system.startswith("labelkin"):
        SYSTEMS[system](X[:200], Y[:200])(X[:2])


def _peak_mb() -> float:
    """Return the peak memory of this program; ``ru_maxrss`` may include its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _write_text(X: Any, Y: Any, path: Path) -> None:
    """Write labels and features of every document as Omikuji reads them."""
    lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"]
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        labels = ",".join(map(str, Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist()))
        pairs = zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)
        lines.append(" ".join([labels, *(f"{k}:{value:.6g}" for k, value in pairs)]))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _best(scores: Any) -> sparse.csr_array:
    """Return the ten best labels of every document, by their ranks: 1 is the tenth, 10 the best."""
    if sparse.issparse(scores):
        dense = np.full(scores.shape, -np.inf)
        stored = sparse.coo_array(scores)
        dense[stored.coords] = stored.data
    else:
        dense = np.asarray(scores)
    order = np.argsort(-dense, axis=1, kind="stable")[:, :_TOP]
    ranks = np.broadcast_to(np.arange(order.shape[1], 0, -1.0), order.shape)
    rows = np.repeat(np.arange(len(order)), order.shape[1])
    found = sparse.csr_array((ranks.ravel(), (rows, order.ravel())), shape=dense.shape)
    found.sort_indices()
    return found


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
