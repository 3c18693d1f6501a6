"""The classifier on candidates: content with ``top``, all the way to decisions and explanations."""

import numpy as np
import pytest
from scipy import sparse

from labelkin import (
    LabelDependenceClassifier,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PlattSVM,
)
from labelkin.evaluation.metrics import evaluate
from labelkin.label_matrix import Cells
from labelkin.vocabulary.rules import Rules

CONTENT = {
    "svm": PlattSVM(random_state=0),
    "naive_bayes": NaiveBayes(),
    "nearest_neighbours": NearestNeighbours(20),
}


def made(n=160, p=12, seed=0):
    """Words that follow the labels; every second label follows the one before it."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, p)) < 0.15
    Y[:, 1::2] = np.where(rng.random((n, p // 2)) < 0.8, Y[:, ::2], Y[:, 1::2])
    Y[:, 0] |= ~Y.any(axis=1)
    X = rng.poisson(0.2, (n, 3 * p)).astype(float)
    X[:, : 2 * p] += rng.poisson(np.repeat(Y, 2, axis=1) * 0.8)
    return sparse.csr_array(X), Y.astype(int)


@pytest.fixture(scope="module", params=CONTENT)
def content(request):
    return CONTENT[request.param]


def test_top_equal_to_all_labels_returns_all(content):
    X, Y = made()
    everything = labelkin_clone(content, top=12)
    unseen, dense = everything.fit_out_of_fold(X, Y), content.fit_out_of_fold(X, Y)
    cells = Cells.of(unseen)
    np.testing.assert_allclose(unseen.data, cells.at(dense), atol=1e-9)
    found = everything.log_odds(X)
    np.testing.assert_allclose(found.data, Cells.of(found).at(content.log_odds(X)), atol=1e-9)


def test_candidates_are_the_best_labels(content):
    X, Y = made()
    few = labelkin_clone(content, top=4).fit(X, Y)
    dense = content.fit(X, Y).log_odds(X)
    found = few.log_odds(X)
    assert np.diff(found.indptr).max() <= 4
    for i in range(len(Y)):
        row = found.indices[found.indptr[i] : found.indptr[i + 1]]
        best = np.argsort(-dense[i], kind="stable")[: len(row)]
        assert set(row) == set(best)
    probabilities = few.predict_proba(X)
    assert sparse.issparse(probabilities)
    np.testing.assert_array_equal(few.predict(X)[:2], (found.toarray() > 0)[:2].astype(int))


def labelkin_clone(content, **parameters):
    from sklearn.base import clone

    return clone(content).set_params(**parameters)


@pytest.fixture(scope="module")
def model(content):
    X, Y = made(n=400)
    few = labelkin_clone(content, top=5)
    return LabelDependenceClassifier(few, labels=LogisticLabels(neighbours=4)).fit(X, Y)


def test_fit_predict_and_evaluate_candidates(model):
    X, Y = made(seed=5)
    found = model.log_odds(X)
    assert sparse.issparse(found)
    judged, alone = evaluate(Y, found), evaluate(Y, model.content_.log_odds(X))
    assert judged["brier_score"] <= alone["brier_score"] + 1e-3
    decided = model.predict(X)
    assert decided.shape == Y.shape
    np.testing.assert_array_equal(decided, model.decide(found).toarray())
    assert (model.predict_proba(X).data <= 1).all()


def test_an_accepted_label_joins_the_candidates(model):
    X, _ = made(seed=5)
    before = model.log_odds(X[:8])
    known = sparse.lil_array(before.shape)
    added = [
        int(np.setdiff1d(np.arange(12), before.indices[before.indptr[i] : before.indptr[i + 1]])[0])
        for i in range(8)
    ]
    for i, j in enumerate(added):
        known[i, j] = 1
    after = model.log_odds(X[:8], known.tocsr())
    assert after.nnz == before.nnz + 8
    assert all(after[i, j] == np.inf for i, j in enumerate(added))
    posterior = model.posterior(X[:8], known.tocsr())
    cells = Cells.of(after)
    np.testing.assert_allclose(cells.at(posterior.log_odds), after.data, atol=1e-9)
    rejected = model.log_odds(X[:1], {"rejected": [int(before.indices[0])]})
    assert rejected[0, int(before.indices[0])] == -np.inf


def test_calibrated_candidates():
    X, Y = made(n=300)
    content = NaiveBayes(top=5)
    plain = LabelDependenceClassifier(content).fit(X, Y)
    calibrated = LabelDependenceClassifier(content, calibrate=True).fit(X, Y)
    new, truth = made(seed=7)
    scores = [evaluate(truth, probabilities=m.predict_proba(new)) for m in (plain, calibrated)]
    assert scores[1]["brier_score"] < scores[0]["brier_score"]


def test_rules_add_broader_labels_to_the_candidates():
    X, Y = made(n=300)
    Y[:, 10] = Y[:, 2] | Y[:, 10]
    rules = Rules(implies=[(2, 10)])
    model = LabelDependenceClassifier(NearestNeighbours(20, top=4), rules=rules).fit(X, Y)
    found = model.log_odds(X)
    narrow, broad = (np.asarray(Cells.of(found).dense(found.data, -np.inf))[:, j] for j in (2, 10))
    assert (broad >= narrow).all()
    decided = model.predict(X)
    assert (decided[:, 10] >= decided[:, 2]).all()


def test_pruned_weights_are_sparse_and_change_little():
    X, Y = made(n=300)
    plain, pruned = PlattSVM(random_state=0).fit(X, Y), PlattSVM(prune=0.05, random_state=0)
    pruned.fit(X, Y)
    assert sparse.issparse(pruned.coef_)
    assert pruned.coef_.dtype == np.float32
    kept = np.abs(plain.coef_) >= 0.05
    assert pruned.coef_.nnz == kept.sum() < kept.size
    assert np.abs(pruned.log_odds(X) - plain.log_odds(X)).mean() < 0.1
    parts = pruned.term_contributions(X[:2], [0, 3])
    total = parts[0][1].constant + sum(t.log_odds for t in parts[0][1].terms)
    assert total == pytest.approx(pruned.log_odds(X[:1])[0, 3], abs=1e-5)
