"""Term scores and weights, compared with scikit-learn and the formulas in plain Python."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from scipy.stats import chi2_contingency
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelkin.text import TermSelection, TermWeights, term_scores, terms

SETTINGS = [(s, c) for s in ("information_gain", "chi2") for c in ("sum", "max")]


def table_of(X, Y, t, j):
    """Count documents by (term present, label present); unknown labels are left out."""
    table = {(a, b): 0 for a in (0, 1) for b in (0, 1)}
    for document, labels in zip(X, Y, strict=True):
        if not math.isnan(labels[j]):
            table[int(document[t] != 0), int(labels[j])] += 1
    return table


def gain_of(table):
    n = sum(table.values())
    gain = 0.0
    for (a, b), x in table.items():
        if x:
            term = table[a, 0] + table[a, 1]
            label = table[0, b] + table[1, b]
            gain += x / n * math.log(x * n / (term * label))
    return gain


def chi2_of(table):
    a, b, c, d = table[1, 1], table[1, 0], table[0, 1], table[0, 0]
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    return (a + b + c + d) * (a * d - b * c) ** 2 / margins if margins else 0.0


def scores_by_hand(X, Y, criterion, combine):
    of = {"information_gain": gain_of, "chi2": chi2_of}[criterion]
    result = []
    for t in range(len(X[0])):
        tables = [table_of(X, Y, t, j) for j in range(len(Y[0]))]
        if combine == "max":
            result.append(max(map(of, tables)))
        else:
            result.append(sum(map(of, tables)))
    return result


def corpus(seed, n=40, n_terms=13, n_labels=6, unknown=0.0):
    """Return sparse counts with a constant and an absent term, and labels alike, with gaps."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, n_terms)).astype(float)
    X[:, 0], X[:, 1] = 1.0, 0.0
    Y = (X[:, 2 : 2 + n_labels] + rng.normal(0, 0.7, (n, n_labels)) > 0.9).astype(float)
    Y[:, 0], Y[:, 1] = 1.0, 0.0
    Y[rng.random(Y.shape) < unknown] = np.nan
    return X, Y


@pytest.mark.parametrize(("criterion", "combine"), SETTINGS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), unknown=st.sampled_from([0.0, 0.3, 1.0]))
def test_scores_equal_tables_counted_by_hand(criterion, combine, seed, unknown):
    X, Y = corpus(seed, unknown=unknown)
    expected = scores_by_hand(X.tolist(), Y.tolist(), criterion, combine)
    for labels in (Y, sparse.csr_array(Y)):
        ours = term_scores(sparse.csr_array(X), labels, criterion=criterion, combine=combine)
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("criterion", "combine"), SETTINGS)
@pytest.mark.parametrize("unknown", [0.0, 0.3])
@pytest.mark.parametrize("cells", [1, 30])
def test_blocks_of_labels_score_like_all_at_once(monkeypatch, criterion, combine, unknown, cells):
    X, Y = corpus(1, unknown=unknown)
    at_once = term_scores(X, Y, criterion=criterion, combine=combine)
    monkeypatch.setattr(terms, "_DENSE_CELLS", cells)
    in_blocks = term_scores(X, Y, criterion=criterion, combine=combine)
    np.testing.assert_allclose(in_blocks, at_once, rtol=1e-13)


def test_scores_of_one_label_equal_scipy_and_scikit_learn():
    X, Y = corpus(3)
    present, y = X[:, 2:] > 0, Y[:, 3]
    gains = [mutual_info_score(y, term) for term in present.T]
    chi2 = [
        chi2_contingency(pd.crosstab(y, term), correction=False).statistic for term in present.T
    ]
    Y = Y[:, [3]]
    np.testing.assert_allclose(term_scores(X[:, 2:], Y), gains, atol=1e-14)
    np.testing.assert_allclose(term_scores(X[:, 2:], Y, criterion="chi2"), chi2, atol=1e-12)


def test_independent_terms_score_exactly_zero():
    X = [[1], [1], [0], [0], [0], [0]] * 7
    y = [[1], [0], [1], [0], [1], [0]] * 7
    for criterion in ("information_gain", "chi2"):
        assert term_scores(X, y, criterion=criterion).tolist() == [0]


def test_counts_and_weights_select_alike_and_stored_zeros_are_absent():
    X, Y = corpus(5)
    weights = X * np.random.default_rng(0).random(X.shape)
    np.testing.assert_array_equal(term_scores(X, Y), term_scores(weights, Y))
    stored = sparse.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()
    kept = stored.copy()
    np.testing.assert_array_equal(term_scores(X, Y), term_scores(stored, Y))
    assert stored.nnz == kept.nnz == X.size


@pytest.mark.parametrize(("criterion", "combine"), SETTINGS)
@pytest.mark.parametrize("k", [1, 4, 13, 99])
def test_the_k_best_terms_are_kept_in_column_order(criterion, combine, k):
    X, Y = corpus(8)
    X = np.hstack([X, X[:, ::-1]])
    model = TermSelection(criterion, combine=combine, k=k)
    kept = model.fit_transform(X, Y)
    scores = model.scores_.tolist()
    best = sorted(sorted(range(len(scores)), key=lambda t: (-scores[t], t))[:k])
    assert model.get_support(indices=True).tolist() == best
    np.testing.assert_array_equal(kept, X[:, best])
    for t in range(13):
        assert scores[t] == scores[25 - t]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            TermSelection(criterion="gini"),
            "criterion must be one of 'information_gain', 'chi2', got 'gini",
        ),
        (TermSelection(combine="mean"), "combine must be one of 'sum', 'max', got"),
        (TermSelection(k=0), "k must be a whole number of at least 1, got 0"),
        (TermSelection(k=2.0), "k must be a whole number of at least 1, got 2.0"),
        (TermSelection(k="all"), "k must be a whole number of at least 1, got 'all'"),
    ],
)
def test_wrong_parameters_are_named_when_fitting(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*corpus(0))


COUNTS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(1, 5)),
    elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 9.0]),
)


def ltc_by_hand(train, test):
    n_documents = len(train)
    rows = []
    for document in test:
        row = []
        for t, count in enumerate(document):
            having = sum(other[t] > 0 for other in train)
            known = count > 0 and having > 0
            row.append((1 + math.log(count)) * math.log(n_documents / having) if known else 0.0)
        length = math.sqrt(sum(weight**2 for weight in row))
        rows.append([weight / length if length else 0.0 for weight in row])
    return rows


@settings(max_examples=60, deadline=None)
@given(COUNTS)
def test_tfidf_equals_scikit_learn(X):
    ours, theirs = TermWeights("tfidf"), TfidfTransformer()
    np.testing.assert_allclose(
        ours.fit_transform(X).toarray(), theirs.fit_transform(X).toarray(), rtol=1e-14
    )
    np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.integers(0, 2**32 - 1))
def test_ltc_equals_the_formula(X, seed):
    new = np.random.default_rng(seed).poisson(1.0, (3, X.shape[1]))
    weights = TermWeights("ltc").fit(X)
    np.testing.assert_allclose(weights.transform(X).toarray(), ltc_by_hand(X, X), atol=1e-15)
    np.testing.assert_allclose(weights.transform(new).toarray(), ltc_by_hand(X, new), atol=1e-15)


@pytest.mark.parametrize("scheme", ["counts", "tfidf", "ltc"])
class TestEveryScheme:
    X = np.array([[2.0, 0, 1], [0, 0, 0], [1, 0, 0]])

    def test_documents_without_terms_stay_empty_and_lengths_are_one(self, scheme):
        weights = TermWeights(scheme).fit_transform(self.X)
        assert weights[[1]].nnz == 0
        if scheme != "counts":
            assert np.linalg.norm(weights.toarray(), axis=1) == pytest.approx([1, 0, 1])

    def test_the_input_stays_as_it_is_however_it_is_stored(self, scheme):
        stored = (np.array([1.0, 1.0, 0.0, 3.0]), np.array([2, 2, 0, 1]), np.array([0, 3, 4]))
        X = sparse.csr_matrix(tuple(part.copy() for part in stored), shape=(2, 3))
        weights = TermWeights(scheme).fit(X)
        again = weights.transform(X)
        for part, kept in zip((X.data, X.indices, X.indptr), stored, strict=True):
            np.testing.assert_array_equal(part, kept)
        plain = np.array([[0, 0, 2], [0, 3, 0]])
        assert (again != TermWeights(scheme).fit(plain).transform(plain)).nnz == 0
        again.data[:] = 7
        np.testing.assert_array_equal(X.data, stored[0])

    def test_negative_counts_are_errors(self, scheme):
        with pytest.raises(ValueError, match=r"Negative values .* must be at least 0, got -2"):
            TermWeights(scheme).fit([[1, -2]])


def test_ltc_rejects_weights():
    with pytest.raises(ValueError, match=r"must be 0 or at least 1, got 0.25. Give it counts"):
        TermWeights("ltc").fit([[1, 0.25]])


# "ltc" takes counts only, and the checks bring fractions.
@parametrize_with_checks(
    [
        TermSelection(k=2),
        TermSelection("chi2", combine="max", k=1),
        TermWeights("counts"),
        TermWeights("tfidf"),
    ]
)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


KINDS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix]
