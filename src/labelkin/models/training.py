"""Fitting a model, and its evaluation on the training documents, out of fold."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import LabelMatrix, to_dense
from labelkin.models.classifier import LabelDependenceClassifier

#: Metrics of a training summary.
SUMMARY_METRICS = ("micro_f1", "macro_f1", "hamming_loss", "subset_loss", "one_error")
_STAGES = {"WordCounts": "words", "TermWeights": "weights of words", "StandardScaler": "scales"}


def fit_and_evaluate(
    model: Pipeline | LabelDependenceClassifier,
    documents: Any,
    labels: LabelMatrix,
    stage: Callable[[str], AbstractContextManager[None]],
    verbose: bool = False,
) -> dict[str, dict[str, float | None]]:
    """Fit a model; return out-of-fold scores of its content and of its posterior.

    Parameters
    ----------
    model : Pipeline or LabelDependenceClassifier
        Unfitted; it is fitted, and contains none of the training documents.
    documents, labels : documents and LabelMatrix
        The training documents.
    stage : callable
        Context for each step before the classifier, from its name.
    verbose : bool, default False
        Whether the classifier reports its stages.

    Returns
    -------
    dict
        ``"content"`` and ``"model"`` → metric → score; ``None`` if a metric is not defined.
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    for step in steps[:-1]:
        with stage(_STAGES.get(type(step).__name__, "vectors")):
            documents = step.fit_transform(documents)
    classifier = steps[-1]
    classifier.set_params(keep_out_of_fold=True, verbose=int(verbose))
    found = classifier.fit(documents, labels).out_of_fold_
    scores = {
        "content": _scores(classifier, labels, found.content),
        "model": _scores(classifier, labels, found.posterior),
    }
    del classifier.out_of_fold_
    classifier.set_params(keep_out_of_fold=False, verbose=0, n_jobs=None)
    return scores


def _scores(
    classifier: LabelDependenceClassifier, labels: LabelMatrix, log_odds: Any
) -> dict[str, float | None]:
    """Evaluate log-odds, and decisions of the classifier's rule, tuned on other folds."""
    fold = round_robin_folds(labels)
    folds = np.unique(fold)
    rows, parts = [], []
    for k in folds:
        unseen = np.flatnonzero(fold == k)
        seen = np.flatnonzero(fold != k) if len(folds) > 1 else unseen
        rule = clone(classifier.thresholds_).fit(log_odds[seen], labels.rows(seen))
        rows.append(unseen)
        parts.append(rule.decide(log_odds[unseen]))
    is_sparse = sparse.issparse(log_odds)
    joined: Any = sparse.csr_array(sparse.vstack(parts)) if is_sparse else np.vstack(parts)
    decided = joined[np.argsort(np.concatenate(rows))]
    rules = classifier.rescorer_.rules_
    if rules is not None:
        given = decided.toarray() if is_sparse else decided
        decided = rules.decisions(to_dense(log_odds), given)
    scores = evaluate(labels, log_odds, decided).scores()
    # Candidates limit every metric: the share of true labels among them.
    names = [*SUMMARY_METRICS, *(["candidate_recall"] if is_sparse else [])]
    return {name: scores[name] if math.isfinite(scores[name]) else None for name in names}
