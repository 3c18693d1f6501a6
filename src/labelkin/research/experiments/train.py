"""Training of the systems of an experiment, with the public classes of the library.

Content evidence is computed once per content classifier and seed: additions start from the stored
log-odds of the content alone, and learn from its out-of-fold log-odds of the training documents. A
system with an addition is a content classifier and a :class:`labelkin.LabelRescorer` on its
log-odds, as in :class:`labelkin.LabelDependenceClassifier`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from labelkin import registry
from labelkin.content.any_classifier import PerLabel
from labelkin.content.ensemble import ContentEnsemble
from labelkin.label_matrix import LabelMatrix
from labelkin.learned.calibration import Calibration, fit_calibration
from labelkin.learned.fitting import LearnedWeight
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.models.builder import STRONG, build_part, view_members
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer
from labelkin.odds import constant_labels
from labelkin.research import related as methods
from labelkin.research.experiments.plan import (
    AUTO,
    Addition,
    ContentChoice,
    Control,
    RelatedMethod,
    Thresholds,
)
from labelkin.research.experiments.prepared_corpus import PreparedCorpus, fit_features
from labelkin.solvers.logistic import fit_logistic_layer
from labelkin.text import WordCounts
from labelkin.thresholds import LabelLimits, SCutFBR, ThresholdRule, rule_for

Matrix = NDArray[np.float64]


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
        "gaussian_naive_bayes": GaussianNB,  # one per label
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
        "classifier_chain": methods.ClassifierChain,
        "chain_ensemble": methods.ChainEnsemble,
        "probabilistic_chain": methods.ProbabilisticChain,
        "stacked_relevance": methods.StackedRelevance,
        "dependent_relevance": methods.DependentRelevance,
        "dependency_network": methods.DependencyNetwork,
        "mlknn": methods.MLkNN,
        "brknn": methods.BRkNN,
        "iblr": methods.IBLR,
        "multilabel_tree": methods.MultilabelTree,
        "multilabel_forest": methods.MultilabelForest,
        "mixture_model": methods.MixtureModel,
        "parametric_mixture": methods.ParametricMixture,
        "label_powerset": methods.LabelPowerset,
        "rakel": methods.RAkEL,
        "binary_relevance": lambda: None,  # the content classifier itself
        "label_dependence": lambda content=None, random_state=None: LabelDependenceClassifier(
            content, random_state=random_state
        ),
    },
}
#: The related method that is its content classifier, and the parameters that take one.
BINARY_RELEVANCE, BASE_PARAMETERS = "binary_relevance", frozenset({"estimator", "content"})
#: The variants as arguments of :class:`labelkin.LabelRescorer`; M1cut has learned cuts.
_VARIANTS: dict[str, Any] = {"M1": "hard", "M2": "soft"}
#: Limit of the log-odds that controls learn from, as for the learned weight.
_SURE = 500.0


class Trained(NamedTuple):
    """A trained system.

    Attributes
    ----------
    log_odds
        Function that returns the log-odds of test documents: from their features for the content
        alone, from their content log-odds and optional known labels for an addition.
    seconds
        Time of learning, ``"learning_wall"`` and ``"learning_cpu"``.
    out_of_fold
        Out-of-fold log-odds of the training documents, ``(n_train, n_labels)``, if asked for.
    learned
        Learned numbers, such as the weight.
    """

    log_odds: Callable[..., Any]
    seconds: Mapping[str, float]
    out_of_fold: Any = None
    learned: Mapping[str, float] = {}


def train_content(
    content: ContentChoice,
    seed: int,
    corpus: PreparedCorpus,
    *,
    out_of_fold: bool,
) -> Trained:
    """Train a content classifier."""
    features, X = fit_features(content, corpus)
    parameters = dict(content.parameters)
    if content.classifier == "views":
        parameters["words"] = WordCounts(**corpus.words)
    classifier = build_named("content", content.classifier, seed, **parameters)
    watch = Stopwatch()
    if out_of_fold:
        unseen = classifier.fit_out_of_fold(X, corpus.Y_train)
    else:
        unseen, _ = None, classifier.fit(X, corpus.Y_train)
    seconds = watch.seconds("learning_")
    learned = {}
    if isinstance(classifier, ContentEnsemble):  # weights of the members, averaged over labels
        weights = dict(
            zip((m.name for m in classifier.members_), classifier.weights_.T, strict=True)
        )
        learned = {f"weight of {name}": float(one.mean()) for name, one in weights.items()}
        learned |= {f"weight of {name}": 0.0 for name in classifier.dropped_}
    return Trained(lambda X: classifier.log_odds(features.transform(X)), seconds, unseen, learned)


def train_addition(
    addition: Addition, labels: LabelMatrix, content: Any, *, out_of_fold: bool = False
) -> Trained:
    """Train label evidence.

    Parameters
    ----------
    addition
        The label classifier, variant and weight.
    labels
        The labels of the training documents.
    content
        Their out-of-fold content log-odds, ``(n_train, n_labels)``; ``None`` is enough for
        additions that learn nothing from them.
    out_of_fold
        Whether to compute the out-of-fold posterior of the training documents.
    """
    watch = Stopwatch()
    rescorer = LabelRescorer(
        build_named("labels", addition.labels.classifier, **addition.labels.parameters),
        variant=_VARIANTS.get(addition.variant) or SCutFBR(),
        evidence_weight=addition.weight,
        scale="log_odds",
    )
    rescorer.fit(labels, scores=content)
    unseen = rescorer.rescore(content) if out_of_fold and content is not None else None
    learned = {}
    if addition.weight == AUTO:
        learned = {"evidence_weight": rescorer.evidence_weight_}
    return Trained(rescorer.rescore, watch.seconds("learning_"), unseen, learned)


def train_control(control: Control, labels: LabelMatrix, content: Matrix) -> Trained:
    """Correct the content by ``slope * content + shift``, without any other label.

    Controls show which part of a gain is due to other labels. They are fitted on out-of-fold
    content log-odds of the training documents: a number per label is added, or each label is
    calibrated as predicted labels are.
    """
    watch, content = Stopwatch(), np.clip(content, -_SURE, _SURE)
    if control.name == "offset":
        fitted = fit_offset(content, labels)
    else:
        fitted = fit_calibration(content, labels, monotone=False)
    return Trained(lambda test: test * fitted.slope + fitted.shift, watch.seconds("learning_"))


def make_related(related: RelatedMethod, seed: int) -> Any:
    """Return an unfitted related method, with the content classifier that learns its labels."""
    content, base = related.estimator, None
    if content is not None:
        base = build_named("content", content.classifier, seed, **content.parameters)
    if related.classifier == BINARY_RELEVANCE:
        return base
    taken = inspect.signature(find_part("related", related.classifier)).parameters
    given = {key: base for key in BASE_PARAMETERS if key in taken and base is not None}
    return build_named("related", related.classifier, seed, **given, **related.parameters)


def build_named(kind: PartKind, name: str, seed: Any = None, **parameters: Any) -> Any:
    """Return an unfitted part by its name in an experiment."""
    return build_part(
        cast(registry.Kind, kind), find_part(kind, name), random_state=seed, **parameters
    )


def part_names(kind: PartKind) -> tuple[str, ...]:
    """Return the names of content classifiers, label classifiers or rules in an experiment."""
    return (*registry.PARTS.get(cast(registry.Kind, kind), ()), *_MORE_PARTS[kind])


def make_rule(thresholds: Thresholds) -> ThresholdRule:
    """Return an unfitted rule for log-odds."""
    return rule_for(build_named("thresholds", thresholds.rule, **thresholds.parameters))


def find_part(kind: PartKind, name: str) -> Callable[..., Any]:
    """Return the class or function that makes a part."""
    more = _MORE_PARTS[kind]
    return more[name] if name in more else registry.part_class(cast(registry.Kind, kind), name)


def fit_offset(content: Matrix, labels: LabelMatrix) -> Calibration:
    """Fit a number to add to each label, with the prior of the learned correction."""
    layer = fit_logistic_layer(
        np.empty((labels.shape[0], 0)),
        labels.positive,
        np.ones(labels.shape[0]),
        LearnedWeight().shrinkage * 2 / prior_scale(count_label_sets(labels)),
        unknown=labels.unknown,
        offset=content,
        own_column_zero=False,
    )
    shift = np.where(constant_labels(*labels.counts()), 0.0, layer.bias)
    return Calibration(np.ones(labels.shape[1]), shift)


class Stopwatch:
    """A stopwatch that starts when it is created.

    Examples
    --------
    >>> sorted(Stopwatch().seconds("learning_"))
    ['learning_cpu', 'learning_wall']
    """

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def seconds(self, prefix: str = "") -> dict[str, float]:
        """Return the seconds since the start, ``"wall"`` and ``"cpu"``, of all threads."""
        return {
            f"{prefix}wall": time.perf_counter() - self._wall,
            f"{prefix}cpu": time.process_time() - self._cpu,
        }
