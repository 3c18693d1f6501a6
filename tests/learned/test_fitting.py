"""The learned rule: SciPy as the oracle of its steps, and worlds whose answer is known."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import labelkin.learned.fitting
from labelkin import LabelDependenceClassifier, LabelRescorer, LearnedWeight, NaiveBayes
from labelkin.evaluation.splits import round_robin_folds
from labelkin.label_matrix import read_labels
from labelkin.learned.fitting import cross_fitted_posterior, fit_correction
from labelkin.method.label_evidence import LogisticLabels, prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.thresholds import SCutFBR


def coupled_world(seed, n=1500, noise=1.0, copies=False):
    """Labels in pairs that attract each other, and content evidence with separate noise.

    ``copies``: the content evidence of a pair has the same noise, so that the second label of the
    pair adds little to the first.
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


def fit_auto(Y, content, sample_weight=None, labels=None, **options):
    weight = LearnedWeight(**options)
    rescorer = LabelRescorer(labels, evidence_weight=weight, scale="log_odds")
    return rescorer.fit(Y, scores=content, sample_weight=sample_weight)


def test_independent_evidence_of_related_labels_has_a_large_weight_and_copied_a_small_one():
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


class TestCorrection:
    def by_scipy(self, inputs, offset, y, penalty):
        """Minimise the objective as it is written down: weights of the inputs, and the bias."""
        X = np.column_stack([inputs, np.ones(len(y))])

        def objective(w):
            m = offset + X @ w
            loss = (np.logaddexp(0, m) - y * m).sum() + penalty / 2 * w @ w
            return loss, X.T @ (expit(m) - y) + penalty * w

        return minimize(objective, np.zeros(X.shape[1]), jac=True, tol=1e-12).x

    def test_minimises_its_objective_over_all_other_labels(self):
        Y, content = coupled_world(2, n=400)
        labels, filled = read_labels(Y), expit(content)
        correction = fit_correction(filled, content, labels, None, 7.0)
        penalty = 7.0 * 2 / prior_scale(count_label_sets(labels))
        for j in range(Y.shape[1]):
            others = np.delete(np.arange(6), j)
            expected = self.by_scipy(filled[:, others], content[:, j], Y[:, j], penalty[j])
            np.testing.assert_allclose(correction.weights[others, j], expected[:-1], atol=2e-3)
            np.testing.assert_allclose(correction.bias[j], expected[-1], atol=2e-3)
        assert not np.diag(correction.weights).any()

    def test_above_the_limit_minimises_its_objective_over_the_leading_directions(self, monkeypatch):
        monkeypatch.setattr(labelkin.learned.fitting, "_ALL_LABELS", 5)
        monkeypatch.setattr(labelkin.learned.fitting, "_DIRECTIONS", 3)
        Y, content = coupled_world(3, n=400)
        labels, filled = read_labels(Y), expit(content)
        correction = fit_correction(filled, content, labels, None, 7.0)
        directions = np.linalg.svd(filled, full_matrices=False)[2][:3].T
        penalty = 7.0 * 2 / prior_scale(count_label_sets(labels))
        for j in range(Y.shape[1]):
            expected = self.by_scipy(filled @ directions, content[:, j], Y[:, j], penalty[j])
            weights = directions @ expected[:-1]
            np.testing.assert_allclose(correction.weights[:, j], weights, atol=2e-3)
            np.testing.assert_allclose(correction.bias[j], expected[-1], atol=2e-3)

    def test_of_160_labels_uses_directions_and_a_label_is_part_of_its_own_content(self):
        rng = np.random.default_rng(4)
        Y = (rng.random((300, 160)) < 0.1).astype(int)
        Y[:, 1::2] |= Y[:, ::2]
        content = 2 * (2 * Y - 1 + rng.normal(size=Y.shape)) - 2
        fitted = fit_auto(Y, content, labels=LogisticLabels(neighbours=None))
        predicted = fitted.combination_.predicted
        own = np.diag(predicted.correction.weights)
        assert np.abs(own).min() > 0
        posterior, parts = fitted.combination_.decompose(content)
        by_name = {part.name: part for part in parts}
        filled = predicted.filled(content)
        expected = content + filled * own
        found = by_name["prior"].log_odds + by_name["content"].log_odds
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            sum(part.log_odds for part in parts), posterior, rtol=0, atol=1e-9
        )
        for j in (0, 7):  # in explanations of a label, itself is not among the other labels
            assert by_name["predicted labels"].contributions(5, j)[j] == 0

    def test_of_evidence_that_is_not_linear_is_added_to_it(self):
        Y, content = coupled_world(6, n=600)
        fitted = fit_auto(Y, content, labels=DecisionTreeClassifier(max_depth=3))
        predicted = fitted.combination_.predicted
        L = predicted.filled(content)
        evidence = fitted.labels_.log_odds(L) - logit(fitted.prior_)
        added = L @ predicted.correction.weights + predicted.correction.bias
        expected = content + predicted.weight * evidence + added
        np.testing.assert_allclose(fitted.rescore(content), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("copies", [False, True])
def test_the_weight_has_the_smallest_brier_score_of_eleven(copies):
    Y, content = coupled_world(5, n=800, copies=copies)
    fitted = fit_auto(Y, content)
    filled = fitted.combination_.predicted.filled(content)
    evidence = fitted.labels_.log_odds(filled) - logit(fitted.prior_)
    scores = [brier(content + w / 10 * evidence, Y) for w in range(11)]
    assert fitted.evidence_weight_ == np.argmin(scores) / 10
    assert (fitted.evidence_weight_ == 0) == copies


class TestCrossFittedPosterior:
    @pytest.mark.parametrize("evidence_weight", [1.0, LearnedWeight()], ids=str)
    def test_labels_of_a_fold_change_no_evidence_of_that_fold(self, monkeypatch, evidence_weight):
        """Change the labels of one document: only evidence of documents in other folds moves."""
        Y, content = coupled_world(8, n=80)
        fold = round_robin_folds(read_labels(Y), 4)
        monkeypatch.setattr(labelkin.learned.fitting, "round_robin_folds", lambda *_: fold)
        changed = Y.copy()
        changed[5] = 1 - changed[5]
        before, after = (
            cross_fitted_posterior(
                LogisticLabels(), "soft", evidence_weight, read_labels(truth), content
            )
            for truth in (Y, changed)
        )
        own = fold == fold[5]
        np.testing.assert_array_equal(before[own], after[own])
        assert (before[~own] != after[~own]).any(axis=1).all()

    def test_a_fold_gets_the_posterior_of_a_model_fitted_on_the_other_folds(self):
        Y, content = coupled_world(9, n=120)
        weight = np.random.default_rng(0).integers(1, 4, 120).astype(float)
        rescorer = LabelRescorer(scale="log_odds")
        found = rescorer.fit_out_of_fold(Y, scores=content, sample_weight=weight)
        fold = round_robin_folds(read_labels(Y), 4)
        for k in range(4):
            train, test = fold != k, fold == k
            other = fit_auto(Y[train], content[train], sample_weight=weight[train])
            np.testing.assert_array_equal(found[test], other.rescore(content[test]))


class TestSampleWeight:
    Y, content = coupled_world(15, n=150)

    @pytest.mark.parametrize("unknown", [False, True])
    def test_equals_repeated_documents(self, unknown):
        Y, rng = self.Y.astype(float), np.random.default_rng(1)
        if unknown:
            Y[rng.random(Y.shape) < 0.1] = np.nan
        times = rng.integers(1, 4, len(Y))
        weighted = fit_auto(Y, self.content, sample_weight=times)
        repeated = fit_auto(np.repeat(Y, times, axis=0), np.repeat(self.content, times, axis=0))
        assert weighted.evidence_weight_ == repeated.evidence_weight_
        np.testing.assert_allclose(
            weighted.rescore(self.content), repeated.rescore(self.content), atol=2e-3
        )


class TestInTheClassifier:
    rng = np.random.default_rng(13)
    Y = (rng.random((120, 5)) < 0.3).astype(int)
    X = rng.poisson(1 + 2 * np.repeat(Y, 3, axis=1))

    def test_auto_is_the_default_and_learns_from_out_of_fold_content(self):
        model = LabelDependenceClassifier(NaiveBayes()).fit(self.X, self.Y)
        rescorer = fit_auto(self.Y, NaiveBayes().fit_out_of_fold(self.X, self.Y))
        content = NaiveBayes().fit(self.X, self.Y).log_odds(self.X)
        np.testing.assert_allclose(model.log_odds(self.X), rescorer.rescore(content))
        assert model.evidence_weight_ == rescorer.evidence_weight_

    def test_variant_may_be_a_threshold_rule(self):
        rule = SCutFBR()
        model = LabelDependenceClassifier(NaiveBayes(), variant=rule, evidence_weight=1)
        model.fit(self.X, self.Y)
        content = model.content_.log_odds(self.X)
        cuts = clone(rule).fit(NaiveBayes().fit_out_of_fold(self.X, self.Y), self.Y)
        filled = cuts.decide(content).astype(float)
        expected = content + model.rescorer_.labels_.log_odds(filled) - logit(model.prior_)
        np.testing.assert_allclose(model.log_odds(self.X), expected)
        assert not hasattr(rule, "cut_"), "the parameter itself is not fitted"

    def test_fewer_than_8_documents_leave_the_content_unchanged(self):
        model = LabelDependenceClassifier(NaiveBayes()).fit(self.X[:7], self.Y[:7])
        assert model.evidence_weight_ == 0
        np.testing.assert_allclose(model.log_odds(self.X), model.content_.log_odds(self.X))

    @pytest.mark.parametrize(("options", "weight"), [({}, 0.75), ({"known_weight": 0.5}, 0.5)])
    def test_fewer_than_8_documents_have_known_labels_of_the_usual_weight(self, options, weight):
        model = LabelDependenceClassifier(NaiveBayes(), **options).fit(self.X[:7], self.Y[:7])
        assert model.rescorer_.combination_.known.weight == weight


def test_a_constant_label_keeps_its_content():
    Y, content = coupled_world(16, n=200)
    Y = np.column_stack([Y, np.zeros(200), np.ones(200), np.full(200, np.nan)])
    wide = np.column_stack([content, content[:, :2], np.full(200, 50.0)])
    fitted = fit_auto(Y, wide)
    assert fitted.combination_.predicted.paper.constant.tolist() == [False] * 6 + [True] * 3
    np.testing.assert_array_equal(fitted.rescore(wide)[:, 6:], wide[:, 6:])
    np.testing.assert_array_equal(fitted.rescore(-wide)[:, 6:], -wide[:, 6:])


def test_learning_needs_out_of_fold_scores():
    with pytest.raises(ValueError, match=r"scores must be given to learn .*fit\(Y, scores=...\)"):
        LabelRescorer(evidence_weight=LearnedWeight()).fit([["a"], ["b"]] * 4)
