"""Records of an experiment file, the parts that it can name, and the runs that follow from it.

A **system** is a content classifier alone (``"NB"``) or with an **addition**: a label classifier
and a variant (``"NB+BLR+M2"``), and the evidence weight if it is not 1 (``"NB+BLR+M2 w=0.35"``,
``"NB+BLR+M2 w=auto"``). A **control** adds something without label evidence (``"NB+offset"``). A
system may have a **threshold rule** (``"NB | SCutFBR"``). A **related method** is a system that is
trained as a whole (``"CC"``). A **run** is one system trained on one corpus with one seed, and its
**step** is the record of what is trained: the content, an addition, a control, a rule or a method.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from labelkin import registry
from labelkin.content.any_classifier import PerLabel
from labelkin.content.ensemble import ContentEnsemble
from labelkin.models.builder import STRONG, view_members
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.research import related as methods
from labelkin.scaling.blocks import read_block
from labelkin.thresholds import LabelLimits

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
#: The arrays of a run.
LOG_ODDS, DECISIONS, OUT_OF_FOLD = "log_odds.npy", "decisions.npy", "out_of_fold.npy"
#: Settings that do not decide which documents and labels are used, or the result of a method.
_NO_EFFECT = ("path", "content", "related", "time_limit")


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
        One of :data:`labelkin.research.experiments.train.WEIGHTS`.
    terms
        Parameters of :class:`labelkin.text.TermSelection`; ``None``: all terms.
    """

    weights: str = "counts"
    terms: Mapping[str, Any] | None = None


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


Step = ContentChoice | RelatedMethod | Addition | Control | Thresholds


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


@dataclass(frozen=True)
class Run:
    """One system to be trained on one corpus with one seed; its results, once it is stored.

    Attributes
    ----------
    corpus, seed
        The name of the corpus, and the seed.
    content
        The name of the content classifier, or of the related method.
    configuration
        All settings that decide the result, as plain values.
    step
        The record of what is trained.
    addition, thresholds
        The names of the addition or control, and of the threshold rule; empty: none. Without a
        rule, log-odds are cut at 0, probability ½.
    start
        The run whose log-odds this one starts from: the content alone, or, for a threshold rule,
        the run it decides on; ``None`` for the content alone.
    keeps_out_of_fold
        Whether other runs need its out-of-fold log-odds of the training documents.
    folder
        The folder of the stored run.
    versions
        Of Python and the packages it was made with.
    seconds
        ``"learning_wall"`` and ``"learning_cpu"`` of learning from training documents; of related
        methods also ``"predicting_wall"`` and ``"predicting_cpu"``.
    learned
        Learned numbers: ``"evidence_weight"`` of a learned weight.
    memory
        The peak memory of the process of a related method, in bytes; ``None``: not measured.
    out_of_time
        The time limit at which a related method was stopped; there are no log-odds then.
    warnings
        Warnings of a related method.
    """

    corpus: str
    seed: int
    content: str
    configuration: Mapping[str, Any]
    step: Step
    addition: str = ""
    thresholds: str = ""
    start: Run | None = None
    keeps_out_of_fold: bool = False
    folder: Path = Path()
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    learned: Mapping[str, float] = field(default_factory=dict)
    memory: float | None = None
    out_of_time: float | None = None
    warnings: Sequence[str] = ()

    @property
    def system(self) -> str:
        """The paper's name of the system, ``"NB+BLR+M2"``, and the rule: ``"NB | SCutFBR"``."""
        scored = "+".join(filter(None, [self.content, self.addition]))
        return f"{scored} | {self.thresholds}" if self.thresholds else scored

    @property
    def name(self) -> str:
        """The name of the run in its corpus, and of its folder.

        ``"NB+BLR+M2@seed0"``, with a threshold rule ``"NB+BLR+M2@SCutFBR@seed0"``.
        """
        return f"{self.system.replace(' | ', '@').replace(' ', '_')}@seed{self.seed}"

    @property
    def place(self) -> str:
        """The folder of the run, relative to the result folder."""
        return f"{self.corpus}/runs/{self.name}"

    def log_odds(self) -> NDArray[np.float64]:
        """Return the log-odds, ``(n_test, n_labels)``, memory-mapped and read only."""
        decides = self.thresholds and self.start
        folder = self.folder.with_name(decides.name) if decides else self.folder
        return read_block(folder / LOG_ODDS)

    def decisions(self) -> NDArray[np.bool_]:
        """Return the decisions, ``(n_test, n_labels)``, memory-mapped and read only."""
        return read_block(self.folder / DECISIONS)

    def out_of_fold(self) -> NDArray[np.float64]:
        """Return the out-of-fold log-odds of the training documents, if another run needs them."""
        return read_block(self.folder / OUT_OF_FOLD)


@dataclass(frozen=True)
class Experiment:
    """The contents of an experiment file.

    Attributes
    ----------
    name, title
        Of the experiment.
    corpora
        Every system is trained on each of them.
    words
        Parameters of :class:`labelkin.text.WordCounts`, for corpora of texts.
    additions
        Added to each content classifier, in the order of the paper's tables.
    text
        The file itself.
    seeds
        Every system is trained with each of them.
    metrics
        Shown by a report; they decide nothing about the runs.
    controls
        Corrections without label evidence, of ``CONTROLS``.
    thresholds
        Threshold rules by name, tried on content alone and on learned weights.
    """

    name: str
    title: str
    corpora: tuple[CorpusChoice, ...]
    words: Mapping[str, Any]
    additions: tuple[Addition, ...]
    text: str
    seeds: tuple[int, ...] = (0,)
    metrics: tuple[str, ...] = METRICS
    controls: tuple[str, ...] = ()
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)

    def runs(self) -> tuple[Run, ...]:
        """Return the runs: those with log-odds, then threshold rules on the log-odds of others.

        Those of one corpus and seed are together: content classifiers alone and with their
        additions, then related methods, which have their own decisions.
        """
        scored = [
            run
            for corpus in self.corpora
            for seed in self.seeds
            for run in self._scored_runs(corpus, seed)
        ]
        decided = [
            replace(
                run,
                step=rule,
                thresholds=rule.name,
                configuration={**run.configuration, "thresholds": _plain(rule)},
                start=run,
                keeps_out_of_fold=False,
            )
            for run in scored
            if self._is_thresholded(run.step)
            for rule in self.thresholds.values()
        ]
        return (*scored, *decided)

    def _scored_runs(self, corpus: CorpusChoice, seed: int) -> Iterator[Run]:
        """Yield each content classifier alone and with its additions, then related methods."""
        is_learned_from = bool(self.controls) or any(a.learns_from_content for a in self.additions)
        settings = {"corpus": _plain(corpus), "words": _plain(self.words), "seed": seed}
        for content in corpus.content.values():
            given = {**settings, "content": _plain(content)}
            keeps = is_learned_from or self._is_thresholded(content)
            alone = Run(corpus.name, seed, content.name, given, content, keeps_out_of_fold=keeps)
            yield alone
            steps: list[Addition | Control] = [*self.additions, *map(Control, self.controls)]
            for step in steps:
                kind = "addition" if isinstance(step, Addition) else "control"
                yield replace(
                    alone,
                    step=step,
                    addition=step.name,
                    configuration={**given, kind: _plain(step)},
                    start=alone,
                    keeps_out_of_fold=self._is_thresholded(step),
                )
        for method in corpus.related.values():
            yield Run(
                corpus.name, seed, method.name, {**settings, "related": _plain(method)}, method
            )

    def _is_thresholded(self, step: Step) -> bool:
        """Return whether threshold rules are tried on it: on content and on learned weights."""
        is_learned = isinstance(step, Addition) and step.weight == AUTO
        return bool(self.thresholds) and (type(step) is ContentChoice or is_learned)


def _plain(record: Any) -> dict[str, Any]:
    """Return settings as they come back from JSON, so that the two can be compared."""
    values = record if isinstance(record, Mapping) else asdict(record)
    return {k: v for k, v in json.loads(json.dumps(values)).items() if k not in _NO_EFFECT}


def _ensemble(members: list[str] = [], random_state: Any = None) -> ContentEnsemble:  # noqa: B006
    """Return an ensemble of content classifiers by name."""
    made = [(name, build_named("content", name, random_state)) for name in members]
    return ContentEnsemble(made, random_state=random_state)


def _views(
    views: list[str] = [],  # noqa: B006
    members: list[str] = ["svm"],  # noqa: B006
    words: Any = None,
    random_state: Any = None,
) -> ContentEnsemble:
    """Return an ensemble of content classifiers of views of texts; ``weights = "texts"``."""
    made = [build_named("content", name, random_state) for name in members]
    return ContentEnsemble(
        view_members(views or STRONG, made, words=words), random_state=random_state
    )


#: Kinds of parts in an experiment.
PartKind = registry.Kind | Literal["related"]
#: Parts that only experiments can name, beside those of the registry.
_MORE_PARTS: dict[PartKind, dict[str, Callable[..., Any]]] = {
    "content": {
        "gaussian_naive_bayes": lambda var_smoothing=1e-9, random_state=None: PerLabel(
            GaussianNB(var_smoothing=var_smoothing), random_state=random_state
        ),
        "ensemble": _ensemble,
        "views": _views,
        "by_features": lambda random_state=None: LabelDependenceClassifier(
            evidence_weight=0, random_state=random_state
        ),
        "logistic_regression": lambda C=1.0: PerLabel(LogisticRegression(C=C, max_iter=1000)),
        "random_forests": lambda random_state=None: PerLabel(
            RandomForestClassifier(random_state=random_state)
        ),
    },
    "labels": {},
    "thresholds": {"not_empty": lambda: LabelLimits(at_least=1)},
    "related": {
        **{
            re.sub("(?<=[a-z])(?=[A-Z][a-z])", "_", name).lower(): getattr(methods, name)
            for name in methods.__all__  # ClassifierChain is classifier_chain
        },
        "binary_relevance": lambda estimator: estimator,
        "label_dependence": lambda estimator=None, random_state=None: LabelDependenceClassifier(
            estimator, random_state=random_state
        ),
    },
}


def part_names(kind: PartKind) -> tuple[str, ...]:
    """Return the names of content classifiers, label classifiers or rules in an experiment."""
    names = () if kind == "related" else registry.names(kind)
    return (*names, *_MORE_PARTS[kind])


def find_part(kind: PartKind, name: str) -> Callable[..., Any]:
    """Return the class or function that makes a part."""
    more = _MORE_PARTS[kind]
    if kind == "related" or name in more:
        return more[name]
    part: Callable[..., Any] = registry.part_class(kind, name)
    return part


def build_named(kind: PartKind, name: str, seed: Any = None, **parameters: Any) -> Any:
    """Return an unfitted part by its name in an experiment."""
    make = find_part(kind, name)
    draws = "random_state" in inspect.signature(make).parameters
    return make(**parameters, **({"random_state": seed} if draws else {}))
