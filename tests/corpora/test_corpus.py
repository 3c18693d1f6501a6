"""The record of a corpus: its labels, and its display."""

import numpy as np
import pytest
from scipy import sparse

from labelkin.corpora import Corpus, newsroom
from labelkin.corpora.corpus import kind_of_features
from labelkin.label_matrix import record


@pytest.fixture
def vectors():
    return Corpus(
        name="tiny <b>",
        documents=sparse.csr_array(np.eye(3)),
        Y=np.array([[0, 1], [1, 1], [0, 0]]),
        label_names=np.array(["sugar", "tea"]),
        train=np.array([0, 1]),
        test=np.array([2]),
        source="a & b",
        licence="none",
        features="counts",
    )


def test_labels_are_an_array_of_0_and_1_with_names_beside_it():
    news = newsroom(300)
    assert type(news.Y) is np.ndarray
    assert (news.Y.dtype, news.Y.shape) == (np.int64, (300, 38))
    assert len(news.Y) == 300
    assert np.asarray(news.Y) is news.Y
    assert (news.Y == 1).sum() == sum(map(len, news.label_sets()))
    assert np.unique(news.Y[news.train]).tolist() == [0, 1]
    assert news.label_names.shape == (38,)
    for i in (0, 7, 299):
        assert news.label_sets([i]) == [tuple(news.label_names[news.Y[i] == 1].tolist())]
    assert news.label_sets(news.test) == [news.label_sets()[i] for i in news.test]


def test_labels_above_the_limit_are_a_csr_array_and_no_dense_array_is_made(monkeypatch):
    dense = newsroom(300)
    monkeypatch.setattr(record, "DENSE_CELLS", 300 * 38 - 1)
    monkeypatch.setattr(sparse.csr_array, "toarray", None)
    large = newsroom(300)
    assert type(large.Y) is sparse.csr_array
    assert large.Y.dtype == np.int64
    monkeypatch.undo()
    np.testing.assert_array_equal(large.Y.toarray(), dense.Y)
    assert large.label_sets(large.test) == dense.label_sets(dense.test)
    assert repr(large) == repr(dense)
    labelled = large.labelled()
    assert labelled.Y.shape[0] == len(labelled.documents)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[0.0, 1.0]], "binary"),
        ([[0.0, 2.0]], "counts"),
        ([[0.5, 2.0]], "weights"),
        ([[-1.0, 1.0]], "numbers"),
        ([[np.nan, 1.0]], "binary"),
    ],
)
def test_the_kind_of_features_is_the_narrowest_that_fits(make, values, kind):
    assert kind_of_features(make(values)) == kind
