"""What the runs on one corpus learn, and what they share.

Content evidence is computed once per content classifier and seed: the log-odds of the run of the
content alone are what all its additions start from, and its out-of-fold log-odds of the training
documents are what they learn from. A label classifier is fitted once for all that learn nothing
else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkin.beyond.fitting import fit_combination
from labelkin.beyond.guesses import VARIANTS as FILL_IN
from labelkin.experiment.controls import CONTROLS
from labelkin.experiment.features import check_features, make_features
from labelkin.experiment.prepared_corpus import Material
from labelkin.experiment.plan import Content
from labelkin.experiment.stopwatch import Stopwatch
from labelkin.experiment.systems import (
    AUTO,
    VARIANTS,
    Addition,
    Classifier,
    Control,
    content_classifier,
    label_classifier,
)
from labelkin.label_matrix import LabelMatrix
from labelkin.method.combination import Combination
from labelkin.odds import count_log_odds

Matrix = NDArray[np.float64]
Blocks = Iterator[Matrix]

#: Documents × labels combined at a time: 2²⁰ numbers are 8 MB.
_BLOCK_CELLS = 2**20


class Learnt(NamedTuple):
    """What was learnt from training documents.

    Attributes
    ----------
    judge
        Returns the log-odds of test documents: from their features for the content alone, from
        their content log-odds for an addition.
    seconds
        How long learning took, ``"learning_wall"`` and ``"learning_cpu"``.
    out_of_fold
        Log-odds of the training documents as if unseen, ``(n_train, n_labels)``, if asked for.
    facts
        Numbers to be shown: a learnt weight.
    """

    judge: Callable[[Any], Matrix]
    seconds: Mapping[str, float]
    out_of_fold: Matrix | None = None
    facts: Mapping[str, float] = {}


def learn_content(
    content: Content,
    seed: int,
    material: Material,
    tell: Callable[[str], None],
    *,
    out_of_fold: bool = False,
) -> Learnt:
    """Train a content classifier; ``tell`` is told what is being done."""
    check_features(content, material.X_train, material.kind, material.facts["name"])
    tell("features")
    features = make_features(content)
    X_train = features.fit_transform(material.X_train, material.Y_train)
    tell("learning")
    classifier = content_classifier(content, seed)
    watch = Stopwatch()
    unseen = None
    if out_of_fold:
        unseen = classifier.fit_out_of_fold(X_train, material.Y_train)
    else:
        classifier.fit(X_train, material.Y_train)
    seconds = watch.seconds("learning_")
    return Learnt(lambda X: classifier.log_odds(features.transform(X)), seconds, unseen)


class LabelLayer:
    """Learns what is added to content evidence; each label classifier when it is first needed."""

    def __init__(self, labels: LabelMatrix) -> None:
        self.labels = labels
        self.prior_log_odds = count_log_odds(*labels.counts())
        self._fitted: dict[str, Any] = {}

    def learn(
        self, addition: Addition | Control, content: Matrix | None, *, out_of_fold: bool = False
    ) -> Learnt:
        """Learn an addition or a control.

        Parameters
        ----------
        addition
            What is learnt.
        content
            Out-of-fold content log-odds of the training documents, ``(n_train, n_labels)``; only
            additions with nothing to learn from guesses can do without.
        out_of_fold
            Whether the out-of-fold posterior of an addition is wanted.
        """
        watch = Stopwatch()
        if isinstance(addition, Control):
            return self._learn_control(addition, np.array(content), watch)
        if content is None:
            return Learnt(self._paper(addition).posterior, watch.seconds("learning_"))
        combination, posterior = fit_combination(
            label_classifier(addition.labels),
            VARIANTS[addition.variant],
            addition.weight,
            self.labels,
            content=np.array(content),
            out_of_fold=out_of_fold,
        )
        learnt = {"evidence_weight": combination.weight, "first_place": combination.first_place}
        return Learnt(
            combination.posterior,
            watch.seconds("learning_"),
            posterior if out_of_fold else None,
            learnt if addition.weight == AUTO else {},
        )

    def _learn_control(self, control: Control, content: Matrix, watch: Stopwatch) -> Learnt:
        repaired = CONTROLS[control.name](content, self.labels)
        return Learnt(repaired.posterior, watch.seconds("learning_"))

    def _paper(self, addition: Addition) -> Combination:
        """Return the paper's combination, with a weight that is given."""
        return Combination(
            self._label_classifier(addition.labels),
            self.labels.prior(),
            self.prior_log_odds,
            FILL_IN[VARIANTS[addition.variant]],
            float(addition.weight),
        )

    def _label_classifier(self, choice: Classifier) -> Any:
        if choice.name not in self._fitted:
            self._fitted[choice.name] = label_classifier(choice).fit(self.labels)
        return self._fitted[choice.name]


def content_blocks(content: Matrix) -> Blocks:
    """Yield stored content log-odds, some documents at a time, in memory."""
    size = max(1, _BLOCK_CELLS // content.shape[1])
    for start in range(0, len(content), size):
        yield np.array(content[start : start + size])
