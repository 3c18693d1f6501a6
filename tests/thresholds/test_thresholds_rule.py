"""Properties of all threshold rules."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from labelkin.evaluation.metrics import f1
from labelkin.label_matrix import Cells
from labelkin.thresholds import (
    ExpectedF1,
    FixedCut,
    GlobalCut,
    LabelCut,
    LabelLimits,
    MCut,
    PCut,
    RCut,
    SCut,
    SCutFBR,
)

RULES = [
    FixedCut(0.4),
    RCut(),
    PCut(),
    SCut(),
    SCutFBR(),
    GlobalCut(),
    GlobalCut("macro_f1"),
    GlobalCut("document_f1"),
    MCut(),
    ExpectedF1(),
    LabelLimits(at_least=1),
    LabelLimits(SCut(), at_least=1, at_most=2),
]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)


def world(seed=0, n=40, p=5, unknown=0.0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, p)) < 0.3).astype(float)
    scores = np.round(0.6 * rng.random((n, p)) + 0.3 * Y, 2)
    Y[rng.random((n, p)) < unknown] = np.nan
    return scores, Y


@every_rule
def test_accepted_and_rejected_labels_stay(rule):
    scores, Y = world()
    fitted = clone(rule).fit(scores, Y)
    stated = scores.copy()
    stated[::3, 0], stated[1::3, 1] = np.inf, -np.inf
    stated[7] = np.inf
    stated[8] = -np.inf
    decided = fitted.decide(stated)
    assert decided[stated == np.inf].all()
    assert not decided[stated == -np.inf].any()


@every_rule
def test_known_labels_do_not_change_cuts(rule):
    scores, Y = world(1)
    scores[:5, 0], scores[5:9, 0] = np.inf, -np.inf
    scores[:, 1], scores[:, 2] = np.inf, -np.inf
    fitted = clone(rule).fit(scores, Y)
    assert not (fitted.cut_ == -np.inf).any()
    decided = fitted.decide(scores)
    np.testing.assert_array_equal(fitted.decided_, decided.sum(axis=0))
    assert decided[:, 1].all()
    assert not decided[:, 2].any()


@every_rule
def test_table_equals_decisions_on_fitting_scores(rule):
    scores, Y = world(3, unknown=0.2)
    Y[:, 4] = np.nan
    fitted = clone(rule).fit(scores, Y)
    decided = fitted.decide(scores)
    np.testing.assert_allclose(fitted.f1_, f1(Y, decided, average=None), atol=1e-15)
    np.testing.assert_array_equal(fitted.positives_, np.nansum(Y, axis=0))
    np.testing.assert_array_equal(fitted.decided_, (decided & ~np.isnan(Y)).sum(axis=0))
    table = fitted.table()
    assert [line.label for line in table] == [0, 1, 2, 3, 4]
    assert table[4].f1 is None
    cut = None if np.isnan(fitted.cut_[0]) else fitted.cut_[0]
    assert table[0] == LabelCut(
        0,
        cut,
        cut if "scale" in rule.get_params() else None,
        fitted.f1_[0],
        int(fitted.positives_[0]),
        int(fitted.decided_[0]),
    )


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.needs_scores], ids=repr)
def test_unknown_cells_are_ignored(rule):
    scores, Y = world(4, n=60)
    hidden = np.random.default_rng(0).random(Y.shape) < 0.2
    Y[hidden] = np.nan
    other = np.where(hidden, 1 - scores, scores)
    cut = clone(rule).fit(scores, Y).cut_
    np.testing.assert_array_equal(clone(rule).fit(other, Y).cut_, cut)
    if type(rule) in (SCut, SCutFBR):
        for j in range(Y.shape[1]):
            seen = ~hidden[:, j]
            alone = clone(rule).fit(scores[seen, j : j + 1], Y[seen, j : j + 1])
            assert alone.cut_[0] == cut[j]


@pytest.mark.parametrize("rule", [FixedCut, MCut, ExpectedF1])
def test_both_scales_give_same_decisions(rule):
    rng = np.random.default_rng(6)
    log_odds = rng.normal(scale=3, size=(50, 6))
    log_odds[0, 0], log_odds[0, 1] = np.inf, -np.inf
    Y = rng.random((50, 6)) < 0.5
    probability = 1 / (1 + np.exp(-log_odds))
    probability[0, :2] = np.inf, -np.inf
    np.testing.assert_array_equal(
        rule(scale="log_odds").fit(None, Y).decide(log_odds),
        rule(scale="probability").fit(None, Y).decide(probability),
    )


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.needs_batch], ids=repr)
def test_documents_are_decided_independently(rule):
    scores, Y = world(9)
    fitted = clone(rule).fit(scores, Y)
    one_by_one = np.vstack([fitted.decide(row[None]) for row in scores])
    np.testing.assert_array_equal(one_by_one, fitted.decide(scores))
    assert fitted.decide(scores[:0]).shape == (0, 5)


@every_rule
@pytest.mark.parametrize("unknown", [0.0, 0.1])
def test_candidates_equal_dense_scores(rule, unknown):
    scores, Y = world(12, n=50, p=9, unknown=unknown)
    Y[:, 4] = 0
    is_candidate = np.random.default_rng(0).random(Y.shape) < 0.6
    cells = Cells.of(sparse.csr_array(is_candidate.astype(float)))
    dense, candidates = np.where(is_candidate, scores, -np.inf), cells.matrix(cells.at(scores))
    on_dense, on_candidates = clone(rule).fit(dense, Y), clone(rule).fit(candidates, Y)
    found = on_candidates.decide(candidates)
    assert found.dtype == bool
    np.testing.assert_array_equal(found.toarray(), on_dense.decide(dense))
    np.testing.assert_array_equal(on_candidates.cut_, on_dense.cut_)
    np.testing.assert_array_equal(on_candidates.decided_, on_dense.decided_)


@every_rule
def test_scores_are_optional_if_not_needed(rule):
    scores, Y = world(10)
    if rule.needs_scores:
        with pytest.raises(ValueError, match=r"learns its cuts from scores, got None.*out-of-fold"):
            clone(rule).fit(None, Y)
        return
    fitted = clone(rule).fit(None, Y)
    line = fitted.table()[2]
    assert (line.f1, line.positives, line.decided) == (None, Y[:, 2].sum(), None)
    np.testing.assert_array_equal(fitted.decide(scores), clone(rule).fit(scores, Y).decide(scores))


@every_rule
def test_invalid_scores_raise(rule):
    scores, Y = world(11)
    with pytest.raises(NotFittedError):
        clone(rule).decide(scores)
    with pytest.raises(NotFittedError):
        clone(rule).table()
    fitted = clone(rule).fit(scores, Y)
    with pytest.raises(ValueError, match=r"documents × labels, \(n, 5\), got shape \(40, 4\)"):
        fitted.decide(scores[:, :4])
    with pytest.raises(ValueError, match="must have the same documents, got 39 and 40"):
        clone(rule).fit(scores[1:], Y)
    scores[3, 2] = scores[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"got NaN at document 3, label 2 \(2 such cells\)"):
        fitted.decide(scores)


@pytest.mark.parametrize("rule", [FixedCut(), MCut(), ExpectedF1(), LabelLimits()], ids=repr)
def test_log_odds_as_probabilities_raise(rule):
    fitted = rule.fit(None, [[0, 1]])
    with pytest.raises(ValueError, match=r"in \[0, 1\], got -2.5 at document 0, label 1.*log_odds"):
        fitted.decide([[0.5, -2.5]])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (FixedCut(0), "cut must be a probability strictly between 0 and 1, got 0"),
        (FixedCut(scale="logit"), r"scale must be one of 'probability', 'log_odds', got 'log"),
        (RCut(0), "t must be a whole number of at least 1, got 0. None: learned"),
        (SCutFBR(fbr=2), r"fbr must be a number in \[0, 1\], got 2"),
        (GlobalCut("accuracy"), "metric must be one of 'micro_f1', .*, got 'accuracy'"),
        (LabelLimits(at_least=-1), "at_least must be a whole number of at least 0, got -1. 'auto'"),
        (LabelLimits(at_least=2, at_most=1), "at_most must be .* at least 2, got 1. at_least is 2"),
    ],
    ids=repr,
)
def test_invalid_parameters_raise(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.fit(*world())
