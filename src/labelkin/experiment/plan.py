"""The record of an experiment, and the runs that follow from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from labelkin.experiment.systems import Addition, Classifier, System, additions

Documents = Literal["all", "labelled"]
Labels = Literal["all", "in_both"]


@dataclass(frozen=True)
class Content(Classifier):
    """A content classifier and what it sees of the documents.

    Attributes
    ----------
    weights
        One of :data:`labelkin.experiment.features.WEIGHTS`.
    terms
        Parameters of :class:`labelkin.text.TermSelection`; ``None``: all terms.
    """

    weights: str
    terms: Mapping[str, Any] | None


@dataclass(frozen=True)
class CorpusChoice:
    """A corpus, and what of it an experiment uses.

    Attributes
    ----------
    name, path, options
        What :func:`labelkin.corpora.load` is given.
    train, test
        Which documents of each part: all, or those with at least one label.
    labels
        Which labels: all, or those that both parts have.
    test_share, split_seed
        Where the corpus has no test documents: the share to draw, stratified, and by which seed.
    content
        The content classifiers on this corpus, by name.
    """

    name: str
    path: str | None
    options: Mapping[str, Any]
    train: Documents
    test: Documents
    labels: Labels
    test_share: float | None
    split_seed: int
    content: Mapping[str, Content]

    def identity(self) -> dict[str, Any]:
        """Return what says which documents and labels are used, wherever they lie."""
        return {key: value for key, value in asdict(self).items() if key not in ("path", "content")}


@dataclass(frozen=True)
class PlannedRun:
    """One system to be trained on one corpus with one seed.

    Attributes
    ----------
    corpus, seed
        On what, and by which seed.
    system
        What is trained.
    configuration
        All that decides what comes out, as plain values.
    """

    corpus: str
    seed: int
    system: System
    configuration: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The run's name in its corpus, also that of its folder: ``"NB+BLR+M2@seed0"``."""
        return f"{self.system.name.replace(' ', '_')}@seed{self.seed}"

    @property
    def content_run(self) -> str:
        """The name of the run whose log-odds are this run's content evidence."""
        return f"{self.system.content}@seed{self.seed}"

    def record(self) -> dict[str, Any]:
        """Return what the run is, as plain values."""
        addition = self.system.addition
        return {
            "system": self.system.name,
            "content": self.system.content,
            "addition": addition.name if addition else "",
            "corpus": self.corpus,
            "seed": self.seed,
            "configuration": self.configuration,
        }


@dataclass(frozen=True)
class Experiment:
    """What an experiment file says.

    Attributes
    ----------
    name, title
        Of the experiment.
    corpora
        Every system is trained on each of them.
    seeds
        Every system is trained with each of them.
    words
        Parameters of :class:`labelkin.text.WordCounts`, for corpora of texts.
    labels
        The label classifiers by name.
    variants, evidence_weights
        How the other labels are filled in (``"M1"``, ``"M2"``), and how much they count.
    threshold
        A label is given where its posterior is above.
    metrics, tests
        What a report shows; they decide nothing about the runs.
    text
        The file itself.
    """

    name: str
    title: str
    corpora: tuple[CorpusChoice, ...]
    seeds: tuple[int, ...]
    words: Mapping[str, Any]
    labels: Mapping[str, Classifier]
    variants: tuple[str, ...]
    evidence_weights: tuple[float, ...]
    threshold: float
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    text: str

    def runs(self) -> tuple[PlannedRun, ...]:
        """Return all runs; those of one corpus together, and a content classifier's alone first."""
        return tuple(
            self._run(corpus, seed, System(content, addition))
            for corpus in self.corpora
            for seed in self.seeds
            for content in corpus.content
            for addition in [None, *self._additions()]
        )

    def _additions(self) -> Iterator[Addition]:
        return additions(self.labels, self.variants, self.evidence_weights)

    def _run(self, corpus: CorpusChoice, seed: int, system: System) -> PlannedRun:
        configuration = {
            "corpus": corpus.identity(),
            "words": self.words,
            "content": asdict(corpus.content[system.content]),
            "addition": asdict(system.addition) if system.addition else None,
            "threshold": self.threshold,
            "seed": seed,
        }
        return PlannedRun(corpus.name, seed, system, json.loads(json.dumps(configuration)))
