"""Shrunken logistic regression against SciPy's optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from labelkin.solvers.shrunken_logistic import GroupedCells, Prior, fit_logistic


def world(sizes, n_inputs=3, seed=0):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    inputs = rng.normal(size=(n_inputs, n)) * 2
    offset = rng.normal(size=n)
    target = (rng.random(n) < expit(offset + rng.normal(size=n_inputs) @ inputs)).astype(float)
    start = np.concatenate([[0], np.cumsum(sizes)])
    return GroupedCells(start, inputs, offset, target, rng.uniform(0.2, 3, n))


def scipy_fit(cells, j, prior):
    here = slice(cells.start[j], cells.start[j + 1])
    x = np.column_stack([*cells.inputs[:, here], np.ones(here.stop - here.start)])

    def loss(theta):
        z = cells.offset[here] + x @ theta
        losses = cells.weight[here] * (np.logaddexp(0, z) - cells.target[here] * z)
        return losses.sum() + 0.5 * prior.precision @ (theta - prior.centre) ** 2

    return minimize(loss, prior.centre, method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_weights_equal_scipy(strength):
    cells = world([40, 3, 200, 1])
    prior = Prior(np.array([0.5, -0.2, 0.1, 0.3]), np.array([1, 1, 1, 0.1]) * strength)
    found = fit_logistic(cells, prior)
    for j in range(4):
        assert found[j] == pytest.approx(scipy_fit(cells, j, prior), abs=1e-4)


def test_label_without_cells_has_prior_weights():
    prior = Prior(np.array([0.5, -0.2, 0.1, 0.3]), np.full(4, 2.0))
    assert fit_logistic(world([5, 0, 5, 0]), prior)[[1, 3]] == pytest.approx(
        np.tile(prior.centre, (2, 1))
    )


def test_labels_are_independent():
    cells, prior = world([30, 400, 7]), Prior(np.zeros(4), np.full(4, 1.0))
    together = fit_logistic(cells, prior)
    for j in range(3):
        alone = fit_logistic(cells.labels(np.arange(3) == j), prior)
        assert together[j].tolist() == alone[0].tolist()


def test_newton_step_that_overshoots_is_halved():
    """Separable cells with a weak prior: plain Newton steps diverge."""
    inputs = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)])[None]
    target = (inputs[0] > 0).astype(float)
    cells = GroupedCells(np.array([0, 100]), inputs, np.full(100, 8.0), target, np.ones(100))
    prior = Prior(np.zeros(2), np.full(2, 1e-3))
    found = fit_logistic(cells, prior)
    assert found[0] == pytest.approx(scipy_fit(cells, 0, prior), abs=1e-3)


def test_two_half_cells_equal_one_cell():
    one = world([20, 20])
    twice = GroupedCells(
        2 * one.start,
        np.repeat(one.inputs, 2, axis=1),
        np.repeat(one.offset, 2),
        np.repeat(one.target, 2),
        np.repeat(one.weight, 2) / 2,
    )
    prior = Prior(np.zeros(4), np.full(4, 1.0))
    assert fit_logistic(twice, prior) == pytest.approx(fit_logistic(one, prior), abs=1e-9)
