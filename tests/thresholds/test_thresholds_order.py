import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.thresholds.rule import cut_below, halfway, top_of_rows

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite)
@settings(max_examples=300, deadline=None)
def test_the_middle_of_any_two_floats_separates_them(one, other):
    lower, upper = sorted([one, other])
    if lower < upper:
        middle = float(halfway(lower, upper))
        assert lower < middle <= upper


@given(st.floats(max_value=1e308, allow_nan=False, allow_infinity=False))
@settings(max_examples=200, deadline=None)
def test_the_middle_of_neighbouring_floats_is_the_upper_one(lower):
    upper = float(np.nextafter(lower, np.inf))
    assert float(halfway(lower, upper)) == upper


def test_the_middle_is_the_middle_also_of_huge_numbers():
    assert float(halfway(-1e308, 1.6e308)) == 3e307
    assert float(halfway(1.5e308, 1.7e308)) == 1.6e308
    assert float(halfway(0.25, 0.75)) == 0.5


def test_a_score_with_nothing_below_it_is_its_own_cut():
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
def test_the_top_of_a_row_is_what_sorting_by_score_and_column_gives(values, counts):
    scores, counts = np.array(values), np.array(counts)[: len(values)]
    marked = top_of_rows(scores, counts)
    for row, count, mark in zip(scores, counts, marked, strict=True):
        best_first = sorted(range(len(row)), key=lambda j: (-row[j], j))
        assert set(np.flatnonzero(mark)) == set(best_first[: max(count, 0)])
