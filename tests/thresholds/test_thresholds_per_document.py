"""RCut, MCut and, by whole batches, PCut."""

import numpy as np
import pytest

from labelkin.thresholds import MCut, PCut, RCut

INF = np.inf


def sets(decided):
    return [np.flatnonzero(row).tolist() for row in decided]


def test_rcut_decides_first_t_labels():
    rule = RCut(t=2).fit(None, np.eye(4))
    scores = [[0.1, 0.9, 0.5, 0.5], [-3, -3, -3, -3], [4, INF, INF, INF], [-INF, -INF, -INF, 1]]
    assert sets(rule.decide(scores)) == [[1, 2], [0, 1], [1, 2, 3], [3]]
    assert RCut(t=9).fit(None, np.eye(4)).decide(scores[:2]).all()


@pytest.mark.parametrize(
    ("Y", "t"),
    [
        ([[1, 1, 0], [1, 0, 0]], 2),  # 1.5: to the even number
        ([[1, 1, 1], [1, 1, 0]], 2),  # 2.5
        ([[1, 1, 1], [1, 1, 0], [1, 1, 1]], 3),  # 2.67
        ([[0, 0, 0], [0, 0, 1]], 1),  # 0.5: at least one
        ([[1, np.nan, 1], [1, 1, 1]], 3),  # all known cells are positive
    ],
)
def test_learned_t_is_mean_number_of_labels(Y, t):
    assert RCut().fit(None, Y).t_ == t


def test_mcut_uses_largest_gap():
    rule = MCut().fit(None, np.eye(4))
    scores = [
        [0.9, 0.85, 0.2, 0.1],
        [0.1, 0.3, 0.2, 0.95],
        [0.7, 0.4, 0.1, 0.1],  # two gaps of 0.3, although floats differ in the last digit
        [0.6, 0.6, 0.6, 0.6],  # no gap: above 0.5
        [0.5, 0.5, 0.5, 0.5],
        [INF, 0.3, 0.2, -INF],  # the gap among the open ones
        [INF, 0.3, -INF, -INF],  # one open label: above 0.5
        [0.7, -INF, -INF, -INF],
    ]
    assert sets(rule.decide(scores)) == [[0, 1], [3], [0], [0, 1, 2, 3], [], [0, 1], [0], [0]]


def test_pcut_decides_prior_share_of_documents():
    Y = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]]  # priors 1, 1/4, 0
    scores = np.array([[0.1, 0.5, 9], [0.3, 0.5, 9], [0.2, 0.1, 9], [0.3, 0.5, 9]])
    rule = PCut().fit(None, Y)
    assert sets(rule.decide(scores)) == [[0, 1], [0], [0], [0]]  # the first of three 0.5
    assert rule.decide(np.vstack([scores, scores])).sum(axis=0).tolist() == [8, 2, 0]
    assert rule.decide(scores[:2]).sum(axis=0).tolist() == [2, 0, 0]  # 0.5 goes to the even 0


def test_pcut_keeps_accepted_documents():
    rule = PCut().fit(None, [[1, 0], [0, 0]])
    assert rule.decide([[INF, 0], [0.9, 0], [0.8, 0], [-INF, 0]])[:, 0].tolist() == [1, 1, 0, 0]
    assert rule.decide([[INF, 0], [INF, 0], [INF, 0], [0.9, 0]])[:, 0].tolist() == [1, 1, 1, 0]
