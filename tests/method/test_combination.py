"""The combination against worlds small enough to enumerate."""

import numpy as np
import pytest
from scipy.special import expit, logit

from labelkin.learned.terms import Combination, KnownLabels, PaperEvidence, PredictedLabels
from labelkin.method.combination import decided_labels, probable_labels


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


def test_known_labels_replace_predictions_with_the_same_weight():
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


def test_evidence_that_is_not_linear_gets_known_labels():
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
