"""Mixtures of words find again the parameters that made the documents."""

import numpy as np
import pytest

from labelkin.research.related import MixtureModel, ParametricMixture

N_WORDS, N_LABELS = 12, 3
rng = np.random.default_rng(0)
THETA = rng.dirichlet(np.full(N_WORDS, 0.4), N_LABELS)
SETS = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def documents(weights_of, n_documents=350, length=400):
    """Draw documents: each word from φ(S), the mixture of the labels of its set."""
    sets = [SETS[i % len(SETS)] for i in range(n_documents)]
    X = [rng.multinomial(length, weights_of(s) @ THETA[list(s)]) for s in sets]
    Y = np.array([[j in s for j in range(N_LABELS)] for s in sets]).astype(int)
    return np.array(X, dtype=float), Y


def equal(labels):
    return np.full(len(labels), 1 / len(labels))


def skewed(labels):
    return np.array([3.0 ** -labels.index(j) for j in labels]) / sum(
        3.0**-i for i in range(len(labels))
    )


PAIRS = np.array([[0.5, 0.8, 0.3], [0.2, 0.5, 0.6], [0.7, 0.4, 0.5]])


def paired(labels):
    """Return Ueda & Saito's weights: w_l = Σ_m 2 h_l h_m γ_lm."""
    return PAIRS[np.ix_(labels, labels)].sum(axis=1) * 2 / len(labels) ** 2


def test_pmm1_finds_the_word_distributions():
    model = ParametricMixture().fit(*documents(equal))
    assert np.abs(model.theta_[:N_LABELS] - THETA).max() < 0.01


def test_pmm2_finds_word_distributions_and_pair_weights():
    X, Y = documents(paired, 700)
    model = ParametricMixture(order=2, max_iter=500, tol=1e-9).fit(X, Y)
    assert np.abs(model.theta_[:N_LABELS] - THETA).max() < 0.01
    assert np.abs(model.pair_weights_[:N_LABELS, :N_LABELS] - PAIRS).max() < 0.03
    for labels in SETS:
        assert model._weights(np.array(labels)).sum() == pytest.approx(1)


def test_the_em_mixture_finds_word_distributions_and_the_weights_of_every_set():
    X, Y = documents(skewed, 700)
    model = MixtureModel(max_iter=500, tol=1e-9).fit(X, Y)
    assert np.abs(model.theta_[:N_LABELS] - THETA).max() < 0.01
    for labels in SETS:
        found = model._weights(np.array(labels))
        assert np.abs(found - skewed(labels)).max() < 0.03


def test_a_label_set_that_training_never_saw_can_be_found():
    X, Y = documents(equal)
    seen = ~((Y[:, 0] == 1) & (Y[:, 1] == 1) & (Y[:, 2] == 1))
    model = ParametricMixture().fit(X[seen], Y[seen])
    new = rng.multinomial(3000, equal((0, 1, 2)) @ THETA, 5).astype(float)
    np.testing.assert_array_equal(model.predict(new), np.ones((5, 3)))
    assert (model.predict_proba(new) > 0.5).all()
