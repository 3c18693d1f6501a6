"""Table of limits and thresholds against ``evaluate``."""

import numpy as np
import pytest

from labelkin.evaluation import metrics
from labelkin.thresholds import limit_table

rng = np.random.default_rng(0)
Y = (rng.random((40, 6)) < 0.3).astype(int)
Y[0] = 0
P = np.clip(0.6 * Y + 0.5 * rng.random((40, 6)), 0, 1)


def decided(limit, threshold):
    rank = np.argsort(np.argsort(-P, axis=1, kind="stable"), axis=1)
    return ((rank < limit) & (threshold <= P)).astype(int)


@pytest.mark.parametrize("limit", [1, 15])
@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_cell_equals_evaluate(limit, threshold):
    table = limit_table(Y, P)
    cell = table.thresholds.index(threshold), table.limits.index(limit)
    found = metrics.evaluate(Y, decisions=decided(limit, threshold)).scores()
    for metric in table.METRICS:
        assert table.scores(metric)[cell] == pytest.approx(found[metric], abs=1e-12), metric
    assert table.empty[cell] == (decided(limit, threshold).sum(axis=1) == 0).sum()


def test_sum_of_blocks_equals_whole():
    both = limit_table(Y[:7], P[:7]) + limit_table(Y[7:], P[7:])
    whole = limit_table(Y, P)
    for metric in whole.METRICS:
        np.testing.assert_allclose(both.scores(metric), whole.scores(metric), rtol=1e-12)


def test_best_prefers_fewest_labels():
    table = limit_table(Y, P)
    for metric in table.METRICS:
        best = table.best(metric)
        assert best.score == table.scores(metric).max()
    perfect = limit_table([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]]).best("micro_f1")
    assert perfect == (1, 0.8, 1.0)


def test_invalid_input_raises():
    with pytest.raises(ValueError, match="metric must be one of 'micro_f1'"):
        limit_table(Y, P).scores("f1")
    with pytest.raises(ValueError, match="must not have unknown cells"):
        limit_table(np.where(Y == 1, np.nan, 0.0), P)
