"""Records of an experiment file, and the systems and runs that follow from it.

A **system** is a content classifier alone (``"NB"``) or with an **addition**: a label classifier
and a variant (``"NB+BLR+M2"``), and the evidence weight if it is not 1 (``"NB+BLR+M2 w=0.35"``,
``"NB+BLR+M2 w=auto"``). A **control** adds something without label evidence (``"NB+offset"``). A
system may have a **threshold rule** (``"NB | SCutFBR"``). A **related method** is a system that is
trained as a whole (``"CC"``). A **run** is one system trained on one corpus with one seed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

#: The paper's metrics, in the order of its tables: two for which higher is better, three losses.
F1_METRICS = ("micro_f1", "macro_f1")
LOSSES = ("hamming_loss", "subset_loss", "one_error")
METRICS = (*F1_METRICS, *LOSSES)
#: The learned evidence weight.
AUTO: Literal["auto"] = "auto"
#: How the other labels are filled in: the paper's two ways, and M1 with learned cuts.
PAPER_VARIANTS = ("M1", "M2")
VARIANT_NAMES = (*PAPER_VARIANTS, "M1cut")
#: Corrections of the content that use no other label.
CONTROLS = ("offset", "calibration")


@dataclass(frozen=True)
class Classifier:
    """A classifier in an experiment.

    Attributes
    ----------
    name
        Its name in the experiment, ``"SVM"``.
    classifier
        Its name in the library, ``"svm"``.
    parameters
        Parameters that differ from the defaults.
    """

    name: str
    classifier: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ContentChoice(Classifier):
    """A content classifier and its features.

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
class RelatedMethod(ContentChoice):
    """A system that is trained as a whole, in a separate process, for comparison.

    Attributes
    ----------
    estimator
        The content classifier that learns its labels, whose features it uses; ``None``: none.
    time_limit
        Seconds after which training is stopped; ``None``: no limit.
    """

    estimator: ContentChoice | None = None
    time_limit: float | None = None

    def identity(self) -> dict[str, Any]:
        """Return the settings that decide the result, without the time limit."""
        return {key: value for key, value in asdict(self).items() if key != "time_limit"}


@dataclass(frozen=True)
class Addition:
    """A label classifier, how the other labels are filled in, and their weight."""

    labels: Classifier
    variant: str
    weight: float | Literal["auto"]

    @property
    def name(self) -> str:
        """``"BLR+M2"``; with its weight if it is not the paper's."""
        name = f"{self.labels.name}+{self.variant}"
        weight = str(self.weight).removesuffix(".0")
        return name if self.weight == 1.0 else f"{name} w={weight}"

    @property
    def learns_from_content(self) -> bool:
        """Whether it needs out-of-fold content evidence of the training documents."""
        return self.weight == AUTO or self.variant not in PAPER_VARIANTS


@dataclass(frozen=True)
class Control:
    """A correction of the content that uses no other label: one of ``CONTROLS``."""

    name: str


@dataclass(frozen=True)
class Thresholds:
    """A threshold rule: its name in the experiment and in the library, and its parameters."""

    name: str
    rule: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class CorpusChoice:
    """A corpus, and the part of it that an experiment uses.

    Attributes
    ----------
    name, path, options
        Arguments of :func:`labelkin.corpora.load`.
    train, test
        Which documents of each part: all, or those with at least one label.
    labels
        Which labels: all, or those that occur in both parts.
    test_share, split_seed
        For a corpus without test documents: the share to draw, stratified, and the seed.
    content, related
        The content classifiers and the related methods on this corpus, by name.
    vocab, label_language
        Arguments of :func:`labelkin.vocabulary.read_vocabulary`, for the names of labels in
        reports; ``None``: the names in the corpus.
    """

    name: str
    path: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    train: Literal["all", "labelled"] = "all"
    test: Literal["all", "labelled"] = "all"
    labels: Literal["all", "in_both"] = "all"
    test_share: float | None = None
    split_seed: int = 0
    content: Mapping[str, ContentChoice] = field(default_factory=dict)
    related: Mapping[str, RelatedMethod] = field(default_factory=dict)
    vocab: str | None = None
    label_language: str | None = None

    def identity(self) -> dict[str, Any]:
        """Return the settings that decide which documents and labels are used."""
        besides = ("path", "content", "related", "vocab", "label_language")
        return {key: value for key, value in asdict(self).items() if key not in besides}


@dataclass(frozen=True)
class PlannedRun:
    """One system to be trained on one corpus with one seed.

    Attributes
    ----------
    corpus, seed
        The name of the corpus, and the seed.
    content
        The name of the content classifier, or of the related method.
    configuration
        All settings that decide the result, as plain values.
    addition
        The addition to the content; ``None``: none.
    thresholds
        The threshold rule; ``None``: log-odds are cut at 0, probability ½.
    start
        The run whose log-odds this one starts from: the content alone, or, for a threshold rule,
        the run it decides on; ``None`` for the content alone.
    keeps_out_of_fold
        Whether other runs need its out-of-fold log-odds of the training documents.
    related
        The related method, if it is one.
    """

    corpus: str
    seed: int
    content: str
    configuration: Mapping[str, Any]
    addition: Addition | Control | None = None
    thresholds: Thresholds | None = None
    start: PlannedRun | None = None
    keeps_out_of_fold: bool = False
    related: RelatedMethod | None = None

    @property
    def scored(self) -> str:
        """The paper's name of the system that returns the log-odds, ``"NB+BLR+M2"``."""
        return f"{self.content}+{self.addition.name}" if self.addition else self.content

    @property
    def system(self) -> str:
        """The name of the system, ``"NB+BLR+M2 | SCutFBR"``."""
        return f"{self.scored} | {self.thresholds.name}" if self.thresholds else self.scored

    @property
    def name(self) -> str:
        """The name of the run in its corpus, and of its folder.

        ``"NB+BLR+M2@seed0"``, with a threshold rule ``"NB+BLR+M2@SCutFBR@seed0"``.
        """
        rule = f"@{self.thresholds.name}" if self.thresholds else ""
        return f"{self.scored.replace(' ', '_')}{rule}@seed{self.seed}"

    @property
    def place(self) -> str:
        """The folder of the run, relative to the result folder."""
        return f"{self.corpus}/runs/{self.name}"

    def record(self) -> dict[str, Any]:
        """Return the run as plain values."""
        return {
            "system": self.system,
            "content": self.content,
            "addition": self.addition.name if self.addition else "",
            "thresholds": self.thresholds.name if self.thresholds else "",
            "corpus": self.corpus,
            "seed": self.seed,
            "configuration": self.configuration,
        }


@dataclass(frozen=True)
class Experiment:
    """The contents of an experiment file.

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
        Added to each content classifier, in the order of the paper's tables.
    metrics
        Shown by a report; they decide nothing about the runs.
    text
        The file itself.
    controls
        Corrections without label evidence, of ``CONTROLS``.
    thresholds
        Threshold rules by name, tried on content alone and on learned weights.
    """

    name: str
    title: str
    corpora: tuple[CorpusChoice, ...]
    seeds: tuple[int, ...]
    words: Mapping[str, Any]
    additions: tuple[Addition, ...]
    metrics: tuple[str, ...]
    text: str
    controls: tuple[str, ...] = ()
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)

    def runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs with log-odds, cut at 0.

        Those of one corpus are together, and a content classifier's alone comes first; related
        methods come last, and have their own decisions.
        """
        return tuple(
            run
            for corpus in self.corpora
            for seed in self.seeds
            for run in self._runs(corpus, {"corpus": corpus.identity(), "words": self.words}, seed)
        )

    def threshold_runs(self) -> tuple[PlannedRun, ...]:
        """Return the runs with a threshold rule on another run's log-odds."""
        return tuple(
            replace(
                run,
                thresholds=thresholds,
                configuration={**run.configuration, "thresholds": _plain(asdict(thresholds))},
                start=run,
                keeps_out_of_fold=False,
            )
            for run in self.runs()
            if run.related is None and self._is_thresholded(run.addition)
            for thresholds in self.thresholds.values()
        )

    def _runs(
        self, corpus: CorpusChoice, settings: Mapping[str, Any], seed: int
    ) -> Iterator[PlannedRun]:
        """Yield each content classifier alone and with its additions, then related methods."""
        is_learned_from = bool(self.controls) or any(a.learns_from_content for a in self.additions)
        for name, content in corpus.content.items():
            alone = None
            for addition in (None, *self.additions, *map(Control, self.controls)):
                given = {**settings, "content": asdict(content), "addition": None, "seed": seed}
                if isinstance(addition, Addition):
                    given["addition"] = asdict(addition)
                elif addition is not None:
                    given["control"] = addition.name
                keeps = self._is_thresholded(addition) or (addition is None and is_learned_from)
                run = PlannedRun(
                    corpus.name, seed, name, _plain(given), addition, None, alone, keeps
                )
                alone = alone or run
                yield run
        for name, related in corpus.related.items():
            given = {**settings, "related": related.identity(), "seed": seed}
            yield PlannedRun(corpus.name, seed, name, _plain(given), related=related)

    def _is_thresholded(self, addition: Addition | Control | None) -> bool:
        """Return whether threshold rules are tried on it: on content and on learned weights."""
        is_tried = addition is None or (isinstance(addition, Addition) and addition.weight == AUTO)
        return bool(self.thresholds) and is_tried


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as it comes back from JSON, so that the two can be compared."""
    return dict(json.loads(json.dumps(record)))
