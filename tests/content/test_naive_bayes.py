import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB

from labelkin.content.naive_bayes import NaiveBayes, count_terms
from labelkin.label_matrix import read_labels


def world(seed, n=50, terms=30, p=6):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, terms)).astype(float)
    Y = (rng.random((n, p)) < rng.uniform(0.1, 0.6, p)).astype(float)
    X[3] = 0
    Y[:, -1] = 0
    Y[2, -1] = 1  # a label with one document
    return X, Y


@pytest.fixture(params=["sparse weights", "dense weights"])
def either_way(request, monkeypatch):
    """Weights of words in a sparse matrix, and in a dense one."""
    if request.param == "sparse weights":
        monkeypatch.setattr("labelkin.content.naive_bayes._SMALL", 0)
        monkeypatch.setattr("labelkin.content.naive_bayes._MANY_COUNTS", 2.0)


def scikit_learn_log_odds(X, y, queries, alpha=1.0):
    joint = MultinomialNB(alpha=alpha).fit(X, y).predict_joint_log_proba(queries)
    return joint[:, 1] - joint[:, 0]


@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_log_odds_equal_scikit_learn(either_way, alpha, indices):
    X, Y = world(0)
    given = sparse.csr_array(X)
    given.indices, given.indptr = given.indices.astype(indices), given.indptr.astype(indices)
    ours = NaiveBayes(alpha).fit(given, Y).log_odds(X)
    theirs = [scikit_learn_log_odds(X, y, X, alpha) for y in Y.T]
    np.testing.assert_allclose(ours, np.transpose(theirs), atol=1e-11)


def test_unknown_cells_leave_the_document_out_for_that_label(either_way):
    X, Y = world(1)
    Y[np.random.default_rng(5).random(Y.shape) < 0.2] = np.nan
    Y[0, -1], Y[2, -1] = 0, 1
    ours = NaiveBayes().fit(X, Y).log_odds(X)
    for j, y in enumerate(Y.T):
        rows = ~np.isnan(y)
        np.testing.assert_allclose(
            ours[:, j], scikit_learn_log_odds(X[rows], y[rows], X), atol=1e-11
        )


@pytest.mark.parametrize("values", ["counts", "real"])
@pytest.mark.parametrize("unknown", [False, True])
def test_leave_one_out_equals_fitting_without_the_document(either_way, values, unknown):
    X, Y = world(2)
    rng = np.random.default_rng(0)
    if values == "real":
        X *= rng.uniform(0.5, 1.5, X.shape)
        X = np.tile(X, (1, 9))  # more distinct values than the counts' way takes
    if unknown:
        Y[rng.random(Y.shape) < 0.2] = np.nan
        Y[2, -1] = 1
    ours = NaiveBayes().fit_out_of_fold(X, Y)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        refitted = NaiveBayes().fit(X[rest], Y[rest]).log_odds(X[[i]])
        np.testing.assert_allclose(ours[[i]], refitted, atol=1e-10)


def test_constant_labels_and_empty_documents_have_the_prior():
    X, Y = world(3)
    Y[:, 0], Y[:, 1] = 0, 1
    log_odds = NaiveBayes().fit(X, Y).log_odds(X)
    np.testing.assert_allclose(log_odds[:, 0], np.log(0.5 / 50.5))
    np.testing.assert_allclose(log_odds[:, 1], np.log(50.5 / 0.5))
    n = Y[:, 2].sum()
    np.testing.assert_allclose(log_odds[3, 2], np.log(n / (50 - n)))


@given(st.lists(st.integers(0, 3), min_size=20, max_size=20).filter(any), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_weights_equal_repetition_exactly(weights, seed):
    X, Y = world(seed, n=20)
    weighted = NaiveBayes().fit(X, Y, sample_weight=weights).log_odds(X)
    repeated = NaiveBayes().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_allclose(weighted, repeated.log_odds(X), atol=1e-10)


@given(st.integers(0, 20), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_counts_of_blocks_add_up_to_the_counts_of_the_whole(cut, seed):
    X, Y = world(seed, n=20)
    Y[5, 1] = np.nan
    X, labels = sparse.csr_array(X), read_labels(Y)
    first, second = np.arange(cut), np.arange(cut, 20)
    added = count_terms(X[first], labels.rows(first)) + count_terms(X[second], labels.rows(second))
    whole = count_terms(X, labels)
    np.testing.assert_array_equal(added.inside.toarray(), whole.inside.toarray())
    np.testing.assert_array_equal(added.unknown.toarray(), whole.unknown.toarray())
    np.testing.assert_array_equal(added.total, whole.total)
    np.testing.assert_array_equal(added.known, whole.known)


def test_log_odds_are_not_clipped():
    X = np.array([[400.0, 0], [300, 0], [0, 500]])
    model = NaiveBayes().fit(X, [[1, 0], [1, 0], [0, 1]])
    log_odds = model.log_odds([[300, 0], [400, 0]])[:, 0]
    assert log_odds[1] > log_odds[0] > 1000
    assert (model.predict_proba([[300, 0]]) < 1).all()


def test_negative_counts_and_alpha_0_raise():
    with pytest.raises(
        ValueError, match=r"must be at least 0, got .*-1.*PerLabel\(GaussianNB\(\)\)"
    ):
        NaiveBayes().fit([[-1.0]], [["a"]])
    with pytest.raises(ValueError, match="alpha must be positive, got 0"):
        NaiveBayes(alpha=0).fit([[1.0]], [["a"]])


@pytest.mark.parametrize("counts", ["counts", "real"])
@pytest.mark.parametrize("weighted", [False, True])
def test_candidates_have_the_log_odds_of_all_labels(counts, weighted):
    rng = np.random.default_rng(7)
    X = sparse.csr_array(rng.poisson(0.3, (40, 30)).astype(float))
    if counts == "real":
        X = X * 0.37
    Y = (rng.random((40, 12)) < 0.2).astype(int)
    Y[:, 0], Y[:, 1] = 0, 1  # no and all documents
    Y[0, 2], Y[1:, 2] = 1, 0  # one document
    weight = rng.integers(1, 4, 40).astype(float) if weighted else None
    whole, best = NaiveBayes(), NaiveBayes(top=12)
    left_out = whole.fit_out_of_fold(X, Y, weight)
    found = best.fit_out_of_fold(X, Y, weight).toarray()
    np.testing.assert_allclose(found, left_out, rtol=1e-11, atol=1e-11)
    new = sparse.csr_array(rng.poisson(0.3, (9, 30)).astype(float))
    np.testing.assert_allclose(
        best.log_odds(new).toarray(), whole.log_odds(new), rtol=1e-11, atol=1e-11
    )
    some = NaiveBayes(top=3).fit(X, Y, sample_weight=weight).log_odds(new)
    for i in range(9):
        kept = np.sort(np.argsort(-whole.log_odds(new)[i], kind="stable")[:3])
        assert some.indices[some.indptr[i] : some.indptr[i + 1]].tolist() == kept.tolist()
