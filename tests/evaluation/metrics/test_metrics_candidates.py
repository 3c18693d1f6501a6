"""Metrics of candidates against metrics of dense log-odds."""

import numpy as np
import pytest
from scipy import sparse

from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.metrics.inputs import ABSENT
from labelkin.label_matrix import Cells


def made(n=60, p=13, seed=0, ties=False, unknown=False):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.25).astype(float)
    Y[3] = 0
    if unknown:
        Y[rng.random(Y.shape) < 0.1] = np.nan
    Z = rng.normal(-1, 2, Y.shape)
    return Y, np.round(Z) if ties else Z, rng.random((n, p)) < 0.5


def stored(Z, where):
    cells = Cells.of(sparse.csr_array(where.astype(float)))
    return cells.matrix(cells.at(Z))


def assert_same(one, other):
    for name, value in other.items():
        np.testing.assert_allclose(one[name], value, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("unknown", [False, True])
def test_complete_candidates_equal_dense_scores(ties, unknown):
    Y, Z, _ = made(ties=ties, unknown=unknown)
    times = np.random.default_rng(5).integers(0, 3, len(Y))
    settings = {"sample_weight": times, "ks": (1, 3, 5, 50)}
    full = evaluate(Y, Cells.full(Z.shape).matrix(Z.ravel()), **settings)
    dense = evaluate(Y, Z, **settings)
    assert_same(full.scores(), dense.scores())
    assert_same(full.per_label(), dense.per_label())
    assert_same(vars(full.reliability), vars(dense.reliability))
    if not unknown:
        assert full["candidate_recall"] == 1


@pytest.mark.parametrize("ties", [False, True])
def test_absent_labels_rank_like_minus_infinity(ties):
    Y, Z, where = made(ties=ties)
    found = evaluate(Y, stored(Z, where)).scores()
    dense = evaluate(Y, np.where(where, Z, -np.inf)).scores()
    # Among the first k there may be labels that tie at the end of a dense ranking, by their number.
    tied_at_the_end = {name for name in dense if "@5" in name} | {"log_loss"}
    assert_same(found, {n: v for n, v in dense.items() if n not in tied_at_the_end})


def test_log_loss_of_missed_label_is_finite():
    found = evaluate([[1, 0, 0]], sparse.csr_array(np.array([[0.0, -20.0, 0.0]])))
    assert found["log_loss"] == pytest.approx(-np.log(ABSENT) + np.exp(-20))
    assert found["brier_score"] == pytest.approx(1 / 3)
    assert found["candidate_recall"] == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[np.nan, 1.0]], r"must be numbers, got NaN at document 0, label 0"),
        ([[0.2, 0.9, 0.3], [0.5, 0.5, 0.9]], "look like probabilities"),
    ],
)
def test_invalid_candidates_raise(values, message):
    Y = np.eye(len(values[0]))[: len(values)]
    with pytest.raises(ValueError, match=message):
        evaluate(Y, sparse.csr_array(values))
