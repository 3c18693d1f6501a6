"""Weka's logistic regression against Weka's numbers and a plain loop."""

import json
import math

import numpy as np
import pytest
from scipy.special import expit

from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import prior_scale
from labelkin.method.label_sets import count_label_sets
from labelkin.solvers import weka


def fit_weka_logistic(sets):
    """Call the solver as LogisticLabels(solver="weka") does."""
    rows = sets.inputs(), sets.positive, sets.count
    return weka.fit_weka_logistic(*rows, prior_scale(sets), unknown=sets.unknown)


TARGETS = {"M1": (0, 2), "M2": (0, 1, 2, 5), "M3": (0, 4, 5), "M4": (0, 1, 7)}
CASES = [f"{matrix}_t{j}" for matrix, targets in TARGETS.items() for j in targets]


def probabilities(found, L, j):
    return expit(L @ found.weights[:, j] + found.bias[j])


def test_all_cases_of_oracle_are_tested(oracle_folder):
    index = json.loads((oracle_folder / "INDEX.json").read_text())
    assert [case["key"] for case in index["cases"]] == CASES


@pytest.mark.parametrize("key", CASES)
def test_coefficients_and_probabilities_equal_weka(oracle_folder, key):
    weka = json.loads((oracle_folder / f"{key}_blr.json").read_text())

    def table(name):
        return np.loadtxt(oracle_folder / weka[name], delimiter=",")

    train, j = table("train_labels"), weka["target"]
    sets = count_label_sets(read_labels(train))
    found = fit_weka_logistic(sets)
    beta = np.append(found.bias[j], found.weights[weka["feature_columns"], j])
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(prior_scale(sets)[j], weka["tau"], **close)
    np.testing.assert_allclose(beta, weka["beta"], **close)
    assert found.weights[j, j] == 0
    assert found.sweeps[j] == weka["sweeps"]
    first = probabilities(found, train[:100], j)
    np.testing.assert_allclose(first, weka["p_train_first100"], **close)
    binary = probabilities(found, table("test_labels"), j)
    np.testing.assert_allclose(binary, weka["p_test_binary"], **close)
    soft = probabilities(found, table("test_cont"), j)
    np.testing.assert_allclose(soft, weka["p_test_cont"], **close)


def plain_loop(X, y, tau):
    """Run the coordinate descent of Weka, one document and one coordinate at a time."""
    n, p = X.shape
    beta, trust, r, d, last = [0.0] * p, [1.0] * p, [0.0] * n, [0.0] * n, 0.0
    s = [1 if value else -1 for value in y]
    sweep = 0
    while sweep < 101:
        sweep += 1
        for j in range(p):
            rows = [i for i in range(n) if X[i, j] != 0]
            g, h = 2 * beta[j] / tau, 2 / tau
            for i in rows:
                g -= s[i] * X[i, j] / (1 + math.exp(r[i]))
                reach = trust[j] * abs(X[i, j])
                far = abs(r[i]) - reach
                bound = 0.25 if far <= 0 else 1 / (2 + math.exp(far) + math.exp(-far))
                h += X[i, j] ** 2 * bound
            dv = min(max(-g / h, -trust[j]), trust[j])
            for i in rows:
                d[i] = dv * X[i, j] * s[i]
                r[i] += d[i]
            beta[j] += dv
            trust[j] = max(2 * abs(dv), trust[j] / 2)
        total = sum(map(abs, d))
        if abs(total - last) / (1 + sum(map(abs, r))) <= 0.0005:
            break
        last = total
    return beta, sweep


@pytest.mark.parametrize("unknown", [0.0, 0.25])
def test_weights_and_sweeps_equal_plain_loop(unknown):
    rng = np.random.default_rng(8)
    Y = (rng.random((50, 6)) < [0.5, 0.3, 0.0, 0.2, 1.0, 0.1]).astype(float)
    Y[:, 5] = np.where(rng.random(50) < 0.7, Y[:, 0], Y[:, 5])
    Y[rng.random(Y.shape) < unknown] = np.nan
    weight = rng.integers(0, 3, size=50)
    sets = count_label_sets(read_labels(Y), weight.astype(float))
    found, tau, prior = fit_weka_logistic(sets), prior_scale(sets), sets.prior()
    for j in range(6):
        rows = np.repeat(np.arange(50), weight * ~np.isnan(Y[:, j]))
        filled = np.where(np.isnan(Y), prior, Y)[rows]
        X = np.column_stack([np.ones(len(rows)), np.delete(filled, j, axis=1)])
        beta, sweeps = plain_loop(X, Y[rows, j], tau[j])
        ours = np.append(found.bias[j], np.delete(found.weights[:, j], j))
        np.testing.assert_allclose(ours, beta, rtol=0, atol=1e-11)
        assert found.sweeps[j] == sweeps
