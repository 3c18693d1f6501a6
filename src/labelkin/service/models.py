"""A model that is being served: its text steps, its content evidence, what it has learnt so far."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline

from labelkin.label_matrix import LabelMatrix
from labelkin.method.classifier import LabelDependenceClassifier
from labelkin.method.rescorer import LabelRescorer
from labelkin.service.journal_file import Entry, Mark
from labelkin.storage import ModelFile, load, read_header
from labelkin.text import WordCounts

#: Texts whose content evidence is remembered: a person asks about one text many times.
_REMEMBERED = 128


class Snapshot(NamedTuple):
    """What a model knows at a moment; answers come from one of them.

    Attributes
    ----------
    rescorer
        Label evidence and combination.
    learned
        Documents of the journal it has learnt from.
    """

    rescorer: LabelRescorer
    learned: int


class Content(NamedTuple):
    """What a text says: log-odds, ``(n_labels,)``, and how many words of it the model knows."""

    log_odds: NDArray[np.float64]
    n_words: int | None


class ServedModel:
    """A model from a file, ready to answer from several threads.

    Attributes
    ----------
    id
        What it is called in addresses.
    header
        What its file says of it.
    names
        Its labels, as text, in column order.
    column
        Name → column.
    snapshot
        What it knows now; replaced as a whole when it has learnt.
    unknown
        Labels of the journal that the model does not have, and how many documents have them.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.id = name
        self.header: ModelFile = read_header(path)
        self.pipeline, self.classifier = _text_classifier(load(path), path)
        self.names = [str(label) for label in self.classifier.label_names_.tolist()]
        self.column = {label: j for j, label in enumerate(self.names)}
        _check_distinct(self, path)
        self.snapshot = Snapshot(self.classifier.rescorer_, 0)
        self.unknown: Counter[str] = Counter()
        self._remembered: OrderedDict[bytes, Content] = OrderedDict()
        self._lock = Lock()
        _check_takes_texts(self, path)

    @property
    def learns(self) -> bool:
        """Whether its label evidence is of a kind that can learn more."""
        return hasattr(self.classifier.rescorer_.labels_, "fit_counted")

    @property
    def language(self) -> str:
        """What its texts are written in, as far as its first step tells."""
        return str(getattr(self.pipeline[0], "language", "und"))

    @property
    def mark(self) -> Mark | None:
        """Up to where its training has read a journal."""
        mark = (self.header.summary or {}).get("journal")
        if not isinstance(mark, list) or list(map(type, mark)) != [str, int]:
            return None
        return Mark(*mark)

    def content(self, text: str) -> Content:
        """Return the content evidence of a text."""
        key = blake2b(text.encode(), digest_size=16).digest()
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        content = self.contents([text])[0]
        with self._lock:
            self._remembered[key] = content
            if len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return content

    def contents(self, texts: Sequence[str]) -> list[Content]:
        """Return the content evidence of several texts, worked out together."""
        if not texts:
            return []
        vectors = first = self.pipeline[0].transform(texts)
        for _, step in self.pipeline.steps[1:-1]:
            vectors = step.transform(vectors)
        log_odds = self.classifier.content_.log_odds(vectors)
        return list(map(Content, log_odds, _count_words(self.pipeline[0], first, len(texts))))

    def learn(self, entries: Sequence[Entry]) -> None:
        """Learn from the label sets of further documents; one thread at a time may do so.

        A document has the labels that were accepted, with all that follows from them by the rules,
        and no others.
        """
        for entry in entries:
            self.unknown.update(name for name in set(entry.accepted) if name not in self.column)
        rescorer, learned = self.snapshot
        if entries and self.learns:
            rescorer = rescorer.learn_more(self._label_matrix(entries))
            self.snapshot = Snapshot(rescorer, learned + len(entries))

    def _label_matrix(self, entries: Sequence[Entry]) -> LabelMatrix:
        rows = [self._label_set(entry) for entry in entries]
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.concatenate(rows)
        shape = (len(rows), len(self.names))
        positive = sparse.csr_array((np.ones(len(columns)), columns, ends), shape)
        names = self.classifier.label_names_
        return LabelMatrix(positive, None, names, "multilabel", names)

    def _label_set(self, entry: Entry) -> NDArray[np.int64]:
        """Return the columns of a document's labels, ascending."""
        columns = sorted({self.column[name] for name in entry.accepted if name in self.column})
        rules = self.classifier.rescorer_.rules_
        if rules is None or not columns:
            return np.array(columns, dtype=np.int64)
        stated = np.full((1, len(self.names)), np.nan)
        stated[0, columns] = 1.0
        with suppress(ValueError):  # what a person has stated stands, also against a rule
            stated = rules.complete_known(stated)
        return np.flatnonzero(stated[0] == 1)


def read_models(paths: Sequence[Path]) -> dict[str, ServedModel]:
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
        models[name] = ServedModel(name, path)
    return models


def _text_classifier(model: Any, path: Path) -> tuple[Pipeline, LabelDependenceClassifier]:
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


def _check_distinct(model: ServedModel, path: Path) -> None:
    if len(model.column) < len(model.names):
        twice = [name for name, count in Counter(model.names).items() if count > 1]
        raise ValueError(
            f"Labels must have distinct names to be served, got {twice[0]!r} twice in {path}. "
            "Train with names that are all texts."
        )


def _check_takes_texts(model: ServedModel, path: Path) -> None:
    """Ask about a text before the first person does: it also makes the first answer quick."""
    try:
        model.contents(["A first text."])
    except Exception as error:
        raise ValueError(
            f"A served model must take texts, but the model in {path} cannot: {error}"
        ) from error


def _count_words(first_step: Any, counts: Any, n_texts: int) -> list[int | None]:
    counts_words = isinstance(first_step, WordCounts) or (
        isinstance(first_step, CountVectorizer)
        and not isinstance(first_step, TfidfVectorizer)
        and not first_step.binary
    )
    if not counts_words:
        return [None] * n_texts
    return [int(total) for total in np.asarray(counts.sum(axis=1)).ravel()]
