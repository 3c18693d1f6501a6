import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import (
    LogisticLabels,
    PerLabelEvidence,
    SVMLabels,
)
from labelkin.method.label_sets import count_label_sets

KEYS = [
    "M1_t0", "M1_t2", "M2_t0", "M2_t1", "M2_t2", "M2_t5",
    "M3_t0", "M3_t4", "M3_t5", "M4_t0", "M4_t1", "M4_t7",
]  # fmt: skip


class Case:
    """One case of the Weka oracle."""

    def __init__(self, folder, key):
        cases = json.loads((folder / "INDEX.json").read_text())["cases"]
        self.index = next(case for case in cases if case["key"] == key)
        self.target = self.index["target"]
        self.train = self.matrix(folder, "train_labels")
        self.binary = self.matrix(folder, "test_labels")
        self.soft = self.matrix(folder, "test_cont")
        self.blr = json.loads((folder / self.index["blr"]).read_text())
        self.smo = json.loads((folder / self.index["smo"]).read_text())

    def matrix(self, folder, name):
        return np.loadtxt(folder / self.index[name], delimiter=",")

    def ours(self, classifier, L):
        return classifier.fit(self.train).predict_proba(L)[:, self.target]


@pytest.fixture(params=KEYS)
def case(request, oracle_folder):
    return Case(oracle_folder, request.param)


def test_weka_solver_equals_weka(case):
    layer = LogisticLabels(solver="weka").fit(case.train)
    beta = np.array(case.blr["beta"])
    others = np.delete(layer.weights_[:, case.target], case.target)
    np.testing.assert_allclose(layer.bias_[case.target], beta[0], atol=1e-9)
    np.testing.assert_allclose(others, beta[1:], atol=1e-9)
    for L, name in [(case.binary, "p_test_binary"), (case.soft, "p_test_cont")]:
        p = layer.predict_proba(L)[:, case.target]
        np.testing.assert_allclose(p, case.blr[name], atol=1e-9)
    p = layer.predict_proba(case.train[:100])[:, case.target]
    np.testing.assert_allclose(p, case.blr["p_train_first100"], atol=1e-9)


def test_svm_labels_equal_weka(case):
    kind = case.index["smo_class"]
    binary, soft = (case.ours(SVMLabels(), L) for L in (case.binary, case.soft))
    if kind in ("trivial", "one-class"):
        prior = case.train[:, case.target].mean()
        np.testing.assert_allclose([*binary, *soft], prior, atol=1e-6)
    tolerance = {
        "regular": 3e-3,
        "trivial": 1e-3,
        "one-class": 1e-6,
        "near-degenerate": 0.15,
        "separable": 1e-6,
    }[kind]
    np.testing.assert_allclose(binary, case.smo["p_test_binary"], atol=tolerance)
    if kind != "separable":
        np.testing.assert_allclose(soft, case.smo["p_test_cont"], atol=tolerance)


def labels(seed=0, n=60, p=5):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(float)
    Y[:, 1] = np.maximum(Y[:, 1], Y[:, 0])
    return Y


CLASSIFIERS = [
    LogisticLabels(),
    LogisticLabels(solver="weka"),
    SVMLabels(),
    PerLabelEvidence(LogisticRegression()),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
class TestAnyLabelClassifier:
    def test_a_label_ignores_its_own_column(self, classifier):
        Y = labels()
        classifier.fit(Y)
        for j in range(Y.shape[1]):
            other = Y.copy()
            other[:, j] = 1 - other[:, j]
            np.testing.assert_allclose(
                classifier.log_odds(other)[:, j], classifier.log_odds(Y)[:, j]
            )

    def test_unknown_input_has_the_value_of_the_prior(self, classifier):
        Y = labels()
        classifier.fit(Y)
        L = np.array([[np.nan, 1, 0, 0, 0]])
        filled = np.array([[Y[:, 0].mean(), 1, 0, 0, 0]])
        np.testing.assert_allclose(classifier.log_odds(L), classifier.log_odds(filled))

    def test_unknown_target_leaves_the_document_out(self, classifier):
        Y = labels()
        hidden = Y.copy()
        hidden[:20, 2] = np.nan
        before = classifier.fit(hidden).log_odds(Y)[:, 2]
        swapped = hidden.copy()
        swapped[:20] = hidden[:20][::-1]  # the same label sets, in another order
        np.testing.assert_allclose(classifier.fit(swapped).log_odds(Y)[:, 2], before, atol=1e-6)
        assert np.isfinite(before).all()

    def test_constant_labels_have_finite_log_odds(self, classifier):
        Y = labels()
        Y[:, 3], Y[:, 4] = 0, 1
        assert np.isfinite(classifier.fit(Y).log_odds(Y)).all()
        p = classifier.predict_proba(Y)
        assert p[:, 3].max() < 0.5 < p[:, 4].min()

    @pytest.mark.parametrize("Y", [[[1]], [[0], [1]], [["a"]], [["a"], []], [{1, 2}]], ids=repr)
    def test_one_label_or_one_document_is_accepted(self, classifier, Y):
        classifier.fit(Y)
        assert np.isfinite(classifier.log_odds(np.zeros((2, len(classifier.prior_))))).all()

    @pytest.mark.parametrize(
        ("L", "message"),
        [
            ([[0.5, 0.5]], r"\(n, 5\), got shape \(1, 2\)"),
            (
                [[0, 0, 0, 0, 1.5]],
                "with values from 0 to 1.5",
            ),
        ],
    )
    def test_invalid_inputs_raise(self, classifier, L, message):
        classifier.fit(labels())
        with pytest.raises(ValueError, match=message):
            classifier.log_odds(L)


def test_other_labels_fits_the_estimator_on_the_other_columns():
    Y = labels()
    ours = PerLabelEvidence(LogisticRegression()).fit(Y).predict_proba(Y)
    for j in range(Y.shape[1]):
        others = np.delete(Y, j, axis=1)
        theirs = LogisticRegression().fit(others, Y[:, j]).predict_proba(others)[:, 1]
        np.testing.assert_allclose(ours[:, j], theirs)


def test_rare_labels_can_be_given_a_balanced_rule():
    Y = np.zeros((200, 3))
    Y[:100, 0] = 1
    Y[:4, 1] = 1  # a rare label that only goes with the first: "always no" is the best SVM
    Y[::2, 2] = 1
    L = [[1, 0, 0], [0, 0, 0]]
    plain = SVMLabels().fit(Y).predict_proba(L)[:, 1]
    np.testing.assert_allclose(plain, 4 / 200, atol=1e-6)
    balanced = SVMLabels(rare="balanced").fit(Y)
    with_first, without = balanced.predict_proba(L)[:, 1]
    assert with_first == pytest.approx(0.04, abs=0.01)
    assert without < 0.001
    np.testing.assert_array_equal(balanced.weights_[:, 0], SVMLabels().fit(Y).weights_[:, 0])


class TestNeighbours:
    """Each label predicted from a few others."""

    def labels(self, p=320, n=600, seed=0):
        rng = np.random.default_rng(seed)
        Y = rng.random((n, p)) < 0.02
        Y[:, 1::2] |= Y[:, ::2] & (rng.random((n, p // 2)) < 0.8)
        return Y.astype(float)

    def test_auto_uses_all_labels_up_to_300_and_neighbours_above(self):
        Y = self.labels()
        few, many = LogisticLabels().fit(Y[:, :300]), LogisticLabels().fit(Y)
        assert isinstance(few.weights_, np.ndarray)
        assert few.rest_ is None
        assert sparse.issparse(many.weights_)
        assert np.diff(many.weights_.indptr).max() <= 32
        np.testing.assert_array_equal(
            LogisticLabels(neighbours=None).fit(Y[:, :50]).weights_,
            LogisticLabels().fit(Y[:, :50]).weights_,
        )

    def test_log_odds_equal_linear_term(self):
        Y = self.labels(p=40)
        layer = LogisticLabels(neighbours=5).fit(Y)
        L = np.random.default_rng(1).random((7, 40))
        expected = L @ layer.weights_.toarray() + layer.bias_
        expected += (L.sum(axis=1, keepdims=True) - L) * layer.rest_
        np.testing.assert_allclose(layer.log_odds(L), expected, rtol=0, atol=1e-12)
        own = np.eye(40)[:5]
        np.testing.assert_allclose(
            np.diag(layer.log_odds(own)), layer.bias_[:5], rtol=0, atol=1e-12
        )

    def test_sample_weight_equals_repetition(self):
        Y = self.labels(p=20, n=100)
        times = np.random.default_rng(2).integers(0, 4, 100)
        weighted = LogisticLabels(neighbours=8).fit(Y, sample_weight=times)
        repeated = LogisticLabels(neighbours=8).fit(np.repeat(Y, times, axis=0))
        np.testing.assert_allclose(
            weighted.weights_.toarray(), repeated.weights_.toarray(), atol=1e-9
        )

    def test_order_and_blocks_of_documents_do_not_change_bytes(self):
        Y = self.labels(p=40)
        labels = read_labels(Y)
        blocks = [count_label_sets(labels.rows(slice(i, i + 70))) for i in range(0, 600, 70)]
        merged = LogisticLabels(neighbours=9).fit_counted(
            blocks[0].merge(*blocks[1:]), labels.names
        )
        whole = LogisticLabels(neighbours=9).fit(Y[::-1])
        assert merged.weights_.data.tobytes() == whole.weights_.data.tobytes()
