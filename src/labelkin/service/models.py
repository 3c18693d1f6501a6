"""A model that is served: its texts, its content evidence, what it has learned so far."""

from __future__ import annotations

import logging
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from threading import Event, Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from labelkin.content.term_contributions import terms_of
from labelkin.explain.contributions import content_and_members
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer
from labelkin.service.health import Telemetry
from labelkin.service.journal import Mark
from labelkin.service.journal_rows import Entry
from labelkin.storage import ModelFile, load, read_header
from labelkin.text import WordCounts
from labelkin.vocabulary import LabelNames, vocabulary_of

#: Texts whose content evidence is remembered: a person asks about one text many times.
_REMEMBERED = 128
#: Different words whose columns are remembered, a few megabytes.
_MOST_WORDS = 2**16
#: Labels that the model does not have are counted by name, so many: anyone can make them up.
_MOST_UNKNOWN = 5_000
#: Documents are gathered for so long before a refit: each of them shows within a second, …
_GATHER_SECONDS = 0.15
#: … and where refits are slow, as long as the last one took, so that they leave room to answer.
_LONGEST_GATHERING = 10.0

_log = logging.getLogger(__name__)


class Snapshot(NamedTuple):
    """What a model has learned by now; an answer comes from one of them.

    Attributes
    ----------
    rescorer : LabelRescorer
        Label evidence and combination.
    learned : int
        Documents of the journal it has learned from.
    """

    rescorer: LabelRescorer
    learned: int


class Content(NamedTuple):
    """What the words of one text say.

    Attributes
    ----------
    features : matrix of shape (1, n_features)
        The text as the content classifier takes it.
    log_odds : array or CSR array of shape (1, n_labels)
        Content evidence, of all labels or of candidates.
    n_words : int or None
        How many words of it the model knows, if its first step counts them.
    members : mapping or None
        What each member of an ensemble adds, ``(1, n_labels)`` each.
    """

    features: Any
    log_odds: Any
    n_words: int | None
    members: Mapping[str, Any] | None = None


class ServedModel:
    """A model from a file, ready to answer from several threads.

    Parameters
    ----------
    name : str
        What it is called in addresses.
    path : Path
        Its file: a pipeline from texts to a :class:`~labelkin.LabelDependenceClassifier`.
    trusted : names, default ()
        What is asked for by name, as :func:`labelkin.load` takes it.

    Attributes
    ----------
    id, header
        Its name, and what its file says of it.
    labels, names : list
        Its labels, and the same as text, in column order.
    name_array : array of shape (n_labels,)
        The names again, for readers.
    column : dict
        Name → column.
    shown : LabelNames
        What people call the labels, by the vocabulary that the file carries.
    snapshot : Snapshot
        What it has learned by now.
    unknown : Counter
        Labels of the journal that the model does not have, and how many documents have them; the
        first few thousand labels.
    """

    def __init__(self, name: str, path: Path, trusted: Sequence[str] = ()) -> None:
        self.id = name
        self.header: ModelFile = read_header(path)
        self.pipeline, self.classifier = _text_classifier(load(path, trusted=trusted), path)
        self.labels: list[Any] = self.classifier.label_names_.tolist()
        self.names = [str(label) for label in self.labels]
        # The texts themselves, which know their hashes: each request looks some of them up.
        self.name_array = np.array(self.names, dtype=object)
        self.column = {label: j for j, label in enumerate(self.names)}
        if len(self.column) < len(self.names):
            twice = [name for name, count in Counter(self.names).items() if count > 1]
            raise ValueError(
                f"Labels must have distinct names to be served, got {twice[0]!r} twice in {path}. "
                "Train with names that are all texts."
            )
        self.shown = LabelNames(self.names, vocabulary_of(self.classifier))
        self.snapshot = Snapshot(self.classifier.rescorer_, 0)
        self.unknown: Counter[str] = Counter()
        self._terms = terms_of(self.pipeline[:-1])
        first = self.pipeline[0]
        self._first_step: Callable[[Sequence[str]], Any] = (
            first.counter(_MOST_WORDS) if isinstance(first, WordCounts) else first.transform
        )
        self._remembered: OrderedDict[bytes, Content] = OrderedDict()
        self._lock = Lock()
        try:  # before the first person does: it also makes the first answer quick
            self.content("A first text.")
        except Exception as error:
            raise ValueError(
                f"A served model must take texts, but the model in {path} cannot: {error}"
            ) from error

    @property
    def learns(self) -> bool:
        """Whether its label evidence is of a kind that can learn more."""
        return hasattr(self.classifier.rescorer_.labels_, "fit_counted")

    @property
    def language(self) -> str:
        """What its texts are written in, as far as its first step knows."""
        first = next(iter(self.word_counts), self.pipeline[0])
        return str(getattr(first, "language", "und"))

    @property
    def word_counts(self) -> list[WordCounts]:
        """What counts its words: its first step, or the views that do."""
        members = getattr(self.classifier.content_, "members_", ())
        counts = (getattr(member.features, "counts_", None) for member in members)
        return [one for one in (self.pipeline[0], *counts) if isinstance(one, WordCounts)]

    @property
    def title(self) -> str:
        """What it is called on the page."""
        return str((self.header.summary or {}).get("name", self.id))

    def term(self, term: Any) -> Any:
        """Return the name of a term that is called by its column, where it has one."""
        if self._terms is None or not isinstance(term, int):
            return term
        return self._terms[term]

    @property
    def mark(self) -> Mark | None:
        """Up to where its training has read a journal."""
        mark = (self.header.summary or {}).get("journal")
        if not isinstance(mark, list) or list(map(type, mark)) != [str, int]:
            return None
        return Mark(*mark)

    def content(self, text: str) -> Content:
        """Return the content evidence of a text; that of the last few texts is remembered."""
        key = blake2b(text.encode(), digest_size=16).digest()
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        counts, features = self._transform([text])
        log_odds, members = content_and_members(self.classifier.content_, features)
        n_words = int(counts.sum()) if _counts_words(self.pipeline[0]) else None
        content = Content(features, log_odds, n_words, members)
        with self._lock:
            self._remembered[key] = content
            if len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return content

    def content_log_odds(self, texts: Sequence[str]) -> Any:
        """Return the content evidence of texts, ``(n_texts, n_labels)``."""
        if len(texts) == 1:
            return self.content(texts[0]).log_odds
        if not texts:
            return np.zeros((0, len(self.names)))
        return self.classifier.content_.log_odds(self._transform(texts)[1])

    def learn_anew(self, entries: Sequence[Entry]) -> None:
        """Learn from documents as if none had been learned but those of the model's file."""
        self.unknown.clear()
        self._learn(entries, Snapshot(self.classifier.rescorer_, 0))

    def learn(self, entries: Sequence[Entry]) -> None:
        """Learn from the label sets of further documents; one thread at a time may do so.

        A document has the labels that were accepted, with all that follows from them by the rules,
        and no others.
        """
        if entries:
            self._learn(entries, self.snapshot)

    def _learn(self, entries: Sequence[Entry], before: Snapshot) -> None:
        for name in chain.from_iterable(set(entry.accepted) for entry in entries):
            is_counted = name in self.unknown or len(self.unknown) < _MOST_UNKNOWN
            if name not in self.column and is_counted:
                self.unknown[name] += 1
        rescorer, learned = before
        if not self.learns:
            return
        if entries:
            rescorer = rescorer.learn_more([self._label_set(entry) for entry in entries])
        self.snapshot = Snapshot(rescorer, learned + len(entries))

    def _transform(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Return what the first step makes of texts, and what the last one before the labels."""
        counts = features = self._first_step(texts)
        for _, step in self.pipeline.steps[1:-1]:
            features = step.transform(features)
        return counts, features

    def _label_set(self, entry: Entry) -> set[Any]:
        columns = [self.column[name] for name in entry.accepted if name in self.column]
        rules = self.classifier.rescorer_.rules_
        if rules is not None and columns:
            known = np.full((1, len(self.names)), np.nan)
            known[0, columns] = 1.0
            with suppress(ValueError):  # what a person has accepted stands, also against a rule
                known = rules.complete_known(known)
            columns = np.flatnonzero(known[0] == 1).tolist()
        return {self.labels[j] for j in columns}


def read_models(paths: Sequence[Path], trusted: Sequence[str] = ()) -> dict[str, ServedModel]:
    """Load models; each is called by the stem of its file, made fit for an address and unique."""
    if not paths:
        raise ValueError("There must be a model to serve, got none. Name a model file.")
    models: dict[str, ServedModel] = {}
    for path in paths:
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem).strip("-.") or "model"
        name, number = stem, 1
        while name in models:
            number += 1
            name = f"{stem}-{number}"
        models[name] = ServedModel(name, path, trusted)
    return models


class Learner:
    """Has a model learn what reaches the journal, in a thread of its own.

    Whatever arrives while it gathers or learns is learned together, in one refit.

    Parameters
    ----------
    model : ServedModel
        What learns.
    telemetry : Telemetry
        Where refits are counted.
    replay : callable
        Returns what the journal has for the model, to learn it anew; by default nothing.
    """

    def __init__(
        self,
        model: ServedModel,
        telemetry: Telemetry,
        replay: Callable[[], list[Entry]] = list,
    ) -> None:
        self._model = model
        self._replay = replay
        self._anew: list[Entry] | None = None
        self._lock = Lock()
        self._telemetry = telemetry
        self._waiting: deque[Entry] = deque()
        self._gathering = _GATHER_SECONDS
        self._closing = Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"learning {model.id}")

    def hear(self, entries: Sequence[Entry]) -> None:
        """Take note of documents that are in the journal; those of other models are left out."""
        with self._lock:
            self._waiting.extend(entry for entry in entries if entry.model == self._model.id)
        self._thread.submit(self._learn_waiting)

    def hear_anew(self) -> None:
        """Take note that documents were replaced: all that is in the journal now is learned."""
        with self._lock:
            self._anew = self._replay()
            self._waiting.clear()
        self._thread.submit(self._learn_waiting)

    def learn(self, entries: Sequence[Entry], anew: bool = False) -> None:
        """Have the model learn now; when it cannot, it goes on with what it has learned before."""
        model = self._model
        with self._telemetry.refit_seconds.labels(model.id).time():
            try:
                if anew:
                    model.learn_anew(entries)
                else:
                    model.learn(entries)
            except Exception:
                outcome = "failed"
                _log.exception("model %s could not learn from %d documents", model.id, len(entries))
            else:
                outcome = "done"
        self._telemetry.refits.labels(model.id, outcome).inc()
        self._telemetry.learned.labels(model.id).set(model.snapshot.learned)

    def close(self) -> None:
        """End the thread; what was not learned yet is in the journal, and learned at the start."""
        self._closing.set()
        self._thread.shutdown(wait=True)

    def _learn_waiting(self) -> None:
        """Wait a moment for more; there is nothing where an earlier call has learned it."""
        if (not self._waiting and self._anew is None) or self._closing.wait(self._gathering):
            return
        start = perf_counter()
        with self._lock:
            anew, self._anew = self._anew, None
            entries = [*(anew or ()), *self._waiting]
            self._waiting.clear()
        self.learn(entries, anew is not None)
        self._gathering = max(_GATHER_SECONDS, min(perf_counter() - start, _LONGEST_GATHERING))


def _text_classifier(model: Any, path: Path) -> tuple[Pipeline, LabelDependenceClassifier]:
    if isinstance(model, LabelDependenceClassifier) and get_tags(model).input_tags.string:
        # What sees texts by itself, in views, has nothing before it.
        model = make_pipeline(FunctionTransformer(), model)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else None
    if not isinstance(last, LabelDependenceClassifier) or len(model.steps) < 2:
        raise ValueError(
            "A served model must be a pipeline from texts to a LabelDependenceClassifier, got "
            f"{type(model).__name__} in {path}. Put WordCounts before the classifier, or train "
            "with: labelkin train."
        )
    if last.target_kind_ != "multilabel":
        raise ValueError(
            f"A served model must have been trained on label sets, and the one in {path} was on "
            "classes (a 1-d y). Train it with a list of labels per document."
        )
    return model, last.set_params(n_jobs=None)


def _counts_words(step: Any) -> bool:
    if isinstance(step, CountVectorizer):
        return not isinstance(step, TfidfVectorizer) and not step.binary
    return isinstance(step, WordCounts)
