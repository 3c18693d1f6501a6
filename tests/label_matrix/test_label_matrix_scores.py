import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelkin.label_matrix import best_labels, check_scale, read_scores
from labelkin.label_matrix.scores import check_probabilities

NAMES = np.array(["a", "b", "c"])
SCORES = np.array([[0.1, 0.9, 0.0], [1.0, 0.5, 0.25]])


@pytest.mark.parametrize(
    "scores",
    [
        SCORES,
        SCORES.tolist(),
        SCORES.astype(object),
        sparse.csr_array(SCORES),
        sparse.coo_matrix(SCORES),
        pd.DataFrame(SCORES, columns=NAMES)[["c", "a", "b"]],
        pl.DataFrame(SCORES, schema=NAMES.tolist())[["c", "a", "b"]],
        pd.DataFrame(SCORES),
    ],
)
def test_all_ways_of_giving_probabilities_mean_the_same(scores):
    values = read_scores(scores, NAMES, n_documents=2, scale="probability")
    np.testing.assert_array_equal(values, SCORES)
    assert values.dtype == np.float64


def test_named_columns_stay_in_place_where_labels_have_no_names():
    frame = pd.DataFrame(SCORES, columns=NAMES)
    np.testing.assert_array_equal(read_scores(frame, np.arange(3)), SCORES)


def test_infinite_log_odds_are_numbers():
    values = [[np.inf, -np.inf, 0]]
    np.testing.assert_array_equal(read_scores(values, NAMES), values)


def test_one_label_alone_may_come_as_a_vector():
    assert read_scores([1.5, -2.0], np.array(["a"])).tolist() == [[1.5], [-2.0]]


def test_what_nan_stands_for_can_be_given():
    values = [[np.nan, 0.5, np.nan]]
    prior = [0.1, 0.2, 0.3]
    read = read_scores(values, NAMES, scale="probability", missing=prior)
    np.testing.assert_array_equal(read, [[0.1, 0.5, 0.3]])


def test_single_precision_is_kept_where_asked_for():
    single = SCORES.astype(np.float32)
    assert read_scores(single, NAMES).dtype == np.float64
    assert read_scores(single, NAMES, dtype=None) is single


def test_no_documents_are_legal():
    assert read_scores(np.zeros((0, 3)), NAMES, scale="probability").shape == (0, 3)


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        (
            SCORES[:, :2],
            {},
            ValueError,
            r"scores must be documents × labels, \(n, 3\), got shape \(2, 2\)\..*: 'a', 'b', 'c'",
        ),
        (SCORES[0], {}, ValueError, r"\(n, 3\), got shape \(3,\)"),
        (SCORES, {"n_documents": 5}, ValueError, r"\(5, 3\), got shape \(2, 3\)"),
        (
            [[0, np.nan, np.nan]],
            {"what": "log_odds"},
            ValueError,
            r"log_odds must be numbers, got NaN at document 0, label 1 \(2 such cells\)\. .*-inf",
        ),
        (
            [[0, 1.5, -1]],
            {"scale": "probability"},
            ValueError,
            r"in \[0, 1\], got 1.5 at document 0, label 1 \(2 such cells\)\. .*scale=\"log_odds\"",
        ),
        ([[0, 1, np.inf]], {"scale": "probability"}, ValueError, "got inf at document 0, label 2"),
        ([[0, 1, np.nan]], {"scale": "probability"}, ValueError, "got NaN at document 0, label 2"),
        (
            sparse.csr_array(SCORES),
            {},
            TypeError,
            r"must be a dense array, got a sparse one; use \.toarray\(\)",
        ),
        (SCORES > 0.5, {}, TypeError, r"real numbers, got dtype bool\. Yes/no answers are deci"),
        ([["x", "y", "z"]], {}, TypeError, r"must be real numbers, got dtype <U1"),
        (pd.DataFrame([["x", 1, 2]], columns=NAMES), {}, TypeError, "got dtype object"),
        (pd.DataFrame(SCORES, columns=["a", "b", "z"]), {}, ValueError, "3 labels .* got 'z'"),
        (pd.DataFrame(SCORES[:, :2], columns=["a", "b"]), {}, ValueError, "it lacks 'c'"),
        (pd.DataFrame(SCORES, columns=["a", "b", "b"]), {}, ValueError, "distinct .* got 'b' twi"),
    ],
)
def test_what_is_wrong_is_said(scores, options, error, message):
    with pytest.raises(error, match=message):
        read_scores(scores, NAMES, **options)


def test_known_labels_are_no_probabilities_unless_allowed():
    known = np.array([[0.2, np.inf], [-np.inf, 1.0]])
    check_probabilities(known, allow_infinite=True)
    with pytest.raises(ValueError, match="got inf at document 0, label 1"):
        check_probabilities(known)
    with pytest.raises(ValueError, match=r"got 2 at document 1, label 0"):
        check_probabilities(np.array([[0.2, np.inf], [2.0, 1.0]]), allow_infinite=True)


def test_scales_have_names():
    check_scale("log_odds")
    with pytest.raises(ValueError, match="scale must be one of 'probability', 'log_odds', got 'p'"):
        check_scale("p")


@given(
    arrays(
        np.float64, (4, 6), elements=st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf])
    ),
    arrays(np.bool_, (4, 6)),
    st.sampled_from([None, 0, 1, 2, 5, 6, 9]),
)
@settings(max_examples=100, deadline=None)
def test_best_labels_are_those_of_a_stable_sort_of_each_document(log_odds, is_open, top):
    for mask, given_mask in ((is_open, is_open), (np.ones_like(is_open), None)):
        expected = [
            sorted(np.flatnonzero(mask[i]).tolist(), key=lambda j, i=i: -log_odds[i, j])[:top]
            for i in range(4)
        ]
        assert [b.tolist() for b in best_labels(log_odds, top, given_mask)] == expected


def test_no_document_and_no_label_have_no_best_label():
    assert best_labels(np.zeros((0, 3)), 2) == []
    assert [best.tolist() for best in best_labels(np.zeros((2, 0)), 2)] == [[], []]


def test_masked_scores_are_missing():
    masked = np.ma.array([[0.2, 9.0]], mask=[[False, True]])
    names = np.array(["sugar", "tea"])
    np.testing.assert_array_equal(read_scores(masked, names, missing=0.5), [[0.2, 0.5]])
    with pytest.raises(ValueError, match="must be numbers, got NaN at document 0, label 1"):
        read_scores(masked, names)
