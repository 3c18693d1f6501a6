"""Threshold rules on candidates against dense scores that are −inf elsewhere."""

import numpy as np
import pytest
from scipy import sparse

from labelkin.label_matrix import Cells
from labelkin.thresholds import (
    ExpectedF1,
    FixedCut,
    GlobalCut,
    LabelLimits,
    MCut,
    PCut,
    RCut,
    SCut,
    SCutFBR,
)  # fmt: skip

RULES = [
    FixedCut(0.3, scale="log_odds"),
    *(GlobalCut(m) for m in ("micro_f1", "macro_f1", "document_f1")),
    SCut(),
    SCutFBR(fbr=0.5),
    PCut(),
    RCut(),
    MCut(scale="log_odds"),
    ExpectedF1(scale="log_odds"),
    LabelLimits(SCut(), at_least=1, at_most=2),
    LabelLimits(FixedCut(scale="log_odds"), at_least=2),
]


def made(seed, ties, unknown, n=50, p=9):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(float)
    Z = rng.normal(-1, 2, Y.shape) + 2 * Y
    where = rng.random(Y.shape) < 0.6
    Y[:, 4] = 0
    if unknown:
        Y[rng.random(Y.shape) < 0.1] = np.nan
    Z = np.round(Z) if ties else Z
    cells = Cells.of(sparse.csr_array(where.astype(float)))
    return Y, np.where(where, Z, -np.inf), cells.matrix(cells.at(Z))


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize(("ties", "unknown"), [(False, False), (True, True)])
def test_candidates_equal_dense_scores(rule, ties, unknown):
    Y, dense, candidates = made(0, ties, unknown)
    expected = rule.fit(dense, Y).decide(dense)
    table = rule.table()
    found = rule.fit(candidates, Y).decide(candidates)
    assert found.dtype == bool
    np.testing.assert_array_equal(found.toarray(), expected)
    assert [(row.cut, row.decided) for row in rule.table()] == [
        (row.cut, row.decided) for row in table
    ]
