"""Special cases in which a plausible implementation is silently wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    LogisticLabels,
    NaiveBayes,
    PerLabel,
    PlattSVM,
)
from labelkin.content import cross_val_log_odds

rng = np.random.default_rng(0)
X = rng.poisson(1.0, (60, 6)).astype(float)
Y = (X[:, :3] + rng.normal(0, 0.5, (60, 3)) > 1).astype(int)
PARTLY = np.where(rng.random(Y.shape) < 0.15, np.nan, Y)


@pytest.mark.parametrize("seed", range(8))
def test_fractional_weights_keep_labels_constant(seed):
    labels = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1], [1, 0, 0]] * 10, dtype=float)
    unknown = np.hstack([labels, np.full((40, 1), np.nan)])
    weight = np.random.default_rng(seed).random(40)
    rescorer = LabelRescorer().fit(unknown, sample_weight=weight)
    assert rescorer.prior_[0] == 1
    assert rescorer.prior_[3] == 0.5
    np.testing.assert_allclose(rescorer.rescore([[0.5, 0.9, 0.1, 0.4]])[0, [0, 3]], [0.5, 0.4])
    log_odds = NaiveBayes().fit(X[:40], unknown, sample_weight=weight).log_odds(X[:40])
    total = weight.sum()
    np.testing.assert_allclose(log_odds[:, 0], np.log((total + 0.5) / 0.5))
    np.testing.assert_array_equal(log_odds[:, 3], 0)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(C=1e4),
        LogisticRegression(C=1e4, solver="liblinear"),
        SGDClassifier(loss="log_loss", random_state=0),
        MLPClassifier((4,), random_state=0, max_iter=2000),
        CalibratedClassifierCV(LinearSVC()),
        RandomForestClassifier(10, random_state=0),
    ],
    ids=repr,
)
def test_log_odds_rank_as_probabilities_for_any_estimator(estimator):
    line = np.linspace(-60, 60, 241)[:, None]
    y = (line[:, 0] > 0).astype(int)
    log_odds = (
        PerLabel(estimator).fit(line, np.c_[y, 1 - y]).log_odds(np.linspace(1, 60, 50)[:, None])
    )
    probability = clone(estimator).fit(line, y).predict_proba(np.linspace(1, 60, 50)[:, None])[:, 1]
    order = np.argsort(probability, kind="stable")
    assert (np.diff(log_odds[order, 0]) >= -1e-9).all()
    assert np.isfinite(log_odds).all()


def test_a_logistic_decision_function_is_not_clipped():
    line = np.linspace(-60, 60, 241)[:, None]
    model = PerLabel(LogisticRegression(C=1e4)).fit(line, np.c_[line > 0, line <= 0])
    assert model.log_odds([[60.0]])[0, 0] > 500
    with pytest.raises(ValueError, match=r"clip must lie between 0 and 0\.5, got 0\.7"):
        PerLabel(LogisticRegression(), clip=0.7).fit(line, np.c_[line > 0, line <= 0])


class TestFrames:
    names = ["gold", "grain", "wheat"]
    sets = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
    scores = pd.DataFrame([[0.1, 0.5, 0.9]], columns=["gold", "grain", "wheat"])
    turned = ["wheat", "gold", "grain"]

    def test_known_labels_and_inputs_are_ordered_by_name(self):
        rescorer = LabelRescorer().fit(self.sets)
        known = pd.DataFrame([[np.nan, np.nan, 1]], columns=self.names)
        expected = rescorer.rescore(self.scores, known=known)
        assert expected[0, 2] == 1
        np.testing.assert_array_equal(
            rescorer.rescore(self.scores, known=known[self.turned]), expected
        )
        layer = LogisticLabels().fit(self.sets)
        np.testing.assert_array_equal(
            layer.log_odds(self.scores[self.turned]), layer.log_odds(self.scores)
        )

    def test_pandas_and_polars_missing_values_are_unknown(self):
        pandas = pd.DataFrame(
            {"a": pd.array([1, None, 0], "Int64"), "b": pd.array([True, False, None], "boolean")}
        )
        polars = pl.DataFrame({"a": [1, None, 0], "b": [True, False, None]})
        expected = [[1, 1], [np.nan, 0], [0, np.nan]]
        from labelkin.label_matrix import read_labels

        np.testing.assert_array_equal(read_labels(pandas).dense(), expected)
        np.testing.assert_array_equal(read_labels(polars).dense(), expected)


class TestLeaveOneOutOfNaiveBayes:
    def test_a_cell_stored_twice_is_its_sum(self):
        whole = sparse.csr_array(X)
        twice = sparse.csr_array(
            (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr),
            shape=X.shape,
        )
        np.testing.assert_allclose(
            NaiveBayes().fit_out_of_fold(twice, Y), NaiveBayes().fit_out_of_fold(X, Y)
        )

    def test_weighted_document_is_left_out_at_most_once(self):
        weight = rng.choice([0.0, 0.25, 1.0, 2.0], len(X))
        left_out = NaiveBayes().fit_out_of_fold(X, Y, sample_weight=weight)
        for i in range(0, len(X), 3):
            rest = weight.copy()
            rest[i] -= min(rest[i], 1)
            refitted = NaiveBayes().fit(X, Y, sample_weight=rest).log_odds(X[[i]])
            np.testing.assert_allclose(left_out[[i]], refitted, atol=1e-9)


class TestClasses:
    y = np.array(["cat", "dog", "eel"])[rng.integers(0, 3, 60)]

    def test_known_classes_stay_known(self):
        model = LabelDependenceClassifier(content=NaiveBayes()).fit(X, self.y)
        accepted = model.predict_proba(X[:1], known={"accepted": ["dog"]})
        np.testing.assert_array_equal(accepted, [[0, 1, 0]])
        rejected = model.predict_proba(X[:1], known={"rejected": ["dog"]})
        assert rejected[0, 1] == 0
        assert rejected.sum() == pytest.approx(1)
        everything = model.predict_proba(X[:1], known={"rejected": ["cat", "dog", "eel"]})
        np.testing.assert_allclose(everything, 1 / 3)


class TestCrossValidation:
    @pytest.mark.parametrize("model", [NaiveBayes(), PlattSVM(random_state=0)], ids=repr)
    def test_pipelines_take_unknown_cells(self, model):
        pipeline = make_pipeline(MaxAbsScaler(), model)
        assert np.isfinite(cross_val_log_odds(pipeline, X, PARTLY, cv=3, random_state=0)).all()
        whole = LabelDependenceClassifier(pipeline, evidence_weight=1).fit(X, PARTLY)
        apart = LabelDependenceClassifier(model, evidence_weight=1).fit(
            MaxAbsScaler().fit_transform(X), PARTLY
        )
        scaled = MaxAbsScaler().fit(X).transform(X)
        np.testing.assert_allclose(whole.log_odds(X), apart.log_odds(scaled))


def test_n_jobs_does_not_change_bytes_with_threaded_algebra():
    wide = rng.normal(size=(3000, 200))
    labels = (wide[:, :2] > 0.3).astype(int)
    one, two = (
        PerLabel(LogisticRegression(max_iter=30), n_jobs=n)
        .fit(wide, labels)
        .log_odds(wide)
        .tobytes()
        for n in (1, 2)
    )
    assert one == two


def test_failing_stage_ends_its_line(capsys):
    with pytest.raises(ValueError, match="alpha"):
        LabelDependenceClassifier(content=NaiveBayes(alpha=0), verbose=1).fit(X, Y)
    assert capsys.readouterr().err == "labelkin: content evidence of 3 labels …\n"
