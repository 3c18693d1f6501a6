"""The learned rule on candidates; with all cells as candidates it equals the dense one."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.tree import DecisionTreeClassifier

from labelkin import LabelRescorer, LearnedWeight, LogisticLabels
from labelkin.evaluation.metrics import brier_score
from labelkin.label_matrix import Cells, read_labels
from labelkin.learned.calibration import fit_calibration
from labelkin.learned.fitting import CandidateEvidence, share_of_missed
from labelkin.learned.terms import PaperEvidence
from labelkin.method.combination import probable_labels
from labelkin.method.label_evidence import mean_other_labels
from labelkin.method.label_sets import count_label_sets


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
    ("labels", "weighted"),
    [(None, False), (None, True), (DecisionTreeClassifier(max_depth=2, random_state=0), False)],
    ids=["linear", "weighted", "tree"],
)
def test_all_cells_as_candidates_give_the_dense_posterior(labels, weighted):
    Y, Z = made()
    times = np.random.default_rng(4).integers(0, 3, len(Y)).astype(float) if weighted else None
    # The correction of candidates needs label evidence that is linear.
    weight = LearnedWeight() if labels is None else LearnedWeight(shrinkage=np.inf)
    dense, cells = (
        LabelRescorer(labels, evidence_weight=weight, scale="log_odds").fit(
            Y, scores=scores, sample_weight=times
        )
        for scores in (Z, full(Z))
    )
    assert cells.evidence_weight_ == dense.evidence_weight_ > 0
    known = np.where(np.arange(Y.shape[1]) < 3, Y, np.nan)
    for given in (None, known):
        np.testing.assert_allclose(
            cells.rescore(full(Z), given).toarray(), dense.rescore(Z, given), rtol=0, atol=2e-3
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


def test_label_outside_the_candidates_has_its_share_of_missed():
    Y, Z = made()
    scores = best(Z, 5)
    absent = share_of_missed(Cells.of(scores), read_labels(Y), None)
    stored = scores.toarray() != 0
    expected = np.array([Y[~stored[:, j], j].mean() for j in range(Y.shape[1])])
    np.testing.assert_allclose(absent, expected, atol=1e-12)
    rescorer = LabelRescorer(None, variant="soft", evidence_weight="auto", scale="log_odds").fit(
        Y, scores=scores
    )
    np.testing.assert_allclose(rescorer.combination_.predicted.absent, expected, atol=1e-12)


def test_calibration_of_all_cells_equals_dense():
    Y, Z = made(p=6)
    labels = read_labels(Y)
    dense = fit_calibration(3 * Z, labels, monotone=False)
    cells = Cells.full(Z.shape)
    found = fit_calibration(full(3 * Z), labels)
    np.testing.assert_allclose(found.slope, dense.slope, atol=2e-3)
    np.testing.assert_allclose(found.shift, dense.shift, atol=5e-3)
    p = expit(found.slope[cells.label] * 3 * Z.ravel() + found.shift[cells.label])
    np.testing.assert_allclose(cells.sums_by_label(p), Y.sum(axis=0), rtol=0.1)


@pytest.mark.parametrize("neighbours", [None, 4])
def test_known_labels_outside_the_candidates_change_others(neighbours):
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


class TestNeighbours:
    """Among very many labels the correction uses neighbours, chosen labels and the rest."""

    labels = LogisticLabels(neighbours=4)

    def fitted(self):
        Y, Z = made()
        weight = LearnedWeight()
        return LabelRescorer(
            self.labels, variant="soft", evidence_weight=weight, scale="log_odds"
        ).fit(Y, scores=best(Z, 6))

    def test_the_posterior_is_the_sum_of_its_formula(self):
        rescorer, scores = self.fitted(), best(made(seed=5)[1], 6)
        rule = rescorer.combination_
        predicted, absent = rule.predicted, rule.predicted.absent
        found = rescorer.rescore(scores)
        calibration = predicted.fill_in.calibration
        for i in range(0, scores.shape[0], 37):
            row = slice(scores.indptr[i], scores.indptr[i + 1])
            own, z = scores.indices[row], scores.data[row]
            L = absent.copy()
            L[own] = expit(calibration.slope[own] * z + calibration.shift[own])
            for j, content, posterior in zip(own, z, found.data[row], strict=True):
                paper, u = predicted.paper.labels, predicted.correction
                expected = content + predicted.weight * (
                    paper.bias_[j]
                    - predicted.paper.prior_log_odds[j]
                    + L @ paper.weights_.toarray()[:, j]
                    + paper.rest_[j] * (L.sum() - L[j])
                )
                expected += u.bias[j] + L @ u.weights.toarray()[:, j]
                expected += u.rest[j] * (L.sum() - L[j])
                assert posterior == pytest.approx(expected, abs=1e-10)

    def test_correction_equals_scipy_optimum(self):
        Y, Z = made()
        labels, scores = read_labels(Y), best(Z, 6)
        cells = Cells.of(scores)
        paper = PaperEvidence.fit(self.labels, labels)
        evidence = CandidateEvidence.of(paper, probable_labels, scores, labels, None)
        term = evidence.correction(scores.data, 20.0)
        filled = cells.dense(evidence.filled, evidence.absent)
        n_labels_seen = 1 + mean_other_labels(count_label_sets(labels))
        penalty = 20.0 * 2 * n_labels_seen / 3001  # as strong as with 3,000 labels
        above = filled - evidence.absent
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
            found = term.at_cells(cells, evidence.filled, evidence.absent)
            np.testing.assert_allclose(found[cells.label == j], A @ w, atol=5e-3)

    def test_contribution_is_the_change_at_the_expected_value(self):
        rescorer, scores = self.fitted(), best(made(seed=5)[1], 6)[:4]
        rule = rescorer.combination_
        content = Cells.of(scores).dense(scores.data, -np.inf)
        posterior, parts = rule.decompose(content)
        filled = rule.predicted.filled(content)
        whole = rule.predicted.at(filled)
        for i, row in enumerate(rescorer.explain(scores, top=2)):
            for explained in row:
                j = rescorer.label_names_.tolist().index(explained.label)
                assert sum(explained.parts.values()) == pytest.approx(explained.log_odds)
                assert explained.log_odds == pytest.approx(posterior[i, j])
                for one in explained.labels:
                    k = rescorer.label_names_.tolist().index(one.label)
                    expected = filled.copy()
                    expected[i, k] = rescorer.prior_[k]
                    gone = whole[i, j] - rule.predicted.at(expected)[i, j]
                    assert one.log_odds == pytest.approx(gone, abs=1e-9)
        assert [one.name for one in parts] == ["prior", "content", "predicted labels"]
