"""Fitted models, from texts to content evidence, posterior, decisions and reasons; batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.content.term_contributions import contributions_of, terms_of, with_term_names
from labelkin.corpora.documents import Document
from labelkin.corpora.lines import in_blocks
from labelkin.estimator import LogOddsClassifier
from labelkin.explain.contributions import Posterior, TermExplanation, content_and_members
from labelkin.label_matrix import best_labels, to_dense
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer
from labelkin.scaling.blocks import Engine
from labelkin.scaling.distributed import using
from labelkin.text import WordCounts
from labelkin.vocabulary import LabelNames, Vocabulary

_WORD = re.compile(r"[^\W_]+")
#: Known words of a text, and their share, below which they are few; the page has the same rule.
_FEW, _SMALL_SHARE = 3, 0.15
#: Different words whose columns are cached, a few megabytes.
_MOST_WORDS = 2**16
#: Documents × labels of a batch, 2²² numbers are 32 MB, and documents of a batch.
_CELLS, _MOST = 2**22, 1000


class DocumentContent(NamedTuple):
    """Content evidence of some documents.

    Attributes
    ----------
    vectors : array or sparse matrix of shape (n_documents, n_features)
        The documents as the classifier takes them.
    log_odds : array or CSR array of candidates, (n_documents, n_labels)
        Content log-odds.
    members : mapping, optional
        Log-odds that each member of an ensemble adds, ``(n_documents, n_labels)`` each.
    n_words : ndarray of int, (n_documents,), optional
        Number of words that the model knows, if its first step counts words.
    """

    vectors: Any
    log_odds: Any
    members: Mapping[str, Any] | None = None
    n_words: NDArray[np.int64] | None = None


class FittedModel:
    """A fitted model, from documents to a posterior.

    :func:`fitted_model` returns it. Several threads may use it at once.

    Attributes
    ----------
    steps : Pipeline, optional
        Steps from documents to vectors; ``None`` if the classifier takes the documents.
    classifier : LogOddsClassifier
        One of labelkin's classifiers, fitted on label sets.
    labels : ndarray of shape (n_labels,)
        The labels.
    takes_texts : bool
        Whether documents are texts, not vectors.
    has_label_evidence : bool
        Whether the classifier is a :class:`~labelkin.LabelDependenceClassifier`.
    content_classifier : LogOddsClassifier
        The content classifier of a model with label evidence, else the classifier.
    vocabulary : Vocabulary, optional
        The vocabulary that the model contains.
    needs_batch : bool
        Whether a decision depends on the other documents, so that streams cannot be decided.
    """

    def __init__(self, steps: Pipeline | None, classifier: Any) -> None:
        self.steps = steps
        self.classifier = classifier
        self.labels: NDArray[Any] = np.asarray(classifier.label_names_)
        first = classifier if steps is None else steps[0]
        is_counting = isinstance(first, WordCounts)
        self.takes_texts = is_counting or bool(get_tags(first).input_tags.string)
        self.has_label_evidence = isinstance(classifier, LabelDependenceClassifier)
        self.content_classifier = classifier.content_ if self.has_label_evidence else classifier
        self.vocabulary: Vocabulary | None = getattr(classifier, "concepts_", None)
        rule = getattr(classifier, "thresholds_", None)
        self.needs_batch = bool(getattr(rule, "needs_batch", False))
        # Word counts cache the words of earlier documents.
        self._first_step = first.counter(_MOST_WORDS) if is_counting else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model without its caches."""
        return FittedModel, (self.steps, self.classifier)

    @cached_property
    def names(self) -> LabelNames:
        """Names of the labels in the vocabulary that the model contains."""
        return LabelNames(self.labels.tolist(), self.vocabulary)

    @cached_property
    def word_counts(self) -> list[WordCounts]:
        """The transformers that count words: the first step, and those of views."""
        first = [] if self.steps is None else [self.steps[0]]
        members = getattr(self.content_classifier, "members_", ())
        counts = (getattr(member.features, "counts_", None) for member in members)
        return [one for one in (*first, *counts) if isinstance(one, WordCounts)]

    @cached_property
    def terms(self) -> Any:
        """Names of the columns of vectors, if they have names."""
        return None if self.steps is None else terms_of(self.steps)

    def vectors(self, documents: Any) -> Any:
        """Return the vectors of documents, as the classifier takes them."""
        return self._first_and_last(documents)[1]

    def content(self, documents: Any) -> DocumentContent:
        """Return the content evidence of documents."""
        first, vectors = self._first_and_last(documents)
        log_odds, members = content_and_members(self.content_classifier, vectors)
        n_words = None
        if self._first_step is not None:
            n_words = np.asarray(first.sum(axis=1), dtype=np.int64).ravel()
        return DocumentContent(vectors, log_odds, members, n_words)

    def posterior(
        self, content: DocumentContent, known: Any = None, rescorer: LabelRescorer | None = None
    ) -> Posterior:
        """Return the posterior of documents, for suggestions and explanations.

        Parameters
        ----------
        content : DocumentContent
            Result of :meth:`content`.
        known : known labels, optional
            As :meth:`labelkin.LabelRescorer.posterior` takes them.
        rescorer : LabelRescorer, optional
            Label evidence, as of a service that learns; default that of the model file.
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
        terms, place = self.terms, {label: j for j, label in enumerate(self.labels.tolist())}
        columns = np.array([place[label] for label in labels], dtype=int)
        found = contributions_of(self.content_classifier, vectors, columns)
        if found is None:
            return None
        return [
            [
                TermExplanation.of(label, with_term_names(one, terms), top)
                for label, one in zip(labels, row, strict=True)
            ]
            for row in found
        ]

    def has_few_words(self, texts: Sequence[str], vectors: Any) -> NDArray[np.bool_]:
        """Return for each text whether the model knows few of its words: under 3, or under 15 %.

        If the model does not count words, the result is ``False`` for every text.
        """
        if self._first_step is None and self.word_counts:
            vectors = self.word_counts[0].transform(texts)
        if not sparse.issparse(vectors):
            return np.zeros(len(texts), dtype=np.bool_)
        n_known = np.diff(sparse.csr_array(vectors).indptr)
        n_words = np.array([len({*_WORD.findall(text.lower())}) for text in texts], dtype=int)
        few = np.where(n_known < _FEW, n_words >= _FEW, n_known < _SMALL_SHARE * n_words)
        return few | ((n_known == 0) & (n_words > 0))

    def scores(
        self, documents: Any, known: Any = None, rescorer: LabelRescorer | None = None
    ) -> Any:
        """Return the posterior log-odds, ``(n_documents, n_labels)``, a CSR array of candidates.

        ``known`` and ``rescorer`` are those of :meth:`posterior`, for models with label evidence.
        """
        vectors = self.vectors(documents)
        if known is None and rescorer is None:
            return self.classifier.log_odds(vectors)
        content = self.content_classifier.log_odds(vectors)
        return (rescorer or self.classifier.rescorer_).rescore(content, known)

    def decide(self, log_odds: Any) -> Any:
        """Return the decisions of the model's thresholds and rules."""
        return self.classifier._decisions(log_odds)

    def probabilities(self, log_odds: Any) -> Any:
        """Return the probabilities of the model, calibrated if it is calibrated."""
        return self.classifier._probabilities(log_odds)

    def _first_and_last(self, documents: Any) -> tuple[Any, Any]:
        """Return the output of the first step and that of the last."""
        if self.steps is None:
            return documents, documents
        first = vectors = (self._first_step or self.steps[0].transform)(documents)
        for _, step in self.steps.steps[1:]:
            vectors = step.transform(vectors)
        return first, vectors


def fitted_model(model: Any, name: str = "The model") -> FittedModel:
    """Return the steps and the classifier of a model; other models are an error.

    Parameters
    ----------
    model : classifier, pipeline or FittedModel
        One of labelkin's classifiers, or a pipeline that ends in one; fitted.
    name : str, default "The model"
        Name of the model in messages.
    """
    if isinstance(model, FittedModel):
        return model
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
    if not hasattr(classifier, "label_names_"):
        check_is_fitted(classifier)  # raises
    if classifier.target_kind_ != "multilabel":
        raise ValueError(
            f"{name} must have learned label sets, and has learned one class per document. Train "
            "it on label sets."
        )
    return FittedModel(steps, classifier)


class Choice(NamedTuple):
    """Limits for the labels of a document.

    Attributes
    ----------
    top : int, optional
        The number of most probable labels, instead of the model's thresholds.
    threshold : float, optional
        Minimum probability of a label, instead of the model's thresholds.
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
    def by_thresholds(self) -> bool:
        """Whether the model's thresholds decide."""
        return self.top is None and self.threshold is None

    @property
    def most(self) -> int | None:
        """Maximum number of labels."""
        return min((n for n in (self.top, self.limit) if n is not None), default=None)

    def labels(
        self, log_odds: NDArray[np.float64], probabilities: NDArray[np.float64], decided: Any
    ) -> list[NDArray[np.intp]]:
        """Return the columns of the labels of each document, most probable first."""
        there = log_odds > -np.inf  # not rejected, and a candidate
        if not self.by_thresholds:
            decided = there & (probabilities >= (self.threshold or 0.0))
        given = best_labels(log_odds, self.most, decided)
        few = [i for i, labels in enumerate(given) if len(labels) < self.at_least]
        if few:
            added = best_labels(log_odds[few], self.at_least, there[few])
            for i, labels in zip(few, added, strict=True):
                given[i] = labels
        return given


class Answer(NamedTuple):
    """The labels of one document.

    Attributes
    ----------
    id : str or int
        Id or number of the document.
    given : ndarray of int
        Columns of the assigned labels, most probable first.
    probabilities : ndarray, (n_labels,)
        Probabilities of all allowed labels.
    text : str, default ""
        The document, if it is wanted.
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
    """Assign labels to documents batch by batch, in their order; memory contains one batch.

    Parameters
    ----------
    model : FittedModel
        A model of texts, whose thresholds decide each document separately.
    documents : iterable of Document
        The documents.
    batch : int, optional
        Number of documents in a batch; default 1,000, or fewer for many labels.
    choice : Choice, optional
        Limits for the labels; default the model's thresholds.
    allowed : ndarray of bool, (n_labels,), optional
        Labels that may be assigned; answers have only their columns. Default all.
    engine : Engine, optional
        Where batches are computed; default here, or on the engine in use
        (:func:`labelkin.scaling.distributed.using`).
    texts : bool, default False
        Whether answers contain the texts of their documents.
    """
    choice = choice or Choice()
    if choice.most is not None and choice.at_least > choice.most:
        raise ValueError(
            f"at_least must not be above {choice.most}, the maximum, got {choice.at_least}."
        )
    if model.needs_batch and choice.by_thresholds:
        raise ValueError(
            f"A stream must be decided document by document, and "
            f"{type(model.classifier.thresholds_).__name__} needs all documents together. Use "
            "--top or --threshold, train with other thresholds, or predict in Python "
            "(labelkin.load)."
        )
    size = batch or max(1, min(_MOST, _CELLS // max(len(model.labels), 1)))
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
    for one in documents:
        if isinstance(one.name, str) and len(one.name.splitlines()) > 1:
            raise ValueError(f"{one.place}: an id must be on one line, got {one.name!r}.")
    texts = [document.text for document in documents]
    vectors = model.vectors(texts)
    log_odds = to_dense(model.classifier.log_odds(vectors))
    few = model.has_few_words(texts, vectors).tolist()
    probabilities = model.probabilities(log_odds)
    if allowed is not None:
        log_odds[:, ~allowed] = -np.inf  # before thresholds that count labels
    decided = model.decide(log_odds) if choice.by_thresholds else None
    if allowed is not None:
        log_odds, probabilities = log_odds[:, allowed], probabilities[:, allowed]
        decided = None if decided is None else np.asarray(decided, dtype=np.bool_)[:, allowed]
    given = choice.labels(log_odds, probabilities, decided)
    shown = texts if with_texts else [""] * len(texts)
    return list(map(Answer, [one.name for one in documents], given, probabilities, shown, few))
