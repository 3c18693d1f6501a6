from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from labelkin.thresholds import SCut, SCutFBR

INF = np.inf
levels = st.sampled_from([-INF, -2.0, -1.5, 0.0, 0.25, 1.0, 1e9, INF])
columns = st.lists(st.tuples(levels, st.booleans()), min_size=1, max_size=9)


def brute_force(scores, positive):
    """Try every cut between two neighbouring finite scores, in exact arithmetic."""
    levels = sorted({score for score in scores if np.isfinite(score)}, reverse=True)
    middles = [(upper + lower) / 2 for upper, lower in pairwise(levels)]
    candidates = [INF, *middles, *levels[-1:]]
    best_cut, best_f = INF, Fraction(-1)
    for cut in candidates:  # from the highest down: only a better one replaces
        decided = [score >= cut and score > -INF for score in scores]
        hits = sum(d and y for d, y in zip(decided, positive, strict=True))
        total = sum(positive) + sum(decided)
        f = Fraction(2 * hits, total) if total else Fraction(0)
        if f > best_f:
            best_cut, best_f = cut, f
    return best_cut, best_f


@given(columns)
@settings(max_examples=150, deadline=None)
def test_cut_equals_brute_force(column):
    scores = np.array([score for score, _ in column])
    positive = np.array([y for _, y in column])
    rule = SCut().fit(scores[:, None], positive[:, None])
    cut, f = brute_force(scores.tolist(), positive.tolist())
    if positive.any():
        assert rule.cut_[0] == cut
    else:
        assert rule.cut_[0] == INF
    np.testing.assert_allclose(rule.f1_[0], float(f), rtol=1e-15)


def test_f1_equals_scikit_learn():
    rng = np.random.default_rng(0)
    Y = rng.random((200, 12)) < np.linspace(0.01, 0.6, 12)
    scores = np.round(rng.normal(size=Y.shape) + Y, 1)
    rule = SCut().fit(scores, Y)
    expected = f1_score(Y, rule.decide(scores), average=None, zero_division=0)
    np.testing.assert_allclose(rule.f1_, expected)
    shuffled = rng.permutation(12)
    np.testing.assert_array_equal(
        SCut().fit(scores[:, shuffled], Y[:, shuffled]).cut_, rule.cut_[shuffled]
    )


def test_neighbouring_floats_are_separated():
    lower = 1.0
    upper = np.nextafter(lower, 2.0)
    scores = np.array([[lower], [upper], [lower]])
    rule = SCut().fit(scores, [[0], [1], [0]])
    np.testing.assert_array_equal(rule.decide(scores), [[False], [True], [False]])
    huge = np.array([[-1.7e308], [1.7e308]])
    np.testing.assert_array_equal(SCut().fit(huge, [[0], [1]]).decide(huge), [[False], [True]])


# Four labels over twenty documents. 0: seen well. 1: one positive at the bottom, best F1 is
# 2/21 by giving it to all. 2: no positives. 3: one positive, and the same score for all.
FBR_SCORES = np.column_stack([np.arange(20.0)] * 3 + [np.full(20, 0.5)])
FBR_Y = np.zeros((20, 4))
FBR_Y[15:, 0] = FBR_Y[0, 1] = FBR_Y[3, 3] = 1


@pytest.mark.parametrize(
    ("rule", "cut"),
    [
        (SCut(), [14.5, 0, INF, 0.5]),
        (SCutFBR(fbr=0), [14.5, 0, INF, 0.5]),
        (SCutFBR(), [14.5, 19, INF, INF]),
        (SCutFBR(fbr=2 / 21), [14.5, 0, INF, 0.5]),
    ],
    ids=repr,
)
def test_label_with_low_f1_is_cut_at_highest_score(rule, cut):
    assert rule.fit(FBR_SCORES, FBR_Y).cut_.tolist() == cut


def test_fallback_ignores_unknown_cells():
    Y = FBR_Y.copy()
    Y[19, 1] = np.nan
    assert SCutFBR(fbr=0.2).fit(FBR_SCORES, Y).cut_[1] == 18
