import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelkin.label_matrix import names_to_columns, read_labels

TRUTH = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0]])
NAMES = ["a", "b", "c"]
SETS = [["a", "c"], [], ["a", "b"]]

MATRICES = {
    "int": TRUTH,
    "bool": TRUTH.astype(bool),
    "float": TRUTH.astype(float),
    "int8": TRUTH.astype(np.int8),
    "float32": TRUTH.astype(np.float32),
    "list": TRUTH.tolist(),
    "csr_matrix": sparse.csr_matrix(TRUTH),
    "csc_matrix": sparse.csc_matrix(TRUTH),
    "coo_matrix": sparse.coo_matrix(TRUTH),
    "csr_array": sparse.csr_array(TRUTH),
    "csc_array": sparse.csc_array(TRUTH),
    "coo_array": sparse.coo_array(TRUTH),
    "lil_array": sparse.lil_array(TRUTH),
    "bool_csr": sparse.csr_array(TRUTH.astype(bool)),
}
NAMED = {
    "pandas": pd.DataFrame(TRUTH, columns=NAMES),
    "polars": pl.DataFrame(TRUTH, schema=NAMES),
    "lists": SETS,
    "tuples": [tuple(s) for s in SETS],
    "sets": [set(s) for s in SETS],
    "frozensets": tuple(frozenset(s) for s in SETS),
    "series of lists": pd.Series(SETS),
    "object array": np.array([*map(frozenset, SETS), None], dtype=object)[:3],
}


@pytest.mark.parametrize("kind", MATRICES)
def test_every_matrix_flavour_gives_the_same_labels(kind):
    labels = read_labels(MATRICES[kind])
    np.testing.assert_array_equal(labels.dense(), TRUTH)
    assert labels.names.tolist() == [0, 1, 2]
    assert labels.kind == "multilabel"


@pytest.mark.parametrize("kind", NAMED)
def test_every_named_flavour_gives_the_same_labels_and_names(kind):
    labels = read_labels(NAMED[kind])
    np.testing.assert_array_equal(labels.dense(), TRUTH)
    assert labels.names.tolist() == NAMES
    assert labels.label_sets() == [("a", "c"), (), ("a", "b")]


def test_unknown_cells_survive_every_way_of_writing_them():
    cells = np.array([[1, np.nan], [0, 1]])
    stored = sparse.coo_array(([1, np.nan, 1], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    frame = pl.DataFrame({"a": [1, 0], "b": [None, 1]})
    for Y in (cells, stored, frame, pd.DataFrame(cells)):
        labels = read_labels(Y)
        np.testing.assert_array_equal(labels.dense(), cells)
        np.testing.assert_array_equal(labels.counts(), [[1, 1], [2, 1]])
        np.testing.assert_array_equal(labels.prior(), [0.5, 1.0])
    np.testing.assert_array_equal(read_labels(stored).plain().toarray(), cells)


def test_one_dimensional_y_is_read_as_scikit_learn_does():
    two = read_labels(np.array(["no", "yes", "no"]))
    assert (two.kind, two.names.tolist(), two.classes.tolist()) == (
        "binary",
        ["yes"],
        ["no", "yes"],
    )
    np.testing.assert_array_equal(two.dense(), [[0], [1], [0]])
    three = read_labels([7, 3, 5])
    assert three.kind == "multiclass"
    np.testing.assert_array_equal(three.dense(), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    upright = read_labels(np.array([[7], [3], [5]]))
    np.testing.assert_array_equal(upright.dense(), three.dense())


def test_one_column_of_zeros_and_ones_is_one_label():
    labels = read_labels([[0], [1]])
    assert labels.kind == "multilabel"
    assert labels.shape == (2, 1)


def test_names_arrange_sets_and_frames_and_are_counted_for_matrices():
    np.testing.assert_array_equal(read_labels([["a"]], names=["c", "a"]).dense(), [[0, 1]])
    frame = pd.DataFrame({"a": [1]})
    np.testing.assert_array_equal(read_labels(frame, names=["c", "a"]).dense(), [[0, 1]])
    with pytest.raises(ValueError, match=r"one column per label: 2 labels, got shape \(3, 3\)"):
        read_labels(TRUTH, names=["a", "b"])


def test_documents_without_labels_alone_have_no_labels():
    assert read_labels([[], []]).shape == (2, 0)
    assert read_labels([[], []], names=["a"]).shape == (2, 1)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1, 2], [3]], r"rows of different lengths that hold numbers.*Use sets"),
        (
            [[0, 2], [1, 0]],
            r"must hold 0, 1 or NaN \(unknown\), got 2 at document 0, label 1 \(1 such",
        ),
        (sparse.csr_array([[0.5, 0]]), r"got 0.5 at document 0, label 0"),
        (
            np.array([[np.nan], [1]]),
            "Y contains NaN: unknown labels are allowed in matrices of two or more",
        ),
        (np.array([0.0, np.nan]), "Input y contains NaN"),
        ([0.3, 1.7], "Unknown label type"),
        (np.zeros((2, 2, 2)), "got 3 dimensions"),
        ({"a": [1]}, "got a mapping"),
        (np.array([["x", "y"]]), "must hold 0, 1 or NaN, got dtype"),
        (pd.DataFrame([[1, 0]], columns=["a", "a"]), "must be distinct labels, got 'a' twice"),
    ],
)
def test_bad_labels_are_errors_with_rule_value_and_way_out(Y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(Y)


def test_unknown_label_names_are_listed():
    with pytest.raises(
        ValueError, match=r"among the 2 labels of the model, got 'x', 'y'.*'a', 'b'"
    ):
        names_to_columns(["y", "a", "x"], np.array(["a", "b"]))


@given(st.lists(st.frozensets(st.sampled_from("abcdef"))).filter(any))
@settings(max_examples=50, deadline=None)
def test_label_sets_come_back_as_they_went_in(rows):
    labels = read_labels(rows)
    assert [set(s) for s in labels.label_sets()] == [set(row) for row in rows]
    np.testing.assert_array_equal(read_labels(labels.plain()).dense(), labels.dense())


def test_reading_leaves_the_input_alone():
    Y = sparse.coo_matrix(([0.0, 1.0, 1.0], ([0, 1, 1], [0, 1, 1])), shape=(2, 2))
    before = Y.copy()
    read_labels(Y)
    np.testing.assert_array_equal(Y.data, before.data)
    np.testing.assert_array_equal(Y.row, before.row)


def test_labels_joined_in_one_text_are_noticed(recwarn):
    joined = ["tea;milk", "tea", "milk;sugar", "tea;sugar", "sugar;tea;milk"]
    with pytest.warns(UserWarning, match=r"4 of its 5 classes have ';' .*text\.split\(';'\)"):
        assert read_labels(joined).kind == "multiclass"
    recwarn.clear()
    read_labels(["tea", "milk", "a;b", "sugar"])
    assert not recwarn
