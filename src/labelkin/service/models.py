"""Served models: content evidence of a text, and label evidence learned from more documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelkin.curation.saved_work import Entry, Mark
from labelkin.models.rescorer import LabelRescorer
from labelkin.prediction import FittedModel, fitted_model
from labelkin.storage import ModelFile, load, read_header
from labelkin.vocabulary import LabelNames

#: Texts whose content evidence is kept: indexers ask about one text many times.
_MOST_TEXTS = 128


class Snapshot(NamedTuple):
    """State of a model that learns; one answer uses one snapshot.

    Attributes
    ----------
    rescorer : LabelRescorer
        Label evidence and combination.
    learned : int
        Number of saved documents that the label evidence has learned from.
    """

    rescorer: LabelRescorer
    learned: int


class ServedModel:
    """A model file that several threads may ask.

    Parameters
    ----------
    name : str
        Name of the model in addresses.
    path : Path
        Model file: a pipeline from texts to a :class:`~labelkin.LabelDependenceClassifier`.
    trusted : names, default ()
        Types that are loaded on request, as in :func:`labelkin.load`.

    Attributes
    ----------
    id, header
        Name of the model, and the description in its file.
    fitted : FittedModel
        The model.
    labels, names : list
        Labels in column order, and the same as texts.
    column : dict
        Name → column.
    shown : LabelNames
        Names of the labels in the vocabulary of the model.
    snapshot : Snapshot
        What the model has learned.
    """

    def __init__(self, name: str, path: Path, trusted: Sequence[str] = ()) -> None:
        self.id = name
        self.header: ModelFile = read_header(path)
        self.fitted = _text_model(path, trusted)
        self.classifier = self.fitted.classifier.set_params(n_jobs=None)
        self.labels: list[Any] = self.fitted.labels.tolist()
        self.names = [str(label) for label in self.labels]
        self.name_array = np.array(self.names, dtype=object)
        self.column = {label: j for j, label in enumerate(self.names)}
        if len(self.column) < len(self.names):
            twice = [name for name, count in Counter(self.names).items() if count > 1]
            raise ValueError(
                f"Labels must have distinct names to be served, got {twice[0]!r} twice in {path}. "
                "Train with names that are all texts."
            )
        self.shown = LabelNames(self.names, self.fitted.names.vocabulary)
        self.snapshot = Snapshot(self.classifier.rescorer_, 0)
        self.content = lru_cache(_MOST_TEXTS)(lambda text: self.fitted.content([text]))
        try:  # the first answer is then as quick as the others
            self.content("A first text.")
        except Exception as error:
            raise ValueError(
                f"A served model must take texts, but the model in {path} cannot: {error}"
            ) from error

    @property
    def learns(self) -> bool:
        """Whether its label evidence can learn from further documents."""
        return hasattr(self.classifier.rescorer_.labels_, "fit_counted")

    @property
    def language(self) -> str:
        """Language of its texts, if its first step has one."""
        steps = self.fitted.steps
        first = next(iter(self.fitted.word_counts), None if steps is None else steps[0])
        return str(getattr(first, "language", "und"))

    @property
    def title(self) -> str:
        """Name of the model on the page."""
        return str((self.header.summary or {}).get("name", self.id))

    @property
    def mark(self) -> Mark | None:
        """Position in the saved work that the model was trained on."""
        mark = (self.header.summary or {}).get("saved_work")
        if not isinstance(mark, list) or list(map(type, mark)) != [str, int]:
            return None
        return Mark(*mark)

    def learn(self, entries: Sequence[Entry], from_start: bool = False) -> None:
        """Learn from the label sets of further documents; one thread at a time may do so.

        A document has the accepted labels, with the labels that follow from them by the rules.

        Parameters
        ----------
        entries : sequence of Entry
            The documents.
        from_start : bool, default False
            Whether to start from the label evidence in the model file.
        """
        rescorer, learned = Snapshot(self.classifier.rescorer_, 0) if from_start else self.snapshot
        if not self.learns:
            return
        if entries:
            rescorer = rescorer.learn_more([self._label_set(entry) for entry in entries])
        self.snapshot = Snapshot(rescorer, learned + len(entries))

    def _label_set(self, entry: Entry) -> set[Any]:
        columns = [self.column[name] for name in entry.accepted if name in self.column]
        rules = self.classifier.rescorer_.rules_
        if rules is not None and columns:
            known = np.full((1, len(self.names)), np.nan)
            known[0, columns] = 1.0
            with suppress(ValueError):  # an accepted label stays, also against a rule
                known = rules.complete_known(known)
            columns = np.flatnonzero(known[0] == 1).tolist()
        return {self.labels[j] for j in columns}


def read_models(paths: Sequence[Path], trusted: Sequence[str] = ()) -> dict[str, ServedModel]:
    """Load models; each is named by the stem of its file, made unique and fit for an address."""
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


def _text_model(path: Path, trusted: Sequence[str]) -> FittedModel:
    model = fitted_model(load(path, trusted=trusted), str(path))
    if not model.has_label_evidence:
        raise ValueError(
            "A served model must be a pipeline from texts to a LabelDependenceClassifier, got "
            f"{type(model.classifier).__name__} in {path}. Put WordCounts before the classifier, "
            "or train with: labelkin train."
        )
    return model
