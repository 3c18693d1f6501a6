"""``evaluate`` against the single functions, and properties of its result."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelkin.evaluation import metrics
from labelkin.evaluation.metrics import evaluate, inputs

modest = settings(max_examples=15, deadline=None)


@st.composite
def worlds(draw, values=(0.0, 1.0)):
    """Draw truth, tied and infinite log-odds, decisions and integer weights."""
    shape = (draw(st.integers(1, 7)), draw(st.integers(2, 5)))
    cells = st.sampled_from([-np.inf, -3.0, -1.5, 0.0, 1.5, 2.0, 2.0, np.inf])
    return (
        draw(arrays(float, shape, elements=st.sampled_from(values))),
        draw(arrays(float, shape, elements=cells)),
        draw(arrays(bool, shape)),
        draw(arrays(int, shape[0], elements=st.integers(0, 3))),
    )


def assert_same_scores(one, other):
    mine, theirs = one.scores(), other.scores()
    assert mine.keys() == theirs.keys()
    np.testing.assert_allclose(list(mine.values()), list(theirs.values()), rtol=1e-12, atol=1e-12)
    for name, column in one.per_label().items():
        np.testing.assert_allclose(column, other.per_label()[name], rtol=1e-12, atol=1e-12)


def test_scores_equal_functions_of_same_name():
    rng = np.random.default_rng(0)
    Y = rng.random((30, 6)) < 0.3
    log_odds, D, w = rng.normal(size=Y.shape), rng.random(Y.shape) < 0.4, rng.random(30)
    scores = evaluate(Y, log_odds, D, sample_weight=w, ks=(2, 4)).scores()
    expected = {}
    for name in ("hamming_loss", "subset_loss"):
        expected[name] = getattr(metrics, name)(Y, D, sample_weight=w)
    for name in ("precision", "recall", "f1", "jaccard"):
        for average in ("micro", "macro", "weighted", "document"):
            function = getattr(metrics, name)
            expected[f"{average}_{name}"] = function(Y, D, average=average, sample_weight=w)
    ranking = ("one_error", "coverage", "ranking_loss", "label_ranking_average_precision")
    for name in (*ranking, "brier_score", "log_loss", "expected_calibration_error"):
        expected[name] = getattr(metrics, name)(Y, log_odds, sample_weight=w)
    for k in (2, 4):
        for name in ("precision", "recall", "ndcg"):
            function = getattr(metrics, f"{name}_at_k")
            expected[f"{name}@{k}"] = function(Y, log_odds, k, sample_weight=w)
    assert scores == pytest.approx(expected)


@given(worlds())
@modest
def test_integer_weights_equal_repeated_documents(world):
    Y, log_odds, D, weight = world
    weighted = evaluate(Y, log_odds, D, sample_weight=weight)
    repeated = [np.repeat(matrix, weight, axis=0) for matrix in (Y, log_odds, D)]
    assert_same_scores(weighted, evaluate(*repeated))


@given(worlds(values=(0.0, 1.0, 1.0, np.nan)), st.integers(0, 7), st.integers(0, 7))
@modest
def test_sum_of_blocks_equals_whole(world, first, second):
    Y, log_odds, D, weight = world

    def part(rows):
        return evaluate(Y[rows], log_odds[rows], D[rows], sample_weight=weight[rows])

    low, high = sorted((first, second))
    blocks = [part(slice(0, low)), part(slice(low, high)), part(slice(high, None))]
    whole = part(slice(None))
    added = sum(blocks)
    assert_same_scores(added, whole)
    assert_same_scores(blocks[0] + (blocks[1] + blocks[2]), whole)
    for name in ("known", "true", "decided", "hits"):  # counts: exactly
        assert (getattr(added.decisions, name) == getattr(whole.decisions, name)).all()


@given(worlds())
@modest
def test_block_size_does_not_change_scores(world):
    Y, log_odds, D, weight = world
    whole = evaluate(Y, log_odds, D, sample_weight=weight)
    with mock.patch.object(inputs, "_CELLS_PER_BLOCK", 2 * Y.shape[1]):
        by_two = evaluate(Y, log_odds, D, sample_weight=weight)
    assert_same_scores(by_two, whole)


@given(worlds())
@modest
def test_all_forms_of_labels_give_same_scores(world):
    Y, log_odds, D, _ = world
    names = list("abcde")[: Y.shape[1]]
    expected = evaluate(Y, log_odds, D)

    def sets(matrix):
        return [{names[j] for j in np.flatnonzero(row)} for row in matrix]

    assert_same_scores(evaluate(sets(Y), log_odds, sets(D), labels=names), expected)
    sparse_ones = sparse.csr_array(Y), sparse.csc_matrix(D.astype(int))
    assert_same_scores(evaluate(sparse_ones[0], log_odds, sparse_ones[1]), expected)
    assert_same_scores(evaluate(Y.tolist(), log_odds.tolist(), D.tolist()), expected)


def test_decisions_alone_have_no_scores_of_log_odds():
    result = evaluate([[1, 0], [0, 1]], decisions=[[1, 0], [1, 1]])
    assert result.ranking is None
    assert result.reliability is None
    assert result["hamming_loss"] == 0.25
    assert not {"one_error", "log_loss", "precision@1"} & result.scores().keys()
    assert "brier_score" not in result.per_label()
    with pytest.raises(KeyError, match="No score is named 'one_error'; there are hamming_loss, "):
        result["one_error"]
    with pytest.raises(ValueError, match="needs log_odds, probabilities or decisions, got neither"):
        evaluate([[1, 0], [0, 1]])


def test_unknown_cells_make_scores_of_label_sets_nan():
    known = evaluate([[1, 0], [0, 1]], [[2, -1], [-1, 3]])
    half_known = evaluate([[1, np.nan], [0, 1]], [[2, -1], [-1, 3]])
    by_cell = {"hamming_loss", "brier_score", "log_loss", "expected_calibration_error"}
    by_cell |= {name for name in known.scores() if name.startswith(("micro", "macro", "weighted"))}
    for total in (half_known, half_known + known, known + half_known):
        nan = {name for name, value in total.scores().items() if np.isnan(value)}
        assert nan == total.scores().keys() - by_cell


def test_scores_without_documents_are_nan():
    for shape in [(0, 2), (2, 0), (0, 0)]:
        empty = evaluate(np.zeros(shape), np.zeros(shape))
        assert np.isnan(list(empty.scores().values())).all()
        assert "documents" in str(empty)
    some = evaluate([[1, 0]], [[2, -1]])
    assert (some + evaluate(np.zeros((0, 2)), np.zeros((0, 2)))).scores() == some.scores()


def test_different_evaluations_cannot_be_added():
    Y, log_odds = [["a"], ["b"]], [[2, -1], [-1, 3]]
    one = evaluate(Y, log_odds)
    others = {
        r"labels agree, got \['a', 'b'\] and \['a', 'c'\]": evaluate([["a"], ["c"]], log_odds),
        r"ks agree, got \[1, 3, 5\] and \[1\]": evaluate(Y, log_odds, ks=(1,)),
        "n_bins agree, got 15 and None": evaluate(Y, decisions=Y),
        "n_bins agree, got 15 and 10": evaluate(Y, log_odds, n_bins=10),
    }
    for message, other in others.items():
        with pytest.raises(ValueError, match=f"add up only when their {message}"):
            one + other
    with pytest.raises(TypeError):
        one + 1
