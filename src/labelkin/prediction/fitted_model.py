"""A fitted model as the doors use it: what it takes, its log-odds, its answers in batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.corpora.documents import Document
from labelkin.corpora.lines import in_blocks
from labelkin.estimator import LogOddsClassifier
from labelkin.evaluation.metrics.judged import above_zero
from labelkin.label_matrix import best_labels, spread_out
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.odds import probability_of
from labelkin.scaling.blocks import Engine
from labelkin.scaling.distributed import using
from labelkin.vocabulary import LabelNames, vocabulary_of

_WORD = re.compile(r"[^\W_]+")
#: Known words of a text, and their share, below which they are few; the page has the same rule.
_FEW, _SMALL_SHARE = 3, 0.15


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A classifier and the steps before it; :func:`fitted_model` makes it.

    Attributes
    ----------
    steps
        What turns documents into vectors; ``None`` where the classifier takes them as they are.
    classifier
        One of labelkin's, fitted on label sets.
    """

    steps: Pipeline | None
    classifier: Any

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, ``(n_labels,)``."""
        return np.asarray(self.classifier.label_names_)

    @cached_property
    def names(self) -> LabelNames:
        """The labels as people read them, by the vocabulary that the model carries."""
        return LabelNames(self.labels.tolist(), vocabulary_of(self.classifier))

    @property
    def takes_texts(self) -> bool:
        """Whether documents are texts, not vectors."""
        first = self.classifier if self.steps is None else self.steps[0]
        return bool(get_tags(first).input_tags.string)

    @property
    def needs_batch(self) -> bool:
        """Whether a decision depends on the other documents, so that streams cannot be decided."""
        return bool(getattr(getattr(self.classifier, "thresholds_", None), "needs_batch", False))

    def check_texts(self, name: str) -> None:
        """Raise where the model takes vectors, not texts."""
        if not self.takes_texts:
            raise ValueError(
                f"{name} must take texts, and takes vectors: it was trained on a corpus of them. "
                "Train a model on texts, or give this one vectors in Python (labelkin.load)."
            )

    def vectors(self, documents: Any) -> Any:
        """Return what the classifier takes, for texts or for vectors."""
        return documents if self.steps is None else self.steps.transform(documents)

    def has_few_words(self, texts: Sequence[str], vectors: Any) -> NDArray[np.bool_]:
        """Return which texts have words of which the model knows few: under 3, or under 15 %.

        Of a model that does not count words it is unknown, and no text has few.
        """
        for member in getattr(getattr(self.classifier, "content_", None), "members_", ()):
            if (counts := getattr(member.features, "counts_", None)) is not None:
                vectors = counts.transform(texts)
                break
        if not sparse.issparse(vectors):
            return np.zeros(len(texts), dtype=np.bool_)
        n_known = np.diff(sparse.csr_array(vectors).indptr)
        n_words = np.array([len({*_WORD.findall(text.lower())}) for text in texts], dtype=int)
        few = np.where(n_known < _FEW, n_words >= _FEW, n_known < _SMALL_SHARE * n_words)
        return few | ((n_known == 0) & (n_words > 0))

    def scores(self, documents: Any) -> Any:
        """Return the posterior log-odds, ``(n_documents, n_labels)``, of candidates a CSR array."""
        return self.classifier.log_odds(self.vectors(documents))

    def log_odds(self, documents: Any) -> NDArray[np.float64]:
        """Return the posterior log-odds, dense; −inf where a label is no candidate."""
        return spread_out(self.scores(documents))

    def decide(self, log_odds: Any) -> Any:
        """Return which labels are given, as the model's thresholds and rules have it."""
        if isinstance(self.classifier, LabelDependenceClassifier):
            return self.classifier.decide(log_odds)
        return above_zero(log_odds)

    def probabilities(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities that the model gives, calibrated if it is."""
        if isinstance(self.classifier, LabelDependenceClassifier):
            return self.classifier.probabilities(log_odds)
        return probability_of(log_odds)


def fitted_model(model: Any, name: str = "The model") -> FittedModel:
    """Take a model apart; whatever gives no log-odds of label sets is an error.

    Parameters
    ----------
    model
        One of labelkin's classifiers, or a pipeline that ends in one; fitted.
    name
        What messages call it.
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
        So many of the most probable labels, …
    threshold : float, optional
        … of those that have at least this probability; ``None`` both: as the model decides.
    at_least : int, default 0
        So many at least: what is missing is filled up with the most probable ones.
    limit : int, optional
        So many at most.
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
    """What a model says of one document.

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
    log_odds = spread_out(model.classifier.log_odds(vectors))
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
