import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.thresholds import FixedCut, LabelLimits, MCut

INF = np.inf
rows = st.lists(
    st.sampled_from([-INF, 0.0, 0.1, 0.4, 0.6, 0.6001, 0.9, INF]), min_size=1, max_size=7
)


@given(rows, st.integers(0, 4), st.one_of(st.none(), st.integers(0, 4)))
@settings(max_examples=100, deadline=None)
def test_limits_equal_plain_sorting(row, at_least, extra):
    at_most = None if extra is None else at_least + extra
    scores = np.array([row])
    inner = FixedCut().fit(None, np.zeros(scores.shape))
    rule = LabelLimits(FixedCut(), at_least=at_least, at_most=at_most).fit(
        None, np.zeros(scores.shape)
    )
    plain, limited = inner.decide(scores)[0], rule.decide(scores)[0]
    accepted, refused = scores[0] == INF, scores[0] == -INF
    allowed = len(row) if at_most is None else at_most
    wanted = min(max(plain.sum(), at_least), allowed)
    best_first = sorted(np.flatnonzero(~refused), key=lambda j: (-row[j], j))
    expected = set(best_first[:wanted]) | set(np.flatnonzero(accepted))
    assert set(np.flatnonzero(limited)) == expected


def test_known_labels_take_precedence_over_limits():
    rule = LabelLimits(at_least=1, at_most=1).fit(None, np.zeros((1, 3)))
    assert rule.decide([[INF, 0.9, INF]]).tolist() == [[True, False, True]]
    assert rule.decide([[-INF, -INF, -INF]]).tolist() == [[False, False, False]]
    assert rule.decide([[-INF, 0.1, -INF]]).tolist() == [[False, True, False]]


def test_table_has_cuts_of_inner_rule():
    scores, Y = np.array([[0.1, 0.2], [0.7, 0.9]]), [[0, 1], [1, 1]]
    rule = LabelLimits(FixedCut(0.5), at_least=1).fit(scores, Y)
    assert rule.cut_.tolist() == [0.5, 0.5]
    assert [line.decided for line in rule.table()] == [1, 2]
    assert LabelLimits(MCut()).fit(scores, Y).table()[0].cut is None
