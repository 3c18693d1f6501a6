"""Plain values, arrays and sparse matrices are the same after a round trip, type and all."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.preprocessing import Normalizer

from labelkin.storage import load, save

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs", "Ll"]))  # halves of characters
    | st.binary(max_size=20)
)
KEYS = st.recursive(
    LEAVES, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=2), max_leaves=3
)
VALUES = st.recursive(
    LEAVES | st.frozensets(KEYS, max_size=3) | st.sets(KEYS, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)
DTYPES = (
    arrays.boolean_dtypes()
    | arrays.integer_dtypes(endianness="?")
    | arrays.unsigned_integer_dtypes(endianness="?")
    | arrays.floating_dtypes(endianness="?", sizes=(16, 32, 64))
    | arrays.unicode_string_dtypes(endianness="?", max_len=5)
    | arrays.byte_string_dtypes(max_len=5)
)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
files = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def again(tmp_path):
    def save_and_load(value):
        model = Normalizer()
        model.note = value
        return load(save(model, tmp_path / "model")).note

    return save_and_load


def same(a, b):
    """Equal, of the same type all the way down; NaN equals NaN, and 0 is not −0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)
    return a == b


@files
@given(VALUES)
def test_plain_values_come_back(again, value):
    assert same(again(value), value)


@files
@given(st.data())
def test_arrays_come_back(again, data):
    array = data.draw(arrays.arrays(data.draw(DTYPES), data.draw(SHAPES)))
    if data.draw(st.booleans()):
        array = array.T
    if array.ndim and data.draw(st.booleans()):
        array = array[::-2]
    restored = again(array)
    assert restored.dtype == array.dtype.newbyteorder("<")
    assert restored.shape == array.shape
    np.testing.assert_array_equal(restored, array)
    assert restored.tobytes() == array.astype(restored.dtype).tobytes()


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix]
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_sparse_matrices_come_back_as_what_they_were(again, kind, index, dtype):
    matrix = kind(np.array([[0, 2, 0], [1, 0, 0]], dtype=dtype))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    restored = again(matrix)
    assert type(restored) is kind
    assert (restored.dtype, restored.indices.dtype, restored.indptr.dtype) == (dtype, index, index)
    np.testing.assert_array_equal(restored.toarray(), matrix.toarray())


def test_room_that_a_sparse_matrix_does_not_use_is_not_stored(again):
    matrix = sparse.csr_array(np.eye(3))
    matrix.data, matrix.indices = np.append(matrix.data, 9.0), np.append(matrix.indices, 0)
    restored = again(matrix)
    assert len(restored.data) == 3
    np.testing.assert_array_equal(restored.toarray(), np.eye(3))


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0)])
def test_empty_sparse_matrices_come_back(again, shape):
    assert again(sparse.csr_matrix(shape)).shape == shape


@pytest.mark.parametrize(
    "scalar",
    [np.float32(0.1), np.float64(np.nan), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True),
     np.str_("½ né"), np.bytes_(b"ab"), np.float16(2)],
    ids=repr,
)  # fmt: skip
def test_numpy_scalars_come_back(again, scalar):
    restored = again([scalar])[0]
    assert type(restored) is type(scalar)
    assert restored.tobytes() == scalar.tobytes()


def test_arrays_of_objects_come_back(again):
    array = np.empty((2, 3), dtype=object)
    array[:] = [["a", None, 1], [("b", 2), 0.5, np.array([1, 2])]]
    restored = again(array)
    assert (restored.dtype, restored.shape) == (object, (2, 3))
    np.testing.assert_array_equal(restored[1, 2], [1, 2])
    assert same(restored.ravel()[:5].tolist(), array.ravel()[:5].tolist())


@pytest.mark.parametrize(
    "value",
    [
        np.float32,
        np.bool_,
        float,
        np.dtype("int64"),
        np.dtype("<U3"),
        slice(1, None, 2),
        np.log1p,
        np.abs,
    ],
    ids=repr,
)
def test_types_slices_and_known_functions_come_back(again, value):
    assert again({"it": value})["it"] == value


def test_a_random_state_goes_on_where_it_was(again):
    random = np.random.RandomState(3)
    random.standard_normal()  # leaves half a pair behind
    restored = again(random)
    np.testing.assert_array_equal(restored.standard_normal(700), random.standard_normal(700))


def test_a_memory_mapped_array_comes_back_as_an_array(again, tmp_path):
    np.save(tmp_path / "array.npy", np.arange(6.0).reshape(2, 3))
    mapped = np.load(tmp_path / "array.npy", mmap_mode="r")
    restored = again(mapped)
    assert type(restored) is np.ndarray
    np.testing.assert_array_equal(restored, np.arange(6.0).reshape(2, 3))
