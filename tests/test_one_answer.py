"""The same result from every function and interface."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import labelkin
from labelkin import LabelDependenceClassifier, LogisticLabels, NaiveBayes, Rules
from labelkin.corpora import Documents
from labelkin.prediction.fitted_model import answer_batches, fitted_model
from labelkin.text import WordCounts
from labelkin.thresholds import LabelLimits, PCut, SCut, SCutFBR
from labelkin.vocabulary import BoundRules

rng = np.random.default_rng(1)
X = rng.poisson(1.0, (80, 20)).astype(float)
Z = X @ rng.normal(size=(20, 6))
Y = (np.quantile(Z, 0.6, axis=0) < Z).astype(int)
Y[:, 1] |= Y[:, 0]
TEXTS = [" ".join(f"word{j}" for j in range(20) for _ in range(int(row[j]))) for row in X]


def model(**parameters):
    return LabelDependenceClassifier(NaiveBayes(), **parameters)


def test_variant_that_needs_a_batch_raises():
    with pytest.raises(ValueError, match=r"decides each document separately, got PCut\(\)"):
        model(variant=PCut()).fit(X, Y)


@pytest.mark.parametrize("variant", [SCutFBR(), LabelLimits("micro_f1", at_least=1)])
def test_prediction_does_not_depend_on_the_batch(variant):
    fitted = model(variant=variant, evidence_weight=1.0).fit(X, Y)
    alone = np.vstack([fitted.log_odds(X[i : i + 1]) for i in range(10)])
    np.testing.assert_allclose(alone, fitted.log_odds(X)[:10], atol=1e-10)


def test_calibrated_probabilities_are_the_same_everywhere():
    pipeline = make_pipeline(WordCounts(min_documents=1, stem=False), model(calibrate=True))
    pipeline.fit(TEXTS, Y)
    expected = pipeline.predict_proba(TEXTS[:3])
    classifier, vectors = pipeline[-1], pipeline[:-1].transform(TEXTS[:3])
    for i, suggestions in enumerate(classifier.suggest(vectors)):
        assert [s.probability for s in suggestions] == [expected[i, s.label] for s in suggestions]
    documents = Documents([t + "\n" for t in TEXTS[:3]], "text")
    [answers] = answer_batches(fitted_model(pipeline), documents, batch=10)
    np.testing.assert_allclose([a.probabilities for a in answers], expected)


@pytest.mark.parametrize("y", [Y[:, 0], Y[:, 0] + Y[:, 1]])
def test_classes_are_not_calibrated_label_by_label(y):
    with pytest.raises(ValueError, match="requires a label matrix, got a 1-d y"):
        model(calibrate=True).fit(X, y)


def test_calibration_with_rules_raises():
    with pytest.raises(ValueError, match="would break the rules"):
        model(calibrate=True, rules=Rules(implies=[(0, 1)])).fit(X, Y)


@pytest.mark.parametrize(
    "parameters", [{"thresholds": SCut()}, {"calibrate": True}, {"variant": SCut()}]
)
def test_documents_of_weight_0_equal_absent_ones(parameters):
    weight = (np.arange(80) < 40).astype(float)
    flipped = np.where(np.arange(80)[:, None] < 40, Y, 1 - Y)
    answers = []
    with sklearn.config_context(enable_metadata_routing=True):
        for labels in (Y, flipped):
            fitted = clone(model(labels=LogisticLabels(), **parameters)).set_params(
                content=NaiveBayes().set_fit_request(sample_weight=True),
                labels=LogisticLabels().set_fit_request(sample_weight=True),
            )
            fitted.fit(X, labels, sample_weight=weight)
            answers.append((fitted.predict_proba(X), fitted.predict(X)))
    np.testing.assert_allclose(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])


def test_labels_implied_by_rules_are_not_suggested():
    rules = Rules(implies=[(0, 1)], exclusive=[(1, 2)])
    fitted = model(rules=rules).fit(X, np.where(Y[:, [1]] == 1, Y * [1, 1, 0, 1, 1, 1], Y))
    suggested = {s.label for s in fitted.suggest(X[:1], known={"accepted": [0]})[0]}
    assert suggested == {3, 4, 5}


@pytest.mark.parametrize(
    ("columns", "message"),
    [({"implies": ((0, 1), (1, 0))}, "circle"), ({"groups": ((0, 99),)}, "6 labels")],
)
def test_model_file_with_invalid_rules_raises(columns, message, tmp_path):
    fitted = model(rules=Rules(implies=[(0, 1)])).fit(X, Y)
    parts = {"groups": (), "implies": (), **columns}
    fitted.rescorer_.rules_ = BoundRules(fitted.label_names_, parts["groups"], parts["implies"])
    with pytest.raises(ValueError, match=message):
        labelkin.load(labelkin.save(fitted, tmp_path / "model.labelkin"))
