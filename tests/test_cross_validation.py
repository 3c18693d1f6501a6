"""``cv=`` accepts what scikit-learn accepts, in every estimator and function that has it."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_predict,
)

from labelkin import (
    LabelDependenceClassifier,
    NaiveBayes,
    PerLabel,
    PlattSVM,
    RescoredClassifier,
)
from labelkin.content import MultilabelContent, cross_val_log_odds
from labelkin.odds import to_probability

rng = np.random.default_rng(0)
X = rng.poisson(1.0, (60, 6)) / 4.0
Y = (4 * X[:, :3] + rng.normal(0, 0.5, (60, 3)) > 1).astype(int)
GROUPS = np.arange(60) // 4
SPLITS = list(GroupKFold(3).split(X, Y, GROUPS))


def out_of_fold(model, **metadata):
    """Return the out-of-fold log-odds of an unfitted model, however it is asked for them."""
    model = clone(model)
    if isinstance(model, LabelDependenceClassifier):
        model = model.set_params(thresholds="micro_f1")
    return model.fit_out_of_fold(X, Y, **metadata)


def models(cv):
    return [
        PerLabel(LogisticRegression(), cv=cv),
        MultilabelContent(sklearn.multiclass.OneVsRestClassifier(LogisticRegression()), cv=cv),
        PlattSVM(cv=cv, random_state=0),
        RescoredClassifier(LogisticRegression(), cv=cv),
        RescoredClassifier(NaiveBayes(), cv=cv),
        RescoredClassifier(PlattSVM(random_state=0), cv=cv),
        LabelDependenceClassifier(PlattSVM(cv=cv, random_state=0)),
    ]


@pytest.mark.parametrize("place", range(7))
def test_a_splitter_its_splits_and_groups_give_the_same_result(place):
    by_splits = out_of_fold(models(SPLITS)[place])
    by_groups = out_of_fold(models(GroupKFold(3))[place], groups=GROUPS)
    np.testing.assert_array_equal(by_splits, by_groups)
    assert (by_splits != out_of_fold(models(KFold(3))[place])).any()


def test_out_of_fold_evidence_equals_cross_val_predict():
    given = cross_val_predict(
        LogisticRegression(), X, Y[:, 0], cv=GroupKFold(3), groups=GROUPS, method="predict_proba"
    )
    ours = cross_val_log_odds(PerLabel(LogisticRegression()), X, Y, cv=GroupKFold(3), groups=GROUPS)
    np.testing.assert_allclose(to_probability(ours)[:, 0], given[:, 1])


def test_splits_may_be_a_generator_and_training_parts_smaller():
    splits = ((train[:20], test) for train, test in SPLITS)
    ours = cross_val_log_odds(LogisticRegression(), X, Y, cv=splits)
    train, test = SPLITS[0]
    alone = PerLabel(LogisticRegression()).fit(X[train[:20]], Y[train[:20]]).log_odds(X[test])
    np.testing.assert_allclose(ours[test], alone)
    with pytest.raises(ValueError, match="trains on all documents outside the test part"):
        PlattSVM(cv=[(train[:20], test) for train, test in SPLITS]).fit(X, Y)


@pytest.mark.parametrize("cv", ["five", 2.5])
@pytest.mark.parametrize("place", range(7))
def test_invalid_cv_raises(cv, place):
    rule = r"(?i)expected `?cv`? as an integer.* got (five|2\.5)"
    with pytest.raises(ValueError, match=rule):
        out_of_fold(models(cv)[place])


@pytest.mark.parametrize(
    ("cv", "rule"),
    [
        (ShuffleSplit(2, random_state=0), r"exactly one test part, got 49 documents in none and 1"),
        ([*SPLITS, SPLITS[0]], r"got 0 documents in none and 20 in several of 4 splits"),
        ([(np.arange(60), np.arange(60))], r"must be disjoint, got 60 documents in both"),
    ],
)
def test_splits_must_test_each_document_once(cv, rule):
    with pytest.raises(ValueError, match=rule):
        cross_val_log_odds(LogisticRegression(), X, Y, cv=cv)


def test_groups_without_a_splitter_are_rejected():
    with pytest.raises(ValueError, match=r"with a splitter that uses them, got cv=5. Use `cv=Gro"):
        cross_val_log_odds(LogisticRegression(), X, Y, groups=GROUPS)
    with pytest.raises(TypeError, match="must be used by a splitter, and LabelDependenceClassifie"):
        LabelDependenceClassifier(NaiveBayes()).fit(X, Y, groups=GROUPS)
    for model in models(5):
        with pytest.raises((TypeError, ValueError), match=r"`?groups`? must .* splitter"):
            model.fit(X, Y, groups=GROUPS)


def test_groups_are_routed_to_the_splitter():
    expected = [out_of_fold(model) for model in models(SPLITS)]
    with sklearn.config_context(enable_metadata_routing=True):
        for place, model in enumerate(models(GroupKFold(3))):
            if place in (2, 6):
                continue
            if place == 5:  # its content could use groups
                model.estimator.set_fit_request(groups=False)
            np.testing.assert_array_equal(out_of_fold(model, groups=GROUPS), expected[place])
        svm = PlattSVM(cv=GroupKFold(3), random_state=0).set_fit_request(groups=True)
        model = LabelDependenceClassifier(svm)
        np.testing.assert_array_equal(out_of_fold(model, groups=GROUPS), expected[6])
