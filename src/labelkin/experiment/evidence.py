"""What the runs on one corpus compute, and what they share.

Content evidence is computed once per content classifier and seed: the log-odds of the run of the
content alone are what all its additions start from. A label classifier is fitted once for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkin.experiment.features import check_features, make_features
from labelkin.experiment.material import Material
from labelkin.experiment.plan import Content
from labelkin.experiment.systems import (
    VARIANTS,
    Addition,
    Classifier,
    content_classifier,
    label_classifier,
)
from labelkin.label_matrix import LabelMatrix
from labelkin.method.combination import Combination
from labelkin.method.guesses import VARIANTS as FILL_IN
from labelkin.odds import count_log_odds

Blocks = Iterator[NDArray[np.float64]]

#: Documents × labels combined at a time: 2²⁰ numbers are 8 MB.
_BLOCK_CELLS = 2**20


def content_evidence(
    content: Content, seed: int, material: Material, tell: Callable[[str], None]
) -> Blocks:
    """Train a content classifier; yield its log-odds of the test documents, block by block.

    ``tell`` is told what is being done.
    """
    check_features(content, material.X_train, material.kind, material.facts["name"])
    tell("features")
    features = make_features(content)
    X_train = features.fit_transform(material.X_train, material.Y_train)
    tell("learning")
    classifier = content_classifier(content, seed).fit(X_train, material.Y_train)
    tell("documents")
    for X in material.test_blocks():
        yield classifier.log_odds(features.transform(X))


class LabelLayer:
    """Adds what the other labels say; learns each label classifier when it is first asked for."""

    def __init__(self, labels: LabelMatrix) -> None:
        self.labels = labels
        self.prior_log_odds = count_log_odds(*labels.counts())
        self._fitted: dict[str, Any] = {}

    def posterior(
        self, addition: Addition, content: NDArray[np.float64], tell: Callable[[str], None]
    ) -> Blocks:
        """Yield the posterior log-odds of the documents whose content evidence is given."""
        tell("learning")
        combination = Combination(
            self._label_classifier(addition.labels),
            self.labels.prior(),
            self.prior_log_odds,
            FILL_IN[VARIANTS[addition.variant]],
            addition.weight,
        )
        tell("documents")
        size = max(1, _BLOCK_CELLS // content.shape[1])
        for start in range(0, len(content), size):
            yield combination.posterior(np.array(content[start : start + size]))

    def _label_classifier(self, choice: Classifier) -> Any:
        if choice.name not in self._fitted:
            self._fitted[choice.name] = label_classifier(choice).fit(self.labels)
        return self._fitted[choice.name]
