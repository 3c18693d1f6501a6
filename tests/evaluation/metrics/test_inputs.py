"""Inputs of metrics: accepted forms and error messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import expit

from labelkin.evaluation.metrics import brier_score, evaluate, hamming_loss, one_error

Y = np.array([[1, 0, 1], [0, 1, 0]])
LOG_ODDS = np.array([[2.0, -1.0, 3.0], [-2.0, 0.5, -4.0]])


@pytest.mark.parametrize("metric", [evaluate, one_error, brier_score])
def test_probabilities_as_log_odds_raise_with_hint(metric):
    look = r"all lie in \[0, 1\], got 0\.3 to 0\.9: .*evaluate\(Y, probabilities=.*to_log_odds"
    with pytest.raises(ValueError, match=look):
        metric(Y, [[0.9, 0.3, 0.5], [0.4, 0.6, 0.5]])
    metric(Y, [[0.9, 0.3, 0.5], [0.4, 0.6, -0.5]])
    metric([[1, 0]], [[0.9, 0.3]])  # too few numbers to tell


def test_probabilities_equal_their_log_odds():
    probabilities = expit(LOG_ODDS)
    expected = evaluate(Y, LOG_ODDS).scores()
    frame = pd.DataFrame(probabilities, columns=list("abc"))[["c", "a", "b"]]
    named = pd.DataFrame(Y, columns=list("abc"))
    assert evaluate(Y, probabilities=probabilities).scores() == pytest.approx(expected)
    assert evaluate(named, probabilities=frame).scores() == pytest.approx(expected)
    certain = evaluate(Y, probabilities=sparse.csr_array(Y))
    assert (certain["log_loss"], certain["subset_loss"]) == (0, 0)
    assert evaluate(Y, probabilities=1 - Y)["log_loss"] == np.inf


def test_invalid_probabilities_raise():
    with pytest.raises(ValueError, match=r"probabilities in \[0, 1\], got 2 at document 0, l"):
        evaluate(Y, probabilities=LOG_ODDS)
    with pytest.raises(ValueError, match=r"probabilities must have .*got shape \(2, 2\) and Y of"):
        evaluate(Y, probabilities=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="log_odds or probabilities, got both"):
        evaluate(Y, LOG_ODDS, probabilities=expit(LOG_ODDS))


def test_different_shapes_raise():
    both = r"got shape \({}\) and Y of shape \(2, 3\)\. Labels that no document"
    with pytest.raises(ValueError, match="log_odds must have .*" + both.format("2, 2")):
        evaluate(Y, LOG_ODDS[:, :2])
    with pytest.raises(ValueError, match="log_odds must have .*" + both.format("3,")):
        evaluate(Y, LOG_ODDS[0])
    for D in (Y[:1], sparse.csr_array(Y[:1])):
        with pytest.raises(ValueError, match="decisions must have .*" + both.format("1, 3")):
            evaluate(Y, LOG_ODDS, D)
    with pytest.raises(ValueError, match="decisions must have .*" + both.format("1, 3")):
        hamming_loss(Y, [{0}])
    with pytest.raises(ValueError, match="decisions must have .*" + both.format("2,")):
        hamming_loss(Y, [0, 1])
    with pytest.raises(ValueError, match=r"decisions are read as Y is.*3 labels, got shape \(2, 2"):
        hamming_loss(Y, [[0, 1], [1, 0]])


def test_invalid_log_odds_raise():
    with pytest.raises(
        ValueError, match=r"log_odds must be numbers, got NaN at document 1, label 0 \(1 "
    ):
        one_error(Y, np.where(LOG_ODDS == -2, np.nan, LOG_ODDS))
    with pytest.raises(TypeError, match=r"real numbers, got dtype bool\. True and False are decis"):
        one_error(Y, LOG_ODDS > 0)


def test_invalid_decisions_raise():
    with pytest.raises(
        ValueError, match=r"NaN at document 1, label 2 \(1 such cells\)\. Only Y may"
    ):
        hamming_loss(Y, [[1, 0, 1], [0, 1, np.nan]])
    with pytest.raises(ValueError, match=r"decisions are read as Y is.* got 0\.7 at document 0"):
        hamming_loss(Y, [[0.7, 0, 1], [0, 1, 0]])
    with pytest.raises(ValueError, match=r"decisions are read as Y is.*got 'rum'"):
        hamming_loss([["tea"], ["sugar"]], [["tea"], ["rum"]])


def test_two_classes_are_one_label():
    y = np.array(["ham", "spam", "spam", "ham"])
    log_odds = np.array([-1.0, 2.0, -3.0, 4.0])
    expected = evaluate((y == "spam")[:, None], log_odds[:, None]).scores()
    said = np.where(log_odds > 0, "spam", "ham")
    for decisions in (None, said, said.tolist(), log_odds > 0, log_odds[:, None] > 0):
        result = evaluate(y, log_odds, decisions)
        assert result.labels.tolist() == ["spam"]
        assert result.scores() == expected
    assert evaluate(y, log_odds[:, None]).scores() == expected
    assert evaluate((y == "spam")[:, None], log_odds, [0, 1, 0, 1]).scores() == expected


def test_frames_are_aligned_by_name():
    names = ["a", "b", "c"]
    expected = evaluate(Y, LOG_ODDS, Y).scores()
    for frame in (pd.DataFrame, pl.DataFrame):
        columns = {name: Y[:, j] for j, name in enumerate(names)}
        turned = {name: LOG_ODDS[:, names.index(name)] for name in "cab"}
        D = {name: columns[name] for name in "bca"}
        assert evaluate(frame(columns), frame(turned), frame(D)).scores() == expected
        assert evaluate(Y, frame(turned)[names], Y).scores() == expected  # Y has no names
    foreign = pd.DataFrame(LOG_ODDS, columns=["a", "b", "d"])
    with pytest.raises(ValueError, match="got 'd'"):
        evaluate(pd.DataFrame(Y, columns=names), foreign)
    with pytest.raises(ValueError, match=r"columns must be distinct labels, got 'b' twice"):
        evaluate(pd.DataFrame(Y, columns=names), pd.DataFrame(LOG_ODDS, columns=["a", "b", "b"]))
