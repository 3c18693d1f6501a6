"""Two levels: compositions of scikit-learn, and what cross-fitting sees."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multioutput import MultiOutputClassifier

from labelkin import PerLabel
from labelkin.evaluation.splits import stratified_folds
from labelkin.label_matrix import read_labels
from labelkin.research.related import DependentRelevance, StackedRelevance

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 5))
Y = (X[:, :3] + 0.8 * rng.normal(size=(240, 3)) > 0.3).astype(int)
Y[:, 2] = Y[:, 0] & (rng.random(240) < 0.8)
NEW = rng.normal(size=(50, 5))
LR = LogisticRegression(tol=1e-8, max_iter=1000)


def first_level(seed=0):
    """Out-of-fold and new probabilities of binary relevance by scikit-learn alone."""
    fold = stratified_folds(read_labels(Y), 5, random_state=seed)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    relevance = MultiOutputClassifier(LR)
    unseen = cross_val_predict(relevance, X, Y, cv=splits, method="predict_proba")
    new = relevance.fit(X, Y).predict_proba(NEW)
    return [np.column_stack([label[:, 1] for label in part]) for part in (unseen, new)]


@pytest.mark.parametrize("documents", [True, False])
def test_stacking_without_pruning_is_a_composition_of_scikit_learn(documents):
    ours = StackedRelevance(
        PerLabel(LR, random_state=0), final_estimator=LR, documents=documents
    ).fit(X, Y)
    unseen, new = first_level()
    meta = np.hstack([X, unseen]) if documents else unseen
    asked = np.hstack([NEW, new]) if documents else new
    theirs = MultiOutputClassifier(LR).fit(meta, Y).predict_proba(asked)
    expected = np.column_stack([label[:, 1] for label in theirs])
    np.testing.assert_allclose(ours.predict_proba(NEW), expected, atol=1e-4)


def test_pruning_shows_correlated_labels_only():
    model = StackedRelevance(LR, min_correlation=0.3).fit(X, Y)
    phi = np.corrcoef(Y.T)
    for j, one in enumerate(model.conditionals_):
        assert one.shown.tolist() == [k for k in range(3) if abs(phi[j, k]) >= 0.3]
    assert any(len(one.shown) < 3 for one in model.conditionals_)


def test_dependent_relevance_learns_from_true_labels_and_is_shown_predicted_ones():
    ours = DependentRelevance(LR).fit(X, Y).log_odds(NEW)
    _, new = first_level()
    for j in range(3):
        others = np.delete(np.arange(3), j)
        second = LogisticRegression(tol=1e-8, max_iter=1000).fit(
            np.hstack([X, Y[:, others]]), Y[:, j]
        )
        asked = np.hstack([NEW, new[:, others] > 0.5])
        np.testing.assert_allclose(ours[:, j], second.decision_function(asked), atol=1e-3)
