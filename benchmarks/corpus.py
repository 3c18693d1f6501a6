"""What everything is measured on: Reuters-21578 where it is, else the built-in newsroom."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks.reuters import describe_words, read_stories, word_reader
from labelkin.corpora import newsroom
from labelkin.corpora.corpus import labels_of
from labelkin.label_matrix import LabelMatrix, read_labels

TOP = Path(__file__).parent.parent
DATA = Path(os.environ.get("LABELKIN_DATA", TOP.parent / "shared" / "data"))


@dataclass(frozen=True)
class Part:
    """Training or test documents: term counts, tf-idf, and labels, a row per document."""

    counts: sparse.csr_matrix
    tfidf: sparse.csr_matrix
    labels: LabelMatrix

    @property
    def indicator(self) -> NDArray[np.int64]:
        """The labels as a dense 0/1 matrix."""
        return self.labels.dense().astype(np.int64)


@dataclass(frozen=True)
class Benchmark:
    """The two parts of a corpus and what it is."""

    name: str
    train: Part
    test: Part

    @property
    def description(self) -> str:
        """Name and sizes in a line."""
        (n_train, n_terms), n_test = self.train.counts.shape, self.test.counts.shape[0]
        n_labels = self.train.labels.shape[1]
        return (
            f"{self.name}: {n_train:,} + {n_test:,} documents, {n_terms:,} terms, {n_labels} labels"
        )


def load_corpus(data: Path = DATA) -> Benchmark:
    """Read Reuters-21578 from ``data/reuters21578``, or make the newsroom."""
    if list((data / "reuters21578").glob("*.sgm")):
        return _reuters(data)
    return _newsroom()


def _reuters(data: Path) -> Benchmark:
    train, test = read_stories(data / "reuters21578")
    stop_list = data / "stopwords" / "SMART.dat"
    names = sorted(frozenset().union(*(story.topics for story in train)))
    return _benchmark(
        f"Reuters-21578, ModApte, {describe_words(stop_list)}",
        ([story.text for story in train], [story.text for story in test]),
        tuple(read_labels([set(s.topics) for s in part], names=names) for part in (train, test)),
        word_reader(stop_list),
    )


def _newsroom() -> Benchmark:
    corpus = newsroom()
    parts = corpus.train, corpus.test
    return _benchmark(
        "newsroom, made by labelkin.corpora.newsroom (no Reuters-21578 here: set LABELKIN_DATA)",
        [corpus.documents[part].tolist() for part in parts],
        tuple(labels_of(corpus).rows(part) for part in parts),
        word_reader(Path("no stop list")),
    )


def _benchmark(
    name: str,
    texts: Sequence[Sequence[str]],
    labels: Sequence[LabelMatrix],
    words: Callable[[str], list[str]],
) -> Benchmark:
    """Count the terms that three training documents have, and weigh them."""
    vectoriser = CountVectorizer(analyzer=words, min_df=3, dtype=np.float64)
    counts = [vectoriser.fit_transform(texts[0]), vectoriser.transform(texts[1])]
    weigh: Any = TfidfTransformer().fit(counts[0])
    parts = [
        Part(count, weigh.transform(count), Y) for count, Y in zip(counts, labels, strict=True)
    ]
    return Benchmark(name, *parts)
