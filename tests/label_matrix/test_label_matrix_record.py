import numpy as np
import pytest
from scipy import sparse

from labelkin.label_matrix import in_container, read_labels
from labelkin.odds import constant_labels

Y = np.array([[1, 0, 1, 1], [1, 0, 0, 1]])


def test_labels_nobody_or_everybody_has_are_constant():
    assert read_labels(Y).constant().tolist() == [True, True, False, True]


def test_constant_labels_are_those_of_the_known_cells_of_documents_that_count():
    nan = np.nan
    labels = read_labels([[1, 1, nan, 0], [1, 0, nan, nan], [0, 1, nan, 1]])
    assert labels.constant().tolist() == [False, False, True, False]
    assert labels.constant(np.array([1.0, 0.3, 0.0])).tolist() == [True, False, True, True]
    assert labels.constant(np.array([0.1, 0.0, 0.7])).tolist() == [False, True, True, False]
    np.testing.assert_array_equal(constant_labels(*labels.counts()), labels.constant())


@pytest.mark.parametrize(
    ("flavour", "container"),
    [
        (sparse.csc_array, sparse.csr_array),
        (sparse.coo_matrix, sparse.csr_matrix),
        (np.asarray, np.ndarray),
    ],
)
def test_decisions_and_plain_labels_go_out_in_the_container_labels_came_in(flavour, container):
    labels = read_labels(flavour(Y))
    for kept in (labels, labels.rows([0, 1]), labels.columns(np.arange(4))):
        out = in_container(Y > 0, kept.container)
        assert type(out) is container
        assert out.dtype == np.int64
        assert type(kept.plain()) is container
        for values in (out, kept.plain()):
            dense = values.toarray() if sparse.issparse(values) else values
            np.testing.assert_array_equal(dense, Y)


def test_unknown_cells_go_out_in_the_container_labels_came_in():
    cells = np.array([[1, np.nan], [0, 1]])
    for flavour in (sparse.csr_array, sparse.csr_matrix):
        plain = read_labels(flavour(cells)).plain()
        assert type(plain) is flavour
        np.testing.assert_array_equal(plain.toarray(), cells)
