"""Counted label sets: against a plain Counter, and blocks against the whole."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelkin.label_matrix import read_labels
from labelkin.method.label_sets import LabelSets, count_label_sets

CELLS = st.sampled_from([0.0, 1.0, np.nan])
MATRICES = st.tuples(st.integers(0, 12), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=CELLS)
)


def as_counter(sets: LabelSets) -> Counter:
    unknown = np.zeros(sets.positive.shape) if sets.unknown is None else sets.unknown.toarray()
    cells = np.where(unknown > 0, -1.0, sets.positive.toarray())
    counted = [(tuple(row), count) for row, count in zip(cells, sets.count, strict=True)]
    assert len({row for row, _ in counted}) == len(counted), "a label set is listed twice"
    return Counter(dict(counted))


def plain_counter(Y, weight=None):
    rows = np.where(np.isnan(Y), -1.0, Y)
    counter = Counter()
    for row, w in zip(rows, np.ones(len(Y)) if weight is None else weight, strict=True):
        counter[tuple(row)] += w
    return Counter({row: count for row, count in counter.items() if count})


def assert_same_arrays(one: LabelSets, two: LabelSets):
    assert (one.unknown is None) == (two.unknown is None)
    pairs = [(one.positive, two.positive)]
    if one.unknown is not None:
        pairs.append((one.unknown, two.unknown))
    for a, b in pairs:
        assert a.shape == b.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    np.testing.assert_array_equal(one.count, two.count)


@settings(deadline=None, max_examples=100)
@given(MATRICES)
def test_label_sets_equal_a_counter(Y):
    assert as_counter(count_label_sets(read_labels(Y))) == plain_counter(Y)


@settings(deadline=None, max_examples=100)
@given(MATRICES, st.data())
def test_merged_blocks_equal_the_whole(Y, data):
    weight = data.draw(arrays(np.float64, len(Y), elements=st.integers(0, 3).map(float)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(Y)), max_size=3)))
    rows = np.split(np.array(data.draw(st.permutations(range(len(Y)))), dtype=int), cuts)
    blocks = [count_label_sets(read_labels(Y[part]), weight[part]) for part in rows]
    whole = count_label_sets(read_labels(Y), weight)
    assert_same_arrays(blocks[0].merge(*blocks[1:]), whole)


@settings(deadline=None, max_examples=60)
@given(MATRICES, st.data())
def test_counts_per_label_are_those_of_the_documents(Y, data):
    weight = np.array(data.draw(st.lists(st.floats(0.1, 5), min_size=len(Y), max_size=len(Y))))
    sets = count_label_sets(read_labels(Y), weight)
    known = np.nansum(weight[:, None] * ~np.isnan(Y), axis=0)
    positives = np.nansum(weight[:, None] * np.nan_to_num(Y), axis=0)
    np.testing.assert_allclose(sets.n_documents, weight.sum())
    np.testing.assert_allclose(sets.positives(), positives)
    np.testing.assert_allclose(sets.known(), known, atol=1e-12)
    prior = np.where(known > 0, positives / np.where(known > 0, known, 1), 0.5)
    np.testing.assert_allclose(sets.prior(), prior)


def test_label_without_known_cells_has_prior_one_half():
    rng = np.random.default_rng(1)
    Y = (rng.random((60, 7)) < 0.5).astype(float)
    Y[:, 0] = np.nan
    for _ in range(5):
        sets = count_label_sets(read_labels(Y), rng.random(60))
        assert sets.known()[0] == 0
        assert sets.prior()[0] == 0.5


def test_blocks_with_different_labels_raise():
    with pytest.raises(ValueError, match=r"same labels, got \[3, 2\] labels"):
        count_label_sets(read_labels(np.eye(3))).merge(count_label_sets(read_labels(np.eye(2))))
