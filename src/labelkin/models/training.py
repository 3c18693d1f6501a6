"""Fitting a model, and its evaluation on training documents, out of fold, and on test documents."""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from labelkin.estimator import stage
from labelkin.evaluation.metrics.decisions import (
    DecisionCounts,
    count_by_document,
    count_decisions,
)
from labelkin.evaluation.metrics.inputs import DocumentSums, Truth
from labelkin.evaluation.metrics.rankings import first_errors
from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import LabelMatrix, read_labels, to_dense
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.scaling.blocks import row_blocks

#: Documents × labels of a block: 2²⁰ numbers are 8 MB.
_CELLS = 2**20
_STAGES = {"WordCounts": "words", "TermWeights": "weights of words", "StandardScaler": "scales"}
Scores = dict[str, float | None]


def fit_and_evaluate(
    model: Pipeline | LabelDependenceClassifier,
    documents: Any,
    labels: LabelMatrix,
    verbose: bool = False,
) -> dict[str, Scores]:
    """Fit a model; return out-of-fold scores of its content and of its posterior.

    Parameters
    ----------
    model : Pipeline or LabelDependenceClassifier
        Unfitted; it is fitted, and contains none of the training documents.
    documents, labels : documents and LabelMatrix
        The training documents.
    verbose : bool, default False
        Whether the stages are printed on stderr.

    Returns
    -------
    dict
        ``"content"`` and ``"model"`` → metric → score; ``None`` if a metric is not defined.
    """
    *steps, classifier = model if isinstance(model, Pipeline) else [model]
    for step in steps:
        with stage(_STAGES.get(type(step).__name__, "vectors"), verbose):
            documents = step.fit_transform(documents)
    classifier.set_params(keep_out_of_fold=True, verbose=int(verbose))
    found = classifier.fit(documents, labels).out_of_fold_
    scores = {
        "content": _cross_validated_scores(classifier, labels, found.content),
        "model": _cross_validated_scores(classifier, labels, found.posterior),
    }
    del classifier.out_of_fold_
    classifier.set_params(keep_out_of_fold=False, verbose=0, n_jobs=None)
    return scores


def held_out_scores(
    model: Pipeline | LabelDependenceClassifier, documents: Any, labels: LabelMatrix
) -> Scores:
    """Return the scores of a fitted model on documents that it has not seen."""
    *steps, classifier = model if isinstance(model, Pipeline) else [model]
    for step in steps:
        documents = step.transform(documents)
    log_odds = classifier.log_odds(documents)
    truth = read_labels(labels, names=classifier.label_names_)  # saved work adds labels
    return _scores(truth, log_odds, classifier.decide(log_odds))


def _cross_validated_scores(
    classifier: LabelDependenceClassifier, labels: LabelMatrix, log_odds: Any
) -> Scores:
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
    return _scores(labels, log_odds, decided)


def _scores(labels: LabelMatrix, log_odds: Any, decisions: Any) -> Scores:
    """Return the metrics of a summary, counted in blocks of documents."""
    blocks = row_blocks(labels, log_odds, decisions, size=max(1, _CELLS // labels.shape[1]))
    counts, sets, ranks = (reduce(add, sums) for sums in zip(*map(_count, blocks), strict=True))
    scores = {
        "micro_f1": counts.average("f1", "micro"),
        "macro_f1": counts.average("f1", "macro"),
        "hamming_loss": counts.hamming_loss,
        **sets.scores(),
        **ranks.scores(),
    }
    return {name: float(x) if math.isfinite(x) else None for name, x in scores.items()}


def _count(
    block: tuple[LabelMatrix, Any, Any],
) -> tuple[DecisionCounts, DocumentSums, DocumentSums]:
    """Return the counts of labels, wrong label sets, and errors of labelled documents."""
    labels, log_odds, decisions = block
    truth = Truth.of(labels)
    is_wrong = count_by_document(truth, decisions).wrong > 0
    rows = np.flatnonzero(np.diff(truth.positive.indptr))
    labelled, log_odds = Truth.of(labels.rows(rows)), log_odds[rows]
    values, best = {"one_error": first_errors(labelled, log_odds)}, {}
    if sparse.issparse(log_odds):  # candidates limit every metric
        is_candidate = log_odds.astype(np.float64)
        is_candidate.data[:] = 1.0
        values["candidate_recall"] = (labelled.positive * is_candidate).sum(axis=1)
        best["candidate_recall"] = labelled.positive.sum(axis=1)
    return (
        count_decisions(truth, decisions),
        DocumentSums.of(truth, {"subset_loss": is_wrong}),
        DocumentSums.of(labelled, values, best),
    )
