import numpy as np
import pytest
from scipy import sparse

from labelkin.label_matrix.known import read_known

NAMES = np.array(["a", "b", "c"])
FACTS = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan]])


@pytest.mark.parametrize(
    "known",
    [
        FACTS,
        FACTS.tolist(),
        sparse.csr_array([[1, 0, -1], [0, 0, 0]]),
        sparse.coo_matrix([[1, 0, -1], [0, 0, 0]]),
        [{"accepted": ["a"], "refused": ["c"]}, {}],
        [{"accepted": "a", "refused": {"c"}}, None],
    ],
)
def test_all_ways_of_stating_labels_mean_the_same(known):
    np.testing.assert_array_equal(read_known(known, 2, NAMES), FACTS)


def test_nothing_stated_is_all_open():
    assert np.isnan(read_known(None, 2, NAMES)).all()


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            [{"accepted": ["a"], "refused": ["b", "a"]}, {}],
            "contradicts itself: document 0 has a both",
        ),
        (
            sparse.coo_array(([1, -1], ([1, 1], [2, 2])), shape=(2, 3)),
            "contradicts itself: document 1, label 2 is both accepted and refused",
        ),
        (
            sparse.csr_array([[2, 0, 0], [0, 0, 0]]),
            r"\+1 \(accepted\) and -1 \(refused\), got 2 at",
        ),
        ([[1, 2, 0], [0, 0, 0]], "got 2 at document 0, label 1"),
        ([[1, 0, 0]], r"shape of the scores, \(2, 3\).*got \(1, 3\)"),
        ([{"accepted": ["z"]}, {}], "among the 3 labels of the model, got 'z'"),
        ([{"maybe": ["a"]}, {}], '"accepted" or "refused", got \'maybe\' for document 0'),
        ([{}], r"got \(1, 3\)"),
    ],
)
def test_wrong_statements_are_refused(known, message):
    with pytest.raises(ValueError, match=message):
        read_known(known, 2, NAMES)
