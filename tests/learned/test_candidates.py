"""The learned weight on candidates: what the dense one learns, where all cells are candidates."""

import numpy as np
import pytest
from labelkin.learned.first_place import keep_first, keep_first_of_cells
from labelkin.learned.known_labels import learn_known_weights
from labelkin.learned.learned_weight import LearnedWeight, _harmless_share
from labelkin.learned.predicted_evidence import PredictedEvidence
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.tree import DecisionTreeClassifier

from labelkin import LabelRescorer, LogisticLabels, load, save
from labelkin.evaluation.metrics import brier_score
from labelkin.evaluation.metrics.judged import Truth
from labelkin.label_matrix import Cells, read_labels
from labelkin.learned.calibration import fit_calibration, fit_cell_calibration
from labelkin.learned.candidates import CandidateEvidence, share_of_missed
from labelkin.method.combination import fit_combination, probable_labels
from labelkin.method.label_evidence import OtherLabels


def made(n=600, p=14, seed=0):
    """Labels that go together, and content that is blind for every second one."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, p)) < 0.15
    Y[:, 1::2] = np.where(rng.random((n, p // 2)) < 0.85, Y[:, ::2], Y[:, 1::2])
    Z = rng.normal(-2, 1, Y.shape) + np.where(np.arange(p) % 2, 0.5, 4) * Y
    return Y.astype(float), Z


def full(Z):
    return Cells.full(Z.shape).matrix(Z.ravel())


def best(Z, k):
    keep = np.zeros(Z.shape)
    np.put_along_axis(keep, np.argsort(-Z, axis=1)[:, :k], 1.0, axis=1)
    cells = Cells.of(sparse.csr_array(keep))
    return cells.matrix(cells.at(Z))


@pytest.mark.parametrize(
    "criterion", ["brier", "log_loss", "hamming_loss", "micro_f1", "one_error"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_cells_as_candidates_is_the_dense_answer(criterion, weighted):
    Y, Z = made()
    times = np.random.default_rng(4).integers(0, 3, len(Y)).astype(float) if weighted else None
    weight = LearnedWeight(criterion)
    dense, cells = (
        LabelRescorer(None, variant="soft", evidence_weight=weight, scale="log_odds").fit(
            Y, scores=scores, sample_weight=times
        )
        for scores in (Z, full(Z))
    )
    assert cells.evidence_weight_ == dense.evidence_weight_
    np.testing.assert_allclose(
        cells.rescore(full(Z)).toarray(), dense.rescore(Z), rtol=0, atol=2e-3
    )


def test_unknown_cells_are_left_out():
    Y, Z = made()
    Y[np.random.default_rng(2).random(Y.shape) < 0.1] = np.nan
    dense, cells = (
        LabelRescorer(None, variant="soft", evidence_weight="auto", scale="log_odds").fit(
            Y, scores=scores
        )
        for scores in (Z, full(Z))
    )
    np.testing.assert_allclose(
        cells.rescore(full(Z)).toarray(), dense.rescore(Z), rtol=0, atol=2e-3
    )


@pytest.mark.parametrize("neighbours", [None, 4])
def test_candidates_gain_on_new_documents(neighbours):
    (Y, Z), (T, new) = made(), made(seed=9)
    labels = LogisticLabels(neighbours=neighbours)
    rescorer = LabelRescorer(labels, variant="soft", evidence_weight="auto", scale="log_odds").fit(
        Y, scores=best(Z, 6)
    )
    content = best(new, 6)
    found = rescorer.rescore(content)
    assert (found.indices == content.indices).all()
    assert brier_score(T, found) < brier_score(T, content) - 0.01


def test_out_of_fold_posterior_has_the_same_cells():
    Y, Z = made()
    scores = best(Z, 6)
    rescorer = LabelRescorer(
        LogisticLabels(neighbours=4), variant="soft", evidence_weight="auto", scale="log_odds"
    )
    found = rescorer.fit_out_of_fold(Y, scores=scores)
    assert (found.indptr == scores.indptr).all()
    assert brier_score(Y, found) < brier_score(Y, scores)


def test_where_there_is_nothing_to_gain_nothing_is_learned():
    rng = np.random.default_rng(0)
    Y = (rng.random((800, 12)) < 0.2).astype(float)  # no label depends on another
    Z = rng.normal(-2, 1, Y.shape) + 3 * Y
    rescorer = LabelRescorer(
        LogisticLabels(neighbours=4), variant="soft", evidence_weight="auto", scale="log_odds"
    )
    rescorer.fit(Y, scores=best(Z, 6))
    assert rescorer.evidence_weight_ <= 0.1
    moved = rescorer.rescore(best(Z, 6)).data - best(Z, 6).data
    assert np.abs(moved).mean() < 0.35


def test_overconfident_content_does_not_diverge():
    Y, Z = made()
    rescorer = LabelRescorer(
        LogisticLabels(neighbours=4), variant="soft", evidence_weight="auto", scale="log_odds"
    )
    found = rescorer.fit(Y, scores=best(100 * Z, 6)).rescore(best(100 * Z, 6))
    assert np.isfinite(found.data).all()


def test_a_label_that_is_no_candidate_counts_its_share_of_missed():
    Y, Z = made()
    scores = best(Z, 5)
    absent = share_of_missed(Cells.of(scores), read_labels(Y), None)
    stored = scores.toarray() != 0
    expected = np.array([Y[~stored[:, j], j].mean() for j in range(Y.shape[1])])
    np.testing.assert_allclose(absent, expected, atol=1e-12)
    rescorer = LabelRescorer(None, variant="soft", evidence_weight="auto", scale="log_odds").fit(
        Y, scores=scores
    )
    np.testing.assert_allclose(rescorer.combination_.absent, expected, atol=1e-12)


def test_calibration_of_all_cells_is_the_dense_one():
    Y, Z = made(p=6)
    labels = read_labels(Y)
    dense = fit_calibration(3 * Z, labels, monotone=False)
    cells = Cells.full(Z.shape)
    found = fit_cell_calibration(cells, 3 * Z.ravel(), labels)
    np.testing.assert_allclose(found.slope, dense.slope, atol=2e-3)
    np.testing.assert_allclose(found.shift, dense.shift, atol=5e-3)
    p = expit(found.slope[cells.label] * 3 * Z.ravel() + found.shift[cells.label])
    np.testing.assert_allclose(cells.sums_by_label(p), Y.sum(axis=0), rtol=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_place_of_cells_is_that_of_rows(seed):
    rng = np.random.default_rng(seed)
    posterior, contest = (np.round(rng.normal(size=(30, 5)), 1) for _ in range(2))
    takes_part = rng.random((30, 5)) < 0.7
    dense, cells = posterior.copy(), posterior.ravel().copy()
    keep_first(dense, contest, takes_part)
    keep_first_of_cells(Cells.full((30, 5)), cells, contest.ravel(), takes_part.ravel())
    np.testing.assert_array_equal(cells, dense.ravel())


def test_a_model_file_remembers_what_absent_labels_count(tmp_path):
    import labelkin

    Y, Z = made()
    rescorer = LabelRescorer(
        LogisticLabels(neighbours=4), variant="soft", evidence_weight="auto", scale="log_odds"
    )
    rescorer.fit(Y, scores=best(Z, 6))
    labelkin.save(rescorer, tmp_path / "m.labelkin")
    again = labelkin.load(tmp_path / "m.labelkin").rescore(best(Z, 6))
    np.testing.assert_array_equal(again.data, rescorer.rescore(best(Z, 6)).data)


@pytest.mark.parametrize("neighbours", [None, 4])
@pytest.mark.parametrize("special", ["", "weighted", "unknown"])
def test_known_labels_of_all_cells_count_as_the_dense_ones(neighbours, special):
    Y, Z = made(900)
    rng = np.random.default_rng(6)
    if special == "unknown":
        Y[rng.random(Y.shape) < 0.1] = np.nan
    times = rng.integers(1, 4, len(Y)).astype(float) if special == "weighted" else None
    labels, classifier = read_labels(Y), LogisticLabels(neighbours=neighbours)
    whole = fit_combination(classifier, labels, sample_weight=times)
    dense = PredictedEvidence.of(classifier, probable_labels, Z, labels, times)
    cells = CandidateEvidence.of(
        classifier, probable_labels, full(Z), labels, times, whole.paper_labels.weights_
    )
    posterior = Z + 0.3 * dense.paper
    learned, at_cells = (
        learn_known_weights(evidence, given, whole.constant, first_place=True)
        for evidence, given in ((dense, posterior), (cells, posterior.ravel()))
    )
    for field in ("accepted", "rejected", "first_place"):
        found, expected = getattr(at_cells, field), getattr(learned, field)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert max(np.abs(np.subtract(learned.accepted, 0.5))) > 0.05  # something is learned


def test_known_labels_of_evidence_that_is_not_linear_count_as_the_dense_ones():
    Y, Z = made(200, 6)
    labels = read_labels(Y)
    classifier = OtherLabels(DecisionTreeClassifier(max_depth=2, random_state=0))
    dense = PredictedEvidence.of(classifier, probable_labels, Z, labels, None)
    cells = CandidateEvidence.of(classifier, probable_labels, full(Z), labels, None, None)
    learned, at_cells = (
        learn_known_weights(evidence, given, np.zeros(6, dtype=bool), first_place=True)
        for evidence, given in ((dense, Z), (cells, Z.ravel()))
    )
    np.testing.assert_allclose(at_cells.accepted, learned.accepted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(at_cells.rejected, learned.rejected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("neighbours", [None, 4])
def test_known_labels_that_are_no_candidates_help_to_find_others(neighbours):
    (Y, Z), (T, new) = made(1200), made(600, seed=9)
    labels = LogisticLabels(neighbours=neighbours)
    rescorer = LabelRescorer(labels, variant="soft", evidence_weight="auto", scale="log_odds").fit(
        Y, scores=best(Z, 6)
    )
    # The content is hardly wrong on even labels: take them out of the candidates, and accept them.
    odd = np.arange(T.shape[1]) % 2 == 1
    content = best(np.where(odd, new, -50.0), 6)
    known = np.where((T == 1) & ~odd, 1.0, np.nan)
    alone, found = rescorer.rescore(content), rescorer.rescore(content, known)
    np.testing.assert_array_equal(np.isposinf(found.toarray()), known == 1)
    before, after = (
        brier_score(T[:, odd], Cells.of(content).matrix(Cells.of(content).at(z))[:, odd])
        for z in (alone, found)
    )
    assert after < before - 0.02


def test_few_candidates_learn_nearly_what_all_cells_do():
    Y, Z = made(2400)
    some, everything = (
        LabelRescorer(
            LogisticLabels(neighbours=4), variant="soft", evidence_weight="auto", scale="log_odds"
        )
        .fit(Y, scores=scores)
        .combination_.known_weights
        for scores in (best(Z, 7), full(Z))
    )
    np.testing.assert_allclose(some.accepted, everything.accepted, atol=0.25)


class TestHarmlessShare:
    """How much of a correction counts, of candidates among very many labels."""

    def share(self, further, weights):
        Y, Z = made()
        labels, cells = read_labels(Y), Cells.of(full(Z))
        nothing = np.zeros(cells.n)
        evidence = CandidateEvidence(
            *(cells, Z.ravel(), expit(Z.ravel()), nothing, labels, None),
            *(np.zeros(len(Y), dtype=np.int64), (), np.zeros(Y.shape[1]), weights),
        )
        return _harmless_share(evidence, nothing, further(Y, Z).ravel(), Truth.of(labels))

    def test_all_of_what_helps(self):
        assert self.share(lambda Y, Z: Y, sparse.csc_array((14, 14))) == 1

    def test_none_of_what_costs_first_labels(self):
        harm = lambda Y, Z: np.random.default_rng(1).normal(0, 50, Z.shape)  # noqa: E731
        assert self.share(harm, sparse.csc_array((14, 14))) == 0

    def test_less_of_what_costs_them_in_full(self):
        too_much = lambda Y, Z: -1.9 * Z  # noqa: E731 (the order is turned round in full, not at half)
        assert self.share(too_much, sparse.csc_array((14, 14))) == 0.5

    def test_all_labels_as_inputs_are_left_as_they_are(self):
        assert self.share(lambda Y, Z: -3 * Z, np.zeros((14, 14))) == 1


class TestRoots:
    """Among very many labels the correction is linear in square roots of predicted labels."""

    labels = LogisticLabels(neighbours=4)

    def fitted(self):
        Y, Z = made()
        weight = LearnedWeight(first_place=False)
        return LabelRescorer(
            self.labels, variant="soft", evidence_weight=weight, scale="log_odds"
        ).fit(Y, scores=best(Z, 6))

    def test_the_posterior_is_the_sum_of_its_formula(self):
        rescorer, scores = self.fitted(), best(made(seed=5)[1], 6)
        rule = rescorer.combination_
        learned, absent = rule.learned_labels, rule.absent
        assert learned.by_root
        found = rescorer.rescore(scores)
        calibration = rule.variant.calibration
        for i in range(0, scores.shape[0], 37):
            row = slice(scores.indptr[i], scores.indptr[i + 1])
            own, z = scores.indices[row], scores.data[row]
            L = absent.copy()
            L[own] = expit(calibration.slope[own] * z + calibration.shift[own])
            for j, content, posterior in zip(own, z, found.data[row], strict=True):
                paper, u = learned.labels, learned.correction
                expected = content + learned.weight * (
                    paper.bias_[j]
                    - learned.prior_log_odds[j]
                    + L @ paper.weights_.toarray()[:, j]
                    + paper.rest_[j] * (L.sum() - L[j])
                )
                roots = np.sqrt(L)
                expected += u.bias[j] + roots @ u.weights.toarray()[:, j]
                expected += u.rest[j] * (roots.sum() - roots[j])
                assert posterior == pytest.approx(expected, abs=1e-10)

    def test_a_correction_is_what_an_optimiser_finds(self):
        Y, Z = made()
        labels, scores = read_labels(Y), best(Z, 6)
        cells = Cells.of(scores)
        paper = fit_combination(self.labels, labels).labels.weights_
        evidence = CandidateEvidence.of(self.labels, probable_labels, scores, labels, None, paper)
        term = evidence.correction(scores.data, 20.0)
        roots = cells.dense(np.sqrt(evidence.filled), np.sqrt(evidence.absent))
        penalty = evidence._penalty(20.0)
        above = roots - np.sqrt(evidence.absent)
        for j in (0, 5, 11):
            rows = cells.document[cells.label == j]
            inputs = term.weights.indices[term.weights.indptr[j] : term.weights.indptr[j + 1]]
            others = np.setdiff1d(np.arange(Y.shape[1]), [*inputs, j])
            A = np.column_stack(
                [above[np.ix_(rows, inputs)], above[np.ix_(rows, others)].sum(axis=1)]
            )
            A = np.column_stack([A, np.ones(len(rows))])
            y, given = Y[rows, j], scores.toarray()[rows, j]

            def loss(w, A=A, y=y, given=given, j=j):
                m = A @ w + given
                return np.logaddexp(0, m).sum() - y @ m + penalty[j] / 2 * (w @ w)

            w = minimize(loss, np.zeros(A.shape[1]), method="BFGS", tol=1e-8).x
            found = term.at_cells(cells, np.sqrt(evidence.filled), np.sqrt(evidence.absent))
            np.testing.assert_allclose(found[cells.label == j], A @ w, atol=5e-3)

    def test_what_a_label_adds_is_what_is_gone_when_it_is_as_expected(self):
        rescorer, scores = self.fitted(), best(made(seed=5)[1], 6)[:4]
        rule = rescorer.combination_
        content = Cells.of(scores).dense(scores.data, -np.inf)
        posterior, parts = rule.taken_apart(content)
        filled = rule.fill_in(content)
        whole = rule.label_evidence(filled)
        for i, row in enumerate(rescorer.explain(scores, top=2)):
            for explained in row:
                j = rescorer.label_names_.tolist().index(explained.label)
                assert sum(explained.parts.values()) == pytest.approx(explained.log_odds)
                assert explained.log_odds == pytest.approx(posterior[i, j])
                for one in explained.labels:
                    k = rescorer.label_names_.tolist().index(one.label)
                    expected = filled.copy()
                    expected[i, k] = rule.prior[k]
                    gone = whole[i, j] - rule.label_evidence(expected)[i, j]
                    assert one.log_odds == pytest.approx(gone, abs=1e-9)
        known = [one.name for one in parts]
        assert known[2] == "predicted labels"

    def test_it_is_kept_in_files_and_with_more_label_sets(self, tmp_path):
        rescorer, scores = self.fitted(), best(made(seed=5)[1], 6)
        save(rescorer, tmp_path / "many.labelkin")
        again = load(tmp_path / "many.labelkin")
        np.testing.assert_array_equal(again.rescore(scores).data, rescorer.rescore(scores).data)
        learned = rescorer.learn_more(made(seed=3)[0]).combination_.learned_labels
        assert learned.by_root
        assert learned.correction is rescorer.combination_.learned_labels.correction

    def test_all_labels_as_inputs_are_taken_as_they_are(self):
        Y, Z = made()
        rescorer = LabelRescorer(LogisticLabels(neighbours=None), scale="log_odds")
        rescorer.fit(Y, scores=best(Z, 6))
        assert not rescorer.combination_.learned_labels.by_root
