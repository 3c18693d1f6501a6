from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.thresholds import ExpectedF1
from labelkin.thresholds.per_document import (
    best_sizes,
    expected_f1,
    largest_sizes,
    node_counts,
)

probabilities = st.one_of(
    st.sampled_from([0.0, 1e-9, 0.1, 0.25, 0.5, 0.9, 1.0]), st.floats(0.0, 1.0, width=32)
)


def enumerate_f1(p):
    """Return the expected F1 of all 2^p label sets."""
    sets = np.array(list(product([0, 1], repeat=len(p))))
    chance = np.prod(np.where(sets == 1, p, 1 - np.asarray(p)), axis=1)
    hits, sizes = sets @ sets.T, sets.sum(axis=1)
    total = sizes[:, None] + sizes
    f1 = np.divide(2 * hits, total, out=np.zeros(hits.shape), where=total > 0)
    return sets, f1 @ chance


def exact_by_counts(p):
    """Return the expected F1 of the first k labels from distributions of counts."""

    def distribution(part):
        counts = np.ones(1)
        for q in part:
            counts = np.convolve(counts, [1 - q, q])
        return counts

    result = []
    for k in range(1, len(p) + 1):
        joint = np.outer(distribution(p[:k]), distribution(p[k:]))
        hit, rest = np.indices(joint.shape)
        result.append((joint * 2 * hit / (k + hit + rest)).sum())
    return np.array(result)


@given(st.lists(probabilities, min_size=1, max_size=6))
@settings(max_examples=80, deadline=None)
def test_decided_set_has_highest_expected_f1(p):
    sets, f1 = enumerate_f1(p)
    decided = ExpectedF1().fit(None, np.zeros((1, len(p)))).decide([p])[0]
    chosen = np.flatnonzero((sets == decided).all(axis=1))[0]
    assert f1[chosen] >= f1.max() * (1 - 1e-11)
    equally_good = f1 >= f1.max() * (1 - 1e-13)
    assert decided.sum() <= sets[equally_good].sum(axis=1).min()
    assert decided.any() == any(p)


@given(st.lists(probabilities, min_size=1, max_size=12))
@settings(max_examples=100, deadline=None)
def test_integral_equals_expected_f1(p):
    falling = np.sort(p)[::-1]
    computed = expected_f1(falling[None], len(p), len(p))[0]
    np.testing.assert_allclose(computed, exact_by_counts(falling), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("mean_number", [0.01, 1.2, 6, 40])
def test_bounds_do_not_change_result(mean_number):
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(150, 0.2), size=4)
    falling = -np.sort(-np.minimum(shares * mean_number, 1.0), axis=1)
    largest = largest_sizes(falling)
    n_nodes = node_counts(falling, largest)
    for i, size in enumerate(best_sizes(falling)):
        exact = exact_by_counts(falling[i])
        assert exact[size - 1] >= exact.max() * (1 - 1e-11)
        assert size == 1 + np.argmax(exact) <= largest[i]
        integrated = expected_f1(falling[i : i + 1], largest[i], n_nodes[i])[0]
        np.testing.assert_allclose(integrated, exact[: largest[i]], rtol=1e-12)


def test_improbable_best_label_is_decided():
    rule = ExpectedF1(scale="log_odds").fit(None, np.zeros((1, 3)))
    assert rule.decide([[-700.0, -720.0, -800.0]]).tolist() == [[True, False, False]]
    assert not rule.decide([[-np.inf] * 3]).any()
