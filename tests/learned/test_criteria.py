"""Clear harm: found where it is, not where it may be chance."""

import numpy as np
import pytest
from labelkin.learned.criteria import FirstLabels, does_clear_harm, loss_in_standard_errors
from scipy.special import logit
from sklearn.metrics import f1_score, hamming_loss, zero_one_loss

from labelkin import LabelRescorer, LearnedWeight
from labelkin.evaluation.metrics.judged import Truth
from labelkin.label_matrix import Cells, read_labels

rng = np.random.default_rng(0)
Y = (rng.random((600, 5)) < 0.3).astype(int)
TRUTH = Truth.of(read_labels(Y), None)
CONTENT = 2 * (2 * Y - 1) + rng.normal(size=Y.shape) * 2


def losses(log_odds, rows=slice(None)):
    decided, truth = (log_odds > 0).astype(int)[rows], Y[rows]
    return np.array(
        [
            1 - f1_score(truth, decided, average="micro"),
            1 - f1_score(truth, decided, average="macro", zero_division=0),
            hamming_loss(truth, decided) * Y.shape[1],
            zero_one_loss(truth, decided),
        ]
    )


def test_standard_errors_are_those_of_a_jackknife_over_scikit_learns_measures():
    other = CONTENT + rng.normal(size=Y.shape)
    difference = losses(other) - losses(CONTENT)
    kept = [np.arange(600) % 20 != g for g in range(20)]
    left_out = np.array([losses(other, rows) - losses(CONTENT, rows) for rows in kept])
    error = np.sqrt(19 / 20 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    ours = loss_in_standard_errors(CONTENT, other, TRUTH)
    np.testing.assert_allclose(ours, difference / error, rtol=1e-9)


def test_noise_on_top_of_good_evidence_is_clear_harm_and_less_noise_is_none():
    noise = rng.normal(size=Y.shape)
    assert does_clear_harm(CONTENT, CONTENT + 3 * noise, TRUTH)
    assert not does_clear_harm(CONTENT + 3 * noise, CONTENT, TRUTH)


def test_what_is_the_same_does_no_harm():
    assert not does_clear_harm(CONTENT, CONTENT.copy(), TRUTH)
    assert not does_clear_harm(CONTENT[:3], CONTENT[:3], Truth.of(read_labels(Y[:3]), None))


def test_a_gain_by_one_measure_does_not_hide_a_loss_by_another():
    """All labels too few: giving many more helps macro F1 and harms the rest."""
    rare = (rng.random((600, 5)) < 0.1).astype(int)
    content = logit(np.full(rare.shape, 0.05)) + 0.1 * rng.normal(size=rare.shape)
    truth = Truth.of(read_labels(rare), None)
    lost = loss_in_standard_errors(content, content + 10, truth)
    assert lost[1] < 0 < lost[2]
    assert does_clear_harm(content, content + 10, truth)


def test_evidence_that_harms_by_another_measure_counts_less():
    """Chosen by macro F1 alone, the full weight would add labels nobody has."""
    n = 2000
    first = rng.random((n, 1)) < 0.05
    Y = np.hstack([first, first & (rng.random((n, 1)) < 0.5)] * 2).astype(int)
    content = np.hstack([6 * (2 * Y[:, [0]] - 1), np.full((n, 1), -1.5)] * 2)
    content = content + 0.3 * rng.normal(size=content.shape)
    fitted = LabelRescorer(evidence_weight=LearnedWeight("macro_f1"), scale="log_odds")
    posterior = fitted.fit_out_of_fold(Y, scores=content)
    assert not does_clear_harm(content, posterior, Truth.of(read_labels(Y), None))


@pytest.mark.parametrize("unknown", [False, True])
def test_weights_count_like_copies_in_the_difference(unknown):
    labels = Y.astype(float)
    if unknown:
        labels[rng.random(Y.shape) < 0.1] = np.nan
    twice = Truth.of(read_labels(labels), np.full(600, 2.0))
    once = Truth.of(read_labels(labels), None)
    other = CONTENT + rng.normal(size=Y.shape)
    np.testing.assert_allclose(
        loss_in_standard_errors(CONTENT, other, twice),
        loss_in_standard_errors(CONTENT, other, once),
    )


def test_first_labels_are_compared_with_those_of_content():
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 30)) < 0.1).astype(float)
    content = 3 * Y + rng.normal(0, 1, Y.shape)
    for scored in (lambda z: z, lambda z: Cells.full(z.shape).matrix(z.ravel())):
        first = FirstLabels(scored(content), Truth.of(read_labels(Y)))
        assert not first.are_worse_in(scored(content))
        assert not first.are_worse_in(scored(content + Y))
        assert first.are_worse_in(scored(content + rng.normal(0, 3, Y.shape)))
    none = FirstLabels(content, Truth.of(read_labels(np.zeros_like(Y))))
    assert not none.are_worse_in(-content)
