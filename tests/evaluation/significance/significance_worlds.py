"""Truths and pairs of systems for the tests of significance."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

MIRROR = {"≪": "≫", "<": ">", "~": "~", ">": "<", "≫": "≪"}

worlds = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(*[arrays(np.int8, shape, elements=st.integers(0, 1))] * 3)
)


def two_systems(n, p, seed=0, gain=0.3):
    """Truth, log-odds of two systems (the second a little better), and their decisions."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(int)
    noise = rng.normal(size=(n, p))
    log_odds = [noise + s * (2 * Y - 1) for s in (0.7, 0.7 + gain)]
    return Y, log_odds, [(scores > 0).astype(int) for scores in log_odds]
