"""ML-kNN, BR-kNN and IBLR: counted by hand, and compositions of scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from labelkin.research.related import IBLR, BRkNN, MLkNN

# Seven documents on a line; VOTES of the label among the k = 2 nearest other documents:
X = np.array([[0.0], [1.0], [2.1], [3.3], [10.0], [11.0], [12.1]])
Y = np.array([[1], [1], [0], [1], [0], [0], [1]])
#   nearest two others: 0:{1,2} 1:{0,2} 2:{1,3} 3:{2,1} 4:{5,6} 5:{4,6} 6:{5,4}
VOTES = [1, 1, 2, 1, 1, 1, 0]


def test_ml_knn_is_bayes_rule_on_hand_counted_votes():
    model = MLkNN(n_neighbors=2, smoothing=1.0).fit(X, np.hstack([Y, 1 - Y]))
    # carriers 0, 1, 3, 6 have 1, 1, 1, 0 votes; the others 2, 4, 5 have 2, 1, 1
    inside = {0: (1 + 1) / (3 + 4), 1: (1 + 3) / (3 + 4), 2: (1 + 0) / (3 + 4)}
    outside = {0: (1 + 0) / (3 + 3), 1: (1 + 2) / (3 + 3), 2: (1 + 1) / (3 + 3)}
    prior = np.log((1 + 4) / (1 + 3))
    # at 0.4 the two nearest are 0 and 1 (2 votes); at 11.4: 5 and 6 (1 vote); at 10.2: 4, 5 (none)
    expected = [prior + np.log(inside[v] / outside[v]) for v in (2, 1, 0)]
    np.testing.assert_allclose(model.log_odds([[0.4], [11.4], [10.2]])[:, 0], expected)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_br_knn_is_the_share_of_the_nearest(metric):
    rng = np.random.default_rng(0)
    X, Y = rng.random((90, 4)), (rng.random((90, 3)) < 0.4).astype(int)
    ours = BRkNN(5, metric=metric).fit(X[:60], Y[:60]).predict_proba(X[60:])
    peer = KNeighborsClassifier(5, metric=metric).fit(X[:60], Y[:60]).predict_proba(X[60:])
    theirs = np.column_stack([label[:, 1] for label in peer])
    np.testing.assert_allclose(ours, np.clip(theirs, 1e-6, 1 - 1e-6), atol=1e-9)


def test_iblr_is_logistic_regression_on_the_votes_of_the_others():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    Y = (X + rng.normal(0, 1.0, (200, 3)) > 0).astype(int)
    model = IBLR(7, ridge=0.5).fit(X, Y)
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    votes = np.array([Y[row].sum(axis=0) for row in np.argsort(distance, axis=1)[:, :7]]) / 7
    new = rng.normal(size=(20, 3))
    away = ((new[:, None] - X[None]) ** 2).sum(axis=2)
    asked = np.array([Y[row].sum(axis=0) for row in np.argsort(away, axis=1)[:, :7]]) / 7
    for j in range(3):
        # a penalised intercept is one more weight, of an input that is always 1
        peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
        peer.fit(np.column_stack([votes, np.ones(200)]), Y[:, j])
        theirs = peer.decision_function(np.column_stack([asked, np.ones(20)]))
        np.testing.assert_allclose(model.log_odds(new)[:, j], theirs, atol=1e-5)
