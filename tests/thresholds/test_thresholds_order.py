import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.thresholds.rule import cut_below, halfway, top_of_rows

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite)
@settings(max_examples=100, deadline=None)
def test_halfway_separates_floats(one, other):
    lower, upper = sorted([one, other])
    if lower < upper:
        middle = float(halfway(lower, upper))
        assert lower < middle <= upper


@given(st.floats(max_value=1e308, allow_nan=False, allow_infinity=False))
@settings(max_examples=200, deadline=None)
def test_halfway_of_neighbouring_floats_is_upper_one(lower):
    upper = float(np.nextafter(lower, np.inf))
    assert float(halfway(lower, upper)) == upper


def test_cut_below_lowest_score_is_score():
    assert cut_below(0.3, -np.inf) == 0.3
    assert cut_below(np.inf, 0.3) == np.inf
    assert cut_below(0.75, 0.25) == 0.5


rows = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([-np.inf, 0.0, 0.5, 1.0, np.inf]), min_size=n, max_size=n),
        min_size=1,
        max_size=4,
    )
)


@given(rows, st.lists(st.integers(-2, 8), min_size=4, max_size=4))
@settings(max_examples=200, deadline=None)
def test_top_of_rows_equals_sorting(values, counts):
    scores, counts = np.array(values), np.array(counts)[: len(values)]
    marked = top_of_rows(scores, counts)
    for row, count, mark in zip(scores, counts, marked, strict=True):
        best_first = sorted(range(len(row)), key=lambda j: (-row[j], j))
        assert set(np.flatnonzero(mark)) == set(best_first[: max(count, 0)])
