"""A fitted model as the doors use it: what it takes, its log-odds, its decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelkin.estimator import LogOddsClassifier
from labelkin.explain.contributions import Posterior
from labelkin.method.classifier import LabelDependenceClassifier
from labelkin.odds import probability_of


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A classifier and the steps before it; :func:`fitted_model` makes it.

    Attributes
    ----------
    whole
        The model as it is.
    steps
        What turns documents into vectors; ``None`` where the classifier takes them as they are.
    classifier
        One of labelkin's, fitted on label sets.
    """

    whole: Any
    steps: Pipeline | None
    classifier: Any

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, ``(n_labels,)``."""
        return np.asarray(self.classifier.label_names_)

    @property
    def takes_texts(self) -> bool:
        """Whether documents are texts, not vectors."""
        return self.steps is not None and bool(get_tags(self.steps[0]).input_tags.string)

    @property
    def needs_batch(self) -> bool:
        """Whether a decision depends on the other documents, so that streams cannot be decided."""
        return bool(getattr(getattr(self.classifier, "thresholds_", None), "needs_batch", False))

    def check_texts(self, name: str) -> None:
        """Raise where the model takes vectors, not texts."""
        if not self.takes_texts:
            raise ValueError(
                f"{name} must take texts, and takes vectors: it was trained on a corpus of them. "
                "Train a model on texts, or give this one vectors in Python (labelkin.load)."
            )

    def vectors(self, documents: Any) -> Any:
        """Return what the classifier takes, for texts or for vectors."""
        return documents if self.steps is None else self.steps.transform(documents)

    def log_odds(self, documents: Any) -> NDArray[np.float64]:
        """Return the posterior log-odds, ``(n_documents, n_labels)``."""
        return np.asarray(self.classifier.log_odds(self.vectors(documents)))

    def posterior(self, documents: Any, known: Any = None) -> Posterior:
        """Return the posterior of some documents, from which everything about it is read."""
        found: Posterior = self.classifier.posterior(self.vectors(documents), known)
        return found

    def decide(self, log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which labels are given, as the model's thresholds and rules have it."""
        if isinstance(self.classifier, LabelDependenceClassifier):
            return self.classifier.decide(log_odds)
        return log_odds > 0

    def probabilities(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities that the model gives, calibrated if it is."""
        if isinstance(self.classifier, LabelDependenceClassifier):
            return self.classifier.probabilities(log_odds)
        return probability_of(log_odds)


def fitted_model(model: Any, name: str = "The model") -> FittedModel:
    """Take a model apart; whatever gives no log-odds of label sets is an error.

    Parameters
    ----------
    model
        One of labelkin's classifiers, or a pipeline that ends in one; fitted.
    name
        What messages call it.
    """
    check_is_fitted(model)
    steps = None
    classifier = model
    if isinstance(model, Pipeline):
        steps = model[:-1] if len(model) > 1 else None
        classifier = model[-1]
    if not isinstance(classifier, LogOddsClassifier):
        raise ValueError(
            f"{name} must be one of labelkin's classifiers, or a pipeline that ends in one, got a "
            f"{type(classifier).__name__}. labelkin train makes such files."
        )
    if classifier.target_kind_ != "multilabel":
        raise ValueError(
            f"{name} must have learned label sets, and has learned one class per document. Train "
            "it on label sets."
        )
    return FittedModel(model, steps, classifier)
