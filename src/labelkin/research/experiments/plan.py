"""What an experiment says, and the systems and runs that follow from it.

A **system** is a content classifier alone (``"NB"``) or with an **addition**: a label classifier
and a variant (``"NB+BLR+M2"``), and the evidence weight where it is not 1 (``"NB+BLR+M2 w=0.35"``,
``"NB+BLR+M2 w=auto"``). A **control** adds something without label evidence (``"NB+offset"``). A
system may have a **threshold rule** (``"NB | SCutFBR"``). A **rival** is a system that is trained
as a whole (``"CC"``). A **run** is one system trained on one corpus with one seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

#: What an experiment calls the content classifier alone, where it lists systems.
ALONE = "content"
#: The evidence weight that is learned.
AUTO: Literal["auto"] = "auto"
#: How the other labels are filled in: the paper's two ways, and M1 with cut-offs that are learned.
PAPER_VARIANTS = ("M1", "M2")
VARIANTS = (*PAPER_VARIANTS, "M1cut")
#: What repairs the content without asking any other label.
CONTROLS = ("offset", "calibration")

#: Rivals that start from the evidence of binary relevance, which they share with its run.
ON_EVIDENCE = ("stacked_relevance", "dependent_relevance")

Weight = float | Literal["auto"]


@dataclass(frozen=True)
class Classifier:
    """A classifier that an experiment names.

    Attributes
    ----------
    name
        What the experiment calls it, ``"SVM"``.
    classifier
        What :mod:`labelkin.registry` calls it, ``"svm"``.
    parameters
        Those that are given; the others have the classifier's defaults.
    """

    name: str
    classifier: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Content(Classifier):
    """A content classifier and what it sees of the documents.

    Attributes
    ----------
    weights
        One of :data:`labelkin.research.experiments.prepared_corpus.WEIGHTS`.
    terms
        Parameters of :class:`labelkin.text.TermSelection`; ``None``: all terms.
    """

    weights: str
    terms: Mapping[str, Any] | None


@dataclass(frozen=True)
class Rival(Content):
    """A system that is trained as a whole, in a process of its own, to be compared with.

    Attributes
    ----------
    estimator
        The content classifier that learns its labels; ``None`` where it has a way of its own. The
        features are those of this classifier then.
    time_limit
        Seconds of the processor after which it is given up; ``None``: never.
    """

    estimator: Content | None = None
    time_limit: float | None = None

    def identity(self) -> dict[str, Any]:
        """Return what decides what comes out: not how long it may take."""
        return {key: value for key, value in asdict(self).items() if key != "time_limit"}


@dataclass(frozen=True)
class Addition:
    """A label classifier, how the other labels are filled in, and how much they count."""

    labels: Classifier
    variant: str
    weight: Weight

    @property
    def name(self) -> str:
        """``"BLR+M2"``; with its weight where it is not the paper's."""
        name = f"{self.labels.name}+{self.variant}"
        weight = str(self.weight).removesuffix(".0")
        return name if self.weight == 1.0 else f"{name} w={weight}"

    @property
    def learns_from_content(self) -> bool:
        """Whether it needs out-of-fold content evidence of the training documents."""
        return self.weight == AUTO or self.variant not in PAPER_VARIANTS


@dataclass(frozen=True)
class Control:
    """What is added to the content without asking any other label: one of ``CONTROLS``."""

    name: str


@dataclass(frozen=True)
class Thresholds:
    """A threshold rule that an experiment names.

    Attributes
    ----------
    name
        What the experiment calls it, ``"SCutFBR"``.
    rule
        What :mod:`labelkin.registry` calls it, ``"scut_fbr"``.
    parameters
        Those that are given; the others have the rule's defaults.
    """

    name: str
    rule: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class System:
    """A content classifier, alone or with an addition, and how its log-odds become decisions.

    Without ``thresholds`` they are cut at the experiment's threshold.
    """

    content: str
    addition: Addition | Control | None = None
    thresholds: Thresholds | None = None

    @property
    def scored(self) -> str:
        """The paper's name of what gives the log-odds, ``"NB+BLR+M2"``."""
        return f"{self.content}+{self.addition.name}" if self.addition else self.content

    @property
    def name(self) -> str:
        """The name of the system, ``"NB+BLR+M2 | SCutFBR"``."""
        return f"{self.scored} | {self.thresholds.name}" if self.thresholds else self.scored


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
    content, rivals
        The content classifiers, and the rivals, on this corpus, by name.
    vocab, label_language
        What :func:`labelkin.vocabulary.read_vocabulary` is given, for reports that name labels;
        ``None``: the names that the corpus carries.
    """

    name: str
    path: str | None
    options: Mapping[str, Any]
    train: Literal["all", "labelled"]
    test: Literal["all", "labelled"]
    labels: Literal["all", "in_both"]
    test_share: float | None
    split_seed: int
    content: Mapping[str, Content]
    rivals: Mapping[str, Rival] = field(default_factory=dict)
    vocab: str | None = None
    label_language: str | None = None

    def identity(self) -> dict[str, Any]:
        """Return what says which documents and labels are used, wherever they lie."""
        besides = ("path", "content", "rivals", "vocab", "label_language")
        return {key: value for key, value in asdict(self).items() if key not in besides}


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
    rival
        What is trained where it is a rival; the system goes by its name then.
    """

    corpus: str
    seed: int
    system: System
    configuration: Mapping[str, Any]
    start: PlannedRun | None = None
    keeps_out_of_fold: bool = False
    rival: Rival | None = None

    @property
    def name(self) -> str:
        """The run's name in its corpus, also that of its folder.

        ``"NB+BLR+M2@seed0"``, with a threshold rule ``"NB+BLR+M2@SCutFBR@seed0"``.
        """
        rule = f"@{self.system.thresholds.name}" if self.system.thresholds else ""
        return f"{self.system.scored.replace(' ', '_')}{rule}@seed{self.seed}"

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
    additions
        What is added to each content classifier, in the order of the paper's tables.
    threshold
        A label is given where its posterior is above.
    metrics, tests
        What a report shows; they decide nothing about the runs.
    text
        The file itself.
    controls
        What is added without label evidence, of ``CONTROLS``.
    reveal
        Whether additions are also scored with some labels of test documents known.
    thresholds, threshold_systems
        Threshold rules by name, and the systems that each is tried on: ``"content"`` for the
        content alone, additions by name.
    """

    name: str
    title: str
    corpora: tuple[CorpusChoice, ...]
    seeds: tuple[int, ...]
    words: Mapping[str, Any]
    additions: tuple[Addition, ...]
    threshold: float
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    text: str
    controls: tuple[str, ...] = ()
    reveal: bool = False
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)
    threshold_systems: tuple[str, ...] = ()

    def runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs that give log-odds, cut at ``threshold``.

        Those of one corpus are together, and a content classifier's alone comes first; rivals come
        last, and decide as they do themselves.
        """
        return tuple(
            run
            for corpus in self.corpora
            for seed in self.seeds
            for run in (
                *(run for content in corpus.content for run in self._runs(corpus, seed, content)),
                *(self._rival_run(corpus, seed, rival) for rival in corpus.rivals.values()),
            )
        )

    def threshold_runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs that decide by a rule on another run's log-odds."""
        return tuple(
            replace(
                run,
                system=replace(run.system, thresholds=thresholds),
                configuration={**run.configuration, "thresholds": _plain(asdict(thresholds))},
                start=run,
                keeps_out_of_fold=False,
            )
            for run in self.runs()
            if run.rival is None and self._is_thresholded(run.system)
            for thresholds in self.thresholds.values()
        )

    def _rival_run(self, corpus: CorpusChoice, seed: int, rival: Rival) -> PlannedRun:
        configuration = {
            "corpus": corpus.identity(),
            "words": self.words,
            "rival": rival.identity(),
            "seed": seed,
        }
        start = None
        if rival.estimator is not None and rival.classifier in ON_EVIDENCE:
            start = next(self._runs(corpus, seed, rival.estimator.name))
        system = System(rival.name)
        return PlannedRun(corpus.name, seed, system, _plain(configuration), start, rival=rival)

    def _runs(self, corpus: CorpusChoice, seed: int, content: str) -> Iterator[PlannedRun]:
        """Yield the run of a content classifier alone, then those that start from it."""
        alone = None
        for addition in (None, *self.additions, *map(Control, self.controls)):
            system = System(content, addition)
            configuration = {
                "corpus": corpus.identity(),
                "words": self.words,
                "content": asdict(corpus.content[content]),
                "addition": asdict(addition) if isinstance(addition, Addition) else None,
                **({"control": addition.name} if isinstance(addition, Control) else {}),
                **({"reveal": True} if self.reveal and isinstance(addition, Addition) else {}),
                "threshold": self.threshold,
                "seed": seed,
            }
            keeps = self._keeps_out_of_fold(system, corpus)
            run = PlannedRun(corpus.name, seed, system, _plain(configuration), alone, keeps)
            alone = alone or run
            yield run

    def _is_thresholded(self, system: System) -> bool:
        name = system.addition.name if system.addition else ALONE
        return bool(self.thresholds) and name in self.threshold_systems

    def _keeps_out_of_fold(self, system: System, corpus: CorpusChoice) -> bool:
        """Return whether a rule, an addition or a rival learns from it."""
        if system.addition or self._is_thresholded(system):
            return self._is_thresholded(system)
        bases = (r.estimator for r in corpus.rivals.values() if r.classifier in ON_EVIDENCE)
        if any(base is not None and base.name == system.content for base in bases):
            return True
        learns = any(addition.learns_from_content for addition in self.additions)
        return learns or bool(self.controls) or bool(self.thresholds and self.threshold_systems)


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as it comes back from JSON, so that the two can be compared."""
    return dict(json.loads(json.dumps(record)))
