"""The classifiers an experiment can name, and the runs that follow from it.

A **system** is a content classifier alone (``"NB"``) or with an **addition**: a label classifier
and a variant (``"NB+BLR+M2"``), and the evidence weight where it is not 1 (``"NB+BLR+M2 w=0.35"``,
``"NB+BLR+M2 w=auto"``). A **control** adds something without label evidence (``"NB+offset"``). A
system may have a **threshold rule** (``"NB | SCutFBR"``). A **run** is one system trained on one
corpus with one seed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from sklearn.naive_bayes import GaussianNB

from labelkin.beyond.fitting import learns_from_guesses
from labelkin.content.any_classifier import PerLabel
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.content.platt_svm import PlattSVM
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.thresholds import SCutFBR

#: Content classifiers by name; what they take are their parameters in an experiment.
CONTENT: dict[str, Callable[..., Any]] = {
    "naive_bayes": NaiveBayes,
    "gaussian_naive_bayes": GaussianNB,
    "nearest_neighbours": NearestNeighbours,
    "platt_svm": PlattSVM,
}
#: Label classifiers by name.
LABELS: dict[str, Callable[..., Any]] = {"logistic": LogisticLabels, "svm": SVMLabels}
#: The paper's names of the variants, and M1 with cut-offs learnt from out-of-fold content evidence.
VARIANTS: dict[str, Any] = {"M1": "hard", "M2": "soft", "M1cut": SCutFBR()}
#: Those of the paper.
PAPER_VARIANTS = ("M1", "M2")
#: The evidence weight that is learnt.
AUTO: Literal["auto"] = "auto"
#: Parameters that are not the experiment's: the seed has a key of its own, threads change nothing.
_OURS = {"n_jobs", "random_state"}


@dataclass(frozen=True)
class Classifier:
    """A classifier that an experiment names.

    Attributes
    ----------
    name
        What the experiment calls it, ``"SVM"``.
    classifier
        What :data:`CONTENT` or :data:`LABELS` calls it, ``"platt_svm"``.
    parameters
        Those that are given; the others have the classifier's defaults.
    """

    name: str
    classifier: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Addition:
    """A label classifier, how the other labels are filled in, and how much they count."""

    labels: Classifier
    variant: str
    weight: float | Literal["auto"]

    @property
    def name(self) -> str:
        """``"BLR+M2"``; with its weight where it is not the paper's."""
        name = f"{self.labels.name}+{self.variant}"
        weight = str(self.weight).removesuffix(".0")
        return name if self.weight == 1.0 else f"{name} w={weight}"

    @property
    def learns_from_guesses(self) -> bool:
        """Whether it needs out-of-fold content evidence of the training documents."""
        return learns_from_guesses(VARIANTS[self.variant], self.weight)


@dataclass(frozen=True)
class Control:
    """What is added to the content without asking any other label: ``"offset"``."""

    name: str


@dataclass(frozen=True)
class Thresholds:
    """A threshold rule that an experiment names.

    Attributes
    ----------
    name
        What the experiment calls it, ``"SCutFBR"``.
    rule
        What :data:`labelkin.experiment.threshold_rules.RULES` calls it, ``"scut_fbr"``.
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


def parameter_kinds(make: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a classifier or transformer with their types.

    Examples
    --------
    >>> parameter_kinds(NearestNeighbours)
    {'n_neighbors': <class 'int'>, 'clip': <class 'float'>}
    """
    hints = get_type_hints(make.__init__)
    given = inspect.signature(make).parameters
    return {
        name: hints.get(name, type(parameter.default))
        for name, parameter in given.items()
        if name not in _OURS
    }


def content_classifier(choice: Classifier, seed: int) -> Any:
    """Make a content classifier; the seed is for those that draw at random."""
    make = CONTENT[choice.classifier]
    parameters = dict(choice.parameters)
    if "random_state" in inspect.signature(make).parameters:
        parameters["random_state"] = seed
    classifier = make(**parameters)
    return PerLabel(classifier, random_state=seed) if make is GaussianNB else classifier


def label_classifier(choice: Classifier) -> Any:
    """Make a label classifier."""
    return LABELS[choice.classifier](**choice.parameters)


def additions(
    labels: Mapping[str, Classifier],
    variants: tuple[str, ...],
    weights: tuple[float | Literal["auto"], ...],
) -> Iterator[Addition]:
    """Yield what can be added to a content classifier, in the order of the paper's tables."""
    for choice in labels.values():
        for variant in variants:
            yield from (Addition(choice, variant, weight) for weight in weights)
