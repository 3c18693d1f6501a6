"""The combination against worlds small enough to enumerate."""

import numpy as np
import pytest
from scipy.special import expit, logit

from labelkin.learned.terms import Combination, KnownLabels, PaperEvidence, PredictedLabels
from labelkin.method.combination import combine, decided_labels, probable_labels


class Table:
    """Label evidence read off an enumerated world."""

    def __init__(self, log_odds):
        self.table = log_odds

    def log_odds(self, L):
        return self.table(L)


class Linear:
    """Label evidence with weights to look at."""

    def __init__(self, weights, bias):
        self.weights_, self.bias_ = np.asarray(weights, float), np.asarray(bias, float)

    def log_odds(self, L):
        return L @ self.weights_ + self.bias_


def world(seed, n_documents=3, n_others=4):
    """p(label, document, other labels) that satisfies the paper's assumption (equation 1)."""
    rng = np.random.default_rng(seed)
    p_label = rng.dirichlet(np.ones(2))
    p_document = rng.dirichlet(np.ones(n_documents), size=2)  # given the label
    p_others = rng.dirichlet(np.ones(n_others), size=2)  # given the label
    return np.einsum("y,yd,yo->ydo", p_label, p_document, p_others)


def evidence(joint):
    """Content evidence, label evidence and prior of a world, as log-odds."""
    content = logit(joint.sum(axis=2)[1] / joint.sum(axis=(0, 2)))
    label = logit(joint.sum(axis=1)[1] / joint.sum(axis=(0, 1)))
    return content[:, None], label[None, :], logit(joint[1].sum())


@pytest.mark.parametrize("seed", range(20))
def test_combination_equals_bayes_rule_on_an_enumerated_world(seed):
    joint = world(seed)
    exact = joint[1] / joint.sum(axis=0)
    np.testing.assert_allclose(expit(combine(*evidence(joint))), exact, rtol=1e-12)


def test_the_posterior_departs_where_content_repeats_the_other_labels():
    """Break the assumption: the content is a copy of the other labels. Then it is counted twice.

    The exact posterior is the label evidence alone; the combination adds the same evidence again,
    so its log-odds are off by exactly that evidence, (logit Q − logit prior).
    """
    rng = np.random.default_rng(0)
    joint = np.zeros((2, 4, 4))
    joint[:, np.arange(4), np.arange(4)] = rng.dirichlet(np.ones(8)).reshape(2, 4)
    content, label, prior = evidence(joint)
    exact = logit(np.diagonal(joint[1]) / np.diagonal(joint.sum(axis=0)))
    combined = np.diagonal(combine(content, label, prior))
    np.testing.assert_allclose(combined - exact, label[0] - prior, rtol=1e-10)
    np.testing.assert_allclose(content[:, 0], exact)


def test_label_evidence_equal_to_the_prior_changes_nothing():
    content = np.random.default_rng(1).normal(size=(5, 3))
    prior = np.array([0.2, 0.5, 0.9])
    rule = combination(Table(lambda L: np.tile(logit(prior), (len(L), 1))), prior)
    np.testing.assert_array_equal(rule.posterior(content), content)


def test_combination_is_the_printed_quotient():
    rng = np.random.default_rng(2)
    P, Q, prior = rng.uniform(0.01, 0.99, (3, 4, 5))
    printed = P * Q / prior / (P * Q / prior + (1 - P) * (1 - Q) / (1 - prior))
    np.testing.assert_allclose(expit(combine(logit(P), logit(Q), logit(prior))), printed)


def test_hard_counts_equality_as_yes_and_soft_keeps_the_probability():
    content = np.array([[-1.0, 0.0, 2.0]])
    np.testing.assert_array_equal(decided_labels(content), [[0, 1, 1]])
    np.testing.assert_allclose(probable_labels(content), expit(content))


def combination(labels, prior, variant=probable_labels, weight=1.0):
    prior = np.asarray(prior)
    constant = (prior <= 0) | (prior >= 1)
    paper = PaperEvidence(labels, prior, logit(np.clip(prior, 0.01, 0.99)), constant)
    return Combination(PredictedLabels(paper, variant, weight), KnownLabels(paper, weight))


def linear(seed, p=4):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(p, p))
    np.fill_diagonal(weights, 0)
    return Linear(weights, rng.normal(size=p)), rng.uniform(0.1, 0.9, p), rng.normal(size=(6, p))


@pytest.mark.parametrize("variant", [decided_labels, probable_labels])
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_all_other_labels_known_is_equation_2_with_the_same_weight(variant, weight):
    labels, prior, content = linear(3)
    truth = (np.random.default_rng(4).random(content.shape) < 0.5).astype(float)
    expected = content + weight * (labels.log_odds(truth) - logit(prior))
    rule = combination(labels, prior, variant, weight)
    for j in range(content.shape[1]):
        known = truth.copy()
        known[:, j] = np.nan
        np.testing.assert_allclose(rule.posterior(content, known)[:, j], expected[:, j])


def test_known_labels_stay_known_and_the_others_respond():
    labels, prior, content = linear(5)
    known = np.full(content.shape, np.nan)
    known[:, 0], known[2, 1] = 1, 0
    posterior = combination(labels, prior).posterior(content, known)
    assert (posterior[:, 0] == np.inf).all()
    assert posterior[2, 1] == -np.inf
    assert np.isfinite(posterior[:, 2:]).all()
    assert (posterior[:, 2] != combination(labels, prior).posterior(content)[:, 2]).all()


def test_known_labels_take_the_place_of_their_predictions_and_count_the_same_weight():
    labels, prior, content = linear(6)
    known = np.full(content.shape, np.nan)
    known[:, 1], known[3:, 0] = 1, 0
    filled = np.where(np.isnan(known), expit(content), known)
    expected = content + 0.25 * (labels.log_odds(filled) - logit(prior))
    posterior, parts = combination(labels, prior, weight=0.25).decompose(content, known)
    is_open = np.isnan(known)
    np.testing.assert_allclose(posterior[is_open], expected[is_open])
    predicted = 0.25 * (labels.log_odds(expit(content)) - logit(prior))
    np.testing.assert_allclose(parts[2].log_odds, predicted)
    np.testing.assert_allclose(
        parts[3].log_odds[is_open], (expected - content - predicted)[is_open]
    )


def test_nothing_known_is_the_same_as_all_open():
    labels, prior, content = linear(7)
    rule = combination(labels, prior, weight=0.4)
    open_labels = np.full(content.shape, np.nan)
    np.testing.assert_array_equal(rule.posterior(content), rule.posterior(content, open_labels))
    one_known = open_labels.copy()
    one_known[0, 0] = (
        1  # the other documents have no known labels, and go the other way through the code
    )
    np.testing.assert_allclose(rule.posterior(content, one_known)[1:], rule.posterior(content)[1:])


def test_evidence_that_is_not_linear_is_asked_with_known_labels_filled_in():
    prior, content = np.array([0.3, 0.5, 0.6]), np.array([[0.4, -1.0, 0.2]])

    def agreement(L):
        return logit(prior) + np.prod(L, axis=1, keepdims=True) ** 2

    rule = combination(Table(agreement), prior, weight=0.5)
    known = np.array([[1, np.nan, np.nan]])
    filled = expit(content)
    predicted = 0.5 * np.prod(filled) ** 2
    expected = 0.5 * np.prod(filled[0, 1:]) ** 2
    posterior, parts = rule.decompose(content, known)
    np.testing.assert_allclose(posterior[0, 1:], content[0, 1:] + expected)
    np.testing.assert_allclose(parts[2].log_odds[0], predicted)
    np.testing.assert_allclose(parts[3].log_odds[0], expected - predicted)


def test_labels_that_none_or_all_have_keep_their_content():
    prior = np.array([0.0, 1.0, 0.5])
    labels = Linear(np.ones((3, 3)) - np.eye(3), np.zeros(3))
    rule = combination(labels, prior)
    content = np.array([[0.3, -0.2, 0.1]])
    for known in (None, np.array([[np.nan, np.nan, 1]]), np.array([[1, np.nan, np.nan]])):
        posterior = rule.posterior(content, known)
        is_open = [True] * 3 if known is None else np.isnan(known)[0]
        np.testing.assert_array_equal(posterior[0, :2][is_open[:2]], content[0, :2][is_open[:2]])
