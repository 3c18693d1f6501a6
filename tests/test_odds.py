import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit

from labelkin.odds import count_log_odds, to_log_odds, to_probability


def test_conversions_are_inverse():
    p = np.array([[1e-5, 0.3], [0.5, 0.999]])
    np.testing.assert_allclose(to_probability(to_log_odds(p)), p, rtol=1e-12)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([[0.2, 1.5], [-1, 0]], r"in \[0, 1\], got 1.5 at \(0, 1\) \(2 such values of 4\)"),
        ([np.nan], r"got nan at \(0,\) \(1 such"),
        ([np.inf], "got inf at"),
    ],
)
def test_values_outside_the_scale_raise(p, message):
    with pytest.raises(ValueError, match=message):
        to_log_odds(p)


def test_clip_of_one_half_and_sparse_probabilities_raise():
    with pytest.raises(ValueError, match=r"clip must be at least 0 and below 0\.5, got 0\.5"):
        to_log_odds([0.5], clip=0.5)
    with pytest.raises(TypeError, match=r"dense array, got a sparse one; use \.toarray\(\)"):
        to_log_odds(sparse.csr_array(np.eye(2)))


def test_probabilities_are_inside_0_and_1_unless_known():
    p = to_probability([-1e4, -800.0, 0.0, 40.0, 1e4])
    assert (p > 0).all()
    assert (p < 1).all()
    assert to_probability([np.inf, -np.inf]).tolist() == [1.0, 0.0]


def test_constant_counts_have_finite_log_odds():
    np.testing.assert_allclose(
        count_log_odds([3, 0, 10, 0], [10, 10, 10, 0]), logit([0.3, 0.5 / 11, 10.5 / 11, 0.5])
    )
