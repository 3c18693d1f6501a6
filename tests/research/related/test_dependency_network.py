"""Gibbs sampling ends where the transition matrix over all label sets says."""

from itertools import product

import numpy as np
from sklearn.linear_model import LogisticRegression

from labelkin.research.related import DependencyNetwork

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
Y = (X[:, :3] + 1.5 * rng.normal(size=(300, 3)) > 0.3).astype(int)
Y[:, 2] |= Y[:, 0] & (rng.random(300) < 0.6)
NEW = rng.normal(size=(8, 4))


def stationary(base, document):
    """Marginals of the stationary distribution of ordered Gibbs sampling, by brute force."""
    sets = np.array(list(product([0, 1], repeat=3)))
    sweep = np.eye(len(sets))
    for j in range(3):
        others = np.delete(np.arange(3), j)
        step = base.fit(np.hstack([X, Y[:, others]]), Y[:, j])
        move = np.zeros((len(sets), len(sets)))
        for s, one in enumerate(sets):
            p = step.predict_proba([[*document, *one[others]]])[0, 1]
            for value, chance in ((1, p), (0, 1 - p)):
                to = one.copy()
                to[j] = value
                move[s, (sets == to).all(axis=1).argmax()] = chance
        sweep = sweep @ move
    return np.linalg.matrix_power(sweep, 500)[0] @ sets


def test_probabilities_are_those_of_the_stationary_distribution():
    model = DependencyNetwork(
        LogisticRegression(), n_samples=6000, burn_in=100, random_state=0
    ).fit(X, Y)
    expected = np.array([stationary(LogisticRegression(), row) for row in NEW])
    found = model.predict_proba(NEW)
    assert np.abs(found - expected).max() < 0.015
    assert np.ptp(expected) > 0.3  # there is something to find
