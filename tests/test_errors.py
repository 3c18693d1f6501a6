"""Messages for invalid input: rule, value received and hint."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

from labelkin import (
    LabelDependenceClassifier,
    NaiveBayes,
    NearestNeighbours,
    PerLabel,
    PlattSVM,
)
from labelkin.content import MultilabelContent, cross_val_log_odds

X = np.array([[1.0, 0], [0, 1], [1, 1], [2, 0]])
Y = np.array([[1, 0], [0, 1], [1, 1], [1, 0]])
CLASSIFIERS = [
    LabelDependenceClassifier(),
    NaiveBayes(),
    NearestNeighbours(),
    PlattSVM(),
    PerLabel(LogisticRegression()),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
class TestEveryClassifier:
    def test_different_numbers_of_documents_and_labels_raise(self, model):
        with pytest.raises(
            ValueError, match=r"same number of documents.*X has 4, y has shape \(3, 2\)"
        ):
            model.fit(X, Y[:3])

    def test_masked_features_are_rejected(self, model):
        masked = np.ma.array(X, mask=X == 2)
        with pytest.raises(ValueError, match=r"X must not have masked values, got 1 of 8\. Fill"):
            model.fit(masked, Y)
        with pytest.raises(ValueError, match="X must not have masked values"):
            model.fit(X, Y).predict(masked)

    def test_no_labels_raise(self, model):
        with pytest.raises(ValueError, match=r"at least one label, got shape \(4, 0\).*0/1 matrix"):
            model.fit(X, [[], [], [], []])

    def test_unknown_label_names_in_y_are_listed_when_scoring(self, model):
        model.fit(X, [["a"], ["b"], ["a", "b"], ["a"]])
        with pytest.raises(ValueError, match=r"among the 2 labels of the model, got 'c'.*'a', 'b'"):
            model.score(X, [["c"], [], [], []])


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (
            LabelDependenceClassifier(variant="mild"),
            ValueError,
            r"variant, if it is not a rule .* must be one of 'hard', 'soft', got 'mild'",
        ),
        (
            LabelDependenceClassifier(evidence_weight=-0.5),
            ValueError,
            'at least 0, "auto" or LearnedWeight\\(\\), got -0.5',
        ),
        (
            LabelDependenceClassifier(content=LinearSVC()),
            TypeError,
            "LinearSVC has no predict_proba",
        ),
        (
            LabelDependenceClassifier(labels=LinearSVC()),
            TypeError,
            "LinearSVC has no predict_proba",
        ),
        (
            LabelDependenceClassifier(content=PlattSVM),
            TypeError,
            "an estimator instance such as PlattSVM",
        ),
        (LabelDependenceClassifier(content=3), TypeError, "estimator instance.*got 3"),
        (LabelDependenceClassifier(content="SVM"), ValueError, "one of 'svm'.*Did you mean 'svm'"),
        (LabelDependenceClassifier(labels="logit"), ValueError, "one of 'logistic', 'svm', got"),
        (LabelDependenceClassifier(thresholds="f1"), ValueError, "^thresholds must be .*got 'f1'"),
        (PerLabel(LinearSVC()), TypeError, r"PerLabel\(CalibratedClassifierCV\(LinearSVC"),
        (NearestNeighbours(n_neighbors=0), ValueError, "whole number of at least 1, got 0"),
        (PlattSVM(C=-1), ValueError, "C must be positive, got -1"),
        (PlattSVM(cv=1), ValueError, "at least 2 folds, got 1"),
    ],
    ids=repr,
)
def test_invalid_parameters_raise_in_fit(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, Y)


def test_multilabel_classifiers_reject_unknown_cells():
    partly = Y.astype(float)
    partly[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"all known, got 1 unknown cells. Use PerLabel"):
        MultilabelContent(LogisticRegression()).fit(X, partly)


def test_cross_val_log_odds_accepts_all_kinds_of_labels():
    many, names = np.tile(X, (5, 1)), [["a"], ["b"], ["a", "b"], ["a"]] * 5
    partly = np.tile(Y.astype(float), (5, 1))
    partly[::3, 1] = np.nan
    for labels in (names, partly, sparse.csr_matrix(np.tile(Y, (5, 1)))):
        with pytest.raises((ValueError, IndexError)):
            cross_val_predict(NaiveBayes(), many, labels, cv=2, method="predict_proba")
        ours = cross_val_log_odds(NaiveBayes(), many, labels, cv=2, random_state=0)
        assert np.isfinite(ours).all()


@pytest.mark.parametrize("model", [NaiveBayes(), NearestNeighbours(), PlattSVM()], ids=repr)
def test_texts_raise_with_a_hint(model):
    with pytest.raises(ValueError, match=r"requires vectors, got texts.*TfidfVectorizer"):
        model.fit(["a text", "another"], [["x"], ["y"]])


def test_misspelt_names_get_a_suggestion():
    import labelkin

    with pytest.raises(AttributeError, match="Did you mean 'LabelDependenceClassifier'"):
        labelkin.LabelDependencyClassifier
    with pytest.raises(ValueError, match=r"got 'stong'. Did you mean 'strong'\?"):
        labelkin.preset("stong")
    for wrong, given in ({"thresholds": "micro"}, "micro_f1"), ({"variant": "sotf"}, "soft"):
        with pytest.raises(ValueError, match=rf"Did you mean '{given}'\?"):
            labelkin.LabelDependenceClassifier(**wrong).fit([[1], [2]], [["a"], ["b"]])
    with pytest.raises(ValueError, match=r"got 'newsrom'.* Did you mean 'newsroom'\?"):
        labelkin.corpora.load("newsrom")
    X, topics = [[3, 0], [2, 1], [0, 4]], [["wheat"], ["wheat", "gold"], ["gold"]]
    model = labelkin.LabelDependenceClassifier(labelkin.NaiveBayes(), evidence_weight=1)
    with pytest.raises(ValueError, match=r"got 'whaet'. Did you mean 'wheat'\?"):
        model.fit(X, topics).predict(X[:1], known={"accepted": ["whaet"]})
