import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelkin.label_matrix import read_known

NAMES = np.array(["a", "b", "c"])
KNOWN = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan]])


@pytest.mark.parametrize(
    "known",
    [
        KNOWN,
        KNOWN.tolist(),
        pd.DataFrame(KNOWN[:, ::-1], columns=["c", "b", "a"]),
        sparse.csr_array([[1, 0, -1], [0, 0, 0]]),
        sparse.coo_matrix([[1, 0, -1], [0, 0, 0]]),
        [{"accepted": ["a"], "rejected": ["c"]}, {}],
        [{"accepted": "a", "refused": {"c"}}, None],
    ],
)
def test_all_ways_of_giving_known_labels_mean_the_same(known):
    np.testing.assert_array_equal(read_known(known, 2, NAMES), KNOWN)


def test_nothing_known_is_all_open():
    assert np.isnan(read_known(None, 2, NAMES)).all()


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            [{"accepted": ["a"], "rejected": ["b", "a"]}, {}],
            "contradicts itself: document 0 has a both",
        ),
        (
            sparse.coo_array(([1, -1], ([1, 1], [2, 2])), shape=(2, 3)),
            "contradicts itself: document 1, label 2 is both accepted and rejected",
        ),
        (
            sparse.csr_array([[2, 0, 0], [0, 0, 0]]),
            r"\+1 \(accepted\) and -1 \(rejected\), got 2 at",
        ),
        ([[1, 2, 0], [0, 0, 0]], "got 2 at document 0, label 1"),
        ([[1, 0, 0]], r"shape of the scores, \(2, 3\).*got shape \(1, 3\)"),
        ([{"accepted": ["z"]}, {}], "among the 3 labels of the model, got 'z'"),
        ([{"maybe": ["a"]}, {}], '"accepted": .*"rejected": .*, got \'maybe\' for document 0'),
        ({"accepted": ["a"]}, "^known must hold one mapping per document: 2 needed, got one"),
        ([{}], "one mapping per document: 2 needed, got one.*None for a document without"),
        ([{}, None, {}], "one mapping per document: 2 needed, got 3"),
    ],
)
def test_what_is_wrong_is_said(known, message):
    with pytest.raises(ValueError, match=message):
        read_known(known, 2, NAMES)


def test_masked_cells_are_open():
    known = np.ma.array([[1, 0, 0]], mask=[[0, 0, 1]])
    np.testing.assert_array_equal(read_known(known, 1, NAMES), [[1, 0, np.nan]])


def test_any_number_of_documents_may_come_where_none_is_asked_for():
    np.testing.assert_array_equal(read_known(KNOWN, None, NAMES), KNOWN)
    assert read_known([{"accepted": "a"}], None, NAMES).shape == (1, 3)
    with pytest.raises(ValueError, match=r"\(n, 3\) documents × labels, got shape \(2, 2\)"):
        read_known(KNOWN[:, :2], None, NAMES)
    with pytest.raises(ValueError, match=r"got shape \(\)"):
        read_known(None, None, NAMES)
