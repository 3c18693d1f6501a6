"""Fitted models, from texts to content evidence, posterior, decisions and reasons; batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import terms_of
from labelkin.corpora.documents import Document
from labelkin.corpora.lines import in_blocks
from labelkin.estimator import LogOddsClassifier
from labelkin.evaluation.metrics.inputs import above_zero
from labelkin.explain.contributions import (
    Posterior,
    TermExplanation,
    content_and_members,
    explain_terms,
)
from labelkin.label_matrix import best_labels, to_dense
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer
from labelkin.odds import to_probability
from labelkin.scaling.blocks import Engine
from labelkin.scaling.distributed import using
from labelkin.storage import load
from labelkin.text import WordCounts
from labelkin.vocabulary import LabelNames, vocabulary_of

_WORD = re.compile(r"[^\W_]+")
#: Known words of a text, and their share, below which they are few; the page has the same rule.
_FEW, _SMALL_SHARE = 3, 0.15
#: Different words whose columns are remembered, a few megabytes.
_MOST_WORDS = 2**16


class DocumentContent(NamedTuple):
    """Content evidence of some documents.

    Attributes
    ----------
    vectors
        The documents as the classifier takes them.
    log_odds
        Content log-odds, ``(n_documents, n_labels)``; of candidates a CSR array.
    members
        What each member of an ensemble adds, ``(n_documents, n_labels)`` each; ``None``: the
        content is one classifier.
    n_words
        Number of words that the model knows, ``(n_documents,)``; ``None``: its first step does not
        count words.
    """

    vectors: Any
    log_odds: Any
    members: Mapping[str, Any] | None = None
    n_words: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The way from documents to a posterior; made by :func:`fitted_model` and :func:`load_model`.

    Attributes
    ----------
    steps
        Pipeline from documents to vectors; ``None`` if the classifier takes the documents.
    classifier
        One of labelkin's classifiers, fitted on label sets.

    Notes
    -----
    A service that learns passes its current ``rescorer`` to :meth:`posterior` and :meth:`scores`;
    the default is the one in the model file. Several threads may use a model at the same time.
    """

    steps: Pipeline | None
    classifier: Any

    def __getstate__(self) -> dict[str, Any]:
        """Return the model without what it remembers."""
        return {"steps": self.steps, "classifier": self.classifier}

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, ``(n_labels,)``."""
        return np.asarray(self.classifier.label_names_)

    @cached_property
    def names(self) -> LabelNames:
        """Names of the labels in the vocabulary that the model contains."""
        return LabelNames(self.labels.tolist(), vocabulary_of(self.classifier))

    @cached_property
    def takes_texts(self) -> bool:
        """Whether documents are texts, not vectors."""
        first = self.classifier if self.steps is None else self.steps[0]
        return bool(get_tags(first).input_tags.string)

    @property
    def has_label_evidence(self) -> bool:
        """Whether the model is a :class:`~labelkin.LabelDependenceClassifier`."""
        return isinstance(self.classifier, LabelDependenceClassifier)

    @property
    def needs_batch(self) -> bool:
        """Whether a decision depends on the other documents, so that streams cannot be decided."""
        return bool(getattr(getattr(self.classifier, "thresholds_", None), "needs_batch", False))

    @cached_property
    def word_counts(self) -> list[WordCounts]:
        """The transformers that count words: the first step, and those of views."""
        first = [] if self.steps is None else [self.steps[0]]
        members = getattr(getattr(self.classifier, "content_", None), "members_", ())
        counts = (getattr(member.features, "counts_", None) for member in members)
        return [one for one in (*first, *counts) if isinstance(one, WordCounts)]

    @cached_property
    def terms(self) -> Any:
        """Names of the columns of vectors; ``None``: they have no names."""
        return None if self.steps is None else terms_of(self.steps)

    def check_texts(self, name: str) -> None:
        """Raise if the model takes vectors, not texts."""
        if not self.takes_texts:
            raise ValueError(
                f"{name} must take texts, and takes vectors: it was trained on a corpus of them. "
                "Train a model on texts, or give this one vectors in Python (labelkin.load)."
            )

    def check_label_evidence(self, name: str) -> None:
        """Raise if the model has no label evidence and cannot react to known labels."""
        if not self.has_label_evidence:
            raise ValueError(
                f"{name} must be a LabelDependenceClassifier to react to labels, got a "
                f"{type(self.classifier).__name__}. labelkin train makes such files."
            )

    def vectors(self, documents: Any) -> Any:
        """Return the vectors of documents, as the classifier takes them."""
        return self._first_and_last(documents)[1]

    def content(self, documents: Any) -> DocumentContent:
        """Return the content evidence of documents, which every posterior starts from."""
        first, vectors = self._first_and_last(documents)
        inner = self.classifier.content_ if self.has_label_evidence else self.classifier
        log_odds, members = content_and_members(inner, vectors)
        n_words = None
        if self.steps is not None and _counts_words(self.steps[0]):
            n_words = np.asarray(first.sum(axis=1), dtype=np.int64).ravel()
        return DocumentContent(vectors, log_odds, members, n_words)

    def posterior(
        self, content: DocumentContent, known: Any = None, rescorer: LabelRescorer | None = None
    ) -> Posterior:
        """Return the posterior of documents, from which suggestions and explanations are read.

        Parameters
        ----------
        content
            As :meth:`content` returns it.
        known
            Known labels, as :meth:`labelkin.LabelRescorer.posterior` takes them; default none.
        rescorer
            Label evidence; default that of the model file.
        """
        classifier = self.classifier
        found = (rescorer or classifier.rescorer_).posterior(content.log_odds, known)
        calibration = classifier.calibration_
        return replace(
            found,
            calibrated=None if calibration is None else calibration.probabilities,
            decide=classifier.decide,
            members=content.members,
        )

    def reasons(
        self, vectors: Any, labels: Sequence[Any], top: int
    ) -> list[list[TermExplanation]] | None:
        """Return the strongest terms of some labels, by name, for each document.

        ``None`` if the content classifier has no exact contributions, such as a forest.
        """
        found = explain_terms(self.classifier, vectors, labels, top=top) if len(labels) else None
        if found is None or self.terms is None:
            return found
        return [[_with_names(one, self.terms) for one in row] for row in found]

    def has_few_words(self, texts: Sequence[str], vectors: Any) -> NDArray[np.bool_]:
        """Return for each text whether the model knows few of its words: under 3, or under 15 %.

        If the model does not count words, the result is ``False`` for every text.
        """
        counts = self.word_counts
        if counts and (self.steps is None or counts[0] is not self.steps[0]):
            vectors = counts[0].transform(texts)
        if not sparse.issparse(vectors):
            return np.zeros(len(texts), dtype=np.bool_)
        n_known = np.diff(sparse.csr_array(vectors).indptr)
        n_words = np.array([len({*_WORD.findall(text.lower())}) for text in texts], dtype=int)
        few = np.where(n_known < _FEW, n_words >= _FEW, n_known < _SMALL_SHARE * n_words)
        return few | ((n_known == 0) & (n_words > 0))

    def scores(
        self, documents: Any, known: Any = None, rescorer: LabelRescorer | None = None
    ) -> Any:
        """Return the posterior log-odds, ``(n_documents, n_labels)``, of candidates a CSR array.

        ``known`` and ``rescorer`` are those of :meth:`posterior`.
        """
        return self.scores_of_vectors(self.vectors(documents), known, rescorer)

    def scores_of_vectors(
        self, vectors: Any, known: Any = None, rescorer: LabelRescorer | None = None
    ) -> Any:
        """Return the same for vectors."""
        if not self.has_label_evidence:
            return self.classifier.log_odds(vectors)
        content = self.classifier.content_.log_odds(vectors)
        return (rescorer or self.classifier.rescorer_).rescore(content, known)

    def log_odds(self, documents: Any) -> NDArray[np.float64]:
        """Return the posterior log-odds, dense; −inf for labels outside the candidate set."""
        return to_dense(self.scores(documents))

    def decide(self, log_odds: Any) -> Any:
        """Return the decisions of the model's thresholds and rules."""
        return self.classifier.decide(log_odds) if self.has_label_evidence else above_zero(log_odds)

    def probabilities(self, log_odds: Any) -> Any:
        """Return the probabilities of the model, calibrated if it is calibrated."""
        if self.has_label_evidence:
            return self.classifier.probabilities(log_odds)
        return to_probability(log_odds)

    def _first_and_last(self, documents: Any) -> tuple[Any, Any]:
        """Return the output of the first step and that of the last."""
        if self.steps is None:
            return documents, documents
        first = vectors = self._count(documents)
        for _, step in self.steps.steps[1:]:
            vectors = step.transform(vectors)
        return first, vectors

    @cached_property
    def _count(self) -> Callable[[Any], Any]:
        """The first step; one that counts words remembers the words of earlier documents."""
        assert self.steps is not None
        first = self.steps[0]
        return first.counter(_MOST_WORDS) if isinstance(first, WordCounts) else first.transform


def _counts_words(step: Any) -> bool:
    if isinstance(step, CountVectorizer):
        return not isinstance(step, TfidfVectorizer) and not step.binary
    return isinstance(step, WordCounts)


def _with_names(one: TermExplanation, names: Any) -> TermExplanation:
    terms = (
        term._replace(term=names[term.term]) if isinstance(term.term, int) else term
        for term in one.terms
    )
    return replace(one, terms=tuple(terms))


def load_model(path: Path, trusted: Sequence[str] = ()) -> FittedModel:
    """Load a model file; ``trusted`` as in :func:`labelkin.load`."""
    return fitted_model(load(path, trusted=trusted), str(path))


def fitted_model(model: Any, name: str = "The model") -> FittedModel:
    """Return the steps and the classifier of a model; other models are an error.

    Parameters
    ----------
    model
        One of labelkin's classifiers, or a pipeline that ends in one; fitted.
    name
        Name of the model in messages.
    """
    check_is_fitted(model)
    steps = None
    classifier = model
    if isinstance(model, Pipeline):
        steps = model[:-1] if len(model) > 1 else None
        classifier = model[-1]
    if not isinstance(classifier, LogOddsClassifier):
        raise ValueError(
            f"{name} must be one of labelkin's classifiers, or a pipeline that ends in one, got a "
            f"{type(classifier).__name__}. labelkin train makes such files."
        )
    if classifier.target_kind_ != "multilabel":
        raise ValueError(
            f"{name} must have learned label sets, and has learned one class per document. Train "
            "it on label sets."
        )
    return FittedModel(steps, classifier)


#: Documents × labels answered at a time, unless a batch is named: 2²² numbers are 32 MB.
_CELLS = 2**22
_MOST = 1000


class Choice(NamedTuple):
    """Which labels a document is given, where it is not the model's thresholds that decide.

    Attributes
    ----------
    top : int, optional
        Maximum number of labels, the most probable ones, …
    threshold : float, optional
        … with at least this probability; both ``None``: the model's thresholds decide.
    at_least : int, default 0
        Minimum number of labels; the most probable labels are added.
    limit : int, optional
        Maximum number of labels.
    """

    top: int | None = None
    threshold: float | None = None
    at_least: int = 0
    limit: int | None = None

    @property
    def is_the_models(self) -> bool:
        """Whether the model's thresholds decide."""
        return self.top is None and self.threshold is None

    def check(self) -> None:
        """Raise for numbers that make no sense."""
        for name, value in self._asdict().items():
            if name == "threshold" and not (value is None or 0 <= value <= 1):
                raise ValueError(f"threshold must be a probability, got {value!r}.")
            if name in ("top", "limit") and not (value is None or value >= 1):
                raise ValueError(f"{name} must be at least 1, got {value!r}.")
        most = min((n for n in (self.top, self.limit) if n is not None), default=self.at_least)
        if self.at_least > most:
            raise ValueError(f"at_least must not be above {most}, the most, got {self.at_least}.")

    def labels(
        self, log_odds: NDArray[np.float64], probabilities: NDArray[np.float64], decided: Any
    ) -> list[NDArray[np.intp]]:
        """Return the columns of the labels that each document is given, most probable first."""
        there = log_odds > -np.inf  # not: rejected, or no candidate
        if not self.is_the_models:
            decided = there & (probabilities >= (self.threshold or 0.0))
        most = min((n for n in (self.top, self.limit) if n is not None), default=None)
        given = best_labels(log_odds, most, decided)
        few = [i for i, labels in enumerate(given) if len(labels) < self.at_least]
        if few:
            for i, labels in zip(
                few, best_labels(log_odds[few], self.at_least, there[few]), strict=True
            ):
                given[i] = labels
        return given


class Answer(NamedTuple):
    """The labels of one document.

    Attributes
    ----------
    id : str or int
        Of the document, or its number.
    given : ndarray of int
        Columns of the labels it is given, most probable first.
    probabilities : ndarray, (n_labels,)
        Of all labels; of those that may be given, where some may not.
    text : str, default ""
        The document, where it was asked for.
    has_few_words : bool, default False
        Whether the model knows few words of the document.
    """

    id: str | int
    given: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    text: str = ""
    has_few_words: bool = False


def answer_batches(
    model: FittedModel,
    documents: Iterable[Document],
    *,
    batch: int | None = None,
    choice: Choice | None = None,
    allowed: NDArray[np.bool_] | None = None,
    engine: Engine | None = None,
    texts: bool = False,
) -> Iterator[list[Answer]]:
    """Answer documents batch by batch, in their order; memory holds one batch.

    Parameters
    ----------
    model : FittedModel
        Takes texts, and decides each document by itself.
    documents : iterable of Document
        From wherever they come.
    batch : int, optional
        How many are answered together; ``None``: 1,000, or fewer where there are many labels.
    choice : Choice, optional
        Which labels a document is given; ``None``: as the model's thresholds decide.
    allowed : ndarray of bool, (n_labels,), optional
        Which labels may be given; answers count their columns. ``None``: all.
    engine : Engine, optional
        Where batches are answered; ``None``: here, or on the engine in use
        (:func:`labelkin.scaling.distributed.using`).
    texts : bool, default False
        Whether answers have the texts of their documents.
    """
    choice = Choice() if choice is None else choice
    choice.check()
    if model.needs_batch and choice.is_the_models:
        raise ValueError(
            f"A stream must be decided document by document, and "
            f"{type(model.classifier.thresholds_).__name__} looks at all documents together. Give "
            "--top or --threshold, train with other thresholds, or predict in Python "
            "(labelkin.load)."
        )
    size = batch if batch is not None else max(1, min(_MOST, _CELLS // max(len(model.labels), 1)))
    with using(engine) as worker:
        blocks = in_blocks(documents, size)
        return worker.map(
            _answer, blocks, model=model, choice=choice, allowed=allowed, with_texts=texts
        )


def _answer(
    documents: list[Document],
    model: FittedModel,
    choice: Choice,
    allowed: NDArray[np.bool_] | None,
    with_texts: bool,
) -> list[Answer]:
    names = [_name(document) for document in documents]
    texts = [document.text for document in documents]
    vectors = model.vectors(texts)
    log_odds = to_dense(model.scores_of_vectors(vectors))
    few = model.has_few_words(texts, vectors)
    probabilities = model.probabilities(log_odds)
    if allowed is not None:
        log_odds[:, ~allowed] = -np.inf  # for thresholds that count labels they are none
    decided = model.decide(log_odds) if choice.is_the_models else None
    if allowed is not None:
        log_odds, probabilities = log_odds[:, allowed], probabilities[:, allowed]
        decided = None if decided is None else np.asarray(decided, dtype=np.bool_)[:, allowed]
    given = choice.labels(log_odds, probabilities, decided)
    shown = texts if with_texts else [""] * len(texts)
    return list(map(Answer, names, given, probabilities, shown, few.tolist()))


def _name(document: Document) -> str | int:
    """Return what the answer is found again by: a line of the output begins with it."""
    if isinstance(document.name, str) and len(document.name.splitlines()) > 1:
        raise ValueError(f"{document.place}: an id must be on one line, got {document.name!r}.")
    return document.name
