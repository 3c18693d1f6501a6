import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from labelkin.content.naive_bayes import NaiveBayes
from labelkin.label_matrix import Cells, read_labels
from labelkin.method.label_evidence import SVMLabels
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.models.rescorer import LabelRescorer

NAMES = ["gold", "grain", "wheat"]
Y = [["wheat", "grain"]] * 8 + [["grain"]] * 4 + [["gold"]] * 7 + [[]]
SCORES = np.array([[0.1, 0.5, 0.9], [0.6, 0.2, 0.0]])


def test_accepted_and_rejected_labels_change_the_others():
    rescorer = LabelRescorer(evidence_weight=1).fit(Y)
    open_grain = rescorer.rescore(SCORES[:1])[0, 1]
    accepted = rescorer.rescore(SCORES[:1], known={"accepted": ["wheat"]})
    rejected = rescorer.rescore(SCORES[:1], known={"rejected": ["wheat"]})
    assert accepted[0, 2] == 1
    assert rejected[0, 2] == 0
    assert rejected[0, 1] < open_grain < accepted[0, 1]


@pytest.mark.parametrize(
    "labels", [None, SVMLabels(), RandomForestClassifier(10, random_state=0)], ids=repr
)
def test_any_label_classifier_is_accepted(labels):
    rescorer = LabelRescorer(labels=labels, evidence_weight=1).fit(
        pd.DataFrame(0, index=range(4), columns=NAMES)
    )
    np.testing.assert_allclose(
        rescorer.rescore(SCORES), np.clip(SCORES, 1e-6, 1)
    )  # no document has one
    moved = LabelRescorer(labels=labels, evidence_weight=1).fit(Y).rescore(SCORES)
    assert ((moved > 0) & (moved < 1)).all()
    assert np.abs(moved - SCORES).max() > 0.01
    assert (
        LabelRescorer(labels=labels, evidence_weight=1).fit(Y).label_weights_ is None
    ) == isinstance(labels, RandomForestClassifier)


class Frequency:
    """A label classifier with fit and log_odds only."""

    def get_params(self, deep=True):
        return {}

    def fit(self, Y):
        assert isinstance(Y, np.ndarray)
        self.rate = logit(Y.mean(axis=0))
        return self

    def log_odds(self, L):
        return np.tile(self.rate, (len(L), 1))


def test_other_label_classifiers_get_a_plain_matrix():
    rescorer = LabelRescorer(labels=Frequency(), evidence_weight=1).fit(Y)
    np.testing.assert_allclose(rescorer.rescore(SCORES), np.clip(SCORES, 1e-6, 1), atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "scores", "message"),
    [
        (
            {},
            [[0.1, 1.2, 0.3]],
            r"in \[0, 1\], got 1.2 at document 0, label 1 \(1 such cells\).*log_odds",
        ),
        ({}, [[0.1, 0.2]], r"documents × labels, \(n, 3\), got shape \(1, 2\)"),
        ({"scale": "log_odds"}, [[0, np.nan, 1]], "got NaN at document 0, label 1"),
        (
            {"variant": "medium"},
            SCORES,
            r"not a rule such as SCutFBR\(\), must be one of 'hard', 'soft', got 'medium'",
        ),
        (
            {"scale": "logits"},
            SCORES,
            "scale must be one of 'probability', 'log_odds', got 'logits'",
        ),
        ({"evidence_weight": -1}, SCORES, r'at least 0, "auto" or LearnedWeight\(\), got -1'),
        (
            {"evidence_weight": "all"},
            SCORES,
            r"or LearnedWeight\(\), got 'all'",
        ),
    ],
)
def test_invalid_values_raise(parameters, scores, message):
    with pytest.raises(ValueError, match=message):
        LabelRescorer(**parameters).fit(Y).rescore(scores)


class TestCandidates:
    """Sparse scores: stored = candidate, absent = not a candidate."""

    def made(self, p=12, n=40, seed=0):
        rng = np.random.default_rng(seed)
        Y = (rng.random((200, p)) < 0.25).astype(float)
        Z = rng.normal(size=(n, p)) * 2 - 1
        return Y, Z, rng.random((n, p)) < 0.4

    @pytest.mark.parametrize("labels", [None, SVMLabels()])
    @pytest.mark.parametrize("variant", ["soft", "hard"])
    @pytest.mark.parametrize("weight", [1.0, 0.4, 0.0])
    def test_all_cells_stored_equals_dense(self, labels, variant, weight):
        Y, Z, _ = self.made()
        rescorer = LabelRescorer(
            labels, variant=variant, evidence_weight=weight, scale="log_odds"
        ).fit(Y)
        found = rescorer.rescore(Cells.full(Z.shape).matrix(Z.ravel()))
        np.testing.assert_allclose(found.toarray(), rescorer.rescore(Z), rtol=0, atol=1e-12)

    def test_result_has_the_same_cells_including_zeros(self):
        Y, Z, stored = self.made()
        Z[stored & (Z < 0)] = 0.0
        cells = Cells.of(sparse.csr_array(stored.astype(float)))
        scores = cells.matrix(cells.at(Z))
        found = LabelRescorer(evidence_weight=1, scale="log_odds").fit(Y).rescore(scores)
        assert (found.indptr == scores.indptr).all()
        assert (found.indices == scores.indices).all()

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([[0.5, 1.5, 0.0]], r"in \[0, 1\], got 1.5 at document 0, label 1 \(1 such"),
            ([[0.5, np.nan, 0.0]], r"got NaN at document 0, label 1"),
            ([[0.5, 0.5]], r"documents × labels, \(n, 3\), got shape \(1, 2\)"),
        ],
    )
    def test_invalid_cells_raise(self, scores, message):
        with pytest.raises(ValueError, match=message):
            LabelRescorer(evidence_weight=1).fit(Y).rescore(sparse.csr_array(scores))


def test_columns_of_scores_are_ordered_by_name():
    rescorer = LabelRescorer(evidence_weight=1).fit(Y)
    expected = rescorer.rescore(SCORES)
    frame = pd.DataFrame(SCORES, columns=NAMES)[["wheat", "gold", "grain"]]
    np.testing.assert_array_equal(rescorer.rescore(frame), expected)
    with pytest.raises(ValueError, match="among the 3 labels of the model, got 'silver'"):
        rescorer.rescore(frame.rename(columns={"gold": "silver"}))
    with pytest.raises(ValueError, match=r"every label, and these are missing: 'grain'"):
        rescorer.rescore(frame[["wheat", "gold"]])


class TestLearningMore:
    rng = np.random.default_rng(3)
    first, further = (
        (rng.random((40, 5)) < 0.4).astype(int),
        (rng.random((25, 5)) < 0.6).astype(int),
    )
    scores = rng.random((7, 5))

    def test_learn_more_equals_fit_on_all(self):
        known = np.full((7, 5), np.nan)
        known[:, 1] = 1
        both = LabelRescorer(evidence_weight=1).fit(np.vstack([self.first, self.further]))
        more = LabelRescorer(evidence_weight=1).fit(self.first).learn_more(self.further)
        for facts in (None, known):
            expected = both.rescore(self.scores, facts)
            np.testing.assert_allclose(more.rescore(self.scores, facts), expected, rtol=1e-7)
        np.testing.assert_array_equal(more.label_sets_.count, both.label_sets_.count)
        assert more.label_sets_.n_documents == 65

    def test_learn_more_keeps_the_learned_rule(self):
        scores = np.clip(self.rng.random((40, 5)), 0.01, 0.99)
        rescorer = LabelRescorer(evidence_weight="auto").fit(self.first, scores=scores)
        more = rescorer.learn_more(self.further)
        assert more.evidence_weight_ == rescorer.evidence_weight_
        kept, before = more.combination_.predicted, rescorer.combination_.predicted
        assert kept.correction is before.correction

    def test_learn_more_needs_counted_label_sets(self):
        rescorer = LabelRescorer(LogisticRegression(), evidence_weight=1).fit(self.first)
        with pytest.raises(ValueError, match="or SVMLabels, got PerLabelEvidence"):
            rescorer.learn_more(self.further)


class TestCautiousWeight:
    """Without out-of-fold scores the weight of predicted labels is small."""

    def fitted(self, **parameters):
        with pytest.warns(UserWarning, match=r"Without out-of-fold .* so it is 0\.1\. Use"):
            return LabelRescorer(scale="log_odds", **parameters).fit(Y)

    def test_predicted_labels_have_weight_one_tenth(self):
        scores = logit(np.clip(SCORES, 1e-6, 1 - 1e-6))
        tenth = LabelRescorer(evidence_weight=0.1, scale="log_odds").fit(Y)
        cautious = self.fitted()
        assert cautious.evidence_weight_ == 0.1
        np.testing.assert_allclose(cautious.rescore(scores), tenth.rescore(scores), rtol=1e-9)

    def test_known_labels_have_weight_three_quarters(self):
        scores, known = np.zeros((1, 3)), {"accepted": ["wheat"]}
        paper = LabelRescorer(evidence_weight=1, scale="log_odds").fit(Y)
        cautious = self.fitted()
        moved = [
            r.rescore(scores, known)[0, 1] - r.rescore(scores)[0, 1] for r in (paper, cautious)
        ]
        assert moved[1] == pytest.approx(0.75 * moved[0], rel=1e-9)
        assert moved[0] > 0.5

    @pytest.mark.parametrize(("labels", "weight"), [(None, 0.75), (LogisticRegression(), 0.1)])
    def test_known_labels_have_less_weight_if_not_linear(self, labels, weight):
        assert self.fitted(labels=labels).combination_.known.weight == weight
        X = np.eye(len(Y))
        model = LabelDependenceClassifier(NaiveBayes(), labels=labels).fit(X, Y)
        assert model.rescorer_.combination_.known.weight == weight

    def test_blocks_of_label_sets_have_the_same_weight(self):
        labels = read_labels(Y)
        with pytest.warns(UserWarning, match="so it is 0.1"):
            blocks = LabelRescorer(scale="log_odds").fit_blocks(
                [labels.rows(slice(0, 7)), labels.rows(slice(7, None))]
            )
        scores = np.array([[-1.0, 0.0, 2.0]])
        np.testing.assert_allclose(blocks.rescore(scores), self.fitted().rescore(scores), rtol=1e-9)
