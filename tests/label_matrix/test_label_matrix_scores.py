"""Validation of scores and of known labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from labelkin.label_matrix import read_known, read_scores

NAMES = np.array(["a", "b", "c"])
SCORES = np.array([[0.1, 0.9, 0.0], [1.0, 0.5, 0.25]])
KNOWN = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan]])


@pytest.mark.parametrize(
    "scores",
    [
        SCORES,
        SCORES.tolist(),
        SCORES.astype(object),
        sparse.coo_matrix(SCORES),
        pd.DataFrame(SCORES, columns=NAMES)[["c", "a", "b"]],
        pl.DataFrame(SCORES, schema=NAMES.tolist())[["c", "a", "b"]],
        pd.DataFrame(SCORES),
    ],
)
def test_all_containers_of_probabilities_are_equal(scores):
    values = read_scores(scores, NAMES, n_documents=2, scale="probability")
    np.testing.assert_array_equal(values, SCORES)
    assert values.dtype == np.float64


def test_masked_values_are_missing():
    masked = np.ma.array([[0.2, 9.0, 1.0]], mask=[[False, True, False]])
    with pytest.raises(ValueError, match="must be numbers, got NaN at document 0, label 1"):
        read_scores(masked, NAMES)


PROBABILITY = {"scale": "probability"}


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        (SCORES[:, :2], {}, ValueError, r"\(n, 3\), got shape \(2, 2\)\..*: 'a', 'b', 'c'"),
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
            PROBABILITY,
            ValueError,
            r"in \[0, 1\], got 1.5 at document 0, label 1 \(2 such cells\)\. .*scale=\"log_odds\"",
        ),
        ([[0, 1, np.inf]], PROBABILITY, ValueError, "got inf at document 0, label 2"),
        ([[0, 1, np.nan]], PROBABILITY, ValueError, "got NaN at document 0, label 2"),
        (sparse.csr_array(SCORES), {}, TypeError, r"got a sparse one; use \.toarray\(\)"),
        (SCORES > 0.5, {}, TypeError, r"real numbers, got dtype bool\. True and False are deci"),
        ([["x", "y", "z"]], {}, TypeError, r"must be real numbers, got dtype <U1"),
        (pd.DataFrame([["x", 1, 2]], columns=NAMES), {}, TypeError, "got dtype object"),
        (pd.DataFrame(SCORES, columns=["a", "b", "z"]), {}, ValueError, "3 labels .* got 'z'"),
        (pd.DataFrame(SCORES[:, :2], columns=["a", "b"]), {}, ValueError, "are missing: 'c'"),
        (pd.DataFrame(SCORES, columns=["a", "b", "b"]), {}, ValueError, "distinct .* got 'b' twi"),
    ],
)
def test_invalid_scores_raise(scores, options, error, message):
    with pytest.raises(error, match=message):
        read_scores(scores, NAMES, **options)


@pytest.mark.parametrize(
    "known",
    [
        KNOWN,
        KNOWN.tolist(),
        np.ma.array(np.nan_to_num(KNOWN), mask=np.isnan(KNOWN)),
        pd.DataFrame(KNOWN[:, ::-1], columns=["c", "b", "a"]),
        sparse.csr_array([[1, 0, -1], [0, 0, 0]]),
        sparse.coo_matrix([[1, 0, -1], [0, 0, 0]]),
        [{"accepted": ["a"], "rejected": ["c"]}, {}],
        [{"accepted": "a", "rejected": {"c"}}, None],
    ],
)
def test_all_forms_of_known_labels_are_equal(known):
    np.testing.assert_array_equal(read_known(known, 2, NAMES), KNOWN)
    np.testing.assert_array_equal(read_known(known, None, NAMES), KNOWN)


def test_without_known_labels_all_are_open():
    assert np.isnan(read_known(None, 2, NAMES)).all()


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([{"accepted": ["a"], "rejected": ["b", "a"]}, {}], "got a of document 0 as both"),
        (
            sparse.coo_array(([1, -1], ([1, 1], [2, 2])), shape=(2, 3)),
            r"\+1 \(accepted\) and -1 .* once for each label, got 0 at document 1, label 2",
        ),
        (sparse.csr_array([[2, 0, 0], [0, 0, 0]]), r"must contain \+1 \(accepted\).*got 2 at"),
        ([[1, 2, 0], [0, 0, 0]], "got 2 at document 0, label 1"),
        ([[1, 0, 0]], r"known must be documents × labels, \(2, 3\), got shape \(1, 3\)"),
        ([{"accepted": ["z"]}, {}], "among the 3 labels of the model, got 'z'"),
        ([{"maybe": ["a"]}, {}], '"accepted": .*"rejected": .*, got \'maybe\' for document 0'),
        ({"accepted": ["a"]}, "^known must contain one mapping per document: 2 needed, got 1"),
        ([{}, None, {}], "2 needed, got 3.*None for a document without"),
    ],
)
def test_invalid_known_labels_raise(known, message):
    with pytest.raises(ValueError, match=message):
        read_known(known, 2, NAMES)
