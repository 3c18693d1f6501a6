"""Term weights: against scikit-learn, and against the formulas in plain Python."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelkin.text import TermWeights

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
def test_tfidf_is_scikit_learn_s(X):
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


def test_ltc_on_a_document_worked_out_by_hand():
    X = [[3, 1, 0], [0, 1, 1], [0, 0, 2], [0, 1, 0]]
    first = [(1 + math.log(3)) * math.log(4), math.log(4 / 3)]
    expected = [first[0] / math.hypot(*first), first[1] / math.hypot(*first), 0]
    assert TermWeights("ltc").fit_transform(X).toarray()[0] == pytest.approx(expected)


def test_counts_stay_counts():
    X = np.array([[3.0, 0.0], [0.0, 1.0]])
    weights = TermWeights("counts").fit(X)
    assert weights.transform(X).toarray().tolist() == X.tolist()
    assert weights.idf_.tolist() == [1, 1]


@pytest.mark.parametrize("scheme", ["counts", "tfidf", "ltc"])
class TestEveryScheme:
    X = np.array([[2.0, 0, 1], [0, 0, 0], [1, 0, 0]])

    def test_documents_without_terms_stay_empty_and_lengths_are_one(self, scheme):
        weights = TermWeights(scheme).fit_transform(self.X)
        assert weights[[1]].nnz == 0
        if scheme != "counts":
            assert np.linalg.norm(weights.toarray(), axis=1) == pytest.approx([1, 0, 1])

    @pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, list])
    def test_any_form_of_counts_gives_the_same_csr(self, scheme, form):
        expected = TermWeights(scheme).fit_transform(self.X)
        weights = TermWeights(scheme).fit_transform(form(self.X))
        assert weights.format == "csr"
        assert weights.dtype == np.float64
        assert (weights != expected).nnz == 0

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

    def test_clone_pickle_parameters_and_names(self, scheme):
        model = TermWeights(scheme)
        assert repr(clone(model)) == repr(model)
        with pytest.raises(NotFittedError, match="This TermWeights instance is not fitted"):
            model.transform(self.X)
        again = pickle.loads(pickle.dumps(model.fit(self.X)))
        assert (again.transform(self.X) != model.transform(self.X)).nnz == 0
        assert model.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c"]

    def test_the_output_is_sparse_whatever_scikit_learn_is_set_to(self, scheme):
        with config_context(transform_output="pandas"):
            assert sparse.issparse(TermWeights(scheme).fit_transform(self.X))

    def test_negative_counts_are_refused(self, scheme):
        with pytest.raises(ValueError, match=r"Negative values .* must be at least 0, got -2"):
            TermWeights(scheme).fit([[1, -2]])


def test_a_term_that_training_never_saw_weighs_nothing_in_ltc():
    weights = TermWeights("ltc").fit([[1, 0, 1], [0, 0, 1]])
    assert weights.transform([[1, 5, 5]]).toarray().tolist() == [[1, 0, 0]]
    assert weights.transform([[0, 5, 5]]).nnz == 0


def test_ltc_refuses_weights():
    with pytest.raises(ValueError, match=r"must be 0 or at least 1, got 0.25. Give it counts"):
        TermWeights("ltc").fit([[1, 0.25]])


@pytest.mark.parametrize("scheme", ["bm25", None, ["tfidf"]])
def test_an_unknown_scheme_lists_the_choices(scheme):
    with pytest.raises(ValueError, match="scheme must be one of 'counts', 'tfidf', 'ltc', got"):
        TermWeights(scheme).fit([[1]])


# "ltc" takes counts only, and the checks bring fractions.
@parametrize_with_checks([TermWeights("counts"), TermWeights("tfidf")])
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)
