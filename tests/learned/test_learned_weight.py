"""The learned evidence weight against worlds whose answer is known, scikit-learn and SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from labelkin.learned.criteria import CRITERIA
from labelkin.learned.first_place import choose_first_place, keep_first
from labelkin.learned.predicted_evidence import N_FOLDS, PredictedEvidence, dealt_folds
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn import metrics as sk
from sklearn.base import clone

from labelkin import LabelDependenceClassifier, LabelRescorer, LearnedWeight, NaiveBayes, SCutFBR
from labelkin.evaluation.metrics.judged import Truth
from labelkin.label_matrix import read_labels
from labelkin.learned.calibration import CalibratedLabels, fit_calibration
from labelkin.method.label_evidence import LogisticLabels, prior_scale
from labelkin.method.label_sets import count_label_sets


def coupled_world(seed, n=1500, noise=1.0, copies=False):
    """Labels in pairs that attract each other, and content evidence of each with noise of its own.

    ``copies``: the content evidence of a pair has the same noise, so that its second label tells
    nothing that the first has not.
    """
    rng = np.random.default_rng(seed)
    first = rng.random((n, 3)) < 0.3
    second = np.where(rng.random((n, 3)) < 0.9, first, rng.random((n, 3)) < 0.3)
    Y = np.hstack([first, second]).astype(int)
    noises = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    noises = np.hstack([noises[0], noises[0] if copies else noises[1]])
    evidence = 2 * Y - 1 + noise * noises  # N(±1, noise²): log ratio 2 x / noise²
    return Y, 2 * evidence / noise**2 + logit(Y.mean(axis=0))


def halves(*arrays):
    half = len(arrays[0]) // 2
    return [part for array in arrays for part in (array[:half], array[half:])]


def brier(log_odds, Y):
    return ((expit(log_odds) - Y) ** 2).mean()


def fit_auto(Y, content, **options):
    rescorer = LabelRescorer(evidence_weight=LearnedWeight(**options), scale="log_odds")
    return rescorer.fit(Y, scores=content)


def test_independent_evidence_of_kin_is_worth_much_and_copied_evidence_little():
    weights = []
    for copies in (False, True):
        Y, content = coupled_world(0, copies=copies)
        weights.append(fit_auto(Y, content).evidence_weight_)
    assert weights[0] >= 0.5 > weights[1]


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_learned_rule_beats_content_and_paper_on_new_documents(seed, copies):
    Y, Y_new, content, content_new = halves(*coupled_world(seed, n=3000, copies=copies))
    learned = fit_auto(Y, content).rescore(content_new)
    paper = LabelRescorer(scale="log_odds", evidence_weight=1).fit(Y).rescore(content_new)
    assert brier(learned, Y_new) <= brier(content_new, Y_new) + 5e-4
    assert brier(learned, Y_new) < brier(paper, Y_new)


def test_labels_without_kin_are_left_to_the_content():
    rng = np.random.default_rng(1)
    Y = (rng.random((2000, 4)) < 0.4).astype(int)
    content = 2 * (2 * Y - 1 + rng.normal(size=Y.shape)) + logit(0.4)
    fitted = fit_auto(Y, content)
    assert abs(fitted.rescore(content) - content).max() < 0.35


def correction_by_scipy(evidence, offset, penalty, j):
    """The objective as it is written down, minimised by SciPy."""
    y = evidence.labels.dense()[:, j]
    X = np.column_stack([evidence.filled, np.ones(len(y))])
    X[:, j] = 0

    def objective(w):
        m = offset[:, j] + X @ w
        return (np.logaddexp(0, m) - y * m).sum() + penalty[j] / 2 * w @ w, X.T @ (
            expit(m) - y
        ) + penalty[j] * w

    return minimize(objective, np.zeros(X.shape[1]), jac=True, tol=1e-12).x


def test_the_correction_minimises_its_objective():
    Y, content = coupled_world(2, n=400)
    labels = read_labels(Y)
    evidence = PredictedEvidence(
        content, expit(content), 0 * content, labels, None, dealt_folds(labels)
    )
    correction = evidence.correction(content, 7.0)
    penalty = 7.0 * 2 / prior_scale(count_label_sets(labels))
    for j in range(Y.shape[1]):
        expected = correction_by_scipy(evidence, content, penalty, j)
        np.testing.assert_allclose(correction.weights[:, j], expected[:-1], atol=1e-5)
        np.testing.assert_allclose(correction.bias[j], expected[-1], atol=1e-5)


def test_a_correction_shrunk_without_end_leaves_one_weight():
    Y, content = coupled_world(3, n=600)
    one = fit_auto(Y, content, shrinkage=np.inf, first_place=False)
    almost = fit_auto(Y, content, shrinkage=1e12, first_place=False)
    assert one.combination_.learned_labels.correction is None
    np.testing.assert_allclose(one.rescore(content), almost.rescore(content), atol=1e-6)
    paper = one.labels_.log_odds(one.combination_.variant(content)) - logit(one.prior_)
    expected = content + one.evidence_weight_ * paper
    np.testing.assert_allclose(one.rescore(content), expected, atol=1e-9)


def test_predicted_weights_are_the_papers_scaled_plus_the_correction():
    Y, content = coupled_world(4, n=600)
    fitted = fit_auto(Y, content)
    rule = fitted.combination_
    expected = (
        fitted.evidence_weight_ * fitted.label_weights_ + rule.learned_labels.correction.weights
    )
    np.testing.assert_allclose(fitted.predicted_weights_, expected)
    assert not np.diag(fitted.predicted_weights_).any()


def test_the_weight_is_the_best_of_a_fine_grid_by_the_criterion():
    Y, content = coupled_world(5, n=800, copies=True)
    labels = read_labels(Y)
    for criterion in CRITERIA:
        fitted = fit_auto(Y, content, criterion=criterion, shrinkage=np.inf, first_place=False)
        variant = fitted.combination_.variant
        E = PredictedEvidence.of(LogisticLabels(), variant, content, labels, None).paper
        truth = Truth.of(labels, None)
        losses = {w: CRITERIA[criterion](content + w * E, truth) for w in np.arange(0, 1.01, 0.1)}
        found = CRITERIA[criterion](content + fitted.evidence_weight_ * E, truth)
        assert found <= min(losses.values()) + 1e-9


SCIKIT_LEARN = {
    "brier": lambda z, Y: ((expit(z) - Y) ** 2).sum(),
    "log_loss": lambda z, Y: sum(
        sk.log_loss(Y[:, j], expit(z[:, j]), labels=[0, 1], normalize=False)
        for j in range(Y.shape[1])
    ),
    "hamming_loss": lambda z, Y: sk.hamming_loss(Y, z > 0) * Y.size,
    "subset_loss": lambda z, Y: sk.zero_one_loss(Y, (z > 0).astype(int), normalize=False),
    "one_error": lambda z, Y: (
        len(Y) * (1 - sk.label_ranking_loss(Y, z)) * 0
        + (Y[np.arange(len(Y)), z.argmax(axis=1)] == 0).sum()
    ),
    "micro_f1": lambda z, Y: -sk.f1_score(Y, z > 0, average="micro", zero_division=0),
    "macro_f1": lambda z, Y: -sk.f1_score(Y, z > 0, average="macro", zero_division=0),
}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_is_the_measure_it_is_named_after(criterion):
    rng = np.random.default_rng(6)
    Y = (rng.random((60, 5)) < 0.3).astype(int)
    Y[:, 4] = 0
    z = rng.normal(size=Y.shape) + 2 * Y - 1
    ours = CRITERIA[criterion](z, Truth.of(read_labels(Y), None))
    assert ours == pytest.approx(SCIKIT_LEARN[criterion](z, Y))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_documents_that_count_twice_are_documents_that_are_there_twice(criterion):
    rng = np.random.default_rng(7)
    Y = (rng.random((30, 4)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    z = rng.normal(size=Y.shape)
    times = rng.integers(1, 4, 30)
    twice = Truth.of(read_labels(np.repeat(Y, times, axis=0)), None)
    counted = Truth.of(read_labels(Y), times.astype(float))
    ours = CRITERIA[criterion](z, counted)
    assert ours == pytest.approx(CRITERIA[criterion](np.repeat(z, times, axis=0), twice))


class TestCrossFitting:
    def test_no_document_meets_a_layer_that_has_seen_its_labels(self, monkeypatch):
        """Change one document's labels: only evidence of documents in other folds moves."""
        Y, content = coupled_world(8, n=80)
        labels = read_labels(Y)
        fold = dealt_folds(labels)
        monkeypatch.setattr("labelkin.learned.predicted_evidence.dealt_folds", lambda _: fold)
        given = LogisticLabels(), expit, content
        before = PredictedEvidence.of(*given, labels, None).paper
        changed = Y.copy()
        changed[5] = 1 - changed[5]
        after = PredictedEvidence.of(*given, read_labels(changed), None).paper
        own = fold == fold[5]
        np.testing.assert_array_equal(before[own], after[own])
        assert (before[~own] != after[~own]).any(axis=1).all()

    def test_every_label_is_shared_evenly(self):
        rng = np.random.default_rng(9)
        Y = (rng.random((400, 12)) < np.linspace(0.01, 0.5, 12)).astype(int)
        fold = dealt_folds(read_labels(Y))
        sizes = np.bincount(fold)
        assert sizes.max() - sizes.min() <= 1
        rarest = Y.sum(axis=0).argmin()
        counts = np.bincount(fold[Y[:, rarest] == 1], minlength=N_FOLDS)
        assert counts.max() - counts.min() <= 1

    def test_the_order_of_the_labels_does_not_matter(self):
        rng = np.random.default_rng(10)
        Y = (rng.random((100, 9)) < 0.2).astype(int)
        Y[:, 3] = Y[:, 7]
        order = rng.permutation(9)
        np.testing.assert_array_equal(
            dealt_folds(read_labels(Y)), dealt_folds(read_labels(Y[:, order]))
        )

    def test_documents_without_labels_are_dealt_too(self):
        assert np.bincount(dealt_folds(read_labels(np.zeros((10, 2), int)))).tolist() == [
            3,
            3,
            2,
            2,
        ]


class TestCalibratedLabels:
    def test_overconfident_content_is_calmed_and_fits_the_documents(self):
        Y, content = coupled_world(11, n=4000)
        found = fit_calibration(7 * content + 3, read_labels(Y), monotone=False)
        np.testing.assert_allclose(found.slope, 1 / 7, rtol=0.2)
        filled = CalibratedLabels(found)(7 * content + 3)
        np.testing.assert_allclose(filled.mean(axis=0), Y.mean(axis=0), atol=0.01)

    def test_a_label_without_documents_is_near_what_fits_all(self):
        Y, content = coupled_world(12, n=500)
        Y[:, 2] = 0
        found = fit_calibration(content, read_labels(Y), monotone=False)
        assert np.isfinite(found.slope).all()
        assert CalibratedLabels(found)(content)[:, 2].max() < 0.5


class TestFirstPlace:
    content = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    posterior = np.array([[1.0, 1.5, 0.0], [0.0, 2.0, 1.0]])

    def test_the_winner_of_the_contest_comes_first_and_nothing_else_moves(self):
        kept = self.posterior.copy()
        keep_first(kept, self.content)
        assert kept.argmax(axis=1).tolist() == [0, 1]
        assert 1.5 < kept[0, 0] < 1.5 + 1e-8
        np.testing.assert_array_equal(kept[0, 1:], self.posterior[0, 1:])
        np.testing.assert_array_equal(kept[1], self.posterior[1])

    def test_the_place_shows_in_probabilities(self):
        kept = self.posterior.copy()
        keep_first(kept, self.content)
        assert expit(kept[0, 0]) > expit(kept[0, 1])

    def test_labels_that_take_no_part_keep_their_posterior(self):
        kept = self.posterior.copy()
        keep_first(kept, self.content, np.array([False, True, True]))
        np.testing.assert_array_equal(kept, self.posterior)
        nobody = self.posterior.copy()
        keep_first(nobody, self.content, np.zeros(3, bool))
        np.testing.assert_array_equal(nobody, self.posterior)

    def test_ties_stay_ties(self):
        posterior = np.array([[1.0, 1.0, 2.0]])
        keep_first(posterior, np.array([[3.0, 3.0, 0.0]]))
        assert posterior[0, 0] == posterior[0, 1] > 2

    @staticmethod
    def world(wins, losses):
        """Documents where the evidence puts a true label first (wins) or away (losses)."""
        n = wins + losses
        labels = read_labels(np.repeat([[0, 1], [1, 0]], [wins, losses], axis=0))
        return np.tile([1.0, 0.0], (n, 1)), np.tile([0.0, 5.0], (n, 1)), labels

    @pytest.mark.parametrize(
        ("wins", "losses", "moves"), [(30, 20, True), (28, 22, False), (20, 30, False)]
    )
    def test_only_a_gain_beyond_chance_moves_the_first_place(self, wins, losses, moves):
        """10 > √50 > 6."""
        assert (choose_first_place(*self.world(wins, losses)) > 0) == moves

    def test_weights_count_like_copies(self):
        content, evidence, labels = self.world(3, 2)
        few = choose_first_place(content, evidence, labels)
        many = choose_first_place(content, evidence, labels, np.full(5, 10.0))
        assert few == 0 < many


def test_a_label_of_which_nothing_is_known_takes_no_part_in_the_first_place():
    Y, content = coupled_world(14, n=60)
    unknown = np.hstack([Y, np.full((60, 1), np.nan)])
    wide = np.hstack([content, np.full((60, 1), 50.0)])  # it would win every contest
    fitted = fit_auto(unknown, wide)
    assert fitted.combination_.constant.tolist() == [False] * 6 + [True]
    rule = replace(fitted.combination_, first_place=0.0)
    np.testing.assert_array_equal(rule.posterior(-wide)[:, 6], -50.0)
    assert (rule.posterior(wide)[:, :6].max(axis=1) < 50).all()


class TestInTheClassifier:
    rng = np.random.default_rng(13)
    Y = (rng.random((120, 5)) < 0.3).astype(int)
    X = rng.poisson(1 + 2 * np.repeat(Y, 3, axis=1))

    def test_auto_is_the_default_and_needs_only_training_documents(self):
        model = LabelDependenceClassifier(NaiveBayes()).fit(self.X, self.Y)
        content = NaiveBayes().fit_out_of_fold(self.X, self.Y)
        apart = fit_auto(self.Y, content)
        np.testing.assert_allclose(
            model.log_odds(self.X), apart.rescore(NaiveBayes().fit(self.X, self.Y).log_odds(self.X))
        )
        assert model.evidence_weight_ == apart.evidence_weight_

    def test_a_content_classifier_without_out_of_fold_evidence_is_cross_validated(self):
        class Plain(NaiveBayes):
            fit_out_of_fold = property()  # hidden: asking for it is an AttributeError

        model = LabelDependenceClassifier(Plain()).fit(self.X, self.Y)
        assert np.isfinite(model.log_odds(self.X)).all()

    def test_all_others_known_is_equation_2_for_the_paper(self):
        paper = LabelDependenceClassifier(NaiveBayes(), evidence_weight=1).fit(self.X, self.Y)
        truth = self.Y.astype(float)
        content, labels = paper.content_.log_odds(self.X), paper.rescorer_.labels_.log_odds(truth)
        for j in range(5):
            known = truth.copy()
            known[:, j] = np.nan
            expected = content[:, j] + labels[:, j] - logit(paper.prior_[j])
            np.testing.assert_allclose(paper.log_odds(self.X, known)[:, j], expected)

    def test_learned_cut_offs_of_the_hard_variant_are_those_of_the_rule(self):
        rule = SCutFBR()
        model = LabelDependenceClassifier(NaiveBayes(), variant=rule, evidence_weight=1)
        model.fit(self.X, self.Y)
        content = model.content_.log_odds(self.X)
        cuts = clone(rule).fit(NaiveBayes().fit_out_of_fold(self.X, self.Y), self.Y)
        filled = cuts.decide(content).astype(float)
        expected = content + model.rescorer_.labels_.log_odds(filled) - logit(model.prior_)
        np.testing.assert_allclose(model.log_odds(self.X), expected)
        assert not hasattr(rule, "cut_"), "the parameter itself is not fitted"

    def test_too_few_documents_leave_the_content_alone(self):
        model = LabelDependenceClassifier(NaiveBayes()).fit(self.X[:5], self.Y[:5])
        assert model.evidence_weight_ == 0
        np.testing.assert_allclose(model.log_odds(self.X), model.content_.log_odds(self.X))

    def test_unknown_cells_and_weights_are_taken(self):
        Y = self.Y.astype(float)
        Y[self.rng.random(Y.shape) < 0.2] = np.nan
        content = NaiveBayes().fit_out_of_fold(self.X, Y)
        rescorer = LabelRescorer(evidence_weight="auto", scale="log_odds")
        rescorer.fit(Y, scores=content, sample_weight=np.full(120, 2.0))
        assert np.isfinite(rescorer.rescore(content)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "accuracy"}, "criterion must be one of 'brier'.* got 'accuracy'"),
        ({"shrinkage": 0}, "shrinkage must be above 0, got 0"),
    ],
)
def test_wrong_choices_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit_auto(*coupled_world(0, n=20), **options)


def test_learning_without_out_of_fold_scores_is_refused():
    with pytest.raises(ValueError, match=r"fit\(Y, scores=...\) needs out-of-fold scores"):
        LabelRescorer(evidence_weight=LearnedWeight()).fit([["a"], ["b"]])


def test_scores_of_other_documents_are_refused():
    with pytest.raises(ValueError, match=r"documents × labels, \(2, 2\), got shape \(1, 2\)"):
        LabelRescorer(evidence_weight="auto").fit([["a"], ["b"]], scores=[[0.5, 0.5]])
