import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from labelkin.label_matrix import read_labels

TRUTH = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0]])
NAMES = ["a", "b", "c"]
SETS = [["a", "c"], [], ["a", "b"]]

MATRICES = {
    "int": TRUTH,
    "bool": TRUTH.astype(bool),
    "float": TRUTH.astype(float),
    "int8": TRUTH.astype(np.int8),
    "list": TRUTH.tolist(),
    "csc_matrix": sparse.csc_matrix(TRUTH),
    "csr_array": sparse.csr_array(TRUTH),
    "coo_array": sparse.coo_array(TRUTH),
    "lil_array": sparse.lil_array(TRUTH),
    "bool_csr": sparse.csr_array(TRUTH.astype(bool)),
}
NAMED = {
    "pandas": pd.DataFrame(TRUTH, columns=NAMES),
    "polars": pl.DataFrame(TRUTH, schema=NAMES),
    "lists": SETS,
    "tuples": [tuple(s) for s in SETS],
    "frozensets": tuple(frozenset(s) for s in SETS),
    "series of lists": pd.Series(SETS),
    "object array": np.array([*map(frozenset, SETS), None], dtype=object)[:3],
}


@pytest.mark.parametrize("kind", MATRICES)
def test_all_matrices_have_the_same_labels(kind):
    labels = read_labels(MATRICES[kind])
    np.testing.assert_array_equal(labels.dense(), TRUTH)
    assert labels.names.tolist() == [0, 1, 2]
    assert labels.kind == "multilabel"


@pytest.mark.parametrize("kind", NAMED)
def test_all_named_forms_have_the_same_labels_and_names(kind):
    labels = read_labels(NAMED[kind])
    np.testing.assert_array_equal(labels.dense(), TRUTH)
    assert labels.names.tolist() == NAMES
    assert labels.label_sets() == [("a", "c"), (), ("a", "b")]


def test_all_forms_of_unknown_cells_are_equal():
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
    assert two.kind == "binary"
    assert (two.names.tolist(), two.classes.tolist()) == (["yes"], ["no", "yes"])
    np.testing.assert_array_equal(two.dense(), [[0], [1], [0]])
    three = read_labels([7, 3, 5])
    assert three.kind == "multiclass"
    np.testing.assert_array_equal(three.dense(), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    with pytest.warns(DataConversionWarning):
        np.testing.assert_array_equal(read_labels([[7], [3], [5]]).dense(), three.dense())


def test_names_order_sets_and_frames_and_are_counted_for_matrices():
    np.testing.assert_array_equal(read_labels([["a"]], names=["c", "a"]).dense(), [[0, 1]])
    frame = pd.DataFrame({"a": [1]})
    np.testing.assert_array_equal(read_labels(frame, names=["c", "a"]).dense(), [[0, 1]])
    with pytest.raises(ValueError, match=r"one column per label: 2 labels, got shape \(3, 3\)"):
        read_labels(TRUTH, names=["a", "b"])


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1.5, 2], [3]], r"lists of strings or of integers.*MultiLabelBinarizer\(\)"),
        ([[0, 2], [1, 0]], r"0, 1 or NaN \(unknown\), got 2 at document 0, label 1 \(1 such"),
        (sparse.csr_array([[0.5, 0]]), r"got 0.5 at document 0, label 0"),
        (np.array([[np.nan], [1]]), "Y contains NaN: unknown .* matrices of two or more"),
        (np.array([0.0, np.nan]), "Input y contains NaN"),
        ([0.3, 1.7], "Unknown label type"),
        (np.zeros((2, 2, 2)), "got 3 dimensions"),
        ({"a": [1]}, "got dict"),
        (np.array([["x", "y"]]), "must contain 0, 1 or NaN, got dtype"),
        (pd.DataFrame([[1, 0]], columns=["a", "a"]), "must be distinct labels, got 'a' twice"),
    ],
)
def test_invalid_labels_raise(Y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(Y)


@pytest.mark.parametrize(
    ("joined", "hint"),
    [
        (["a,b,c", "a", "b,c", "c,a"], r"\[text\.split\(','\) for text in y\]"),
        (["tea, milk", "milk, sugar", "tea"], r"text\.split\(', '\)"),
        (["tea;milk", "tea", "milk;sugar", "tea;sugar", "sugar;tea;milk"], r"text\.split\(';'\)"),
        (["grain;wheat", "grain;corn"], r"text\.split\(';'\)"),
        (["a|b", "b", "a"], r"text\.split\('\|'\)"),
        (["['a', 'b']", "['a']", "[]"], r"\[ast\.literal_eval\(text\) for text in y\]"),
        (["('a', 'b')", "('a',)"], r"ast\.literal_eval"),
        (["[1, 2]", "[2]"], r"ast\.literal_eval"),
    ],
)
@pytest.mark.parametrize(
    "kind", [list, np.array, lambda y: np.array(y, dtype=object), lambda y: [[text] for text in y]]
)
def test_several_labels_in_one_text_raise_with_the_conversion(joined, hint, kind, recwarn):
    with pytest.raises(ValueError, match=rf"look like several labels .*{hint}"):
        read_labels(kind(joined))
    assert not recwarn


@pytest.mark.parametrize(
    "names",
    [
        ["Smith, John", "Smith, Jane", "Doe, John", "Miller, Ann"],
        ["Portland, Oregon", "Salem, Oregon", "Seattle, Washington", "Washington, DC"] * 2,
        ["sports|tennis", "sports|football", "arts|music", "arts|painting"],
        ["yes", "no", "don't know, no answer"],
        ["[deleted]", "[removed]", "kept"],
        ["tea", "milk", "a;b", "sugar"],
        ["(1)", "(2)", "(3)"],
    ],
)
def test_class_names_with_a_comma_are_classes(names, recwarn):
    assert read_labels(names).classes.tolist() == sorted(set(names))
    assert read_labels([[name] for name in names]).names.tolist() == sorted(set(names))
    assert not recwarn


@pytest.mark.parametrize("row", [list, tuple, np.array])
def test_lists_of_integers_are_label_sets_of_ids(row):
    ids = [row([1]), row([2]), row([1, 2])]
    labels = read_labels(ids)
    assert (labels.kind, labels.names.tolist()) == ("multilabel", [1, 2])
    assert labels.dense().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert read_labels([{3, 7}, {2, 5}]).label_sets() == [(3, 7), (2, 5)]
    assert read_labels([[], [0, 1]]).label_sets() == [(), (0, 1)]
    array = np.empty(3, dtype=object)
    array[:] = ids
    assert read_labels(array).label_sets() == [(1,), (2,), (1, 2)]


def test_integers_that_can_be_a_matrix_or_classes_are_not_ids():
    assert read_labels([[0, 1], [1, 0]]).dense().tolist() == [[0, 1], [1, 0]]
    assert read_labels([[0, 1], [1, 1]]).dense().tolist() == [[0, 1], [1, 1]]
    for wrong in ([[0, 2], [1, 0]], [[3, 7], [2, 5]], np.array([[3, 7]])):
        with pytest.raises(ValueError, match=r"must contain 0, 1 or NaN.*sets for label ids"):
            read_labels(wrong)


def test_masked_labels_are_unknown():
    Y = np.ma.array([[1, 0, 1], [0, 1, 1]], mask=[[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(read_labels(Y).dense(), [[1, np.nan, 1], [0, 1, np.nan]])
    assert read_labels(np.ma.array([[1, 0], [0, 1]])).unknown is None
    with pytest.raises(ValueError, match="Remove those documents"):
        read_labels(np.ma.array([1, 0, 1], mask=[0, 0, 1]))
    with pytest.raises(ValueError, match=r"must hold numbers, got dtype <U1\. Leave out"):
        read_labels(np.ma.array(["a", "b"], mask=[0, 1]))


@pytest.mark.parametrize(
    "read",
    [
        lambda: read_labels([["tea\0"], ["tea"]]),
        lambda: read_labels(["tea\0", "tea"]),
        lambda: read_labels(pd.DataFrame([[1, 0]], columns=["tea\0", "tea"])),
        lambda: read_labels([["tea"]], names=["tea", "tea\0"]),
        lambda: read_labels(pd.Series(["tea\0", "tea"])),
    ],
)
def test_labels_that_end_in_nul_are_rejected(read):
    with pytest.raises(ValueError, match=r"must not end in a NUL character, got 'tea\\x00'"):
        read()
