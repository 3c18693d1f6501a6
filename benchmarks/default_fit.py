"""The classifier as it comes, all parts default, against its content classifier alone.

``LabelDependenceClassifier()`` fits a PlattSVM, label evidence and, out of fold, the weight of
predicted labels. Measured on the corpus, and on synthetic documents with 1,000 labels:

- 5,000 documents, of which 4,000 train. Labels come in groups of ten; a document takes two groups,
  the k-th of 100 with a chance ∝ 1/k, and of a group on average two labels, the k-th of ten with a
  chance ∝ 1/k, at least one. That makes about four labels to a document.
- Each label has twenty own words among 10,000 and uses three of them, drawn with
  repetition; forty further words are drawn with chances ∝ 1/rank. Tf-idf.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.corpus import Benchmark, Part
from benchmarks.setting import Setting
from benchmarks.svm import micro_f1
from benchmarks.table import Row, ratio_row
from benchmarks.timing import alternate, ratio, timed
from labelkin.content.platt_svm import PlattSVM
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer

N_TRAIN, N_TEST, N_LABELS, N_TERMS = 4_000, 1_000, 1_000, 10_000
GROUP, GROUPS_TAKEN, LABELS_OF_GROUP = 10, 2, 2
OWN_WORDS, OWN_USED, OTHER_USED = 20, 3, 40


def measure_default(setting: Setting) -> list[Row]:
    """Fit and predict with everything at its default, and with the content classifier alone."""
    return [
        row
        for corpus in (setting.corpus, made_corpus())
        for row in _measure_on(corpus, setting.rounds)
    ]


def _measure_on(corpus: Benchmark, rounds: int) -> list[Row]:
    train, test = corpus.train, corpus.test
    default, content = LabelDependenceClassifier(random_state=0), PlattSVM(random_state=0)

    def fit(model: Any) -> Callable[[], Any]:
        return lambda: model.fit(train.tfidf, train.labels)

    def predict(model: Any) -> Callable[[], Any]:
        return lambda: model.predict(test.tfidf)

    fits = alternate({"peer": timed(fit(content)), "ours": timed(fit(default))}, rounds)
    answers = alternate({"peer": timed(predict(content)), "ours": timed(predict(default))}, rounds)
    n_documents, n_labels = train.labels.shape
    where = f"{n_documents:,} documents, {n_labels:,} labels"
    f1, content_f1 = (micro_f1(test.indicator, predict(model)()) for model in (default, content))
    return [
        ratio_row(
            f"LabelDependenceClassifier(), fit, {where}",
            "PlattSVM(), fit",
            ratio(fits["ours"], fits["peer"]),
            None,
            f"{corpus.name}; {_memory(train)}",
        ),
        ratio_row(
            f"LabelDependenceClassifier(), predict, {test.labels.shape[0]:,} documents, "
            f"{n_labels:,} labels",
            "PlattSVM(), predict",
            ratio(answers["ours"], answers["peer"]),
            None,
            f"micro F1 {f1}, content alone {content_f1}; evidence weight "
            f"{default.evidence_weight_:.2f}",
        ),
    ]


def _memory(train: Part) -> str:
    """Return the peak memory of learning label evidence, beyond the evidence it is learned from."""
    evidence = PlattSVM(random_state=0).fit_out_of_fold(train.tfidf, train.labels)
    tracemalloc.start()
    try:
        LabelRescorer(scale="log_odds").fit(train.labels, scores=evidence)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (
        f"learning from labels: at most {peak / 1e6:.0f} MB of arrays, beside the "
        f"{evidence.nbytes / 1e6:.0f} MB of out-of-fold evidence"
    )


def made_corpus() -> Benchmark:
    """Make the documents of the recipe."""
    rng = np.random.default_rng(0)
    Y = made_labels(rng, N_TRAIN + N_TEST)
    counts = made_counts(rng, Y)
    cut = slice(N_TRAIN), slice(N_TRAIN, None)
    weigh: Any = TfidfTransformer().fit(counts[cut[0]])
    return Benchmark(
        f"synthetic documents: {N_LABELS // GROUP} groups of {GROUP} labels, {GROUPS_TAKEN} "
        f"groups and {Y.sum() / len(Y):.1f} labels per document, {OWN_WORDS} of {N_TERMS:,} words "
        "per label",
        *(_part(counts[rows], weigh, read_labels(Y[rows])) for rows in cut),
    )


def made_labels(rng: np.random.Generator, n_documents: int) -> NDArray[np.int64]:
    """Draw groups, and labels of the groups; ``(n_documents, N_LABELS)`` of 0 and 1."""
    Y = np.zeros((n_documents, N_LABELS), dtype=np.int64)
    document = np.arange(n_documents)
    chance = LABELS_OF_GROUP * _by_rank(GROUP)
    for _ in range(GROUPS_TAKEN):
        group = rng.choice(N_LABELS // GROUP, n_documents, p=_by_rank(N_LABELS // GROUP))
        taken = rng.random((n_documents, GROUP)) < chance
        taken[document, rng.integers(0, GROUP, n_documents)] |= ~taken.any(axis=1)
        Y[document[:, None], GROUP * group[:, None] + np.arange(GROUP)] |= taken
    return Y


def made_counts(rng: np.random.Generator, Y: NDArray[np.int64]) -> sparse.csr_matrix:
    """Draw words of the labels and any words; counts ``(n_documents, N_TERMS)``."""
    vocabulary = rng.integers(0, N_TERMS, (Y.shape[1], OWN_WORDS))
    rows, columns = (np.repeat(index, OWN_USED) for index in np.nonzero(Y))
    own = vocabulary[columns, rng.integers(0, OWN_WORDS, len(columns))]
    anywhere = np.repeat(np.arange(len(Y)), OTHER_USED)
    other = rng.choice(N_TERMS, len(anywhere), p=_by_rank(N_TERMS))
    places = np.append(rows, anywhere), np.append(own, other)
    counted = sparse.csr_matrix((np.ones(len(places[0])), places), shape=(len(Y), N_TERMS))
    counted.sum_duplicates()
    return counted


def _part(counts: sparse.csr_matrix, weigh: Any, labels: LabelMatrix) -> Part:
    return Part(counts, weigh.transform(counts), labels)


def _by_rank(n: int) -> NDArray[np.float64]:
    """Return chances ∝ 1/rank."""
    chance = 1 / np.arange(1, n + 1)
    return np.asarray(chance / chance.sum())
