"""The record of an experiment, and the runs that follow from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from labelkin.experiment.systems import (
    Addition,
    Classifier,
    Control,
    System,
    Thresholds,
    additions,
)

#: What an experiment calls the content classifier alone, where it lists systems.
ALONE = "content"

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
    start
        The run whose log-odds this one starts from: the content's, or, where there is a threshold
        rule, those it decides on; ``None`` for the content alone.
    keeps_out_of_fold
        Whether others need its out-of-fold log-odds of the training documents.
    """

    corpus: str
    seed: int
    system: System
    configuration: Mapping[str, Any]
    start: PlannedRun | None = None
    keeps_out_of_fold: bool = False

    @property
    def name(self) -> str:
        """The run's name in its corpus, also that of its folder.

        ``"NB+BLR+M2@seed0"``, with a threshold rule ``"NB+BLR+M2@SCutFBR@seed0"``.
        """
        rule = f"@{self.system.thresholds.name}" if self.system.thresholds else ""
        return f"{self.system.scored.replace(' ', '_')}{rule}@seed{self.seed}"

    @property
    def content_run(self) -> str:
        """The name of the run whose log-odds are this run's content evidence."""
        return f"{self.system.content}@seed{self.seed}"

    def record(self) -> dict[str, Any]:
        """Return what the run is, as plain values."""
        addition, thresholds = self.system.addition, self.system.thresholds
        return {
            "system": self.system.name,
            "content": self.system.content,
            "addition": addition.name if addition else "",
            "thresholds": thresholds.name if thresholds else "",
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
        How the other labels are filled in (``"M1"``, ``"M2"``, ``"M1cut"``), and how much they
        count; ``"auto"`` is learnt.
    threshold
        A label is given where its posterior is above.
    metrics, tests
        What a report shows; they decide nothing about the runs.
    text
        The file itself.
    additions
        Which additions of all label classifiers, variants and weights are made; ``None``: all.
    controls
        What is added without label evidence, of :data:`labelkin.experiment.controls.CONTROLS`.
    thresholds, threshold_systems
        Threshold rules by name, and the systems that each is tried on: ``"content"`` for the
        content alone, additions by name.
    """

    name: str
    title: str
    corpora: tuple[CorpusChoice, ...]
    seeds: tuple[int, ...]
    words: Mapping[str, Any]
    labels: Mapping[str, Classifier]
    variants: tuple[str, ...]
    evidence_weights: tuple[float | Literal["auto"], ...]
    threshold: float
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    text: str
    additions: tuple[str, ...] | None = None
    controls: tuple[str, ...] = ()
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)
    threshold_systems: tuple[str, ...] = ()

    def runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs that give log-odds, cut at ``threshold``.

        Those of one corpus are together, and a content classifier's alone comes first.
        """
        return tuple(
            run
            for corpus in self.corpora
            for seed in self.seeds
            for content in corpus.content
            for run in self._content_runs(corpus, seed, content)
        )

    def threshold_runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs that decide by a rule on another run's log-odds."""
        return tuple(
            self._threshold_run(run, thresholds)
            for run in self.runs()
            if self._is_thresholded(run.system)
            for thresholds in self.thresholds.values()
        )

    def _additions(self) -> Iterator[Addition]:
        every = additions(self.labels, self.variants, self.evidence_weights)
        return (a for a in every if self.additions is None or a.name in self.additions)

    def _content_runs(self, corpus: CorpusChoice, seed: int, content: str) -> Iterator[PlannedRun]:
        """Yield the run of a content classifier alone, then those that start from it."""
        alone = self._scored_run(corpus, seed, System(content), None)
        yield alone
        added: list[Addition | Control] = [*self._additions(), *map(Control, self.controls)]
        for addition in added:
            yield self._scored_run(corpus, seed, System(content, addition), alone)

    def _scored_run(
        self, corpus: CorpusChoice, seed: int, system: System, alone: PlannedRun | None
    ) -> PlannedRun:
        configuration = {
            "corpus": corpus.identity(),
            "words": self.words,
            "content": asdict(corpus.content[system.content]),
            **_addition_record(system.addition),
            "threshold": self.threshold,
            "seed": seed,
        }
        plain = json.loads(json.dumps(configuration))
        keeps = self._keeps_out_of_fold(system)
        return PlannedRun(corpus.name, seed, system, plain, alone, keeps)

    def _threshold_run(self, run: PlannedRun, thresholds: Thresholds) -> PlannedRun:
        record = json.loads(json.dumps(asdict(thresholds)))
        return PlannedRun(
            run.corpus,
            run.seed,
            replace(run.system, thresholds=thresholds),
            {**run.configuration, "thresholds": record},
            run,
        )

    def _is_thresholded(self, system: System) -> bool:
        name = system.addition.name if system.addition else ALONE
        return bool(self.thresholds) and name in self.threshold_systems

    def _keeps_out_of_fold(self, system: System) -> bool:
        if system.addition or self._is_thresholded(system):
            return self._is_thresholded(system)
        added = [name for name in self.threshold_systems if name != ALONE]
        learns = any(addition.learns_from_guesses for addition in self._additions())
        return learns or bool(self.controls) or bool(self.thresholds and added)


def _addition_record(addition: Addition | Control | None) -> dict[str, Any]:
    if isinstance(addition, Control):
        return {"addition": None, "control": addition.name}
    return {"addition": asdict(addition) if addition else None}
