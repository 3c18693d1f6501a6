import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.evaluation.metrics import evaluate
from labelkin.thresholds import GlobalCut

INF = np.inf
#: Our name → (name among the scores of evaluate, sign that makes more the better).
MEASURES = {
    "micro_f1": ("micro_f1", 1),
    "macro_f1": ("macro_f1", 1),
    "document_f1": ("document_f1", 1),
    "hamming_loss": ("hamming_loss", -1),
    "subset_loss": ("subset_loss", -1),
}
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
    name, sign = MEASURES[metric]
    return sign * evaluate(Y, decisions=(scores >= cut) & (scores > -INF))[name]


def brute_force(metric, Y, scores):
    """Evaluate every cut between neighbouring scores; the highest of the best."""
    levels = np.unique(scores[np.isfinite(scores)])
    middles = (levels[1:] + levels[:-1]) / 2
    cuts = np.concatenate([levels[:1], middles, [INF]])
    quality = np.array([quality_at(metric, Y, scores, cut) for cut in cuts])
    return cuts[quality >= quality.max() - 1e-12].max()


@pytest.mark.parametrize("metric", MEASURES)
@given(world=matrices)
@settings(max_examples=60, deadline=None)
def test_the_cut_is_what_evaluating_every_cut_finds(metric, world):
    scores, Y = world
    rule = GlobalCut(metric).fit(scores, Y.astype(int))
    assert set(rule.cut_) == {brute_force(metric, Y.astype(int), scores)}


@pytest.mark.parametrize("metric", MEASURES)
def test_no_other_cut_is_better_on_many_documents(metric):
    rng = np.random.default_rng(1)
    Y = (rng.random((120, 7)) < np.linspace(0.05, 0.5, 7)).astype(int)
    scores = np.round(rng.normal(size=Y.shape) + 1.5 * Y, 1)
    rule = GlobalCut(metric).fit(scores, Y)
    assert rule.cut_[0] == brute_force(metric, Y, scores)


@pytest.mark.parametrize("metric", ["micro_f1", "macro_f1", "hamming_loss"])
def test_unknown_cells_are_skipped_as_the_metrics_skip_them(metric):
    rng = np.random.default_rng(2)
    Y = (rng.random((60, 4)) < 0.3).astype(float)
    scores = np.round(rng.normal(size=Y.shape) + Y, 1)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    rule = GlobalCut(metric).fit(scores, Y)
    reached = quality_at(metric, Y, scores, rule.cut_[0])
    assert reached >= max(quality_at(metric, Y, scores, cut) for cut in np.unique(scores)) - 1e-12


def test_label_sets_with_unknown_cells_are_judged_by_the_known_ones():
    scores = np.array([[3.0, 1.0], [2.0, 0.0], [1.5, 1.0]])
    Y = np.array([[1, np.nan], [1, 0], [0, np.nan]])
    assert GlobalCut("subset_loss").fit(scores, Y).cut_.tolist() == [1.75, 1.75]


@pytest.mark.parametrize("metric", MEASURES)
def test_without_any_label_nothing_is_given(metric):
    rule = GlobalCut(metric).fit(np.eye(3), np.zeros((3, 3)))
    assert rule.cut_.tolist() == [INF] * 3
