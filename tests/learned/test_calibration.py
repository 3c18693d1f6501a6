"""Calibrated probabilities: honest, and nothing else changes."""

import numpy as np
from sklearn.base import clone

from labelkin import LabelDependenceClassifier, NaiveBayes
from labelkin.evaluation import metrics

rng = np.random.default_rng(0)
TOPICS = (rng.random((900, 4)) < 0.3).astype(int)
# Copies of the same word: naive Bayes takes each for news, and is far too sure.
WORDS = np.repeat(rng.poisson(0.5 + 0.7 * TOPICS), 6, axis=1)
X, Y, X_NEW, Y_NEW = WORDS[:600], TOPICS[:600], WORDS[600:], TOPICS[600:]
PLAIN = LabelDependenceClassifier(NaiveBayes()).fit(X, Y)
HONEST = clone(PLAIN).set_params(calibrate=True).fit(X, Y)


def error(model):
    probability = model.predict_proba(X_NEW)
    return metrics.evaluate(Y_NEW, np.log(probability / (1 - probability)))[
        "expected_calibration_error"
    ]


def test_overconfident_classifier_becomes_calibrated():
    assert error(HONEST) < error(PLAIN) / 2


def test_calibration_changes_neither_log_odds_nor_decisions():
    np.testing.assert_array_equal(HONEST.log_odds(X_NEW), PLAIN.log_odds(X_NEW))
    np.testing.assert_array_equal(HONEST.predict(X_NEW), PLAIN.predict(X_NEW))


def test_suggestions_and_explanations_have_the_same_probability():
    probability = HONEST.predict_proba(X_NEW[:5])
    explained = HONEST.explain(X_NEW[:5], top=4)
    for i, suggestions in enumerate(HONEST.suggest(X_NEW[:5])):
        for suggestion in suggestions:
            assert suggestion.probability == probability[i, suggestion.label]
        for one in explained[i]:
            assert abs(one.probability - probability[i, one.label]) < 1e-12
