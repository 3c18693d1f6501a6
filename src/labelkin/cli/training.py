"""Train a model and judge it out of fold: what ``labelkin train`` does once all is chosen."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from labelkin.beyond.learned_weight import dealt_folds
from labelkin.cli.printing import stage
from labelkin.label_matrix import LabelMatrix, read_labels
from labelkin.method.classifier import LabelDependenceClassifier
from labelkin.metrics import evaluate

METRICS = ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error")
"""What the summary tells, the paper's five."""


_STAGES = {"WordCounts": "words", "TermWeights": "weights of words", "StandardScaler": "scales"}


class Material(NamedTuple):
    """What is learnt from: texts or vectors, and their label sets."""

    documents: Any
    labels: LabelMatrix


class Trained(NamedTuple):
    """A fitted model and its scores.

    Attributes
    ----------
    model
        A pipeline, or the classifier alone where nothing stands before it.
    scores
        By system, ``"content"`` and ``"model"``, and metric; out of fold, ``None`` where a metric
        does not exist.
    """

    model: Any
    scores: dict[str, dict[str, float | None]]


class WatchedContent(BaseEstimator):
    """A content classifier whose out-of-fold evidence is kept beside the model, not in it.

    A clone is the object itself, so that who hands it over can ask it afterwards.
    """

    takes_label_matrix = True

    def __init__(self, content: Any) -> None:
        self.content = content

    def __sklearn_clone__(self) -> WatchedContent:
        return self

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.content)

    def fit(self, X: Any, y: Any) -> WatchedContent:
        """Fit the content classifier."""
        self.content.fit(X, y)
        return self

    def fit_out_of_fold(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Fit it, and keep what it says of the training documents as if unseen."""
        self.evidence_: NDArray[np.float64] = self.content.fit_out_of_fold(X, y)
        return self.evidence_

    def log_odds(self, X: Any) -> NDArray[np.float64]:
        """Return its log-odds."""
        return np.asarray(self.content.log_odds(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return its probabilities."""
        return np.asarray(self.content.predict_proba(X))


def train_model(
    material: Material,
    steps: list[BaseEstimator],
    classifier: LabelDependenceClassifier,
    quiet: bool = False,
) -> Trained:
    """Fit the steps and the classifier, and judge both evidences on documents as if unseen.

    Parameters
    ----------
    material
        Documents and label sets.
    steps
        Transformers before the classifier; may be none.
    classifier
        Unfitted; its ``content`` must be able to ``fit_out_of_fold``. It is fitted itself.
    quiet
        Whether nothing is told on stderr.
    """
    vectors = material.documents
    for step in steps:
        with stage(_STAGES.get(type(step).__name__, "vectors"), quiet):
            vectors = step.fit_transform(vectors)
    posterior, content = _fit(classifier, vectors, material.labels, quiet)
    with stage("cross-validated scores", quiet):
        scores = _scores(classifier, material.labels, content, posterior)
    return Trained(make_pipeline(*steps, classifier) if steps else classifier, scores)


def add_documents(material: Material, texts: list[str], label_sets: list[Any]) -> Material:
    """Put more texts after those that are there; their labels may be new."""
    sets = [*material.labels.label_sets(), *label_sets]
    names = sorted({*material.labels.names.tolist(), *(x for labels in label_sets for x in labels)})
    documents = np.empty(len(sets), dtype=object)
    documents[:] = [*material.documents, *texts]
    return Material(documents, read_labels([set(labels) for labels in sets], names=names))


def _fit(
    classifier: LabelDependenceClassifier, vectors: Any, labels: LabelMatrix, quiet: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit, and return posterior and content evidence of the training documents as if unseen."""
    chosen = classifier.content
    watched = WatchedContent(clone(chosen))
    classifier.set_params(content=watched, verbose=int(not quiet))
    posterior = classifier.fit_out_of_fold(vectors, labels)
    classifier.content_ = watched.content
    # How it was trained is no affair of who uses it.
    classifier.set_params(content=chosen, verbose=0, n_jobs=None)
    return posterior, watched.evidence_


def _scores(
    classifier: LabelDependenceClassifier,
    labels: LabelMatrix,
    content: NDArray[np.float64],
    posterior: NDArray[np.float64],
) -> dict[str, dict[str, float | None]]:
    """Judge content alone, with thresholds of its own, and the model."""
    decided = {
        "content": (content, _cross_fitted_decisions(classifier, labels, content)),
        "model": (posterior, _cross_fitted_decisions(classifier, labels, posterior)),
    }
    return {name: _chosen(evaluate(labels, *told).scores()) for name, told in decided.items()}


def _cross_fitted_decisions(
    classifier: LabelDependenceClassifier, labels: LabelMatrix, log_odds: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Decide every document by cuts that were tuned on others."""
    fold = dealt_folds(labels)
    decided = np.zeros(log_odds.shape, dtype=np.bool_)
    rules = classifier.rescorer_.rules_
    for k in np.unique(fold):
        seen, unseen = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if not len(seen):
            seen = unseen
        rule = clone(classifier.thresholds_).fit(log_odds[seen], labels.rows(seen))
        decided[unseen] = rule.decide(log_odds[unseen])
    return decided if rules is None else rules.decisions(log_odds, decided)


def _chosen(scores: dict[str, float]) -> dict[str, float | None]:
    return {name: float(scores[name]) if math.isfinite(scores[name]) else None for name in METRICS}
