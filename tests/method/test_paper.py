"""The paper's classifier, against definitions that do not share its code."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PaperClassifier,
    PlattSVM,
    SVMLabels,
    corpora,
    load,
    save,
)
from labelkin.text import WordCounts

CONTENTS = [NaiveBayes(), NearestNeighbours(), PlattSVM(random_state=0)]
LABELS = [LogisticLabels(), SVMLabels()]
VARIANTS = ["soft", "hard"]


@pytest.fixture(scope="module")
def newsroom():
    news = corpora.newsroom(400, seed=0)
    X = WordCounts().fit_transform(news.documents, news.Y)
    train, test = news.train, news.test
    return X[train], np.asarray(news.Y)[train], X[test]


def known_of(n_documents, n_labels):
    known = np.full((n_documents, n_labels), np.nan)
    known[::2, 0], known[1::3, 1] = 1, 0
    return known


@pytest.mark.parametrize("content", CONTENTS, ids=repr)
@pytest.mark.parametrize("labels", LABELS, ids=repr)
@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_label_dependence_classifier_with_weight_1(newsroom, content, labels, variant):
    X, Y, new = newsroom
    paper = PaperClassifier(content, labels, variant).fit(X, Y)
    general = LabelDependenceClassifier(
        content, labels=labels, variant=variant, evidence_weight=1
    ).fit(X, Y)
    for known in (None, known_of(new.shape[0], Y.shape[1])):
        np.testing.assert_allclose(
            paper.log_odds(new, known), general.log_odds(new, known), rtol=0, atol=1e-12
        )
        assert (paper.predict(new, known) == general.predict(new, known)).all()


def test_equals_label_dependence_classifier_for_label_classifiers_that_are_not_linear(newsroom):
    X, Y, new = newsroom
    labels = DecisionTreeClassifier(max_depth=3, random_state=0)
    paper = PaperClassifier(NaiveBayes(), labels).fit(X, Y)
    general = LabelDependenceClassifier(NaiveBayes(), labels=labels, evidence_weight=1).fit(X, Y)
    for known in (None, known_of(new.shape[0], Y.shape[1])):
        np.testing.assert_allclose(
            paper.log_odds(new, known), general.log_odds(new, known), rtol=0, atol=1e-12
        )


def test_posterior_is_the_quotient_of_equation_2(newsroom):
    X, Y, new = newsroom
    model = PaperClassifier(NearestNeighbours(), "logistic", "hard").fit(X, Y)
    content = expit(model.content_.log_odds(new))
    label = model.labels_.predict_proba((content >= 0.5).astype(float))
    prior = Y.mean(axis=0)
    yes = content * label / prior
    no = (1 - content) * (1 - label) / (1 - prior)
    varies = (prior > 0) & (prior < 1)
    found = model.predict_proba(new)
    np.testing.assert_allclose(found[:, varies], (yes / (yes + no))[:, varies], rtol=1e-9)


def test_constant_labels_keep_their_content_evidence():
    X, Y = np.eye(6), np.array([[0, 1, i % 2, i > 2] for i in range(6)], dtype=float)
    model = PaperClassifier("naive_bayes").fit(X, Y)
    content = model.content_.log_odds(X)
    np.testing.assert_array_equal(model.log_odds(X)[:, :2], content[:, :2])
    assert (model.log_odds(X)[:, 2:] != content[:, 2:]).any()


def test_one_label_has_no_other_labels():
    X, Y = np.eye(6), np.array([[1], [0], [1], [0], [1], [0]])
    model = PaperClassifier("naive_bayes").fit(X, Y)
    np.testing.assert_array_equal(model.log_odds(X), model.content_.log_odds(X))


def test_saved_model_returns_the_same_log_odds(newsroom, tmp_path):
    X, Y, new = newsroom
    model = make_pipeline(MaxAbsScaler(), PaperClassifier("svm", "svm", "hard")).fit(X, Y)
    again = load(save(model, tmp_path / "paper.labelkin"))
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))


def test_sample_weight_equals_repeated_documents():
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(1.0, (40, 6)).astype(float), rng.integers(0, 2, (40, 3))
    times = rng.integers(1, 4, 40)
    weighted = PaperClassifier("naive_bayes").fit(X, Y, sample_weight=times)
    repeated = PaperClassifier("naive_bayes").fit(np.repeat(X, times, 0), np.repeat(Y, times, 0))
    np.testing.assert_allclose(weighted.log_odds(X), repeated.log_odds(X), rtol=1e-6, atol=1e-7)


def test_unknown_variant_and_candidates_are_errors():
    X, Y = np.eye(6), np.array([[i % 2, i > 2, i < 2] for i in range(6)])
    with pytest.raises(ValueError, match="variant must be 'soft' or 'hard', got 'M2'"):
        PaperClassifier("naive_bayes", variant="M2").fit(X, Y)
    model = PaperClassifier(NaiveBayes(top=1)).fit(X, Y)
    with pytest.raises(ValueError, match="content must return the log-odds of all labels"):
        model.predict(X)


def test_scikit_learn_classifiers_as_content_and_labels():
    X = sparse.csr_array(np.random.default_rng(0).random((60, 5)))
    Y = (X.toarray()[:, :3] > 0.5).astype(int)
    model = PaperClassifier(LogisticRegression(), LogisticRegression()).fit(X, Y)
    assert np.isfinite(logit(model.predict_proba(X))).all()
