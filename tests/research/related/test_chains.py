"""Chains against scikit-learn's, and probabilistic chains against all label sets."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.tree import DecisionTreeClassifier

from labelkin.research.related import ChainEnsemble, ClassifierChain, ProbabilisticChain

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 6))
Y = (X[:, :4] + 0.8 * rng.normal(size=(200, 4)) > 0.3).astype(int)
Y[:, 2] = Y[:, 0] ^ Y[:, 1]
NEW = rng.normal(size=(40, 6))


@pytest.mark.parametrize("order", [None, [2, 0, 3, 1]])
@pytest.mark.parametrize("flavour", [np.asarray, sparse.csr_array])
def test_a_hard_chain_is_scikit_learns(order, flavour):
    base = LogisticRegression(tol=1e-8, max_iter=1000)
    ours = ClassifierChain(base, order=order).fit(flavour(X), Y)
    theirs = TheirChain(base, order=order).fit(flavour(X), Y)
    np.testing.assert_allclose(
        ours.log_odds(flavour(NEW)), theirs.decision_function(NEW), atol=1e-4
    )
    np.testing.assert_array_equal(ours.predict(flavour(NEW)), theirs.predict(NEW))


def test_a_soft_chain_is_scikit_learns_on_probabilities():
    base = LogisticRegression(tol=1e-8, max_iter=1000)
    ours = ClassifierChain(base, variant="soft").fit(X, Y)
    theirs = TheirChain(base, chain_method="predict_proba").fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-5)


def test_an_ensemble_is_the_mean_of_its_chains():
    model = ChainEnsemble(LogisticRegression(), n_chains=4, random_state=0).fit(X, Y)
    mean = np.mean([chain.predict_proba(NEW) for chain in model.chains_], axis=0)
    np.testing.assert_allclose(model.predict_proba(NEW), mean, atol=1e-9)
    orders = {tuple(chain.order_) for chain in model.chains_}
    assert len(orders) > 1


def brute_force(model, documents):
    """All label sets and their probabilities by the chain rule, from scikit-learn's chain."""
    sets = np.array(list(product([0, 1], repeat=4)))
    theirs = TheirChain(model.estimator, order=model.order).fit(X, Y)
    joint = np.ones((len(documents), len(sets)))
    for place, (j, step) in enumerate(zip(theirs.order_, theirs.estimators_, strict=True)):
        for s, one in enumerate(sets):
            before = np.tile(one[theirs.order_[:place]], (len(documents), 1))
            p = step.predict_proba(np.hstack([documents, before]))[:, 1]
            joint[:, s] *= p if one[j] else 1 - p
    return sets, joint


@pytest.mark.parametrize(
    "base", [LogisticRegression(), DecisionTreeClassifier(max_depth=3)], ids=str
)
@pytest.mark.parametrize("order", [None, [2, 0, 3, 1]])
def test_exact_inference_is_brute_force_over_all_label_sets(base, order):
    if isinstance(base, DecisionTreeClassifier):
        base = DecisionTreeClassifier(max_depth=3, min_samples_leaf=10, random_state=0)
    model = ProbabilisticChain(base, order=order).fit(X, Y)
    sets, joint = brute_force(model, NEW)
    np.testing.assert_allclose(joint.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(NEW), joint @ sets, atol=2e-5)
    best = (model.predict(NEW)[:, None] == sets).all(axis=2)
    np.testing.assert_allclose(joint[best], joint.max(axis=1), atol=2e-5)
    by_labels = ProbabilisticChain(base, order=order, decide="labels").fit(X, Y)
    clear = np.abs(joint @ sets - 0.5) > 1e-9  # leaves of trees have halves
    np.testing.assert_array_equal(by_labels.predict(NEW)[clear], (joint @ sets > 0.5)[clear])


def test_a_wide_beam_is_exact_and_a_beam_of_one_is_the_greedy_walk():
    exact = ProbabilisticChain(LogisticRegression()).fit(X, Y)
    wide = ProbabilisticChain(LogisticRegression(), exact_labels=0, beam_width=16).fit(X, Y)
    np.testing.assert_array_equal(wide.predict(NEW), exact.predict(NEW))
    np.testing.assert_allclose(wide._search(NEW)[1], exact.predict_proba(NEW), atol=1e-9)
    narrow = ProbabilisticChain(LogisticRegression(), exact_labels=0, beam_width=1).fit(X, Y)
    greedy = ClassifierChain(LogisticRegression()).fit(X, Y)
    np.testing.assert_array_equal(narrow.predict(NEW), greedy.predict(NEW))


def test_sampled_probabilities_approach_the_exact_ones():
    exact = ProbabilisticChain(LogisticRegression()).fit(X, Y).predict_proba(NEW)
    model = ProbabilisticChain(
        LogisticRegression(), exact_labels=0, n_samples=4000, random_state=0
    ).fit(X, Y)
    assert np.abs(model.predict_proba(NEW) - exact).max() < 0.03
    np.testing.assert_array_equal(model.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_array_equal(model.predict_proba(NEW[5:6]), model.predict_proba(NEW)[5:6])
