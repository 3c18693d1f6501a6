import numpy as np
import pytest

from labelkin.thresholds import FixedCut


def test_a_score_at_the_cut_is_not_above_it():
    rule = FixedCut().fit(None, np.zeros((1, 3)))
    assert rule.decide([[0.5, np.nextafter(0.5, 1), 0.49]]).tolist() == [[False, True, False]]
    rule = FixedCut(scale="log_odds").fit(None, np.zeros((1, 3)))
    assert rule.decide([[0.0, 5e-324, -1e-9]]).tolist() == [[False, True, False]]


@pytest.mark.parametrize("cut", [0.01, 0.3, 0.99])
def test_the_cut_is_a_probability_also_for_log_odds(cut):
    rule = FixedCut(cut, scale="log_odds").fit(None, np.zeros((1, 2)))
    odds = np.log(cut / (1 - cut))
    np.testing.assert_allclose(rule.cut_, odds)
    assert rule.decide([[odds + 1e-9, odds - 1e-9]]).tolist() == [[True, False]]
