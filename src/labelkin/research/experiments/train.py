"""Training of the systems of an experiment on a corpus, with the public classes of the library.

A corpus is loaded, documents and labels are chosen, and words are counted once. Content evidence is
computed once per content classifier and seed: additions start from the stored log-odds of the
content alone, and learn from its out-of-fold log-odds of the training documents. A system with an
addition is a content classifier and a :class:`labelkin.LabelRescorer` on its log-odds, as in
:class:`labelkin.LabelDependenceClassifier`.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler

from labelkin.corpora import KNOWN, Corpus, load
from labelkin.corpora.corpus import label_fields, labels_of
from labelkin.evaluation.splits import stratified_split
from labelkin.label_matrix import LabelMatrix
from labelkin.learned.calibration import Calibration, fit_calibration
from labelkin.learned.fitting import LearnedWeight
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.models.rescorer import LabelRescorer
from labelkin.odds import constant_labels
from labelkin.research.experiments.plan import (
    AUTO,
    Addition,
    ContentChoice,
    Control,
    CorpusChoice,
    RelatedMethod,
    Thresholds,
    build_named,
)
from labelkin.solvers.logistic import fit_logistic_layer
from labelkin.text import TermSelection, TermWeights, WordCounts
from labelkin.thresholds import SCutFBR, ThresholdRule, rule_for

Matrix = NDArray[np.float64]
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
#: Weights that must be computed from a dense matrix.
_OF_DENSE = ("standardised", "standardised_unit", "min_max")
#: Documents × labels, and documents, that are scored at a time: 2²¹ numbers are 16 MB.
_BLOCK_CELLS = 2**21
_BLOCK_DOCUMENTS = 2**14
#: The variants as arguments of :class:`labelkin.LabelRescorer`; M1cut has learned cuts.
_VARIANTS: dict[str, Any] = {"M1": "hard", "M2": "soft"}
#: Limit of the log-odds that controls learn from, as for the learned weight.
_SURE = 500.0


def block_slices(n_documents: int, width: int) -> Iterator[slice]:
    """Yield the documents in blocks that fit in memory, each with a row of some width."""
    size = min(_BLOCK_DOCUMENTS, max(1, _BLOCK_CELLS // max(width, 1)))
    yield from (slice(start, start + size) for start in range(0, n_documents, size))


@dataclass(frozen=True)
class PreparedCorpus:
    """The data that all runs on one corpus share.

    Attributes
    ----------
    source
        The loaded corpus with the chosen documents and labels.
    X_train
        The training documents × features: term counts, or the vectors of the corpus.
    kind
        The kind of the features, as in :class:`labelkin.corpora.Corpus`.
    Y_train, Y_test
        The label sets of training and of test documents.
    facts
        Source, licence, sizes and checksums of the corpus, and the names of labels.
    X, test
        Documents × features, and the rows of the test documents, ``(n_test,)``. Test documents are
        read in blocks: a copy would double the memory of a large corpus.
    words
        The parameters by which words of texts are counted.
    """

    source: Corpus
    X_train: Any
    kind: str
    Y_train: LabelMatrix
    Y_test: LabelMatrix
    facts: Mapping[str, Any]
    X: Any
    test: Rows
    words: Mapping[str, Any]

    def test_blocks(self, weights: str = "") -> Iterator[Any]:
        """Yield the features of the test documents, or their texts, in blocks, in order."""
        X, test = self.X, self.test
        if weights == TEXTS:
            X, test = self.source.documents, self.source.test
        yield from (X[test[rows]] for rows in block_slices(*self.Y_test.shape))


def prepare(
    choice: CorpusChoice, words: Mapping[str, Any], path: str | os.PathLike[str] | None = None
) -> PreparedCorpus:
    """Load a corpus, choose its documents and labels, and count words where it is texts.

    Parameters
    ----------
    choice
        The corpus, and the part of it to use.
    words
        Parameters of :class:`labelkin.text.WordCounts`, which learns from training documents only.
    path
        The path of the corpus; ``None``: that of the experiment.
    """
    corpus = _choose(_load(choice, path), choice)
    X_train, X, test = corpus.documents[corpus.train], corpus.documents, corpus.test
    labels, kind = labels_of(corpus), str(corpus.features)
    if kind == "text":
        counter = WordCounts(**words)
        X_train, kind = counter.fit_transform(X_train), "counts"
        X, test = counter.transform(X[test]), np.arange(len(test))
    facts = {
        "name": corpus.name,
        "source": corpus.source,
        "licence": corpus.licence,
        "features": corpus.features,
        "n_train": len(corpus.train),
        "n_test": len(corpus.test),
        "n_labels": corpus.Y.shape[1],
        "sha256": _checksums(corpus),
        "n_features": X_train.shape[1],
        "label_names": {str(label): name for label, name in corpus.display_names.items()},
    }
    parts = labels.rows(corpus.train), labels.rows(corpus.test)
    return PreparedCorpus(corpus, X_train, kind, *parts, facts, X, test, words)


def fit_features(content: ContentChoice, corpus: PreparedCorpus) -> tuple[Pipeline, Any]:
    """Fit the features of a content classifier, terms and weights, on the training documents.

    Returns the fitted transformer, and the features of the training documents.
    """
    is_sparse, is_text = sparse.issparse(corpus.X_train), corpus.source.features == "text"
    unsuited: tuple[str, ...] = () if is_text and content.terms is None else (TEXTS,)
    unsuited += _OF_COUNTS if corpus.kind in ("weights", "numbers") else ()
    unsuited += _OF_DENSE if is_sparse else ()
    if content.weights in unsuited:
        suited = ", ".join(repr(weights) for weights in WEIGHTS if weights not in unsuited)
        raise ValueError(
            f"[content.{content.name}]: weights must suit {corpus.facts['name']}, {corpus.kind} "
            f"in a {'sparse' if is_sparse else 'dense'} matrix, got {content.weights!r}. "
            f"Use one of {suited}."
        )
    if content.weights == TEXTS:
        return Pipeline([("texts", "passthrough")]), corpus.source.documents[corpus.source.train]
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


def _checksums(corpus: Corpus) -> dict[str, str]:
    """Return checksums of documents and label sets, by which a changed corpus is detected."""
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
    for block in block_slices(len(rows), 1):
        part = documents[rows[block]]
        if part.dtype == object:
            for text in part:
                digest.update(f"{len(text)} {text}".encode("utf-8", "surrogatepass"))
            continue
        arrays = (part.data, part.indices, part.indptr) if sparse.issparse(part) else (part,)
        for array in arrays:
            digest.update(array.astype(np.float64).tobytes())
    return digest.hexdigest()


class Trained(NamedTuple):
    """A trained system.

    Attributes
    ----------
    log_odds
        Function that returns the log-odds of test documents: from their features for the content
        alone, from their content log-odds and optional known labels for an addition.
    seconds
        Time of learning, ``"learning_wall"`` and ``"learning_cpu"``.
    out_of_fold
        Out-of-fold log-odds of the training documents, ``(n_train, n_labels)``, if asked for.
    learned
        Learned numbers, such as the weight.
    """

    log_odds: Callable[..., Any]
    seconds: Mapping[str, float]
    out_of_fold: Any = None
    learned: Mapping[str, float] = {}


def train_content(
    content: ContentChoice,
    seed: int,
    corpus: PreparedCorpus,
    *,
    out_of_fold: bool,
) -> Trained:
    """Train a content classifier."""
    features, X = fit_features(content, corpus)
    parameters = dict(content.parameters)
    if content.classifier == "views":
        parameters["words"] = WordCounts(**corpus.words)
    classifier = build_named("content", content.classifier, seed, **parameters)
    watch = Stopwatch()
    if out_of_fold:
        unseen = classifier.fit_out_of_fold(X, corpus.Y_train)
    else:
        unseen, _ = None, classifier.fit(X, corpus.Y_train)
    seconds = watch.seconds("learning_")
    return Trained(lambda X: classifier.log_odds(features.transform(X)), seconds, unseen)


def train_addition(
    addition: Addition, labels: LabelMatrix, content: Any, *, out_of_fold: bool = False
) -> Trained:
    """Train label evidence.

    Parameters
    ----------
    addition
        The label classifier, variant and weight.
    labels
        The labels of the training documents.
    content
        Their out-of-fold content log-odds, ``(n_train, n_labels)``; ``None`` is enough for
        additions that learn nothing from them.
    out_of_fold
        Whether to compute the out-of-fold posterior of the training documents.
    """
    watch = Stopwatch()
    rescorer = LabelRescorer(
        build_named("labels", addition.labels.classifier, **addition.labels.parameters),
        variant=_VARIANTS.get(addition.variant) or SCutFBR(),
        evidence_weight=addition.weight,
        scale="log_odds",
    )
    rescorer.fit(labels, scores=content)
    unseen = rescorer.rescore(content) if out_of_fold and content is not None else None
    learned = {}
    if addition.weight == AUTO:
        learned = {"evidence_weight": rescorer.evidence_weight_}
    return Trained(rescorer.rescore, watch.seconds("learning_"), unseen, learned)


def train_control(control: Control, labels: LabelMatrix, content: Matrix) -> Trained:
    """Correct the content by ``slope * content + shift``, without any other label.

    Controls show which part of a gain is due to other labels. They are fitted on out-of-fold
    content log-odds of the training documents: a number per label is added, or each label is
    calibrated as predicted labels are.
    """
    watch, content = Stopwatch(), np.clip(content, -_SURE, _SURE)
    if control.name == "offset":
        fitted = fit_offset(content, labels)
    else:
        fitted = fit_calibration(content, labels, monotone=False)
    return Trained(lambda test: test * fitted.slope + fitted.shift, watch.seconds("learning_"))


def make_rule(thresholds: Thresholds) -> ThresholdRule:
    """Return an unfitted rule for log-odds."""
    return rule_for(build_named("thresholds", thresholds.rule, **thresholds.parameters))


def make_related(related: RelatedMethod, seed: int) -> Any:
    """Return an unfitted related method, with the content classifier that learns its labels."""
    parameters, base = dict(related.parameters), related.estimator
    if base is not None:
        parameters["estimator"] = build_named("content", base.classifier, seed, **base.parameters)
    return build_named("related", related.classifier, seed, **parameters)


def fit_offset(content: Matrix, labels: LabelMatrix) -> Calibration:
    """Fit a number to add to each label, with the prior of the learned correction."""
    layer = fit_logistic_layer(
        np.empty((labels.shape[0], 0)),
        labels.positive,
        np.ones(labels.shape[0]),
        LearnedWeight().shrinkage * 2 / prior_scale(count_label_sets(labels)),
        unknown=labels.unknown,
        offset=content,
        own_column_zero=False,
    )
    shift = np.where(constant_labels(*labels.counts()), 0.0, layer.bias)
    return Calibration(np.ones(labels.shape[1]), shift)


class Stopwatch:
    """A stopwatch that starts when it is created.

    Examples
    --------
    >>> sorted(Stopwatch().seconds("learning_"))
    ['learning_cpu', 'learning_wall']
    """

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def seconds(self, prefix: str = "") -> dict[str, float]:
        """Return the seconds since the start, ``"wall"`` and ``"cpu"``, of all threads."""
        return {
            f"{prefix}wall": time.perf_counter() - self._wall,
            f"{prefix}cpu": time.process_time() - self._cpu,
        }
