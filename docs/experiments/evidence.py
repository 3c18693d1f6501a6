"""Content evidence of corpora for experiments, computed once and kept in a cache folder.

The corpora are those of ``LABELKIN_DATA`` (default: ``../shared/data`` beside the repository), and
synthetic ones with many labels.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.scale import made_candidates, made_labels, made_texts
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelkin import (
    ContentEnsemble,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
    RandomForest,
    corpora,
)
from labelkin.content.ensemble import default_content, looks_like_words
from labelkin.evaluation.splits import stratified_folds

TOP = Path(__file__).parent.parent.parent
DATA = Path(os.environ.get("LABELKIN_DATA", TOP.parent / "shared" / "data"))
#: Corpora on which settings are chosen, by folds of their training parts.
EVALUATION = ["coffee", "3sources-bbc1000", "gpositive", "virusgo", "chd49", "water-quality"]
EVALUATION += ["mediamill-small", "gpositive-pseaac", "virus-pseaac"]
MULAN = ["emotions", "scene", "yeast", "genbase", "medical", "enron", "bibtex", "tmc2007-500"]
#: Corpora on which nothing is chosen; their test parts are read once.
HELD_BACK = ["computers", "entertainment", "recreation", "social", "society", "humango"]
HELD_BACK += ["plantgo", "gnegative", "gnegative-pseaac", "plant-pseaac"]
#: Corpora with folders of their own.
FOLDERS = {"reuters21578": "reuters21578", "ohsumed23": "ohsumed/OHSUMED-F.arff"}
FOLDERS["rcv1-sample"] = "rcv1"
#: Synthetic corpora: number of documents and of labels.
SYNTHETIC = {"synthetic-2000": (6000, 2000), "synthetic-10000": (15000, 10000)}
#: Candidates per document.
TOP_LABELS = 50
N_FOLDS = 3


class Evidence(NamedTuple):
    """Content log-odds of training documents, out of fold, and of new documents; and the labels.

    Dense matrices ``(n_documents, n_labels)``, or CSR arrays of candidates.
    """

    corpus: str
    content: str
    fold: int
    out_of_fold: Any
    new: Any
    labels: Any
    new_labels: Any


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
    if name in SYNTHETIC:
        Y = made_labels(*SYNTHETIC[name])
        X, train = made_candidates(Y, TOP_LABELS), np.arange(Y.shape[0]) % 3 < 2
        if name == "synthetic-2000":
            X = sparse.csr_array(CountVectorizer(min_df=3).fit_transform(made_texts(Y)))
        return X[train], Y[train], X[~train], Y[~train]
    corpus = corpora.load(name, DATA / (FOLDERS.get(name) or f"mulan/{name}"))
    X, Y = corpus.documents, np.asarray(corpus.Y)
    if corpus.features == "text":
        words = TfidfVectorizer(sublinear_tf=True, min_df=3).fit(X[corpus.train])
        X = sparse.csr_array(words.transform(X))
    return X[corpus.train], Y[corpus.train], X[corpus.test], Y[corpus.test]


def single_contents(X: Any) -> dict[str, Any]:
    """Return three content classifiers for documents: of words, or of other numbers."""
    if looks_like_words(X):
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


def ensemble_contents(X: Any) -> dict[str, Any]:
    """Return an ensemble of three for words, the default for other numbers."""
    if looks_like_words(X):
        return {"ensemble": ContentEnsemble(random_state=0)}
    return {"ensemble": default_content(X).set_params(random_state=0)}


def candidate_contents(X: Any) -> dict[str, Any]:
    """Return content classifiers that score the best 50 labels of each document."""
    return {
        "naive Bayes": NaiveBayes(top=TOP_LABELS),
        "SVM": PlattSVM(random_state=0, top=TOP_LABELS),
    }


CONTENTS = {
    "single": single_contents,
    "ensemble": ensemble_contents,
    "candidates": candidate_contents,
}


def read_evidence(
    name: str, kind: str, cache: Path, *, n_folds: int = N_FOLDS, test: bool = False
) -> Iterator[Evidence]:
    """Yield the evidence of every content classifier and fold of a corpus.

    Parameters
    ----------
    name
        The corpus.
    kind
        Of content classifiers: a key of ``CONTENTS``.
    cache
        Folder of the evidence that was computed before.
    n_folds
        Folds of three that are used.
    test
        Use the published split instead of folds of its training part.
    """
    X, Y, X_test, Y_test = load(name)
    splits = [(X, Y, X_test, Y_test)]
    if not test:
        fold = stratified_folds(Y, N_FOLDS, random_state=0)
        splits = [(X[fold != k], Y[fold != k], X[fold == k], Y[fold == k]) for k in range(n_folds)]
    for k, (A, labels, B, new_labels) in enumerate(splits):
        for content, classifier in _contents_of(name, kind, X).items():
            stem = f"{name}-{content}-{kind}-{'test' if test else k}"
            parts = [cache / f"{stem}-{part}.npz" for part in ("out-of-fold", "new")]
            if not all(path.exists() for path in parts):
                cache.mkdir(parents=True, exist_ok=True)
                out_of_fold = A if classifier is None else classifier.fit_out_of_fold(A, labels)
                _save(parts[0], out_of_fold)
                _save(parts[1], B if classifier is None else classifier.log_odds(B))
            yield Evidence(name, content, k, *map(_read, parts), labels, new_labels)


def _contents_of(name: str, kind: str, X: Any) -> dict[str, Any]:
    """Return content classifiers by name; ``None`` for documents that are scores already."""
    if name == "synthetic-10000":
        return {"simulated": None}
    if name == "synthetic-2000":
        return {"naive Bayes": NaiveBayes(top=TOP_LABELS)}
    return CONTENTS[kind](X)


def _save(path: Path, scores: Any) -> None:
    if sparse.issparse(scores):
        sparse.save_npz(path, scores, compressed=False)
    else:
        np.savez(path, scores=scores)


def _read(path: Path) -> Any:
    stored = np.load(path)
    return stored["scores"] if "scores" in stored else sparse.csr_array(sparse.load_npz(path))
