"""Equations 2, 3 and 4 of the paper, proved on what people call: classifier and rescorer.

The worlds are small enough to enumerate. Label sets have counts that are powers of two,
``2 ** (a · labels + labels' B labels / 2)``, so that p(label | other labels) is known exactly: its
log-odds are ``ln 2 · (a + B labels)``, a sum over the other labels. A document depends on one label
alone, the target; then the paper's assumption (equation 1) holds for it, and Bayes' rule on the
enumerated joint distribution is what the posterior must be.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin

from labelkin import LabelDependenceClassifier, LabelRescorer, LogisticLabels, SVMLabels

P = 3
SETS = np.array(list(product([0, 1], repeat=P)))
seeds = st.integers(0, 10**6)
laws = settings(max_examples=15, deadline=None)


class GivenContent(ClassifierMixin, BaseEstimator):
    """Content evidence that is handed over: a document is its log-odds."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def log_odds(self, X):
        return np.array(X, dtype=float)

    def predict_proba(self, X):
        return expit(self.log_odds(X))


class CountedLabels(BaseEstimator):
    """p(label | other labels) read off the training label sets, by counting.

    Probabilities as inputs count every label set by how probable it is: the mean log-odds.
    """

    def fit(self, Y, sample_weight=None):
        rows = np.asarray(Y)
        count = np.ones(len(rows)) if sample_weight is None else sample_weight
        self.sets_ = np.array(list(product([0, 1], repeat=rows.shape[1])))
        self.log_odds_ = np.empty(self.sets_.shape)
        for i, j in np.ndindex(*self.sets_.shape):
            same = np.delete(rows == self.sets_[i], j, axis=1).all(axis=1)
            yes, no = (count[same & (rows[:, j] == value)].sum() for value in (1, 0))
            self.log_odds_[i, j] = np.log(yes) - np.log(no)
        return self

    def log_odds(self, L):
        result = np.zeros(L.shape)
        for one, log_odds in zip(self.sets_, self.log_odds_, strict=True):
            chance = np.where(one == 1, L, 1 - L)
            for j in range(L.shape[1]):  # both values of label j itself have the same log-odds
                result[:, j] += np.delete(chance, j, axis=1).prod(axis=1) * log_odds[j] / 2
        return result


class LinearLabels(BaseEstimator):
    """p(label | other labels) as a sum over the other labels, with weights that are given."""

    def __init__(self, weights, bias):
        self.weights = weights
        self.bias = bias

    def fit(self, Y, sample_weight=None):
        self.weights_, self.bias_ = np.array(self.weights), np.array(self.bias)
        return self

    def log_odds(self, L):
        return L @ self.weights_ + self.bias_


class World:
    """Label sets with their counts; their probabilities by enumeration."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        upper = np.triu(rng.integers(-1, 2, size=(P, P)), k=1)
        self.B = upper + upper.T
        self.a = rng.integers(-1, 2, size=P)
        power = SETS @ self.a + np.einsum("si,ij,sj->s", SETS, upper, SETS)
        self.count = 2 ** (power - power.min())
        self.Y = np.repeat(SETS, self.count, axis=0)
        self.prior = logit(self.Y.mean(axis=0))
        self.rng = rng

    def label_classifier(self, kind):
        if kind == "counted":
            return CountedLabels()
        return LinearLabels(np.log(2) * self.B, np.log(2) * self.a)

    def label_evidence(self, labels):
        """Log-odds of every label given the others, 0 and 1 or probabilities; by the formula."""
        return np.log(2) * (self.a + labels @ self.B)

    def documents(self, j, n_kinds=4):
        """Documents that depend on label j alone: content log-odds of label j, and Bayes' rule.

        Returns p(label j | document) as log-odds, ``(n_kinds,)``, and p(label j | document, other
        labels) as log-odds, ``(n_kinds, n_sets)``, for every label set's other labels.
        """
        p_kind = self.rng.dirichlet(np.ones(n_kinds), size=2)  # given label j
        joint = (self.count / self.count.sum())[:, None] * p_kind[SETS[:, j]]
        yes = SETS[:, j] == 1
        content = np.log(joint[yes].sum(axis=0)) - np.log(joint[~yes].sum(axis=0))
        exact = np.empty((n_kinds, len(SETS)))
        for s, labels in enumerate(SETS):
            others = (np.delete(labels == SETS, j, axis=1)).all(axis=1)
            exact[:, s] = np.log(joint[others & yes].sum(axis=0)) - np.log(
                joint[others & ~yes].sum(axis=0)
            )
        return content, exact


def by_rescorer(labels, variant, weight, Y, content, known=None):
    model = LabelRescorer(labels, variant=variant, evidence_weight=weight, scale="log_odds").fit(Y)
    return model.rescore(content, known)


def by_rescored_probabilities(labels, variant, weight, Y, content, known=None):
    model = LabelRescorer(labels, variant=variant, evidence_weight=weight, clip=0.0).fit(Y)
    return logit(model.rescore(expit(content), known))


def by_classifier(labels, variant, weight, Y, content, known=None):
    model = LabelDependenceClassifier(
        GivenContent(), labels=labels, variant=variant, evidence_weight=weight
    )
    probability = model.fit(np.zeros(Y.shape), Y).predict_proba(content, known)
    same(expit(model.log_odds(content, known)), probability)
    return logit(probability)


#: What people call, from content log-odds to the posterior's.
DOORS = [by_rescorer, by_rescored_probabilities, by_classifier]
every_door = pytest.mark.parametrize("door", DOORS)
every_kind = pytest.mark.parametrize("kind", ["counted", "linear"])
every_variant = pytest.mark.parametrize("variant", ["hard", "soft"])
ours = pytest.mark.parametrize("labels", [LogisticLabels(), SVMLabels()], ids=["logistic", "svm"])


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def sure(labels, rng):
    """Content log-odds that decide for the labels."""
    return np.where(labels == 1, 1.0, -1.0) * rng.uniform(0.1, 4.0, labels.shape)


@every_door
@every_kind
@pytest.mark.parametrize("seed", range(5))
def test_posterior_equals_bayes_rule_on_enumerated_distribution(door, kind, seed):
    world = World(seed)
    for j in range(P):
        of_kind, exact = world.documents(j)
        content = np.tile(sure(SETS, world.rng), (len(of_kind), 1))
        content[:, j] = np.repeat(of_kind, len(SETS))
        posterior = door(world.label_classifier(kind), "hard", 1.0, world.Y, content)
        same(posterior[:, j], exact.ravel())


@every_door
@every_kind
@every_variant
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_posterior_with_all_other_labels_known_equals_bayes_rule(door, kind, variant, weight):
    """Known labels do not depend on the variant; a fixed weight also applies to them."""
    world = World(7)
    for j in range(P):
        of_kind, exact = world.documents(j)
        content = world.rng.normal(size=(exact.size, P))
        content[:, j] = np.repeat(of_kind, len(SETS))
        known = np.tile(SETS, (len(of_kind), 1)).astype(float)
        known[:, j] = np.nan
        labels = world.label_classifier(kind)
        posterior = door(labels, variant, weight, world.Y, content, known)
        by_labels = exact.ravel() - content[:, j]
        same(posterior[:, j], content[:, j] + weight * by_labels)


def test_logistic_labels_on_complete_distribution_give_bayes_rule():
    """A thousand million documents make its prior count nothing."""
    world = World(3)
    for j in range(P):
        of_kind, exact = world.documents(j)
        content = np.tile(sure(SETS, world.rng), (len(of_kind), 1))
        content[:, j] = np.repeat(of_kind, len(SETS))
        model = LabelRescorer(
            LogisticLabels(tol=1e-15), variant="hard", evidence_weight=1.0, scale="log_odds"
        )
        model.fit(SETS, sample_weight=world.count * 1e9)
        np.testing.assert_allclose(model.rescore(content)[:, j], exact.ravel(), atol=1e-6)


@every_door
@every_kind
def test_posterior_differs_if_content_repeats_other_labels(door, kind):
    """Break the assumption: the content is what the other labels say. Then it is counted twice.

    Bayes' rule gives the label evidence alone; the posterior is off by exactly that evidence.
    """
    world = World(5)
    exact = world.label_evidence(SETS)
    for j in range(P):
        content = sure(SETS, world.rng)
        content[:, j] = exact[:, j]
        labels = world.label_classifier(kind)
        twice = door(labels, "hard", 1.0, world.Y, content)[:, j]
        same(twice - exact[:, j], exact[:, j] - world.prior[j])
        same(door(labels, "hard", 0.0, world.Y, content)[:, j], exact[:, j])


@every_door
@every_kind
@every_variant
def test_label_evidence_equal_to_the_prior_changes_nothing(door, kind, variant):
    world = World(0)
    world.B, world.a = np.zeros((P, P)), np.array([1, -1, 0])
    world.Y = np.repeat(SETS, (2.0 ** (2 + SETS @ world.a)).astype(int), axis=0)
    content = world.rng.normal(size=(9, P))
    same(door(world.label_classifier(kind), variant, 1.0, world.Y, content), content)


@every_door
@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_hard_variant_fills_in_decisions_and_one_half_is_1(door, kind, seed):
    world = World(seed)
    content = sure(SETS, world.rng)
    content[SETS == 1] = 0.0  # a probability of ½, to the bit
    expected = content + world.label_evidence(SETS) - world.prior
    same(door(world.label_classifier(kind), "hard", 1.0, world.Y, content), expected)


@every_door
@every_kind
@every_variant
def test_own_filled_in_label_is_not_used(door, kind, variant):
    world = World(19)
    content = world.rng.normal(size=(10, P))
    labels = world.label_classifier(kind)
    before = door(labels, variant, 1.0, world.Y, content)
    for j in range(P):
        moved = content.copy()
        moved[:, j] = -2 * content[:, j] + 1
        after = door(labels, variant, 1.0, world.Y, moved)
        same(after[:, j] - before[:, j], moved[:, j] - content[:, j])


@every_door
@ours
@every_variant
@pytest.mark.parametrize("weight", [0.4, 1.0])
def test_constant_labels_keep_their_content(door, labels, variant, weight):
    world = World(23)
    ones = np.ones((len(world.Y), 1), dtype=int)
    Y = np.hstack([0 * ones, world.Y, ones])
    content = world.rng.normal(size=(10, P + 2))
    posterior = door(labels, variant, weight, Y, content)
    same(posterior[:, [0, -1]], content[:, [0, -1]])
    assert np.abs(posterior - content)[:, 1:-1].max() > 0.01


@every_door
@every_kind
@every_variant
@laws
@given(seed=seeds, weight=st.floats(0, 2))
def test_equations_hold_for_random_distributions(door, kind, variant, seed, weight):
    world = World(seed)
    content = 3 * world.rng.normal(size=(6, P))
    filled = content >= 0 if variant == "hard" else expit(content)
    expected = content + weight * (world.label_evidence(filled) - world.prior)
    same(door(world.label_classifier(kind), variant, weight, world.Y, content), expected)


@every_kind
@every_variant
@laws
@given(seed=seeds)
def test_all_estimators_return_the_same_posterior(kind, variant, seed):
    world = World(seed)
    content = world.rng.normal(size=(6, P))
    first, *others = (
        door(world.label_classifier(kind), variant, 1.0, world.Y, content) for door in DOORS
    )
    for posterior in others:
        same(posterior, first)
