"""Messages for invalid input: rule, value received and hint."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
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

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_features_must_be_finite(self, model, bad):
        broken = X.copy()
        broken[2, 1] = bad
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            model.fit(broken, Y)

    def test_masked_features_are_rejected(self, model):
        masked = np.ma.array(X, mask=X == 2)
        with pytest.raises(ValueError, match=r"X must not have masked values, got 1 of 8\. Fill"):
            model.fit(masked, Y)
        with pytest.raises(ValueError, match="X must not have masked values"):
            model.fit(X, Y).predict(masked)

    def test_several_labels_in_one_text_are_rejected(self, model):
        with pytest.raises(ValueError, match=r"several labels.*text\.split\(','\) for text in y"):
            model.fit(X, ["a,b", "b", "b,c", "a,c"])

    def test_labels_that_end_in_nul_are_rejected(self, model):
        with pytest.raises(ValueError, match="must not end in a NUL character"):
            model.fit(X, [["tea\0"], ["tea"], [], ["tea"]])

    def test_not_fitted_raises(self, model):
        with pytest.raises(
            NotFittedError, match=f"This {type(model).__name__} instance is not fitted"
        ):
            clone(model).predict(X)

    def test_other_number_of_features_raises(self, model):
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 2 features"):
            model.fit(X, Y).predict(np.ones((1, 3)))

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


def test_unrequested_metadata_raises():
    with pytest.raises(TypeError, match="groups must be used by a splitter"):
        LabelDependenceClassifier(content=NaiveBayes()).fit(X, Y, groups=np.ones(4))
    with pytest.raises(TypeError, match=r"by all parts.*content=NearestNeighbours\(\) does not"):
        LabelDependenceClassifier(NearestNeighbours()).fit(X, Y, sample_weight=np.ones(4))
    with pytest.raises(TypeError, match="accepts sample_weight and groups, got 'weights'"):
        PlattSVM().fit(X, Y, weights=np.ones(4))


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


def test_one_mapping_of_known_labels_for_several_documents_is_an_error():
    model = LabelDependenceClassifier(NaiveBayes()).fit(X, [["a"], ["b"], ["a", "b"], ["a"]])
    with pytest.raises(ValueError, match="one mapping per document: 3 needed, got 1"):
        model.predict_proba(X[:3], known={"accepted": ["a"]})
