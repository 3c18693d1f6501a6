"""Counts of labels, and the container of results."""

import numpy as np
import pytest
from scipy import sparse

from labelkin.label_matrix import in_container, read_labels

Y = np.array([[1, 0, 1, 1], [1, 0, 0, 1]])


def test_constant_labels_are_counted_on_known_cells_of_documents_with_weight():
    nan = np.nan
    labels = read_labels([[1, 1, nan, 0], [1, 0, nan, nan], [0, 1, nan, 1]])
    assert labels.constant().tolist() == [False, False, True, False]
    assert labels.constant(np.array([1.0, 0.3, 0.0])).tolist() == [True, False, True, True]
    assert labels.constant(np.array([0.1, 0.0, 0.7])).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("kind", "container"),
    [
        (sparse.csc_array, sparse.csr_array),
        (sparse.coo_matrix, sparse.csr_matrix),
        (np.asarray, np.ndarray),
    ],
)
def test_results_have_the_container_of_the_labels(kind, container):
    labels = read_labels(kind(Y))
    for kept in (labels, labels.rows([0, 1]), labels.columns(np.arange(4))):
        for decided in (Y > 0, sparse.csr_array(Y > 0)):
            result = in_container(decided, kept.container)
            assert result.dtype == np.int64
            for values in (result, kept.plain()):
                assert type(values) is container
                dense = values.toarray() if sparse.issparse(values) else values
                np.testing.assert_array_equal(dense, Y)
