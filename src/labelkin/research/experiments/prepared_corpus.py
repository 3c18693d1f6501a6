"""Preparation of a corpus for runs: its documents, labels and features."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler

from labelkin.corpora import KNOWN, Corpus, load
from labelkin.corpora.corpus import label_fields, labels_of
from labelkin.evaluation.splits import stratified_split
from labelkin.label_matrix import LabelMatrix
from labelkin.research.experiments.plan import ContentChoice, CorpusChoice
from labelkin.text import TermSelection, TermWeights, WordCounts
from labelkin.vocabulary import LabelNames, read_vocabulary

Rows = NDArray[np.int64]

TEXTS = "texts"
#: Features by name: weights of :class:`labelkin.text.TermWeights`; 1 where a term is present; the
#: numbers of the corpus; these with mean 0 and variance 1; the same in rows of length 1, for SVMs;
#: from 0 to 1 over the training documents, for neighbours.
_TRANSFORMERS: dict[str, Callable[[], Any]] = {
    "counts": lambda: TermWeights("counts"),
    "tfidf": lambda: TermWeights("tfidf"),
    "ltc": lambda: TermWeights("ltc"),
    "presence": Binarizer,
    "as_is": lambda: "passthrough",
    "standardised": StandardScaler,
    "standardised_unit": lambda: make_pipeline(StandardScaler(), Normalizer()),
    "min_max": MinMaxScaler,
}
#: The features of an experiment; ``"texts"``: the texts, for views of them.
WEIGHTS = (*_TRANSFORMERS, TEXTS)
#: Weights that must be computed from counts.
_OF_COUNTS = ("counts", "tfidf", "ltc")
#: Documents × labels, and documents, that are scored at a time: 2²¹ numbers are 16 MB.
_BLOCK_CELLS = 2**21
_BLOCK_DOCUMENTS = 2**14


@dataclass(frozen=True)
class PreparedCorpus:
    """What all runs on one corpus share.

    Attributes
    ----------
    X_train
        The training documents × features: term counts, or what the corpus holds.
    kind
        What they are, as :class:`labelkin.corpora.Corpus` has it.
    Y_train, Y_test
        The label sets of training and of test documents.
    ids
        The test documents' own names, ``(n_test,)``, where they have any.
    facts
        What the corpus is, in plain values: source, licence, numbers, checksums of what went in.
    X, test
        Documents × features, and which of them are the test documents, ``(n_test,)``. They are
        taken out a block at a time: a copy of all would double what a large corpus needs.
    texts, words
        Texts of training and of test documents, and the parameters by which their words are
        counted; ``None`` where documents are vectors.
    """

    X_train: Any
    kind: str
    Y_train: LabelMatrix
    Y_test: LabelMatrix
    ids: NDArray[Any] | None
    facts: Mapping[str, Any]
    X: Any
    test: Rows
    texts: tuple[NDArray[Any], NDArray[Any]] | None = None
    words: Mapping[str, Any] = field(default_factory=dict)

    def test_blocks(self, weights: str = "") -> Iterator[Any]:
        """Yield the test documents, or their texts, some at a time, in order."""
        size = max(1, _BLOCK_CELLS // self.Y_test.shape[1])
        X, test = self.X, self.test
        if weights == TEXTS and self.texts is not None:
            X, test = self.texts[1], np.arange(len(test))
        yield from (X[rows] for rows in _blocks(test, min(size, _BLOCK_DOCUMENTS)))


def prepare(
    choice: CorpusChoice, words: Mapping[str, Any], path: str | os.PathLike[str] | None = None
) -> PreparedCorpus:
    """Load a corpus, choose its documents and labels, and count words where it is texts.

    Parameters
    ----------
    choice
        Which corpus, and what of it.
    words
        Parameters of :class:`labelkin.text.WordCounts`, which learns from training documents only;
        vectors need none.
    path
        Where the corpus is; ``None``: where the experiment says.
    """
    corpus = _choose(_load(choice, path), choice)
    X_train, X, test = corpus.documents[corpus.train], corpus.documents, corpus.test
    labels, kind, texts = labels_of(corpus), str(corpus.features), None
    if kind == "text":
        texts = X_train, X[test]
        counter = WordCounts(**words)
        X_train, kind = counter.fit_transform(X_train), "counts"
        X, test = counter.transform(X[test]), np.arange(len(test))
    return PreparedCorpus(
        X_train=X_train,
        kind=kind,
        Y_train=labels.rows(corpus.train),
        Y_test=labels.rows(corpus.test),
        ids=None if corpus.ids is None else corpus.ids[corpus.test],
        facts={
            "name": corpus.name,
            "source": corpus.source,
            "licence": corpus.licence,
            "features": corpus.features,
            "n_train": len(corpus.train),
            "n_test": len(corpus.test),
            "n_labels": corpus.Y.shape[1],
            "sha256": _checksums(corpus),
            "n_features": X_train.shape[1],
            "label_names": _label_names(corpus, choice),
        },
        X=X,
        test=test,
        texts=texts,
        words=words,
    )


def _label_names(corpus: Corpus, choice: CorpusChoice) -> dict[str, str]:
    """Return label → name, from a vocabulary or from the corpus."""
    if choice.vocab is None:
        return {str(label): name for label, name in corpus.display_names.items()}
    vocabulary = read_vocabulary(choice.vocab, language=choice.label_language)
    names = LabelNames(corpus.label_names.tolist(), vocabulary)
    names.check_some(choice.vocab)
    return names.distinct()


def fit_features(content: ContentChoice, corpus: PreparedCorpus) -> tuple[Pipeline, Any]:
    """Learn from the training documents what a content classifier sees: terms, then weights.

    Returns what transforms other documents, and the training documents as it sees them.
    """
    where = f"[content.{content.name}]: weights = {content.weights!r}"
    if content.weights in _OF_COUNTS and corpus.kind in ("weights", "numbers"):
        raise ValueError(
            f"{where} must be given counts, and {corpus.facts['name']} holds {corpus.kind}. "
            "Use 'as_is' or 'presence', or 'standardised' for numbers on different scales."
        )
    if content.weights == TEXTS:
        if corpus.texts is None or content.terms is not None:
            raise ValueError(
                f"{where} must be of texts, all of them, and {corpus.facts['name']} holds "
                f"{corpus.kind}. Use 'as_is' or 'tfidf', and leave terms to other contents."
            )
        return Pipeline([("texts", "passthrough")]), corpus.texts[0]
    if content.weights.startswith(("standardised", "min_max")) and sparse.issparse(corpus.X_train):
        raise ValueError(
            f"{where} must be given a dense matrix, and {corpus.facts['name']} is sparse. "
            "Use 'as_is' or 'tfidf'."
        )
    terms = "passthrough" if content.terms is None else TermSelection(**content.terms)
    features = Pipeline([("terms", terms), ("weights", _TRANSFORMERS[content.weights]())])
    return features, features.fit_transform(corpus.X_train, corpus.Y_train)


def _load(choice: CorpusChoice, path: str | os.PathLike[str] | None) -> Corpus:
    """Load a known corpus by name, any other from its path."""
    place = choice.path if path is None else path
    try:
        if choice.name in KNOWN or place is None:
            return load(choice.name, place, **choice.options)
        return replace(load(place, **choice.options), name=choice.name)
    except TypeError as error:
        if not choice.options:
            raise
        given = ", ".join(choice.options)
        raise ValueError(
            f"[corpus.options] must suit the reader of {choice.name}, got {given}: {error}."
        ) from error


def _choose(corpus: Corpus, choice: CorpusChoice) -> Corpus:
    """Return the corpus with the chosen labels, and with the chosen documents in its parts."""
    corpus = _split(corpus, choice)
    if choice.labels == "in_both":
        labels = labels_of(corpus)
        seen, tested = (labels.rows(rows).counts()[0] for rows in (corpus.train, corpus.test))
        kept = labels.columns(np.flatnonzero((seen > 0) & (tested > 0)))
        corpus = replace(corpus, **label_fields(kept))
    is_labelled = corpus.is_labelled
    train, test = (
        rows[is_labelled[rows]] if which == "labelled" else rows
        for rows, which in ((corpus.train, choice.train), (corpus.test, choice.test))
    )
    if not len(train) or not len(test) or not corpus.Y.shape[1]:
        raise ValueError(
            f"{corpus.name} must have training documents, test documents and labels, got "
            f"{len(train)}, {len(test)} and {corpus.Y.shape[1]}. "
            "Look at documents and labels in [corpus]."
        )
    return replace(corpus, train=train, test=test)


def _split(corpus: Corpus, choice: CorpusChoice) -> Corpus:
    if choice.test_share is None:
        if len(corpus.test):
            return corpus
        raise ValueError(
            f"{corpus.name} must have test documents, and has none. "
            "test_share = 0.3 in [corpus] draws some of its documents."
        )
    if len(corpus.test):
        raise ValueError(
            f"{corpus.name} has a split of {len(corpus.train)} and {len(corpus.test)} documents: "
            "leave test_share out of [corpus]."
        )
    labels = labels_of(corpus).rows(corpus.train)
    train, test = stratified_split(labels, choice.test_share, choice.split_seed)
    return replace(corpus, train=corpus.train[train], test=corpus.train[test])


def _blocks(rows: Rows, size: int) -> Iterator[Rows]:
    yield from (rows[start : start + size] for start in range(0, len(rows), size))


def _checksums(corpus: Corpus) -> dict[str, str]:
    """Return checksums of documents and label sets: by them a changed corpus is found."""
    names = "\0".join(map(str, corpus.label_names.tolist()))
    return {
        "training documents": _sha256(corpus.documents, corpus.train),
        "test documents": _sha256(corpus.documents, corpus.test),
        "training labels": _sha256(corpus.Y, corpus.train),
        "test labels": _sha256(corpus.Y, corpus.test),
        "label names": hashlib.sha256(names.encode()).hexdigest(),
    }


def _sha256(documents: Any, rows: Rows) -> str:
    """Return the checksum of some texts, or of some rows of a dense or sparse matrix."""
    digest = hashlib.sha256(str((len(rows), *documents.shape[1:])).encode())
    for block in _blocks(rows, _BLOCK_DOCUMENTS):
        part = documents[block]
        if part.dtype == object:
            for text in part:
                digest.update(f"{len(text)} {text}".encode("utf-8", "surrogatepass"))
            continue
        arrays = (part.data, part.indices, part.indptr) if sparse.issparse(part) else (part,)
        for array in arrays:
            digest.update(array.astype(np.float64).tobytes())
    return digest.hexdigest()
