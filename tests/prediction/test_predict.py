"""Documents → answers, batch by batch."""

import pickle

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NaiveBayes
from labelkin.corpora import Documents
from labelkin.label_matrix import to_dense
from labelkin.prediction.fitted_model import Choice, answer_batches, fitted_model
from labelkin.text import WordCounts
from labelkin.thresholds import FixedCut, LabelLimits

TEXTS = ["tea sugar", "tea", "milk", "milk sugar"]


@pytest.fixture(scope="module")
def model():
    words = WordCounts(min_documents=1, stem=False)
    labels = [{"tea", "sweet"}, {"tea"}, {"milk"}, {"milk", "sweet"}]
    return fitted_model(make_pipeline(words, NaiveBayes()).fit(TEXTS, labels))


def test_answers_are_the_same_in_batches_of_any_size(model):
    documents = Documents([f"{text}\n" for text in TEXTS], "text")
    [whole] = answer_batches(model, documents)
    single = [answer for batch in answer_batches(model, documents, batch=1) for answer in batch]
    assert [answer.id for answer in whole] == [answer.id for answer in single] == [1, 2, 3, 4]
    for one, other in zip(whole, single, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities)
        np.testing.assert_array_equal(one.given, other.given)


def test_labels_are_sorted_by_probability_and_limited(model):
    documents = Documents([f"{text}\n" for text in TEXTS], "text")
    [unlimited] = answer_batches(model, documents)
    [limited] = answer_batches(model, documents, choice=Choice(limit=1))
    assert max(len(answer.given) for answer in unlimited) == 2
    for all_given, first in zip(unlimited, limited, strict=True):
        np.testing.assert_array_equal(all_given.given[:1], first.given)
        assert (np.diff(all_given.probabilities[all_given.given]) <= 0).all()
    with pytest.raises(ValueError, match="at_least must not be above 1, the maximum, got 2"):
        answer_batches(model, documents, choice=Choice(limit=1, at_least=2))


@pytest.mark.parametrize("choice", [Choice(), Choice(top=2), Choice(threshold=0.01, at_least=1)])
@pytest.mark.parametrize("top", [None, 2])
def test_only_allowed_labels_are_assigned(top, choice):
    rule = LabelLimits(FixedCut(0.5), at_least=1)
    classifier = LabelDependenceClassifier(NaiveBayes(top=top), thresholds=rule)
    words = WordCounts(min_documents=1, stem=False)
    labels = [{"tea", "sweet"}, {"tea"}, {"milk"}, {"milk", "sweet"}]
    model = fitted_model(make_pipeline(words, classifier).fit(TEXTS * 3, labels * 3))
    documents = Documents([f"{text}\n" for text in TEXTS], "text")
    allowed = np.isin(model.labels, ["milk", "tea"])
    [part] = answer_batches(model, documents, choice=choice, allowed=allowed)
    [whole] = answer_batches(model, documents, choice=Choice(threshold=0))
    log_odds = to_dense(model.scores(TEXTS))[:, allowed]
    assert any(len(answer.given) for answer in part)
    for answer, every, row in zip(part, whole, log_odds, strict=True):
        np.testing.assert_array_equal(answer.probabilities, every.probabilities[allowed])
        assert np.isfinite(row[answer.given]).all()  # only candidates are assigned
        assert (np.diff(row[answer.given]) <= 0).all()
        assert len(answer.given) >= min(1, np.isfinite(row).sum())
    if top is not None:
        assert np.isneginf(log_odds).any()


def test_id_with_a_line_break_is_an_error(model):
    documents = Documents(['{"text": "a", "id": "1\\n2"}'], "jsonl", name="f")
    with pytest.raises(ValueError, match=r"f, line 1: an id must be on one line, got '1\\n2'"):
        list(answer_batches(model, documents))


class TestFittedModel:
    """Posterior, scores and reasons of a fitted model equal those of its parts."""

    @pytest.fixture
    def pipeline(self):
        words = WordCounts(min_documents=1, stem=False)
        labels = [{"tea", "sweet"}, {"tea"}, {"milk"}, {"milk", "sweet"}]
        classifier = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1)
        return make_pipeline(words, classifier).fit(TEXTS, labels)

    @pytest.fixture
    def fitted(self, pipeline):
        return fitted_model(pipeline)

    def test_posterior_equals_that_of_the_classifier(self, fitted, pipeline):
        texts = ["tea", "milk sugar"]
        expected = pipeline[-1].posterior(pipeline[:-1].transform(texts))
        found = fitted.posterior(fitted.content(texts))
        np.testing.assert_array_equal(found.log_odds, expected.log_odds)
        np.testing.assert_array_equal(found.log_odds, fitted.scores(texts))
        assert found.decisions().tolist() == expected.decisions().tolist()

    def test_other_rescorer_replaces_the_label_evidence(self, fitted):
        more = fitted.classifier.rescorer_.learn_more([{"tea", "milk"}] * 5)
        content = fitted.content(["tea sugar"])
        found = fitted.posterior(content, rescorer=more).log_odds
        np.testing.assert_array_equal(found, more.rescore(content.log_odds))

    def test_reasons_name_their_terms(self, fitted):
        [[one]] = fitted.reasons(fitted.vectors(["tea sugar"]), ["tea"], top=2)
        assert {term.term for term in one.terms} <= {"tea", "sugar"}

    def test_known_words_are_counted(self, fitted):
        assert fitted.content(["tea sugar zzyzx", ""]).n_words.tolist() == [2, 0]

    def test_pickled_copy_returns_the_same_scores(self, fitted):
        before = fitted.scores(["tea"])
        copy = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(copy.scores(["tea"]), before)
