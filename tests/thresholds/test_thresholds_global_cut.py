import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.evaluation.metrics import evaluate
from labelkin.thresholds import GlobalCut

INF = np.inf
METRICS = ("micro_f1", "macro_f1", "document_f1")
levels = st.sampled_from([-INF, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, INF])
matrices = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        st.lists(levels, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
            lambda cells: np.array(cells).reshape(shape)
        ),
        st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
            lambda cells: np.array(cells).reshape(shape)
        ),
    )
)


def quality_at(metric, Y, scores, cut):
    return evaluate(Y, decisions=(scores >= cut) & (scores > -INF))[metric]


def brute_force(metric, Y, scores):
    """Evaluate every cut between neighbouring scores; the highest of the best."""
    levels = np.unique(scores[np.isfinite(scores)])
    middles = (levels[1:] + levels[:-1]) / 2
    cuts = np.concatenate([levels[:1], middles, [INF]])
    quality = np.array([quality_at(metric, Y, scores, cut) for cut in cuts])
    return cuts[quality >= quality.max() - 1e-12].max()


@pytest.mark.parametrize("metric", METRICS)
@given(world=matrices)
@settings(max_examples=30, deadline=None)
def test_cut_equals_brute_force(metric, world):
    scores, Y = world
    rule = GlobalCut(metric).fit(scores, Y.astype(int))
    assert set(rule.cut_) == {brute_force(metric, Y.astype(int), scores)}


@pytest.mark.parametrize("metric", ["micro_f1", "macro_f1"])
def test_unknown_cells_are_ignored(metric):
    rng = np.random.default_rng(2)
    Y = (rng.random((60, 4)) < 0.3).astype(float)
    scores = np.round(rng.normal(size=Y.shape) + Y, 1)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    rule = GlobalCut(metric).fit(scores, Y)
    reached = quality_at(metric, Y, scores, rule.cut_[0])
    assert reached >= max(quality_at(metric, Y, scores, cut) for cut in np.unique(scores)) - 1e-12
